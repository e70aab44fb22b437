"""Singling out: certain on the raw table, no better than on others on a coarse one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.tables import singling_out
from shoal.attack.tables.case import TableCase
from shoal.attack.tables.singling_out import SinglingOut, UnivariateSinglingOut, _expected, _scaled
from shoal.data.tables.frames import from_frame


@pytest.mark.parametrize("attack", [SinglingOut(n_attacks=400), UnivariateSinglingOut(n_attacks=400)])
def test_raw_records_are_singled_out(raw, rng, attack):
    result = attack.run(raw, rng)
    assert result.main.value == 1
    assert result.control.value < 0.5
    assert result.baseline.value < 0.2
    assert result.risk.low > 0.9
    assert result.details["true_of_one_published"] == result.main.attempts


@pytest.mark.parametrize("attack", [SinglingOut(n_attacks=400), UnivariateSinglingOut(n_attacks=400)])
def test_large_groups_are_not(coarse, rng, attack):
    quasi_only = replace(coarse, sensitive=(), original=coarse.original.select(coarse.quasi))
    result = attack.run(quasi_only, rng)
    assert result.main.value < 0.05
    assert not result.succeeds
    assert result.details["true_of_one_published"] == 0


def test_a_column_kept_as_it_is_gives_records_away(coarse, rng):
    result = SinglingOut(n_attacks=400).run(coarse, rng)
    assert result.main.value > result.details["by_quasi_identifiers"]


def test_out_of_labels_all_attributes_are_taken(release, rng):
    grouped = release(k=5)
    every, three = (SinglingOut(n, n_attacks=400).run(grouped, rng) for n in (None, 3))
    assert every.main.value > 0.9  # one record of a group often has a secret of its own
    assert three.main.value < every.main.value / 2


def test_sliced_tables_are_attacked_a_slice_at_a_time(release, rng):
    bucketized = release(l=2, publish="bucketize")
    result = SinglingOut(n_attacks=400).run(bucketized, rng)
    assert result.details["by_quasi_identifiers"] > 0.9  # they stand there as they are
    assert result.succeeds


def test_expected_successes_among_fewer():
    rng = np.random.default_rng(4)
    counts = np.array([0, 1, 1, 2, 3, 7])
    drawn = []
    for _ in range(4000):
        chosen = rng.permutation(20)[:6]
        # predicate i is true of the first counts[i] of 20 people
        drawn.append(sum(int(np.sum(chosen < c) == 1) for c in counts))
    assert _expected(counts, 20, np.array([6]))[0] == pytest.approx(np.mean(drawn), abs=0.06)
    assert _expected(counts, 20, np.array([20]))[0] == pytest.approx(2)


def test_a_control_of_another_size_is_brought_to_the_originals(raw):
    rng = np.random.default_rng(4)
    # rare predicates: of weight w in a large population; among n people they are true of one with n w (1 - w)^(n - 1)
    weights = rng.uniform(0, 0.004, 5000)
    few, many = rng.binomial(200, weights), rng.binomial(1000, weights)
    assert _scaled(few, 200, 200) == np.sum(few == 1)
    assert _scaled(few, 200, 1000) == pytest.approx(np.sum(many == 1), rel=0.15)
    assert _scaled(many, 1000, 200) == pytest.approx(np.sum(few == 1), rel=0.15)


def test_without_common_columns(raw):
    nothing = replace(raw, published=raw.published.select([]), quasi=(), sensitive=())
    assert "no column in common" in SinglingOut().missing(nothing)


def test_where_all_attributes_together_single_out_too_few_no_width_between_is_tried(monkeypatch):
    rng = np.random.default_rng(4)
    columns = {f"c{i}": np.repeat(rng.integers(0, 9, 20), 5).tolist() for i in range(12)}  # twenty groups of five
    table = from_frame(columns)
    case = TableCase(published=table, original=table, control=None, quasi=list(columns), sensitive=[])
    tried = []
    drawn = singling_out._drawn
    monkeypatch.setattr(singling_out, "_drawn", lambda *asked: tried.append(asked[3]) or drawn(*asked))
    result = SinglingOut(n_attacks=50).run(case, rng)
    assert not result.main.successes
    assert set(tried) == {12}
