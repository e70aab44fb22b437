"""Disassociated records: clusters of records whose items stand in chunks, so that nothing ties the chunks of a record.

The file has a line for each subrecord, its items between blanks or the delimiter, after what it belongs to::

    cluster records chunk items
    1 31 1 bread milk
    1 31 1 bread
    1 31 terms candles wine
    1-2 65 1 beer

The 31 records of cluster 1 hold these subrecords of its chunk 1 in some order, one a record at most; ``terms`` lists
items that some of its records hold, at least one each, and nothing tells how many. A chunk of ``1-2`` is shared: its
subrecords belong to records of the clusters 1 to 2. Where there are classes, that of the cluster stands behind the
number of records.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.data.sparse.records import Sparse, SparseSource, assemble
from shoal.data.strings.formats.lines import LINE_END, NOTHING, tokenize
from shoal.data.whole_text import load_text
from shoal.errors import DataError

TERMS = "terms"
_LINES_AT_ONCE = 1 << 14
_MOST_RECORDS = 1 << 31


@dataclass(frozen=True)
class Disassociated:
    """What is published of disassociated records.

    Attributes
    ----------
    sizes : int64 array (n_clusters,)
        How many records each cluster has.
    firsts, lasts : int64 array (n_chunks,)
        The clusters of each chunk, from one to another; one but for shared chunks.
    is_terms : bool array (n_chunks,)
        Which are term chunks, of one line.
    chunk_starts : int64 array (n_chunks + 1,)
        Where the lines of each chunk begin.
    starts, items : int64, int32 array
        The items of each line, an index into `names`.
    names : tuple of str
    labels : int32 array (n_clusters,), optional
        The class of each cluster, an index into `classes`.
    classes : tuple of str
    source : SparseSource
    """

    sizes: Ints
    firsts: Ints
    lasts: Ints
    is_terms: Mask
    chunk_starts: Ints
    starts: Ints
    items: Codes
    names: tuple[str, ...]
    labels: Codes | None = None
    classes: tuple[str, ...] = ()
    source: SparseSource = field(default_factory=SparseSource)

    def __len__(self) -> int:
        return int(self.sizes.sum())

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.sizes)

    @property
    def bounds(self) -> Ints:
        """Where the records of each cluster would begin."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.sizes)])

    def reconstructed(self, rng: np.random.Generator) -> Sparse:
        """Records as they may have been: the subrecords of each chunk on records of its clusters, drawn at random."""
        owners = self._dealt(rng)
        order = np.argsort(owners, kind="stable")
        starts = np.searchsorted(owners[order], np.arange(len(self) + 1)).astype(np.int64)
        made = assemble(starts, self.items[order], self.names, source=self.source)
        if self.labels is None:
            return made
        codes = np.repeat(self.labels, self.sizes).astype(np.int32)
        return Sparse(made.starts, made.items, made.weights, made.names, codes, self.classes, made.source)

    def _dealt(self, rng: np.random.Generator) -> Ints:
        """A record for each entry: no two subrecords of a chunk get the same, and terms go to empty ones first."""
        bounds = self.bounds
        dealt = np.empty(len(self.items), np.int64)
        is_filled = np.zeros(len(self), bool)
        chunks = list(zip(pairwise(self.chunk_starts.tolist()), self.firsts.tolist(), self.lasts.tolist(), strict=True))
        for is_terms in (False, True):
            for i in np.flatnonzero(self.is_terms == is_terms).tolist():
                (line, end), first, last = chunks[i]
                low, high, at = int(bounds[first]), int(bounds[last + 1]), slice(self.starts[line], self.starts[end])
                rows = low + rng.permutation(high - low)
                if is_terms:
                    rows = rows[np.argsort(is_filled[rows], kind="stable")]
                    more = rng.integers(low, high, max(0, at.stop - at.start - len(rows)))
                    rows = np.concatenate([rows, more])[: at.stop - at.start]
                else:
                    rows = np.repeat(rows[: end - line], np.diff(self.starts[line : end + 1]))
                dealt[at] = rows
                is_filled[rows] = True
        return dealt

    def take(self, rows: Any) -> Sparse:
        """Some records of a reconstruction."""
        return self.reconstructed(np.random.default_rng(0)).take(rows)


def write_disassociated(
    records: Disassociated, path: str | os.PathLike[str], delimiter: str | None, *, packed: bool = False
) -> None:
    """Write the file that `read_disassociated` reads."""
    with open(path, "wb") as file:
        if not packed:
            file.writelines(_pieces(records, delimiter or " "))
            return
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as zipped:
            for piece in _pieces(records, delimiter or " "):
                zipped.write(piece)


def _pieces(records: Disassociated, between: str) -> Iterator[bytes]:
    has_classes = records.labels is not None
    heading = ("cluster", "records", *(("class",) if has_classes else ()), "chunk", "items")
    yield (between.join(heading) + "\n").encode()
    prefixes = _prefixes(records, between)
    chunks = np.repeat(np.arange(len(records.firsts)), np.diff(records.chunk_starts))
    for begin in range(0, len(chunks), _LINES_AT_ONCE):
        end = min(begin + _LINES_AT_ONCE, len(chunks))
        starts = records.starts[begin : end + 1]
        names = [records.names[i] for i in records.items[starts[0] : starts[-1]].tolist()]
        at = (starts - starts[0]).tolist()
        lines = [
            between.join([prefixes[chunk], *names[low:high]])
            for chunk, low, high in zip(chunks[begin:end].tolist(), at[:-1], at[1:], strict=True)
        ]
        yield ("\n".join(lines) + "\n").encode()


