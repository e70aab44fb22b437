"""The tests of `check/tables/t_closeness.py`."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from shoal.check.tables.classes import classes_of
from shoal.check.tables.distribution import distribution
from shoal.check.tables.t_closeness import ordered_distance
from shoal.check.tables.verify import verify
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.t_closeness import TCloseness
from tests.unit.check.tables import slow_check as slow
from tests.unit.check.tables.slow_check import random_table, table

QUASI = ["a", "b"]

TREE = Hierarchy(tuple((f"v{i}", f"w{i // 2}", f"x{i // 4}", "*") for i in range(7)) + (("none", "none", "none", "*"),))


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
def test_t_closeness_equal_and_ordered(missing):
    for t in tables(missing):
        held, everything = per_class(t)
        found = check(t, TCloseness(t=0.3, distance="equal"))
        twins = [slow.equal(v, everything) for v in held.values()]
        assert found.achieved == pytest.approx(float(max(twins)), abs=1e-15)
        assert found.n_failing == sum(d > Fraction(3, 10) for d in twins)
        order = ["v3", "v0", "v6", "v1", "v2", "v5", "v4"]
        attribute = Attribute("s", "ordinal", "sensitive", order=tuple(order))
        found = check(t, TCloseness(t=0.2), attributes={"s": attribute})
        twins = [slow.ordered(v, everything, [*order, None]) for v in held.values()]
        assert found.kind == "ordered"
        assert found.achieved == pytest.approx(float(max(twins)), abs=1e-14)
        assert found.n_failing == sum(d > Fraction(1, 5) for d in twins)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_t_closeness_hierarchical(missing):
    rows = [r if r[0] != "none" else (None, *r[1:]) for r in TREE.rows]
    attribute = Attribute("s", "nominal", "sensitive", hierarchy=TREE)
    seen = set()
    for t in tables(missing):
        held, everything = per_class(t)
        found = check(t, TCloseness(t=0.3), attributes={"s": attribute})
        twins = [slow.hierarchical(v, everything, rows) for v in held.values()]
        assert found.kind == "hierarchical"
        assert found.achieved == pytest.approx(float(max(twins)), abs=1e-14)
        assert found.n_failing == sum(d > Fraction(3, 10) for d in twins)
        seen.add(found.holds)
    assert seen == {True, False}


def test_hierarchical_distance_of_a_flat_tree_is_the_equal_one():
    flat = Attribute("s", "nominal", "sensitive", hierarchy=Hierarchy(tuple((f"v{i}", "*") for i in range(7))))
    for t in tables():
        a = check(t, TCloseness(t=0.3), attributes={"s": flat})
        assert a.achieved == check(t, TCloseness(t=0.3, distance="equal")).achieved


def test_li_et_al_2007_example_of_salaries():
    """Section 4: incomes 3k..11k; {3k,4k,5k} is 0.375 from the whole, {6k,8k,11k} 0.167."""
    t = table(a=["1"] * 3 + ["2"] * 3 + ["3"] * 3, b=["x"] * 9, s=[3, 4, 5, 6, 11, 8, 7, 9, 10])
    classes = classes_of(t, ["a"])
    found = ordered_distance(distribution(classes, t["s"]))
    assert found[:2] == pytest.approx([0.375, 1 / 6], abs=1e-15)


def test_ordered_distance_in_floats_agrees_with_that_in_integers():
    """A table of many copies has the same distances, but its sums pass 64 bits."""
    rng = np.random.default_rng(3)
    t = table(a=[str(i) for i in rng.integers(0, 40, 2000)], b=["x"] * 2000, s=rng.normal(size=2000))
    held = distribution(classes_of(t, ["a"]), t["s"])
    n_copies = 2**19
    copies = {f: getattr(held, f) * n_copies for f in ("sizes", "sums", "counts", "totals")}
    large = dataclasses.replace(held, **copies)
    assert held.total**2 * len(held.totals) < 2**62 < large.total**2 * len(held.totals)
    assert ordered_distance(large) == pytest.approx(ordered_distance(held), rel=1e-12)


@pytest.mark.parametrize("bound", [0.1, 0.3, 0.7])
def test_distance_equal_to_its_bound_holds(bound):
    tenths = round(bound * 10)
    t = table(a=["1"] * 10 + ["2"] * 10, b=["y"] * 20, s=["u"] * 5 + ["v"] * 5 + ["u"] * 5 + ["v"] * 5)
    assert check(t, TCloseness(t=1e-9, distance="equal")).achieved == 0
    s = ["u"] * 10 + ["u"] * (10 - 2 * min(tenths, 5)) + ["v"] * (2 * min(tenths, 5))
    t = table(a=["1"] * 10 + ["2"] * 10, b=["y"] * 20, s=s)
    reached = min(tenths, 5) / 10
    for distance in ("equal", "ordered"):
        assert check(t, TCloseness(t=reached, distance=distance)).holds
        assert not check(t, TCloseness(t=reached * (1 - 1e-9), distance=distance)).holds
    # u: share 0.75 in the table at tenths = 5, 1 in the class: the gain is 1/3, an equality in floats
    gain = check(t, BetaLikeness(beta=9, kind="basic")).achieved
    assert check(t, BetaLikeness(beta=gain, kind="basic")).holds
    assert not check(t, BetaLikeness(beta=math.nextafter(gain, 0), kind="basic")).holds
