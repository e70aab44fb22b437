"""Who could be whom when several releases are laid side by side, recomputed from who stood in which class.

A person's candidates are all who stood in the same class in every release that the person is in. Whoever knows who is
in which release can exclude all others: they were elsewhere, or absent. More releases leave fewer candidates, so that
all of a person's releases together are the worst set of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Ints
from shoal.check.guarantee import Guarantee
from shoal.data.tables.dictionary import objects

MODEL = "k-candidates"


def candidates_of(histories: Ints) -> Ints:
    """How many candidates each person has, itself among them; 0 for one that no release has.

    Parameters
    ----------
    histories : int array (n_persons, n_releases)
        The class of each person in each release; negative where the release does not have the person.
    """
    found = np.zeros(len(histories), dtype=np.int64)
    distinct, kind, counts = np.unique(histories, axis=0, return_inverse=True, return_counts=True)
    present, of_kind = distinct >= 0, np.zeros(len(distinct), dtype=np.int64)
    for pattern in np.unique(present, axis=0):
        if not pattern.any():
            continue
        others = np.flatnonzero((present >= pattern).all(axis=1))  # who is in all these releases, whatever else
        classes = np.unique(distinct[others][:, pattern], axis=0, return_inverse=True)[1].reshape(-1)
        totals = np.bincount(classes, counts[others])
        alike = (present[others] == pattern).all(axis=1)
        of_kind[others[alike]] = totals[classes[alike]]
    found[:] = of_kind[kind.reshape(-1)]
    return found


def classes_by_labels(labels: Sequence[Sequence[str]], n_classes: int) -> Ints:
    """A number for each group, the same for groups whose labels are the same in every column."""
    number = np.zeros(n_classes, dtype=np.int64)
    for texts in labels:
        codes = np.unique(objects(texts), return_inverse=True)[1].reshape(-1)
        number = np.unique(number * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1].reshape(-1)
    return number


def k_candidates(histories: Ints, k: int) -> Guarantee:
    """Whether all releases together leave every person k candidates."""
    histories = histories[(histories >= 0).any(axis=1)]
    found = candidates_of(histories)
    n_releases, least = histories.shape[1], int(found.min(initial=2**62)) if len(found) else 0
    n_failing = int((found < k).sum())
    releases = "1 release" if n_releases == 1 else f"{n_releases} releases"
    holds = (
        f"Over {releases}, with every person at least {least - 1} others stand in the same group each time that it is "
        f"published (required: {k - 1})."
    )
    fails = (
        f"k-candidates fails for {n_failing:,} of {len(found):,} persons: over {releases} fewer than {k - 1} others "
        "stand in the same group each time that they are published."
    )
    return Guarantee(
        model=MODEL,
        kind="",
        sensitive="",
        required={"k": k},
        achieved=float(least),
        holds=n_failing == 0 and len(found) > 0,
        n_classes=len(np.unique(histories, axis=0)),
        n_failing=n_failing,
        worst=(),
        sentence=fails if n_failing else holds,
        details={"releases": float(n_releases)},
    )
