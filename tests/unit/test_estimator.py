"""Parameters as attributes, changed by name, shown but for secrets."""

from __future__ import annotations

import pytest

from shoal.errors import PolicyError
from shoal.estimator import Estimator


class Toy(Estimator):
    secret = frozenset({"key"})

    def __init__(self, k: int = 5, key: bytes | None = None) -> None:
        self.k = k
        self.key = key


def test_parameters_are_read_and_changed_by_name() -> None:
    toy = Toy().set_params(k=7)
    assert toy.get_params() == {"k": 7, "key": None}


def test_a_secret_is_not_shown() -> None:
    assert repr(Toy(3, b"a key that nobody sees")) == "Toy(k=3)"


def test_an_unknown_parameter_is_refused_with_the_nearest_and_is_a_value_error_too() -> None:
    with pytest.raises(PolicyError, match=r"Toy has no parameter 'kay'.*'k") as caught:
        Toy().set_params(kay=3)
    assert isinstance(caught.value, ValueError)
