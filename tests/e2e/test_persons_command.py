"""Persons on the command line: what is counted, said, kept and checked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.command import RunHere, write

ASKED = ("--person", "mrn", "--quasi", "born,town,sex", "--sensitive", "ill", "-k", "3", "--seed", "5")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Visits of patients, who have one to four each."""
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(40), rng.integers(1, 5, 40))
    born, town, sex = rng.integers(1940, 2000, 40), rng.choice(["Aa", "Bb", "Cc"], 40), rng.choice(["f", "m"], 40)
    lines = [
        f"M{w * 37:05d},{born[w]},{town[w]},{sex[w]},{ill}"
        for w, ill in zip(who, rng.choice(["flu", "gout"], len(who)), strict=True)
    ]
    write(tmp_path / "visits.csv", "\n".join(["mrn,born,town,sex,ill", *lines, ""]))
    return tmp_path


def test_persons_are_counted_and_recounted(here: Path, run_here: RunHere) -> None:
    made = run_here("anonymize", "visits.csv", *ASKED, "-o", "out", "--keep", "rows", cwd=here)
    assert made.code == 0, made.stderr
    assert "Each record of a person shares" in made.stdout
    manifest = json.loads((here / "out/publish/manifest.json").read_text())
    assert (manifest["person"], manifest["person_knowledge"]) == (["mrn"], "row")
    assert "mrn" not in manifest["columns"]
    for name in ("data.csv", "datasheet.html"):
        assert "M00037" not in (here / "out/publish" / name).read_text()
    alone = run_here("check", "out/publish", cwd=here)
    assert "cannot be seen in the published table" in alone.stdout + alone.stderr
    whole = run_here("check", "out/publish", "--original", "visits.csv", "--private", "out/private", cwd=here)
    assert whole.code == 0, whole.stdout + whole.stderr
    assert "Each record of a person shares" in whole.stdout


def test_too_few_persons_are_found_by_the_check(here: Path, run_here: RunHere) -> None:
    """A release by records, whose manifest is made to claim persons, does not pass for one by persons."""
    rows = ("--quasi", "born,town,sex", "--sensitive", "ill", "--identifying", "mrn", "-k", "3", "--seed", "5")
    assert run_here("anonymize", "visits.csv", *rows, "-o", "out", "--keep", "rows", cwd=here).code == 0
    path = here / "out/publish/manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"person": ["mrn"], "person_knowledge": "row"}))
    ended = run_here("check", "out/publish", "--original", "visits.csv", "--private", "out/private", cwd=here)
    assert ended.code == 5
    assert "k-anonymity" in ended.stdout + ended.stderr


def test_records_that_are_not_persons_are_told_first(here: Path, run_here: RunHere) -> None:
    rows = ("--quasi", "born,town,sex", "--sensitive", "ill", "--identifying", "mrn", "-k", "3", "--seed", "5")
    made = run_here("anonymize", "visits.csv", *rows, "-o", "out", cwd=here)
    assert made.code == 0, made.stderr
    assert "Records were counted, not persons" in made.stdout + made.stderr
    assert made.stdout.splitlines()[1].startswith("  records were counted, not persons, though some may have several")
    assert "--person mrn" in made.stdout + made.stderr


def test_whole_histories(here: Path, run_here: RunHere) -> None:
    made = run_here(
        "anonymize",
        "visits.csv",
        *ASKED,
        "--person-knowledge",
        "history",
        "--suppression",
        "0.2",
        "-o",
        "out",
        cwd=here,
    )
    assert made.code == 0, made.stderr
    assert "of all records of a person" in made.stdout
