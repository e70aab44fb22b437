"""Which original values a published cell covers: once for each distinct label, never once a record.

The values of the original get ranks in the attribute's own order; a label then covers an interval of ranks, or a
listed set of them. What the labels may be: a value; ``[a..b]``, ends included; ``{x, y}``; ``*``, everything; a node
of the attribute's hierarchy; the beginning of a code with stars behind it; each with `` or missing`` behind it; a
spelling of a missing value. A value may itself hold commas, braces or dots, so a set is read against the values that
the original has. A label that can be read in two ways covers what either reading covers, and is counted as doubtful;
one that cannot be read covers nothing, and is counted as unreadable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.check.boxes import Masks, bin_of, span_masks
from shoal.check.classes import Missing
from shoal.data.attribute import Attribute
from shoal.data.parse import parse_dates, parse_numbers
from shoal.data.table import Column, spell

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

EVERYTHING = "*"
OR_MISSING = " or missing"


@dataclass(frozen=True)
class Scale:
    """The values of an original column in order.

    Attributes
    ----------
    of_code : int64 array
        The rank of each code of the original's dictionary; all missing spellings have the last rank.
    n_values : int
        Distinct present values, and the rank of the missing one.
    rank_of : mapping of str to int
        The rank of each spelling of a present value.
    keys : array (n_values,)
        What the values are sorted by: numbers, places in an order, or texts.
    is_ordered : bool
        Whether ``[a..b]`` has a meaning.
    nodes : mapping of str to int64 array
        The ranks below each label of the hierarchy.
    is_code : bool
        Whether ``48***`` stands for all codes that begin with 48.
    """

    name: str
    of_code: Ints
    n_values: int
    rank_of: Mapping[str, int]
    keys: npt.NDArray[np.generic]
    is_ordered: bool
    nodes: Mapping[str, Ints]
    is_code: bool


@dataclass(frozen=True)
class Covering:
    """What the labels of one published column cover.

    Attributes
    ----------
    low, high : int64 arrays (n_labels,)
        The least and the greatest rank that a label covers; the missing value has the rank `n_values`.
    is_span : bool array (n_labels,)
        Whether it covers every rank between them.
    listed : int64 array, ascending
        ``label * (n_values + 1) + rank`` of all that the other labels cover.
    unreadable, doubtful : bool array (n_labels,)
        Labels that cannot be read, and those that can be read in two ways.
    """

    n_values: int
    low: Ints
    high: Ints
    is_span: Bools
    listed: Ints
    unreadable: Bools
    doubtful: Bools

    @property
    def masks(self) -> Masks:
        """The bins (`boxes`) that each label covers something in."""
        masks = span_masks(self.low, self.high, self.n_values)
        masks[~self.is_span] = 0
        label, rank = np.divmod(self.listed[self.listed >= 0], self.n_values + 1)
        np.bitwise_or.at(masks, label, np.uint64(1) << bin_of(rank, self.n_values))
        return masks

    def covers(self, labels: Ints, ranks: Ints) -> Bools:
        """Whether each label covers the rank beside it."""
        inside = (self.low[labels] <= ranks) & (ranks <= self.high[labels])
        check = np.flatnonzero(inside & ~self.is_span[labels])
        if len(check):
            keys = labels[check] * (self.n_values + 1) + ranks[check]
            place = np.minimum(np.searchsorted(self.listed, keys), len(self.listed) - 1)
            inside[check] = self.listed[place] == keys
        return np.asarray(inside)


def scale_of(column: Column, attribute: Attribute) -> Scale:
    """Order the values of an original column as its attribute says; spellings of one number share a rank."""
    texts = spell(column.values)
    keys, is_ordered = _sort_keys(column, texts, attribute)
    distinct, ranks = np.unique(keys, return_inverse=True)
    of_code = np.full(len(texts) + len(column.markers), len(distinct), dtype=np.int64)
    of_code[: len(texts)] = ranks
    nodes: dict[str, Ints] = {}
    if attribute.hierarchy is not None:
        rank_of_leaf = dict(zip(texts, ranks.tolist(), strict=True))
        below: dict[str, set[int]] = {}
        for row in attribute.hierarchy.rows:
            rank = rank_of_leaf.get(row[0])
            for label in row:
                below.setdefault(label, set())
                if rank is not None:
                    below[label].add(rank)
        nodes = {label: np.array(sorted(r), dtype=np.int64) for label, r in below.items()}
    return Scale(
        column.name,
        of_code,
        len(distinct),
        dict(zip(texts, ranks.tolist(), strict=True)),
        distinct,
        is_ordered,
        nodes,
        attribute.type == "prefix" and attribute.hierarchy is None,
    )


def _sort_keys(column: Column, texts: list[str], attribute: Attribute) -> tuple[npt.NDArray[np.generic], bool]:
    if attribute.hierarchy is not None:
        # Below every node the leaves stand side by side, so that a label covers an interval.
        place = {leaf: i for i, leaf in enumerate(attribute.hierarchy.leaf_order())}
        if all(t in place for t in texts):
            return np.array([place[t] for t in texts], dtype=np.int64), False
    if attribute.type == "ordinal" and attribute.order is not None:
        place = {text: i for i, text in enumerate(attribute.order)}
        if all(t in place for t in texts):
            return np.array([place[t] for t in texts], dtype=np.int64), True
    if attribute.type == "date":
        dates = parse_dates(column.values)
        if dates is not None:
            return dates.values.astype("datetime64[us]"), True
    if attribute.type in ("continuous", "ordinal"):
        numbers = parse_numbers(column.values)
        if numbers is not None:
            return numbers, True
    if attribute.type == "nominal":
        # Any order will do; by frequency, the sets of a partition are most often neighbours.
        return np.argsort(np.argsort(-column.counts()[: len(texts)], kind="stable"), kind="stable"), False
    return np.array(texts, dtype=str), attribute.type in ("continuous", "ordinal", "date")


def covering_of(published: Column, scale: Scale, *, missing: Missing, as_values: bool = False) -> Covering:
    """Read every label of a published column (as `cells.published` gives it).

    Where cells are published as they are (`as_values`), one that looks like a label is the value that is spelled so.
    """
    texts = spell(published.values)
    n_labels = len(texts) + len(published.markers)
    low = np.ones(n_labels, dtype=np.int64)
    high = np.zeros(n_labels, dtype=np.int64)
    is_span, unreadable, doubtful = np.ones(n_labels, bool), np.zeros(n_labels, bool), np.zeros(n_labels, bool)
    listed: list[Ints] = []
    used = published.counts() > 0
    reader = _Reader(scale)
    for label in np.flatnonzero(used).tolist():
        if label >= len(texts):
            # A missing cell is a value of its own, or may hide any.
            low[label], high[label] = (scale.n_values if missing == "value" else 0), scale.n_values
            continue
        readings = reader.read(texts[label])
        if as_values and texts[label] in scale.rank_of:
            readings = readings[:1]  # the value itself comes first
        if not readings:
            unreadable[label] = True
            continue
        doubtful[label] = any(not np.array_equal(r, readings[0]) for r in readings[1:])
        ranks = readings[0] if len(readings) == 1 else np.unique(np.concatenate(readings))
        if not len(ranks):
            continue  # a node of the hierarchy without a value in the original: it covers nobody
        low[label], high[label] = ranks[0], ranks[-1]
        is_span[label] = high[label] - low[label] + 1 == len(ranks)
        if not is_span[label]:
            listed.append(label * (scale.n_values + 1) + ranks)
    keys = np.concatenate(listed) if listed else np.full(1, -1, dtype=np.int64)
    return Covering(scale.n_values, low, high, is_span, keys, unreadable, doubtful)


class _Reader:
    """All readings of a label, each as the ranks it covers."""

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        self.whole = np.arange(scale.n_values + 1, dtype=np.int64)
        self.longest = max((v.count(", ") + 1 for v in scale.rank_of), default=1)

    def read(self, label: str) -> list[Ints]:
        found = self._plain(label)
        if label.endswith(OR_MISSING):
            absent = np.array([self.scale.n_values], dtype=np.int64)
            found += [np.union1d(r, absent) for r in self._plain(label[: -len(OR_MISSING)])]
        return found

    def _plain(self, label: str) -> list[Ints]:
        scale = self.scale
        found: list[Ints] = []
        if label in scale.rank_of:
            found.append(np.array([scale.rank_of[label]], dtype=np.int64))
        if label == EVERYTHING:
            found.append(self.whole)
        elif label in scale.nodes:
            found.append(scale.nodes[label])
        if scale.is_code and label.endswith("*") and label != EVERYTHING:
            stem = label.rstrip("*")  # the keys of codes are their texts, in order
            first, last = np.searchsorted(scale.keys, np.array([stem, stem + "\U0010ffff"]))
            found.append(self.whole[first:last])
        key = self._key(label) if not found else None
        if key is not None:
            first, last = (int(np.searchsorted(scale.keys, key, side)) for side in ("left", "right"))
            found += [self.whole[first:last]] if first < last else []
        if scale.is_ordered and label.startswith("[") and label.endswith("]"):
            found += self._ranges(label[1:-1])
        if label.startswith("{") and label.endswith("}"):
            found += self._sets(label[1:-1])
        return found

    def _ranges(self, inner: str) -> list[Ints]:
        found = []
        at = inner.find("..")
        while at >= 0:
            low, high = self._place(inner[:at]), self._place(inner[at + 2 :], after=True)
            if low is not None and high is not None and low < high:  # else no value lies in it
                found.append(self.whole[low:high])
            at = inner.find("..", at + 1)
        return found

    def _place(self, text: str, *, after: bool = False) -> int | None:
        """How many values are below one, or not above it; None for what is no value of the kind."""
        if text in self.scale.rank_of:
            return self.scale.rank_of[text] + after
        key = self._key(text)
        return None if key is None else int(np.searchsorted(self.scale.keys, key, "right" if after else "left"))

    def _key(self, text: str) -> np.generic | None:
        """A number or date that the original need not have; other kinds know their values only."""
        kind = self.scale.keys.dtype.kind
        if kind == "f" and self.scale.is_ordered:
            number = parse_numbers(np.array([text], dtype=object))
            return None if number is None else number[0]
        if kind == "M":
            date = parse_dates(np.array([text], dtype=object))
            return None if date is None else date.values[0]
        return None

    def _sets(self, inner: str) -> list[Ints]:
        """One reading, or two that differ where the commas can be divided up otherwise."""
        tokens = inner.split(", ")
        n = len(tokens)
        pieces = [
            (i, j, self.scale.rank_of[text])
            for i in range(n)
            for j in range(i + 1, min(i + self.longest, n) + 1)
            if (text := ", ".join(tokens[i:j])) in self.scale.rank_of
        ]
        starts = {0}
        for i, j, _ in pieces:
            if i in starts:
                starts.add(j)
        ends = {n}
        for i, j, _ in reversed(pieces):
            if j in ends:
                ends.add(i)
        usable = [(i, j, r) for i, j, r in pieces if i in starts and j in ends]
        if not usable:
            return []
        union = np.array(sorted({r for _, _, r in usable}), dtype=np.int64)
        # As many pieces as places where one begins: there is one way through.
        is_sure = len(usable) == len({i for i, _, _ in usable})
        return [union] if is_sure else [union, union[:0]]


def needs_attention(covering: Covering, published: Column) -> tuple[int, int]:
    """How many cells hold a label that cannot be read, and how many one that can be read in two ways."""
    counts = published.counts()
    return int(np.sum(counts * covering.unreadable)), int(np.sum(counts * covering.doubtful))
