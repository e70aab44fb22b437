"""Attacks on strings, in both directions: they succeed on weak releases and fall to the control's level on strong ones."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.attack import run_attacks
from shoal.attack.strings import STRING_ATTACKS
from shoal.attack.strings.case import StringCase
from shoal.data.samples.haplotypes import haplotypes
from shoal.data.samples.proteins import protein_families
from shoal.data.strings.strings import Strings
from shoal.strings import Condensation

NAMES = [a.name for a in STRING_ATTACKS.values() if a.name != "genotype-recovery"]  # which is of variants


@pytest.fixture(scope="module")
def strings() -> tuple[Strings, Strings]:
    """Some to make releases from, and others of the same families."""
    made = protein_families(1600, n_families=3, mean_length=80.0, unevenness=0.3, seed=3)
    return made.take(np.arange(800)), made.take(np.arange(800, 1600))


@pytest.fixture(scope="module")
def raw(strings) -> dict:
    case = StringCase(strings[0], strings[0], strings[1], lambda some, _: some)
    return {r.attack: r for r in run_attacks(list(STRING_ATTACKS.values()), case, seed=1).results}


@pytest.fixture(scope="module")
def leaky(strings) -> dict:
    made = Condensation(k=2, order=4, support=1, rare=1, seed=1, generator="template").fit_transform(strings[0])
    case = StringCase(made, strings[0], strings[1])
    return {r.attack: r for r in run_attacks(list(STRING_ATTACKS.values()), case, seed=1).results}


@pytest.fixture(scope="module")
def strong(strings) -> dict:
    def again(some: Strings, seed: int) -> Strings:
        drawn: Strings = Condensation(k=100, order=1, seed=seed, workers=1).fit_transform(some)
        return drawn

    case = StringCase(again(strings[0], 1), *strings, again)
    return {r.attack: r for r in run_attacks(list(STRING_ATTACKS.values()), case, seed=1).results}


@pytest.mark.parametrize("name", [n for n in NAMES if n != "holes"])
def test_every_attack_succeeds_on_the_originals_themselves(raw, name) -> None:
    assert raw[name].succeeds
    assert raw[name].main.value > (0.7 if name == "share-tracing" else 0.9)  # shares are of many strings


@pytest.mark.parametrize("name", ["unique-fragments", "fragment-linkage", "membership"])
def test_following_single_strings_is_noticed(leaky, name) -> None:
    assert leaky[name].succeeds


BY_BEST_MATCHES = ("place-membership", "fragment-membership", "several-releases")  # of 300: intervals from 0 to 0.2


@pytest.mark.parametrize("name", [n for n in NAMES if n != "share-tracing"])
def test_no_attack_gains_from_a_strong_release(strong, name) -> None:
    assert not strong[name].succeeds
    assert strong[name].risk.value < (0.1 if name in BY_BEST_MATCHES else 0.05)


def test_shares_of_few_strings_are_traced_whatever_the_release(strong) -> None:
    """Composition alone, of 270 strings a family; it is less than by the originals themselves by far."""
    assert 0.5 < strong["share-tracing"].details["area_under_curve"] < 0.6


def test_the_originals_themselves_have_no_holes(raw) -> None:
    assert not raw["holes"].succeeds
    assert raw["holes"].details["members_verbatim"] == 1


@pytest.fixture(scope="module")
def markers() -> tuple[Strings, Strings]:
    """Strings of little variety: 1,903 of 125 markers, and as many that were held out."""
    made = haplotypes(3806, seed=1)
    return made.take(np.arange(1903)), made.take(np.arange(1903, 3806))


@pytest.fixture(scope="module")
def of_markers(markers) -> dict:
    out = {}
    for k in (5, 20):
        for copies in ("redraw", "allow"):
            made = Condensation(k=k, seed=1, copies=copies, support=3, generator="template").fit_transform(markers[0])
            case = StringCase(made, *markers)
            named = [a for a in STRING_ATTACKS.values() if a.name in ("membership", "holes", "echoes")]
            out[k, copies] = {r.attack: r for r in run_attacks(named, case, seed=1).results}
    return out


@pytest.mark.parametrize(("k", "least"), [(20, 0.55), (5, 0.58)])
def test_holes_tell_who_is_in_it_where_copies_are_drawn_again(of_markers, k: int, least: float) -> None:
    holes, runs = of_markers[k, "redraw"]["holes"], of_markers[k, "redraw"]["membership"]
    assert holes.details["area_under_curve"] > least
    assert holes.details["area_under_curve"] - 1.96 * holes.details["area_error"] > 0.5
    assert abs(runs.details["area_under_curve"] - 0.5) < 0.05  # what was known of it before
    assert holes.details["members_verbatim"] == 0 < holes.details["others_verbatim"]
    assert holes.details["area_of_strings_that_occur_again"] < holes.details["area_under_curve"]
    assert f"a probability of {holes.details['area_under_curve']:.2f}" in holes.sentence


@pytest.mark.parametrize("k", [20, 5])
def test_allowed_copies_leave_no_holes_but_echoes(of_markers, k: int) -> None:
    holes, echoes = of_markers[k, "allow"]["holes"], of_markers[k, "allow"]["echoes"]
    assert not holes.succeeds
    assert holes.details["area_under_curve"] < 0.52
    assert echoes.details["members_verbatim"] > echoes.details["others_verbatim"]


def test_relatives_of_both_sides_tell_nothing() -> None:
    """What is published is a third part of the same population: neither attack is biased."""
    rows = np.arange(3 * 1903).reshape(3, -1)
    case = StringCase(*(haplotypes(3 * 1903, seed=1).take(part) for part in rows))
    for r in run_attacks([a for a in STRING_ATTACKS.values() if a.name in ("holes", "echoes")], case, seed=1).results:
        assert not r.succeeds
        assert abs(r.details["area_under_curve"] - 0.5) < 0.06


def test_the_result_does_not_depend_on_the_order_of_strings(markers, of_markers) -> None:
    original, control = markers
    made = Condensation(k=20, seed=1, support=3, generator="template").fit_transform(original)
    turned = StringCase(made.take(np.arange(len(made))[::-1]), original, control)
    result = next(r for r in run_attacks(list(STRING_ATTACKS.values()), turned, ["holes"], seed=1).results)
    assert result == of_markers[20, "redraw"]["holes"]


def test_strings_that_occur_again_are_taken_where_too_few_occur_once() -> None:
    def found(n: int, n_control: int) -> tuple:
        sides = (["ab", "ba"] * 30, ["ab", "bb"] * n, ["aa", "ba"] * n_control)
        done = run_attacks(list(STRING_ATTACKS.values()), StringCase(*map(Strings.of, sides)), ["holes"], seed=1)
        return done.results, [why for _, why in done.skipped]

    results, _ = found(30, 30)
    assert "of the members are recognised" in results[0].sentence
    assert results[0].main.attempts == 60
    assert "occur once, or as many that do not" in found(5, 30)[1][0]
    assert "were not in the release" in found(30, 5)[1][0]
