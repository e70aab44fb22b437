"""Generalise: every record of a group gets a label that covers all its members.

A range for numbers, dates and ordered categories, the lowest common ancestor for taxonomies and prefix codes, the set
of values for plain categories (LeFevre, DeWitt and Ramakrishnan, "Mondrian Multidimensional K-Anonymity", ICDE 2006;
Byun et al., "Efficient k-Anonymization Using Clustering Techniques", DASFAA 2007).

Ranges end at round numbers, or on cells of several ordered categories (`shoal.data.tables.round_ends`), or at values of
members on request.

**Guarantee.** The published quasi-identifiers of a group are equal and true of every member. **Not protected.** Exact
ends and the members of a set are values of members of the group. Where one member alone has a value and a missing value
is one of its own, ``40 or missing`` is that member's, and whoever knows who has one knows whose: k-anonymity, which
takes quasi-identifiers for known, is not broken by it, but ``missing="any"`` publishes ``*`` there. The sensitive
values inside a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints, Mask
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.dictionary import objects
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.label_room import UNBOUNDED, LabelRoom
from shoal.data.tables.labels import EVERYTHING, OR_MISSING, range_label, set_label, value_label
from shoal.data.tables.round_ends import Spread, ordered_ends, rounded_labels
from shoal.data.tables.table import Column, count_codes
from shoal.report.points import Point
from shoal.tables.encoding import Ranked
from shoal.tables.groups import Groups
from shoal.tables.publish.base import (
    PUBLICATIONS,
    GroupedRecords,
    Publication,
    PublishedGroups,
    labels_tell,
)
from shoal.tables.publish.recode import recode


@dataclass(frozen=True)
class Spans:
    """All that the labels of a column's groups depend on, a row a group; of some groups, or of all.

    Attributes
    ----------
    low, high : int32 arrays (n_groups,)
        The least and the greatest rank of its members; 0 where none has a value.
    is_blank, is_holed : bool arrays (n_groups,)
        Whether no member has a value, and whether some have none.
    n_distinct, n_alike : int64 arrays (n_groups,)
        How many values its members have, and how many records of the table have one of them; empty where labels do not
        depend on it.
    members : int64 array
        Of categories, the ranks of each group, ascending, group by group.
    """

    low: Codes
    high: Codes
    is_blank: Mask
    is_holed: Mask
    n_distinct: Ints
    n_alike: Ints
    members: Ints

    @classmethod
    def of(cls, ranked: Ranked, groups: Groups, counts: Ints | None) -> Spans:
        """Of the groups of some rows; `counts` says how many records have each rank, where ends are rounded."""
        present = ~np.isnan(ranked.positions)[ranked.ranks]
        n_present = groups.sum(present)
        low, high = groups.span(ranked.ranks, present)
        low[n_present == 0] = high[n_present == 0] = 0
        n_distinct = n_alike = members = np.zeros(0, dtype=np.int64)
        if ranked.kind == "category" or (ranked.kind != "tree" and counts is not None):
            some = Groups(groups.labels[present], groups.sizes)
            group, rank, _ = some.pairs(ranked.ranks[present], ranked.n_values)
            n_distinct = np.bincount(group, minlength=len(groups.sizes))
            if ranked.kind == "category":
                members = rank
            elif counts is not None:
                n_alike = np.bincount(group, counts[rank], len(groups.sizes)).astype(np.int64)
        return cls(low, high, n_present == 0, n_present < groups.sizes, n_distinct, n_alike, members)

    @classmethod
    def joined(cls, parts: Sequence[Spans]) -> Spans:
        """Of all groups, from those of some each."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.names()))

    @classmethod
    def names(cls) -> list[str]:
        """Of its arrays."""
        return [f.name for f in fields(cls)]


