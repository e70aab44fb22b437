"""The dataset of strings: characters and tokens as codes, and back."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.strings.strings import LONG, Strings, symbol_keys
from shoal.errors import DataError


def test_characters_round_trip() -> None:
    texts = ["MKV", "", "VVa", "ß𝔸"]
    strings = Strings.of(texts)
    assert strings.texts() == texts
    assert list(strings.alphabet) == sorted(set("".join(texts)))
    assert strings.symbols.dtype == np.int32
    assert strings.starts.tolist() == [0, 3, 3, 6, 8]


def test_tokens_round_trip() -> None:
    texts = [["milk", "tea"], [], ["tea"]]
    strings = Strings.of(texts, ["a", "b", "a"])
    assert strings.is_tokens
    assert strings.texts() == texts
    assert strings.alphabet == ("milk", "tea")
    assert strings.labels is not None
    assert strings.labels.tolist() == [0, 1, 0]


def test_codes_do_not_depend_on_the_order_of_strings() -> None:
    one, two = Strings.of(["CAB", "AD"]), Strings.of(["AD", "CAB"])
    assert one.alphabet == two.alphabet
    assert one.take(np.array([1, 0])).symbols.tolist() == two.symbols.tolist()


def test_take_and_compact() -> None:
    strings = Strings.of(["AB", "CCD", "E"], ["x", "y", "z"])
    part = strings.take(np.array([2, 0])).compact()
    assert part.texts() == ["E", "AB"]
    assert part.alphabet == ("A", "B", "E")
    assert part.classes == ("x", "z")
    assert part.labels is not None
    assert part.labels.tolist() == [1, 0]


def test_a_large_alphabet_stays_small() -> None:
    strings = Strings.of([[f"item{i}" for i in range(100_000)]])
    assert len(strings.alphabet) == 100_000
    assert strings.symbols.nbytes == 400_000


def test_given_alphabet() -> None:
    assert Strings.of(["GA"], alphabet="ACGT").symbols.tolist() == [2, 0]
    with pytest.raises(DataError, match=r"not in the alphabet, the first of them in string 2; extend"):
        Strings.of(["GA", "GXA"], alphabet="ACGT")
    with pytest.raises(DataError, match="holds a longer symbol"):
        Strings.of(["GA"], alphabet=["G", "A", "GA"])


@pytest.mark.parametrize("wrong", [["AB", ["A"]], [["A"], "AB"], "AB"])
def test_kinds_do_not_mix(wrong: object) -> None:
    with pytest.raises(DataError, match="not of one kind"):
        Strings.of(wrong)  # type: ignore[arg-type]


def test_tokens_are_text() -> None:
    with pytest.raises(DataError, match="not text"):
        Strings.of([[1, 2]])  # type: ignore[list-item]


def test_labels_fit() -> None:
    with pytest.raises(DataError, match="1 class labels for 2 strings"):
        Strings.of(["A", "B"], ["x"])
    with pytest.raises(DataError, match="not text"):
        Strings.of(["A"], [1])  # type: ignore[list-item]


def test_keys_depend_on_the_symbol_alone() -> None:
    assert symbol_keys(("a", "b"))[1] == symbol_keys(("b",))[0]
    assert len(set(symbol_keys([str(i) for i in range(1000)]).tolist())) == 1000
    assert len(symbol_keys(())) == 0


def test_no_strings() -> None:
    nothing = Strings.of([])
    assert len(nothing) == 0
    assert nothing.texts() == []


def test_long_strings_are_taken_piece_by_piece_like_short_ones() -> None:
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abc"), n)) for n in (LONG + 5, LONG, 0, 2 * LONG)]
    rows = np.array([3, 0, 0, 2, 1])
    assert Strings.of(texts).take(rows).texts() == [texts[i] for i in rows]
    assert Strings.of([t[:9] for t in texts]).take(rows).texts() == [texts[i][:9] for i in rows]
