"""Every test here is made of compiled loops, and of what stands for them where nothing is compiled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shoal.kernels.compile import interpreted


@pytest.fixture(autouse=True, params=[False, True], ids=["compiled", "interpreted"])
def either_way(request: pytest.FixtureRequest) -> Iterator[None]:
    with interpreted(request.param):
        yield
