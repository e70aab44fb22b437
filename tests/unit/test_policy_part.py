"""The tests of `policy_part.py`."""

from __future__ import annotations

import pytest
from pydantic import Field, ValidationError

from shoal.policy_part import Strict


class Part(Strict):
    size: int = 3
    names: list[str] = Field(default_factory=list)


def test_only_what_is_not_the_default_is_shown() -> None:
    assert repr(Part()) == "Part()"
    assert repr(Part(size=4)) == "Part(size=4)"
    assert repr(Part(names=["a"])) == "Part(names=['a'])"


def test_unknown_keys_are_refused_and_nothing_changes() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        Part.model_validate({"sise": 3})
    with pytest.raises(ValidationError, match="frozen"):
        Part().size = 5
