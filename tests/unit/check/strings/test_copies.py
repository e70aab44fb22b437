"""Copies and near copies in releases of strings: what each choice promises, and what is caught when it is broken."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.check.strings.copies import equal_strings
from shoal.check.strings.near import near_originals
from shoal.data.samples.haplotypes import haplotypes
from shoal.data.samples.proteins import protein_families
from shoal.data.strings.strings import Strings
from shoal.errors import PolicyError
from shoal.kinds.strings.policy import StringPolicy
from shoal.strings import Condensation

pytestmark = pytest.mark.unattacked


@pytest.mark.parametrize(
    ("strings", "others", "are_there"),
    [
        (["ab", "ba", "a"], ["ba", "b"], [False, True, False]),
        (["ab", "ab"], [], [False, False]),
        ([], ["ab"], []),
    ],
)
def test_equal_strings_also_among_none(strings: list[str], others: list[str], are_there: list[bool]) -> None:
    """Symbols are numbered alike on both sides."""
    both = Strings.of([*strings, *others, "ab"])
    at = len(strings)
    found = equal_strings(both.take(np.arange(at)), both.take(np.arange(at, at + len(others))))
    assert found.tolist() == are_there


def test_a_few_near_copies_are_drawn_again() -> None:
    """Some sets give a few near copies by chance; the release has none of them, and says so."""
    seen = 0
    for seed in range(6):
        original = protein_families(200, n_families=1, mean_length=12, substitution=0.35, seed=seed)
        method = Condensation(k=20, seed=seed, workers=1)
        method.fit_transform(original)
        n_drawn = int(near_originals(method.pseudo_.strings, original, 20, 20).sum())
        made = shoal.anonymize(original, StringPolicy.of(k=20), seed=seed)
        n_near = int(near_originals(made.strings, original, 20, 20).sum())
        assert n_near == 0 or n_near >= 20
        seen += 0 < n_drawn < 20
        if 0 < n_drawn < 20:
            assert n_near == 0
            assert made.n_rejected > method.pseudo_.n_rejected
    assert seen


def test_what_is_refused_is_drawn_again_and_the_rest_stays() -> None:
    original = haplotypes(200, mutations=1.5, seed=1)
    method = Condensation(k=20, seed=1, workers=1)
    before = method.fit_transform(original)
    groups = method.pseudo_.groups
    refused = before.take(np.arange(3))
    after = method.draw_without(refused)
    assert not set(refused.texts()) & set(after.texts())
    of_others = {t for t, g in zip(before.texts(), groups, strict=True) if g not in set(groups[:3])}
    assert of_others <= set(after.texts())
    again = method.draw_without(after.take(np.arange(1)))
    assert not {*refused.texts(), after.texts()[0]} & set(again.texts())


def test_copies_are_told_everywhere(tmp_path: Path) -> None:
    original = haplotypes(300, seed=3)
    pages = {}
    for copies in ("redraw", "allow"):
        made = shoal.anonymize(original, StringPolicy.of(k=20, copies=copies), seed=1)
        out = made.save(tmp_path / copies)
        content = json.loads((out / "publish" / "manifest.json").read_text())
        assert content["method"]["copies"] == copies
        assert ("no-copies" in {g["model"] for g in content["guarantees"]}) is (copies == "redraw")
        pages[copies] = [(out / at).read_text() for at in ("publish/datasheet.html", "private/report.html")]
        assert any("holes" in note or "echoes" in note for note in made.notes)
    shared = set(original.texts())
    assert shared & set(shoal.anonymize(original, StringPolicy.of(k=20, copies="allow"), seed=1).strings.texts())
    assert "None is an original" in pages["redraw"][0]
    assert "None is an original" not in pages["allow"][0]
    for page in pages["redraw"]:
        assert "Holes reveal who is in the data" in page
        assert "Copies are allowed" not in page
    for page in pages["allow"]:
        assert "Copies are allowed" in page
        assert "Holes reveal" not in page
        assert "No published string equals an original" not in page


@pytest.mark.parametrize("wrong", ["drop", "", None, 1])
def test_other_choices_are_refused(wrong: object) -> None:
    with pytest.raises(PolicyError, match="copies"):
        StringPolicy.of(k=5, copies=wrong)
    with pytest.raises(PolicyError, match="copies"):
        Condensation(k=5, copies=wrong).fit(["ab", "ba"] * 5)
