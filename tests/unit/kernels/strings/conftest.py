"""Every test here is made in both ways."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _either_way(either_way: None) -> None:
    pass
