"""The groups of a release, and what the measures ask of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Mask, Rows
from shoal.data.tables.table import count_codes, counted


def inner(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    """Sum of products, by one thread: the others of a BLAS library go on turning in circles when they are done.

    >>> inner(np.array([1, 2]), np.array([0.5, 3.0]))
    6.5
    """
    return float(np.einsum("i,i->", a, b))


def moments(values: Floats, weights: Codes | None = None) -> tuple[float, float]:
    """Mean and standard deviation; `weights` say how many records have each value.

    >>> moments(np.array([1.0, 4.0]), np.array([2, 1], dtype=np.int32))[0]
    2.0
    """
    if weights is None:
        return float(values.mean()), float(values.std())
    total = float(weights.sum(dtype=np.int64))
    mean = inner(values, weights) / total
    return mean, float(np.sqrt(inner((values - mean) ** 2, weights) / total))


@dataclass(frozen=True)
class Grouping:
    """Which original records stand together.

    Attributes
    ----------
    n_rows : int
        Records of the original; those that are in no group were suppressed.
    rows : intp array (n_published,)
        The original record behind each published one.
    labels : int32 array (n_published,)
        Its group, 0 .. n_groups - 1, every group used.
    weights : int32 array (n_published,), optional
        How many records each of these rows stands for; None where each is one.
    """

    n_rows: int
    rows: Rows
    labels: Codes
    weights: Codes | None = None

    @classmethod
    def of(
        cls,
        n_rows: int,
        rows: npt.NDArray[np.integer[Any]],
        groups: npt.NDArray[np.integer[Any]],
        weights: Codes | None = None,
    ) -> tuple[Grouping, Rows]:
        """Number the groups densely; also the published rows that are kept (a negative group: not).

        `weights` are those of the rows of the original, where these stand for several records.
        """
        kept = np.flatnonzero(np.asarray(groups) >= 0)
        labels = np.unique(np.asarray(groups)[kept], return_inverse=True)[1].astype(np.int32)
        behind = np.asarray(rows)[kept].astype(np.intp, copy=False)
        return cls(n_rows, behind, labels, None if weights is None else weights[behind]), kept

    @cached_property
    def n_published(self) -> int:
        """Records that are in a group."""
        return len(self.rows) if self.weights is None else int(self.weights.sum(dtype=np.int64))

    @property
    def n_suppressed(self) -> int:
        """Original records that were not published."""
        return self.n_rows - self.n_published

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.sizes)

    @cached_property
    def sizes(self) -> Ints:
        """Number of records of each group."""
        return count_codes(self.labels, self.weights)

    @cached_property
    def order(self) -> Rows:
        """Published records group by group."""
        return np.argsort(self.labels, kind="stable")

    @cached_property
    def starts(self) -> Ints:
        """Where each group begins in `order`."""
        n_rows = self.sizes if self.weights is None else np.bincount(self.labels)
        return np.cumsum(n_rows) - n_rows

    def least(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Least value of each group; nan is passed over."""
        if not self.n_groups:
            return values[:0]
        return np.asarray(np.fmin.reduceat(values[self.order], self.starts))

    def greatest(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Greatest value of each group; nan is passed over."""
        if not self.n_groups:
            return values[:0]
        return np.asarray(np.fmax.reduceat(values[self.order], self.starts))

    def count(self, marked: Mask) -> Ints:
        """Marked records of each group."""
        return count_codes(self.labels[marked], None if self.weights is None else self.weights[marked], self.n_groups)

    @cached_property
    def spans(self) -> dict[tuple[int, int, int], tuple[tuple[Floats, Floats], Any]]:
        """The spans that `shoal.utility.tables.spans` has found of these groups."""
        return {}

    @cached_property
    def _varieties(self) -> dict[int, tuple[Codes, Ints]]:
        return {}

    def variety(self, codes: Codes, n_codes: int) -> Ints:
        """How many distinct codes each group has, of codes by original record; counted once for an array."""
        if id(codes) not in self._varieties:
            group, _, _ = self.members(codes[self.rows], n_codes)
            # The array is kept with its count, so that no other gets its number.
            self._varieties[id(codes)] = codes, np.bincount(group, minlength=self.n_groups)
        return self._varieties[id(codes)][1]

    def members(self, codes: Codes, n_codes: int) -> tuple[Ints, Ints, Ints]:
        """The distinct (group, code) pairs by group, and how many records each has."""
        keys = self.labels.astype(np.int64) * n_codes + codes
        if self.n_groups * n_codes <= 8 * len(keys):
            counts = count_codes(keys, self.weights)
            keys = np.flatnonzero(counts)
            counts = counts[keys]
        else:
            keys, counts = counted(keys, self.weights)
        return keys // n_codes, keys % n_codes, counts
