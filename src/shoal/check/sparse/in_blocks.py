"""Check sketches that are not held, record by record, beside originals that are read in blocks.

Of sketches of whole numbers under delta-anonymity, with all secrets: nothing about one record depends on another one,
but for counts over all, which are made in a scan of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shoal.arrays import Ints
from shoal.check.sparse.bounds import (
    Found,
    Totals,
    bounds_of,
    find_class_size,
    find_coarse_counts,
    find_delta_anonymity,
    find_max_components,
    find_recovery_cap,
    told_class_size,
    told_coarse_counts,
    told_delta_anonymity,
    told_max_components,
    told_recovery_cap,
)
from shoal.check.sparse.signs import KEY_BYTES
from shoal.check.sparse.sketches import count_unfair_of, count_wrong, told_recomputed
from shoal.check.sparse.verify import SparseAsked, is_sorted
from shoal.check.verdict import Verdict
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketch_store import WrittenSketches, written_sketches
from shoal.data.strings.strings import symbol_keys
from shoal.errors import DataError

AT_ONCE = 1 << 16
"""Sketches of the file that are read in one piece, to see that they are sorted."""


@dataclass(frozen=True)
class SketchesFound:
    """What a file of sketches is found to hold.

    Attributes
    ----------
    n : int
        How many.
    counts : dict of int to int
        How many have each number of components.
    classes : dict of str to int
        How many are of each class.
    """

    n: int
    counts: dict[int, int]
    classes: dict[str, int]


def verify_in_blocks(
    path: Path, asked: SparseAsked, read: Callable[[], Iterator[Sparse]], rows: Ints, key: bytes
) -> tuple[Verdict, SketchesFound]:
    """Recompute what is asked of a file of sketches, each from its original and the key.

    Parameters
    ----------
    path : Path
        The file.
    asked : SparseAsked
        Without neighbours and groups.
    read : callable
        Gives all originals in blocks, each time in the same order.
    rows : int64 array (n_published,)
        The original of each sketch.
    key : bytes
        The key of all.
    """
    if asked.k is not None or asked.group_size is not None:
        raise DataError("neighbours and groups are looked at with all records in memory")
    totals = totals_of(read())
    with written_sketches(path, rows) as written:
        if not written.n:
            raise DataError("nothing would be published: there are no sketches; ask for less or give more data")
        found = SketchesFound(written.n, dict(written.counts), dict(written.class_counts))
        faults = _faults(written, rows, totals, key)
        if faults:
            return Verdict((), (), faults), found
        return _verified(written, asked, read, totals, key), found


def totals_of(blocks: Iterator[Sparse]) -> Totals:
    """Count items and classes over all records."""
    n_records = 0
    holders: dict[str, int] = {}
    sizes: dict[str, int] = {}
    has_classes = False
    for block in blocks:
        n_records += len(block)
        for name, n in zip(block.names, block.supports.tolist(), strict=True):
            holders[name] = holders.get(name, 0) + n
        if block.labels is not None:
            has_classes = True
            filled = np.bincount(block.labels[block.sizes > 0], minlength=len(block.classes))
            for name, n in zip(block.classes, filled.tolist(), strict=True):
                sizes[name] = sizes.get(name, 0) + n
    names, classes = tuple(sorted(holders)), tuple(sorted(sizes)) if has_classes else ()
    return Totals(
        n_records,
        names,
        np.array([holders[n] for n in names], np.int64),
        classes,
        np.array([sizes[n] for n in classes], np.int64),
    )


def _faults(written: WrittenSketches, rows: Ints, totals: Totals, key: bytes) -> tuple[str, ...]:
    """What is wrong with the sketches, or with the secrets, before anything is computed."""
    faults = []
    if 0 in written.counts:
        faults.append(f"{written.counts[0]:,} published sketches have no component; such records are to be left out")
    if len(key) != KEY_BYTES:
        faults.append(f"the key does not have {KEY_BYTES} bytes: it is not a key of sketches")
    if written.has_classes != bool(totals.classes):
        faults.append("one side has classes and the other has none; read both in the same way")
    if rows.shape != (written.n,):
        faults.append(f"the kept rows are {rows.size:,}, and there are {written.n:,} sketches: another release's?")
    elif rows.min() < 0 or rows.max() >= totals.n_records:
        faults.append("some kept rows are not among the records of the original: another original's?")
    elif (np.diff(np.sort(rows)) == 0).any():
        faults.append("some records have more than one sketch")
    for low in range(0, written.n, AT_ONCE):
        if not is_sorted(written.in_file(max(low - 1, 0), low + AT_ONCE)):
            faults.append("the sketches are not sorted by their content, so their order may tell where they come from")
            break
    return tuple(faults)


def _verified(
    written: WrittenSketches, asked: SparseAsked, read: Callable[[], Iterator[Sparse]], totals: Totals, key: bytes
) -> Verdict:
    place = {name: i for i, name in enumerate(totals.classes)}
    of_class = np.array([place.get(name, -1) for name in written.classes], np.int64)
    sizes = np.zeros(len(totals.classes), np.int64)
    for name, n in written.class_counts.items():
        if name in place:
            sizes[place[name]] = min(n, int(totals.class_sizes[place[name]]))
    sums: dict[str, Found] = {}
    first = n_small = n_foreign = n_wrong = 0

    def add(name: str, found: Found) -> None:
        sums[name] = sums[name] + found if name in sums else found

    for block in read():
        if not block.is_integral:
            raise DataError("the weights are not whole numbers: they changed while they were read")
        owners, published = written.of_records(first, first + len(block))
        rows, counts = owners - first, published.counts
        first += len(block)
        if not len(rows):
            continue
        bounds = bounds_of(block, 1.0, asked.rare, written.has_classes, asked.recovery_share, totals)
        add("delta", find_delta_anonymity(bounds, rows, counts, asked.delta))
        add("cap", find_recovery_cap(bounds, rows, counts))
        add("most", find_max_components(counts, asked.max_components))
        add("coarse", find_coarse_counts(counts))
        if published.labels is not None and block.labels is not None:
            labels = of_class[published.labels]
            own = np.array([place[name] for name in block.classes], np.int64)[block.labels[rows]]
            found, n = find_class_size(sizes, labels, own != labels, asked.rare)
            add("class", found)
            n_small, n_foreign = n_small + n, n_foreign + int((own != labels).sum())
        n_wrong += count_wrong(published, block, rows, key)
    if first != totals.n_records:
        raise DataError("the records changed while they were read; try again when nobody writes to them")
    guarantees = [told_delta_anonymity(sums["delta"], asked.delta)]
    if asked.recovery_cap:
        guarantees.append(told_recovery_cap(sums["cap"], asked.recovery_share))
    guarantees.append(told_max_components(sums["most"], asked.max_components))
    if asked.coarse_counts:
        guarantees.append(told_coarse_counts(sums["coarse"]))
    if written.has_classes:
        guarantees.append(told_class_size(sums["class"], n_small, n_foreign, asked.rare, totals.n_records))
    n_unfair = count_unfair_of(key, symbol_keys(totals.names), max(written.counts))
    guarantees.append(told_recomputed(written.n, n_wrong, n_unfair))
    return Verdict(tuple(guarantees))
