"""No way of spelling makes a table more diverse: not for the check, not for the limits that the methods keep."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.check import verify
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.dictionary import objects
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import Table, encode_cells
from shoal.errors import Infeasible, PolicyError
from shoal.models.alpha_k import AlphaK
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness
from shoal.tables.encoding import rank

UNSEEN = "\u200b\u200c\u200d\u00ad\u2060\ufeff\u200e\u202e\u0000\u0007\u034f\u3164\ufe0f\U000e0041\u00a0\u2009\t"
SWAPS = {"-": "\u2010\u2011\u2012\u2013\u2014\u2212\uff0d", "'": "\u2018\u2019\u02bc\u2032\uff07", "é": ["e\u0301"]}
VALUES = ["HIV", "covid-19", "Crohn's", "flu", "café", "12"]
GAPS = ["n/a", "#N/A", "NA ", "N.A.", "-", "null", "unknown", "\u200b", "keine Angabe", "不明"]
REQUIRED = (
    LDiversity(l=2),
    LDiversity(l=2, kind="probabilistic"),
    LDiversity(l=2, kind="entropy"),
    AlphaK(alpha=0.5, k=2),
)
ROWS = st.lists(st.tuples(st.sampled_from("uvw"), st.sampled_from(VALUES)), min_size=1, max_size=25)


@st.composite
def respelled(draw, text):
    """The same text in another spelling."""
    letters = []
    for c in text:
        if c in SWAPS and draw(st.booleans()):
            c = draw(st.sampled_from(SWAPS[c]))
        elif draw(st.booleans()):
            c = c.swapcase()
        if draw(st.booleans()) and c.isascii() and c.isalnum():
            c = chr(ord(c) + 0xFEE0)
        letters.append(c)
        if draw(st.booleans()):
            letters.append(draw(st.sampled_from(UNSEEN)))
    return "".join(letters)


def table(rows):
    return Table.of([encode_cells("q", objects(r[0] for r in rows)), encode_cells("s", objects(r[1] for r in rows))])


def achieved(rows, missing="value", attribute=None, required=REQUIRED):
    attributes = None if attribute is None else {"s": attribute}
    return [
        (g.achieved, g.n_failing)
        for g in verify(table(rows), required, ["q"], ["s"], missing=missing, attributes=attributes)
    ]


@given(ROWS, st.data(), st.sampled_from(["nominal", "prefix", "ordinal"]))
def test_another_spelling_changes_no_guarantee(rows, data, kind):
    others = [(q, data.draw(respelled(s))) for q, s in rows]
    attribute = Attribute("s", kind, "sensitive")
    assert achieved(others, attribute=attribute) == achieved(rows, attribute=attribute)


@given(ROWS, st.data(), st.sampled_from(["nominal", "prefix", "ordinal"]))
def test_the_methods_see_one_value_where_the_check_does(rows, data, kind):
    others = [(q, data.draw(respelled(s))) for q, s in rows]
    attribute = Attribute("s", kind, "sensitive")
    ranks = [rank(table(r)["s"], attribute, by_sense=True).ranks for r in (rows, others)]
    pairs = {(int(a), int(b)) for a, b in zip(*ranks, strict=True)}
    assert len(pairs) == len(set(ranks[0].tolist())) == len(set(ranks[1].tolist()))


@given(ROWS, st.data(), st.sampled_from(["value", "any"]))
def test_a_spelling_of_missing_helps_no_more_than_a_missing_cell(rows, data, missing):
    gaps = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    empty = [(q, None if gap else s) for (q, s), gap in zip(rows, gaps, strict=True)]
    spelled = [(q, data.draw(st.sampled_from(GAPS)) if gap else s) for (q, s), gap in zip(rows, gaps, strict=True)]
    assert achieved(spelled, missing) == achieved(empty, missing)


def test_the_ordered_and_the_hierarchical_distance_take_spellings_together():
    plain = [("u", "low"), ("u", "mid"), ("u", "high"), ("v", "low"), ("v", "low"), ("v", "high")]
    other = [("u", "low\u200b"), ("u", "mid"), ("u", "high"), ("v", "low"), ("v", "LOW"), ("v", "high")]
    order = Attribute("s", "ordinal", "sensitive", ("low", "low\u200b", "LOW", "mid", "high"))
    tree = Hierarchy((("low", "*"), ("low\u200b", "*"), ("LOW", "*"), ("mid", "*"), ("high", "*")))
    leaves = Attribute("s", "nominal", "sensitive", None, tree)
    for attribute, distance in ((order, "ordered"), (leaves, "hierarchical")):
        required = (TCloseness(t=0.1, distance=distance), LDiversity(l=3))
        assert achieved(other, attribute=attribute, required=required) == achieved(
            plain, attribute=attribute, required=required
        )
        ranked = [rank(table(r)["s"], attribute, by_sense=True) for r in (plain, other)]
        pairs = set(zip(ranked[0].ranks.tolist(), ranked[1].ranks.tolist(), strict=True))
        assert len(pairs) == ranked[0].n_values == ranked[1].n_values == 3
        if attribute is order:
            assert pairs == {(0, 0), (1, 1), (2, 2)}


@pytest.mark.parametrize(
    "other", ["HIV\u200b", "H\u00adIV", "hiv", "ＨＩＶ", "HIV\u00a0", "H\u200dIV", "\u202eHIV", "HIV\ufe0f"]
)
def test_a_release_cannot_be_diverse_by_what_nobody_sees(other):
    people = {"age": [30, 31, 32, 33], "disease": ["HIV", other, "HIV", other]}
    with pytest.raises(Infeasible):
        shoal.anonymize(people, shoal.Policy.of(quasi=["age"], sensitive=["disease"], k=2, l=2))


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("publish", ["generalise", "slice"])
def test_a_release_cannot_be_diverse_by_spellings_of_missing(gap, publish):
    people = {
        "age": [30, 31, 32, 33],
        "zip": ["a", "b", "a", "b"],
        "disease": ["HIV", gap, "HIV", gap],
    }
    policy = shoal.Policy.of(quasi=["age", "zip"], sensitive=["disease"], k=2, l=2, missing="any", publish=publish)
    with pytest.raises((Infeasible, PolicyError)):
        shoal.anonymize(people, policy)
