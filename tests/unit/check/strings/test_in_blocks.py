"""What is recomputed of strings in files is what is recomputed of held ones, also where it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from shoal.check.strings.in_blocks import find_near, put_originals, put_published, verify_on_disk
from shoal.check.strings.near import near_originals
from shoal.check.strings.verify import StringAsked, StringEvidence, verify_strings
from shoal.data import ragged_rows
from shoal.data.strings import on_disk
from shoal.data.strings.strings import Strings
from shoal.errors import DataError
from shoal.strings import Condensation

K = 10


def some(kind: str, seed: int = 0) -> Strings:
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, 31)
    items = [rng.choice(30, 1 + int(rng.geometric(0.2)), p=share / share.sum()) for _ in range(400)]
    if kind == "tokens":
        return Strings.of([[f"p{i}" for i in row] for row in items])
    letters = ["".join("-ABCDEFGHIKLMNPQRSTVWXYZabcdef"[i] for i in row) for row in items]
    strings = Strings.of(letters)
    return strings.with_labels([f"c{i % 3}" for i in range(400)]) if kind == "classes" else strings


def parts(strings: Strings, n: int = 5) -> Callable[[], Iterator[Strings]]:
    """Blocks with codes of their own."""
    return lambda: (strings.take(rows).compact() for rows in np.array_split(np.arange(len(strings)), n))


@pytest.mark.parametrize("kind", ["tokens", "letters", "classes"])
@pytest.mark.parametrize("copies", ["redraw", "allow"])
@pytest.mark.parametrize("rare", [1, 10, 40])
@pytest.mark.parametrize("spoiled", ["", "groups", "symbols", "copies", "sizes", "near"])
def test_the_verdict_is_that_of_held_strings(kind: str, copies: str, rare: int, spoiled: str) -> None:
    original = some(kind)
    made = Condensation(k=K, rare=rare, seed=1, workers=1, copies=copies)
    published = made.fit_transform(original)
    groups, own = made.pseudo_.groups.astype(np.int64), made.labels_.astype(np.int64)
    lengths = np.repeat([s.length for s in made.segments_], [s.n_groups for s in made.segments_]).astype(np.int64)
    rng = np.random.default_rng(1)
    if spoiled == "groups":
        groups = rng.permutation(groups)
    elif spoiled == "symbols":
        symbols = published.symbols.copy()
        symbols[rng.integers(0, len(symbols), 60)] = rng.integers(0, len(published.alphabet), 60)
        published = replace(published, symbols=symbols)
    elif spoiled in ("copies", "near"):
        texts, theirs = published.texts(), original.texts()
        for i in range(30):
            texts[i] = theirs[i] if spoiled == "copies" or len(theirs[i]) < 2 else theirs[i][:-1]
        labels = None if published.labels is None else [published.classes[i] for i in published.labels]
        published = Strings.of(texts, labels)
    elif spoiled == "sizes":
        own = np.where(own == 0, -1, own)
    asked = StringAsked(k=K, support=5, rare=rare, lengths="spread", copies=copies, generator="window")
    held = verify_strings(published, asked, StringEvidence(original, own, groups, lengths))
    with patch.object(on_disk, "SYMBOLS_AT_ONCE", 300), patch.object(ragged_rows, "ENTRIES_OF_A_RANGE", 500):
        originals = put_originals(parts(original), rare, K)
        shown = put_published(parts(published), originals)
        found = verify_on_disk(shown, asked, originals, groups, own, lengths, 400_000)
        is_near = find_near(shown, originals, 50_000)
    assert found == held
    assert np.array_equal(is_near, near_originals(published, original, rare, K))
    if spoiled:
        assert not all(g.holds for g in found.guarantees) or spoiled in ("symbols", "near", "copies")


def test_sides_that_do_not_fit_are_findings() -> None:
    original = some("classes")
    originals = put_originals(parts(original), K, K)
    rows = np.zeros(len(original), np.int64)

    def verdict(strings: Strings, groups: np.ndarray = rows) -> tuple[str, ...]:
        shown = put_published(parts(strings), originals)
        return verify_on_disk(
            shown, StringAsked(k=K, generator="window"), originals, groups, rows, rows[:1], 10**9
        ).findings

    assert verdict(replace(original, labels=None, classes=())) == ("one side has classes and the other has none",)
    assert verdict(original, rows[:5]) == ("the groups are of other strings",)
    tokens = Strings.of([["A"]]).with_labels(["c0"])
    assert verdict(tokens, rows[:1]) == ("the symbols of one side are tokens, those of the other are characters",)
    with pytest.raises(DataError, match="nothing would be published"):
        verdict(original.take(rows[:0]), rows[:0])


def test_originals_that_change_are_refused() -> None:
    original = some("classes")
    for other in (original.take(np.arange(300)), replace(original, classes=("c0", "c1", "x"))):
        reads = iter((original, other))
        with pytest.raises(DataError, match="changed while they were read"):
            put_originals(lambda: parts(next(reads))(), K, K)  # noqa: B023
