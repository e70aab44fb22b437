"""What is shown in a terminal is drawn in a notebook: short, safe and not large."""

from __future__ import annotations

import random
from typing import Any

import pytest

import shoal
from shoal.shown import MOST_ROWS, Grid, Shown

DRAW = random.Random(2)
TABLE = {"age": [DRAW.randint(20, 60) for _ in range(60)], "<b>ill</b>": [DRAW.choice("xyz") for _ in range(60)]}
STRINGS = ["".join(DRAW.choice("ACG") for _ in range(8)) for _ in range(60)]
BASKETS = [DRAW.sample([f"i{j}" for j in range(8)], 3) for _ in range(60)]
KINDS: dict[str, tuple[Any, Any]] = {
    "table": (TABLE, shoal.Policy.of(quasi=["age"], sensitive=["<b>ill</b>"], k=4)),
    "strings": (STRINGS, shoal.StringPolicy.of(k=4)),
    "sparse": (BASKETS, shoal.SparsePolicy.of(k=4)),
}


class Words(Shown):
    def __init__(self, *parts: str | Grid) -> None:
        self.parts = list(parts)

    def shown(self) -> list[str | Grid]:
        return self.parts


def test_a_notebook_shows_lines_and_tables_as_text() -> None:
    grid = Grid(("name", "n"), [("<script>", "1"), ("b", "2")], ("n",))
    drawn = Words("one & two\n\n  three", grid)._repr_html_()
    assert "<p>one &amp; two</p><p>three</p>" in drawn
    assert "&lt;script&gt;" in drawn
    assert drawn.count('text-align: right"') == 3
    assert "<script>" not in drawn


def test_long_tables_are_cut_and_counted() -> None:
    drawn = Words(Grid(("n",), [(str(i),) for i in range(MOST_ROWS + 7)]))._repr_html_()
    assert drawn.count("<tr>") == MOST_ROWS + 1
    assert "and 7 more" in drawn


def test_a_short_account_is_short() -> None:
    assert repr(Words("a", Grid(("n",), []), "b\n\nc", "d")) == "Words\n  a\n  b\n  c\n  ..."
    assert repr(Words("a")) == "Words\n  a"


@pytest.mark.parametrize("kind", KINDS)
def test_views_of_every_kind_are_short_and_small(kind: str) -> None:
    data, policy = KINDS[kind]
    release = shoal.anonymize(data, policy, seed=1)
    assert [g.model for g in release.check()] == [g.model for g in release.guarantees]
    for view in (release, policy, shoal.profile(data, policy, sweep=False), release.attack()):
        drawn = view._repr_html_()
        assert len(drawn) < 50_000
        assert "<b>ill</b>" not in drawn
        if not isinstance(view, type(policy)):
            assert len(repr(view).split("\n")) <= 6
