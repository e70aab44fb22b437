"""What must be true of the checks for every table: order and names do not matter, and merging never harms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.check import classes_of, risk_of, verify
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, encode_cells
from shoal.models.alpha_k import AlphaK
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness

REQUIRED = (
    KAnonymity(k=3),
    LDiversity(l=2),
    LDiversity(l=2, kind="probabilistic"),
    LDiversity(l=2, kind="entropy"),
    LDiversity(l=2, kind="recursive", c=2),
    TCloseness(t=0.3, distance="equal"),
    TCloseness(t=0.2, distance="ordered"),
    AlphaK(alpha=0.5, k=2),
    BetaLikeness(beta=1, kind="basic"),
    BetaLikeness(beta=1),
)
QUASI = ["a", "b"]
LETTERS = {"a": "uvw", "b": "xy", "s": "abcde"}
Row = tuple[str | None, str | None, str | None]
PRESENT = st.tuples(*(st.sampled_from(v) for v in LETTERS.values()))
WITH_MISSING = st.tuples(*(st.sampled_from([*v, None]) for v in LETTERS.values()))
ROWS = st.lists(PRESENT, min_size=1, max_size=40)
ANY_ROWS = st.lists(WITH_MISSING, min_size=1, max_size=40)


def table(rows, names=tuple(LETTERS)):
    cells = np.empty((len(rows), len(names)), dtype=object)
    cells[:] = rows
    return Table.of(encode_cells(n, cells[:, i]) for i, n in enumerate(names))


def results(t, required=REQUIRED, **options):
    return [
        (g.model, g.kind, g.achieved, g.n_failing, g.n_classes) for g in verify(t, required, QUASI, ["s"], **options)
    ]


@given(ANY_ROWS, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert results(table(rows)) == results(table(shuffled))
    worst = [[w.to_dict() for g in verify(table(r), REQUIRED, QUASI, ["s"]) for w in g.worst] for r in (rows, shuffled)]
    assert worst[0] == worst[1]


@given(ANY_ROWS)
def test_the_order_of_the_columns_does_not_matter(rows):
    t = table(rows)
    turned = [(g.achieved, g.n_failing) for g in verify(t.select(["s", "b", "a"]), REQUIRED, QUASI[::-1], ["s"])]
    assert turned == [(g.achieved, g.n_failing) for g in verify(t, REQUIRED, QUASI, ["s"])]


@given(ANY_ROWS, st.permutations("abcde"), st.permutations("uvw"))
def test_the_names_of_the_categories_do_not_matter(rows, sensitive, quasi):
    other = dict(zip("abcde", sensitive, strict=True)) | {None: None}
    twin = dict(zip("uvw", quasi, strict=True)) | {None: None}
    renamed = [(twin[a], b, other[s]) for a, b, s in rows]
    unordered = [r for r in REQUIRED if getattr(r, "distance", "") != "ordered"]
    assert results(table(rows), unordered) == results(table(renamed), unordered)
    # the ordered distance is kept if the order is renamed along
    attributes = [{"s": Attribute("s", "ordinal", "sensitive", order=tuple(o))} for o in ("abcde", sensitive)]
    ordered = [results(table(r), [REQUIRED[6]], attributes=a) for r, a in zip((rows, renamed), attributes, strict=True)]
    assert ordered[0] == ordered[1]


@given(ROWS)
def test_merging_classes_never_harms(rows):
    """Generalising a quasi-identifier to one value joins whole classes; no guarantee may get worse."""
    before = verify(table(rows), REQUIRED, QUASI, ["s"])
    after = verify(table([("*", b, s) for _, b, s in rows]), REQUIRED, QUASI, ["s"])
    for old, new in zip(before, after, strict=True):
        high_is_better = old.model == "k-anonymity" or (old.model == "l-diversity" and old.kind != "recursive")
        slack = 1e-12
        if high_is_better:
            assert new.achieved >= old.achieved - slack
        elif old.achieved < np.inf:
            assert new.achieved <= old.achieved + slack
        assert new.holds or not old.holds


@given(ANY_ROWS)
def test_missing_values_that_may_hide_any_value_never_help(rows):
    required = [r for r in REQUIRED if r.model not in ("t-closeness", "beta-likeness")]
    as_value = verify(table(rows), required, QUASI, ["s"])
    hiding = verify(table(rows), required, QUASI, ["s"], missing="any")
    for value, hides in zip(as_value, hiding, strict=True):
        assert value.holds or not hides.holds


@given(ROWS)
def test_a_table_read_back_as_text_gives_the_same_as_the_typed_one(rows):
    numbers = np.array([float(ord(s) - 100) for _, _, s in rows])
    typed = Table.of([*table(rows).select(QUASI).columns.values(), encode_cells("s", numbers)])
    texts = table([(a, b, f"{n:g}") for (a, b, _), n in zip(rows, numbers, strict=True)])
    attributes = {"s": Attribute("s", "continuous", "sensitive")}
    assert results(typed, attributes=attributes) == results(texts, attributes=attributes)


@given(ROWS, st.data())
def test_one_changed_cell_that_makes_a_class_too_small_is_caught(rows, data):
    rows = rows * 3
    assert verify(table(rows), [KAnonymity(k=3)], QUASI)[0].holds
    smallest = int(classes_of(table(rows), QUASI).sizes.min())
    i = data.draw(st.integers(0, len(rows) - 1))
    rows[i] = ("a value of its own", *rows[i][1:])
    found = verify(table(rows), [KAnonymity(k=2), KAnonymity(k=smallest)], QUASI)
    assert not any(g.holds for g in found)
    assert found[0].achieved == 1
    assert found[0].worst[0].values["a"] == "a value of its own"


@given(ROWS)
def test_distances_are_ordered_and_within_their_range(rows):
    """Ground distances of at most 1 make the equal distance the largest, and 1 the bound."""
    equal, ordered = verify(table(rows), REQUIRED[5:7], QUASI, ["s"])
    assert 0 <= ordered.achieved <= equal.achieved + 1e-12
    assert equal.achieved < 1
    entropy, distinct, probabilistic = (
        verify(table(rows), [LDiversity(l=2, kind=k)], QUASI, ["s"])[0].achieved
        for k in ("entropy", "distinct", "probabilistic")
    )
    assert probabilistic - 1e-9 <= entropy <= distinct + 1e-9


@given(ANY_ROWS, st.integers(2, 6))
def test_risks_are_shares_and_the_bins_hold_all_records(rows, k):
    risk = risk_of(classes_of(table(rows), QUASI), k)
    assert sum(risk.records_by_class_size.values()) == risk.n_records == len(rows)
    assert 0 < risk.marketer <= risk.prosecutor_highest <= 1
    assert risk.journalist_average == pytest.approx(risk.prosecutor_average)
    assert (risk.n_below_k == 0) == verify(table(rows), [KAnonymity(k=k)], QUASI)[0].holds


@settings(max_examples=25)
@given(st.integers(2, 5), st.integers(1, 4), st.integers(1, 5))
def test_a_table_built_to_hold_does_and_one_step_more_does_not(n_values, n_each, n_classes):
    """Classes that hold each value equally often reach exactly n_values, in every sense of diversity."""
    assume(n_values * n_each >= 2)
    rows = [(f"c{c}", "x", f"v{v}") for c in range(n_classes) for v in range(n_values) for _ in range(n_each)]
    for kind in ("distinct", "probabilistic", "entropy"):
        found = verify(table(rows), [LDiversity(l=n, kind=kind) for n in (n_values, n_values + 1)], QUASI, ["s"])
        assert [g.holds for g in found] == [True, False]
    size = n_values * n_each
    assert [g.holds for g in verify(table(rows), [KAnonymity(k=size), KAnonymity(k=size + 1)], QUASI)] == [
        True,
        False,
    ]
