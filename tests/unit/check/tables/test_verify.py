"""The whole check: which guarantees come out, in what words, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check import verify
from shoal.check.tables.verify import default_distance
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.errors import DataError, PolicyError
from shoal.kinds.tables.policy import AlphaK, BetaLikeness, KAnonymity, LDiversity, TCloseness
from tests.unit.check.tables.slow_check import table

HOSPITAL = table(
    age=["20-29"] * 5 + ["30-39"] * 5 + ["40-49"] * 5,
    zip=["130**"] * 5 + ["1485*"] * 5 + ["130**"] * 5,
    disease=["heart", "viral", "viral", "cancer", "heart"] * 2 + ["cancer"] * 5,
    ward=["n", "s"] * 7 + ["n"],
)
QUASI = ["age", "zip"]


def test_one_guarantee_for_each_requirement_and_sensitive_column():
    required = [KAnonymity(k=5), LDiversity(l=2), AlphaK(alpha=0.5, k=2, sensitive="ward")]
    found = verify(HOSPITAL, required, QUASI, ["disease", "ward"])
    assert [(g.model, g.kind, g.sensitive) for g in found] == [
        ("k-anonymity", "", ""),
        ("l-diversity", "distinct", "disease"),
        ("l-diversity", "distinct", "ward"),
        ("alpha-k", "", "ward"),
    ]
    assert [g.holds for g in found] == [True, False, True, False]
    assert [g.n_failing for g in found] == [0, 1, 0, 3]


def test_worst_classes_are_named_failing_ones_first():
    found = verify(HOSPITAL, [LDiversity(l=2)], QUASI, ["disease"])[0]
    assert [(w.values, w.size, w.achieved) for w in found.worst] == [
        ({"age": "40-49", "zip": "130**"}, 5, 1.0),
        ({"age": "20-29", "zip": "130**"}, 5, 3.0),
        ({"age": "30-39", "zip": "1485*"}, 5, 3.0),
    ]


def test_at_most_five_worst_classes_and_small_ones_first():
    sizes = [4, 2, 3, 2, 9, 1, 8]
    cells = [f"c{i}" for i, n in enumerate(sizes) for _ in range(n)]
    found = verify(table(a=cells), [KAnonymity(k=3)], ["a"])[0]
    assert [(w.values["a"], w.size) for w in found.worst] == [
        ("c5", 1),
        ("c1", 2),
        ("c3", 2),
        ("c2", 3),
        ("c0", 4),
    ]
    # a class that fails by its size comes before one with a larger share that holds
    t = table(a=["p"] * 4 + ["q"] * 2, s=["u", "u", "u", "v", "u", "v"])
    found = verify(t, [AlphaK(alpha=0.8, k=3)], ["a"], ["s"])[0]
    assert [w.values["a"] for w in found.worst] == ["q", "p"]
    assert (found.achieved, found.n_failing) == (0.75, 1)


def test_of_classes_that_achieve_the_same_the_smaller_is_worse():
    t = table(a=["p"] * 4 + ["q"] * 2 + ["r"] * 3, s=["u", "v", "u", "v", "u", "v", "u", "v", "u"])
    found = verify(t, [LDiversity(l=2)], ["a"], ["s"])[0]
    assert [(w.values["a"], w.achieved) for w in found.worst] == [("q", 2), ("r", 2), ("p", 2)]


def test_a_missing_quasi_identifier_that_may_hide_any_value_does_not_hide_its_record():
    t = table(a=[None, None, "x", "x"], s=["u", "v", "u", "v"])
    required = [KAnonymity(k=2), LDiversity(l=2), TCloseness(t=0.1)]
    assert [g.holds for g in verify(t, required, ["a"], ["s"])] == [True, True, True]
    assert [g.n_failing for g in verify(t, required, ["a"], ["s"], missing="any")] == [2, 2, 2]


def test_a_hierarchy_knows_numbers_by_their_spelling():
    tree = Hierarchy((("1.0", "low", "*"), ("2.0", "low", "*"), ("30", "high", "*")))
    t = table(a=["p"] * 3 + ["q"] * 3, s=["1.0", "2.0", "30", "2.0", "2.0", "30"])
    found = verify(
        t,
        [TCloseness(t=0.5)],
        ["a"],
        ["s"],
        attributes={"s": Attribute("s", "continuous", "sensitive", hierarchy=tree)},
    )[0]
    # a sixth of the mass moves between siblings, at half the height
    assert found.achieved == pytest.approx(1 / 12)


@pytest.mark.parametrize(
    ("required", "sentence"),
    [
        (
            KAnonymity(k=5),
            "Every record shares its published quasi-identifiers with at least 4 others (required: 4).",
        ),
        (
            KAnonymity(k=6),
            "k-anonymity fails in 3 of 3 groups of records that look alike: some records share their "
            "published quasi-identifiers with only 4 others (required: 5).",
        ),
        (
            LDiversity(l=2),
            "Distinct l-diversity fails in 1 of 3 groups of records that look alike: a group holds only"
            " 1 different value of 'disease' (required: 2).",
        ),
        (
            LDiversity(l=2, kind="recursive", c=1),
            "Recursive l-diversity fails in 1 of 3 groups of records that look alike: a group has fewer"
            " than 2 different values of 'disease'.",
        ),
        (
            LDiversity(l=2, kind="recursive", c=1.5, sensitive="ward"),
            "Recursive l-diversity fails in 3 of 3 groups of records that look alike: a group has its "
            "most frequent value of 'ward' 1.5 times as often as all from the 2nd most frequent on "
            "together (required: less than 1.5 times).",
        ),
        (
            LDiversity(l=1.5, kind="probabilistic", sensitive="ward"),
            "Every group of records that look alike shows no value of 'ward' more often than in 1 of "
            "1.6667 records (allowed: 1 of 1.5).",
        ),
        (
            LDiversity(l=1.9, kind="entropy", sensitive="ward"),
            "Every group of records that look alike leaves 'ward' at least as uncertain as 1.9601 "
            "equally likely values do (required: 1.9).",
        ),
        (
            TCloseness(t=0.2, sensitive="ward"),
            "In every group of records that look alike, the values of 'ward' are distributed as in the "
            "whole table up to 0.1333 (equal distance, between 0 and 1; allowed: 0.2).",
        ),
        (
            AlphaK(alpha=0.5, k=2),
            "(alpha, k)-anonymity fails in 1 of 3 groups of records that look alike: the smallest group"
            " has 5 of the 2 required records, and a value of 'disease' makes up as much as the share 1"
            " of a group (allowed: 0.5).",
        ),
        (
            BetaLikeness(beta=1, kind="basic"),
            "Basic beta-likeness fails in 1 of 3 groups of records that look alike: a value of "
            "'disease' is more frequent in a group than in the whole table by 114.2857 % (allowed: 100 "
            "%).",
        ),
    ],
)
def test_sentences(required, sentence):
    found = verify(HOSPITAL, [required], QUASI, ["disease"])[0]
    assert found.sentence == sentence
    assert str(found).startswith("holds: " if found.holds else "FAILS: ")


def test_sentence_of_a_lonely_record_and_of_pairs():
    assert "with no other (required: 1)" in verify(table(a=["x", "y", "y"]), [KAnonymity(k=2)], ["a"])[0].sentence
    assert "at least 1 other (required: 1)" in verify(table(a=["y", "y"]), [KAnonymity(k=2)], ["a"])[0].sentence


def test_changing_one_cell_is_caught():
    assert verify(HOSPITAL, [KAnonymity(k=5)], QUASI)[0].holds
    cells = HOSPITAL["age"].cells().tolist()
    cells[7] = "20-29"
    edited = table(age=cells, zip=HOSPITAL["zip"].cells().tolist())
    found = verify(edited, [KAnonymity(k=5)], QUASI)[0]
    assert (found.holds, found.achieved, found.n_failing) == (False, 1, 2)
    assert found.worst[0].values == {"age": "20-29", "zip": "1485*"}


@pytest.mark.parametrize(
    ("attribute", "distance"),
    [
        (None, "equal"),
        (Attribute("s", "nominal", "sensitive"), "equal"),
        (Attribute("s", "prefix", "sensitive"), "equal"),
        (Attribute("s", "ordinal", "sensitive"), "ordered"),
        (Attribute("s", "continuous", "sensitive"), "ordered"),
        (Attribute("s", "date", "sensitive"), "ordered"),
        (Attribute("s", "continuous", "sensitive", hierarchy=Hierarchy((("1", "*"),))), "hierarchical"),
    ],
)
def test_default_distance(attribute, distance):
    assert default_distance(attribute) == distance


def test_refusals_name_what_is_wrong():
    with pytest.raises(PolicyError, match="no quasi-identifier"):
        verify(HOSPITAL, [KAnonymity(k=2)], [])
    with pytest.raises(PolicyError, match="l-diversity needs a sensitive column"):
        verify(HOSPITAL, [KAnonymity(k=2), LDiversity(l=2)], QUASI)
    with pytest.raises(DataError, match="'diseas'; did you mean 'disease'"):
        verify(HOSPITAL, [LDiversity(l=2, sensitive="diseas")], QUASI)
    with pytest.raises(DataError, match="'agee'"):
        verify(HOSPITAL, [KAnonymity(k=2)], ["agee"])
    with pytest.raises(PolicyError, match="'disease' needs a hierarchy"):
        verify(HOSPITAL, [TCloseness(t=0.5, distance="hierarchical")], QUASI, ["disease"])
    with pytest.raises(DataError, match="nothing would be published"):
        verify(HOSPITAL.take(np.array([], dtype=np.intp)), [KAnonymity(k=2)], QUASI)