def generalise(
    source: Column,
    ranked: Ranked,
    groups: Groups,
    hierarchy: Hierarchy | None,
    *,
    missing: str,
    ends: str = "exact",
    weights: Codes | None = None,
    room: LabelRoom = UNBOUNDED,
) -> Column:
    """Replace a column by the label of each group; as `label_groups`.

    ``ends="rounded"``: ranges end on a grid of the column; ``ends="exact"``: at values of members.
    ``weights``: how many records each row stands for, where not one; the grid depends on how frequent values are.
    """
    counts = count_codes(ranked.ranks, weights, ranked.n_values) if ends == "rounded" else None
    spans = Spans.of(ranked, groups, counts)
    labels = label_groups(source, ranked, spans, hierarchy, missing=missing, counts=counts, room=room)
    return replace(labels, codes=labels.codes[groups.labels])


def label_groups(
    source: Column,
    ranked: Ranked,
    spans: Spans,
    hierarchy: Hierarchy | None,
    *,
    missing: str,
    counts: Ints | None = None,
    room: LabelRoom = UNBOUNDED,
) -> Column:
    """A column with the label of each group.

    ``missing="value"``: a group in which some values are missing says so in its label; one in which all are is missing.
    ``missing="any"``: a missing value may be any value, so only ``*`` covers a group that holds one.
    ``counts``: how many records of the table have each rank, where ranges end on a grid of the column; without, they
    end at values of members.
    ``room``: how much memory labels may take.
    """
    if ranked.kind == "tree" and hierarchy is not None:
        labels = _ancestors(ranked, hierarchy, spans)
    elif ranked.kind == "category":
        labels = _sets(ranked, spans, room)
    else:
        labels = _ranges(ranked, spans, counts)
    if missing == "any":
        labels[spans.is_holed] = EVERYTHING
    elif ranked.kind != "tree":
        labels[spans.is_holed & ~spans.is_blank] += OR_MISSING
    # An array of texts would be as wide as the longest label for every group.
    listed = ["" if label is None else label for label in labels.tolist()]
    values = objects(sorted(set(listed)))
    room.take(source.name, values)
    place = {label: i for i, label in enumerate(values.tolist())}
    codes = np.fromiter(map(place.__getitem__, listed), np.int32, len(listed))
    if missing == "value" and spans.is_blank.any():
        return _with_missing(source, values, codes, spans.is_blank)
    return Column(source.name, codes, values)


def _with_missing(source: Column, values: npt.NDArray[Any], codes: Codes, blank: Mask) -> Column:
    used, dense = np.unique(codes[~blank], return_inverse=True)
    of_group = np.full(len(blank), len(used), dtype=np.int32)
    of_group[~blank] = dense
    return Column(source.name, of_group, values[used], source.markers[:1])


def _spelled(ranked: Ranked) -> npt.NDArray[Any]:
    assert ranked.labels is not None, "only columns of a table are generalised"
    return ranked.labels


