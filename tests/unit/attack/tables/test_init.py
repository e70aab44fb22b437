"""Membership, homogeneity and its kin, the column join, downcoding, intersection, uniqueness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.attack import run_attacks
from shoal.attack.cases import TableCase
from shoal.attack.tables import (
    TABLE_ATTACKS,
    ColumnJoin,
    Downcoding,
    Homogeneity,
    Intersection,
    Membership,
    Similarity,
    Skewness,
    Uniqueness,
)
from shoal.data.samples.clinic import diagnosis_hierarchy
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Table, encode_cells


def texts(name, cells):
    return encode_cells(name, np.array(cells, dtype=object))


def test_members_of_a_raw_release_are_recognised(raw, rng):
    result = Membership().run(raw, rng)
    assert result.main.value > 0.95
    assert result.details["area_under_curve"] > 0.99
    assert result.succeeds


def test_members_of_a_strong_release_are_not(raw, rng):
    # records of a third group of people, who are neither: the best that can be published
    third = replace(raw, published=raw.control.take(np.arange(300)), control=raw.control.take(np.arange(300, 600)))
    result = Membership().run(third, rng)
    assert not result.succeeds
    assert result.details["area_under_curve"] == pytest.approx(0.5, abs=0.06)


def test_members_of_sliced_tables(release, rng):
    bucketized = Membership().run(release(l=3, publish="bucketize"), rng)
    assert bucketized.main.value > 0.95  # the quasi-identifiers stand there as they are
    screened = Membership().run(release(l=3, publish="screen"), rng)
    assert screened.main.value < 0.1


def test_membership_needs_controls(raw):
    assert "false alarm" in Membership().missing(replace(raw, control=None))


@pytest.mark.parametrize("attack", [Homogeneity(), Skewness(), Similarity()])
def test_raw_records_show_their_secret(raw, rng, attack):
    result = attack.run(raw, rng)
    assert result.main.value > 0.9
    assert result.control.value < 0.5
    assert result.succeeds


@pytest.mark.parametrize("attack", [Homogeneity(), Skewness(), Similarity()])
def test_large_groups_show_nothing(coarse, rng, attack):
    result = attack.run(coarse, rng)
    assert result.main.value < 0.02
    assert not result.succeeds


def grouped(secrets, **more):
    """Classes of three records, whose secrets are given."""
    n = len(secrets)
    labels = [f"[{3 * (i // 3)}..{3 * (i // 3) + 2}]" for i in range(n)]
    original = Table.of([encode_cells("q", np.arange(n)), encode_cells("s", np.array(secrets, **more))])
    attributes = {
        "q": Attribute("q", "continuous", "quasi"),
        "s": Attribute("s", "nominal" if more else "continuous", "sensitive"),
    }
    published = original.with_columns({"q": texts("q", labels)})
    return TableCase(published, original, None, ["q"], ["s"], attributes, rows=np.arange(n))


def test_homogeneity_counts_classes_of_one_value(rng):
    case = grouped(["a", "a", "a", "a", "b", "c", "c", "c", "b"], dtype=object)
    result = Homogeneity().run(case, rng)
    assert result.main.successes == 3
    assert result.main.attempts == 9


def test_skewness_counts_beliefs_that_double(rng):
    # shares in the whole: a 4/12, b 4/12, c 4/12; a value of two in three doubles
    case = grouped(["a", "a", "b", "a", "b", "c", "a", "b", "c", "b", "c", "c"], dtype=object)
    assert Skewness().run(case, rng).main.successes == 4


def test_similarity_of_numbers_and_of_branches(rng):
    case = grouped([1.0, 2.0, 3.0, 1.0, 50.0, 100.0, 60.0, 61.0, 62.0])
    assert Similarity().run(case, rng).main.successes == 6
    words = ["breast cancer", "prostate cancer", "breast cancer", "fracture", "gallstones", "depression"]
    named = grouped(words, dtype=object)
    assert "No sensitive attribute" in Similarity().missing(named)
    tree = replace(named.attributes["s"], hierarchy=diagnosis_hierarchy())
    with_tree = replace(named, attributes={**named.attributes, "s": tree})
    assert Homogeneity().run(with_tree, rng).main.successes == 0
    assert Similarity().run(with_tree, rng).main.successes == 3


def screened(zips, swapped):
    """The printed table of screening in small: zip codes of the first slice tell the secret of one row."""
    layout = Layout.of([["zip", "s"], ["age", "s"]])
    original = Table.of(
        [
            encode_cells("age", np.array([21, 22, 31, 32])),
            texts("zip", ["40101", "40201", "40202", "40203"]),
            texts("s", ["low", "mid", "high", "top"]),
        ]
    )
    order = np.array(swapped)
    published = Table.of(
        [
            encode_cells("bucket", np.ones(4, dtype=np.int64)),
            texts("zip", zips).take(order),
            replace(original["s"], name="s@1").take(order),
            texts("age", ["[21..32]"] * 4),
            replace(original["s"], name="s@2"),
        ]
    )
    attributes = {
        "age": Attribute("age", "continuous", "quasi"),
        "zip": Attribute("zip", "prefix", "quasi"),
        "s": Attribute("s", "nominal", "sensitive"),
    }
    return TableCase(published, original, None, ["age", "zip"], ["s"], attributes, "screen", layout)


def test_the_join_finds_what_the_printed_check_does_not(rng):
    weak = screened(["401**", "402**", "402**", "402**"], [2, 0, 3, 1])
    result = ColumnJoin().run(weak, rng)
    assert result.main.successes == 1
    assert result.main.attempts == 4
    assert result.details["without_join"] == 0
    strong = screened(["40***"] * 4, [2, 0, 3, 1])
    assert ColumnJoin().run(strong, rng).main.successes == 0


def test_releases_that_were_checked_withstand_the_join(release, rng):
    result = ColumnJoin().run(release(l=3, publish="screen"), rng)
    assert result.main.value == 0
    assert not result.succeeds


def test_ends_of_tight_ranges_are_values(release, rng):
    result = Downcoding().run(release(partition="mondrian", publish="generalise"), rng)
    assert result.main.value == 1
    assert result.baseline.value < 0.9
    assert result.succeeds


def test_ends_of_recoded_ranges_are_like_others(release, rng):
    recoded = release(partition="datafly", publish="generalise", suppression=0.1)
    result = Downcoding().run(recoded, rng)
    assert not result.succeeds
    assert result.main.value < 0.8


def test_downcoding_needs_ranges(raw, release):
    assert "range or a set" in Downcoding().missing(raw)
    assert "slices" in Downcoding().missing(release(l=3, publish="screen"))


def test_members_of_sets_are_claimed(rng):
    original = Table.of([texts("q", ["a", "b", "c", "c"]), texts("s", list("wxyz"))])
    published = original.with_columns({"q": texts("q", ["{a, b}", "{a, b}", "{b, c}", "{b, c}"])})
    attributes = {"q": Attribute("q", "nominal", "quasi"), "s": Attribute("s", "nominal", "sensitive")}
    case = TableCase(published, original, None, ["q"], ["s"], attributes, rows=np.arange(4))
    result = Downcoding().run(case, rng)
    assert (result.main.successes, result.main.attempts) == (3, 4)  # nobody in the second class has b


def test_two_releases_tell_more_than_one(release, rng):
    first = release(partition="mondrian", publish="generalise")
    second = release(k=5, partition="mdav", publish="generalise")
    both = Intersection().run(replace(first, other=second.published), rng)
    assert both.main.value > both.baseline.value + 0.05
    assert both.succeeds
    same = Intersection().run(replace(first, other=first.published), rng)
    assert same.main.value == pytest.approx(same.baseline.value)
    assert "no second release" in Intersection().missing(first)


def test_intersection_by_hand(rng):
    case = grouped(["a", "b", "c", "d", "e", "f"], dtype=object)
    labels = ["[0..0]", "[1..4]", "[1..4]", "[1..4]", "[1..4]", "[5..5]"]
    other = case.published.with_columns({"q": texts("q", labels)})
    result = Intersection().run(replace(case, other=other), rng)
    # of 0 and 5 the second tells; 3 and 4 share d and e, 1 and 2 share b and c
    assert result.main.successes == 2
    assert result.details["first_alone"] == 0


def test_raw_records_fit_one_person_of_the_population(raw, release, people, rng):
    population = Table.of(raw.original[n] for n in ("age", "zip", "admission", "sex"))
    result = Uniqueness().run(replace(raw, population=population), rng)
    assert result.main.value == 1
    strong = replace(release(k=20, partition="mondrian", publish="generalise"), population=population)
    result = Uniqueness().run(strong, rng)
    assert result.main.value == 0
    assert result.details["median_people_that_fit"] >= 20
    assert not result.succeeds
    assert "no file" in Uniqueness().missing(raw)


def test_a_larger_population_hides_more(rng):
    published = Table.of([texts("q", ["[0..2]", "[0..2]", "9"])])
    original = Table.of([encode_cells("q", np.array([0, 2, 9]))])
    attributes = {"q": Attribute("q", "continuous", "quasi")}
    for more, unique in (([0, 1, 2, 9], 1), ([0, 1, 2, 9, 9], 0), ([1, 9], 3)):
        population = Table.of([encode_cells("q", np.array(more))])
        case = TableCase(published, original, None, ["q"], (), attributes, population=population)
        result = Uniqueness().run(case, rng)
        assert result.main.successes == unique
        assert result.details["unique_in_release"] == pytest.approx(1 / 3)


def test_a_seed_gives_the_same_result_again(coarse):
    first, again = (run_attacks(TABLE_ATTACKS, coarse, seed=1).to_dict() for _ in range(2))
    assert first == again


def test_a_result_does_not_depend_on_which_others_are_named(coarse):
    all_of_them = run_attacks(TABLE_ATTACKS, coarse, seed=1)
    alone = run_attacks(TABLE_ATTACKS, coarse, ["membership"], seed=1)
    assert [r.attack for r in alone.results] == ["membership"]
    assert not alone.skipped
    assert alone.results[0].to_dict() in [r.to_dict() for r in all_of_them.results]


def test_all_attacks_run_or_say_why_not(raw, release):
    for case in (raw, release(k=20, partition="mdav", publish="condense"), release(l=3, publish="slice")):
        done = run_attacks(TABLE_ATTACKS, case, seed=1)
        assert len(done.results) + len(done.skipped) == len(TABLE_ATTACKS)
        assert len(done.results) >= 5
        names = [r.attack for r in done.results] + [name for name, _ in done.skipped]
        assert len(set(names)) == len(names)
        for result in done.results:
            assert 0 <= result.main.value <= 1
            assert result.sentence.endswith(".")
            assert result.to_dict()["attack"] == result.attack


def test_every_attack_says_what_it_is():
    for attack in TABLE_ATTACKS:
        for said in (attack.title, attack.knows, attack.stopped_by, attack.remedy, attack.reference):
            assert len(said) > 5
