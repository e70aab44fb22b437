"""What must be true of the check of sliced tables for every table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.check.slices.membership import membership
from shoal.check.slices.verify import check_slices
from shoal.data.tables.slices import SlicedTable
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness
from tests.unit.check.slices.single_steps import verify_slices
from tests.unit.check.slices.slow_slices import ATTRIBUTES, GROUPS, Case, random_case

ASKED = [
    KAnonymity(k=2),
    LDiversity(l=2),
    LDiversity(l=2, kind="probabilistic"),
    LDiversity(l=1.5, kind="entropy"),
    TCloseness(t=0.5, distance="equal"),
]
FORMS = st.sampled_from(list(GROUPS))
SEEDS = st.integers(0, 10**6)


def case_of(form, seed, sizes=(2, 8)):
    rng = np.random.default_rng(seed)
    return random_case(rng, GROUPS[form], int(rng.integers(1, 4)), sizes=sizes, generalise=form == "screen"), rng


def results(case, table, form, **options):
    found = check_slices(
        SlicedTable(table, case.layout, ATTRIBUTES), ASKED, original=case.original, form=form, **options
    )
    return [(g.model, g.kind, round(g.achieved, 9), g.n_failing, g.n_classes) for g in found.guarantees], found.findings


@settings(max_examples=60, deadline=None)
@given(FORMS, SEEDS)
def test_neither_the_permutation_nor_the_order_of_rows_matters(form, seed):
    case, rng = case_of(form, seed)
    first, second = case.published(rng), case.published(rng)
    turned = second.take(rng.permutation(second.n_rows))
    assert results(case, first, form) == results(case, second, form) == results(case, turned, form)


@settings(max_examples=60, deadline=None)
@given(FORMS, SEEDS)
def test_an_honest_table_has_no_findings_whatever_is_known(form, seed):
    case, rng = case_of(form, seed)
    table = case.published(rng)
    shuffled = rng.permutation(len(case.records))
    secrets = {"rows": case.rows[shuffled], "buckets": case.bucket_of_row[shuffled]}
    assert results(case, table, form)[1] == ()
    assert results(case, table, form, **secrets)[1] == ()
    assert results(case, table, form)[0] == results(case, table, form, **secrets)[0]


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_joining_two_buckets_of_a_bucketized_table_never_harms(seed):
    case, rng = case_of("bucketize", seed)
    merged = [[j for b in case.buckets for j in b]]
    other = Case(case.records, merged, case.groups, lambda i, j, n, v: v)
    before, after = (
        verify_slices(
            SlicedTable(c.published(rng), c.layout, ATTRIBUTES), ASKED[1:4], original=c.original, form="bucketize"
        )
        for c in (case, other)
    )
    for b, a in zip(before, after, strict=True):
        assert a.achieved >= b.achieved - 1e-9


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_labels_that_tell_nothing_leave_the_whole_table(seed):
    case, rng = case_of("screen", seed)
    blank = Case(case.records, case.buckets, case.groups, lambda i, j, n, v: "*")
    (made,) = verify_slices(
        SlicedTable(blank.published(rng), blank.layout, ATTRIBUTES),
        [LDiversity(l=2, kind="probabilistic")],
        original=blank.original,
        form="screen",
    )
    counts = np.unique([r["pay"] for r in case.records], return_counts=True)[1]
    assert made.achieved == pytest.approx(counts.sum() / counts.max(), rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(FORMS, SEEDS)
def test_members_always_match_and_fakes_are_not_members(form, seed):
    case, rng = case_of(form, seed)
    found = membership(SlicedTable(case.published(rng), case.layout, ATTRIBUTES), case.original, n_fakes=200, seed=seed)
    assert found.originals[0] == 0
    assert sum(found.originals) == pytest.approx(1)
    assert found.n_fakes == 0 or sum(found.fakes) == pytest.approx(1)
    # Where all quasi-identifiers stand in one slice, there is nothing to recombine.
    assert found.how == ("independent" if form == "bucketize" else "recombined")


def test_fakes_of_single_values_are_told_from_a_bucketized_table():
    case, rng = case_of("bucketize", 3, sizes=(3, 4))
    found = membership(
        SlicedTable(case.published(rng), case.layout, ATTRIBUTES), case.original, fakes="independent", n_fakes=500
    )
    assert found.n_fakes > 0
    assert found.fakes[0] == 1  # whoever matches a bucket is in the table
    assert found.originals[0] == 0
