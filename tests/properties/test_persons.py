"""Whoever a policy names as the person: counted here by hand, for every partition and publication."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import Infeasible

PARTITIONS = ["mondrian", "k-member", "nearest-neighbours", "local-recoding", "mdav", "v-mdav", "curve"]
WAYS = {
    "generalise": [{"partition": p} for p in PARTITIONS]
    + [{"partition": p, "diversity": "blind"} for p in ("mondrian", "mdav")]
    + [{"partition": p, "suppression": 0.3} for p in ("full-domain", "datafly", "mondrian")],
    "aggregate": [{"partition": p} for p in PARTITIONS] + [{"restore_variance": True}, {"suppression": 0.2}],
    "condense": [{"partition": p} for p in PARTITIONS] + [{"suppression": 0.2}],
    "bucketize": [{}, {"strict": False}],
    "slice": [{}, {"slices": 3}, {"slices": [["age", "ill"], ["zip"], ["year"]]}],
}
QUASI = ["age", "zip", "year"]


def people(seed: int, n: int, n_persons: int, gaps: float, heavy: bool) -> pd.DataFrame:
    """Visits: age and town are the person's, the year is the visit's; one person may have a third of all."""
    rng = np.random.default_rng(seed)
    who = rng.integers(0, n_persons, n)
    if heavy:
        who[: n // 3] = 0
    frame = pd.DataFrame(
        {
            "who": who,
            "age": rng.integers(20, 40, n_persons)[who].astype(float),
            "zip": rng.choice(["a", "b", "c"], n_persons)[who].astype(object),
            "year": rng.integers(2000, 2004, n),
            "ill": np.where(rng.random(n) < 0.7, rng.choice(["flu", "cold", "none", "ache"], n_persons)[who], "flu"),
        }
    )
    frame.loc[rng.random(n) < gaps, "age"] = np.nan
    frame.loc[rng.random(n) < gaps, "zip"] = None
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def texts(release, names) -> pd.DataFrame:
    columns = [release.table[n] for n in names]
    return pd.DataFrame({c.name: np.array([*c.texts(), ""], dtype=object)[c.codes] for c in columns})


def n_told_apart(values_of: list[set]) -> int:
    """The most values that can be given to different persons, each to one who has it: by trying all."""
    values = sorted(set().union(*values_of))
    return max(
        sum(v in values_of[p] for v, p in zip(values, chosen, strict=False))
        for chosen in permutations(range(len(values_of)), min(len(values), len(values_of)))
    )


def assert_diverse(held: pd.DataFrame, kind: str, l: float) -> None:  # noqa: E741
    """By persons, and by records, in every group."""
    for _, group in held.groupby("group"):
        values_of = [set(v) for _, v in group.groupby("who")["ill"]]
        if kind == "distinct":
            if len({frozenset(v) for v in values_of}) < 2:
                assert n_told_apart(values_of[:5]) >= l, values_of
            else:  # two who differ have two values apart
                assert l == 2
        else:
            for value in set(group["ill"]):
                assert sum(value in v for v in values_of) * l <= len(values_of)
                assert (group["ill"] == value).sum() * l <= len(group)


@pytest.mark.parametrize("publish", list(WAYS))
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_persons_are_counted_everywhere(publish, data):
    seed, n = data.draw(st.integers(0, 2**31)), data.draw(st.integers(12, 70))
    n_persons, k = data.draw(st.integers(4, 40)), data.draw(st.integers(2, 4))
    gaps = data.draw(st.sampled_from([0.0, 0.0, 0.3]))
    way, kind = data.draw(st.sampled_from(WAYS[publish])), data.draw(st.sampled_from(["", "distinct", "probabilistic"]))
    if publish == "slice" and "slices" in way and not kind:
        kind = "distinct"
    l = 2 if kind == "distinct" else 1.3  # noqa: E741  the paper's name
    frame = people(seed, n, n_persons, gaps, data.draw(st.booleans()))
    policy = shoal.Policy.of(quasi=QUASI, sensitive=["ill"], person="who", k=k, publish=publish, singled_out=1.0, **way)
    if kind:
        policy = policy.changed(require=[*policy.require, {"model": "l-diversity", "l": l, "kind": kind}])
    if policy.method.is_recoding:
        policy = policy.changed(
            columns={"age": {"hierarchy": "auto"}, "year": {"hierarchy": "auto", "type": "continuous"}}
        )
    try:
        release = shoal.anonymize(frame, policy, seed=seed)
    except Infeasible:
        return
    assert all("who" not in name for name in release.table.names)
    rows, groups, persons = release._rows, release._groups, frame["who"].to_numpy()
    left_out = np.setdiff1d(np.arange(n), rows)
    assert set(persons[left_out]).isdisjoint(persons[rows]), "of a person all rows are published or none"
    if publish in ("generalise", "aggregate"):
        groups = texts(release, QUASI).groupby(QUASI).ngroup().to_numpy()
    held = frame.iloc[rows].assign(group=groups)
    if publish in ("bucketize", "slice"):
        assert (held.groupby("who")["group"].nunique() == 1).all(), "a person stands in one bucket"
        assert_permuted(release, held)
    assert held.groupby("group")["who"].nunique().min() >= k
    assert release.risk_after.n_below_k == 0
    if kind:
        holding = next(s.attributes for s in release.layout.slices if "ill" in s.attributes) if release.layout else ()
        beside = [held[q].astype(str) for q in QUASI if q in holding]
        assert_diverse(held.assign(group=pd.concat([held["group"].astype(str), *beside], axis=1).agg("|".join, axis=1)),
                       kind, l)  # fmt: skip
    if publish == "aggregate":
        assert_averages(release, held, k)
    if publish == "condense":
        assert_drawn(release, frame, held, k)


def assert_permuted(release, held: pd.DataFrame) -> None:
    """Each bucket publishes just the cells of its records, slice by slice."""
    spelled = texts(release, release.table.names)
    source = held.assign(year=held["year"].astype(str))
    for s in release.layout.slices:
        names = [a for a in s.attributes if a in ("year", "ill")]
        shown = Counter(zip(spelled["bucket"], *(spelled[s.column_of(a)] for a in names), strict=True))
        had = Counter(zip((source["group"] + 1).astype(str), *(source[a] for a in names), strict=True))
        assert shown == had


def assert_averages(release, held: pd.DataFrame, k: int) -> None:
    """Whatever stands in a column is of present values of k persons."""
    published = texts(release, QUASI)
    for name in ("age", "zip"):
        column = release.table[name]
        present = ~column.missing & held[name].notna().to_numpy()
        counted = pd.DataFrame({"value": published[name], "who": held["who"].to_numpy()})
        told = set(published[name][~column.missing])
        found = counted[present].groupby("value")["who"].nunique()
        assert told == set(found.index)
        assert (found >= k).all()


def assert_drawn(release, frame: pd.DataFrame, held: pd.DataFrame, k: int) -> None:
    """No value of a group in which fewer than k persons have one, and no copy of what fewer than k persons share."""
    for name in ("age", "zip"):
        shown = ~release.table[name].missing
        for group in np.unique(release._groups):
            members = held[held["group"] == group]
            if shown[release._groups == group].any():
                assert members.loc[members[name].notna(), "who"].nunique() >= k

    def spelled(age, zip_, year):
        return ("" if age == "" or pd.isna(age) else float(age)), zip_ or "", float(year)

    crowds: dict = {}
    for r in frame.itertuples():
        crowds.setdefault(spelled(r.age, r.zip, r.year), set()).add(r.who)
    published = texts(release, QUASI)
    for name in QUASI:
        published.loc[release.table[name].missing, name] = ""
    for r in published.itertuples():
        crowd = crowds.get(spelled(r.age, r.zip, r.year), set())
        assert not crowd or len(crowd) >= k
