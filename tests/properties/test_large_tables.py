"""What holds of releases of large tables, shown on small ones that are taken for large."""

from __future__ import annotations

from collections import Counter
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.tables import blocks

QUASI = ("age", "income", "town", "grade", "same", "zip")
GRADES = ("low", "middle", "high")


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[str]]:
    """Mixed columns with ties, gaps, a long tail, and one in which all are equal."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(12, 120))
    n_ages = draw(st.sampled_from([1, 3, 60]))
    columns: dict[str, Any] = {
        "age": rng.integers(0, n_ages, n_rows),
        "income": np.rint(np.exp(draw(st.sampled_from([0, 1, 4])) * rng.normal(size=n_rows))).astype(int),
        "town": rng.choice(["a", "b", "c"], n_rows),
        "grade": rng.choice(GRADES, n_rows),
        "same": np.full(n_rows, 7),
        "zip": rng.choice(["48101", "48102", "99999"], n_rows),
        "note": rng.integers(0, 9, n_rows),
    }
    gaps = draw(st.sampled_from([0.0, 0.2, 0.9]))
    table = {n: ["" if n != "note" and rng.random() < gaps else str(v) for v in c] for n, c in columns.items()}
    for name, column in table.items():
        column[0] = str(columns[name][0])  # a column without any value cannot be averaged
    return table


@st.composite
def policies(draw: st.DrawFn) -> shoal.Policy:
    """Any method that looks at all records at once; a table of more than `block_rows` is a large one."""
    chosen = draw(st.sets(st.sampled_from(QUASI), min_size=1))
    types = {
        "age": {"type": "continuous"},
        "income": {"type": "continuous"},
        "same": {"type": "continuous"},
        "town": {"type": "nominal"},
        "grade": {"order": GRADES},
        "zip": {"type": "prefix"},
    }
    roles = {n: {"role": "quasi" if n in chosen else "insensitive", **t} for n, t in types.items()}
    policy = shoal.Policy(
        columns={**roles, "note": {"role": "insensitive"}},
        require=[{"model": "k-anonymity", "k": draw(st.integers(2, 6))}],
        limits={"singled_out": 1.0},
        missing=draw(st.sampled_from(["value", "any"])),
        method={
            "partition": draw(st.sampled_from(["mdav", "v-mdav", "k-member", "nearest-neighbours"])),
            "publish": draw(st.sampled_from(["aggregate", "generalise"])),
        },
    )
    small = policy.method.model_copy(update={"block_rows": draw(st.sampled_from([1, 5, 10, 11]))})
    return policy.model_copy(update={"method": small})  # fewer than a policy file may say


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), policies(), st.sampled_from([1, 10]), st.randoms(use_true_random=False))
def test_large_tables_keep_every_promise(table, policy, larger, random) -> None:
    order, names = list(range(len(table["age"]))), list(table)
    random.shuffle(order)
    random.shuffle(names)
    shuffled = {n: [table[n][i] for i in order] for n in names}
    with patch.multiple(blocks, LARGER=larger, SAMPLE=40, SAMPLE_BLOCK=10):
        try:
            release = shoal.anonymize(table, policy, seed=1)
        except shoal.Infeasible as error:
            if "an average of so few would reveal single ones" not in str(error):
                raise
            return
        again = shoal.anonymize(shuffled, policy, seed=1)
    assert all(g.holds for g in release.guarantees)
    quasi = [n for n, c in policy.columns.items() if c.role == "quasi"]
    assert min(Counter(zip(*(release.data[n] for n in quasi), strict=True)).values()) >= policy.k
    assert release.records == {"in": len(order), "out": len(order), "suppressed": 0}
    assert sorted(release.data["note"]) == sorted(table["note"])
    told = [note for note in release.notes if f"exact {policy.method.partition}'s" in note]
    assert len(told) == 1
    assert again.notes == release.notes
    for name in table:
        assert list(again.data[name]) == list(release.data[name]), name
