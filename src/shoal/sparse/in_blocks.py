"""Sketches of records that are read in blocks and never held, the same as of records that are.

Under delta-anonymity nothing about one record depends on another one, but for counts over all, which are made in a scan
of their own: how many hold each item, and how many each class has. k-variance looks at the nearest of all records, and
real weights are rounded to a grid that all weights decide; neither is done here.

**Guarantee**, **Not protected**: as of `shoal.sparse.anonymize`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Ints
from shoal.data.sparse.records import Sparse, SparseSource, WeightFacts
from shoal.data.sparse.sketch_store import SketchStore
from shoal.data.sparse.sketches import Sketches
from shoal.data.sparse.svmlight import notes_of_classes
from shoal.errors import DataError, PolicyError
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.progress import Progress
from shoal.sparse.anonymize import REASONS, AllRecords, component_caps
from shoal.sparse.coarse import coarse_counts
from shoal.sparse.sketch import sketch_records

_CLASS = REASONS.index("small_class")
ROUNDED, AVERAGED = "rounded to a grid that depends on all of them", "averaged in the order of all records"
"""What is done to weights that are not whole numbers: of sketches, and of pseudo-baskets."""


@dataclass(frozen=True)
class RecordCounts:
    """What is known of all records after one scan.

    Attributes
    ----------
    whole : AllRecords
    names, classes : tuple of str
        All items and all classes, ascending.
    has_classes : bool
    n_filled, n_entries : int
        Records with items, and items of all records.
    typical : float, optional
        The median of the sizes of weights; None where there are none.
    weights : WeightFacts
    source : SparseSource
        Where they come from, with what was noted while they were read.
    """

    whole: AllRecords
    names: tuple[str, ...]
    classes: tuple[str, ...]
    has_classes: bool
    n_filled: int
    n_entries: int
    typical: float | None
    weights: WeightFacts
    source: SparseSource

    def numbered(self, block: Sparse) -> Sparse:
        """Some of the records, with items and classes by their numbers among all."""
        try:
            items = _numbers(block.names, self.names)[block.items].astype(np.int32)
            labels = None
            if block.labels is not None:
                labels = _numbers(block.classes, self.classes)[block.labels].astype(np.int32)
        except KeyError:
            raise changed_meanwhile() from None
        return replace(block, items=items, names=self.names, labels=labels, classes=self.classes)


def _numbers(names: tuple[str, ...], among: tuple[str, ...]) -> Ints:
    place = {name: i for i, name in enumerate(among)}
    return np.array([place[name] for name in names], np.int64)


def changed_meanwhile() -> DataError:
    """What is said of a file that is another one when it is read again."""
    return DataError("the records changed while they were read; try again when nobody writes to them")


def count_blocks(
    blocks: Iterable[Sparse], refuse: Callable[[int, int], None] | None = None, reals: str = ROUNDED
) -> RecordCounts:
    """Count records, items, classes and weights.

    Parameters
    ----------
    refuse : callable, optional
        Called with the numbers of records, and of items and classes, whenever there are more of them.
    reals : str
        Why weights that are not whole numbers are refused.

    Raises
    ------
    PolicyError
        If weights are real numbers.
    """
    n_records = n_filled = 0
    holders: dict[str, int] = {}
    sizes: dict[str, int] = {}
    weights: dict[int, int] = {}
    has_classes = is_negative = False
    source, notes = SparseSource(), Counter[str]()
    for block in blocks:
        if not block.is_integral:
            raise PolicyError(
                f"weights that are not whole numbers are {reals}, which needs all records in memory: leave memory out, "
                "or scale the weights to whole numbers"
            )
        source = block.source
        notes.update(_counted_notes(source.notes))
        n_records += len(block)
        is_filled = block.sizes > 0
        n_filled += int(is_filled.sum())
        _add(holders, block.names, block.supports)
        if block.labels is not None:
            has_classes = True
            _add(sizes, block.classes, np.bincount(block.labels[is_filled], minlength=len(block.classes)))
        is_negative = is_negative or (not block.is_binary and bool((block.weights < 0).any()))
        if refuse is not None:
            refuse(n_records, len(holders) + len(sizes))
        values, counts = (
            (np.ones(1, np.int64), np.array([len(block.items)]))
            if block.is_binary
            else np.unique(np.abs(block.weights), return_counts=True)
        )
        for value, n in zip(values.tolist(), counts.tolist(), strict=True):
            weights[value] = weights.get(value, 0) + n
    names, classes = tuple(sorted(holders)), tuple(sorted(sizes))
    whole = AllRecords(
        n_records,
        np.array([holders[n] for n in names], np.int64),
        np.array([sizes[n] for n in classes], np.int64),
    )
    n_entries, total = sum(weights.values()), float(sum(value * n for value, n in weights.items()))
    facts = WeightFacts(True, weights.keys() <= {1} and not is_negative, is_negative, total)
    told = tuple(f"{n} {note}" for note, n in notes.items())
    if has_classes:
        told += notes_of_classes(len(classes), n_records)
    source = replace(source, notes=told)
    return RecordCounts(whole, names, classes, has_classes, n_filled, n_entries, _median(weights), facts, source)


def _counted_notes(notes: Iterable[str]) -> dict[str, int]:
    """Notes that begin with a number, by what follows it; others are of single blocks.

    >>> _counted_notes(("3 items of nothing were left out", "other"))
    {'items of nothing were left out': 3}
    """
    parted = (note.split(" ", 1) for note in notes)
    return {words[1]: int(words[0]) for words in parted if len(words) == 2 and words[0].isdigit()}


def _add(counts: dict[str, int], names: tuple[str, ...], more: Ints) -> None:
    for name, n in zip(names, more.tolist(), strict=True):
        counts[name] = counts.get(name, 0) + n


def _median(counts: dict[int, int]) -> float | None:
    """The median of numbers of which it is known how often each occurs.

    >>> _median({1: 2, 4: 1, 8: 1}), _median({3: 5})
    (2.5, 3.0)
    """
    n = sum(counts.values())
    if not n:
        return None
    values = sorted(counts)
    ends = np.cumsum([counts[value] for value in values])
    low, high = (values[int(np.searchsorted(ends, at, side="right"))] for at in ((n - 1) // 2, n // 2))
    return (low + high) / 2


def sketch_in_blocks(
    read: Callable[[], Iterator[Sparse]],
    counted: RecordCounts,
    policy: SparsePolicy,
    key: bytes,
    store: SketchStore,
    *,
    look: Callable[[Ints, Sparse, Sketches], None],
    progress: Progress | None = None,
) -> Ints:
    """Sketch records block by block into a store.

    Parameters
    ----------
    read : callable
        Gives all records in blocks, in the same order as when they were counted.
    look : callable
        Called with the numbers of some records, these and their sketches, before small classes are left out.

    Returns
    -------
    int64 array (len(REASONS),)
        How many records have no sketch, by the reason.
    """
    reasons = np.zeros(len(REASONS), np.int64)
    first, n_records = 0, counted.whole.n_records
    for block in read():
        records = counted.numbered(block)
        counts, why = component_caps(records, policy, 1.0, counted.whole)
        if policy.method.coarse_counts:
            counts = coarse_counts(counts)
        reasons += np.bincount(why, minlength=len(REASONS))
        rows = np.flatnonzero(counts > 0)
        if len(rows):
            some = records.take(rows)
            sketches = sketch_records(some, counts[rows], key, 1.0)
            store.add(first + rows, sketches)
            look(first + rows, some, sketches)
        first += len(block)
        if progress is not None:
            progress("sketching records", first, n_records)
    if first != n_records:
        raise changed_meanwhile()
    if counted.has_classes:
        # A class of which few are left points at them, however many were suppressed for other reasons.
        n_exposed = store.drop_small_classes(policy.method.rare)
        reasons[0] -= n_exposed
        reasons[_CLASS] += n_exposed
    return reasons
