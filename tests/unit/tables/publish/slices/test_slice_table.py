"""The machine on small tables that one can follow by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import shoal
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import prefixes
from shoal.engine.executors import open_executor
from shoal.errors import Infeasible, PolicyError
from shoal.models.l_diversity import LDiversity
from shoal.tables.publish.slices.slice_table import slice_table
from tests.unit.tables.publish.slices.people import N, asked, people
from tests.unit.tables.publish.slices.slow_slicing import (
    ATTRIBUTES,
    beliefs,
    marginal,
    random_columns,
    satisfies,
    table_of,
    texts_of,
)

FOUR = {"first": ["a", "a", "b", "b"], "second": ["x", "y", "x", "y"], "s": ["1", "2", "3", "4"]}
PLAIN = {
    "first": Attribute("first", "nominal", "quasi"),
    "second": Attribute("second", "nominal", "quasi"),
    "s": Attribute("s", "nominal", "sensitive"),
}
PEOPLE = {
    "Sex": list("FFMFFMMM"),
    "ZipCode": "40178 40277 40276 40175 40385 40485 40286 40267".split(),
    "Age": "26 30 32 51 28 43 50 48".split(),
    "Occupation": "nurse nurse police cook engineer engineer clerk clerk".split(),
    "Salary": "10000 12000 8000 9000 20000 23000 8000 11000".split(),
}
MEANT = {
    "Sex": Attribute("Sex", "nominal", "quasi"),
    "ZipCode": Attribute("ZipCode", "prefix", "quasi", hierarchy=prefixes(PEOPLE["ZipCode"])),
    "Age": Attribute("Age", "continuous", "quasi"),
    "Occupation": Attribute("Occupation", "nominal", "quasi"),
    "Salary": Attribute("Salary", "nominal", "sensitive"),
}
AGE_CITY = ["age", "city", "disease"]


def most_likely(found):
    return max(max(w.values()) / sum(w.values()) for _, _, w in found)


def test_sliced_the_bucket_of_four_passes_and_screened_it_is_coarsened() -> None:
    table = table_of(FOUR, PLAIN)
    required = [LDiversity(l=2, kind="probabilistic")]
    sliced = slice_table(
        table, PLAIN, form="slice", k=4, require=required, columns=[["first", "s"], ["second"]], seed=1
    )
    assert most_likely(beliefs(sliced, table, PLAIN)) == Fraction(1, 2)
    screened = slice_table(
        table, PLAIN, form="screen", k=2, require=required, columns=[["first"], ["second"]], bucket_rows=4, seed=1
    )
    assert screened.layout.names == ["bucket", "first", "s@1", "second", "s@2"]
    assert most_likely(beliefs(screened, table, PLAIN)) == Fraction(1, 2)
    shown = texts_of(screened.table)
    # One slice keeps its values; with both, the join would leave one value of s to each person.
    assert (set(shown["first"]), set(shown["second"])) == ({"a", "b"}, {"*"})


def test_both_slices_kept_would_tell_all() -> None:
    """Without a requirement nothing is coarsened, and the join tells every value."""
    table = table_of(FOUR, PLAIN)
    screened = slice_table(table, PLAIN, form="screen", k=2, columns=[["first"], ["second"]], bucket_rows=4, seed=1)
    assert most_likely(beliefs(screened, table, PLAIN)) == 1


@pytest.mark.parametrize("bucket_rows", [2, 4, 8, "best"])
def test_the_people_of_table_1_come_out_as_a_valid_screening(bucket_rows) -> None:
    table = table_of(PEOPLE, MEANT)
    required = LDiversity(l=2, kind="probabilistic")
    columns = [["Age", "Sex"], ["ZipCode", "Occupation"]]
    made = slice_table(
        table, MEANT, form="screen", k=2, require=[required], columns=columns, bucket_rows=bucket_rows, seed=1
    )
    assert made.layout.names == ["bucket", "Age", "Sex", "Salary@1", "ZipCode", "Occupation", "Salary@2"]
    found = beliefs(made, table, MEANT)
    assert {t for t, _, _ in found} == set(range(8))
    assert all(satisfies(required, marginal(w, 0), []) for _, _, w in found)
    if bucket_rows == 4:  # as in the paper: two buckets of four, ages 26-32 and 43-51
        assert set(texts_of(made.table)["bucket"]) == {"1", "2"}


def test_sensitive_values_beside_too_telling_quasi_identifiers_are_refused() -> None:
    columns = {**FOUR, "s": ["1", "2", "1", "1"]}
    table = table_of(columns, PLAIN)
    asked = {"k": 2, "require": [LDiversity(l=2)], "columns": [["first", "s"], ["second"]], "seed": 1}
    with pytest.raises(Infeasible, match="2 records have quasi-identifiers beside") as refused:
        slice_table(table, PLAIN, form="slice", **asked)
    assert "'b'" not in str(refused.value)
    asked["columns"] = "best"
    made = slice_table(table, PLAIN, form="slice", **asked)
    assert made.layout.slices[-1].attributes == ("s",)


def test_what_all_records_together_cannot_meet_is_refused_in_every_form() -> None:
    table = table_of(FOUR, PLAIN)
    for form in ("bucketize", "slice", "screen"):
        for rows in (2, 100):
            with pytest.raises(Infeasible):
                slice_table(table, PLAIN, form=form, k=2, require=[LDiversity(l=5)], bucket_rows=rows, seed=1)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ([["first"]], "leave out the quasi-identifier 'second'"),
        ([["first", "second", "first"]], "twice"),
        ([["first"], ["second", "frist"]], "did you mean 'first'"),
        ([["first", "name"], ["second"]], "identifying"),
        ([["first", "s"], ["second", "s"]], "more than one"),
        ([[], ["first", "second"]], "list of column names"),
        (["first", "second"], "list of column names"),
        (0, "at least 1"),
        (True, "at least 1"),
        ("worst", "cannot be 'worst'"),
    ],
)
def test_slices_that_are_not_understood(columns, says) -> None:
    table = table_of(FOUR, PLAIN)
    attributes = {**PLAIN, "name": Attribute("name", "nominal", "identifying")}
    with pytest.raises(PolicyError, match=says):
        slice_table(table, attributes, form="slice", k=2, columns=columns)


def test_bucketize_has_its_own_slices_and_needs_sensitive_values() -> None:
    table = table_of(FOUR, PLAIN)
    with pytest.raises(PolicyError, match="two slices"):
        slice_table(table, PLAIN, form="bucketize", k=2, columns=2)
    bare = {**PLAIN, "s": Attribute("s", "nominal", "insensitive")}
    with pytest.raises(PolicyError, match="role sensitive"):
        slice_table(table, bare, form="bucketize", k=2)
    assert slice_table(table, bare, form="screen", k=2, seed=1).table.n_rows == 4


def test_the_forms_of_one_table() -> None:
    columns = random_columns(np.random.default_rng(3), 80, ["age", "city", "grade", "disease", "cost", "note"])
    table = table_of(columns)
    asked = {"k": 2, "require": [LDiversity(l=2)], "seed": 1}
    made = slice_table(table, ATTRIBUTES, form="bucketize", **asked)
    assert [s.attributes for s in made.layout.slices] == [("age", "city", "grade", "note"), ("cost", "disease")]
    made = slice_table(table, ATTRIBUTES, form="slice", columns=3, **asked)
    assert len(made.layout.slices) == 3
    assert sum("disease" in s.attributes for s in made.layout.slices) == 1
    made = slice_table(table, ATTRIBUTES, form="screen", columns=2, **asked)
    assert all(s.attributes[-2:] == ("cost", "disease") for s in made.layout.slices)
    assert sum("note" in s.attributes for s in made.layout.slices) == 1
    assert made.table.source == table.source


@pytest.mark.parametrize("form", ["slice", "screen"])
def test_a_slice_of_the_user_may_hold_insensitive_attributes_alone(form) -> None:
    columns = random_columns(np.random.default_rng(3), 80, ["age", "city", "disease", "note"])
    table = table_of(columns)
    asked = {"k": 2, "require": [LDiversity(l=2)], "columns": [["city", "age"], ["note"]], "seed": 1}
    made = slice_table(table, ATTRIBUTES, form=form, **asked)
    assert [s.attributes[:2] for s in made.layout.slices][:2] == [
        ("city", "age"),
        ("note",) if form == "slice" else ("note", "disease"),
    ]
    assert len(made.layout.slices) == (3 if form == "slice" else 2)
    for _, _, weights in beliefs(made, table):
        assert satisfies(LDiversity(l=2), marginal(weights, 0), [])


def test_one_slice_is_mondrian() -> None:
    """One slice, screened, is what generalising Mondrian's groups publishes."""
    columns = random_columns(np.random.default_rng(4), 120, ["age", "city", "disease"])
    table = table_of(columns)
    small, large = (
        slice_table(table, ATTRIBUTES, form="screen", k=3, require=[LDiversity(l=2)], columns=1, bucket_rows=b, seed=1)
        for b in (3, 120)
    )
    assert large.buckets.max() == 0 < small.buckets.max()
    shown = [sorted(zip(*(texts_of(m.table)[n] for n in AGE_CITY), strict=True)) for m in (small, large)]
    assert shown[0] == shown[1]


