"""Linking people to records, and two files through the release."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.tables.linkability import Linkability
from shoal.attack.tables.linkage import Linkage, PartialLinkage, RankLinkage, _mid_ranks, _weights


def test_raw_records_are_linked(raw, rng):
    assert Linkage().run(raw, rng).main.value == 1
    partial = PartialLinkage().run(raw, rng)
    assert 0.3 < partial.main.value < 1
    assert partial.succeeds
    assert RankLinkage().run(raw, rng).main.value == 1


@pytest.mark.parametrize("attack", [Linkage(), PartialLinkage()])
def test_no_link_is_better_than_one_in_k(release, rng, attack):
    for k in (5, 50):
        result = attack.run(release(k=k, partition="mondrian", publish="generalise"), rng)
        assert result.main.value <= 1 / k + 1e-9
        assert result.details["median_equally_near"] >= k


def test_one_class_is_linked_by_chance_alone(release, rng):
    result = Linkage().run(release(k=400, partition="mondrian", publish="generalise"), rng)
    assert result.main.value == pytest.approx(1 / 600)
    assert result.baseline.value == pytest.approx(1 / 600)
    assert not result.succeeds


def test_ranks_see_through_a_change_of_scale(raw, rng):
    numbers = ["age", "admission"]
    by_number = replace(raw, quasi=numbers)
    age, day = (by_number.published[n] for n in numbers)
    moved = replace(age, values=np.log(age.values) * 1000)  # the order is kept, the values are far off
    masked = replace(by_number, published=by_number.published.with_columns({"age": moved}))
    assert RankLinkage().run(masked, rng).main.value > 0.95
    assert Linkage().run(masked, rng).main.value < 0.5
    shuffled = replace(day, codes=rng.permutation(day.codes))
    mixed = replace(masked, published=masked.published.with_columns({"admission": shuffled}))
    assert RankLinkage().run(mixed, rng).main.value < 0.1


def test_the_wrong_record_is_no_success(raw, rng):
    turned = replace(raw, rows=np.roll(raw.rows, 1))
    assert Linkage().run(turned, rng).main.value < 0.01


def test_suppressed_people_cannot_be_linked(raw, rng):
    half = replace(raw, published=raw.published.take(np.arange(300)), rows=raw.rows[:300])
    assert Linkage().run(half, rng).main.value == 0.5


def test_what_is_missing(raw, release):
    assert "not known which original" in Linkage().missing(replace(raw, rows=None))
    assert "slices" in Linkage().missing(release(l=2, publish="bucketize"))
    assert "no ranks" in RankLinkage().missing(release(partition="mondrian", publish="generalise"))
    assert "two sides" in Linkability().missing(replace(raw, quasi=["age"]))


@pytest.mark.parametrize("seed", range(4))
def test_ranks_count_every_person_once(seed):
    draw = np.random.default_rng(seed)
    persons = np.repeat(np.arange(8), draw.integers(1, 5, 8))
    among = draw.integers(0, 6, len(persons)).astype(float)
    among[draw.random(len(among)) < 0.2] = np.nan
    values = np.array([0.0, 2.0, 3.5, 5.0, np.nan])
    slow = []
    for value in values:
        below = equal = there = 0.0
        for record, who in zip(among, persons, strict=True):
            if not np.isnan(record):
                counts = 1 / (persons == who).sum()
                below, equal, there = (
                    below + counts * (record < value),
                    equal + counts * (record == value),
                    there + counts,
                )
        slow.append(np.nan if np.isnan(value) else (below + equal / 2) / there)
    np.testing.assert_allclose(_mid_ranks(values, among, _weights(persons)), slow)
    alone = np.arange(len(persons))
    np.testing.assert_allclose(_mid_ranks(values, among, _weights(alone)), _mid_ranks(values, among))
