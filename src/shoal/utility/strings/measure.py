"""All measures of a release of strings, in a time that is bounded: of large ones on samples of both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.strings.strings import Strings
from shoal.errors import ShoalError
from shoal.utility.measured import Measured
from shoal.utility.strings.composition import Composition, compare_composition
from shoal.utility.strings.distances import DistanceOrder, compare_distances
from shoal.utility.strings.k_mers import KMers, compare_k_mers
from shoal.utility.strings.positions import Positions, compare_positions

MOST_SYMBOLS = 3_000_000  # of each side, for k-mers and positions: a few seconds
WIDTHS = (2, 3)
N_PAIRS = 100
N_STRINGS = 10


@dataclass(frozen=True)
class LengthComparison:
    """Mean and standard deviation of lengths, before and after, and how many different ones are published."""

    mean_before: float
    mean_after: float
    sd_before: float
    sd_after: float
    n_lengths_after: int


@dataclass(frozen=True)
class StringUtility(Measured):
    """What the protection cost.

    Attributes
    ----------
    composition : Composition
        Shares of symbols.
    k_mers : tuple of KMers
        Profiles of runs of two and three symbols; without those that do not fit the data.
    positions : Positions
        Shares of symbols along the string.
    lengths : LengthComparison
    distances : DistanceOrder or None
        Distances between groups; None where there are fewer than three groups.
    share_measured : float
        The share of strings that k-mers and positions were counted on.
    """

    composition: Composition
    k_mers: tuple[KMers, ...]
    positions: Positions
    lengths: LengthComparison
    distances: DistanceOrder | None
    share_measured: float


def measure_strings(
    original: Strings,
    original_groups: npt.NDArray[np.integer[Any]],
    published: Strings,
    published_groups: npt.NDArray[np.integer[Any]],
) -> StringUtility:
    """Compare published strings with all originals, those that were suppressed included.

    Parameters
    ----------
    original, published : Strings
    original_groups, published_groups : int arrays
        The group of each, negative where it has none; for distances between groups.
    """
    rng = np.random.default_rng(0)
    before, after = sample(original, MOST_SYMBOLS, rng), sample(published, MOST_SYMBOLS, rng)
    profiles = []
    for width in WIDTHS:
        try:
            profiles.append(compare_k_mers(before, after, width))
        except ShoalError:  # strings too short, or an alphabet too large, for runs of this width
            break
    try:
        distances = compare_distances(
            original, original_groups, published, published_groups, n_pairs=N_PAIRS, n_strings=N_STRINGS
        )
    except ShoalError:
        distances = None
    lengths = [s.lengths.astype(np.float64) for s in (original, published)]
    return StringUtility(
        composition=compare_composition(original.compact(), published),
        k_mers=tuple(profiles),
        positions=compare_positions(before, after),
        lengths=LengthComparison(
            float(lengths[0].mean()),
            float(lengths[1].mean()),
            float(lengths[0].std()),
            float(lengths[1].std()),
            len(np.unique(lengths[1])),
        ),
        distances=distances,
        share_measured=min(len(before) / len(original), len(after) / len(published)),
    )


def sample(strings: Strings, most_symbols: int, rng: np.random.Generator) -> Strings:
    """All strings, or as many random ones as have about so many symbols together."""
    if len(strings.symbols) <= most_symbols:
        return strings
    n = max(int(len(strings) * most_symbols / len(strings.symbols)), 1)
    return strings.take(np.sort(rng.permutation(len(strings))[:n]))
