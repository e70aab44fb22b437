"""A column that came with an order of its values, such as ordered categories of pandas."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.data.tables.table import Column


@dataclass(frozen=True)
class OrderedColumn(Column):
    """A column whose source says how its values rank.

    Attributes
    ----------
    order : tuple of str
        The values that occur, as they are written, from low to high; the dictionary stays in its own order.
    """

    order: tuple[str, ...] = ()
