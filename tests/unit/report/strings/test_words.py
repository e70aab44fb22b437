"""The tests of `report/strings/words.py`."""

from __future__ import annotations

from shoal.kinds.strings.policy import StringPolicy
from shoal.report.strings import words as string_words


def test_limits_follow_the_policy() -> None:
    def titles(**asked: object) -> list[str]:
        return [p.title for p in string_words.limits(StringPolicy.of(**asked), has_classes=False)]

    assert "Single strings can be followed" in titles(support=1)
    assert "Rare symbols" in titles(rare=1)
    assert not {"Rare symbols", "Single strings can be followed"} & set(titles())
