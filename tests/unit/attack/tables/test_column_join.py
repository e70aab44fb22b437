"""The tests of `attack/tables/column_join.py`."""

from __future__ import annotations

from shoal.attack.tables.column_join import ColumnJoin
from tests.unit.attack.tables.small_cases import screened


def test_the_join_finds_what_the_printed_check_does_not(rng):
    weak = screened(["401**", "402**", "402**", "402**"], [2, 0, 3, 1])
    result = ColumnJoin().run(weak, rng)
    assert result.main.successes == 1
    assert result.main.attempts == 4
    assert result.details["without_join"] == 0
    strong = screened(["40***"] * 4, [2, 0, 3, 1])
    assert ColumnJoin().run(strong, rng).main.successes == 0


def test_releases_that_were_checked_withstand_the_join(release, rng):
    result = ColumnJoin().run(release(l=3, publish="screen"), rng)
    assert result.main.value == 0
    assert not result.succeeds
