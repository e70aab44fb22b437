"""Random linked tables: what is published is counted by hand, and compared with the original row by row."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import Infeasible
from tests.linked_samples import smallest_crowd

WAYS = [{}, {"partition": "k-member"}, {"partition": "mdav", "publish": "generalise"}, {"l": 2.0}, {"missing": "any"}]


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(4, 30),
    n_labs=st.integers(1, 60),
    n_visits=st.integers(1, 60),
    n_several=st.integers(0, 3),
    k=st.integers(2, 4),
    quasi=st.sampled_from([("age",), ("age", "test"), ("test", "ward"), ("age", "test", "ward", "value")]),
    way=st.sampled_from(WAYS),
)
def test_all_that_is_known_of_a_person_is_that_of_k(seed, n, n_labs, n_visits, n_several, k, quasi, way):
    rng = np.random.default_rng(seed)
    people = np.concatenate([np.arange(n), rng.integers(0, n, n_several)])
    labs, visits = rng.integers(0, n + 1, n_labs), rng.integers(0, n + 1, n_visits)  # n itself is nobody
    labs[0] = visits[0] = 0
    frames = {
        "people": pd.DataFrame({"id": people, "age": rng.integers(20, 24, len(people))}),
        "labs": pd.DataFrame(
            {
                "id": labs,
                "test": rng.choice(["x", "y", None], n_labs, p=[0.5, 0.4, 0.1]),
                "value": rng.choice(["low", "high"], n_labs),
                "day": rng.integers(-9, 9, n_labs),
            }
        ),
        "visits": pd.DataFrame({"id": visits, "ward": rng.choice(["p", "q"], n_visits)}),
    }
    roles = {c: "insensitive" for f in frames.values() for c in f.columns if c != "id"} | dict.fromkeys(quasi, "quasi")
    if "value" not in quasi:
        roles["value"] = "sensitive"
    columns = {c: {"role": role} for c, role in roles.items()}
    columns["day"] = {"shift": "person"}
    taken = {"known_history": "a test", "singled_out": "a test"}
    try:
        policy = shoal.LinkedPolicy.of(
            link="id", columns=columns, k=k, suppression=0.99, shift_days=7, accept=taken, **way
        )
        release = shoal.anonymize(frames, policy, seed=seed % 1000)
    except (Infeasible, shoal.PolicyError):
        return
    known = {name: [c for c in f.columns if c in quasi] for name, f in frames.items()}
    assert smallest_crowd(release.data, "id", {n: c for n, c in known.items() if c}) >= k
    moves: dict[int, set[int]] = {}
    names: dict[int, set[str]] = {}
    for name, frame in frames.items():
        before, after = frame.iloc[release._rows[name]].reset_index(drop=True), release.data[name]
        for who, new in zip(before["id"], after["id"], strict=True):
            names.setdefault(who, set()).add(new)
        for column in set(frame.columns) - {"id", "day", *quasi}:
            assert (before[column].fillna("-") == after[column].fillna("-")).all()
        if "day" in frame:
            for who, by in zip(before["id"], after["day"] - before["day"], strict=True):
                moves.setdefault(who, set()).add(int(by))
    assert n not in names
    assert all(len(found) == 1 for found in (*names.values(), *moves.values()))
    assert len(set().union(*names.values())) == len(names)
    assert all(abs(by) <= 7 for found in moves.values() for by in found)
