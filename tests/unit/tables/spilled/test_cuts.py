"""First cuts from histograms are those that are made from rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.tables.spill import SpillFolder
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness
from shoal.tables.encoding import Ranked
from shoal.tables.limits import limits_of
from shoal.tables.partition import mondrian
from shoal.tables.spilled import cuts
from shoal.tables.spilled.cuts import CodedAttribute, CodedLimit, first_cuts

TREE = np.array([[v, 10 + v // 2, 20 + v // 4, 30] for v in range(8)], dtype=np.int32)


def attributes(rng: np.random.Generator, n_rows: int) -> list[Ranked]:
    positions = np.append(np.cumsum(rng.integers(1, 9, 12)).astype(float), np.nan)
    return [
        Ranked("a", "number", rng.integers(0, 13, n_rows).astype(np.int32), positions, has_missing=True),
        Ranked(
            "b", "category", (rng.integers(0, 5, n_rows) * rng.integers(0, 2, n_rows)).astype(np.int32), np.arange(5.0)
        ),
        Ranked("c", "tree", rng.integers(0, 8, n_rows).astype(np.int32), np.arange(8.0), TREE),
        Ranked("d", "order", rng.integers(0, 4, n_rows).astype(np.int32), np.arange(4.0)),
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(2, 6), st.sampled_from([5, 20, 70]), st.sampled_from(["", "l", "t", "lt"])
)
def test_blocks_are_those_of_the_rows(seed: int, k: int, block_rows: int, asked: str) -> None:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(20, 250))
    ranked, weights = attributes(rng, n_rows), rng.integers(1, 4, n_rows).astype(np.int32)
    ill = Ranked("ill", "category", rng.integers(0, 4, n_rows).astype(np.int32), np.arange(4.0))
    ward = Ranked("ward", "category", rng.integers(0, 3, n_rows).astype(np.int32), np.arange(3.0))
    models = {"l": (LDiversity(l=2), ill), "t": (TCloseness(t=0.4), ward)}
    limits = [
        replace(limit, weights=weights, counts=np.bincount(limit.codes, weights, limit.n_values).astype(np.int64))
        for model, attribute in map(models.__getitem__, asked)
        for limit in limits_of([model], [attribute])
    ]
    expected = mondrian.first_cuts(ranked, k, limits, True, block_rows, weights)

    folder = SpillFolder()
    shuffled = [rng.permutation(r.n_values).astype(np.int32) for r in ranked]  # codes are in another order than ranks
    codes = [np.argsort(places)[r.ranks] for places, r in zip(shuffled, ranked, strict=True)]
    number = np.arange(n_rows)
    file = folder.new(7)
    file.append(np.stack([*codes, ill.ranks, ward.ranks, number, weights], axis=1))
    coded = [CodedAttribute(i, places, r) for i, (places, r) in enumerate(zip(shuffled, ranked, strict=True))]
    columns = {"ill": (4, np.arange(4, dtype=np.int32)), "ward": (5, np.arange(3, dtype=np.int32))}
    blocks = first_cuts(file, folder, coded, [CodedLimit(*columns[x.name], x) for x in limits], k, block_rows)
    assert [np.sort(block.read()[:, 6]).tolist() for block in blocks] == [rows.tolist() for rows in expected]


@pytest.mark.parametrize("most", [1, 10**9])
def test_histograms_are_the_same_whole_or_not(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "MOST_CELLS", most)
    rng = np.random.default_rng(0)
    keys, weights = rng.integers(0, 50, 400), rng.integers(1, 5, 400).astype(np.int32)
    histogram = cuts._Histogram(60)
    for i in range(0, 400, 37):
        histogram.add(keys[i : i + 37], weights[i : i + 37])
    expected = np.bincount(keys, weights, 60)
    for begin, end in ((0, 60), (7, 23), (50, 60)):
        found, counts = histogram.between(begin, end)
        assert found.tolist() == np.flatnonzero(expected[begin:end]).tolist()
        assert counts.tolist() == expected[begin:end][found].tolist()
