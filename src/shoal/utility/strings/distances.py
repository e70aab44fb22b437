"""Distances between groups: whether what was farther apart still is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints
from shoal.data.strings.strings import Strings
from shoal.errors import DataError
from shoal.kernels.strings.edit_distance import edit_distances
from shoal.utility.measured import Measured
from shoal.utility.strings.codes import in_one_alphabet

MOST_STEPS = 150_000_000  # words of the tables of all alignments; about half a second
FEWEST_PAIRS = 10  # of groups, as long as a group has more than one string to align


@dataclass(frozen=True)
class DistanceOrder(Measured):
    """The order of distances between groups, before and after.

    Attributes
    ----------
    kept : float
        The share of pairs of distances whose order is kept, with Gdist of Eq. (6): the sum of the distances of all
        strings of one group to all of the other. It grows with the sizes of the groups, which condensation keeps.
    kept_by_mean : float
        The same with the mean in the place of the sum, so that sizes play no part.
    n_pairs, n_comparisons : int
        How many pairs of groups were drawn, and how many pairs of their distances were compared.
    n_strings : int
        At most this many strings of a group were aligned.
    before, after : tuple of float
        The mean distance of each pair of groups.
    """

    kept: float
    kept_by_mean: float
    n_pairs: int
    n_comparisons: int
    n_strings: int
    before: tuple[float, ...]
    after: tuple[float, ...]


def compare_distances(
    original: Strings,
    original_groups: npt.NDArray[np.integer[Any]],
    published: Strings,
    published_groups: npt.NDArray[np.integer[Any]],
    *,
    n_pairs: int = 100,
    n_strings: int = 20,
    seed: int = 0,
) -> DistanceOrder:
    """Compare the order of the distances between groups of originals with that between their pseudo-strings.

    The distance of two strings is that of Needleman and Wunsch with cost 0 for a match and 1 for a mismatch or a gap
    (the paper does not give its costs), which is the edit distance. ``Gdist(G1, G2) = sum NW(S_i, S_j)`` over all
    strings of the two groups, Eq. (6); of larger groups a sample is aligned and the sum scaled. Equal distances count
    as kept only if they are equal on both sides.

    Parameters
    ----------
    original, published : Strings
    original_groups, published_groups : int arrays
        The group of each string; negative where it has none. Groups without pseudo-strings are left out.
    n_pairs : int
        Pairs of groups to draw, at most as many as there are; fewer where strings are so long that aligning them
        would take more than some seconds.
    n_strings : int
        Most strings of a group to align; fewer where otherwise hardly any pairs of groups could be compared.
    seed : int
        Of the draws.

    References
    ----------
    C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and
    Knowledge Discovery 16(3), 2008, Eq. (6) and Fig. 9.
    S. B. Needleman, C. D. Wunsch, "A general method applicable to the search for similarities in the amino acid
    sequence of two proteins", Journal of Molecular Biology 48(3), 1970.
    """
    before, after = in_one_alphabet(original, published)
    groups = np.intersect1d(original_groups[original_groups >= 0], published_groups)
    if len(groups) < 3:
        raise DataError("the order of distances needs at least three groups; lower k or give more strings")
    rng = np.random.default_rng(seed)
    pairs = _draw_pairs(len(groups), n_pairs, rng)
    sides = [
        _members(s, np.asarray(g), groups, n_strings, rng)
        for s, g in ((before, original_groups), (after, published_groups))
    ]

    def steps_of(most: int) -> Ints:
        few = [(s, [rows[:most] for rows in m]) for s, (m, _) in zip((before, after), sides, strict=True)]
        return np.cumsum(sum(_steps(s, m, pairs) for s, m in few))

    while n_strings > 1 and steps_of(n_strings)[: min(FEWEST_PAIRS, len(pairs))][-1] > MOST_STEPS:
        n_strings -= 1
    steps, sides = steps_of(n_strings), [([rows[:n_strings] for rows in m], sizes) for m, sizes in sides]
    pairs = pairs[: max(int(np.searchsorted(steps, MOST_STEPS)), 3)]
    means, sums = zip(
        *(_distances(s, m, sizes, pairs) for s, (m, sizes) in zip((before, after), sides, strict=True)), strict=True
    )
    return DistanceOrder(
        _kept(*sums),
        _kept(*means),
        len(pairs),
        len(pairs) * (len(pairs) - 1) // 2,
        n_strings,
        tuple(means[0].tolist()),
        tuple(means[1].tolist()),
    )


def _draw_pairs(n_groups: int, n_pairs: int, rng: np.random.Generator) -> Ints:
    """Different pairs of different groups."""
    most = n_groups * (n_groups - 1) // 2
    drawn = rng.choice(most, min(n_pairs, most), replace=False) if most < 10_000_000 else rng.integers(0, most, n_pairs)
    # Pair number p is (i, j) with i > j, counted row by row below the diagonal.
    i = ((1 + np.sqrt(1 + 8 * drawn.astype(np.float64))) / 2).astype(np.int64)
    i -= i * (i - 1) // 2 > drawn
    i += i * (i + 1) // 2 <= drawn
    return np.column_stack([i, drawn - i * (i - 1) // 2])


def _members(
    strings: Strings, of_string: npt.NDArray[np.integer[Any]], groups: Ints, most: int, rng: np.random.Generator
) -> tuple[list[Ints], Ints]:
    """Up to `most` random strings of each group, and how many it has."""
    rows = rng.permutation(len(strings))
    rows = rows[np.isin(of_string[rows], groups)]
    rows = rows[np.argsort(of_string[rows], kind="stable")]
    bounds = np.searchsorted(of_string[rows], groups)
    ends = np.searchsorted(of_string[rows], groups, side="right")
    return [rows[a : min(a + most, b)] for a, b in zip(bounds.tolist(), ends.tolist(), strict=True)], ends - bounds


def _steps(strings: Strings, members: list[Ints], pairs: Ints) -> Ints:
    """The words of the tables of all alignments of each pair of groups."""
    lengths = strings.lengths
    words = np.array([int((-(-lengths[m] // 64)).sum()) for m in members])
    symbols = np.array([int(lengths[m].sum()) for m in members])
    return np.asarray(words[pairs[:, 0]] * symbols[pairs[:, 1]])


def _distances(strings: Strings, members: list[Ints], sizes: Ints, pairs: Ints) -> tuple[Floats, Floats]:
    """The mean and the sum of the distances of each pair of groups."""
    n = len(strings.alphabet)
    means = np.empty(len(pairs))
    for p, (one, two) in enumerate(pairs.tolist()):
        found = edit_distances(
            strings.symbols, strings.starts, members[one], strings.symbols, strings.starts, members[two], n
        )
        means[p] = found.mean()
    return means, means * sizes[pairs[:, 0]] * sizes[pairs[:, 1]]


def _kept(before: Floats, after: Floats) -> float:
    i, j = np.triu_indices(len(before), 1)
    return float((np.sign(before[i] - before[j]) == np.sign(after[i] - after[j])).mean())
