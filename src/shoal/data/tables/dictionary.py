"""Texts to codes: build a column from its distinct values, or from cells that arrive in pieces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes
from shoal.data.tables.table import Column


class TextEncoder:
    """Number texts in the order in which they come; None is a null.

    >>> encoder = TextEncoder()
    >>> encoder.add(["b", "a", None, "?", "b"])
    >>> column = encoder.column("x", markers=("?",))
    >>> column.codes.tolist(), column.values.tolist(), column.markers
    ([1, 0, 3, 2, 1], ['a', 'b'], ('?', None))
    """

    def __init__(self) -> None:
        self._numbers: defaultdict[str | None, int] = defaultdict()
        # A text that is not known yet gets the next number, inside the dictionary's own C code.
        self._numbers.default_factory = self._numbers.__len__
        self._parts: list[Codes] = []

    def add(self, cells: Sequence[str | None]) -> None:
        """Append cells."""
        self._parts.append(np.fromiter(map(self._numbers.__getitem__, cells), np.int32, len(cells)))

    def column(self, name: str, markers: Collection[str] = ()) -> Column:
        """The column of all cells so far."""
        codes = np.concatenate(self._parts) if self._parts else np.empty(0, np.int32)
        return from_distinct(name, codes, list(self._numbers), markers)


def from_distinct(
    name: str, codes: npt.NDArray[Any], distinct: Sequence[str | None], markers: Collection[str] = ()
) -> Column:
    """Make a column of cells ``distinct[codes[i]]``: the dictionary sorted, missing spellings last."""
    spellings = set(markers)
    is_missing = [text is None or text in spellings for text in distinct]
    present = [i for i, missing in enumerate(is_missing) if not missing]
    present.sort(key=distinct.__getitem__)  # type: ignore[arg-type]  # no None is among these
    missing = [i for i, missing in enumerate(is_missing) if missing]
    missing.sort(key=lambda i: (distinct[i] is None, distinct[i] or ""))
    ranks = np.empty(len(distinct), dtype=np.int32)
    ranks[present + missing] = np.arange(len(distinct), dtype=np.int32)
    values = objects(distinct[i] for i in present)
    return Column(name, ranks[codes], values, tuple(distinct[i] for i in missing))


def objects(values: Iterable[Any]) -> npt.NDArray[Any]:
    """A one-dimensional array of objects."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array
