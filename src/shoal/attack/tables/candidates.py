"""The published records that could be a person's: the nearest ones, and the secret values that stand beside them.

The distance of a person to a published record is Gower's, a sum over the known attributes: of numbers the difference
over the range, of categories 0 or 1. A label that covers many values counts with the expected distance over them, and
one that does not cover the person's own value counts more than all that do together: it cannot be that person's.

References
----------
J. C. Gower, "A general coefficient of similarity and some of its properties", Biometrics 27(4), 1971.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints
from shoal.attack.tables.cells import View, label_table, telling_order
from shoal.check.slices.sliced import numbered
from shoal.kernels.attack.nearest import ROUNDING, count_nearest, find_least, find_nearest

AT_ONCE = 1 << 22  # counts that are held at a time


@dataclass(frozen=True)
class Least:
    """How near the nearest records are.

    Attributes
    ----------
    distances : float64 array (n_people,)
        Of the nearest.
    ties : int64 array (n_people,)
        How many are as near.
    is_own : bool array (n_people,)
        Whether the person's own is among them.
    """

    distances: Floats
    ties: Ints
    is_own: npt.NDArray[np.bool_]


class Candidates:
    """A release, ready to be asked about people.

    Parameters
    ----------
    view : View
        The known attributes.
    """

    def __init__(self, view: View) -> None:
        self._order = telling_order(view)
        self._view = view.select(self._order)
        self._table, self._codes = label_table(self._view)
        self._terms = np.zeros(len(self._table.low))
        self.penalty = float(len(view.labels))
        self.box_of, first = numbered([c.codes for c in self._view.labels])
        self._boxes = np.ascontiguousarray(self._codes[first])
        self._weights = np.bincount(self.box_of, minlength=len(first)).astype(np.int64)

    @property
    def n_boxes(self) -> int:
        """Distinct published records."""
        return len(self._weights)

    def _people(self, people: Floats) -> Floats:
        return np.ascontiguousarray(people[:, self._order])

    def least(self, people: Floats, own_rows: Ints | None = None, *, cover_only: bool = False) -> Least:
        """The distance to the nearest; `own_rows` are the published records of the people, negative for none."""
        n_people = len(people)
        own = np.full(n_people, -1, dtype=np.int64)
        if own_rows is not None:
            own = np.where(own_rows >= 0, self.box_of[np.maximum(own_rows, 0)], -1).astype(np.int64)
        least, far = np.empty(n_people), np.empty(n_people)
        ties = np.empty(n_people, dtype=np.int64)
        find_least(
            self._table,
            self._people(people),
            self._boxes,
            self._weights,
            own,
            self.penalty,
            cover_only,
            least,
            ties,
            far,
            self._terms,
        )
        return Least(least, ties, far <= least + ROUNDING)

    def nearest(self, people: Floats, n_nearest: int, rng: np.random.Generator) -> Ints:
        """Published records from near to far (n_people, n_nearest); ties fall at random."""
        shuffled = rng.permutation(len(self._codes))
        n_nearest = min(n_nearest, len(shuffled))
        found = np.empty((len(people), n_nearest), dtype=np.int64)
        distances = np.empty(found.shape)
        labels = np.ascontiguousarray(self._codes[shuffled])
        find_nearest(self._table, self._people(people), labels, self.penalty, found, distances, self._terms)
        return np.asarray(shuffled[found], dtype=np.int64)

    def counts(
        self, people: Floats, secret: Ints, n_values: int, *, cover_only: bool = False
    ) -> Iterator[tuple[slice, Floats, Ints]]:
        """How many of each person's nearest records have each secret value: portions of people, distances, counts.

        Parameters
        ----------
        people : float64 array (n_people, n_columns)
        secret : int64 array (n_published,)
            The value of each published record, below `n_values`.
        """
        keys, amounts = np.unique(self.box_of * n_values + secret, return_counts=True)
        box, values = np.divmod(keys, n_values)
        starts = np.searchsorted(box, np.arange(self.n_boxes + 1)).astype(np.int64)
        asked = self._people(people)
        step = max(1, AT_ONCE // max(1, n_values))
        tied = np.empty(self.n_boxes, dtype=np.int64)
        for begin in range(0, len(asked), step):
            part = slice(begin, min(begin + step, len(asked)))
            least = np.empty(part.stop - begin)
            counts = np.zeros((part.stop - begin, n_values), dtype=np.int64)
            count_nearest(
                self._table,
                asked[part],
                self._boxes,
                starts,
                values.astype(np.int64),
                amounts.astype(np.int64),
                self.penalty,
                cover_only,
                least,
                counts,
                self._terms,
                tied,
            )
            yield part, least, counts
