"""The tests of `attack/strings/share_tracing.py`: it traces kept shares, by a slow twin too, and is blind without."""

from __future__ import annotations

from collections import Counter
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from shoal.attack.result import AttackResult
from shoal.attack.strings.case import StringCase
from shoal.attack.strings.share_tracing import READINGS, ShareTracing, Side, trace
from shoal.data.strings.strings import Strings
from shoal.strings import Condensation


def letters(n: int, length: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return ["".join(row) for row in rng.choice(list("ACGT"), (n, length))]


def traced(published: Strings, original: Strings, control: Strings) -> AttackResult:
    case = StringCase(published, original, control)
    assert ShareTracing().missing(case) is None
    return ShareTracing().run(case, np.random.default_rng(1))


def test_shares_of_columns_are_traced_by_place_and_a_chain_is_not() -> None:
    texts = letters(900, 60, 3)
    original, control = Strings.of(texts[:300]), Strings.of(texts[300:])
    rng = np.random.default_rng(0)
    columns = np.array([rng.permutation([t[place] for t in texts[:300]]) for place in range(60)]).T
    found = traced(Strings.of(["".join(row) for row in columns]), original, control)
    assert found.details["area_under_curve"] > 0.6
    assert found.details["area_by_places"] > found.details["area_by_symbols"]
    assert found.succeeds
    areas = {}
    for generator in ("markov", "window"):
        made = Condensation(k=20, generator=generator, seed=2, workers=1).fit_transform(original)
        areas[generator] = traced(made, original, control).details["area_by_places"]
    assert abs(areas["markov"] - 0.5) < 0.05
    assert areas["window"] < found.details["area_by_places"] - 0.05  # windows are three columns wide there


def test_who_was_not_in_the_data_is_not_traced() -> None:
    texts = letters(1200, 60, 4)
    inside, original, control = (Strings.of(texts[a : a + 400]) for a in (0, 400, 800))
    assert abs(traced(inside, original, control).details["area_under_curve"] - 0.5) < 0.05


def test_classes_need_not_be_as_frequent_among_the_others() -> None:
    """Members of one class, others of two, released ones of others: nobody is told by the class alone."""
    rng = np.random.default_rng(5)
    of = {"x": list("AAACGT"), "y": list("ACGTTT")}
    labels = rng.choice(["x", "y"], 1200)
    strings = Strings.of(["".join(rng.choice(of[c], 40)) for c in labels], labels.tolist())
    members = strings.take(np.flatnonzero(labels[:600] == "x"))
    control, published = (strings.take(np.arange(a, a + 300)) for a in (600, 900))
    assert abs(traced(published, members, control).details["area_under_curve"] - 0.5) < 0.06


def slow_trace(sides: list[list[tuple[str, str]]], keys: Any) -> list[float]:
    """Of each other: the sum over what it has, by counters, less the mean of its class."""
    _, others, published = sides
    shown = {c: Counter(key for text, d in published if d == c for key in keys(text)) for c in "xy"}
    scores = []
    for i, (text, c) in enumerate(others):
        rest = Counter(key for j, (t, d) in enumerate(others) if d == c and j != i for key in keys(t))
        scale = sum(rest.values()) / sum(shown[c].values())
        total = sum(log(shown[c][key] * scale + 1) - log(rest[key] + 1) for key in keys(text))
        scores.append(total / sqrt(len(text)))
    return [
        s - float(np.mean([t for t, (_, d) in zip(scores, others, strict=True) if d == c]))
        for s, (_, c) in zip(scores, others, strict=True)
    ]


@pytest.mark.parametrize("name", READINGS)
def test_scores_are_those_of_a_plain_count(name: str) -> None:
    rng = np.random.default_rng(7)
    sides = [
        [("".join(rng.choice(list("abc"), rng.integers(2, 9))), str(rng.choice(["x", "y"]))) for _ in range(n)]
        for n in (12, 15, 20)
    ]
    keys = {
        "symbols": list,
        "pairs": lambda text: [text[i : i + 2] for i in range(len(text) - 1)],
        "near_pairs": lambda text: [
            text[i] + text[j] for i in range(len(text)) for j in range(i + 1, min(i + 4, len(text)))
        ],
        "places": lambda text: [((2 * i + 1) * 30 // (2 * len(text)), s) for i, s in enumerate(text)],
    }[name]
    made = []
    for side in sides:
        strings = Strings.of([text for text, _ in side], alphabet="abc")
        made.append(Side(strings, np.array(["xy".index(c) for _, c in side])))
    members, others = trace(made[0], made[1], made[2], READINGS[name], rng)
    assert np.allclose(others, slow_trace(sides, keys))
    assert len(members) == 12


def test_others_are_needed() -> None:
    strings = Strings.of(letters(100, 20, 1))
    assert "not in the release" in str(ShareTracing().missing(StringCase(strings, strings)))
    assert "40 strings" in str(ShareTracing().missing(StringCase(strings, strings, strings.take(np.arange(39)))))
