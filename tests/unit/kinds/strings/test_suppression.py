"""The tests of `kinds/strings/suppression.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.errors import Infeasible
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.strings.suppression import refuse_none, refuse_suppressed, suppressed_of, suppressed_sentence


def test_more_than_a_tenth_is_not_left_out_unasked() -> None:
    with pytest.raises(Infeasible, match=r"20 % of the strings .* 10 % may be; lower k"):
        refuse_suppressed({"copies": 20, "empty": 5}, 105, StringPolicy())
    refuse_suppressed({"copies": 10, "empty": 50}, 150, StringPolicy())
    refuse_suppressed({"copies": 20}, 100, StringPolicy.of(suppression=0.2))


def test_reasons_are_counted_and_told() -> None:
    reasons = np.array([0, 0, 1, 4, 4, 4], np.int8)
    assert suppressed_of(reasons, 0) == {"empty": 1, "length": 3}
    assert suppressed_of(reasons, 2) == {"empty": 1, "length": 3, "copies": 2}
    assert suppressed_of(reasons[:2], 0) == {}
    assert suppressed_sentence({}, 5, StringPolicy()) == "No string was suppressed: all 5 are in groups."


def test_nothing_is_not_published() -> None:
    refuse_none(1)
    with pytest.raises(Infeasible, match="every pseudo-string that was drawn equals an original"):
        refuse_none(0)
