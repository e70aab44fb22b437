"""Groups of persons whose whole histories look alike: for attackers who know all records of a person.

What has to look alike is then the multiset of the quasi-identifiers of a person's records. Persons are grouped, and
not records: as vectors of the least and the greatest value that their records have in each attribute, and among persons
with equally many records. All records of a group get the same labels, so that the published histories of its persons
are equal. A number of records that fewer than k persons have is lowered to one that more have, by leaving records out.

**Guarantee**: every person has the same published labels, equally often, as at least k - 1 others.

**Not protected**: what is published as it is; one who knows the values of such columns in several records may find them
in one person's, if a pseudonym ties these together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints, Rows
from shoal.tables.encoding import Ranked


def common_counts(counts: Ints, k: int) -> Ints:
    """The number of records that each person keeps: the greatest that at least k persons keep, and they have.

    Persons are taken from those with the most records on; as soon as k of them are together they keep as many as the
    one of them who has fewest, and all others who have as many join. What is left at the end, fewer than k, is no
    crowd: the last crowd then keeps as few as they have, or they keep none, whichever leaves more.
    """
    kept = np.zeros(len(counts), dtype=np.int64)
    top = last = int(counts.max(initial=0)) + 1  # persons with fewer records than `top` have no crowd yet
    for number in np.unique(counts)[::-1].tolist():
        waits = (counts < top) & (counts >= number)
        if np.count_nonzero(waits) >= k:
            kept[waits] = number
            top, last = number, top
    left = counts < top
    if left.any():
        lowered = np.where(counts < last, counts.min(), kept)
        kept = lowered if lowered.sum() > kept.sum() else kept  # or those who are left are left out
    return kept


def records_to_keep(persons: Ints, k: int, seed: int | None, step: int) -> Rows:
    """The records that stay, so that k persons have each number of them; which of a person's go, a secret draws."""
    kept = common_counts(np.bincount(persons), k)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(step,)))
    order = np.lexsort((rng.random(len(persons)), persons))
    starts = np.searchsorted(persons[order], np.arange(len(kept)))
    place = np.arange(len(persons)) - starts[persons[order]]
    return np.sort(order[place < kept[persons[order]]])


def person_vectors(ranked: Sequence[Ranked], persons: Ints, n_persons: int | None = None) -> list[Ranked]:
    """Each attribute of a person: its value, or the least and the greatest of its records where some have several.

    Of `n_persons` some may have no record; what is told of them means nothing.
    """
    vectors = []
    n_persons = int(persons.max()) + 1 if n_persons is None else n_persons
    for attribute in ranked:
        low = np.full(n_persons, attribute.n_values, dtype=attribute.ranks.dtype)
        high = np.full(n_persons, -1, dtype=attribute.ranks.dtype)
        np.minimum.at(low, persons, attribute.ranks)
        np.maximum.at(high, persons, attribute.ranks)
        vectors.append(replace(attribute, ranks=low))
        if (low < high).any():
            vectors.append(replace(attribute, ranks=high, name=f"{attribute.name} (greatest)"))
    return vectors


def history_labels(
    ranked: Sequence[Ranked], persons: Ints, partition: Callable[[list[Ranked]], npt.NDArray[Any]]
) -> Codes:
    """Group persons with equally many records by a partition of their vectors; all records get their person's group."""
    counts = np.bincount(persons)
    vectors = person_vectors(ranked, persons)
    labels = np.empty(len(counts), dtype=np.int64)
    n_groups = 0
    for number in np.unique(counts):
        some = np.flatnonzero(counts == number)
        found = partition([v.take(some) for v in vectors])
        labels[some] = found + n_groups
        n_groups += int(found.max()) + 1
    return labels[persons].astype(np.int32)
