"""Sparse records in files of no name (`shoal.data.ragged_rows`), with the names of their items and classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes
from shoal.data.ragged_rows import DiskRows, Ragged, ValueFile
from shoal.data.sparse.record_rows import RecordRows
from shoal.data.sparse.records import Sparse, SparseSource, WeightFacts, ones


@dataclass(frozen=True)
class RecordsOnDisk:
    """Records in files.

    Attributes
    ----------
    rows : RecordRows
    names, classes : tuple of str
        Of items and classes, ascending; there may be more than occur.
    source : SparseSource
    """

    rows: RecordRows
    names: tuple[str, ...]
    classes: tuple[str, ...]
    source: SparseSource

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def weights(self) -> WeightFacts:
        """What their form depends on."""
        is_binary, is_negative, total = True, False, 0.0
        for part in self.rows.rows.parts():
            if part.n_values > 1:
                is_binary = is_binary and bool((part.values[1] == 1).all())
                is_negative = is_negative or bool((part.values[1] < 0).any())
                total += float(part.values[1].sum(dtype=np.float64))
        return WeightFacts(True, is_binary, is_negative, total)

    def part(self, low: int, high: int) -> Sparse:
        """The records from one to before another, held."""
        labels = self.rows.labels
        return self._held(self.rows.rows.part(low, high), None if labels is None else labels[low:high])

    def blocks(self) -> Iterator[Sparse]:
        """All records, in runs, held."""
        return (self.part(low, high) for low, high in self.rows.rows.runs())

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Sparse:
        """Some of the records, held, in the given order."""
        labels = self.rows.labels
        return self._held(self.rows.rows.take(rows), None if labels is None else labels[rows])

    def compact(self) -> RecordsOnDisk:
        """The same with the names of no items and classes but those that occur."""
        rows, names, classes, labels = self.rows.rows, self.names, self.classes, self.rows.labels
        is_used = self.rows.supports > 0
        if not is_used.all():
            number = (np.cumsum(is_used) - 1).astype(np.int32)
            renumbered = rows.beside(np.int32, lambda part: number[part.values[0]])
            rows = renumbered.columns(-1, *range(1, rows.n_values))
            names = tuple(compress(names, is_used.tolist()))
        if labels is not None:
            is_held = np.bincount(labels, minlength=len(classes)) > 0
            labels = (np.cumsum(is_held) - 1).astype(np.int32)[labels]
            classes = tuple(compress(classes, is_held.tolist()))
        return RecordsOnDisk(RecordRows(rows, len(names), labels), names, classes, self.source)

    def _held(self, found: Ragged, labels: Codes | None) -> Sparse:
        weights = ones(found.n_entries) if self.rows.is_binary else found.values[1]
        return Sparse(found.starts, found.values[0], weights, self.names, labels, self.classes, self.source)


def put_records(blocks: Iterable[Sparse], n_items: int, *, is_binary: bool) -> RecordRows:
    """Put records of whole weights, whose items and classes have the same numbers in all blocks, into files."""
    writer = DiskRows(*(ValueFile(dtype) for dtype in ((np.int32,) if is_binary else (np.int32, np.int64))))
    labels: list[Codes] = [np.zeros(0, np.int32)]
    for block in blocks:
        writer.add(block.sizes, *((block.items,) if is_binary else (block.items, block.weights)))
        if block.labels is not None:
            labels.append(block.labels)
    return RecordRows(writer.done(), n_items, np.concatenate(labels) if len(labels) > 1 else None)
