"""How many components each record may have: the delta rule, the recovery cap, `max_components`, and classes.

- delta-anonymity: the usual, unbiased estimate of an attribute from m components has the variance
  ``(|x|^2 - x_i^2) / m``, least for the largest attribute, and never below delta. Nothing follows for other estimates:
  the linear one of least mean square error, which knows how popular attributes are, is far nearer.
- recovery cap (ours): m components carry at most half of the information that picks the record out. A component
  carries ``max(1, log2(2 pi e |x|^2) / 2 - log2(grid))`` bits, where the grid is 2 for whole numbers, which all have
  one parity, and else the step of rounding. The record is worth the smaller of ``log2 C(d, n)`` and of its
  self-information when items come independently, each as often as it does in the data.

Without knowing which record a sketch is of, one thing can still be said: the largest counts of components must not
exceed the largest counts that are allowed, one by one. Exactly then the sketches can be dealt to records so that no
rule is broken.

References
----------
C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007,
Definitions 1 and 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from shoal.arrays import Floats, Ints, Mask
from shoal.check.guarantee import TOLERANCE, Guarantee, count, number
from shoal.data.sparse.records import Sparse

LEFT_BITS = 10.0  # that must stay unknown of any record: one of a thousand at best
_SLACK = 1e-9  # of the recovery cap, whose logarithms can be summed in any order


@dataclass(frozen=True)
class Bounds:
    """What is left of each record to protect, and whether it may be published at all.

    Attributes
    ----------
    spread : float64 array (n_records,)
        ``|x|^2 - max x_i^2``: the least variance of an attribute's estimate from one component.
    bits, information : float64 arrays (n_records,)
        What a component carries, and what it takes to pick the record out.
    is_eligible : bool array (n_records,)
        False for records without items and, where classes are published, of a class with fewer than `rare` records.
    share : float
        The part of the information that components may carry.
    """

    spread: Floats
    bits: Floats
    information: Floats
    is_eligible: Mask
    share: float = 0.5

    @property
    def may_be_told(self) -> Floats:
        """How many bits of each record its components may carry."""
        return np.minimum(self.share * self.information, self.information - LEFT_BITS)

    def allowed(self, delta: float, max_components: int, recovery_cap: bool) -> Ints:
        """The most components of each record."""
        most = np.minimum(np.floor(self.spread / delta * (1 + TOLERANCE)), max_components)
        if recovery_cap:
            most = np.minimum(most, np.floor(self.may_be_told / self.bits * (1 + _SLACK)))
        return np.where(self.is_eligible, np.maximum(most, 0), 0).astype(np.int64)


@dataclass(frozen=True)
class Totals:
    """What is counted over all records, of which some are looked at.

    Attributes
    ----------
    n_records : int
    names : tuple of str
        All items, ascending.
    holders : int64 array
        How many records hold each.
    classes : tuple of str
        All classes, ascending; none where records have none.
    class_sizes : int64 array
        How many records of each have items: the empty ones are never published, so they hide nobody.
    """

    n_records: int
    names: tuple[str, ...]
    holders: Ints
    classes: tuple[str, ...]
    class_sizes: Ints

    @classmethod
    def of(cls, original: Sparse) -> Totals:
        """Of records that are all."""
        sizes = class_sizes(original) if original.labels is not None else np.zeros(0, np.int64)
        return cls(len(original), original.names, original.supports, original.classes, sizes)

    @property
    def n_occurring(self) -> int:
        """Items that some record holds."""
        return int((self.holders > 0).sum())


def bounds_of(
    original: Sparse, step: float, rare: int, has_classes: bool, share: float = 0.5, totals: Totals | None = None
) -> Bounds:
    """Recompute the bounds of original records, all or some of those that the totals are of.

    `rare` counts where classes are published.
    """
    totals = totals or Totals.of(original)
    squares = original.squares
    filled = original.sizes > 0
    grid = 2.0 if original.is_integral else step
    bits = np.maximum(1.0, 0.5 * np.log2(2 * math.pi * math.e * np.where(filled, squares, 1.0)) - np.log2(grid))
    is_eligible = filled
    if has_classes and original.labels is not None:
        sizes = totals.class_sizes[_places(original.classes, totals.classes)]
        is_eligible = filled & (sizes[original.labels] >= rare)
    return Bounds(_spread(original), bits, _information(original, totals), is_eligible, share)


def _places(names: tuple[str, ...], among: tuple[str, ...]) -> Ints:
    """Where names stand among others, of which they are some."""
    if names == among:
        return np.arange(len(names))
    place = {name: i for i, name in enumerate(among)}
    return np.array([place[name] for name in names], np.int64)


def _spread(original: Sparse) -> Floats:
    """Of each record the squares of all weights but the largest, added up: no difference of large numbers."""
    squares = original.weights.astype(np.float64) ** 2
    owners = np.repeat(np.arange(len(original)), original.sizes)
    by_size = np.lexsort((squares, owners))
    largest = by_size[original.starts[1:][original.sizes > 0] - 1]
    squares[largest] = 0.0
    return np.bincount(owners, weights=squares, minlength=len(original)).astype(np.float64)


def class_sizes(original: Sparse) -> Ints:
    """How many records of each class have items: the empty ones are never published, so they hide nobody."""
    assert original.labels is not None
    return np.bincount(original.labels[original.sizes > 0], minlength=len(original.classes))


def _information(original: Sparse, totals: Totals) -> Floats:
    """Bits that pick each record out, for an attacker who knows how long it is or how popular the items are."""
    n_records = max(totals.n_records, 1)
    holders = totals.holders if len(totals.holders) else np.zeros(1, np.int64)
    n_occurring = totals.n_occurring
    share = np.clip(holders / n_records, 1 / (2 * n_records), 1 - 1 / (2 * n_records))
    present, absent = -np.log2(share), -np.log2(1 - share)
    owners = np.repeat(np.arange(len(original)), original.sizes)
    told = (present - absent)[_places(original.names, totals.names)] if original.names else present
    surprise = np.bincount(owners, weights=told[original.items], minlength=len(original))
    own = absent[holders > 0].sum() + surprise
    sizes = original.sizes.astype(np.float64)
    choices = gammaln(n_occurring + 1) - gammaln(sizes + 1) - gammaln(n_occurring - sizes + 1)
    return np.asarray(np.maximum(np.minimum(choices / np.log(2), own), 0.0))


def coarse(value: float, limit: float, *, is_most: bool = False) -> float:
    """Two digits of what the worst record reaches, on the safe side but not beyond the limit that it keeps.

    That number is a single record's: with all digits, whoever has the record could confirm that it is in the data.

    >>> coarse(0.26699, 0.2), coarse(1.00013, 1.0), coarse(0.499911, 0.5, is_most=True)
    (0.26, 1.0, 0.5)
    """
    if not math.isfinite(value) or value <= 0:
        return value
    digits = 1 - math.floor(math.log10(value))
    if is_most:
        return min(round(math.ceil(value * 10.0**digits) / 10.0**digits, 12), limit)
    return max(round(math.floor(value * 10.0**digits) / 10.0**digits, 12), limit)


@dataclass(frozen=True)
class Found:
    """What some sketches are found to be in one respect; the sum of two is that of both.

    Attributes
    ----------
    n, n_failing : int
        How many they are, and how many of them break the rule.
    least : tuple of float
        The extremes that are told: of what must not be large, the largest with the other sign.
    numbers : frozenset of int
        The different numbers of components.
    """

    n: int
    n_failing: int
    least: tuple[float, ...] = ()
    numbers: frozenset[int] = frozenset()

    def __add__(self, other: Found) -> Found:
        least = tuple(map(min, self.least, other.least))
        return Found(self.n + other.n, self.n_failing + other.n_failing, least, self.numbers | other.numbers)


def max_components(counts: Ints, most: int) -> Guarantee:
    """No sketch is longer than was asked for."""
    return told_max_components(find_max_components(counts, most), most)


def find_max_components(counts: Ints, most: int) -> Found:
    """The length of the longest."""
    return Found(len(counts), int((counts > most).sum()), (-float(counts.max(initial=0)),))


def told_max_components(found: Found, most: int) -> Guarantee:
    """The same as a guarantee."""
    longest = int(-found.least[0])
    return _told(
        "max-components",
        {"max_components": most},
        float(longest),
        found,
        f"No sketch has more than {count(longest, 'component')} (allowed: {most}).",
        f"{found.n_failing:,} of {found.n:,} sketches have more than {most} components, up to {longest}.",
    )


def coarse_counts(counts: Ints) -> Guarantee:
    """Every number of components is a power of two or one and a half times one: 1, 2, 3, 4, 6, 8, 12, ..."""
    return told_coarse_counts(find_coarse_counts(counts))


def find_coarse_counts(counts: Ints) -> Found:
    """The different numbers."""
    odd = counts.copy()
    for _ in range(63):
        odd = np.where((odd > 0) & (odd % 2 == 0), odd // 2, odd)
    failing = (odd != 1) & (odd != 3)
    return Found(len(counts), int(failing.sum()), (), frozenset(np.unique(counts).tolist()))


def told_coarse_counts(found: Found) -> Guarantee:
    """The same as a guarantee."""
    n_numbers = len(found.numbers)
    return _told(
        "coarse-counts",
        {},
        float(n_numbers),
        found,
        f"Sketches have one of {count(n_numbers, 'number')} of components, all on the coarse grid.",
        f"{found.n_failing:,} of {found.n:,} sketches have a number of components that is not on the grid.",
    )


def delta_anonymity(bounds: Bounds, rows: Ints, counts: Ints, delta: float) -> Guarantee:
    """The least variance of any attribute's estimate over all published records."""
    return told_delta_anonymity(find_delta_anonymity(bounds, rows, counts, delta), delta)


