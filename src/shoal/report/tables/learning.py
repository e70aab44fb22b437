"""What the release is worth for predicting the target: a sentence, a table and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from markupsafe import Markup

from shoal.report.content import picture
from shoal.report.svg import AFTER, BEFORE, DASHED, INK, MUTED, Axis, Drawing, round_ticks
from shoal.report.tables.words import number
from shoal.utility.tables.classification import LearningComparison, Score
from shoal.utility.tables.scores import ScoreEstimate
from shoal.utility.tables.target import TargetLearning

TITLES = {
    "accuracy": ("Accuracy", "share of the tested records whose class is predicted"),
    "AUC": ("AUC", "chance that of two records of different classes the right one gets the higher score"),
    "R2": ("R²", "share of the variance that is predicted"),
}
BLIND_AUC = 0.5


def sentence(learning: TargetLearning) -> str:
    """What models learn from the release, what from the originals, and what a guess is worth."""
    found = learning.comparison
    if found is None:
        return f"How well “{learning.target}” can be predicted was not compared: {learning.note}."
    name = found.scores[0]
    words = {"accuracy": "an accuracy of {} at best", "R2": "{} of its variance explained at best"}
    guess = "the most frequent value" if found.task == "classes" else "the mean"
    after, before = (_score(found.best(name, when)) for when in ("after", "before"))
    return (
        f"“{learning.target}” is predicted with {words[name].format(after)} by models trained on the release, "
        f"against {before} by models trained on the originals and {_score(found.baseline)} by always guessing {guess}."
    )


def section(learning: TargetLearning) -> dict[str, Any]:
    """All that the report says of the target."""
    found = learning.comparison
    about: dict[str, Any] = {"target": learning.target, "sentence": sentence(learning), "found": None}
    if found is None:
        return about
    names = ("n_train_before", "n_train_after", "n_test", "confidence")
    return about | {
        "found": {name: getattr(found, name) for name in names},
        "rows": [(m.model, TITLES[score.name][0], _cells(score)) for m in found.models for score in m.scores],
        "pictures": [(name, *TITLES[name], _picture(found, name)) for name in found.scores],
    }


def _picture(found: LearningComparison, name: str) -> dict[str, Any]:
    """Where each model stands when trained on the originals and on the release, with intervals."""
    compared = [(m.model, asdict(m[name].before), asdict(m[name].after)) for m in found.models]
    return picture("scores", compared=compared, blind=BLIND_AUC if name == "AUC" else found.baseline, name=name)


def scores(compared: Sequence[tuple[str, Mapping[str, float], Mapping[str, float]]], blind: float, name: str) -> Markup:
    """One line a model: where it stands when trained on the originals and on the release, with intervals."""
    scores = [(model, _Compared(ScoreEstimate(**before), ScoreEstimate(**after))) for model, before, after in compared]
    ends = [blind, *(end for _, s in scores for e in (s.before, s.after) for end in (e.low, e.high))]
    low, high = min(ends), max(ends)
    room = max(0.08 * (high - low), 0.005)

    x = Axis(low - room, high + room, [(t, f"{t:.3g}") for t in round_ticks(low, high)], is_ruled=True)
    y = Axis(len(scores) - 0.45, -0.6, [(i, model) for i, (model, _) in enumerate(scores)], has_line=False)
    drawing = Drawing(4.4, 0.6 + 0.5 * len(scores), x, y, right=30, above=9)
    drawing.line([(blind, y.low), (blind, y.high)], MUTED, 0.9, DASHED)
    drawing.text(blind, y.high, "blind guess", MUTED, 7.5, dx=2, dy=4)
    for i, (_, score) in enumerate(scores):
        for e, colour, shift in ((score.before, BEFORE, -0.16), (score.after, AFTER, 0.16)):
            drawing.line([(e.low, i + shift), (e.high, i + shift)], colour, 2.2)
            drawing.mark((e.value, i + shift), "round", colour)
            drawing.text(x.high, i + shift, f"{e.value:.3f}", INK, 7.5, dx=3)
    told = "; ".join(f"{m}: {_interval(s.before)} before, {_interval(s.after)} after" for m, s in scores)
    what = f"{TITLES[name][0]} of models trained on the originals and on the release"
    alt = f"{what}. {told}. A blind guess: {_score(blind)}."
    return drawing.svg(alt)


class _Compared(NamedTuple):
    before: ScoreEstimate
    after: ScoreEstimate


def _cells(score: Score) -> tuple[str, str, str, str]:
    change = score.change
    sign = "+" if change.value > 0 else "−" if change.value < 0 else ""
    is_clear = change.low > 0 or change.high < 0
    verdict = "a difference" if is_clear else "no difference seen"
    return _interval(score.before), _interval(score.after), f"{sign}{abs(change.value):.3f}", verdict


def _interval(e: ScoreEstimate) -> str:
    return f"{_score(e.value)} ({_score(e.low)} to {_score(e.high)})"


def _score(value: float) -> str:
    return f"{round(value, 3) + 0.0:.3f}" if abs(value) < 10 else number(value)  # never "-0.000"
