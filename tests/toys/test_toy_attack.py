"""An attack is one file that registers itself: a made-up one is run, reported and told of, and nothing else knows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import shoal
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.cli.app import shoal as command_line

PEOPLE = {"age": list(range(20, 40)), "job": ["baker", "cook"] * 10, "disease": ["flu", "cold", "ulcer", "gout"] * 5}


# All that an attack is.


class FirstRow(Attack[TableCase]):
    """Claim that the first published record is the first original."""

    name = "toy-first-row"
    title = "taking the first for the first"
    knows = "the order of the original"
    stopped_by = "an order of its own"
    remedy = "shuffle the records"
    reference = "none"

    def missing(self, case: TableCase) -> str | None:
        """Needs to know whose each record is."""
        return "It is not known whose the first record is." if case.rows is None else None

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Claim."""
        assert case.rows is not None
        return self.result(Rate(int(case.rows[0] == 0), 1), "The first record was claimed.")


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    TABLE_ATTACKS.register(FirstRow())
    yield
    TABLE_ATTACKS.forget(FirstRow.name)


def test_every_release_runs_it_and_shows_it(tmp_path: Path) -> None:
    release = shoal.anonymize(PEOPLE, shoal.Policy.of(quasi=["age", "job"], sensitive=["disease"], k=4, l=2), seed=1)
    release.save(tmp_path / "out", keep="rows")
    kept = json.loads((tmp_path / "out" / "private" / "attacks.json").read_text(encoding="utf-8"))
    assert "toy-first-row" in [told["attack"] for told in kept["results"]]
    page = (tmp_path / "out" / "private" / "report.html").read_text(encoding="utf-8")
    assert "The first record was claimed." in page
    found = shoal.attack(tmp_path / "out", PEOPLE, private=tmp_path / "out" / "private", names=["toy-first-row"])
    assert [r.sentence for r in found.results] == ["The first record was claimed."]
    assert list(TABLE_ATTACKS)[-1] == "toy-first-row", "what names no place comes last"


def test_the_command_line_knows_it(tmp_path: Path) -> None:
    shown = CliRunner().invoke(command_line, ["attack", "--help"]).output
    assert "toy-first-row" in shown
    assert "taking the first for the first" in " ".join(shown.split())
    release = shoal.anonymize(PEOPLE, shoal.Policy.of(quasi=["age", "job"], sensitive=["disease"], k=4, l=2), seed=1)
    release.save(tmp_path / "out", report=False)
    with pytest.raises(shoal.PolicyError, match="did you mean 'toy-first-row'"):
        shoal.attack(tmp_path / "out", PEOPLE, names=["toy-first-rows"])
