"""Originals and pseudo-strings in one alphabet."""

from __future__ import annotations

import pytest

from shoal.data.strings.strings import Strings
from shoal.errors import DataError
from shoal.utility.strings.codes import in_one_alphabet


def test_both_sides_get_the_union_and_keep_their_texts() -> None:
    one, other = Strings.of(["ab", "ba"], ["x", "y"]), Strings.of(["cb"], ["z"])
    coded = in_one_alphabet(one, other)
    for before, after in zip((one, other), coded, strict=True):
        assert after.alphabet == ("a", "b", "c")
        assert after.classes == ("x", "y", "z")
        spelled = [[s.alphabet[code] for code in s.symbols] for s in (before, after)]
        assert spelled[0] == spelled[1]
        assert [before.classes[c] for c in before.labels] == [after.classes[c] for c in after.labels]


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(DataError, match="no symbols"):
        in_one_alphabet(Strings.of(["ab"]), Strings.of([""]))
    with pytest.raises(DataError, match="tokens"):
        in_one_alphabet(Strings.of(["ab"]), Strings.of([["ab", "cd"]]))
