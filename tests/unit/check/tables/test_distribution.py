"""Every privacy model against its slow twin, and at the edge between holding and failing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shoal.check.tables.verify import verify
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import encode_cells
from shoal.errors import DataError, Infeasible
from shoal.models.alpha_k import AlphaK
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness
from tests.unit.check.tables import slow_check as slow
from tests.unit.check.tables.slow_check import random_table, table

QUASI = ["a", "b"]
LDIVERSITIES = ("distinct", "probabilistic", "entropy", "recursive")
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


@pytest.mark.parametrize("missing", ["value", "any"])
def test_rows_that_stand_for_several_records_reach_what_these_do(missing):
    required = [LDiversity(l=2, kind=kind, **({"c": 2} if kind == "recursive" else {})) for kind in LDIVERSITIES]
    required += [KAnonymity(k=3), AlphaK(alpha=0.6, k=3)]
    required += [TCloseness(t=0.3), BetaLikeness(beta=2)] if missing == "value" else []
    for i, whole in enumerate(tables(missing=0.1, n=8)):
        few, many = slow.weighted(whole, i)
        found, expected = (verify(t, required, QUASI, ["s"], missing=missing) for t in (few, many))
        assert [(g.achieved, g.holds) for g in found] == [(g.achieved, g.holds) for g in expected]
