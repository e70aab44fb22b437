"""Rows of several providers: what any coalition is left with in a release, counted here by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import Infeasible

WAYS = [
    {"partition": "mondrian"},
    {"partition": "mondrian", "suppression": 0.3},
    {"partition": "mondrian", "diversity": "blind"},
    {"partition": "mdav", "publish": "generalise"},
    {"partition": "local-recoding"},
    {"partition": "full-domain", "suppression": 0.3},
    {"partition": "datafly", "suppression": 0.2},
]
KINDS = [None, ("distinct", 2), ("probabilistic", 1.5), ("t", 0.5)]


def drawn(seed: int, n: int, n_providers: int, even: float) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_providers, even))
    return pd.DataFrame(
        {
            "age": rng.integers(20, 50, n),
            "town": rng.choice(["x", "y", "z"], n),
            "ill": rng.choice(["flu", "cold", "ache", "none"], n),
            "from": rng.choice([f"h{i}" for i in range(n_providers)], n, p=shares),
            "who": [f"p{i}" for i in rng.integers(0, n, n)],
        }
    )


def assert_holds(values: np.ndarray, rest: np.ndarray, kind: str, parameter: float) -> None:
    if kind == "distinct":
        assert len(set(values)) >= parameter
    elif kind == "probabilistic":
        assert max((values == v).sum() for v in set(values)) * parameter <= len(values)
    else:
        apart = sum(abs((values == v).mean() - (rest == v).mean()) for v in set(rest)) / 2
        assert apart <= parameter + 1e-9


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_every_coalition_is_left_with_enough(way, data):
    seed, n = data.draw(st.integers(0, 2**31)), data.draw(st.integers(30, 90))
    n_providers, coalition = data.draw(st.integers(3, 6)), data.draw(st.integers(1, 3))
    k, kind, by_person = data.draw(st.integers(2, 4)), data.draw(st.sampled_from(KINDS)), data.draw(st.booleans())
    frame = drawn(seed, n, n_providers, data.draw(st.sampled_from([1.0, 20.0])))
    policy = shoal.Policy.of(
        quasi=["age", "town"],
        sensitive=["ill"],
        k=k,
        provider="from",
        coalition=coalition,
        singled_out=1.0,
        **({"person": "who"} if by_person else {"identifying": ["who"]}),
        **way,
    )
    if kind is not None:
        asked = {"model": "t-closeness", "t": kind[1]} if kind[0] == "t" else None
        asked = asked or {"model": "l-diversity", "kind": kind[0], "l": kind[1]}
        policy = policy.changed(require=[*policy.require, asked])
    try:
        release = shoal.anonymize(frame, policy, seed=seed)
    except Infeasible:
        return
    assert "from" not in release.table.names
    made = release.data
    rows = release._rows
    classes = (made["age"].astype(str) + "|" + made["town"].astype(str)).to_numpy()
    whose, ill = frame["from"].to_numpy()[rows], made["ill"].to_numpy()
    who = frame["who"].to_numpy()[rows] if by_person else np.arange(len(rows))
    least = len(rows)
    for size in range(coalition + 1):
        for members in combinations(sorted(set(frame["from"])), size):
            rest = ~np.isin(whose, members)
            for one in set(classes.tolist()):
                left = rest & (classes == one)
                least = min(least, len(set(who[left].tolist())))
                assert len(set(who[left].tolist())) >= k, (members, one)
                if kind is not None:
                    assert_holds(ill[left], ill[rest], *kind)
    assert release.guarantees[0].achieved == least
