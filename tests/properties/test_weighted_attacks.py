"""Attacks on rows that stand for several records get what they get on these records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest

import shoal
from shoal.attack.attack import ALL_RECORDS
from shoal.attack.tables import TABLE_ATTACKS
from shoal.attack.tables.case import TableCase
from shoal.attack.tables.minimality import spread_setting
from shoal.attack.tables.targets import draw, n_distinct
from shoal.data.tables.table import Table, row_keys

N_ROWS = 1500
ASKED = {
    "cuts": {"l": 2},
    "recoded": {"partition": "full-domain", "suppression": 0.2},
    "far": {"t": 0.3, "missing": "any"},
}
ALIKE = ("singling-out-univariate", "singling-out", "linkage", "linkage-partial", "label-ends", "downcoding")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weighted") / "people.parquet"
    rng = np.random.default_rng(8)
    columns = {
        "age": rng.integers(20, 45, N_ROWS),
        "job": np.array(["smith", "clerk", "?", None, "cook"], dtype=object)[rng.integers(0, 5, N_ROWS)],
        "ill": np.array(["flu", "cold", "ulcer"], dtype=object)[rng.integers(0, 3, N_ROWS)],
        "ward": rng.integers(0, 2, N_ROWS),
    }
    with duckdb.connect() as database:
        database.register("columns", columns)
        database.execute(f"COPY (SELECT * FROM columns) TO '{path}' (FORMAT parquet)")
    return path


@pytest.fixture(scope="module", params=list(ASKED))
def case(people: Path, request: pytest.FixtureRequest) -> TableCase:
    roles = {
        "quasi": ["age", "job"],
        "sensitive": ["ill"],
        "insensitive": ["ward"],
        "accept": {"singled_out": "made up"},
    }
    policy = shoal.Policy.of(**roles, k=4, memory="1GB", **ASKED[request.param])
    return shoal.anonymize(people, policy, seed=2).case


def spread(case: TableCase) -> TableCase:
    """The same, with a row for each record: the slow twin."""
    ours, theirs = case.original.weights, case.published.weights
    assert ours is not None
    assert theirs is not None
    begins = np.cumsum(ours) - ours
    rows = (
        np.repeat(begins[case.rows], theirs) + np.arange(theirs.sum()) - np.repeat(np.cumsum(theirs) - theirs, theirs)
    )

    def single(table: Table) -> Table:
        return replace(table.take(np.repeat(np.arange(table.n_rows), table.weights)), weights=None)

    return replace(case, original=single(case.original), published=single(case.published), rows=rows)


def test_rows_stand_for_all_records_of_the_release(case: TableCase) -> None:
    assert case.original.n_records == N_ROWS
    assert case.original.n_rows < N_ROWS
    assert (case.original.weights[case.rows] == case.published.weights).all()
    assert case.granted == {"original": N_ROWS, "rows": case.published.n_records}
    assert case.n_targets == N_ROWS


@pytest.mark.parametrize("name", ALIKE)
def test_an_attack_gets_what_it_gets_on_single_records(case: TableCase, name: str) -> None:
    attack, single = TABLE_ATTACKS[name], spread(case)
    assert attack.counts_by_weight
    assert attack.missing(case) == attack.missing(single)
    if attack.missing(case) is None:
        ours, theirs = (attack.run(c, np.random.default_rng(6)) for c in (case, single))
        assert ours == theirs


def test_classes_of_one_secret_are_found_alike_and_chance_has_the_same_share(case: TableCase) -> None:
    attack, single = TABLE_ATTACKS["homogeneity"], spread(case)
    ours, theirs = (attack.run(c, np.random.default_rng(6)) for c in (case, single))
    assert (ours.main, ours.details) == (theirs.main, theirs.details)
    assert ours.baseline is not None
    assert theirs.baseline is not None
    assert ours.baseline.value == pytest.approx(theirs.baseline.value, abs=0.04)


def test_a_partition_is_repeated_for_no_records_that_stand_together(case: TableCase) -> None:
    attack, single = TABLE_ATTACKS["partition-replay"].in_release(), spread(case)
    assert attack.missing(case) is None
    ours, theirs = (attack.run(c, np.random.default_rng(6)) for c in (case, single))
    assert ours == theirs


def test_the_groups_that_are_spread_out_are_whole(case: TableCase) -> None:
    setting, rows = spread_setting(case, np.random.default_rng(0))
    assert setting.starts[-1] == len(rows) == len(setting.people)
    places, counts = np.unique(rows, return_counts=True)
    assert (counts == case.published.weights[places]).all()
    assert (np.diff(setting.starts) >= 2 * setting.k).all()


def collapsed(table: Table) -> Table:
    """Every distinct row once, with the number of its records."""
    keys = row_keys(list(table.columns.values()))
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return replace(table.take(first), weights=counts.astype(np.int32))


@pytest.fixture(scope="module")
def alone(case: TableCase) -> tuple[TableCase, TableCase]:
    """What others could attack, with people beside who are not in the release, from distinct rows and from records."""
    rng = np.random.default_rng(3)
    single = spread(case)
    columns = single.original
    others, everybody = (columns.take(rng.choice(N_ROWS, n)) for n in (400, 900))
    single = replace(single, rows=None, control=others, population=everybody)
    return replace(
        single,
        published=collapsed(single.published),
        original=collapsed(columns),
        control=collapsed(others),
        population=collapsed(everybody),
    ), single


@pytest.mark.parametrize("name", ["singling-out-univariate", "inference", "membership", "uniqueness"])
def test_without_the_owners_knowledge_and_with_others_an_attack_gets_the_same(
    alone: tuple[TableCase, TableCase], name: str
) -> None:
    attack = TABLE_ATTACKS[name]
    assert [attack.missing(case) for case in alone] == [None, None]
    ours, theirs = (attack.run(case, np.random.default_rng(6)) for case in alone)
    assert ours == theirs


@pytest.mark.parametrize("name", ["homogeneity", "skewness", "similarity"])
def test_secrets_in_common_are_found_alike_on_members_and_on_others(
    alone: tuple[TableCase, TableCase], name: str
) -> None:
    ranked = {"ill": replace(alone[0].attributes["ill"], type="ordinal")}
    cases = [replace(case, attributes={**case.attributes, **ranked}) for case in alone]
    attack = TABLE_ATTACKS[name]
    assert [attack.missing(case) for case in cases] == [None, None]
    ours, theirs = (attack.run(case, np.random.default_rng(6)) for case in cases)
    assert (ours.main, ours.control, ours.details) == (theirs.main, theirs.control, theirs.details)
    assert ours.baseline.value == pytest.approx(theirs.baseline.value, abs=0.04)


def test_a_sample_of_published_records_is_looked_up(alone: tuple[TableCase, TableCase]) -> None:
    few = replace(TABLE_ATTACKS["uniqueness"], n_attacks=50)
    ours, theirs = (few.run(case, np.random.default_rng(6)) for case in alone)
    assert (ours.main.attempts, theirs.main.attempts) == (50, alone[1].published.n_rows)
    assert ours.details["unique_in_release"] == theirs.details["unique_in_release"]


def test_what_others_were_given_is_counted_by_records(alone: tuple[TableCase, TableCase]) -> None:
    assert alone[0].granted == alone[1].granted == {"original": N_ROWS, "others": 400, "population": 900}


def test_who_takes_the_secret_of_one_record_needs_all(alone: tuple[TableCase, TableCase]) -> None:
    one = replace(TABLE_ATTACKS["inference"], votes=False)
    assert [one.missing(case) for case in alone] == [ALL_RECORDS, None]


def test_what_counts_no_weights_is_not_run(case: TableCase) -> None:
    assert {n for n, a in TABLE_ATTACKS.items() if a.counts_by_weight} == {
        *ALIKE,
        "homogeneity",
        "inference",
        "membership",
        "minimality",
        "partition-replay",
        "similarity",
        "skewness",
        "uniqueness",
    }


@pytest.mark.parametrize("n", [1, 5, 400])
def test_records_are_drawn_and_not_rows(n: int) -> None:
    weights = np.array([3, 1, 1, 500, 2], dtype=np.int32)
    found = draw(None, 5, n, np.random.default_rng(1), weights=weights)
    single = draw(None, int(weights.sum()), n, np.random.default_rng(1))
    assert found.rows.tolist() == np.repeat(np.arange(5), weights)[single.rows].tolist()
    assert n_distinct(np.array([0, 1, 0, 1, 2]), None, 4, weights).tolist() == [4, 501, 2, 0]
