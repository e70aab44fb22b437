"""Errors have exit codes of their own, and end in a hint."""

from __future__ import annotations

from shoal import errors
from shoal.errors import ShoalError, did_you_mean


def test_every_error_has_an_exit_code_of_its_own() -> None:
    found = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, ShoalError)]
    assert sorted(e.exit_code for e in found) == [1, 2, 3, 4, 5, 6]


def test_the_nearest_name_is_proposed() -> None:
    assert did_you_mean("agee", ["age", "zip"]) == "did you mean 'age'?"
    assert did_you_mean("AGE", ["age", "zip"]) == "did you mean 'age'?"
    assert did_you_mean("salary", []) == "there are none"
    assert did_you_mean("q", [f"column {i}" for i in range(20)]).endswith("'column 11' and 8 more")