def find_delta_anonymity(bounds: Bounds, rows: Ints, counts: Ints, delta: float) -> Found:
    """The least variance."""
    variances = bounds.spread[rows] / np.maximum(counts, 1)
    failing = (variances < delta * (1 - TOLERANCE)) & (counts > 0)
    return Found(len(counts), int(failing.sum()), (float(variances[counts > 0].min(initial=np.inf)),))


def told_delta_anonymity(found: Found, delta: float) -> Guarantee:
    """The same as a guarantee."""
    (least,) = found.least
    return _told(
        "delta-anonymity",
        {"delta": delta},
        least,
        found,
        f"The usual estimate of an attribute from a sketch, for which the key is needed, has a variance of at least "
        f"{number(coarse(least, delta))} (required: {number(delta)}).",
        f"Of {found.n_failing:,} of {found.n:,} published records the usual estimate of an attribute has a "
        f"variance below {number(delta)}, at worst {number(least)}.",
    )


def recovery_cap(bounds: Bounds, rows: Ints, counts: Ints) -> Guarantee:
    """The largest share of a record's information that its components carry."""
    return told_recovery_cap(find_recovery_cap(bounds, rows, counts), bounds.share)


def find_recovery_cap(bounds: Bounds, rows: Ints, counts: Ints) -> Found:
    """That share, and the fewest bits that are left."""
    carried = counts * bounds.bits[rows]
    information = bounds.information[rows]
    shares = np.where(information > 0, carried / np.where(information > 0, information, 1.0), np.inf)
    shares = np.where(counts > 0, shares, 0.0)
    left = np.where(counts > 0, information - carried, np.inf)
    failing = (shares > bounds.share * (1 + _SLACK)) | (
        (counts > 0) & (carried > bounds.may_be_told[rows] * (1 + _SLACK))
    )
    extremes = (-float(shares.max(initial=0.0)), float(left.min(initial=np.inf)))
    return Found(len(counts), int(failing.sum()), extremes)