def test_buckets_on_an_executor_are_the_same() -> None:
    columns = random_columns(np.random.default_rng(6), 3000, AGE_CITY)
    columns["age"] = [str(i % 97) for i in range(3000)]
    table = table_of(columns)
    asked = {"k": 5, "require": [LDiversity(l=2)], "columns": 2, "bucket_rows": 50, "seed": 1, "block_rows": 500}
    here = slice_table(table, ATTRIBUTES, form="screen", **asked)
    with open_executor(2, "threads") as executor:
        there = slice_table(table, ATTRIBUTES, form="screen", executor=executor, **asked)
    assert texts_of(here.table) == texts_of(there.table)
    assert here.buckets.max() > 10


@pytest.mark.parametrize("form", ["bucketize", "slice", "screen"])
def test_all_records_equal(form) -> None:
    columns = {"age": ["1"] * 6, "city": ["oslo"] * 6, "disease": ["flu", "cold"] * 3}
    table = table_of(columns)
    made = slice_table(table, ATTRIBUTES, form=form, k=2, require=[LDiversity(l=2)], seed=1)
    assert made.buckets.max() == 0
    assert set(texts_of(made.table)["city"]) == {"oslo"}


def test_the_order_inside_buckets_does_not_tie_slices_together() -> None:
    """Over many seeds, every city of a bucket stands beside every disease of it about equally often."""
    columns = {"age": ["1"] * 4, "city": ["a", "b", "c", "d"], "disease": ["flu", "cold", "gout", "acne"]}
    table = table_of(columns)
    seen = np.zeros((4, 4))
    for seed in range(400):
        shown = texts_of(slice_table(table, ATTRIBUTES, form="bucketize", k=4, seed=seed).table)
        for city, disease in zip(shown["city"], shown["disease"], strict=True):
            seen["abcd".index(city), ["flu", "cold", "gout", "acne"].index(disease)] += 1
    assert np.abs(seen - 100).max() < 45  # five standard deviations


