"""The tests of `attack/tables/homogeneity.py`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shoal.attack.tables.homogeneity import Homogeneity, Similarity, Skewness
from shoal.data.samples.clinic import diagnosis_hierarchy
from tests.unit.attack.tables.small_cases import grouped


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
