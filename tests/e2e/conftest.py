"""The same command line within this process."""

from __future__ import annotations

import pytest

from tests.e2e.command import RunHere, call_here


@pytest.fixture
def run_here() -> RunHere:
    """Call `shoal` as `run_command` does, but here."""
    return call_here
