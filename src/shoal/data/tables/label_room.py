"""How much of the memory that is given the labels of groups may take.

A set of categories is as long as all of them together, so that labels may take far more than the table that they are
of. They are counted while they are made, before they are written and read back.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from shoal.data.memory import bound
from shoal.data.tables.room import BASE_BYTES, CELL_BYTES, FEW, ROW_BYTES, value_bytes
from shoal.data.tables.table import Column
from shoal.errors import DataError

LABEL_BYTES, CHARACTER_BYTES = 150, 11
"""Of a label and of each of its characters, from when it is made to when it is checked; by the peaks of releases."""


@dataclass
class LabelRoom:
    """What is left for labels.

    Attributes
    ----------
    left : int, optional
        How many bytes; None without a bound.
    n_characters : int
        Of the labels that have their room.
    """

    left: int | None
    n_characters: int = 0

    @classmethod
    def beside(cls, columns: Collection[Column], n_rows: int) -> LabelRoom:
        """What some distinct rows leave of what `shoal.data.memory.bounded` gives."""
        memory = bound()
        if memory is None:
            return cls(None)
        of_rows = n_rows * (ROW_BYTES + CELL_BYTES * len(columns))
        return cls(max(memory // FEW, memory - BASE_BYTES - of_rows - value_bytes(columns)))

    def take(self, name: str, labels: npt.NDArray[Any]) -> None:
        """Have room for the labels of a column.

        Raises
        ------
        DataError
            If there is not as much.
        """
        if self.left is not None:
            n_characters = sum(map(len, labels))
            self.refuse(name, len(labels), n_characters)
            self.left -= LABEL_BYTES * len(labels) + CHARACTER_BYTES * n_characters
            self.n_characters += n_characters

    def refuse(self, name: str, n_labels: int, n_characters: int) -> None:
        """The same, and have no room yet."""
        if self.left is not None and LABEL_BYTES * n_labels + CHARACTER_BYTES * n_characters > self.left:
            raise DataError(
                f"the labels up to those of {name!r} have {self.n_characters + n_characters:,} characters or more, too "
                f"many for {(bound() or 0) / 1e9:.3g} GB; give columns of many or long texts a hierarchy or drop them, "
                "or raise memory"
            )


UNBOUNDED = LabelRoom(None)
