"""k^m-anonymity of T10I4D100K, every pair counted one by one from the published file."""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from itertools import chain, combinations
from pathlib import Path

import pytest

import shoal

K = 5


def rarest(records: list[list[str]]) -> tuple[int, int]:
    """How many records hold the rarest item or pair of those that occur, and how many there are."""
    items = Counter(chain.from_iterable(records))
    pairs = Counter(chain.from_iterable(combinations(sorted(set(record)), 2) for record in records))
    return min([*items.values(), *pairs.values()]), len(items) + len(pairs)


@pytest.mark.parametrize("publish", ["suppress", "disassociate"])
def test_no_pair_of_a_hundred_thousand_baskets_is_rare(shared_data: Path, tmp_path: Path, publish: str) -> None:
    path = shared_data / "t10i4d100k" / "T10I4D100K.dat.gz"
    policy = shoal.SparsePolicy.of(format="baskets", publish=publish, k=K, m=2)
    release = shoal.anonymize(path, policy)
    release.save(tmp_path / "out", report=False)
    with gzip.open(tmp_path / "out" / "publish" / "data.dat.gz", "rt") as file:
        lines = [line.split() for line in file]
    told = next(g for g in release.guarantees if g.model == "km-anonymity")
    if publish == "suppress":
        assert (told.achieved, told.n_classes) == rarest(lines)
        assert told.achieved >= K
        return
    chunks = defaultdict(list)
    for span, _, chunk, *items in lines[1:]:
        if chunk != "terms":
            chunks[span, chunk].append(items)
    found = [rarest(chunk) for chunk in chunks.values()]
    assert (told.achieved, told.n_classes) == (min(least for least, _ in found), sum(n for _, n in found))
    assert told.achieved >= K
