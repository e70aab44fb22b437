"""The tests of `kinds/tables/findings.py`."""

from __future__ import annotations

from shoal.check.finding import SINGLED_OUT, UNPROTECTED, Finding
from shoal.kinds.tables.findings import told_findings, unprotected


def test_what_looks_sensitive_is_named() -> None:
    assert unprotected([], None) == ()
    (one,) = unprotected(["disease"], None)
    assert one.name == UNPROTECTED
    assert one.sentence.startswith("“disease” looks sensitive, and nothing is required of it")
    (two,) = unprotected(["disease", "wage"], "both are public")
    assert "look sensitive, and nothing is required of them" in two.sentence
    assert told_findings([two]) == [f"{two.sentence} Taken for this reason: both are public"]


def test_what_only_a_raised_limit_allows_is_told_too() -> None:
    """Of two findings below their limits, that which the usual limit would not allow."""
    few, many = (Finding(SINGLED_OUT, ("zip",), share, 0.5, f"{share}", "drop it", None) for share in (0.01, 0.3))
    assert told_findings([few, many]) == ["0.3"]
