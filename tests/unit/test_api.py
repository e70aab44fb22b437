"""The tests of `api.py`."""

from __future__ import annotations

import pytest

import shoal


@pytest.mark.parametrize(
    ("asked", "says"), [({"policy": 2}, "not a Policy"), ({"seed": "x"}, "seed"), ({"seed": -1}, "seed")]
)
def test_wrong_arguments_are_refused_in_a_sentence(asked, says) -> None:
    with pytest.raises(shoal.PolicyError, match=says):
        shoal.anonymize({"age": [1, 1]}, **asked)