def told_recovery_cap(found: Found, allowed: float) -> Guarantee:
    """The same as a guarantee."""
    largest, least_left = -found.least[0], found.least[1]
    return _told(
        "recovery-cap",
        {"share": allowed, "bits_left": LEFT_BITS},
        largest,
        found,
        f"The components of a record carry at most {number(100 * coarse(largest, allowed, is_most=True))} % of the "
        f"information that picks it out (allowed: {number(100 * allowed)} %), and leave at least "
        f"{number(coarse(least_left, LEFT_BITS))} bits of it (required: {number(LEFT_BITS)}).",
        f"The components of {found.n_failing:,} of {found.n:,} published records carry more than "
        f"{number(100 * allowed)} % of the information that picks the record out (up to {number(100 * largest)} %), or "
        f"leave fewer than {number(LEFT_BITS)} bits of it (down to {number(least_left)}).",
    )


def class_size(original: Sparse, rows: Ints | None, labels: Ints, rare: int) -> Guarantee:
    """Every published class has at least `rare` sketches, and each sketch is of the class of its original.

    Parameters
    ----------
    original : Sparse
        With classes.
    rows : int64 array (n_published,), optional
        The original of each sketch.
    labels : int64 array (n_published,)
        The class of each sketch among those of the original; -1 where it is not one of them.
    rare : int
        The fewest sketches of a class.
    """
    n_published = np.bincount(labels[labels >= 0], minlength=len(original.classes))
    is_wrong = np.zeros(len(labels), bool)
    if rows is not None:
        assert original.labels is not None
        is_wrong = original.labels[rows] != labels
    sizes = np.minimum(class_sizes(original), n_published)
    found, n_small = find_class_size(sizes, labels, is_wrong, rare)
    return told_class_size(found, n_small, int(is_wrong.sum()), rare, len(original))


