"""The tests of `strings/rare_symbols.py`."""

from __future__ import annotations

from shoal.data.strings.strings import Strings
from shoal.strings.rare_symbols import without_rare_symbols


def test_rare_characters_leave_no_gap() -> None:
    strings = Strings.of(["XAAB", "ABXY", "AXB", "", "ZZ", "BA", "XBA"])
    bare, n_symbols, n_places = without_rare_symbols(strings, 5)
    assert bare.texts() == ["AAAB", "ABBB", "AAB", "", "", "BA", "BBA"]
    assert (n_symbols, n_places) == (3, 7)
    bare, n_symbols, n_places = without_rare_symbols(strings, 6)
    assert bare.texts() == [""] * 7
    assert (n_symbols, n_places) == (5, 18)
    tokens = Strings.of([list("XAAB"), list("ABXY"), list("AB"), list("BA"), list("AB")])
    assert without_rare_symbols(tokens, 5)[0].texts() == [list("AAB"), list("AB"), list("AB"), list("BA"), list("AB")]
