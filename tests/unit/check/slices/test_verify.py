"""The checker of sliced tables: it agrees with slow twins, and rejects what is not a slicing of the original."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from shoal.check.slices.verify import check_slices
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.slices import SlicedTable
from shoal.errors import DataError, NotVerified, PolicyError
from shoal.models.alpha_k import AlphaK
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness
from tests.unit.check.slices.honest_slices import honest
from tests.unit.check.slices.single_steps import compare_slices, verify_slices
from tests.unit.check.slices.slow_slices import ATTRIBUTES, GROUPS, Case, as_table, random_case

FORMS = list(GROUPS)
PAY_TREE = Hierarchy((("p0", "low", "*"), ("p1", "high", "*"), ("p2", "high", "*")))
RULES = [
    LDiversity(l=2),
    LDiversity(l=2, kind="probabilistic"),
    LDiversity(l=1.5, kind="entropy"),
    LDiversity(l=2, kind="recursive", c=1.5),
    TCloseness(t=0.4, distance="equal"),
    TCloseness(t=0.3, distance="ordered"),
    TCloseness(t=0.3, distance="hierarchical"),
    AlphaK(alpha=0.6, k=2),
    BetaLikeness(beta=0.8, kind="basic"),
    BetaLikeness(beta=0.8),
]


def slow_measure(rule, p, q):
    """What a belief p reaches against the whole table q, and whether it fails; both are fractions by value."""
    values = sorted(q)
    if isinstance(rule, LDiversity):
        if rule.kind == "distinct":
            return len(p), len(p) < rule.l
        if rule.kind == "probabilistic":
            return 1 / max(p.values()), max(p.values()) > Fraction(1, int(rule.l))
        if rule.kind == "entropy":
            h = math.exp(-sum(float(x) * math.log(x) for x in p.values()))
            return h, h < rule.l - 1e-9
        r = sorted(p.values(), reverse=True)
        c = Fraction(r[0]) / sum(r[int(rule.l) - 1 :]) if len(r) >= rule.l else math.inf
        return c, not c < rule.c
    if isinstance(rule, TCloseness):
        if rule.distance == "equal":
            d = sum(abs(p.get(v, 0) - q[v]) for v in values) / 2
        elif rule.distance == "ordered":
            sums = [sum(p.get(w, 0) - q[w] for w in values[: i + 1]) for i in range(len(values))]
            d = sum(map(abs, sums)) / max(1, len(values) - 1)
        else:
            extra = {v: p.get(v, 0) - q.get(v, 0) for v in ("p0", "p1", "p2")}
            within = min(sum(max(extra[v], 0) for v in ("p1", "p2")), sum(max(-extra[v], 0) for v in ("p1", "p2")))
            across = abs(extra["p0"])
            d = within / 2 + across
        return d, d > Fraction(str(rule.t))
    if isinstance(rule, AlphaK):
        return max(p.values()), max(p.values()) > Fraction(str(rule.alpha))
    gain = {v: p[v] / q[v] - 1 for v in p}
    bound = {v: min(rule.beta, -math.log(q[v])) if rule.kind == "enhanced" else rule.beta for v in p}
    return max(0, *gain.values()), any(gain[v] > bound[v] + 1e-9 for v in p)


@pytest.mark.parametrize("form", FORMS)
def test_every_model_agrees_with_fractions(form):
    attributes = ATTRIBUTES | {"pay": replace(ATTRIBUTES["pay"], hierarchy=PAY_TREE)}
    for seed in range(25):
        rng = np.random.default_rng([seed, 7])
        case = random_case(rng, GROUPS[form], 1 + seed % 3, generalise=form == "screen", attributes=attributes)
        q = {v: Fraction(n, len(case.records)) for v, n in Counter(r["pay"] for r in case.records).items()}
        table = case.published(rng)
        found = verify_slices(SlicedTable(table, case.layout, attributes), RULES, original=case.original, form=form)
        slow_beliefs = [{s[0]: x for s, x in case.belief(r).items()} for r in case.records]
        for rule, made in zip(RULES, found, strict=True):
            slow = [slow_measure(rule, p, q) for p in slow_beliefs]
            low = isinstance(rule, LDiversity) and rule.kind != "recursive"
            assert made.achieved == pytest.approx(float((min if low else max)(v for v, _ in slow)), abs=1e-9), rule
            assert (made.n_failing > 0) == any(fails for _, fails in slow), rule
            if not isinstance(rule, AlphaK):
                assert made.holds != any(fails for _, fails in slow)


def slow_k(case, form, missing="value"):
    if form != "screen":
        return min(map(len, case.buckets))
    sizes = []
    for i in range(len(case.groups)):
        for members in case.buckets:
            regions = Counter(
                tuple(c for n, c in case.cells[i][j].items() if case.attributes[n].role == "quasi") for j in members
            )
            sizes += [1 if missing == "any" and None in region else n for region, n in regions.items()]
    return min(sizes)


@pytest.mark.parametrize("form", FORMS)
def test_k_is_the_least_bucket_or_region(form):
    for seed in range(20):
        rng = np.random.default_rng([seed, 8])
        case = random_case(rng, GROUPS[form], 3, sizes=(3, 9), generalise=form == "screen", n_values=1)
        (made,) = verify_slices(SlicedTable(case.published(rng), case.layout, ATTRIBUTES), [KAnonymity(k=3)], form=form)
        assert made.achieved == slow_k(case, form)
        assert made.holds == (made.achieved >= 3)


def test_a_missing_cell_that_may_hide_any_value_hides_nobody():
    records = [{"age": None, "pay": f"p{i}"} for i in range(4)]
    attributes = {n: ATTRIBUTES[n] for n in ("age", "pay")}
    case = Case(records, [[0, 1, 2, 3]], [["age", "pay"]], lambda i, j, n, v: v, attributes)
    table = case.published(np.random.default_rng(0))
    for missing, k in (("value", 4), ("any", 1)):
        (made,) = verify_slices(
            SlicedTable(table, case.layout, attributes), [KAnonymity(k=2)], form="screen", missing=missing
        )
        assert made.achieved == k


def test_a_missing_value_matches_everything_if_it_may_be_any():
    records = [{"age": a, "pay": p} for a, p in (("20", "p0"), ("20", "p1"), (None, "p2"), ("30", "p2"))]
    attributes = {n: ATTRIBUTES[n] for n in ("age", "pay")}
    case = Case(records, [[0, 1], [2, 3]], [["age"], ["pay"]], lambda i, j, n, v: v, attributes)
    table = case.published(np.random.default_rng(0))
    rule = [LDiversity(l=2)]
    by_value, by_any = (
        verify_slices(
            SlicedTable(table, case.layout, attributes), rule, original=case.original, form="bucketize", missing=m
        )[0]
        for m in ("value", "any")
    )
    assert by_value.achieved == 1  # the bucket of 30 and missing holds p2 alone
    assert not by_value.holds
    assert by_any.n_classes > by_value.n_classes - 1
    assert by_any.achieved == 1  # 30 still stands in that bucket only


# The paper's Table 1a, the printed Table 1c and a corrected one.
PEOPLE = [
    dict(zip(("sex", "zip", "age", "occupation", "salary"), r.split(), strict=True))
    for r in (
        "F 40178 26 nurse 10000",
        "F 40277 30 nurse 12000",
        "M 40276 32 police 8000",
        "F 40175 51 cook 9000",
        "F 40385 28 engineer 20000",
        "M 40485 43 engineer 23000",
        "M 40286 50 clerk 8000",
        "M 40267 48 clerk 11000",
    )
]
MEANING = {
    "sex": Attribute("sex", "nominal", "quasi"),
    "zip": Attribute("zip", "prefix", "quasi"),
    "age": Attribute("age", "continuous", "quasi"),
    "occupation": Attribute("occupation", "nominal", "quasi"),
    "salary": Attribute("salary", "nominal", "sensitive"),
}
BUCKETS = [[0, 1, 2, 4], [3, 5, 6, 7]]
SLICES = [["age", "sex", "salary"], ["zip", "occupation", "salary"]]
PRINTED = {
    0: ("401**", "{engineer, police}"),
    1: ("402**", "{engineer, nurse}"),
    2: ("402**", "{nurse, police}"),
    4: ("403**", "{engineer, police}"),
    3: ("401**", "{cook, engineer}"),
    5: ("404**", "{clerk, engineer}"),
    6: ("402**", "{clerk, engineer}"),
    7: ("402**", "{clerk, cook}"),
}
CORRECTED = {
    0: ("40***", "{engineer, nurse, police}"),
    1: ("40***", "{engineer, nurse, police}"),
    2: ("40***", "{engineer, nurse, police}"),
    4: ("40***", "{engineer, nurse, police}"),
    3: ("40***", "{clerk, cook, engineer}"),
    5: ("40***", "{clerk, cook, engineer}"),
    6: ("402**", "clerk"),
    7: ("402**", "clerk"),
}
ASKED = [KAnonymity(k=2), LDiversity(l=2, kind="probabilistic")]


def paper_case(second):
    def label(i, j, name, value):
        if name in ("age", "sex"):
            return "*" if name == "sex" else "[26..32]" if j in BUCKETS[0] else "[43..51]"
        return second[j][0 if name == "zip" else 1]

    return Case(PEOPLE, BUCKETS, SLICES, label, MEANING)


def test_the_corrected_table_1_passes():
    case = paper_case(CORRECTED)
    made = check_slices(
        SlicedTable(case.published(np.random.default_rng(1)), case.layout, MEANING),
        ASKED,
        original=case.original,
        form="screen",
    )
    assert made.findings == ()
    assert made.holds, [str(g) for g in made.guarantees]


def test_the_printed_table_1c_is_rejected_and_the_check_says_why():
    case = paper_case(PRINTED)
    made = check_slices(
        SlicedTable(case.published(np.random.default_rng(1)), case.layout, MEANING),
        ASKED,
        original=case.original,
        form="screen",
        rows=case.rows,
        buckets=case.bucket_of_row,
    )
    k, l = made.guarantees  # noqa: E741  the paper's name
    assert not k.holds
    assert k.achieved == 1
    assert {"bucket": "1", "zip": "401**", "occupation": "{engineer, police}"} in [w.values for w in k.worst]
    assert "stands in 1 row only" in k.sentence
    assert not l.holds
    # Alice's row lists no nurse, so that no label of her bucket covers her.
    assert any("slice 2" in f and "no label in their bucket that covers" in f for f in made.findings)


def test_the_join_is_caught_where_the_occupations_are_mended():
    """401** in one row discloses its owner's salary although the bucket holds four."""
    mended = PRINTED | {0: ("401**", "{nurse, police}"), 4: ("403**", "{engineer, nurse}")}
    mended |= {1: ("402**", "{engineer, nurse}"), 2: ("402**", "{nurse, police}")}
    case = paper_case(mended)
    table = case.published(np.random.default_rng(1))
    options = {"original": case.original, "form": "screen"}
    assert compare_slices(SlicedTable(table, case.layout, MEANING), case.original, form="screen") == []
    (l,) = verify_slices(SlicedTable(table, case.layout, MEANING), ASKED[1:], **options)  # noqa: E741  the paper's name
    assert l.achieved == 1
    assert not l.holds
    assert l.worst[0].values["zip"] in ("401**", "403**", "404**", "402**")


