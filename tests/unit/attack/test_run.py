"""Every attack is documented, in its own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.attack.sparse.basket_targets import OnBaskets
from shoal.kind import kind_named

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "attacks.md"
NOUNS = {
    "table": "tables",
    "strings": "strings",
    "sparse": "sketches",
    "linked": "linked tables",
    "trajectories": "trajectories",
}


def noun_of(kind, attack):
    """What an attack is on; sparse records are published in two ways."""
    return "pseudo-baskets" if isinstance(attack, OnBaskets) else NOUNS[kind]


@pytest.mark.parametrize("kind", NOUNS)
def test_every_attack_is_documented(kind):
    sections = PAGE.read_text(encoding="utf-8").split("\n### ")[1:]
    by_title = {s.partition("\n")[0]: " ".join(s.split()) for s in sections}
    for attack in kind_named(kind).attacks:
        section = by_title[f"`{attack.name}` on {noun_of(kind, attack)}"]
        for label, told in (
            ("Knows", attack.knows),
            ("Meant to stop it", attack.stopped_by),
            ("When it succeeds", attack.remedy),
            ("Reference", attack.reference),
        ):
            assert f"**{label}:** {told}." in section, (attack.name, label)


def test_no_attack_is_documented_that_is_not_there():
    known = {f"`{a.name}` on {noun_of(kind, a)}" for kind in NOUNS for a in kind_named(kind).attacks}
    titles = {s.partition("\n")[0] for s in PAGE.read_text(encoding="utf-8").split("\n### ")[1:]}
    assert titles == known


@pytest.mark.parametrize("kind", NOUNS)
def test_texts_are_phrases(kind):
    for attack in kind_named(kind).attacks:
        for told in (attack.title, attack.knows, attack.stopped_by, attack.remedy):
            assert told[0].islower(), (attack.name, told)
            assert not told.endswith("."), (attack.name, told)


def test_the_table_of_attacks_is_that_of_the_registries():
    rows = [
        f"| `{a.name}` | {noun_of(kind, a)} | {a.title} | {'yes' if a.needs_others else 'no'} |"
        for kind in NOUNS
        for a in kind_named(kind).attacks
    ]
    told = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert told == rows
