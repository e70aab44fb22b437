"""Any sequence of updates keeps the guarantee over every set of releases, by brute force."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import Infeasible
from tests.series_samples import QUASI, classes, fewest_candidates, fewest_values, people, policy, values

updates = st.lists(
    st.tuples(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 0.4, 0.8]), st.integers(0, 25)),
    min_size=1,
    max_size=3,
)


def sequence(start: int, changes: list[tuple[int, float, int]]) -> list[list[int]]:
    """Who is in each release: a share leaves at random, some come for the first time, some of those who left return."""
    import numpy as np

    everybody = [list(range(start))]
    n_known = start
    for seed, leaving, coming in changes:
        rng = np.random.default_rng(seed)
        now = [i for i in everybody[-1] if rng.random() >= leaving]
        gone = sorted(set(range(n_known)) - set(everybody[-1]))
        back = [i for i in gone if rng.random() < 0.5]
        everybody.append(sorted({*now, *back, *range(n_known, n_known + coming)}))
        n_known += coming
    return everybody


def several_rows(ids, year):
    """The same people, some of them with two rows that differ, and a panel that some of them change."""
    data = people([i for i in ids for _ in range(1 + (i + year) % 3 // 2)], year)
    data["town"] = [town + row % 2 for row, town in enumerate(data["town"])]
    data["panel"] = ["a" if (int(who[1:]) + year) % 5 < 2 else "b" for who in data["id"]]
    return data


def released(everybody, *policies, people=people):
    """All releases that could be made, one after the other; one that cannot be is left out of the series."""
    made = []
    with TemporaryDirectory() as folder:
        after = None
        for year, ids in enumerate(everybody):
            data, asked = people(ids, year), policies[year % len(policies)]
            try:
                release = shoal.anonymize(data, asked, seed=year, after=after)
            except Infeasible:
                continue
            after = Path(folder) / str(year)
            after.mkdir()
            release._keep(after, ["ledger"])
            made.append((release, data["id"]))
    return made


@settings(max_examples=12)
@given(st.integers(8, 40), updates, st.integers(2, 4), st.integers(0, 2))
def test_no_set_of_releases_leaves_fewer_than_k_candidates(start, changes, k, reserve):
    made = released(sequence(start, changes), policy(k=k, reserve=reserve))
    found = [classes(release, ids) for release, ids in made]
    assert not found or fewest_candidates(found) >= k


@settings(max_examples=12)
@given(st.integers(10, 40), updates, st.integers(2, 3), st.integers(2, 4))
def test_no_set_of_releases_leaves_fewer_than_m_values(start, changes, m, k):
    made = released(sequence(start, changes), policy(k=k, l=m))
    found = [classes(release, ids) for release, ids in made]
    held = [values(release) for release, _ in made]
    assert not found or fewest_values(found, held) >= m
    for release, (labels, held_now) in zip((r for r, _ in made), zip(found, held, strict=True), strict=True):
        assert fewest_candidates([labels]) >= k
        for listed in held_now.values():
            assert m * max(map(listed.count, listed)) <= len(listed)
        assert release.records["counterfeits"] == release.published.n_rows - len(labels)


@settings(max_examples=12)
@given(st.integers(12, 40), updates, st.integers(2, 4), st.integers(0, 2))
def test_panels_several_rows_and_other_columns_leave_k_candidates_too(start, changes, k, reserve):
    whole = policy(k=k, reserve=reserve, panel="panel")
    view = whole.changed(quasi=["age"], identifying=["town"])
    made = released(sequence(start, changes), whole, view, people=several_rows)
    found = [
        classes(release, ids, [n for n in QUASI if n in release.table.names])  # a view has one of them
        for release, ids in made
    ]
    assert not found or fewest_candidates(found) >= k