def test_suppressed_records_are_no_finding_and_cannot_be_blamed():
    case, rng = honest("screen", 2)
    table = case.published(rng)
    more = [*case.records, {"age": "99", "job": "a", "zip": "x", "pay": "p0"}]
    original = as_table([tuple(r.values()) for r in more], case.names)
    assert compare_slices(SlicedTable(table, case.layout, ATTRIBUTES), original, form="screen") == []
    rule = [LDiversity(l=2)]
    assert check_slices(SlicedTable(table, case.layout, ATTRIBUTES), rule, original=original, form="screen").holds
    twin = as_table([tuple(r.values()) for r in [*more, *more[:2]]], case.names)
    assert check_slices(SlicedTable(table, case.layout, ATTRIBUTES), rule, original=twin, form="screen").findings == ()


def test_what_only_a_suppressed_record_breaks_is_left_open():
    records = [
        {"age": a, "job": j, "pay": p}
        for a, j, p in (("20", "a", "p0"), ("20", "a", "p1"), ("30", "b", "p0"), ("30", "b", "p2"))
    ]
    attributes = {n: ATTRIBUTES[n] for n in ("age", "job", "pay")}
    case = Case(records, [[0, 1, 2, 3]], [["age", "pay"], ["job", "pay"]], lambda i, j, n, v: v, attributes)
    table = case.published(np.random.default_rng(0))
    odd = as_table([tuple(r.values()) for r in [*records, {"age": "20", "job": "b", "pay": "p0"}]], case.names)
    rule = [LDiversity(l=2)]
    open_ = check_slices(SlicedTable(table, case.layout, attributes), rule, original=odd, form="screen")
    assert open_.guarantees == ()
    assert "suppressed" in open_.unverified[0]
    assert not open_.holds
    sure = check_slices(
        SlicedTable(table, case.layout, attributes), rule, original=odd, form="screen", rows=np.arange(4)
    )
    assert sure.guarantees[0].holds


