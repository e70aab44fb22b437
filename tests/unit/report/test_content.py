"""What a report shows is kept as plain data; the page comes from it alone, and it holds no secret."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import shoal
from shoal.attack.kept import KeptAttacks
from shoal.data.samples.clinic import clinic
from shoal.data.samples.proteins import protein_families
from shoal.kind import kind_named
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.strings.policy import StringPolicy
from shoal.report.content import ReportContent, draw_page, draw_report, plain, read_content

KEEP = {"table": ["groups", "rows"], "strings": ["groups"], "sparse": ["rows", "key"]}
SEED = 918273645


def make(kind: str) -> Any:
    if kind == "table":
        policy = shoal.Policy.of(
            quasi=["age", "sex", "zip", "cost"], sensitive=["diagnosis"], identifying=["name", "patient_id"], k=4
        )
        return shoal.anonymize(clinic(240), policy, seed=SEED, hold_out=0.2)
    if kind == "strings":
        strings = protein_families(120, n_families=2, mean_length=40, seed=1)
        return shoal.anonymize(strings, StringPolicy.of(k=10), seed=SEED)
    rng = np.random.default_rng(2)
    baskets = [[f"i{i}" for i in rng.choice(60, 12, replace=False)] for _ in range(150)]
    return shoal.anonymize(baskets, SparsePolicy.of(delta=1.0), seed=SEED)


@pytest.fixture(scope="module", params=list(KEEP))
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any, Path]:
    kind = request.param
    release = make(kind)
    return kind, release, release.save(tmp_path_factory.mktemp(kind) / "out", keep=KEEP[kind])


def test_the_page_that_was_written_is_drawn_again_from_the_file(saved: tuple[str, Any, Path]) -> None:
    kind, _, out = saved
    private = out / "private"
    page = (private / "report.html").read_bytes()
    content, kept = read_content(private), KeptAttacks.read(private)
    assert content is not None
    attacked = None if kept is None else kept.shown([a.name for a in kind_named(kind).attacks])
    assert draw_page(content, attacked).encode() == page
    assert draw_page(ReportContent.from_dict(json.loads(json.dumps(content.to_dict()))), attacked).encode() == page
    assert draw_report(private) == private / "report.html"
    assert (private / "report.html").read_bytes() == page


def test_only_the_owner_reads_it_and_it_is_not_published(saved: tuple[str, Any, Path]) -> None:
    _, _, out = saved
    assert stat.S_IMODE((out / "private" / "report.json").stat().st_mode) == 0o600
    assert not list((out / "publish").glob("report*"))


def test_it_holds_no_secret(saved: tuple[str, Any, Path]) -> None:
    kind, release, out = saved
    text = (out / "private" / "report.json").read_text()
    assert str(SEED) not in text
    if kind == "table":
        original = release._original
        assert not any(name in text for name in (*original["name"].values, *original["patient_id"].values))
    if kind == "strings":
        assert not any(string in text for string in release._original.texts() if len(string) > 8)
    if kind == "sparse":
        assert release._evidence.key.hex() not in text
    longest = max((len(v) for v in _lists(json.loads(text)) if v and all(isinstance(x, int) for x in v)), default=0)
    assert longest < release.records["out"], "as long as that would be one number a record"


def _lists(value: Any) -> list[list[Any]]:
    if isinstance(value, dict):
        return [found for item in value.values() for found in _lists(item)]
    if isinstance(value, list):
        return [value, *(found for item in value for found in _lists(item))]
    return []


@pytest.mark.parametrize("kind", list(KEEP))
def test_without_a_report_nothing_is_measured_and_the_same_is_published(kind: str, tmp_path: Path) -> None:
    release = make(kind)
    with (
        patch.object(type(release), "utility", property(_fail)),
        patch.object(type(release), "attacked", property(_fail)),
    ):
        out = release.save(tmp_path / "bare", keep=KEEP[kind], report=False)
    names = {path.name for path in (out / "private").iterdir()}
    assert not names & {"report.html", "report.json", "attacks.json"}
    whole = release.save(tmp_path / "whole", keep=KEEP[kind])
    assert {path.name for path in (whole / "private").iterdir()} > names
    for path in (whole / "publish").iterdir():
        assert (out / "publish" / path.name).read_bytes() == path.read_bytes()


def _fail(_: object) -> None:
    raise AssertionError


def test_values_are_what_json_reads_back() -> None:
    given = {"a": (1, 2.5, None), 3: np.array([1, 2]), "b": np.float64("nan"), "c": float("inf"), "d": "x", "e": True}
    made = plain(given)
    assert made == {"a": [1, 2.5, None], "3": [1, 2], "b": None, "c": None, "d": "x", "e": True}
    assert json.loads(json.dumps(made)) == made
