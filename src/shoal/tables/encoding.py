"""Quasi-identifiers as ranks: what every partition method of tables works on.

A rank is a position in the attribute's own order: of numbers and dates their size, of ordinal attributes the given
order, of taxonomies and prefix codes the order of the leaves from left to right, of plain categories a fixed order of
the labels. Ranks are dense, 0 .. n_values - 1; a missing value, if any, has the last rank.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.parse import parse_dates, parse_numbers
from shoal.data.tables.sense import says_missing, sense_of
from shoal.data.tables.table import Column, spell

Kind = Literal["number", "order", "category", "tree"]


@dataclass(frozen=True)
class Ranked:
    """One quasi-identifier of n_rows records.

    Attributes
    ----------
    kind : {"number", "order", "category", "tree"}
        Numbers and dates; ordered categories; plain categories; leaves of a taxonomy.
    ranks : int32 array (n_rows,)
        The rank of each record's value.
    positions : float64 array (n_values,)
        For numbers the value itself at each rank, else the rank; nan at the rank of the missing value.
    ancestors : int32 array (n_values, height + 1) or None
        For trees, the node above each leaf at each height: column 0 is the leaf itself, the last column the root. Two
        leaves meet at the first height at which their columns agree. A missing value meets the others at the root only.
    has_missing : bool
        Whether the last rank is the missing value.
    labels : object array (n_values,) or None
        How each rank is spelled; None for records that came as plain numbers.
    """

    name: str
    kind: Kind
    ranks: Codes
    positions: Floats
    ancestors: Codes | None = None
    has_missing: bool = False
    labels: npt.NDArray[Any] | None = None

    @property
    def n_values(self) -> int:
        """Number of distinct values, the missing one included."""
        return len(self.positions)

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Ranked:
        """Some of the records; the ranks keep their meaning."""
        return replace(self, ranks=self.ranks[rows])


def rank(column: Column, attribute: Attribute, *, by_sense: bool = False) -> Ranked:
    """Order the values of a column as its attribute says.

    Spellings that mean the same (``1`` and ``1.0``, two markers of a missing value) get one rank. Values that no row
    holds any more get none. `by_sense` makes one rank of all spellings that say the same, and the missing one's of all
    that say that nothing is known: for sensitive values, which must not pass for diverse by their spelling.
    """
    used = column.counts() > 0
    is_known = used[: len(column.values)].copy()
    if by_sense:
        is_known &= ~says_missing(column.values)
    present = np.flatnonzero(is_known)
    has_missing = bool((used & ~np.append(is_known, np.zeros(len(column.markers), dtype=bool))).any())
    texts = np.array(spell(column.values[present]), dtype=object)
    kind, keys = _keys(column.values[present], texts, attribute)
    if by_sense and kind != "number":
        keys = _shared(kind, keys, sense_of(column.values[present], is_code=attribute.type == "prefix"))
    distinct, first, rank_of = np.unique(keys, return_index=True, return_inverse=True)
    n_values = len(distinct) + has_missing
    code_to_rank = np.full(len(used), n_values - 1, dtype=np.int32)
    code_to_rank[present] = rank_of
    positions = distinct.astype(np.float64) if kind == "number" else np.arange(len(distinct), dtype=np.float64)
    labels = texts[first]
    ancestors = None
    if kind == "tree" and attribute.hierarchy is not None:
        ancestors = attribute.hierarchy.ancestors(list(labels))
    if has_missing:
        positions = np.append(positions, np.nan)
        labels = np.append(labels, np.array([None], dtype=object))
        if ancestors is not None:
            ancestors = np.vstack([ancestors, np.full(ancestors.shape[1], ancestors.max(initial=0) + 1)])
            ancestors[:, -1] = 0  # all meet at the root, the missing value there only
    return Ranked(
        column.name,
        kind,
        code_to_rank[column.codes],
        positions,
        None if ancestors is None else np.ascontiguousarray(ancestors, dtype=np.int32),
        has_missing,
        labels,
    )


def _shared(kind: Kind, keys: npt.NDArray[Any], senses: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """One key for all values of a sense: itself, of an order the lowest place, of a tree the first leaf's."""
    if kind == "category":
        return senses
    first, of_value = np.unique(senses, return_index=True, return_inverse=True)[1:]
    if kind == "tree":
        return np.asarray(keys[first][of_value])
    places = np.unique(keys, return_inverse=True)[1]
    lowest = np.full(len(first), len(places), dtype=np.int64)
    np.minimum.at(lowest, of_value, places)
    return np.asarray(lowest[of_value])


def _keys(values: npt.NDArray[Any], texts: npt.NDArray[Any], attribute: Attribute) -> tuple[Kind, npt.NDArray[Any]]:
    """What the values are sorted by; equal keys share a rank."""
    if attribute.hierarchy is not None:
        place = {leaf: i for i, leaf in enumerate(attribute.hierarchy.leaf_order())}
        return "tree", np.array([place[t] for t in texts], dtype=np.int64)
    if attribute.type == "continuous":
        numbers = parse_numbers(values)
        assert numbers is not None, "attributes_of refuses continuous columns that are not numbers"
        return "number", numbers
    if attribute.type == "date":
        dates = parse_dates(values)
        if dates is None:  # no values at all
            return "number", np.zeros(len(values))
        return "number", dates.values.astype("datetime64[us]").astype(np.int64) / 86_400e6
    if attribute.type == "ordinal":
        if attribute.order is not None:
            place = {label: i for i, label in enumerate(attribute.order)}
            return "order", np.array([place[t] for t in texts], dtype=np.int64)
        numbers = parse_numbers(values)
        return "order", numbers if numbers is not None else texts
    return "category", texts
