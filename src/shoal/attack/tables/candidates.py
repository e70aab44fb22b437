"""The published records that could be a person's: the nearest ones, and the secret values that stand beside them.

The distance of a person to a published record is Gower's, a sum over the known attributes: of numbers the difference
over the range, of categories 0 or 1. A label that covers many values counts with the expected distance over them, and
one that does not cover the person's own value counts more than all that do together: it cannot be that person's.

References
----------
J. C. Gower, "A general coefficient of similarity and some of its properties", Biometrics 27(4), 1971.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Words
from shoal.attack.tables.case import TableCase
from shoal.attack.tables.cells import CellLabels, View, label_table, read_view, telling_order
from shoal.attack.tables.targets import n_distinct
from shoal.check.slices.sliced import numbered
from shoal.kernels.attack.covering import Runs, fill_bits
from shoal.kernels.attack.label_table import PLAIN_NUMBER, ROUNDING
from shoal.kernels.attack.nearest import count_nearest, find_least, find_nearest

AT_ONCE = 1 << 22  # counts that are held at a time
MANY_POINTS = 1 << 14  # from here on a tree is faster than looking at all


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
    persons : int64 array (n_published,), optional
        Whose each published record is, where persons are counted.
    """

    def __init__(self, view: View, persons: Ints | None = None) -> None:
        self._order = telling_order(view)
        self._view = view.select(self._order)
        self._table = label_table(self._view)
        self._terms = np.zeros(len(self._table.low))
        self.penalty = float(len(view.labels))
        self.box_of, first = view.boxes
        self._boxes = self._labels_of(first)
        self.persons, self.weights = persons, view.weights
        self._weights = n_distinct(self.box_of, persons, len(first), view.weights)

    @property
    def n_boxes(self) -> int:
        """Distinct published records."""
        return len(self._weights)

    def _labels_of(self, rows: Ints) -> Codes:
        """The labels of some published records, numbered through all columns."""
        parts = [c.codes[rows] + at for c, at in zip(self._view.labels, self._table.starts, strict=False)]
        return np.column_stack(parts).astype(np.int32)

    def _people(self, people: Floats) -> Floats:
        return np.ascontiguousarray(people[:, self._order])

    def _portions(self, n_people: int, n_values: int = 1) -> list[slice]:
        """So many people at a time that neither bits nor counts take too much room."""
        n_words = -(-self.n_boxes // 64)
        step = max(1, AT_ONCE // max(1, n_values, n_words))
        return [slice(begin, min(begin + step, n_people)) for begin in range(0, n_people, step)]

    def _covering(self, people: Floats) -> tuple[Words, Codes]:
        """Which boxes could hold each person, as far as labels say that cover several values; see `covering`.

        Those boxes are nearer than all others: what does not cover counts more than all that does.
        """
        bits, cells, n_cells = [np.zeros((0, -(-self.n_boxes // 64)), dtype=np.uint64)], [], 0
        for place, read in enumerate(self._view.labels):
            if read.is_plain:
                continue
            values = people[:, place]
            known, at = np.unique(values, return_inverse=True)
            n_known = len(known) - bool(len(known) and np.isnan(known[-1]))
            cells.append(np.where(np.isnan(values), n_known, at) + n_cells)
            part = np.zeros((n_known + 1, bits[0].shape[1]), dtype=np.uint64)
            of_box = (self._boxes[:, place] - self._table.starts[place]).astype(np.int64)
            fill_bits(Runs(of_box, *_label_runs(read, known[:n_known])), part)
            bits.append(part)
            n_cells += n_known + 1
        found = np.column_stack(cells) if cells else np.zeros((len(people), 0))
        return np.concatenate(bits), np.ascontiguousarray(found, dtype=np.int32)

    def least(self, people: Floats, own: Ints | None = None, *, cover_only: bool = False) -> Least:
        """The distance to the nearest; `own` says who people are, or which record is theirs; negative: none is."""
        n_people = len(people)
        own = np.full(n_people, -1, dtype=np.int64) if own is None else own
        order = np.argsort(self.box_of, kind="stable") if self.persons is not None else np.zeros(0, dtype=np.int64)
        held = np.zeros(0, dtype=np.int64) if self.persons is None else self.persons[order]
        starts = np.searchsorted(self.box_of[order], np.arange(self.n_boxes + 1)).astype(np.int64)
        own_starts, own_boxes = self._own_boxes(own)
        seen = np.full(int(held.max(initial=-1)) + 1, -1, dtype=np.int64)
        tied = np.empty(self.n_boxes, dtype=np.int64)
        asked = self._people(people)
        if self._are_points and not np.isnan(asked).any():
            return self._least_of_points(asked, starts, held, own_starts, own_boxes)
        least, far = np.empty(n_people), np.empty(n_people)
        ties = np.empty(n_people, dtype=np.int64)
        listed = np.empty(self.n_boxes, dtype=np.int64)
        for part in self._portions(n_people):
            find_least(
                self._table,
                asked[part],
                self._boxes,
                *self._covering(asked[part]),
                self._weights,
                starts,
                held,
                own_starts[part.start : part.stop + 1],
                own_boxes,
                self.penalty,
                cover_only,
                least[part],
                ties[part],
                far[part],
                self._terms,
                listed,
                tied,
                seen,
                part.start,
            )
        return Least(least, ties, far <= least + ROUNDING)

    @cached_property
    def _are_points(self) -> bool:
        """Whether there are many boxes, each of them one number in every column: then a tree finds the nearest."""
        is_line = self.n_boxes >= MANY_POINTS and bool((self._table.kinds == PLAIN_NUMBER).all())
        return is_line and bool(np.isfinite(self._table.low[self._boxes]).all())

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        points = self._table.low[self._boxes] * self._table.scales
        return cKDTree(points, balanced_tree=False, compact_nodes=False)

    def _least_of_points(self, asked: Floats, starts: Ints, held: Ints, own_starts: Ints, own_boxes: Ints) -> Least:
        """What `find_least` finds, where distances are sums of differences of numbers."""
        tree, asked = self._tree, asked * self._table.scales
        least, _ = tree.query(asked, p=1)
        ties = np.empty(len(asked), dtype=np.int64)
        for person, near in enumerate(tree.query_ball_point(asked, least + ROUNDING, p=1)):
            if self.persons is None:
                ties[person] = self._weights[near].sum()
            else:
                ties[person] = len(np.unique(np.concatenate([held[starts[box] : starts[box + 1]] for box in near])))
        whose = np.repeat(np.arange(len(asked)), np.diff(own_starts))
        own = own_boxes[own_starts[0] : own_starts[-1]]
        far = np.full(len(asked), np.inf)
        np.minimum.at(far, whose, np.abs(tree.data[own] - asked[whose]).sum(axis=1))
        return Least(least, ties, far <= least + ROUNDING)

    def _own_boxes(self, own: Ints) -> tuple[Ints, Ints]:
        """The boxes that a person's records stand in, of each of some people one after another."""
        if self.persons is None:
            there = own >= 0
            return np.append(0, np.cumsum(there)), self.box_of[own[there]].astype(np.int64)
        keys = np.unique(self.persons * self.n_boxes + self.box_of)
        owner, box = np.divmod(keys, self.n_boxes)
        first, last = np.searchsorted(owner, own, "left"), np.searchsorted(owner, own, "right")
        lengths = last - first
        starts = np.append(0, np.cumsum(lengths))
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        return starts.astype(np.int64), box[np.repeat(first, lengths) + within].astype(np.int64)

    def nearest(self, people: Floats, n_nearest: int, rng: np.random.Generator) -> Ints:
        """Published records from near to far (n_people, n_nearest), one of a person where these count.

        Ties fall at random; among persons each is as likely as another, however many records it has.
        """
        if self.persons is None:
            shuffled = rng.permutation(len(self.box_of))
            owners, n_owners = np.arange(len(shuffled)), len(shuffled)
        else:
            _, first = numbered([self.box_of, self.persons])  # what a person repeats within a box is no nearer
            known, whose = np.unique(self.persons[first], return_inverse=True)
            place = rng.permutation(len(known))[whose]
            order = np.argsort(place, kind="stable")
            shuffled, owners, n_owners = first[order], place[order], len(known)
        found = np.empty((len(people), min(n_nearest, n_owners)), dtype=np.int64)
        distances = np.empty(found.shape)
        labels = self._labels_of(shuffled)
        asked, whose = self._people(people), owners.astype(np.int64)
        find_nearest(self._table, asked, labels, whose, self.penalty, found, distances, self._terms)
        return np.asarray(shuffled[found], dtype=np.int64)

    def counts(
        self, people: Floats, secret: Ints, n_values: int, *, cover_only: bool = False
    ) -> Iterator[tuple[slice, Floats, Ints]]:
        """How many of each person's nearest records have each secret value: portions of people, distances, counts.

        Where persons are counted, how many have it among the records of a box, whatever they have in others.

        Parameters
        ----------
        people : float64 array (n_people, n_columns)
        secret : int64 array (n_published,)
            The value of each published record, below `n_values`.
        """
        of_key, first = numbered([self.box_of, secret])
        amounts = n_distinct(of_key, self.persons, len(first), self._view.weights)
        box, values = self.box_of[first], secret[first]
        starts = np.searchsorted(box, np.arange(self.n_boxes + 1)).astype(np.int64)
        asked = self._people(people)
        tied, listed = np.empty(self.n_boxes, dtype=np.int64), np.empty(self.n_boxes, dtype=np.int64)
        for part in self._portions(len(asked), n_values):
            least = np.empty(part.stop - part.start)
            counts = np.zeros((part.stop - part.start, n_values), dtype=np.int64)
            count_nearest(
                self._table,
                asked[part],
                self._boxes,
                *self._covering(asked[part]),
                starts,
                values.astype(np.int64),
                amounts.astype(np.int64),
                self.penalty,
                cover_only,
                least,
                counts,
                self._terms,
                tied,
                listed,
            )
            yield part, least, counts


def candidates_of(case: TableCase, names: Sequence[str]) -> Candidates:
    """Those of some attributes of a release, made once."""
    made = case.remember(("candidates", *names), lambda: Candidates(read_view(case, names), case.published_persons))
    return cast(Candidates, made)


def _label_runs(read: CellLabels, known: Floats) -> tuple[Ints, Ints, Ints]:
    """Where the runs of each label begin; first and last place of each among known values, the missing one behind."""
    first = np.searchsorted(known, read.low, "left")
    last = np.searchsorted(known, read.high, "right")
    lengths = np.diff(read.begins)
    spans = np.flatnonzero(lengths == 0)
    misses = np.flatnonzero(read.may_miss)
    owner = np.repeat(np.arange(read.n_labels), lengths)
    parts = [
        (spans, first[spans], last[spans]),
        (misses, np.full(len(misses), len(known)), np.full(len(misses), len(known) + 1)),
        (owner, np.searchsorted(known, read.listed, "left"), np.searchsorted(known, read.listed, "right")),
    ]
    label, first, last = (np.concatenate([p[i] for p in parts]).astype(np.int64) for i in range(3))
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(read.n_labels + 1)).astype(np.int64)
    return starts, first[order], last[order]
