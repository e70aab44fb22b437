"""What must hold of every partition by Mondrian."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.models.alpha_k import AlphaK
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness
from shoal.tables.encoding import Ranked
from shoal.tables.limits import limits_of, violations
from shoal.tables.partition.mondrian import mondrian_labels

REQUIREMENTS = [
    LDiversity(l=2),
    LDiversity(l=1.7, kind="probabilistic"),
    LDiversity(l=1.5, kind="entropy"),
    LDiversity(l=2, kind="recursive", c=2),
    AlphaK(alpha=0.6, k=2),
    TCloseness(t=0.3, distance="equal"),
    TCloseness(t=0.3),
    BetaLikeness(beta=1, kind="basic"),
    BetaLikeness(beta=2),
]


def ranked_of(name, kind, codes):
    values, ranks = np.unique(codes, return_inverse=True)
    ancestors = None
    if kind == "tree":
        ancestors = np.column_stack([values, values // 2, values // 5, 0 * values]).astype(np.int32)
    return Ranked(name, kind, ranks.astype(np.int32), values.astype(float), ancestors)


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(8, 120))
    kinds = draw(st.lists(st.sampled_from(["number", "order", "category", "tree"]), min_size=1, max_size=4))
    top = draw(st.sampled_from([2, 10, 200]))
    ranked = [ranked_of(f"q{i}", kind, rng.integers(0, top, n)) for i, kind in enumerate(kinds)]
    sensitive = ranked_of("s", draw(st.sampled_from(["number", "tree"])), rng.integers(0, 6, n))
    asked = draw(st.lists(st.sampled_from(REQUIREMENTS), max_size=2))
    limits = limits_of(asked, [sensitive])
    if limits and violations(np.zeros(n, dtype=int), limits)[0]:
        limits = ()
    return ranked, limits, draw(st.integers(2, 8))


@settings(max_examples=60, deadline=None)
@given(tables(), st.booleans(), st.integers(2, 60))
def test_groups_are_large_diverse_and_independent_of_blocks(table, strict, block_rows):
    ranked, limits, k = table
    labels = mondrian_labels(ranked, k, limits, strict)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.sum() == len(ranked[0].ranks)
    assert not violations(labels, limits).any()
    assert (mondrian_labels(ranked, k, limits, strict, block_rows=block_rows) == labels).all()


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(0, 2**32))
def test_strict_groups_ignore_the_order_of_records_and_sorted_columns(table, seed):
    ranked, limits, k = table
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(ranked[0].ranks))
    shuffled = [Ranked(r.name, r.kind, r.ranks[rows], r.positions, r.ancestors) for r in ranked]
    rng.shuffle(shuffled)
    shuffled.sort(key=lambda r: r.name)
    labels = mondrian_labels(ranked, k, limits)
    assert (mondrian_labels(shuffled, k, [t.of_rows(rows) for t in limits]) == labels[rows]).all()


@settings(max_examples=40, deadline=None)
@given(tables())
def test_strict_groups_have_no_further_cut(table):
    ranked, limits, k = table
    labels = mondrian_labels(ranked, k, limits)
    for g in range(labels.max() + 1):
        rows = np.flatnonzero(labels == g)
        for r in ranked:
            if r.kind in ("category", "tree"):  # not every boundary of theirs is allowed
                continue
            values = np.unique(r.ranks[rows])
            middle = np.argsort(np.abs(2 * np.searchsorted(np.sort(r.ranks[rows]), values[1:]) - len(rows)))
            for b in middle[:30]:
                side = (r.ranks[rows] > values[b]).astype(int)
                sizes = np.bincount(side, minlength=2)
                failed = violations(side, [t.of_rows(rows) for t in limits])
                assert sizes.min() < k or failed.any()