def _prefixes(records: Disassociated, between: str) -> list[str]:
    """What stands before the items of each chunk; chunks of the same clusters are counted from 1."""
    bounds = records.bounds
    counts: dict[tuple[int, int], int] = {}
    told = []
    listed = (records.firsts.tolist(), records.lasts.tolist(), records.is_terms.tolist())
    for first, last, is_terms in zip(*listed, strict=True):
        clusters = f"{first + 1}" if first == last else f"{first + 1}-{last + 1}"
        counts[first, last] = number = counts.get((first, last), 0) + (not is_terms)
        label = [] if records.labels is None else [records.classes[records.labels[first]]]
        size = int(bounds[last + 1] - bounds[first])
        told.append(between.join([clusters, str(size), *label, TERMS if is_terms else str(number)]))
    return told


def read_disassociated(path: str | os.PathLike[str], delimiter: str | None, *, has_classes: bool) -> Disassociated:
    """Read what `write_disassociated` wrote, or what another tool made of it.

    Raises
    ------
    DataError
        If it is no such file, with the first line that is wrong.
    """
    codes, distinct = tokenize(load_text(Path(path)), delimiter)
    ends = np.flatnonzero(codes == LINE_END)
    begins = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
    n_before = 4 if has_classes else 3
    is_right = (ends - begins > n_before) | (np.arange(len(ends)) == 0)
    if not is_right.all() or not len(ends) or (codes == NOTHING).any():
        raise _no_line(path, int(np.argmin(is_right)) + 1)
    begins, ends = begins[1:], ends[1:]
    words = np.array([name.decode() for name in distinct] + [""], object)
    clusters, sizes, chunks = (words[codes[begins + i]] for i in (0, 1, n_before - 1))
    # A chunk is a run of lines that begin alike.
    is_new = np.zeros(len(begins), np.bool_)
    is_new[:1] = True
    for i in range(n_before):
        column = codes[begins + i]
        is_new[1:] |= column[1:] != column[:-1]
    chunk_lines = np.flatnonzero(is_new)
    spans = [_span(text) for text in clusters[chunk_lines]]
    counted = [int(text) if text.isdigit() else -1 for text in sizes[chunk_lines]]
    wrong = [
        span is None or n < 0 or not (chunk == TERMS or chunk.isdigit())
        for span, n, chunk in zip(spans, counted, chunks[chunk_lines], strict=True)
    ]
    if any(wrong):
        raise _no_line(path, int(chunk_lines[wrong.index(True)]) + 2)
    bounds = np.array(spans, np.int64).reshape(-1, 2)
    n_clusters = int(bounds[:, 1].max(initial=-1)) + 1
    if n_clusters > len(begins) or max(counted, default=0) > _MOST_RECORDS:
        raise DataError(f"{path}: tells of more clusters or records than it has lines for; restore the file")
    told = np.full(n_clusters, -1, np.int64)
    alone = bounds[:, 0] == bounds[:, 1]
    numbers = np.array(counted, np.int64)
    told[bounds[alone, 0]] = numbers[alone]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.maximum(told, 0))])
    is_wrong = (told[bounds[:, 0]] < 0) | (before[bounds[:, 1] + 1] - before[bounds[:, 0]] != numbers)
    if is_wrong.any() or (told < 0).any():
        line = int(chunk_lines[np.argmax(is_wrong)]) + 2
        raise DataError(
            f"{path}: the numbers of records of clusters do not agree, first on line {line}; restore the file"
        )
    labels: Codes | None = None
    classes: tuple[str, ...] = ()
    if has_classes:
        of_chunk = codes[begins + 2][chunk_lines]
        of_cluster = np.zeros(n_clusters, np.int64)
        of_cluster[bounds[alone, 0]] = of_chunk[alone]
        if (of_cluster[bounds[:, 0]] != of_chunk).any() or (of_cluster[bounds[:, 1]] != of_chunk).any():
            raise DataError(f"{path}: chunks of one cluster have different classes; restore the file")
        named, inverse = np.unique(words[of_cluster].astype(str), return_inverse=True)
        labels, classes = inverse.astype(np.int32), tuple(str(n) for n in named)
    # Without what stands before the items.
    is_item = np.ones(len(codes), np.bool_)
    is_item[: begins[0] if len(begins) else len(codes)] = False
    is_item[ends] = False
    for i in range(n_before):
        is_item[begins + i] = False
    items = codes[is_item]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - begins - n_before)])
    used, inverse = np.unique(items, return_inverse=True)
    order = sorted(range(len(used)), key=lambda i: str(words[used[i]]))
    place = np.empty(len(used), np.int64)
    place[order] = np.arange(len(used))
    return Disassociated(
        told,
        bounds[:, 0],
        bounds[:, 1],
        np.array([chunk == TERMS for chunk in chunks[chunk_lines]], np.bool_),
        np.append(chunk_lines, len(begins)).astype(np.int64),
        starts,
        place[inverse].astype(np.int32),
        tuple(str(words[used[i]]) for i in order),
        labels,
        classes,
        SparseSource("data", "disassociated", delimiter),
    )


def _span(text: str) -> tuple[int, int] | None:
    """The clusters of ``3`` or ``3-6``, counted from 0."""
    first, _, last = text.partition("-")
    if not (first.isdigit() and (last or first).isdigit()) or text.endswith("-"):
        return None
    low, high = int(first) - 1, int(last or first) - 1
    return (low, high) if 0 <= low <= high else None


def _no_line(path: str | os.PathLike[str], line: int) -> DataError:
    return DataError(f"{path}, line {line}: is not a line of disassociated records; restore the file")
