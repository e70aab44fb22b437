"""Which buckets of a sliced table could hold a person whose quasi-identifiers are known?

A bucket matches a tuple if every slice of it has a region that covers the tuple's values there. The tuples are those
of the original, each distinct one asked once; an index of the buckets' bounding boxes (`boxes`) names the few buckets
that are worth looking at, and inside a bucket values that are published as they are are found by a binary search.

References
----------
T. Li, N. Li, J. Zhang, I. Molloy, "Slicing: a new approach for privacy preserving data publishing", IEEE Transactions
on Knowledge and Data Engineering 24(3), 2012, definition 7; S. Rakesh Subramanian, "Screening: preserving the sensitive
information during data mining", definition 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints, Words
from shoal.check.slices.boxes import ALL, AT_ONCE, Boxes, CheckedBoxes, bin_of
from shoal.check.slices.sliced import CheckedSlices, Part, numbered, sliced_of
from shoal.check.tables.cells import published
from shoal.check.tables.classes import Missing
from shoal.check.tables.covering import Covering, ValueScale, count_unreadable, covering_of, scale_of
from shoal.data.memory import bound
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import SlicedTable
from shoal.data.tables.table import MARKERS, Table, count_codes
from shoal.errors import DataError

Hits = tuple[Ints, Ints]  # a place in the list of pairs asked for, and a region

_PAIR_BYTES = 120  # what a pair of tuple and matching bucket takes
_FEW = 16  # regions of a bucket that are looked at one by one


@dataclass(frozen=True)
class Matching:
    """The matching buckets of each distinct tuple.

    Attributes
    ----------
    sliced : Sliced
        The published table.
    of_record : int64 array (n_records,)
        The tuple of each record that was asked for.
    sizes : int64 array (n_tuples,)
        Records with each tuple.
    tuples, buckets : int64 arrays (n_pairs,)
        Every pair of tuple and matching bucket, by tuple and then by bucket.
    hits : tuple of (int64 array, int64 array), one a slice
        Pair and region, for every region that covers the tuple of a pair in its bucket, by pair.
    """

    sliced: CheckedSlices
    of_record: Ints
    sizes: Ints
    tuples: Ints
    buckets: Ints
    hits: tuple[Hits, ...]

    @property
    def n_tuples(self) -> int:
        """Distinct tuples."""
        return len(self.sizes)

    @property
    def n_matching(self) -> Ints:
        """Matching buckets of each tuple."""
        return np.bincount(self.tuples, minlength=self.n_tuples)

    def rows_of(self, number: int) -> Ints:
        """The rows of a slice that cover the tuple of each pair in its bucket."""
        pair, region = self.hits[number]
        rows = np.zeros(len(self.tuples), dtype=np.int64)
        np.add.at(rows, pair, self.sliced.parts[number].sizes[region])
        return rows


class Finder:
    """Looks tuples up in a published table.

    Parameters
    ----------
    scales : mapping of str to ValueScale, optional
        The order of the values of each column; by default that of the records, which is another one for some of them.

    Attributes
    ----------
    ranks : int32 array (n_dims, n_tuples)
        The distinct tuples.
    of_record : int64 array (n_records,)
        The tuple of each record of `original`.
    weights : int32 array (n_records,), optional
        How many records each of these stands for; else each is one.
    findings : list of str
        Labels that cannot be read; in words, without quoting them.
    n_unreadable : int
        Published cells whose label cannot be read.
    unread : list of str
        Columns whose labels cannot be read, or not for sure, without an order or a hierarchy; a sentence each.
    """

    def __init__(
        self,
        sliced: CheckedSlices,
        original: Table,
        attributes: Mapping[str, Attribute],
        missing: Missing,
        markers: Sequence[str],
        *,
        as_values: bool = False,
        scales: Mapping[str, ValueScale] | None = None,
    ) -> None:
        self.sliced, self.weights = sliced, original.weights
        self.findings: list[str] = []
        self.n_unreadable = 0
        self.unread: list[str] = []
        ranks, coverings, absent = [], [], []
        for part in sliced.parts:
            for name, column in zip(part.quasi, part.columns, strict=True):
                source = published(original[name], markers)
                scale = scale_of(source, attributes[name]) if scales is None else scales[name]
                covering = covering_of(column, scale, missing=missing, as_values=as_values)
                ranks.append(scale.of_code.astype(np.int32)[source.codes])
                absent.append(scale.n_values)
                coverings.append(covering)
                n_unreadable = count_unreadable(covering, column)
                self._note(column.name, n_unreadable)
                # Ranges of words depend on an order that the words alone do not tell.
                is_guessed = attributes[name].type == "ordinal" and scale.keys.dtype.kind != "f"
                is_guessed &= attributes[name].order is None and not bool(np.all(covering.low == covering.high))
                if n_unreadable or is_guessed:
                    self.unread.append(
                        f"the labels of {column.name!r} cannot be read without the order or hierarchy that they were "
                        "made with; give the policy with -p"
                    )
        self.of_record, first = numbered(ranks or [np.zeros(original.n_rows, dtype=np.int64)])
        self.ranks = np.array([r[first] for r in ranks], dtype=np.int32).reshape(len(ranks), len(first))
        del ranks
        wild = (self.ranks == np.array(absent, dtype=np.int32)[:, None]) if missing == "any" else self.ranks < 0
        self._slices = []
        start = 0
        for part in sliced.parts:
            dims = slice(start, start + len(part.quasi))
            self._slices.append(_SliceFinder(part, coverings[dims], self.ranks[dims], wild[dims]))
            start = dims.stop

    @property
    def n_tuples(self) -> int:
        """Distinct tuples."""
        return self.ranks.shape[1]

    def _note(self, name: str, n_unreadable: int) -> None:
        self.n_unreadable += n_unreadable
        if n_unreadable:
            self.findings.append(
                f"the column {name!r} holds {n_unreadable:,} cells that cannot be read as values of the original; "
                "give the attribute the hierarchy that the release was made with, or restore the file"
            )

    def cover(self, number: int, tuples: Ints, buckets: Ints) -> Hits:
        """Regions of a slice that cover given tuples in given buckets: place in the list, and region, by place."""
        found = [
            (place + start, region)
            for start in range(0, len(tuples), AT_ONCE)
            for place, region in self._slices[number].hits(
                tuples[start : start + AT_ONCE], buckets[start : start + AT_ONCE]
            )
        ]
        return _in_order(found)

    def index(self, tuples: Ints) -> CheckedBoxes:
        """The bounding boxes of all buckets, ready to be asked for such tuples."""
        around = [s.around_buckets(self.sliced.n_buckets) for s in self._slices if s.coverings]
        return CheckedBoxes(reduce(Boxes.beside, around), self._asked(tuples))

    def _asked(self, tuples: Ints) -> Boxes:
        return reduce(Boxes.beside, [s.asked.take(tuples) for s in self._slices if s.coverings])

    def candidates(self, tuples: Ints, index: CheckedBoxes | None = None) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of tuple and bucket whose bounding box holds it, in portions; by an index of its own if none is given.

        Where one slice has all quasi-identifiers, and each region is of one value, pairs whose region it is. The index
        of another finder will do if both are of one published table, and of the same scales.
        """
        one = [s for s in self._slices if s.coverings]
        if index is None and len(one) == 1 and one[0].is_plain:
            yield from one[0].holding(tuples)
            return
        for question, bucket in (index or self.index(tuples)).meets(self._asked(tuples)):
            yield tuples[question], bucket

    def covering_regions(self, index: CheckedBoxes | None = None) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of tuple and region that covers it, in portions; of a table of one slice whose buckets are regions."""
        for tuples, regions in self.candidates(np.arange(self.n_tuples), index):
            place, found = self._slices[0].covers(np.arange(len(tuples)), tuples, regions)
            yield tuples[place], found

    def match(self, tuples: Ints) -> tuple[Ints, Ints, tuple[Hits, ...]]:
        """All matching buckets of some tuples: tuple and bucket of each pair, and the hits of each slice."""
        found: list[tuple[Ints, Ints, list[Hits]]] = []
        n_pairs = 0
        for asked, buckets in self.candidates(tuples):
            place = np.arange(len(asked))  # of the candidates that no slice has ruled out yet
            hits: list[Hits] = []
            for number in range(len(self._slices)):
                at, region = self.cover(number, asked[place], buckets[place])
                hits.append((place[at], region))
                there = np.zeros(len(place), dtype=bool)
                there[at] = True
                place = place[there]
            new = np.full(len(asked), -1, dtype=np.int64)
            new[place] = np.arange(len(place))
            kept = [(new[p][new[p] >= 0], r[new[p] >= 0]) for p, r in hits]
            found.append((asked[place], buckets[place], kept))
            n_pairs += len(place)
            _refuse_too_many(n_pairs)
        return _joined(found, len(self._slices))


def matching(
    published: SlicedTable,
    original: Table,
    *,
    missing: Missing = "value",
    markers: Sequence[str] = MARKERS,
) -> Matching:
    """Find the matching buckets of every tuple of the original.

    Parameters
    ----------
    published : SlicedTable
        What would be published.
    original : Table
        The records.
    missing : {"value", "any"}
        "any": a missing value, published or a person's, matches every value.
    markers : sequence of str
        Texts that mean "missing".
    """
    return match_records(Finder(sliced_of(published, markers), original, published.attributes, missing, markers))


def match_records(finder: Finder, rows: npt.NDArray[np.intp] | None = None) -> Matching:
    """The matching buckets of all records, or of some."""
    of_record = finder.of_record if rows is None else finder.of_record[rows]
    weights = finder.weights if rows is None or finder.weights is None else finder.weights[rows]
    asked, of_record = np.unique(of_record, return_inverse=True)
    tuples, buckets, hits = finder.match(asked)
    sizes = count_codes(of_record, weights, len(asked))
    return Matching(
        finder.sliced, of_record.astype(np.int64), sizes, np.searchsorted(asked, tuples), buckets, tuple(hits)
    )


class _SliceFinder:
    """The regions of one slice, ready to be asked."""

    def __init__(self, part: Part, coverings: Sequence[Covering], ranks: Codes, wild: npt.NDArray[np.bool_]) -> None:
        self.part, self.coverings, self.ranks, self.wild = part, coverings, ranks, wild
        n_dims = len(coverings)
        n_regions, n_tuples = part.n_regions, ranks.shape[1]
        readable, exact = np.ones(n_regions, dtype=bool), np.ones(n_regions, dtype=bool)
        for c, x in zip(coverings, self._labels(), strict=True):
            readable &= (c.low <= c.high)[x]
            exact &= (c.low == c.high)[x]
        exact &= readable
        self.is_wild = np.asarray(wild.any(axis=0)) if n_dims else np.zeros(n_tuples, dtype=bool)
        points = [
            np.concatenate([r, c.low.astype(np.int32)[x[exact]]])
            for r, c, x in zip(ranks, coverings, self._labels(), strict=True)
        ]
        ids, first = numbered(points) if points else (np.zeros(n_tuples + int(exact.sum()), dtype=np.int64), [0])
        del points
        self.part_of_tuple, self.n_parts = ids[:n_tuples], len(first)
        keys = part.bucket[exact] * self.n_parts + ids[n_tuples:]
        order = np.argsort(keys, kind="stable")
        self.exact_keys, self.exact_regions = keys[order], np.flatnonzero(exact)[order]
        self.is_plain = bool(exact.all()) and not self.is_wild.any()
        self.general = _Scan(part, np.flatnonzero(readable & ~exact))
        self.readable = np.flatnonzero(readable)
        self._everything: _Scan | None = None

    def _labels(self) -> Iterator[Codes]:
        return (self.part.labels(d) for d in range(len(self.coverings)))

    @cached_property
    def labels(self) -> list[Codes]:
        """The label of each region, by dimension."""
        return list(self._labels())

    @cached_property
    def boxes(self) -> Boxes:
        """What each region covers."""
        found = ((c.low[x], c.high[x], c.masks[x]) for c, x in zip(self.coverings, self._labels(), strict=True))
        return _boxes(found, len(self.coverings), self.part.n_regions)

    @property
    def low(self) -> Codes:
        """The least rank of each region, by dimension."""
        return self.boxes.low

    @property
    def high(self) -> Codes:
        """The greatest rank of each region, by dimension."""
        return self.boxes.high

    @cached_property
    def asked(self) -> Boxes:
        """What each tuple may be."""
        found = (
            (
                np.where(w, 0, r),
                np.where(w, c.n_values, r),
                np.where(w, ALL, np.uint64(1) << bin_of(r.astype(np.int64), c.n_values)),
            )
            for w, r, c in zip(self.wild, self.ranks, self.coverings, strict=True)
        )
        return _boxes(found, len(self.coverings), self.ranks.shape[1])

    def holding(self, tuples: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of tuple and bucket that has it as a region, where all regions are of one value, in portions."""
        buckets, parts = np.divmod(self.exact_keys, max(1, self.n_parts))
        order = np.argsort(parts, kind="stable")
        buckets, parts = buckets[order], parts[order]
        for begin in range(0, len(tuples), AT_ONCE):
            some = tuples[begin : begin + AT_ONCE]
            starts = np.searchsorted(parts, self.part_of_tuple[some], "left")
            owner, place = spread(starts, np.searchsorted(parts, self.part_of_tuple[some], "right") - starts)
            yield some[owner], buckets[place]

    def around_buckets(self, n_buckets: int) -> Boxes:
        """A box around the regions of every bucket; those that nobody can read do not count."""
        legible = self.low <= self.high
        boxes = Boxes(
            np.where(legible, self.low, np.iinfo(np.int32).max), np.where(legible, self.high, -1), self.boxes.masks
        )
        return boxes.joined(np.searchsorted(self.part.bucket, np.arange(n_buckets)))

    def hits(self, tuples: Ints, buckets: Ints) -> Iterator[Hits]:
        wild = self.is_wild[tuples]
        plain = np.flatnonzero(~wild)
        keys = buckets[plain] * self.n_parts + self.part_of_tuple[tuples[plain]]
        start = np.searchsorted(self.exact_keys, keys, "left")
        count = np.searchsorted(self.exact_keys, keys, "right") - start
        owner, place = spread(start, count)
        yield plain[owner], self.exact_regions[place]
        yield from self.general.hits(self, plain, tuples[plain], buckets[plain])
        if wild.any():
            if self._everything is None:
                self._everything = _Scan(self.part, self.readable)
            some = np.flatnonzero(wild)
            yield from self._everything.hits(self, some, tuples[some], buckets[some])

    def covers(self, place: Ints, tuples: Ints, regions: Ints) -> Hits:
        """Those of the places whose region covers the tuple."""
        for dim, covering in enumerate(self.coverings):
            tuple_, region = tuples[place], regions[place]
            keep = (self.low[dim][region] <= self.asked.high[dim][tuple_]) & (
                self.asked.low[dim][tuple_] <= self.high[dim][region]
            )
            place = place[keep]
            labels = self.labels[dim][regions[place]].astype(np.int64)
            check = ~covering.is_span[labels] & ~self.wild[dim][tuples[place]]
            if check.any():
                keep = ~check
                keep[check] = covering.covers(labels[check], self.ranks[dim][tuples[place[check]]])
                place = place[keep]
        return place, regions[place]


