"""The tests that are collected depend on nothing but the files: not on the time, nor on the hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from tests.conftest import ROOT

WITHOUT = ("-p", "no:cacheprovider", "-p", "no:xdist")


def collected(hash_seed: str) -> list[str]:
    """The ids that a process of its own finds, in their order."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "--assert=plain", *WITHOUT],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.slow
def test_two_collections_find_the_same_tests() -> None:
    """Two workers that find different ids, or another order of them, run nothing at all, in the default run too."""
    started = int(time.time())
    first = collected("1")
    while int(time.time()) <= started + 1:  # ids that hold the second must have a chance to differ
        time.sleep(0.1)
    again = collected("2")
    assert len(first) > 1000
    assert len(first) == len(set(first))
    assert first == again
