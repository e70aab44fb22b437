"""Persons on the command line: what is counted, said, kept and checked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.command import RunHere, write

pytestmark = pytest.mark.unattacked

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


@pytest.mark.parametrize(
    "how",
    [
        (),
        ("--method", "mdav"),
        ("--method", "mdav", "--publish", "condense"),
        ("--publish", "bucketize"),
        ("--person-knowledge", "history", "--keep-person", "--suppression", "0.2"),
        ("--hold-out", "0.3"),
    ],
    ids=["labels", "averages", "pseudo-records", "buckets", "pseudonyms", "held out"],
)
def test_what_is_kept_unasked_is_enough_to_count_persons_again(
    here: Path, run_here: RunHere, how: tuple[str, ...]
) -> None:
    made = run_here("anonymize", "visits.csv", *ASKED, *how, "--no-report", "-o", "out", cwd=here)
    assert made.code == 0, made.stderr
    found = run_here("check", "out", "--original", "visits.csv", cwd=here)
    assert found.code == 0, found.stdout
    assert "person" in found.stdout
    assert "not verified" not in found.stdout
    for path in (here / "out/private").iterdir():
        assert path.stat().st_mode & 0o077 == 0
    assert sorted(p.name for p in (here / "out/publish").iterdir()) == ["data.csv", "datasheet.html", "manifest.json"]


def test_profile_anonymize_check(here: Path, run_here: RunHere) -> None:
    """The ordinary path, nothing edited, ends well, and says what was compared with what."""
    assert run_here("profile", "visits.csv", "-o", "policy.toml", cwd=here).code == 0
    assert '\nperson = "mrn"' in (here / "policy.toml").read_text()
    made = run_here("anonymize", "visits.csv", "-p", "policy.toml", "--no-report", "-o", "out", cwd=here)
    assert made.code == 0, made.stderr
    alone = run_here("check", "out", cwd=here)
    assert (alone.code, "Each record of a person shares" in alone.stdout) == (0, True)
    assert "not compared  the owner's list of persons, by which they were counted" in alone.stdout
    whole = run_here("check", "out", "--original", "visits.csv", "-p", "policy.toml", cwd=here)
    assert whole.code == 0
    assert "The folder is what it claims to be." in whole.stdout
    owner = run_here("check", "out/publish", "--original", "visits.csv", "-p", "policy.toml", cwd=here)
    assert owner.stdout == whole.stdout
    public = run_here("check", "out/publish", cwd=here)
    assert public.code == 5
    assert "give the list of persons that the owner keeps (--private)" in public.stdout


def test_nothing_is_kept_if_nothing_is_wanted(here: Path, run_here: RunHere) -> None:
    made = run_here("anonymize", "visits.csv", *ASKED, "--no-report", "--keep", "nothing", "-o", "out", cwd=here)
    assert made.code == 0, made.stderr
    assert list((here / "out/private").iterdir()) == []
    assert run_here("check", "out", cwd=here).code == 5


def _others(lines: list[str]) -> list[str]:
    return [f"{i},{j.split(',')[1]}" for i, j in enumerate(reversed(lines), 1)]


@pytest.mark.parametrize(
    ("spoil", "needs_original"),
    [
        (lambda lines: lines[:-1], False),
        (_others, True),
        (lambda lines: [f"{i},{i}" for i in range(1, len(lines) + 1)], True),
        (lambda lines: [f"{i},1" for i in range(1, len(lines) + 1)], False),
    ],
    ids=["a row less", "other persons", "each row a person", "one person"],
)
def test_a_spoiled_list_of_persons_is_found(here: Path, run_here: RunHere, spoil, needs_original: bool) -> None:
    made = run_here("anonymize", "visits.csv", *ASKED, "--no-report", "-o", "out", cwd=here)
    assert made.code == 0, made.stderr
    path = here / "out/private/persons.csv"
    head, *lines = path.read_text().splitlines()
    path.write_text("\n".join([head, *spoil(lines), ""]))
    assert run_here("check", "out", "--original", "visits.csv", cwd=here).code == 5
    if not needs_original:
        assert run_here("check", "out", cwd=here).code == 5


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
