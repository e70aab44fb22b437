"""Pages for boards, of every kind: every clause is answered or marked, no record, no script, no word too much."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.data.samples.clinic import clinic
from shoal.data.trajectories.trajectories import Trajectories
from shoal.errors import DataError, PolicyError
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.trajectories.policy import TrajectoryPolicy
from shoal.report.board.chapters import FRAMEWORKS
from shoal.report.board.page import board_page, private_folder
from tests.linked_samples import clinic as linked_clinic
from tests.linked_samples import policy as linked_policy

CONTEXT = {"title": "Town <b>", "release_model": "public", "purpose": "research"}
SEED = 918273645


def make(kind: str) -> Any:
    rng = np.random.default_rng(2)
    if kind == "table":
        policy = shoal.Policy.of(
            quasi=["age", "sex", "zip", "cost"],
            sensitive=["diagnosis"],
            identifying=["name", "patient_id"],
            k=12,
            context=CONTEXT,
        )
        return shoal.anonymize(clinic(150), policy, seed=SEED, hold_out=0.2)
    if kind == "slices":
        policy = shoal.Policy.of(
            quasi=["age", "sex"],
            sensitive=["diagnosis"],
            others="identifying",
            k=4,
            publish="bucketize",
            context=CONTEXT,
        )
        return shoal.anonymize(clinic(120), policy, seed=SEED)
    if kind == "strings":
        strings = ["".join(rng.choice(list("ACGT"), 24)) for _ in range(60)]
        return shoal.anonymize(strings, StringPolicy.of(k=10, context=CONTEXT), seed=SEED)
    if kind == "sparse":
        baskets = [[f"i{i}" for i in rng.choice(20, 6, replace=False)] for _ in range(60)]
        return shoal.anonymize(baskets, SparsePolicy.of(k=3, context=CONTEXT), seed=SEED)
    if kind == "trajectories":
        who, step = np.repeat(np.arange(24), 4), np.tile(np.arange(4), 24)
        lat = 37.7 + 0.004 * step + rng.normal(0, 0.0005, 96)
        lon = -122.4 + 0.005 * step * (who % 2) + rng.normal(0, 0.0005, 96)
        time = 1_212_912_000 + 60 * (who % 5) + 240 * step
        return shoal.anonymize(Trajectories.of(lat, lon, time, who), TrajectoryPolicy.of(k=3, context=CONTEXT))
    return shoal.anonymize(linked_clinic(), linked_policy().changed(context=CONTEXT), seed=2)


@pytest.fixture(scope="module", params=["table", "slices", "strings", "sparse", "trajectories", "linked"], name="saved")
def saved_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any, Path]:
    release = make(request.param)
    return request.param, release, release.save(tmp_path_factory.mktemp(request.param) / "out")


def words(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL)).split())


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_every_clause_is_answered_or_marked_and_nothing_is_claimed(
    saved: tuple[str, Any, Path], framework: str
) -> None:
    _, _, out = saved
    page = board_page(out, framework)
    assert page == board_page(out / "private", framework)
    assert len(page) < 1_000_000
    assert "<script" not in page
    assert "http" not in re.sub(r"http-equiv", "", page)
    text = words(page)
    assert not re.search("anonymous|compliant|complies", text, re.IGNORECASE)
    assert f"Supports the assessment by {FRAMEWORKS[framework].title}" in text
    assert "Town <b>" in text
    told = re.search(r"Of the (\d+) clauses below, (\d+) are answered", text)
    assert told is not None
    chapters, _, appendix = page.partition('class="appendix"')
    assert chapters.count("<h3>") == int(told[1])
    assert chapters.count("See the appendix.") == appendix.count("<h3>") > 0
    assert page.count('class="unstated"') == int(told[1]) - int(told[2])
    for heading, after in re.findall(r"<h3>(.*?)</h3>\s*(<\w+)", page):
        assert after in ("<p", "<div"), heading
    assert page.count("Signature") == 3


def test_no_record_and_no_seed(saved: tuple[str, Any, Path]) -> None:
    kind, release, out = saved
    for framework in FRAMEWORKS:
        text = board_page(out, framework)
        assert str(SEED) not in text
        if kind == "table":
            assert not any(name in text for name in release._original["name"].values)
        if kind == "strings":
            assert not any(string in text for string in release._original.texts())


def test_the_three_questions_stand_on_the_page_with_control_and_interval(tmp_path: Path) -> None:
    out = make("table").save(tmp_path / "out")
    text = words(board_page(out, "gdpr"))
    for question in ("Singling out: Can", "Linkability: Can", "Inference: Can"):
        assert question in text
    assert "On others (control)" in text
    assert "Risk added, 95 % interval" in text
    assert "Not tried linking a known record by ranks" in text  # in words, not by the names of programs
    assert "linkage-rank" not in text
    assert "Prosecutor, highest" in text
    assert re.search(r"Prosecutor, highest 1\.000 0\.0\d\d at or below", text)
    hipaa = words(board_page(out, "hipaa"))
    assert "(A) Names removed: name none seen" in hipaa
    assert "published: zip" in hipaa
    assert "yes: remove it, or let an expert judge" in hipaa


def test_what_cannot_be_drawn_is_said(tmp_path: Path) -> None:
    out = make("slices").save(tmp_path / "out")
    with pytest.raises(PolicyError, match="did you mean 'hipaa'"):
        board_page(out, "hippa")
    with pytest.raises(DataError, match="no folder"):
        board_page(tmp_path / "nowhere", "ema")
    with pytest.raises(DataError, match="the part that is published"):
        private_folder(out / "publish")
    path = out / "private" / "report.json"
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**content, "report": {**content["report"], "board": {"unit": "record"}}}), "utf-8")
    with pytest.raises(DataError, match="does not hold what a page for a board shows"):
        board_page(out, "ema")
    del content["report"]["board"]
    path.write_text(json.dumps(content), "utf-8")
    with pytest.raises(DataError, match="make the release again"):
        board_page(out, "ema")
    path.unlink()
    with pytest.raises(DataError, match=r"keeps no report\.json"):
        board_page(out, "ema")
