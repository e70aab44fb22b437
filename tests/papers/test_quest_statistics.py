"""The Quest generator beside T10I4D100K, which the original program made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from shoal.data.samples.quest import Convention, Quest, generate_baskets
from shoal.data.strings.files import read_strings

RANKS = np.array([10, 100, 300, 500])


def statistics(items: npt.NDArray[np.int32], lengths: npt.NDArray[np.int64]) -> dict[str, float]:
    shares = np.sort(np.bincount(items, minlength=1000))[::-1] / len(lengths)
    named = {f"share of item {rank}": float(share) for rank, share in zip(RANKS, shares[RANKS - 1], strict=True)}
    return {
        "mean length": float(lengths.mean()),
        "deviation of length": float(lengths.std()),
        "items": float(np.count_nonzero(shares)),
        **named,
    }


def generated(convention: Convention, n_itemsets: int, seed: int) -> dict[str, float]:
    baskets = generate_baskets(Quest.named("T10.I4.D100K", convention, n_itemsets=n_itemsets), seed=seed)
    return statistics(baskets.items, np.diff(baskets.starts))


@pytest.fixture(scope="module")
def real(shared_data: Path) -> dict[str, float]:
    strings = read_strings(shared_data / "t10i4d100k" / "T10I4D100K.dat.gz")
    return statistics(strings.symbols, strings.lengths)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_programs_convention_gives_the_statistics_of_the_real_file(real: dict[str, float], seed: int) -> None:
    """With 2,000 itemsets, the number in the paper; the often quoted 1,000 cannot be, see below.

    That number was settled on, and the tolerances written, after looking at this file with 1,000, 2,000, 2,500 and
    10,000 itemsets, so the agreement is partly by choice.
    """
    ours = generated("program", 2000, seed)
    assert ours["mean length"] == pytest.approx(real["mean length"], rel=0.01)
    assert ours["deviation of length"] == pytest.approx(real["deviation of length"], rel=0.03)
    assert ours["items"] == pytest.approx(real["items"], abs=25)
    for rank in RANKS:
        assert ours[f"share of item {rank}"] == pytest.approx(real[f"share of item {rank}"], rel=0.12)


def test_a_thousand_itemsets_reach_too_few_items(real: dict[str, float]) -> None:
    assert real["items"] == 870
    assert max(generated("program", 1000, seed)["items"] for seed in range(4)) < 800


def test_the_papers_convention_spreads_over_all_items(real: dict[str, float]) -> None:
    """Items are uniform there, so that nearly all occur and none is as frequent as in the file."""
    ours = generated("paper", 2000, 1)
    assert ours["mean length"] == pytest.approx(real["mean length"], rel=0.015)
    assert ours["items"] > 980
    assert ours["share of item 10"] < 0.7 * real["share of item 10"]
