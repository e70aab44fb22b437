"""Whoever a policy names as the person: every class holds k of them, counted here by hand from the release."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import Infeasible

WAYS = [
    {"partition": "mondrian"},
    {"partition": "mdav", "publish": "generalise"},
    {"partition": "k-member"},
    {"partition": "local-recoding"},
    {"partition": "nearest-neighbours"},
    {"partition": "v-mdav"},
    {"partition": "curve", "publish": "aggregate"},
    {"partition": "mondrian", "l": 2.0},
    {"partition": "k-member", "l": 2.0},
    {"partition": "mondrian", "diversity": "blind", "l": 2.0},
    {"partition": "datafly", "suppression": 0.5},
    {"partition": "full-domain", "suppression": 0.3},
]


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(8, 60),
    n_persons=st.integers(4, 30),
    k=st.integers(2, 4),
    way=st.sampled_from(WAYS),
)
def test_every_class_holds_k_persons(seed, n, n_persons, k, way):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "who": rng.integers(0, n_persons, n),
            "age": rng.integers(20, 30, n),
            "zip": rng.choice(["a", "b", "c"], n),
            "ill": rng.choice(["flu", "cold", "none"], n),
        }
    )
    policy = shoal.Policy.of(quasi=["age", "zip"], sensitive=["ill"], person="who", k=k, **way)
    if policy.method.is_recoding:
        policy = policy.changed(columns={"age": {"hierarchy": "auto"}})
    try:
        release = shoal.anonymize(frame, policy, seed=seed)
    except Infeasible:
        return
    assert "who" not in release.table.names
    rows, persons = release._rows, frame["who"].to_numpy()
    left_out = np.setdiff1d(np.arange(n), rows)
    assert set(persons[left_out]).isdisjoint(persons[rows]), "of a person all rows are published or none"
    columns = [release.table[q] for q in ("age", "zip")]
    published = pd.DataFrame({c.name: np.array(c.texts(), dtype=object)[c.codes] for c in columns})
    classes = published.groupby(["age", "zip"]).ngroup().to_numpy()
    held = pd.DataFrame({"class": classes, "who": persons[rows], "ill": frame["ill"].to_numpy()[rows]})
    assert held.groupby("class")["who"].nunique().min() >= k
    assert release.risk_after.n_below_k == 0
    assert release.guarantees[0].achieved >= k