def test_without_the_original_what_holds_for_all_combinations_is_shown():
    case, rng = honest("screen", 4)
    table = case.published(rng)
    found = check_slices(SlicedTable(table, case.layout, ATTRIBUTES), [KAnonymity(k=3), *RULES[:2]], form="screen")
    assert [g.holds for g in found.guarantees] == [True, True, True]
    assert found.holds
    too_much = check_slices(
        SlicedTable(table, case.layout, ATTRIBUTES), [LDiversity(l=3, kind="entropy")], form="screen"
    )
    with_it = check_slices(
        SlicedTable(table, case.layout, ATTRIBUTES),
        [LDiversity(l=3, kind="entropy")],
        original=case.original,
        form="screen",
    )
    assert too_much.guarantees == () or too_much.guarantees[0].holds == with_it.guarantees[0].holds
    open_ = check_slices(SlicedTable(table, case.layout, ATTRIBUTES), [LDiversity(l=4)], form="screen")
    assert open_.guarantees == ()
    assert "original" in open_.unverified[0]
    assert not open_.holds


@pytest.mark.parametrize("form", FORMS)
def test_what_is_shown_without_the_original_is_true_with_it(form):
    n_shown = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 13])
        if form == "screen":
            case, _ = honest(form, seed, n_buckets=1 + seed % 3)
        else:
            case = random_case(rng, GROUPS[form], 1 + seed % 3, sizes=(4, 9), generalise=False, n_values=2)
        table = case.published(rng)
        for g in verify_slices(SlicedTable(table, case.layout, ATTRIBUTES), RULES[:2], form=form):
            if not g.holds:
                continue
            n_shown += 1
            rule = RULES[0] if g.kind == "distinct" else RULES[1]
            (exact,) = verify_slices(
                SlicedTable(table, case.layout, ATTRIBUTES), [rule], original=case.original, form=form
            )
            assert exact.holds
            assert exact.achieved >= g.achieved - 1e-9
    assert n_shown > 0


