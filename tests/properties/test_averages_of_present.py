"""With missing values, whatever the partition: every average is of at least k present values, and the check sees it."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.check.evidence import Evidence
from shoal.check.tables.averages import averages
from shoal.check.tables.publication import verify_publication
from shoal.check.verdict import Asked
from shoal.data.tables.frames import from_frame
from shoal.tables.anonymize import anonymize_table
from shoal.tables.encoding import rank
from shoal.tables.groups import Groups
from shoal.tables.partition.base import PARTITIONS as REGISTERED
from shoal.tables.publish.aggregate import aggregate

pytestmark = pytest.mark.unattacked

GRADES = ("low", "middle", "high")
QUASI = ["income", "born", "grade", "city"]
PARTITIONS = [p.name for p in REGISTERED.values() if not p.is_recoding]


def random_table(seed: int, n_rows: int = 60, gaps: float = 0.45) -> dict[str, list[str]]:
    rng = np.random.default_rng(seed)
    cells = {
        "income": [f"{v:.2f}" for v in rng.lognormal(10, 1, n_rows)],
        "born": [str(date(1990, 1, 1) + timedelta(days=int(d))) for d in rng.integers(0, 9000, n_rows)],
        "grade": rng.choice(GRADES, n_rows).tolist(),
        "city": rng.choice(["Basel", "Bern", "Biel", "Brig", "Chur"], n_rows).tolist(),
    }
    shares = {"income": gaps, "born": gaps / 2, "grade": gaps, "city": gaps / 3}
    return {n: ["" if rng.random() < shares[n] else c for c in column] for n, column in cells.items()} | {
        "illness": rng.choice(["flu", "gout", "ulcer"], n_rows).tolist()
    }


def policy(partition: str, missing: str, k: int, **more: Any) -> shoal.Policy:
    quasi = ["income"] if partition == "univariate" else QUASI
    return shoal.Policy.of(
        quasi=quasi,
        sensitive=["illness"],
        identifying=[n for n in QUASI if n not in quasi],
        k=k,
        partition=partition,
        missing=missing,
        columns={"income": {"type": "continuous"}, "born": {"type": "date"}, "grade": {"order": GRADES}},
        **more,
    )


def slow_average(name: str, cells: list[str]) -> list[str]:
    """What may stand for some cells: their mean, median or mode (any of several)."""
    if name == "income":
        return [f"{math.fsum(map(float, cells)) / len(cells):.6g}"]
    if name == "born":
        days = math.fsum(date.fromisoformat(c).toordinal() for c in cells) / len(cells)
        return [str(date.fromordinal(d)) for d in {math.floor(days), math.ceil(days)}]
    if name == "grade":
        return [GRADES[statistics.median_low(GRADES.index(c) for c in cells)]]
    counts = Counter(cells)
    return [c for c in counts if counts[c] == max(counts.values())]


def told(name: str, cell: Any) -> str:
    if cell is None or cell == "" or cell != cell:
        return ""
    return f"{float(cell):.6g}" if name == "income" else str(cell)[:10] if name == "born" else str(cell)


@pytest.mark.parametrize("missing", ["value", "any"])
@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("seed", range(3))
def test_every_average_is_of_at_least_k_present_values(seed: int, partition: str, missing: str) -> None:
    k = 3 + seed
    table = random_table(seed)
    release = shoal.anonymize(table, policy(partition, missing, k, publish="aggregate"), seed=seed)
    for name in [n for n in QUASI if n in release.data]:
        standing = defaultdict(list)
        for row, cell in zip(release._rows.tolist(), release.data[name], strict=True):
            standing[told(name, cell)].append(table[name][row])
        assert missing == "value" or "" not in standing
        for shown, cells in standing.items():
            present = [c for c in cells if c]
            if shown:
                assert len(present) >= k
                assert shown in slow_average(name, present)


@pytest.mark.parametrize("missing", ["value", "any"])
@pytest.mark.parametrize("partition", PARTITIONS)
def test_pseudo_records_are_drawn_from_no_value_or_from_k(partition: str, missing: str) -> None:
    table = random_table(7)
    table["income"] = [f"{float(c) + i / 100:.2f}" if c else c for i, c in enumerate(table["income"])]
    release = shoal.anonymize(table, policy(partition, missing, 4, publish="condense"), seed=7)
    has, shows = defaultdict(Counter), defaultdict(Counter)
    for row, group in enumerate(release._evidence.original_groups.tolist()):
        for name in QUASI:
            has[name][group] += bool(table[name][row])
    for name in [n for n in QUASI if n in release.data]:
        for group, cell in zip(release._groups.tolist(), release.data[name], strict=True):
            shows[name][group] += bool(told(name, cell))
        assert all(has[name][group] >= 4 for group, n in shows[name].items() if n)
        assert any(shows[name].values())


def test_a_column_of_few_values_is_drawn_missing() -> None:
    table = random_table(8)
    table["income"] = [c if i < 3 else "" for i, c in enumerate(["10.5", "20.5", "30.5"] + [""] * 57)]
    release = shoal.anonymize(table, policy("mdav", "value", 5, publish="condense"), seed=1)
    assert not any(told("income", c) for c in release.data["income"])


def evidence_of(table: dict[str, list[str]], asked: shoal.Policy):
    """The published table, what it is held to, and all evidence."""
    original = from_frame(table)
    made = anonymize_table(original, asked, seed=1)
    held = Asked(asked.require, QUASI, ["illness"], asked.missing, asked.missing_markers, made.attributes)
    return original, made, held, Evidence.of(original, made.rows, made.groups)


@pytest.mark.parametrize("missing", ["value", "any"])
@pytest.mark.parametrize("restore", [False, True])
def test_the_check_finds_averages_of_few_that_stand_among_others(missing: str, restore: bool) -> None:
    """What was published up to now, an average of each group however few it has, is what the check must refuse."""
    asked = policy("mdav", missing, 5, restore_variance=restore)
    original, made, held, evidence = evidence_of(random_table(3), asked)
    assert verify_publication(made.table, "aggregate", held, evidence).holds
    for name in ("income", "born"):  # of few categories, what few records of a group have is what others have too
        sources = original[name].take(made.rows)
        ranked = rank(sources, made.attributes[name])
        old = aggregate(sources, ranked, Groups.of(made.groups), k=1, missing=missing, restore_variance=restore).column
        found = averages(made.table.with_columns({name: old}), held, evidence)
        assert len(found.findings) == 1
        assert repr(name) in found.findings[0]


def test_the_check_finds_a_value_that_is_no_average_and_groups_that_differ() -> None:
    original, made, held, evidence = evidence_of(random_table(4), policy("mdav", "any", 5))
    income = made.table["income"]
    moved = replace(income, values=income.values * np.where(np.arange(len(income.values)) == 1, 1.0001, 1.0))
    assert averages(made.table.with_columns({"income": moved}), held, evidence).findings == (
        "the column 'income' publishes values that are not the averages of their groups",
    )
    codes = income.codes.copy()
    codes[0] = (codes[0] + 1) % len(income.values)
    mixed = made.table.with_columns({"income": replace(income, codes=codes)})
    assert "in records of one group" in averages(mixed, held, evidence).findings[0]
    assert averages(made.table, held, Evidence(original)).unverified[0].startswith("That every average of 'income'")
    assert "takes the original" in averages(made.table, held, Evidence()).not_compared[0]
    short = replace(evidence, groups=made.groups[:-1].astype(np.int64))
    assert "another release" in averages(made.table, held, short).unverified[0]


def test_without_missing_cells_the_original_alone_suffices() -> None:
    original, made, held, _ = evidence_of(random_table(5, gaps=0.0), policy("mdav", "value", 5))
    assert averages(made.table, held, Evidence(original)).holds


@pytest.mark.parametrize("missing", ["value", "any"])
def test_a_folder_is_verified_with_the_original_and_the_groups(tmp_path: Path, missing: str) -> None:
    table = random_table(6)
    release = shoal.anonymize(table, policy("mdav", missing, 5), seed=1)
    release.save(tmp_path / "out", keep=["groups"])
    lines = [",".join(table), *(",".join(row) for row in zip(*table.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    published, people = tmp_path / "out" / "publish", tmp_path / "people.csv"
    assert shoal.check(published, people, private=tmp_path / "out" / "private").holds
    without_groups = shoal.check(published, people)
    assert not without_groups.holds
    assert not without_groups.fails
    assert "present values" in without_groups.unverified[0]
    alone = shoal.check(published)
    assert alone.holds
    assert any("present values" in phrase for phrase in alone.not_compared)
