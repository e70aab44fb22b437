"""Attacks on strings, in both directions: they succeed on weak releases and fall to the control's level on strong ones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from shoal.attack.attack import run_attacks
from shoal.attack.cases import StringCase
from shoal.attack.strings import STRING_ATTACKS
from shoal.attack.strings.fragments import Fragments
from shoal.data.proteins import protein_families
from shoal.data.strings import Strings
from shoal.strings import Condensation

NAMES = [a.name for a in STRING_ATTACKS]


@pytest.fixture(scope="module")
def strings() -> tuple[Strings, Strings]:
    """Some to make releases from, and others of the same families."""
    made = protein_families(1600, n_families=3, mean_length=80.0, unevenness=0.3, seed=3)
    return made.take(np.arange(800)), made.take(np.arange(800, 1600))


@pytest.fixture(scope="module")
def raw(strings) -> dict:
    case = StringCase(strings[0], strings[0], strings[1])
    return {r.attack: r for r in run_attacks(STRING_ATTACKS, case, seed=1).results}


@pytest.fixture(scope="module")
def leaky(strings) -> dict:
    made = Condensation(k=2, order=4, support=1, rare=1, seed=1).fit_transform(strings[0])
    case = StringCase(made, strings[0], strings[1])
    return {r.attack: r for r in run_attacks(STRING_ATTACKS, case, seed=1).results}


@pytest.fixture(scope="module")
def strong(strings) -> dict:
    made = Condensation(k=100, order=1, seed=1).fit_transform(strings[0])
    case = StringCase(made, strings[0], strings[1])
    return {r.attack: r for r in run_attacks(STRING_ATTACKS, case, seed=1).results}


@pytest.mark.parametrize("name", NAMES)
def test_every_attack_succeeds_on_the_originals_themselves(raw, name) -> None:
    assert raw[name].succeeds
    assert raw[name].main.value > 0.9


@pytest.mark.parametrize("name", ["unique-fragments", "fragment-linkage", "membership"])
def test_following_single_strings_is_noticed(leaky, name) -> None:
    assert leaky[name].succeeds


@pytest.mark.parametrize("name", NAMES)
def test_no_attack_gains_from_a_strong_release(strong, name) -> None:
    assert not strong[name].succeeds
    assert strong[name].risk.value < 0.05


def test_membership_needs_others(strings) -> None:
    found = run_attacks(STRING_ATTACKS, StringCase(strings[0], strings[0]), seed=1)
    assert [name for name, _ in found.skipped] == ["membership"]
    assert all(r.control is None for r in found.results)


def _slow_longest(text: str, shown: list[str]) -> list[int]:
    return [
        next(n for n in range(len(text) - i, -1, -1) if n == 0 or any(text[i : i + n] in s for s in shown))
        for i in range(len(text))
    ]


@pytest.mark.parametrize("seed", range(5))
def test_runs_and_holders_equal_a_plain_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sides = [["".join(rng.choice(list("ab"), rng.integers(1, 12))) for _ in range(n)] for n in (7, 5, 4)]
    case = StringCase(*(Strings.of(side) for side in sides))
    fragments = Fragments.of(case, rng)
    targets = sides[1] + sides[2]
    starts = np.flatnonzero(np.diff(fragments.suffixes.owner, prepend=-1))
    runs = np.zeros(len(fragments.suffixes.text), int)
    places, found = fragments.runs()
    runs[places] = found
    shown, held = fragments.holders(3)
    assert fragments.lengths.tolist() == [len(t) for t in targets]
    for text, (start, _) in zip(targets, list(pairwise([*starts, len(runs)]))[len(sides[0]) :], strict=True):
        assert runs[start : start + len(text)].tolist() == _slow_longest(text, sides[0])
        for i in range(len(text)):
            piece = text[i : i + 3]
            is_whole = len(piece) == 3
            assert shown[start + i] == (sum(piece in s for s in sides[0]) if is_whole else 0)
            assert held[start + i] == (sum(piece in s for s in targets) if is_whole else 0)