TWO = ATTRIBUTES | {"ill": Attribute("ill", "nominal", "sensitive")}


def test_sensitive_attributes_one_by_one_and_jointly():
    records = [{"age": "20", "pay": p, "ill": i} for p, i in (("p0", "i0"), ("p1", "i0"), ("p2", "i0"))]
    attributes = {n: TWO[n] for n in ("age", "pay", "ill")}
    case = Case(records, [[0, 1, 2]], [["age"], ["pay", "ill"]], lambda i, j, n, v: v, attributes)
    table = case.published(np.random.default_rng(0))
    options = {"original": case.original, "form": "bucketize"}
    apart = verify_slices(SlicedTable(table, case.layout, attributes), [LDiversity(l=2)], **options)
    assert [(g.sensitive, g.achieved) for g in apart] == [("pay", 3), ("ill", 1)]
    (joint,) = verify_slices(SlicedTable(table, case.layout, attributes), [LDiversity(l=2)], jointly=True, **options)
    assert (joint.sensitive, joint.achieved) == ("pay, ill", 3)


@pytest.mark.parametrize(
    ("form", "groups", "says"),
    [
        ("slice", [["age", "pay"], ["zip", "job", "pay"]], "2 slices where one"),
        ("screen", [["age"], ["zip", "job", "pay"]], "lacks the sensitive"),
        ("bucketize", [["age"], ["zip", "job", "pay"]], "alone in one"),
        ("slice", [["age"], ["age", "zip", "job", "pay"]], "stands in 2 slices"),
    ],
)
def test_slices_of_another_form_are_refused(form, groups, says):
    rng = np.random.default_rng(0)
    case = random_case(rng, groups, 2, generalise=False)
    with pytest.raises(NotVerified, match=says):
        verify_slices(SlicedTable(case.published(rng), case.layout, ATTRIBUTES), [KAnonymity(k=2)], form=form)
    found = check_slices(SlicedTable(case.published(rng), case.layout, ATTRIBUTES), [KAnonymity(k=2)], form=form)
    assert not found.holds
    assert says in found.findings[0]


