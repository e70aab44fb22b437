"""Sketches, the published form of sparse records: a few numbers each, how many may differ from record to record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints
from shoal.data.ragged import ragged_places


@dataclass(frozen=True)
class Sketches:
    """The components of each record, the first ones of one common family of random signs.

    Attributes
    ----------
    starts : int64 array (n_records + 1,)
        Record i is ``components[starts[i]:starts[i + 1]]``.
    components : int32, int64 or float64 array
        Integers where the records were of whole numbers, wide enough for products of two; else multiples of `step`.
    step : float
        The grid that real components were rounded to; 1 for integers.
    labels : int32 array (n_records,), optional
        The class of each record, an index into `classes`.
    classes : tuple of str
        The names of the classes in ascending order.
    """

    starts: Ints
    components: npt.NDArray[np.signedinteger[Any]] | Floats
    step: float = 1.0
    labels: Codes | None = None
    classes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def counts(self) -> Ints:
        """The number of components of each record."""
        return np.diff(self.starts)

    @property
    def is_integral(self) -> bool:
        """Whether the components are whole numbers."""
        return self.components.dtype.kind == "i"

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Sketches:
        """Some of the sketches, in the given order."""
        places, starts = ragged_places(self.starts, rows)
        return replace(
            self,
            starts=starts,
            components=self.components[places],
            labels=None if self.labels is None else self.labels[rows],
        )

    def padded(self) -> Floats:
        """One row a record, zeros behind its last component: products of rows then run over the common ones."""
        counts = self.counts
        matrix = np.zeros((len(self), int(counts.max(initial=0))))
        rows = np.repeat(np.arange(len(self)), counts)
        matrix[rows, np.arange(len(self.components)) - np.repeat(self.starts[:-1], counts)] = self.components
        return matrix
