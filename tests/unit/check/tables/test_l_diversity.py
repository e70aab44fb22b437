"""The tests of `check/tables/l_diversity.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.tables.verify import verify
from shoal.data.tables.table import Column, Table
from shoal.kinds.tables.policy import LDiversity
from tests.unit.check.tables import slow_check as slow
from tests.unit.check.tables.slow_check import random_table, table

QUASI = ["a", "b"]


def check(t, required, **options):
    (found,) = verify(t, [required], QUASI, ["s"], **options)
    return found


def tables(missing=0.0, n=30):
    rng = np.random.default_rng(7)
    for i in range(n):
        yield random_table(rng, n_rows=int(rng.integers(1, 120)), n_values=1 + i % 7, missing=missing)


def per_class(t):
    return slow.groups(t, QUASI, "s"), t["s"].cells().tolist()


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("l", [2, 3])
def test_l_diversity(missing, l):  # noqa: E741  the paper's name
    for t in tables(missing):
        held = per_class(t)[0].values()
        distinct = [len(set(v)) for v in held]
        found = check(t, LDiversity(l=l))
        assert (found.achieved, found.n_failing) == (min(distinct), sum(d < l for d in distinct))
        share = [max(slow.shares(v).values()) for v in held]
        found = check(t, LDiversity(l=l, kind="probabilistic"))
        assert found.achieved == pytest.approx(float(1 / max(share)), rel=1e-14)
        assert found.n_failing == sum(s * l > 1 for s in share)
        found = check(t, LDiversity(l=l - 0.5, kind="entropy"))
        assert found.achieved == pytest.approx(min(map(slow.entropy, held)), rel=1e-12)
        assert found.n_failing == sum(slow.entropy(v) < l - 0.5 for v in held)
        ratios = [slow.recursive(v, l) for v in held]
        found = check(t, LDiversity(l=l, kind="recursive", c=2))
        assert found.achieved == pytest.approx(float(max(ratios)), rel=1e-14)
        assert found.n_failing == sum(not r < 2 for r in ratios)


@pytest.mark.parametrize("n", [2, 3, 5, 6, 7, 10, 49])
def test_entropy_of_equally_frequent_values_reaches_their_number(n):
    t = table(a=["x"] * 3 * n, b=["y"] * 3 * n, s=[f"v{i}" for i in range(n)] * 3)
    assert check(t, LDiversity(l=n, kind="entropy")).holds
    assert not check(t, LDiversity(l=n * (1 + 1e-9), kind="entropy")).holds
    assert check(t, LDiversity(l=n, kind="probabilistic")).holds


def test_a_value_that_stands_twice_in_the_dictionary_does_not_add_diversity():
    codes = np.array([0, 1, 0, 1], dtype=np.int32)
    t = table(a=["x"] * 4, b=["y"] * 4)
    t = Table.of([*t.columns.values(), Column("s", codes, np.array(["u", "u"], dtype=object))])
    assert check(t, LDiversity(l=2)).achieved == 1


def test_markers_of_missing_values_do_not_add_diversity_where_they_may_hide_any():
    codes = np.array([0, 1, 2, 2], dtype=np.int32)
    t = table(a=["x"] * 4, b=["y"] * 4)
    t = Table.of([*t.columns.values(), Column("s", codes, np.array(["?", "NA", "u"], dtype=object))])
    assert check(t, LDiversity(l=2), missing="any").achieved == 1
    assert check(t, LDiversity(l=2)).achieved == 2
    assert check(t, LDiversity(l=2), markers=()).achieved == 2  # both say that nothing is known, whatever the markers
