"""Buckets counted by persons: against pictures small enough to count by eye, and folders that were tampered with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.check.evidence import Evidence
from shoal.check.slices.persons import NEEDS_GROUPS, NO_SCREENS
from shoal.check.tables.publication import verify_publication
from shoal.check.verdict import Asked
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.frames import from_frame
from shoal.data.tables.slices import Layout

WHO = [0, 0, 0, 1, 2, 3, 4, 5]
ILL = ["flu", "flu", "flu", "cold", "ache", "flu", "cold", "ache"]
TOWN = list("aaaabbbb")
BUCKETS = [0, 0, 0, 0, 0, 1, 1, 1]


def verdict(model=None, *, who=WHO, buckets=BUCKETS, ill=ILL, beside=False, publish="bucketize", **given):
    """Six people in two buckets: the first has three records, all in one of them."""
    original = from_frame(pd.DataFrame({"who": who, "town": TOWN, "ill": ill}))
    slices = [["town", "ill"]] if beside else [["town"], ["ill"]]
    order = np.argsort(buckets, kind="stable")
    shown = pd.DataFrame({"bucket": np.array(buckets)[order] + 1})
    for names in slices:
        for name in names:  # turned by one within the bucket
            turn = (
                order
                if names[0] == "town"
                else np.concatenate([np.roll(order[np.array(buckets)[order] == b], 1) for b in (0, 1)])
            )
            shown[name] = np.array({"town": TOWN, "ill": ill}[name], dtype=object)[turn]
    attributes = {"town": Attribute("town", "nominal", "quasi"), "ill": Attribute("ill", "nominal", "sensitive")}
    require = shoal.Policy(require=[{"model": "k-anonymity", "k": 3}, *([model] if model else [])]).require
    asked = Asked(require, ["town"], ["ill"], attributes=attributes, layout=Layout.of(slices), counts_persons=True)
    evidence = Evidence.of(original, np.arange(8), np.array(buckets), ["who"])
    return verify_publication(from_frame(shown), publish, asked, replace(evidence, **given))


def test_buckets_are_of_persons_and_not_of_records():
    found = verdict()
    assert found.holds
    assert found.guarantees[0].achieved == 3
    assert found.guarantees[0].sentence == "Every bucket has all records of 3 persons or more (required: 3)."
    few = verdict(who=[0, 0, 0, 1, 1, 3, 4, 5])
    assert not few.holds
    assert few.guarantees[0].achieved == 2
    assert "a bucket has records of 2 persons only" in few.guarantees[0].sentence


def test_a_person_in_two_buckets_is_found():
    assert verdict(who=[0, 0, 0, 1, 2, 0, 4, 5]).findings == (
        "1 person has records in several buckets, so what these have in common can be told of them",
    )


@pytest.mark.parametrize(
    ("kind", "l", "ill", "achieved"),
    [
        ("probabilistic", 1.5, ILL, 5 / 3),  # flu: one person of three, but three records of five
        (
            "probabilistic",
            1.5,
            ["flu", "cold", "ache", "flu", "none", "flu", "cold", "ache"],
            1.5,
        ),  # two persons of three
        (
            "distinct",
            3,
            ["flu", "cold", "ache", "flu", "flu", "flu", "cold", "ache"],
            2,
        ),  # the two others have flu alone
    ],
)
def test_the_worse_of_records_and_persons_is_told(kind, l, ill, achieved):  # noqa: E741
    found = verdict({"model": "l-diversity", "l": l, "kind": kind}, ill=ill)
    assert found.guarantees[1].achieved == pytest.approx(achieved)
    assert found.holds == (achieved >= l)


def test_what_cannot_be_counted_is_said():
    assert NEEDS_GROUPS in verdict(original_groups=None).unverified
    assert NEEDS_GROUPS in verdict(original_persons=None).unverified
    assert NEEDS_GROUPS not in verdict(who=list(range(8)), original_groups=None).unverified, "each has one record"
    assert NO_SCREENS in verdict(publish="screen").unverified


def test_a_saved_release_is_counted_again(tmp_path):
    rng = np.random.default_rng(3)
    who = rng.integers(0, 60, 160)
    frame = pd.DataFrame(
        {"who": who, "born": rng.integers(1950, 1990, 60)[who], "town": rng.choice(list("abc"), 160)}
    ).assign(ill=rng.choice(list("uvwxyz"), 160))
    frame.to_csv(tmp_path / "visits.csv", index=False)
    policy = shoal.Policy.of(quasi=["born", "town"], sensitive=["ill"], person="who", k=4, l=2, publish="bucketize")
    release = shoal.anonymize(tmp_path / "visits.csv", policy, seed=1)
    assert [g.achieved >= 4 for g in release.guarantees[:1]] == [True]
    release.save(tmp_path / "out", keep=["groups"])
    original = tmp_path / "visits.csv"
    found = shoal.check(
        tmp_path / "out" / "publish", original=original, policy=policy, private=tmp_path / "out/private"
    )
    assert not found.findings, found.findings
    assert not found.unverified
    (tmp_path / "out" / "private").rename(tmp_path / "elsewhere")
    assert NEEDS_GROUPS in shoal.check(tmp_path / "out" / "publish", original=original, policy=policy).unverified


def test_what_slices_cannot_hide_is_refused():
    frame = pd.DataFrame({"who": WHO * 4, "town": TOWN * 4, "ill": ILL * 4})
    asked = {"quasi": ["town"], "sensitive": ["ill"], "person": "who", "k": 2}
    with pytest.raises(shoal.PolicyError, match="pairs rows, also two of one person; bucketize, slice, or generalise"):
        shoal.anonymize(frame, shoal.Policy.of(**asked, publish="screen", l=2))
    each_has_all = pd.DataFrame({"who": np.repeat(np.arange(8), 4), "town": TOWN * 4, "ill": ["a", "b", "c", "d"] * 8})
    strict = shoal.Policy.of(**asked, publish="bucketize").changed(
        require=[{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "kind": "probabilistic"}]
    )
    with pytest.raises(shoal.Infeasible, match="of 'ill' cannot be met by counting persons"):
        shoal.anonymize(each_has_all, strict)
