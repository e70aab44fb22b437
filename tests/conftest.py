"""Fixtures that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run, so that a run tells of the code alone; SHOAL_FUZZ=1 draws new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("default" if os.environ.get("SHOAL_FUZZ") else "repeatable")

ROOT = Path(__file__).resolve().parents[1]
SHARED_DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside the checkout; tests that need it are skipped where it does not exist."""
    if not SHARED_DATA.is_dir():
        pytest.skip("needs the real data sets in ../shared/data, which are not here")
    return SHARED_DATA


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name cases of raw bytes after their argument and number.

    Bytes made while a module is imported may hold the time (gzip writes it), and workers that collect different ids
    refuse to run anything.
    """
    return argname if isinstance(val, bytes) and not val.isascii() else None