class _Scan:
    """Some regions of a slice, looked at one by one in buckets with few of them, else through an index.

    The finder that has it is handed in: if each knew the other, both would stay until someone looks for such circles.
    """

    def __init__(self, part: Part, regions: Ints) -> None:
        self.regions = regions  # ascending, and so by bucket
        self.buckets = part.bucket[regions]
        n_buckets = int(part.bucket[-1]) + 1
        self.counts = np.bincount(self.buckets, minlength=n_buckets)
        self.starts = np.cumsum(self.counts) - self.counts
        self.crowded = self.counts > _FEW
        self._tree: tuple[CheckedBoxes, Ints] | None = None

    def hits(self, finder: _SliceFinder, places: Ints, tuples: Ints, buckets: Ints) -> Iterator[Hits]:
        if not len(self.regions) or not len(places):
            return
        crowded = self.crowded[buckets]
        few = np.flatnonzero(~crowded)
        for start in range(0, len(few), AT_ONCE // 4):
            some = few[start : start + AT_ONCE // 4]
            owner, place = spread(self.starts[buckets[some]], self.counts[buckets[some]])
            at, region = finder.covers(np.arange(len(owner)), tuples[some[owner]], self.regions[place])
            yield places[some[owner[at]]], region
        many = np.flatnonzero(crowded)
        if len(many):
            yield from self._through_tree(finder, places[many], tuples[many], buckets[many])

    def _through_tree(self, finder: _SliceFinder, places: Ints, tuples: Ints, buckets: Ints) -> Iterator[Hits]:
        asked = _flat(buckets).beside(finder.asked.take(tuples))
        if self._tree is None:
            some = self.regions[self.crowded[self.buckets]]
            self._tree = CheckedBoxes(_flat(finder.part.bucket[some]).beside(finder.boxes.take(some)), asked), some
        tree, some = self._tree
        for question, box in tree.meets(asked):
            at, region = finder.covers(np.arange(len(question)), tuples[question], some[box])
            yield places[question[at]], region


def _refuse_too_many(n_pairs: int) -> None:
    """Refuse more pairs of a record and a bucket that could hold it than fit, where memory is bounded."""
    memory = bound()
    if memory is not None and n_pairs * _PAIR_BYTES > memory // 2:
        raise DataError(
            f"{n_pairs:,} pairs of a record and a bucket that could hold it are too many for {memory / 1e9:.3g} GB; "
            'set missing = "value", or leave memory out'
        )


def _boxes(dims: Iterable[tuple[Ints, Ints, Words]], n_dims: int, n_boxes: int) -> Boxes:
    """Boxes from low, high and mask of each dimension, of which one is held at a time."""
    low, high = (np.empty((n_dims, n_boxes), dtype=np.int32) for _ in range(2))
    masks = np.empty((n_dims, n_boxes), dtype=np.uint64)
    for dim, found in enumerate(dims):
        low[dim], high[dim], masks[dim] = found
    return Boxes(low, high, masks)


def _flat(buckets: Ints) -> Boxes:
    """The bucket as a dimension."""
    at = buckets[None].astype(np.int32)
    return Boxes(at, at, np.full(at.shape, ALL))


def spread(starts: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """For each run the index of its owner and the places in it, one after the other.

    >>> [x.tolist() for x in spread(np.array([5, 0]), np.array([2, 1]))]
    [[0, 0, 1], [5, 6, 0]]
    """
    owner = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return owner, np.arange(len(owner)) - before[owner] + starts[owner]


def _in_order(found: Sequence[Hits]) -> Hits:
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    place, region = (np.concatenate([f[i] for f in found]) for i in (0, 1))
    order = np.lexsort((region, place))
    return place[order], region[order]


def _joined(found: Sequence[tuple[Ints, Ints, list[Hits]]], n_slices: int) -> tuple[Ints, Ints, tuple[Hits, ...]]:
    """Portions of pairs as one, by tuple and bucket."""
    nothing = np.zeros(0, dtype=np.int64)
    if not found:
        return nothing, nothing, tuple((nothing, nothing) for _ in range(n_slices))
    tuples, buckets = (np.concatenate([f[i] for f in found]) for i in (0, 1))
    order = np.lexsort((buckets, tuples))
    new = np.empty(len(order), dtype=np.int64)
    new[order] = np.arange(len(order))
    starts = np.cumsum([0] + [len(f[0]) for f in found])
    hits = []
    for number in range(n_slices):
        parts = [(new[f[2][number][0] + start], f[2][number][1]) for f, start in zip(found, starts, strict=False)]
        hits.append(_in_order(parts))
    return tuples[order], buckets[order], tuple(hits)
