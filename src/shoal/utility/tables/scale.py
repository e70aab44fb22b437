"""One attribute of the original table as the measures see it: codes, positions on a line, nodes of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.parse import parse_dates, parse_numbers
from shoal.data.tables.table import Column, count_codes, spell

Kind = Literal["number", "order", "category"]

MICROSECONDS_A_DAY = 86_400e6
LARGEST = 1e100  # numbers beyond it, whose squares overflow, are treated as categories


@dataclass(frozen=True)
class Scale:
    """An original column with its meaning.

    Attributes
    ----------
    kind : {"number", "order", "category"}
        Numbers and dates lie on a line; ordered categories have ranks; all others only equal or differ.
    codes : int32 array (n_rows,)
        Index of each cell's value, ``n_values`` where it is missing.
    positions : float64 array (n_values,) or None
        The number, the day since 1970, or the rank of each value; None for categories.
    ancestors : int32 array (n_values, height + 1) or None
        The node above each value at each height of its hierarchy.
    leaves : tuple of int64 arrays
        How many leaves of the whole hierarchy stand below each node, one array a height.
    weights : int32 array (n_rows,), optional
        How many records each row stands for; None where each is one.
    """

    attribute: Attribute
    column: Column
    kind: Kind
    codes: Codes
    positions: Floats | None
    ancestors: Codes | None = None
    leaves: tuple[Ints, ...] = ()
    weights: Codes | None = None

    @property
    def name(self) -> str:
        """Name of the attribute."""
        return self.attribute.name

    @property
    def n_values(self) -> int:
        """Number of values in the dictionary."""
        return len(self.column.values)

    @cached_property
    def texts(self) -> list[str]:
        """The values as they are written."""
        return spell(self.column.values)

    @cached_property
    def counts(self) -> Ints:
        """How many records hold each value; the last entry counts the missing ones."""
        return count_codes(self.codes, self.weights, self.n_values + 1)

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """Least and greatest position that occurs (0, 0 where there is none)."""
        assert self.positions is not None
        used = self.positions[self.counts[:-1] > 0]
        return (float(used.min()), float(used.max())) if len(used) else (0.0, 0.0)

    @cached_property
    def is_whole(self) -> bool:
        """Whether all positions are whole numbers, and small enough for half of one to count."""
        if self.positions is None or not len(self.positions):
            return False
        whole = self.positions == np.floor(self.positions)
        return bool(whole.all() and np.abs(self.positions).max() < 2**50)

    def numbers(self) -> Floats:
        """The position of every cell, nan where missing."""
        assert self.positions is not None
        return np.append(self.positions, np.nan)[self.codes]


def scale_of(column: Column, attribute: Attribute, weights: Codes | None = None) -> Scale:
    """Give a column its scale; numbers or dates that cannot be read as such are treated as categories."""
    kind: Kind = "category"
    positions = positions_of(column, attribute.type)
    if positions is not None:
        kind = "number"
    elif attribute.type == "ordinal":
        kind, positions = "order", _ranks(column, attribute.order)
    codes = column.codes
    if column.markers:
        codes = np.minimum(codes, len(column.values)).astype(np.int32, copy=False)
    ancestors = None
    leaves: tuple[Ints, ...] = ()
    if attribute.hierarchy is not None and not attribute.hierarchy.missing_from(spell(column.values)):
        ancestors = attribute.hierarchy.ancestors(spell(column.values))
        whole = attribute.hierarchy.ancestors(attribute.hierarchy.leaves)
        leaves = tuple(np.bincount(whole[:, h]) for h in range(whole.shape[1]))
    return Scale(attribute, column, kind, codes, positions, ancestors, leaves, weights)


def positions_of(column: Column, type_: str) -> Floats | None:
    """Numbers, or days since 1970, of a dictionary; None unless all of its values can be read so."""
    if type_ == "continuous":
        numbers = parse_numbers(column.values)
        return numbers if numbers is not None and (np.abs(numbers) < LARGEST).all() else None
    if type_ == "date":
        dates = parse_dates(column.values)
        return None if dates is None else dates.values.astype(np.int64) / MICROSECONDS_A_DAY
    return None


def _ranks(column: Column, order: Sequence[str] | None) -> Floats:
    """Ranks by the given order; without it, or past its end, by number if all are numbers, else as they are."""
    numbers = parse_numbers(column.values)
    natural = np.arange(len(column.values))
    if numbers is not None:
        natural = np.argsort(np.argsort(numbers, kind="stable"))
    if order is None:
        return natural.astype(np.float64)
    place = {text: i for i, text in enumerate(order)}
    texts = spell(column.values)
    return np.array([place.get(t, len(place) + r) for t, r in zip(texts, natural, strict=True)], dtype=np.float64)
