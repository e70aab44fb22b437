"""Kernels as compiled loops, and as what stands for them where nothing is compiled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shoal.kernels.compile import interpreted


@pytest.fixture(params=[False, True], ids=["compiled", "interpreted"])
def either_way(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run a test in both ways."""
    with interpreted(request.param):
        yield
