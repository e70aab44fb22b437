"""Attackers who know dates, values and labels of a person find no more persons than a release says."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.check.tables.known_history import share_found, tied_records
from shoal.check.tables.pseudonyms import apart
from shoal.errors import Infeasible


def candidates(known: Counter, labels: tuple, histories: dict, window: int) -> int:
    """How many pseudonyms have these labels, and the known rows on days that moved by one number in the window."""
    n_found = 0
    for theirs, rows in histories.values():
        if theirs == labels:
            moved = (
                Counter({(ward, day + by): n for (ward, day), n in known.items()}) for by in range(-window, window + 1)
            )
            n_found += any(not known_there - rows for known_there in moved)
    return n_found


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(6, 40),
    n_persons=st.integers(4, 20),
    span=st.sampled_from([1, 3, 30]),
    window=st.integers(1, 4),
)
def test_no_attacker_finds_more_than_is_told(seed, n, n_persons, span, window):
    rng = np.random.default_rng(seed)
    who = rng.integers(0, n_persons, n)
    frame = pd.DataFrame(
        {
            "who": who,
            "age": rng.integers(20, 24, n_persons)[who],
            "ward": rng.choice(["a", "b"], n),
            "day": rng.integers(0, span, n),
        }
    )
    policy = shoal.Policy.of(
        quasi=["age"],
        insensitive=["ward"],
        shift=["day"],
        shift_days=window,
        person="who",
        person_knowledge="history",
        keep_person=True,
        k=2,
        suppression=0.9,
        accept={"known_history": "a test", "singled_out": "a test"},
    )
    try:
        release = shoal.anonymize(frame, policy, seed=seed % 1000)
    except Infeasible:
        return
    bare, whose = apart(release.published, "who")
    everything = share_found([tied_records(bare, release.attributes, whose, ["day"])], ["ward", "day"], window)
    told = next(f for f in release.findings if f.name == "known_history")
    assert (told.share == everything) if len(told.columns) == 2 else (told.limit < told.share <= everything)
    data, before = release.data, frame.iloc[release._rows].reset_index(drop=True)
    histories = {
        name: (tuple(sorted(own["age"])), Counter(zip(own["ward"], own["day"], strict=True)))
        for name, own in data.groupby("who")
    }
    n_whole = n_part = 0
    for name, own in data.groupby("who"):
        rows = before.loc[own.index]
        part = rows[rng.random(len(rows)) < 0.5]
        labels = histories[name][0]
        n_whole += candidates(Counter(zip(rows["ward"], rows["day"], strict=True)), labels, histories, window) == 1
        n_part += candidates(Counter(zip(part["ward"], part["day"], strict=True)), labels, histories, window) == 1
    assert max(n_whole, n_part) / len(histories) <= everything + 1e-9