def test_a_slice_with_other_sensitive_values_is_refused():
    case, rng = honest("screen", 5)
    table = case.published(rng)
    column = table["pay@1"]
    places = np.arange(table.n_rows)
    other = next(r for r in range(6, table.n_rows) if column.codes[r] != column.codes[0])
    places[[0, other]] = other, 0
    changed = table.with_columns({"pay@1": column.take(places)})
    with pytest.raises(NotVerified, match="different sensitive values"):
        verify_slices(SlicedTable(changed, case.layout, ATTRIBUTES), [KAnonymity(k=2)], form="screen")


def test_labels_that_cannot_be_read_are_not_passed_over():
    case, rng = honest("screen", 6)
    table = case.published(rng)
    values = table["age"].values.copy()
    values[0] = "about thirty"
    changed = table.with_columns({"age": replace(table["age"], values=values)})
    with pytest.raises(NotVerified, match="cannot be read"):
        verify_slices(
            SlicedTable(changed, case.layout, ATTRIBUTES), [LDiversity(l=2)], original=case.original, form="screen"
        )
    found = check_slices(
        SlicedTable(changed, case.layout, ATTRIBUTES), [LDiversity(l=2)], original=case.original, form="screen"
    )
    assert not found.holds
    assert "thirty" not in " ".join(found.findings)


def test_bad_questions_are_refused():
    case, rng = honest("screen", 7)
    table = case.published(rng)
    with pytest.raises(PolicyError, match="not a sensitive column"):
        verify_slices(SlicedTable(table, case.layout, ATTRIBUTES), [LDiversity(l=2, sensitive="age")], form="screen")
    broken = table.with_columns(
        {"bucket": replace(table["bucket"], values=np.array(["a", "b", "c", "d"], dtype=object))}
    )
    with pytest.raises(DataError, match="number the buckets"):
        verify_slices(SlicedTable(broken, case.layout, ATTRIBUTES), [KAnonymity(k=2)], form="screen")


def test_guarantees_of_raw_values_quote_none():
    case, rng = honest("slice", 8)
    found = verify_slices(
        SlicedTable(case.published(rng), case.layout, ATTRIBUTES),
        [KAnonymity(k=2), *RULES[:2]],
        original=case.original,
        form="slice",
    )
    assert {n for g in found for w in g.worst for n in w.values} == {"bucket"}
