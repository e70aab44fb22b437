"""Groups carried over from release to release, so that no set of releases leaves a person fewer than k candidates.

Persons who once stood in a group stay together: a *cohort*. In a later release those of a cohort who are still there
stand in one group again, newcomers join a cohort or found one, and nobody changes it. So all persons of a cohort who
are in the releases that a person is in are candidates for that person in each of them, and in all together. Where
fewer than k are left, they are left out: no other group could hide them, since the earlier release, and who is in this
one, tell them apart from its other members already.

**Guarantee**: for every person and every set of releases that publish it, at least k persons (itself among them) stood
in the same group in each release of the set, whoever the attacker knows to be in which release.

**Not protected**: who ties rows of releases together by columns that are published as they are, and knows that a person
left, may exclude those who stayed. What all candidates have in common.

References
----------
K. Wang, B. C. M. Fung, "Anonymizing sequential releases", KDD 2006 (the join of releases); X. Xiao, Y. Tao,
"m-invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD 2007, section 3 (who is in which
release is known).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints, Mask

NEAR = 12  # cohorts whose boxes are tried for a newcomer, those with the nearest middles
Partition = Callable[[Ints, int], npt.NDArray[np.integer[Any]]]


@dataclass(frozen=True)
class CarriedBoxes:
    """The quasi-identifiers of persons, each a box around its rows; see `shoal.tables.information_loss.width_points`.

    Attributes
    ----------
    low, high : float64 arrays (n_persons, n_columns)
    weights : float64 array (n_columns,)
        What a column's width counts, which is at most 1.
    """

    low: Floats
    high: Floats
    weights: Floats

    def of_groups(self, labels: Ints, n_groups: int) -> CarriedBoxes:
        """The boxes of groups of persons; a negative label is in none."""
        low = np.full((n_groups, self.low.shape[1]), np.inf)
        high = np.full((n_groups, self.low.shape[1]), -np.inf)
        some = np.flatnonzero(labels >= 0)
        order = some[np.argsort(labels[some], kind="stable")]
        used, starts = np.unique(labels[order], return_index=True)
        if len(order):
            low[used] = np.minimum.reduceat(self.low[order], starts)
            high[used] = np.maximum.reduceat(self.high[order], starts)
        return CarriedBoxes(low, high, self.weights)

    @property
    def widths(self) -> Floats:
        """The width of each box."""
        return widths_of(self.low, self.high, self.weights)


def widths_of(low: Floats, high: Floats, weights: Floats) -> Floats:
    """The sum over the last axis of ``weight * min(high - low, 1)``."""
    return np.asarray((np.clip(high - low, 0.0, 1.0) * weights).sum(axis=-1))


def carry(
    cohorts: Ints,
    earlier: Mask,
    boxes: CarriedBoxes,
    k: int,
    partition: Partition,
    *,
    reserve: int = 0,
    n_cohorts: int = 0,
    panels: Ints | None = None,
) -> Ints:
    """The cohort of each person in this release; -1 for those who cannot be published.

    Parameters
    ----------
    cohorts : int64 array (n_persons,)
        The cohort of each person who is in the data; -1 for newcomers.
    earlier : bool array (n_persons, n_releases)
        Which earlier releases published each person.
    partition : callable
        Groups some of the persons, at least so many to a group; see `shoal.releases.exchange`.
    n_cohorts : int
        How many cohorts there are, those among them that nobody is left of; new ones are numbered from there on.
    reserve : int
        Persons beyond k that a new cohort has at least, where there are enough, so that as many may leave.
    panels : int64 array (n_persons,), optional
        Who is expected to leave together: a cohort is founded by persons of one panel, and joined by no others if that
        can be.
    """
    made = np.where(left_alone(cohorts, earlier, k), -1, cohorts).astype(np.int64)
    newcomers = np.flatnonzero(cohorts < 0)
    if not len(newcomers):
        return made
    n_before = max(n_cohorts, int(cohorts.max(initial=-1)) + 1)
    whose = np.zeros(len(cohorts), dtype=np.int64) if panels is None else panels
    there, first = np.unique(made[made >= 0], return_index=True)
    panel_of = whose[np.flatnonzero(made >= 0)[first]]
    for panel in np.unique(whose[newcomers]):
        some = newcomers[whose[newcomers] == panel]
        near = there[panel_of == panel]
        founded = np.full(len(some), -1, dtype=np.int64)
        if len(some) >= k:
            founded = partition(some, min(k + reserve, len(some))).astype(np.int64)
        elif not len(near):
            near = there
        if len(near):
            joined, costs = _nearest_cohorts(boxes, np.where(np.isin(made, near), made, -1), near, some)
            _dissolve(founded, costs, boxes, some)
            made[some] = np.where(founded >= 0, n_before + founded, joined)
        else:
            made[some] = np.where(founded >= 0, n_before + founded, -1)
        n_before += int(founded.max(initial=-1)) + 1
    return made


def left_alone(cohorts: Ints, earlier: Mask, k: int) -> Mask:
    """Which carried persons would have fewer than k candidates, and are left out, until all others have as many.

    The candidates of a person are those of its cohort who are published now and in all releases that published it.
    Whoever is left out is no candidate any more, so it is asked again; what is left is the largest set that holds.
    """
    alone = np.zeros(len(cohorts), dtype=bool)
    while True:
        left = np.flatnonzero((cohorts >= 0) & ~alone)
        few = left[candidates(cohorts[left], earlier[left]) < k]
        if not len(few):
            return alone
        alone[few] = True


def candidates(cohorts: Ints, published: Mask) -> Ints:
    """How many persons of its cohort, itself among them, were published whenever a person was."""
    if not len(cohorts):
        return np.zeros(0, dtype=np.int64)
    patterns, kind = np.unique(published, axis=0, return_inverse=True)
    keys = cohorts * len(patterns) + kind.reshape(-1)
    held, of_person, counts = np.unique(keys, return_inverse=True, return_counts=True)
    cohort, pattern = held // len(patterns), held % len(patterns)
    first = np.searchsorted(cohort, cohort, "left")
    n_beside = np.searchsorted(cohort, cohort, "right") - first  # patterns in the cohort of each
    own = np.repeat(np.arange(len(held)), n_beside)
    other = np.arange(len(own)) - np.repeat(np.cumsum(n_beside) - n_beside, n_beside) + first[own]
    covers = (patterns[pattern[other]] >= patterns[pattern[own]]).all(axis=1)  # was there whenever the other was
    totals = np.bincount(own, counts[other] * covers, minlength=len(held)).astype(np.int64)
    return np.asarray(totals[of_person.reshape(-1)])


def _nearest_cohorts(boxes: CarriedBoxes, made: Ints, there: Ints, newcomers: Ints) -> tuple[Ints, Floats]:
    """Which cohort each newcomer widens least, and by how much all of it is widened then."""
    from scipy.spatial import cKDTree

    dense = np.full(int(made.max()) + 1, -1, dtype=np.int64)
    dense[there] = np.arange(len(there))
    labels = np.where(made >= 0, dense[made], -1)
    sizes = np.bincount(labels[labels >= 0], minlength=len(there))
    groups = boxes.of_groups(labels, len(there))
    middles = (groups.low + groups.high) / 2 * boxes.weights
    own = (boxes.low[newcomers] + boxes.high[newcomers]) / 2 * boxes.weights
    n_near = min(NEAR, len(there))
    near = cKDTree(middles).query(own, n_near)[1].reshape(len(newcomers), n_near)
    low = np.minimum(groups.low[near], boxes.low[newcomers][:, None, :])
    high = np.maximum(groups.high[near], boxes.high[newcomers][:, None, :])
    widened = widths_of(low, high, boxes.weights)
    costs = (sizes[near] + 1) * widened - sizes[near] * groups.widths[near]
    best = costs.argmin(axis=1)
    rows = np.arange(len(newcomers))
    return there[near[rows, best]], costs[rows, best]


def _dissolve(founded: Ints, costs: Floats, boxes: CarriedBoxes, newcomers: Ints) -> None:
    """Let those cohorts go that lose more than if their members joined others."""
    n_founded = int(founded.max(initial=-1)) + 1
    if not n_founded:
        return
    some = CarriedBoxes(boxes.low[newcomers], boxes.high[newcomers], boxes.weights)
    alone = np.bincount(founded, minlength=n_founded) * some.of_groups(founded, n_founded).widths
    joining = np.bincount(founded, costs, minlength=n_founded)
    founded[(joining < alone)[founded]] = -1
