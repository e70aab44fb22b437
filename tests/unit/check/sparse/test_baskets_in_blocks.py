"""The check of pseudo-baskets in files tells what the check of held ones does, of right and of wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.check.sparse import baskets_in_blocks
from shoal.check.sparse.basket_guarantees import BasketsAsked
from shoal.check.sparse.baskets import BasketsEvidence, verify_baskets
from shoal.check.sparse.baskets_in_blocks import verify_baskets_in_blocks
from shoal.data import ragged
from shoal.data.sparse.records import Sparse
from shoal.errors import DataError, Infeasible
from shoal.sparse.pseudo_baskets import pseudo_baskets
from tests.unit.sparse.test_in_blocks import blocks

ASKED = BasketsAsked(5, 3)


def records_of(seed: int, kind: str, *, has_classes: bool) -> Sparse:
    rng = np.random.default_rng(seed)
    patterns = [rng.choice(25, 4, replace=False) for _ in range(5)]
    rows = [
        {
            f"i{x:02d}": int(rng.integers(1, 7)) if kind == "counts" else 1
            for x in {*patterns[rng.integers(5)], *rng.integers(0, 25, 3)}
        }
        for _ in range(160)
    ]
    return Sparse.of(rows, [str(x) for x in rng.integers(0, 2, 160)] if has_classes else None)


def broken(made: Sparse, groups: np.ndarray, original_groups: np.ndarray, fault: str, rng: np.random.Generator):
    """Another release, with something wrong."""
    items, weights, labels = made.items.copy(), made.weights.copy(), made.labels
    at = int(rng.integers(0, len(items)))
    names = made.names
    if fault == "items":
        for row in rng.integers(0, len(made), 20).tolist():
            own = slice(made.starts[row], made.starts[row + 1])
            items[own] = np.sort(rng.choice(len(names), made.sizes[row], replace=False))
    if fault == "stranger":
        names = tuple("zz stranger" if i == items[at] else name for i, name in enumerate(names))
    if fault == "weights":
        weights[at] += 3
    if fault == "classes" and labels is not None:
        labels = 1 - labels
    if fault == "groups":
        groups = rng.permutation(groups)
    if fault == "small group":
        original_groups = original_groups.copy()
        original_groups[np.flatnonzero(original_groups == 1)[:3]] = -1
    if fault == "outside":
        groups = groups.copy()
        groups[0] = original_groups.max() + 1
    if fault == "fewer groups":
        groups = groups[1:]
    return replace(made, items=items, weights=weights, labels=labels, names=names), groups, original_groups


FAULTS = ("", "items", "stranger", "weights", "classes", "groups", "small group", "outside", "fewer groups")


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 30),
    st.sampled_from(["sets", "counts"]),
    st.booleans(),
    st.sampled_from(FAULTS),
    st.sampled_from([1, 40, 10**6]),
)
def test_both_checks_tell_the_same(seed: int, kind: str, has_classes: bool, fault: str, at_once: int) -> None:
    records, rng = records_of(seed, kind, has_classes=has_classes), np.random.default_rng(seed)
    found = pseudo_baskets(records, ASKED.k, support=ASKED.support, seed=seed)
    made, groups, original_groups = broken(found.baskets, found.groups, found.original_groups, fault, rng)
    expected = verify_baskets(made, ASKED, BasketsEvidence(records, original_groups, groups))
    with (
        patch.object(baskets_in_blocks, "ENTRIES_AT_ONCE", at_once),
        patch.object(ragged, "ENTRIES_AT_ONCE", max(at_once, 7)),
    ):
        verdict = verify_baskets_in_blocks(
            lambda: blocks(made), ASKED, lambda: blocks(records), original_groups, groups, 10**9
        )
    assert verdict == expected
    if not fault:
        assert verdict.holds


def test_what_is_missing_or_does_not_fit_is_refused() -> None:
    records = records_of(1, "counts", has_classes=True)
    found = pseudo_baskets(records, ASKED.k, support=ASKED.support, seed=1)

    def verify(n_bytes: int, published: Sparse = found.baskets, originals: Sparse = records):
        return verify_baskets_in_blocks(
            lambda: blocks(published), ASKED, lambda: blocks(originals), found.original_groups, found.groups, n_bytes
        )

    with pytest.raises(Infeasible, match="25 items of 2 classes are counted, which does not fit into the bound"):
        verify(1000)
    with pytest.raises(Infeasible, match="are cut to what 3 records reach, which does not fit into the bound"):
        verify(5500)
    with pytest.raises(DataError, match="there are no pseudo-baskets"):
        verify(10**9, found.baskets.take(np.arange(0)))
    reals = replace(records, weights=records.weights + 0.5)
    with pytest.raises(DataError, match="the weights are not whole numbers"):
        verify(10**9, originals=reals)

    def none() -> Iterator[Sparse]:
        return iter(())

    with pytest.raises(DataError, match="there are no pseudo-baskets"):
        verify_baskets_in_blocks(none, ASKED, none, found.original_groups, found.groups, 10**9)
