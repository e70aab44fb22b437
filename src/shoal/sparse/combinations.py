"""Records as numbers for counting combinations of items: by class, the most frequent items first.

A class that is published is known to whoever looks for somebody, so an item counts for each class by itself: k^m
anonymity then holds within every class. Owners are those who are counted: records, or persons who have several.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.data.ragged import ragged_places
from shoal.data.sparse.records import Sparse
from shoal.kernels.sparse.combinations import count_items, count_pairs, count_triples


@dataclass(frozen=True)
class Coded:
    """Records as arrays, those of an owner together.

    Attributes
    ----------
    starts, items : int64, int32 array
        The records, their items ascending.
    owners : int64 array (n_records,)
        Who is counted, ascending.
    rows : int64 array (n_records,)
        Which of the original records each one is.
    entries : int64 array
        Which of the original entries each one is.
    keys : int64 array (n_items,)
        The item of each number as ``class * number of names + place in names``.
    """

    starts: Ints
    items: Codes
    owners: Ints
    rows: Ints
    entries: Ints
    keys: Ints

    @property
    def n_items(self) -> int:
        """Number of items, each class by itself."""
        return len(self.keys)

    def kept(self, mask: Mask) -> Coded:
        """The same without some entries."""
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(mask)])
        return replace(self, starts=before[self.starts], items=self.items[mask], entries=self.entries[mask])

    def supports(self) -> Ints:
        """How many owners hold each item."""
        return count_items(self.starts, self.items, self.owners, self.n_items)

    def counted(self, size: int, k: int = 1) -> tuple[Ints, Ints, Ints]:
        """The combinations of so many items that k owners hold, ascending, and by how many; and in how many rarer ones
        each item is."""
        if size == 1:
            counts = self.supports()
            frequent = np.flatnonzero(counts >= k)
            return frequent, counts[frequent], ((counts > 0) & (counts < k)).astype(np.int64)
        count = {2: count_pairs, 3: count_triples}[size]
        return count(self.starts, self.items, self.owners, self.n_items, k)


def coded(records: Sparse, k: int = 1, owners: Ints | None = None) -> Coded:
    """Number the items that k owners of a class hold, from the most frequent on; others are left out.

    Parameters
    ----------
    owners : int64 array (n_records,), optional
        Whose each record is; by default every record is of another.
    """
    whose = np.arange(len(records)) if owners is None else np.asarray(owners, np.int64)
    rows = np.argsort(whose, kind="stable")
    ordered = records.take(rows)
    entries = ragged_places(records.starts, rows)[0]
    width = max(records.n_items, 1)
    keys = ordered.items.astype(np.int64)
    if ordered.labels is not None:
        keys += np.repeat(ordered.labels.astype(np.int64), ordered.sizes) * width
    distinct, codes = np.unique(keys, return_inverse=True)
    made = Coded(ordered.starts, codes.astype(np.int32), whose[rows], rows, entries, distinct)
    counts = made.supports()
    order = np.lexsort((distinct, -counts))[: int((counts >= k).sum())]
    place = np.full(len(distinct), -1, np.int64)
    place[order] = np.arange(len(order))
    made = replace(made, items=place[codes].astype(np.int32))
    made = replace(made.kept(made.items >= 0), keys=distinct[order])
    by_item = np.lexsort((made.items, np.repeat(np.arange(len(rows)), np.diff(made.starts))))
    return replace(made, items=made.items[by_item], entries=made.entries[by_item])


def only_items(records: Sparse, entries: Ints) -> Sparse:
    """Records as sets of some of their entries: weights count for nothing, as they would tell more than items do."""
    kept = np.zeros(len(records.items), np.bool_)
    kept[entries] = True
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    items = records.items[kept]
    return replace(records, starts=before[records.starts], items=items, weights=np.ones(len(items), np.int64))
