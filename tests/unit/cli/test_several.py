"""Several releases by the command line."""

from __future__ import annotations

import csv
import json

import pytest

from tests.e2e.command import call_here
from tests.series_samples import people

ASKED = (
    "--quasi age,town --sensitive illness --person id -k 3 --suppression 0.9 --singled-out 1 --no-report -q --seed 4"
)


@pytest.fixture
def files(tmp_path):
    for year, ids in enumerate((range(40), range(5, 45))):
        data = people(ids, year)
        with (tmp_path / f"v{year}.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(data)
            rows.writerows(zip(*data.values(), strict=True))
    return tmp_path


def test_release_after_release_checked_and_attacked_together(files):
    taken = ["--accept", "unprotected=a test"]
    first = ["anonymize", str(files / "v0.csv"), *ASKED.split(), *taken, "--keep", "ledger", "-o", str(files / "o0")]
    assert call_here(*first).code == 0
    second = ["anonymize", str(files / "v1.csv"), *ASKED.split(), *taken, "--after", str(files / "o0" / "private")]
    assert call_here(*second, "-o", str(files / "o1")).code == 0
    manifest = json.loads((files / "o1" / "publish" / "manifest.json").read_text())
    assert manifest["series"]["release"] == 2
    found = call_here(
        "check", str(files / "o1" / "publish"), "--with", str(files / "o0" / "publish"),
        "--private", str(files / "o1" / "private"), "--json",
    )  # fmt: skip
    assert found.code == 0
    assert "k-candidates" in [g["model"] for g in json.loads(found.stdout)["guarantees"]]
    attacked = call_here(
        "attack", str(files / "o1" / "publish"), "--original", str(files / "v1.csv"),
        "--other", str(files / "o0" / "publish"), "--other-original", str(files / "v0.csv"),
        "--attack", "intersection,intersection-candidates", "--json",
    )  # fmt: skip
    results = {a["attack"]: a for a in json.loads(attacked.stdout)["attacks"]}
    assert results["intersection-candidates"]["main"]["successes"] == 0


def test_bad_input_is_one_sentence(files):
    asked = ["anonymize", str(files / "v0.csv"), *ASKED.split(), "--accept", "unprotected=a test"]
    none = call_here(*asked, "--after", str(files), "-o", str(files / "o"))
    assert (none.code, "there is no ledger in" in none.stderr) == (3, True)
    nobody = call_here("anonymize", str(files / "v0.csv"), "--quasi", "age", "--keep", "ledger", "-o", str(files / "o"))
    assert (nobody.code, "nothing says who is who" in nobody.stderr) == (2, True)
    assert not (files / "o").exists()
