"""m-invariance recomputed: which sensitive values all releases together leave to each person.

In a release a person may have any sensitive value of its class. Those that are possible in all of its releases must be
m at least, and in no class may one value be more than one in m of the rows, counterfeits among them. The second alone
bounds what one release tells; the first is what the paper calls an invariant signature, seen from the published tables.

References
----------
X. Xiao, Y. Tao, "m-invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD 2007,
definitions 4 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Ints
from shoal.check.guarantee import Guarantee

MODEL = "m-invariance"


@dataclass(frozen=True)
class ClassValues:
    """The sensitive values of the classes of one release.

    Attributes
    ----------
    classes, values : int64 arrays (n_rows,)
        Of each published row; values are numbered alike in all releases.
    """

    classes: Ints
    values: Ints

    def pairs(self, n_values: int) -> Ints:
        """The distinct pairs of class and value, ascending, as ``class * n_values + value``."""
        return np.unique(self.classes * n_values + self.values)

    def largest_share(self, n_values: int) -> tuple[int, int]:
        """Rows of the most frequent value of a class, and of that class, where it is the largest share."""
        keys, counts = np.unique(self.classes * n_values + self.values, return_counts=True)
        of_class = keys // n_values
        sizes = np.bincount(self.classes)[of_class]
        worst = int(np.argmax(counts / sizes))
        return int(counts[worst]), int(sizes[worst])


def possible_values(histories: Ints, releases: Sequence[ClassValues], n_values: int) -> Ints:
    """How many sensitive values stay possible of each person; of one that no release has, all of them."""
    distinct, kind = np.unique(histories, axis=0, return_inverse=True)
    left = np.empty(len(distinct), dtype=np.int64)
    step = max(1, 4_000_000 // max(1, n_values))
    pairs = [release.pairs(n_values) for release in releases]
    for begin in range(0, len(distinct), step):
        some = distinct[begin : begin + step]
        possible = np.ones((len(some), n_values), dtype=bool)
        for i, held in enumerate(pairs):
            there = np.flatnonzero(some[:, i] >= 0)
            wanted = some[there, i][:, None] * n_values + np.arange(n_values)[None, :]
            possible[there] &= np.isin(wanted, held)
        left[begin : begin + step] = possible.sum(axis=1)
    return np.asarray(left[kind.reshape(-1)])


def m_invariance(
    histories: Ints, releases: Sequence[ClassValues], n_values: int, m: int, sensitive: str, n_releases: int = 0
) -> Guarantee:
    """Whether all releases together leave every person m sensitive values, and none likelier than one in m.

    `n_releases` says how many there are, where of some no more is known than the values that they left possible.
    """
    histories = histories[(histories >= 0).any(axis=1)]
    left = possible_values(histories, releases, n_values)
    shares = [release.largest_share(n_values) for release in releases]
    too_large = sum(m * count > size for count, size in shares)
    least, n_failing = int(left.min(initial=n_values)), int((left < m).sum())
    n_releases = n_releases or histories.shape[1]
    told = "1 release" if n_releases == 1 else f"{n_releases} releases"
    sentence = (
        f"Over {told}, at least {least} values of {sensitive!r} stay possible of every person, and in no group is one "
        f"of them more than one in {m} (required: {m})."
    )
    if n_failing:
        sentence = (
            f"m-invariance fails for {n_failing:,} of {len(left):,} persons: over {told} fewer than {m} values of "
            f"{sensitive!r} stay possible."
        )
    elif too_large:
        sentence = f"m-invariance fails: in some groups a value of {sensitive!r} is more than one in {m}."
    return Guarantee(
        model=MODEL,
        kind="",
        sensitive=sensitive,
        required={"m": m},
        achieved=float(least),
        holds=not n_failing and not too_large,
        n_classes=len(np.unique(histories, axis=0)),
        n_failing=n_failing or too_large,
        worst=(),
        sentence=sentence,
        details={"releases": float(n_releases)},
    )
