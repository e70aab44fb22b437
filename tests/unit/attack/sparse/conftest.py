"""Small releases of sketches: one made to be weak, one made to be strong."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from shoal.attack.sparse.case import SparseCase
from tests.unit.attack.sparse.sketch_cases import delta_rule, make_case, make_records


@pytest.fixture(scope="session")
def weak() -> SparseCase:
    """Sets at delta = 0.15 without a cap."""
    records = make_records(300, 1)
    return make_case(records, delta_rule(records, 0.15), control=make_records(300, 2))


@pytest.fixture(scope="session")
def strong() -> SparseCase:
    """The same sets with two components each."""
    return make_case(make_records(300, 1), 2, control=make_records(300, 2))


@pytest.fixture(scope="session")
def case_of() -> Callable[..., SparseCase]:
    """Records of another kind, or another number of components."""

    def make(n: int, n_components: int, kind: str = "binary", step: float = 0.25) -> SparseCase:
        return make_case(make_records(n, 3, kind), n_components, control=make_records(n, 4, kind), step=step)

    return make
