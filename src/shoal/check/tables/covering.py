"""Which original values a published cell covers: once for each distinct label, never once a record.

The values of the original get ranks in the attribute's own order; a label then covers an interval of ranks, or a listed
set of them. A label is a node of the attribute's hierarchy, the beginning of a code with stars behind it, a spelling of
a missing value, or what the grammar (`shoal.data.tables.labels`) says, which reads it in one way. One that cannot be
read covers nothing, and is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints, Mask, Words
from shoal.check.slices.boxes import bin_of, span_masks
from shoal.check.tables.classes import Missing
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.dictionary import objects
from shoal.data.tables.labels import Label, calendar_span, read_label
from shoal.data.tables.parse import parse_dates, parse_numbers
from shoal.data.tables.table import Column, spell


@dataclass(frozen=True)
class ValueScale:
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
        The ranks below each label of the hierarchy; below its root there is the missing value too.
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
    unreadable : bool array (n_labels,)
        Labels that cannot be read.
    """

    n_values: int
    low: Ints
    high: Ints
    is_span: Mask
    listed: Ints
    unreadable: Mask

    @property
    def masks(self) -> Words:
        """The bins (`boxes`) that each label covers something in."""
        masks = span_masks(self.low, self.high, self.n_values)
        masks[~self.is_span] = 0
        label, rank = np.divmod(self.listed[self.listed >= 0], self.n_values + 1)
        np.bitwise_or.at(masks, label, np.uint64(1) << bin_of(rank, self.n_values))
        return masks

    def covers(self, labels: Ints, ranks: Ints) -> Mask:
        """Whether each label covers the rank beside it."""
        inside = (self.low[labels] <= ranks) & (ranks <= self.high[labels])
        check = np.flatnonzero(inside & ~self.is_span[labels])
        if len(check):
            keys = labels[check] * (self.n_values + 1) + ranks[check]
            place = np.minimum(np.searchsorted(self.listed, keys), len(self.listed) - 1)
            inside[check] = self.listed[place] == keys
        return np.asarray(inside)


def scale_of(column: Column, attribute: Attribute) -> ValueScale:
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
        below[attribute.hierarchy.rows[0][-1]].add(len(distinct))
        nodes = {label: np.array(sorted(r), dtype=np.int64) for label, r in below.items()}
    return ValueScale(
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
    return objects(texts), attribute.type in ("continuous", "ordinal", "date")


def covering_of(published: Column, scale: ValueScale, *, missing: Missing, as_values: bool = False) -> Covering:
    """Read every label of a published column (as `cells.published` gives it).

    Where cells are published as they are (`as_values`), one that looks like a label is the value that is spelled so.
    """
    texts = spell(published.values)
    n_labels = len(texts) + len(published.markers)
    low = np.ones(n_labels, dtype=np.int64)
    high = np.zeros(n_labels, dtype=np.int64)
    is_span, unreadable = np.ones(n_labels, bool), np.zeros(n_labels, bool)
    listed: list[Ints] = []
    used = published.counts() > 0
    reader = _Reader(scale)
    for label in np.flatnonzero(used).tolist():
        if label >= len(texts):
            # A missing cell is a value of its own, or may hide any.
            low[label], high[label] = (scale.n_values if missing == "value" else 0), scale.n_values
            continue
        ranks = reader.read(texts[label], as_value=as_values)
        if ranks is None:
            unreadable[label] = True
            continue
        if not len(ranks):
            continue  # a node of the hierarchy without a value in the original: it covers nobody
        low[label], high[label] = ranks[0], ranks[-1]
        is_span[label] = high[label] - low[label] + 1 == len(ranks)
        if not is_span[label]:
            listed.append(label * (scale.n_values + 1) + ranks)
    keys = np.concatenate(listed) if listed else np.full(1, -1, dtype=np.int64)
    return Covering(scale.n_values, low, high, is_span, keys, unreadable)


class _Reader:
    """Reads labels as the ranks that they cover, ascending."""

    def __init__(self, scale: ValueScale) -> None:
        self.scale = scale
        self.whole = np.arange(scale.n_values + 1, dtype=np.int64)

    def read(self, text: str, *, as_value: bool = False) -> Ints | None:
        """None for a label that cannot be read."""
        if as_value and text in self.scale.rank_of:
            return np.array([self.scale.rank_of[text]], dtype=np.int64)
        if text in self.scale.nodes:
            return self.scale.nodes[text]
        label = read_label(text)
        if label.kind == "everything":
            return self.whole
        if label.kind == "range":
            ranks = self._range(label)
        elif label.kind == "set":
            ranks = self._set(label.values)
        else:
            ranks = self._value(label.values[0])
        if ranks is None or not label.may_miss:
            return ranks
        return np.append(ranks, self.scale.n_values)

    def _value(self, value: str) -> Ints | None:
        scale = self.scale
        if scale.is_code and value.endswith("*"):
            stem = value.rstrip("*")  # the keys of codes are their texts, in order
            low, high = np.searchsorted(scale.keys, np.array([stem, stem + "\U0010ffff"])).tolist()
            return self.whole[low:high]
        first, last = self._place(value), self._place(value, after=True)
        return None if first is None or last is None or first >= last else self.whole[first:last]

    def _range(self, label: Label) -> Ints | None:
        if not self.scale.is_ordered:
            return None
        low, high = self._place(label.values[0]), self._place(label.values[1], after=not label.is_open)
        return None if low is None or high is None or low >= high else self.whole[low:high]  # else none lies in it

    def _set(self, values: Sequence[str]) -> Ints | None:
        ranks = [self.scale.rank_of.get(v, -1) for v in values]
        return None if min(ranks) < 0 else np.array(sorted(set(ranks)), dtype=np.int64)

    def _place(self, text: str, *, after: bool = False) -> int | None:
        """How many values are below one, or not above it; None for what is no value of the kind."""
        if text in self.scale.rank_of:
            return self.scale.rank_of[text] + after
        key = self._key(text, after=after)
        return None if key is None else int(np.searchsorted(self.scale.keys, key, "right" if after else "left"))

    def _key(self, text: str, *, after: bool) -> np.generic | None:
        """A number or date that the original need not have; other kinds know their values only."""
        kind = self.scale.keys.dtype.kind
        if kind == "f" and self.scale.is_ordered:
            number = parse_numbers(np.array([text], dtype=object))
            return None if number is None else number[0]
        if kind == "M":
            span = calendar_span(text)
            if span is not None:
                return span[after]
            date = parse_dates(np.array([text], dtype=object))
            return None if date is None else date.values[0]
        return None


def count_unreadable(covering: Covering, published: Column) -> int:
    """How many cells hold a label that cannot be read."""
    return int(np.sum(published.counts() * covering.unreadable))