def find_class_size(sizes: Ints, labels: Ints, is_wrong: Mask, rare: int) -> tuple[Found, int]:
    """The size of the smallest class that some sketches are of, and how many of them are of one that is too small."""
    smallest = np.where(labels >= 0, sizes[np.maximum(labels, 0)] if len(sizes) else 0, 0)
    failing = (smallest < rare) | is_wrong
    found = Found(len(labels), int(failing.sum()), (float(smallest.min(initial=np.iinfo(np.int64).max)),))
    return found, int((smallest < rare).sum())


def told_class_size(found: Found, n_small: int, n_wrong: int, rare: int, n_records: int) -> Guarantee:
    """The same as a guarantee."""
    reasons = []
    if n_small:
        reasons.append(f"{n_small:,} of {found.n:,} sketches are of a class with fewer than {rare} of them")
    if n_wrong:
        reasons.append(f"{n_wrong:,} carry another class than their original")
    reached = int(min(found.least[0], n_records))
    return _told(
        "class-size",
        {"rare": rare},
        float(reached),
        found,
        f"Every published class has at least {count(reached, 'record')} (required: {rare}).",
        "Classes do not hold: " + ", and ".join(reasons) + ".",
    )


def component_counts(counts: Ints, labels: Ints, allowed: Ints, original_labels: Ints) -> Guarantee:
    """Whether the sketches can be dealt to the records of their class so that none has more than it may.

    Necessary, not sufficient: it says that the counts contradict no rule, not who has how many.
    """
    failing = np.zeros(len(counts), bool)
    worst = 0
    for label in np.unique(labels):
        some = np.flatnonzero(labels == label)
        some = some[np.argsort(-counts[some], kind="stable")]
        most = np.zeros(max(len(some), int((original_labels == label).sum())), np.int64)
        most[: int((original_labels == label).sum())] = -np.sort(-allowed[original_labels == label])
        excess = counts[some] - most[: len(some)]
        failing[some[excess > 0]] = True
        worst = max(worst, int(excess.max(initial=0)))
    return _told(
        "component-counts",
        {"excess": 0},
        float(worst),
        Found(len(failing), int(failing.sum())),
        "The numbers of components contradict no rule: they could be dealt to the originals so that none has too many.",
        f"However the sketches belong to the originals, at least {int(failing.sum()):,} of {len(counts):,} have more "
        "components than delta, the recovery cap and max_components allow.",
    )


def _told(model: str, required: dict[str, float], achieved: float, found: Found, good: str, bad: str) -> Guarantee:
    return Guarantee.counted(
        model=model,
        required=required,
        achieved=achieved,
        n_classes=found.n,
        n_failing=found.n_failing,
        sentence=bad if found.n_failing else good,
    )
