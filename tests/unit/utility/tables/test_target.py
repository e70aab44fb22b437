"""A target is refused before the work or not at all, and what fails later is told, never raised."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.data.tables.meaning import attributes_of
from shoal.errors import DataError, MissingExtra, PolicyError
from shoal.kinds.tables.kind import load
from shoal.kinds.tables.policy import Policy
from shoal.report.tables.learning import section, sentence
from shoal.utility.tables import target as target_module
from shoal.utility.tables.definitions import DEFINITIONS
from shoal.utility.tables.target import TargetLearning, check_target

pytestmark = pytest.mark.unattacked

RNG = np.random.default_rng(5)
N = 300
AGE = RNG.integers(18, 80, N)
PEOPLE: dict[str, Any] = {
    "name": [f"person {i}" for i in range(N)],
    "age": AGE,
    "town": [("Ayr", "Bath", "Cork")[i] for i in RNG.integers(0, 3, N)],
    "sick": [("no", "yes")[int(a + e > 50)] for a, e in zip(AGE, RNG.normal(0, 8, N), strict=True)],
    "cost": 100.0 * AGE + RNG.normal(0, 300, N),
    "remark": [f"remark {i}" for i in range(N)],
    "same": ["x"] * N,
}
POLICY = Policy.of(
    quasi=["age", "town"],
    sensitive=["sick"],
    identifying=["name"],
    insensitive=["cost", "remark", "same"],
    k=5,
    singled_out=1.0,
)


@pytest.fixture(autouse=True)
def _learning() -> None:
    pytest.importorskip("sklearn", reason="the comparison of learning needs scikit-learn")


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("sik", "not in the data; did you mean 'sick'"),
        ("name", "will be dropped"),
        ("town", "labels of several values"),
        ("remark", "too many"),
        ("same", "fewer than two values"),
    ],
)
def test_a_target_that_cannot_be_is_refused_before_the_work(
    monkeypatch: pytest.MonkeyPatch, target: str, says: str
) -> None:
    def late(*_: Any, **__: Any) -> None:
        raise AssertionError("the work was begun")

    with monkeypatch.context() as patched:  # for no longer, lest a module that is loaded meanwhile keeps it
        patched.setattr("shoal.tables.anonymize.anonymize_table", late)
        with pytest.raises(PolicyError, match=says):
            shoal.anonymize(PEOPLE, POLICY.changed(target=target))
    monkeypatch.setattr("shoal.sweep.sweep.try_cell", late)
    with pytest.raises(PolicyError, match=says):
        shoal.sweep(PEOPLE, POLICY, target=target, partitions="mondrian", k=5)


def test_without_the_extra_it_is_said_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"shoal\[mining\]"):
        shoal.anonymize(PEOPLE, POLICY.changed(target="sick"))
    assert importlib.util.find_spec("sklearn") is not None


def test_what_is_predicted_as_what() -> None:
    table = load(PEOPLE)
    attributes = attributes_of(table, POLICY)
    assert check_target(table, attributes, "sick", "generalise") == "classes"
    assert check_target(table, attributes, "cost", "generalise") == "numbers"
    assert check_target(table, attributes, "town", "aggregate") == "classes"
    assert check_target(table, attributes, "age", "aggregate") == "numbers"


@pytest.mark.parametrize(
    ("target", "partition", "scores"),
    [
        ("sick", "mondrian", ["accuracy", "AUC"]),
        ("cost", "mondrian", ["R2"]),
        ("town", "mdav", ["accuracy", "AUC"]),
        ("age", "mdav", ["R2"]),
    ],
)
def test_a_release_with_a_target_compares_models(target: str, partition: str, scores: list[str]) -> None:
    release = shoal.anonymize(PEOPLE, POLICY.changed(target=target, partition=partition))
    assert release.learning is not None
    assert release.learning.note == ""
    found = release.learning.comparison
    assert found is not None
    assert list(found.scores) == scores
    assert len(found.models) == 2
    has_cm = "accuracy" in scores
    assert has_cm == ("CM" in {loss.name for loss in release.utility.losses})
    json.dumps(release.learning.to_dict(), allow_nan=False)
    assert target in sentence(release.learning)
    assert [title for _, title, _, _ in section(release.learning)["pictures"]] == (
        ["Accuracy", "AUC"] if has_cm else ["R²"]
    )


def test_without_a_target_nothing_is_learned() -> None:
    release = shoal.anonymize(PEOPLE, POLICY)
    assert release.learning is None
    assert "CM" not in {loss.name for loss in release.utility.losses}


def test_what_fails_after_the_work_is_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    release = shoal.anonymize(PEOPLE, POLICY.changed(target="sick"))

    def fail(*_: Any, **__: Any) -> None:
        raise DataError("no model for today")

    monkeypatch.setattr("shoal.utility.tables.classification.compare_learning", fail)
    release.save(tmp_path / "out")
    assert release.learning == TargetLearning("sick", None, "no model for today")
    page = (tmp_path / "out" / "private" / "report.html").read_text(encoding="utf-8")
    assert "no model for today" in page


def test_a_model_that_breaks_is_a_data_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.linear_model import LogisticRegression

    def broken(self: Any, *_: Any) -> None:
        raise ValueError("a message that quotes the data")

    monkeypatch.setattr(LogisticRegression, "fit", broken)
    release = shoal.anonymize(PEOPLE, POLICY.changed(target="sick"))
    assert release.learning is not None
    assert release.learning.comparison is None
    assert "logistic regression cannot be trained" in release.learning.note
    assert "quotes" not in release.learning.note


def test_the_report_holds_every_measure_and_the_target_alone_in_private(tmp_path: Any) -> None:
    for partition, target in (("mondrian", "sick"), ("mdav", "cost")):
        out = tmp_path / partition
        release = shoal.anonymize(PEOPLE, POLICY.changed(target=target, partition=partition))
        release.save(out)
        page = (out / "private" / "report.html").read_text(encoding="utf-8")
        assert len(page) < 1_000_000
        values = {loss.name for loss in release.utility.losses}
        for name, known in DEFINITIONS.items():
            if name == "GCP-person" and name not in values:
                continue  # nobody was said to have several records
            assert f'<th scope="row" class="v">{name}</th>' in page
            assert known.formula.split("'")[0].split("&")[0][:20].replace(">", "&gt;") in page, name
            assert known.reference in page
            assert name in values or known.absent in page
        assert f"Predicting {target}" in page
        assert "<script" not in page
        for path in (out / "publish").iterdir():
            text = path.read_text(encoding="utf-8")
            assert '"target"' not in text
            assert "Predicting" not in text
            assert "blind guess" not in text
