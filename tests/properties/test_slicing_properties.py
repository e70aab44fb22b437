"""What holds of every bucketized, sliced or screened table."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.errors import Infeasible
from shoal.models.alpha_k import AlphaK
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness
from shoal.tables.publish.slices.slice_table import slice_table
from tests.unit.tables.publish.slices.slow_slicing import (
    ATTRIBUTES,
    beliefs,
    covers,
    marginal,
    random_columns,
    satisfies,
    table_of,
    texts_of,
)

REQUIREMENTS = [
    LDiversity(l=2),
    LDiversity(l=3),
    LDiversity(l=2, kind="probabilistic"),
    LDiversity(l=1.5, kind="probabilistic"),
    LDiversity(l=1.8, kind="entropy"),
    LDiversity(l=2, kind="recursive", c=2.0),
    AlphaK(alpha=0.6, k=2),
    TCloseness(t=0.4, distance="equal"),
    BetaLikeness(beta=1.5),
    BetaLikeness(beta=1.0, kind="basic"),
]
FORMS = ["bucketize", "slice", "screen"]
QUASI = ["age", "city", "country", "grade"]


@st.composite
def cases(draw, sensitive=("disease",), gaps=(0.0, 0.0, 0.2)):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(6, 40))
    quasi = draw(st.lists(st.sampled_from(QUASI), min_size=1, max_size=3, unique=True))
    return random_columns(rng, n_rows, [*quasi, *sensitive, "note"], draw(st.sampled_from(gaps)))


def sliced_or_none(cells, **asked):
    table = table_of(cells)
    try:
        return table, slice_table(table, ATTRIBUTES, **{"seed": 1, "k": 2, **asked})
    except Infeasible:
        return table, None


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    cases(),
    st.sampled_from(FORMS),
    st.sampled_from(REQUIREMENTS),
    st.booleans(),
    st.sampled_from(["value", "any"]),
    st.sampled_from(["best", 1, 2, 3]),
    st.sampled_from(["best", 2, 8, 100]),
)
def test_no_bucket_tells_more_than_is_allowed(columns, form, required, strict, missing, n_slices, bucket_rows) -> None:
    if missing == "any" and required.model in ("t-closeness", "beta-likeness"):
        columns["disease"] = [c or "flu" for c in columns["disease"]]  # these have no meaning there, and are refused
    table, sliced = sliced_or_none(
        columns,
        form=form,
        require=[required],
        strict=strict,
        missing=missing,
        columns="best" if form == "bucketize" else n_slices,
        bucket_rows=bucket_rows,
    )
    if sliced is None:
        return
    whole = texts_of(table)["disease"]
    for _, _, weights in beliefs(sliced, table, missing=missing):
        assert satisfies(required, marginal(weights, 0), whole, missing=missing)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    cases(("cost", "disease"), gaps=(0.0,)), st.sampled_from(FORMS), st.sampled_from(REQUIREMENTS[:6]), st.booleans()
)
def test_several_sensitive_attributes_each_or_together(columns, form, required, jointly) -> None:
    table, sliced = sliced_or_none(columns, form=form, require=[required], jointly=jointly)
    if sliced is None:
        return
    for _, _, weights in beliefs(sliced, table):
        if jointly:
            assert satisfies(required, weights, [])
        else:
            assert all(satisfies(required, marginal(weights, place), []) for place in (0, 1))


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(cases(("cost",), gaps=(0.0,)), st.sampled_from(FORMS), st.sampled_from([0.2, 0.35]))
def test_ordered_closeness(columns, form, t) -> None:
    required = TCloseness(t=t, distance="ordered")
    table, sliced = sliced_or_none(columns, form=form, require=[required])
    if sliced is None:
        return
    whole = texts_of(table)["cost"]
    for _, _, weights in beliefs(sliced, table):
        assert satisfies(required, marginal(weights, 0), whole, order=float)


@settings(deadline=None, max_examples=100)
@given(
    cases(),
    st.sampled_from(FORMS),
    st.integers(2, 5),
    st.booleans(),
    st.sampled_from([2, 6, 100]),
    st.sampled_from(["value", "any"]),
)
def test_sizes_and_contents(columns, form, k, strict, bucket_rows, missing) -> None:
    """Buckets and regions are large enough, and every bucket holds exactly what its records had."""
    asked = {"form": form, "k": k, "strict": strict, "bucket_rows": bucket_rows, "missing": missing}
    table, sliced = sliced_or_none(columns, require=[LDiversity(l=2)], **asked)
    if sliced is None:
        return
    published, records = texts_of(sliced.table), texts_of(table)
    assert sorted(sliced.rows.tolist()) == list(range(table.n_rows))
    assert published[sliced.layout.bucket] == [str(b + 1) for b in sliced.buckets]
    sizes = np.bincount(sliced.buckets)
    assert sizes.min() >= min(max(k, bucket_rows), table.n_rows)
    for s in sliced.layout.slices:
        quasi = [a for a in s.attributes if ATTRIBUTES[a].role == "quasi"]
        plain = [a for a in s.attributes if form != "screen" or a not in quasi]
        for b in range(len(sizes)):
            members = sliced.rows[sliced.buckets == b]
            here = np.flatnonzero(sliced.buckets == b)
            held = Counter(tuple(published[s.column_of(a)][i] for a in plain) for i in here)
            assert held == Counter(tuple(records[a][i] for a in plain) for i in members)
            if form == "screen" and quasi:
                regions = Counter(tuple(published[s.column_of(a)][i] for a in quasi) for i in here)
                assert min(regions.values()) >= k
                for i in members:  # every record stands in a region with its own sensitive value
                    assert any(
                        published[s.column_of("disease")][j] == records["disease"][i]
                        and all(
                            covers(published[s.column_of(a)][j], records[a][i], ATTRIBUTES[a], missing) for a in quasi
                        )
                        for j in here
                    )


@settings(deadline=None, max_examples=40)
@given(cases(), st.sampled_from(FORMS), st.booleans(), st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_of_columns_matters(columns, form, strict, random) -> None:
    _, sliced = sliced_or_none(columns, form=form, strict=strict, require=[LDiversity(l=2)])
    n_rows = len(columns["disease"])
    rows = random.sample(range(n_rows), n_rows)
    names = random.sample(sorted(columns), len(columns))
    shuffled = {n: [columns[n][i] for i in rows] for n in names}
    _, again = sliced_or_none(shuffled, form=form, strict=strict, require=[LDiversity(l=2)])
    assert (sliced is None) == (again is None)
    if sliced is not None:
        assert texts_of(sliced.table) == texts_of(again.table)
        assert sliced.layout == again.layout


@pytest.mark.parametrize("form", FORMS)
def test_one_seed_one_release_and_another_seed_another(form) -> None:
    columns = random_columns(np.random.default_rng(1), 60, ["age", "city", "disease"])
    assert len(set(columns["disease"])) > 2
    asked = {"form": form, "require": [LDiversity(l=2)]}
    first, again, other = (texts_of(sliced_or_none(columns, **asked, seed=s)[1].table) for s in (1, 1, 2))
    assert first == again
    assert first != other
    unseeded = [texts_of(sliced_or_none(columns, **asked, seed=None)[1].table) for _ in range(2)]
    assert unseeded[0] != unseeded[1]
