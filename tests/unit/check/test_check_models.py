"""Every privacy model against its slow twin, and at the edge between holding and failing."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
import slow_check as slow
from slow_check import random_table, table

from shoal.check.tables.classes import classes_of
from shoal.check.tables.distribution import distribution
from shoal.check.tables.t_closeness import ordered_distance
from shoal.check.tables.verify import verify
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import Column, Table, encode_cells
from shoal.errors import DataError, Infeasible
from shoal.models.alpha_k import AlphaK
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness

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
def test_k_anonymity(missing):
    for t in tables(missing):
        sizes = [len(v) for v in per_class(t)[0].values()]
        found = check(t, KAnonymity(k=4))
        assert found.achieved == min(sizes)
        assert (found.n_classes, found.n_failing) == (len(sizes), sum(s < 4 for s in sizes))
        assert found.holds == (min(sizes) >= 4)


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
    copies = {f: getattr(held, f) * n_copies for f in ("sizes", "counts", "totals")}
    large = dataclasses.replace(held, **copies)
    assert held.n_rows**2 * len(held.totals) < 2**62 < large.n_rows**2 * len(held.totals)
    assert ordered_distance(large) == pytest.approx(ordered_distance(held), rel=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_alpha_k(missing):
    for t in tables(missing):
        held = per_class(t)[0].values()
        found = check(t, AlphaK(alpha=0.5, k=3))
        share = [max(slow.shares(v).values()) for v in held]
        assert found.achieved == float(max(share))
        assert found.details == {"k": min(map(len, held))}
        assert found.n_failing == sum(s > 0.5 or len(v) < 3 for s, v in zip(share, held, strict=True))


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("beta", [0.5, 2])
def test_beta_likeness(missing, beta):
    for t in tables(missing):
        held, everything = per_class(t)
        gains = [slow.gain(v, everything) for v in held.values()]
        found = check(t, BetaLikeness(beta=beta, kind="basic"))
        assert found.achieved == pytest.approx(float(max(gains)), abs=1e-14)
        assert found.n_failing == sum(g > beta for g in gains)
        found = check(t, BetaLikeness(beta=beta))
        assert found.achieved == pytest.approx(float(max(gains)), abs=1e-14)
        assert found.n_failing == sum(not slow.enhanced_holds(v, everything, beta) for v in held.values())


def test_missing_values_that_may_hide_any_value_count_as_the_most_frequent():
    worse = 0
    for t in tables(missing=0.25):
        quasi = {n: [c if c is not None else "-" for c in t[n].cells().tolist()] for n in QUASI}
        t = table(**quasi, s=t["s"].cells().tolist())
        held = per_class(t)[0].values()
        folded = [slow.fold(v) for v in held]
        found = check(t, LDiversity(l=2), missing="any")
        assert found.achieved == min(len(set(v) - {None}) for v in held)
        found = check(t, LDiversity(l=2, kind="probabilistic"), missing="any")
        assert found.achieved == float(1 / max(max(slow.shares(v).values()) for v in folded))
        found = check(t, LDiversity(l=2, kind="entropy"), missing="any")
        assert found.achieved == pytest.approx(min(map(slow.entropy, folded)), rel=1e-12)
        worse += found.achieved < check(t, LDiversity(l=2, kind="entropy")).achieved
        found = check(t, LDiversity(l=2, kind="recursive"), missing="any")
        assert found.achieved == float(max(slow.recursive(v, 2) for v in folded))
        found = check(t, AlphaK(alpha=0.5, k=2), missing="any")
        assert found.achieved == float(max(max(slow.shares(v).values()) for v in folded))
    assert worse > 0


@pytest.mark.parametrize("required", [TCloseness(t=0.5), BetaLikeness(beta=1)])
def test_distributions_with_hidden_values_are_refused(required):
    t = table(a=["x"] * 4, b=["y"] * 4, s=["u", "v", None, "u"])
    with pytest.raises(Infeasible, match=r"column 's'.*fill them"):
        check(t, required, missing="any")
    assert check(t, required).holds
    assert check(t.take(np.array([0, 1, 3])), required, missing="any").holds


def test_equality_is_decided_right():
    """100 records, the most frequent value 29 times, and every bound met with equality."""
    cells = ["v0"] * 29 + ["v1"] * 29 + ["v2"] * 29 + ["v3"] * 13
    t = table(a=["x"] * 100, b=["y"] * 100, s=cells)
    assert check(t, AlphaK(alpha=0.29, k=100)).holds
    assert not check(t, AlphaK(alpha=math.nextafter(0.29, 0), k=100)).holds
    assert not check(t, AlphaK(alpha=0.29, k=101)).holds
    assert check(t, LDiversity(l=100 / 29, kind="probabilistic")).holds
    assert not check(t, LDiversity(l=math.nextafter(100 / 29, 4), kind="probabilistic")).holds
    # 29 < c * (29 + 13) fails at c = 29 / 42, where both sides are equal
    assert not check(t, LDiversity(l=3, kind="recursive", c=29 / 42)).holds
    assert check(t, LDiversity(l=3, kind="recursive", c=math.nextafter(29 / 42, 1))).holds


@pytest.mark.parametrize("n", [2, 3, 5, 6, 7, 10, 49])
def test_entropy_of_equally_frequent_values_reaches_their_number(n):
    t = table(a=["x"] * 3 * n, b=["y"] * 3 * n, s=[f"v{i}" for i in range(n)] * 3)
    assert check(t, LDiversity(l=n, kind="entropy")).holds
    assert not check(t, LDiversity(l=n * (1 + 1e-9), kind="entropy")).holds
    assert check(t, LDiversity(l=n, kind="probabilistic")).holds


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


def test_one_class_is_as_the_whole_table():
    t = table(a=["x"] * 6, b=["y"] * 6, s=["u", "v", "w"] * 2)
    found = verify(t, [KAnonymity(k=6), TCloseness(t=0.1), BetaLikeness(beta=0.1)], QUASI, ["s"])
    assert [g.achieved for g in found] == [6, 0, 0]


def test_all_unique_fails_everything():
    t = table(a=[f"{i}" for i in range(6)], b=["y"] * 6, s=["u", "v", "w"] * 2)
    required = [
        KAnonymity(k=2),
        LDiversity(l=2),
        LDiversity(l=2, kind="probabilistic"),
        LDiversity(l=1.1, kind="entropy"),
        LDiversity(l=2, kind="recursive"),
        TCloseness(t=0.5),
        AlphaK(alpha=0.9, k=2),
        BetaLikeness(beta=1.5),
    ]
    found = verify(t, required, QUASI, ["s"])
    assert [g.n_failing for g in found] == [6] * 8
    assert [g.achieved for g in found] == pytest.approx([1, 1, 1, 1, math.inf, 2 / 3, 1, 2])


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


@pytest.mark.parametrize(
    ("kind", "cells", "texts"),
    [
        ("continuous", [9.0, 10.0, 100.0, 2.5], ["9", "10.0", "100", "2.5"]),
        (
            "date",
            np.array(["2020-01-09", "2020-01-10", "2020-12-01", "2019-01-01"], dtype="datetime64[us]"),
            ["9.1.2020", "10.1.2020", "1.12.2020", "1.1.2019"],
        ),
    ],
)
def test_a_column_read_back_as_text_is_ordered_as_the_typed_one(kind, cells, texts):
    attribute = {"s": Attribute("s", kind, "sensitive")}
    a = ["1", "1", "2", "2"]
    typed = table(a=a, b=["y"] * 4, s=encode_cells("s", np.asarray(cells)))
    read = table(a=a, b=["y"] * 4, s=texts)
    found = [check(t, TCloseness(t=0.9), attributes=attribute) for t in (typed, read)]
    assert found[0].kind == found[1].kind == "ordered"
    assert found[0].achieved == found[1].achieved == pytest.approx(1 / 6)  # ranks 1 2 | 0 3, by hand
    by_letters = check(read, TCloseness(t=0.9, distance="ordered"), attributes={}).achieved
    assert kind == "continuous" or by_letters != found[1].achieved


def test_two_spellings_of_a_number_are_one_value():
    t = table(a=["x"] * 4, b=["y"] * 4, s=["1", "1.0", "1e0", "2"])
    attribute = {"s": Attribute("s", "continuous", "sensitive")}
    assert check(t, LDiversity(l=2), attributes=attribute).achieved == 2
    assert check(t, LDiversity(l=2)).achieved == 2
    code = {"s": Attribute("s", "prefix", "sensitive")}
    assert check(t, LDiversity(l=2), attributes=code).achieved == 4


def test_ordinal_texts_without_an_order_are_numbers_or_else_alphabetical():
    numbers = table(a=["1", "1", "2", "2"], b=["y"] * 4, s=["9", "10", "100", "2"])
    attribute = {"s": Attribute("s", "ordinal", "sensitive")}
    assert check(numbers, TCloseness(t=0.9), attributes=attribute).achieved == pytest.approx(1 / 6)
    words = table(a=["1", "1", "2", "2"], b=["y"] * 4, s=["b", "c", "d", "a"])
    assert check(words, TCloseness(t=0.9), attributes=attribute).achieved == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        (Attribute("s", "continuous", "sensitive"), "all numbers"),
        (Attribute("s", "date", "sensitive"), "all dates"),
        (
            Attribute("s", "ordinal", "sensitive", order=("u", "v")),
            "holds 1 values that its order does not name",
        ),
        (
            Attribute("s", "nominal", "sensitive", hierarchy=TREE),
            "3 values of column 's' are not in the hierarchy",
        ),
    ],
)
def test_values_that_do_not_fit_their_attribute_are_refused_without_quoting_them(attribute, message):
    t = table(a=["x"] * 3, b=["y"] * 3, s=["u", "v", "Zacharias"])
    with pytest.raises(DataError, match=message) as error:
        check(t, TCloseness(t=0.5), attributes={"s": attribute})
    assert "Zacharias" not in str(error.value)