def _ranges(ranked: Ranked, spans: Spans, counts: Ints | None) -> npt.NDArray[Any]:
    """``[17..25]``: no spreadsheet takes it for a date, and a minus sign does no harm; given counts, ends are round."""
    spelled, low, high = _spelled(ranked), spans.low, spans.high
    if counts is not None:
        known = spelled[: ranked.n_values - ranked.has_missing]
        if ranked.kind == "number":
            rounded = rounded_labels(known, Spread(low, high, spans.n_distinct, spans.n_alike, counts[: len(known)]))
            if rounded is not None:
                return rounded
        else:
            low, high = ordered_ends(low, high, spans.n_distinct, len(known))
    pairs, of_group = np.unique(low.astype(np.int64) * ranked.n_values + high, return_inverse=True)
    ends = [(spelled[p // ranked.n_values], spelled[p % ranked.n_values]) for p in pairs]
    return np.array([_range(a, b) for a, b in ends] or [""], dtype=object)[of_group]


def _range(low: str | None, high: str | None) -> str | None:
    """None of a group without any value, which is not shown."""
    return None if low is None or high is None else range_label(low, high)


def _ancestors(ranked: Ranked, hierarchy: Hierarchy, spans: Spans) -> npt.NDArray[Any]:
    """The label of the lowest node above all leaves: where the first and the last leaf meet, as leaves are in order."""
    assert ranked.ancestors is not None
    height = np.argmax(ranked.ancestors[spans.low] == ranked.ancestors[spans.high], axis=1)
    height[spans.is_holed] = hierarchy.height
    spelled = _spelled(ranked)
    nodes, of_group = np.unique(spans.low.astype(np.int64) * (hierarchy.height + 1) + height, return_inverse=True)
    pairs = [divmod(int(n), hierarchy.height + 1) for n in nodes]
    labels = [EVERYTHING if spelled[leaf] is None else hierarchy.label(spelled[leaf], h) for leaf, h in pairs]
    return np.array(labels, dtype=object)[of_group]


def _sets(ranked: Ranked, spans: Spans, room: LabelRoom) -> npt.NDArray[Any]:
    """``{Black, White}`` in the order of the labels; a set of all values of the column is ``*``.

    The Python loop runs over the groups that mix values, never over records.
    """
    spelled, rank, n_distinct = _spelled(ranked), spans.members, spans.n_distinct
    n_present = int(np.count_nonzero(~np.isnan(ranked.positions)))
    starts = np.concatenate([[0], np.cumsum(n_distinct)[:-1]])
    labels = np.full(len(n_distinct), "", dtype=object)
    single = n_distinct == 1
    ranks, of_single = np.unique(rank[starts[single]], return_inverse=True)
    labels[single] = np.array([value_label(spelled[r]) for r in ranks], dtype=object)[of_single]
    known: dict[bytes, str] = {}
    n_characters = 0
    for g in np.flatnonzero(n_distinct > 1):
        members = rank[starts[g] : starts[g] + n_distinct[g]]
        key = members.tobytes()
        if key not in known:
            whole = len(members) == n_present
            known[key] = EVERYTHING if whole else set_label(spelled[members].tolist())
            n_characters += len(known[key])
            room.refuse(ranked.name, len(known), n_characters)
        labels[g] = known[key]
    return labels


class Generalisation(Publication):
    """A label for each group, or each value's label at one level where all records get one recoding."""

    name = "generalise"
    help = "Each record carries a label that is true of its whole group"
    place = 1
    parameters = ("ends",)
    is_bounded = True
    has_labels = True
    holds_without_providers = True
    can_recode = True

    def publish(self, records: GroupedRecords) -> PublishedGroups:
        """Label every group."""
        hierarchies = [records.attributes[r.name].hierarchy for r in records.ranked]
        sources = [records.table[r.name] for r in records.ranked]
        ends = records.policy.method.ends
        if records.levels is not None:
            made = [
                recode(source, r, level, hierarchy, ends=ends, weights=records.table.weights)
                for source, r, level, hierarchy in zip(
                    sources, records.ranked, records.levels, hierarchies, strict=True
                )
            ]
        else:
            missing, weights = records.policy.missing, records.table.weights
            room = UNBOUNDED if weights is None else LabelRoom.beside(records.table.columns.values(), len(weights))
            made = [
                generalise(source, r, records.groups, hierarchy, missing=missing, ends=ends, weights=weights, room=room)
                for source, r, hierarchy in zip(sources, records.ranked, hierarchies, strict=True)
            ]
        return PublishedGroups({column.name: column for column in made}, records.groups)

    def treatment(self, attribute: Attribute, *, by_hierarchy: bool) -> str:
        """The kind of label."""
        if attribute.type == "prefix":
            return "cut to the leading characters that its group shares"
        if by_hierarchy:
            return "replaced by the narrowest label of its hierarchy that covers its group"
        if attribute.type == "nominal":
            return "replaced by the set of values of its group"
        return "replaced by a range that covers its group"

    def not_protected(self, kept: Sequence[str]) -> list[Point]:
        """Members of sets."""
        told = labels_tell("group")
        return [Point(told.title, f'{told.text} Beside "or missing" the value may be that of one record.')]

    def good_use(self, has_kept: bool) -> list[Point]:
        """How to count labels."""
        return [
            Point(
                "Ranges and sets",
                "say what is true of a record. Count a record for each value that its label covers, in equal parts, "
                "or give bounds; do not put a midpoint in place of a value without saying so.",
            ),
            Point("Groups", "with the same labels are the finest units; differences inside them are not in the data."),
            *super().good_use(has_kept),
        ]


PUBLICATIONS.register(Generalisation())
