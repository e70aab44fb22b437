"""The two rarest items single members out of raw baskets, and not of pseudo-baskets."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from shoal.attack.sparse.case import SPARSE_ATTACKS
from shoal.attack.sparse.known_items import count_fits
from shoal.attack.sparse.rarest_pair import RarestPair, rarest_two, told_besides
from tests.unit.attack.sparse.basket_cases import dealt, raw


def test_members_stand_out_of_raw_baskets_alone() -> None:
    clear, hidden = (RarestPair().run(case, np.random.default_rng(1)) for case in (raw(), dealt()))
    assert clear.risk.low > 0.05
    assert clear.details["some_fit_members"] == 1
    assert clear.details["some_fit_others"] < 1
    assert hidden.risk.low == 0


def test_what_a_link_tells_is_what_both_hold_besides() -> None:
    ready = raw().ready
    held = ready.held[:50]
    parts, rows = rarest_two(held, ready.counts, np.random.default_rng(0))
    fits = count_fits(ready, parts)
    dense = ready.held.toarray() > 0
    slow = []
    for row, part in zip(rows.tolist(), parts.toarray() > 0, strict=True):
        fitting = [other for other in dense if other[part].all()]
        own = dense[row] & ~part
        slow.append(float(fitting[0][own].mean()) if len(fitting) == 1 else 0.0)
    assert told_besides(held[rows], parts, fits, ready).tolist() == slow
    assert 1.0 in slow


def test_it_is_among_the_attacks() -> None:
    assert isinstance(SPARSE_ATTACKS["rarest-pair"], RarestPair)


@given(
    st.lists(st.sets(st.integers(0, 7)), min_size=1, max_size=8),
    st.lists(st.integers(0, 4), min_size=8, max_size=8),
)
def test_the_two_are_those_of_a_slow_look(rows: list[set[int]], counts: list[int]) -> None:
    held = csr_matrix(np.array([[float(i in row) for i in range(8)] for row in rows], np.float32))
    found, kept = rarest_two(held, np.array(counts, np.float64), np.random.default_rng(0))
    shown = [sorted(i for i in row if counts[i]) for row in rows]
    slow = [sorted(counts[i] for i in row)[:2] for row in shown if len(row) >= 2]
    assert kept.tolist() == [i for i, row in enumerate(shown) if len(row) >= 2]
    pairs = [found.indices[a:b].tolist() for a, b in zip(found.indptr[:-1], found.indptr[1:], strict=True)]
    assert [sorted(counts[i] for i in pair) for pair in pairs] == slow
    for pair, row in zip(pairs, (row for row in shown if len(row) >= 2), strict=True):
        assert len(set(pair)) == 2
        assert set(pair) <= set(row)
