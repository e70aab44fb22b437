"""The proposal of `shoal profile`, and `--target`, as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.command import FULL, SECRET, Ended, people, text_of, write

pytestmark = pytest.mark.unattacked

RunHere = Callable[..., Ended]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    write(tmp_path / "people.csv", text_of(people(160)))
    write(tmp_path / "policy.toml", FULL)
    return tmp_path


def test_a_profile_proposes_a_method_that_anonymize_takes(here: Path, run_here: RunHere) -> None:
    shown = run_here("profile", "people.csv", "-o", "mine.toml", cwd=here)
    assert (shown.code, shown.stderr) == (0, "")
    assert "Methods tried on 160 records" in shown.stdout
    assert "Proposed method: " in shown.stdout
    line = next(t for t in (here / "mine.toml").read_text().splitlines() if "loses least" in t)
    assert line.startswith("# ")
    assert run_here("anonymize", "people.csv", "-p", "mine.toml", "-o", "out", cwd=here).code == 0
    assert SECRET not in (here / "mine.toml").read_text()
    plain = run_here("profile", "people.csv", "--no-sweep", "-o", "plain.toml", cwd=here)
    assert plain.code == 0
    assert "Proposed method" not in plain.stdout
    told = json.loads(run_here("profile", "people.csv", "--json", cwd=here).stdout)
    assert told["proposal"]["records_tried"] == 160


def test_a_target_is_in_the_private_report_alone(here: Path, run_here: RunHere) -> None:
    pytest.importorskip("sklearn", reason="the comparison of learning needs scikit-learn")
    run = ("anonymize", "people.csv", "-p", "policy.toml", "--target", "disease")
    ended = run_here(*run, "-o", "out", cwd=here)
    assert (ended.code, ended.stderr) == (0, "")
    assert "“disease” is predicted with an accuracy of" in ended.stdout
    assert "Predicting disease" in (here / "out" / "private" / "report.html").read_text()
    for path in (here / "out" / "publish").iterdir():
        assert "Predicting" not in path.read_text()
        assert "target" not in path.read_text()
    told = json.loads(run_here(*run, "-o", "out2", "--json", cwd=here).stdout)
    assert told["learning"]["comparison"]["target"] == "disease"
    assert {"CM", "query-error"} <= {loss["name"] for loss in told["utility"]["losses"]}
    wrong = run_here(*run[:-1], "diseas", "-o", "out3", cwd=here)
    assert (wrong.code, wrong.stderr) == (
        2,
        "shoal: the target 'diseas' is not in the data; did you mean 'disease'?\n",
    )
    assert not (here / "out3").exists()


def test_a_sweep_of_parameters_by_a_measure(here: Path, run_here: RunHere) -> None:
    run = ("sweep", "people.csv", "-p", "policy.toml", "--k", "3", "--method", "mondrian,mdav")
    more = ("-l", "2,3", "--suppression", "0,0.1", "--measure", "query-error,GCP")
    ended = run_here(*run, *more, cwd=here)
    assert (ended.code, ended.stderr) == (0, "")
    assert "8 releases of 160 records tried" in ended.stdout
    line = ended.stdout.splitlines()[-1].split()
    assert run_here(*line[1:], cwd=here).code == 0
    again = run_here(*run, *more, cwd=here)
    assert "(8 taken from an earlier run)" in again.stdout
    for option, value in (("--measure", "GPC"), ("-l", "2,x"), ("--suppression", "5"), ("--target", "nowhere")):
        assert run_here(*run, option, value, cwd=here).code == 2, option
