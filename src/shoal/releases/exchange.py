"""New groups are improved before they are published for the first time, as they stay for all releases that follow.

A partition such as Mondrian leaves groups that lie beside one another and overlap in none, but are wider than they have
to be. Persons are moved and swapped between near groups while that lowers the loss, by the kernel of
`shoal.tables.partition.local_recoding`, in several orders of the groups: it looks at windows of groups that follow one
another, and in every order others do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.tables.encoding import Ranked
from shoal.tables.partition.k_member import number_records
from shoal.tables.partition.local_recoding import PASSES, WINDOW, cells_of

ORDERS = 6
SEED = 20  # of the directions by which groups are ordered; nothing about a person depends on whether it is known


def exchanged(vectors: Sequence[Ranked], labels: npt.NDArray[np.integer[Any]], size: int) -> Ints:
    """The groups of persons after moves and swaps; each keeps at least `size`, and all together lose no more.

    Parameters
    ----------
    vectors : sequence of Ranked
        The quasi-identifiers of the persons.
    labels : int array (n_persons,)
        Groups 0 .. g - 1 of at least `size`.
    """
    from shoal.kernels.tables.record_exchange import exchange

    _, first, of_person, counts = np.unique(
        number_records(vectors), return_index=True, return_inverse=True, return_counts=True
    )
    cells = cells_of(vectors, None, first, counts)
    records = of_person.reshape(-1).astype(np.int64)
    one_each = np.ones_like(records)
    made, n_groups = labels.astype(np.int32), int(labels.max()) + 1
    places = np.column_stack([v.ranks / max(1, v.n_values - 1) for v in vectors])
    rng = np.random.default_rng(SEED)
    for i in range(ORDERS):
        if i:
            along = places @ rng.normal(size=places.shape[1])
            middles = np.bincount(made, along, n_groups) / np.bincount(made, minlength=n_groups)
            made = np.argsort(np.argsort(middles, kind="stable"), kind="stable").astype(np.int32)[made]
        exchange(cells, records, one_each, made, n_groups, size, WINDOW, PASSES)
    return made.astype(np.int64)
