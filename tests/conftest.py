"""Fixtures that all tests share."""

from __future__ import annotations

import gc
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy.random.bit_generator
import pytest
from hypothesis import settings

from shoal import release
from shoal.sparse import signs

# The same examples in every run, so that a run tells of the code alone; SHOAL_FUZZ=1 draws new ones.
IS_REPEATABLE = not os.environ.get("SHOAL_FUZZ")
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("new", deadline=None)
settings.load_profile("repeatable" if IS_REPEATABLE else "new")

# Modules are compiled once and not in every process that a test starts, as kernels are.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# What was pushed to the disk differs from what was not when the power fails, which no test can see; and thousands of times
# a run waited for the disk. Commands that tests start do push, and whether it is asked for is seen by putting another here.
os.fsync = lambda handle: os.fstat(handle) and None  # that of a closed file is refused, as ever

# Attacks on a release are begun for a minute; on a busy machine that would be another number of them each time. So all
# are run, or none in a module that is marked as `unattacked`: they take as long as all the rest of a small release.
ALL_ATTACKS, NO_ATTACK = 3600.0, 0.0
release.ATTACK_SECONDS = ALL_ATTACKS

ROOT = Path(__file__).resolve().parents[1]
SHARED_DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside the checkout; tests that need it are skipped where it does not exist."""
    if not SHARED_DATA.is_dir():
        pytest.skip("needs the real data sets in ../shared/data, which are not here")
    return SHARED_DATA


class Chance:
    """What stands for the system's entropy, which a release without a seed draws from: another for every name."""

    def __init__(self) -> None:
        self.draw = random.Random(0)

    def begin(self, name: str) -> random.Random:
        before, self.draw = self.draw, random.Random(name)
        return before


CHANCE = Chance()


if IS_REPEATABLE:
    # By these two ways alone: where NumPy makes a generator without a seed, and where a key is made.
    numpy.random.bit_generator.randbits = lambda n_bits: CHANCE.draw.getrandbits(n_bits)  # type: ignore[attr-defined]
    signs.secrets = SimpleNamespace(token_bytes=lambda n: CHANCE.draw.randbytes(n))  # type: ignore[assignment]


def pytest_collection_finish() -> None:
    """Look for garbage seldom, and never among all that is loaded by now: else a sixth of the time went there."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_unconfigure() -> None:
    """What was loaded can be let go at the end."""
    gc.unfreeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Draw anew for every test, so that neither order nor selection matter."""
    CHANCE.begin(item.nodeid)
    release.ATTACK_SECONDS = NO_ATTACK if item.get_closest_marker("unattacked") else ALL_ATTACKS


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Iterator[None]:
    """What several tests share is drawn alike, whichever of them comes first."""
    before = CHANCE.begin(f"{fixturedef.baseid}::{fixturedef.argname}[{getattr(request, 'param_index', '')}]")
    seconds = release.ATTACK_SECONDS
    if fixturedef.scope in ("session", "package"):  # of marked modules and of others
        release.ATTACK_SECONDS = ALL_ATTACKS
    try:
        return (yield)
    finally:
        CHANCE.draw = before
        release.ATTACK_SECONDS = seconds


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name cases of raw bytes after their argument and number.

    Bytes made while a module is imported may hold the time (gzip writes it), and workers that collect different ids
    refuse to run anything.
    """
    return argname if isinstance(val, bytes) and not val.isascii() else None