def test_without_diversity_no_quasi_identifier_stands_beside_the_sensitive_values() -> None:
    sliced = shoal.anonymize(people(), asked("slice", "pay", singled_out=1.0), seed=1)
    assert sliced.layout is not None
    assert sliced.layout.slices[-1].attributes == ("pay",)
    screened = shoal.anonymize(people(), asked("screen", "pay", singled_out=1.0), seed=1)
    for release in (sliced, screened):
        assert release.exposure is not None
        assert release.exposure.joined is not None
        assert release.exposure.joined.highest <= 1 / 5 + 1e-9
    limited = asked("slice", "pay", singled_out=1.0, require=[{"model": "k-anonymity", "k": 5}])
    shown = shoal.anonymize(people(), limited.changed(slices=[["age", "pay"], ["town", "sex"]]), seed=1)
    assert any("Nothing but k is required of 'pay'" in note for note in shown.notes)
    assert all("permutes the sensitive values" not in g.sentence for g in shown.guarantees)
    joined = shoal.anonymize(people(), asked("screen", "pay", singled_out=1.0, slices=2), seed=1)
    assert any("by joining the slices" in note for note in joined.notes)


def test_an_insensitive_copy_of_a_sensitive_column_is_refused_and_much_of_one_is_told() -> None:
    table = people()
    table["code"] = [f"code {d}" for d in table["disease"]]
    policy = asked("bucketize", l=2).changed(insensitive=["code"])
    with pytest.raises(PolicyError, match="'code' all but equals the sensitive 'disease'"):
        shoal.anonymize(table, policy, seed=1)
    table["code"] = [c if i % 6 else "code" for i, c in enumerate(table["code"])]
    notes = shoal.anonymize(table, policy, seed=1).notes
    assert any("'code' tells most of 'disease'" in note for note in notes)
    table["code"] = np.random.default_rng(1).permutation(table["code"]).tolist()
    assert not any("tells most" in note for note in shoal.anonymize(table, policy, seed=1).notes)


@pytest.mark.parametrize("values", [["{ab, cd}", "ab", "cd"], ["ab or missing", "ab", "ef"], ["ab, cd", "ab", "cd"]])
def test_values_that_look_like_labels(values: list[str]) -> None:
    table = people()
    table["town"] = values * (N // 3)
    for publish in ("bucketize", "slice", "screen"):
        assert shoal.anonymize(table, asked(publish, l=2), seed=1).guarantees
