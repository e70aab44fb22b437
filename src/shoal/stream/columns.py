"""The quasi-identifiers of a stream, column by column: as points by which windows are grouped, and as labels.

Nobody knows in advance between which ends the numbers of a stream lie. So their width is measured against the range of
all that came in so far, the window included; the loss is kept in the unit of the column and told, at the end, as a
share of the range of the whole. The grid on which ranges end (`shoal.data.tables.round_ends`) is found in the first
window in which values of a class differ and kept from then on. Both depend on quasi-identifiers alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.arrays import Floats, Rows, Singles
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import prefixes, spell_edge
from shoal.data.tables.labels import EVERYTHING, OR_MISSING, range_label
from shoal.data.tables.parse import parse_dates
from shoal.data.tables.round_ends import number_step
from shoal.data.tables.table import Column, encode_cells, spell
from shoal.errors import DataError, PolicyError
from shoal.stream.text import WindowCells
from shoal.tables.encoding import rank
from shoal.tables.groups import Groups
from shoal.tables.information_loss import MISSING, group_losses, width_points
from shoal.tables.publish.generalise import generalise

_MOST_EXACT = 2.0**53
_MOST_KEPT = 100_000
_MEAN_DECIMALS = 6


class UnreadableCell(Exception):
    """A cell that is not what its column is to hold: the place of its record in the window, and what is wrong."""

    def __init__(self, place: int, column: str, what: str) -> None:
        super().__init__(f"column {column!r} {what}")
        self.place = place


class StreamColumn(ABC):
    """One quasi-identifier of a stream."""

    def __init__(self, attribute: Attribute, missing: str, markers: Sequence[str], ends: str) -> None:
        self.attribute, self.missing, self.markers, self.ends = attribute, missing, frozenset(markers), ends
        self.name = attribute.name
        self.loss = 0.0
        """Widths of labels, summed over records."""

    @abstractmethod
    def read(self, cells: WindowCells) -> Any:
        """The cells of a window, in whatever form the other methods take."""

    @abstractmethod
    def points(self, read: Any) -> tuple[Singles, Singles]:
        """Coordinates, one row each, as `width_points` has them, and the weight of each."""

    @abstractmethod
    def labels(self, read: Any, groups: Groups) -> list[str]:
        """The label of each group; its width is added to the loss."""

    @abstractmethod
    def share_lost(self, n_records: int) -> float:
        """The mean width of labels as a share of the column, the normalized certainty penalty."""

    def state(self) -> dict[str, Any]:
        """What has to be remembered from window to window, JSON-ready."""
        return {"loss": self.loss}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what was remembered."""
        self.loss = float(state["loss"])


class NumberColumn(StreamColumn):
    """Numbers, read and labelled without a dictionary of values."""

    low, high = np.inf, -np.inf
    step: Fraction | None = None

    def __init__(self, attribute: Attribute, missing: str, markers: Sequence[str], ends: str) -> None:
        super().__init__(attribute, missing, markers, ends)
        self._values: dict[float, str] = {}
        self._edges: dict[float, tuple[str, float]] = {}
        self._ranges: dict[tuple[float, float], tuple[str, float, float]] = {}
        self.n_open = 0
        """Records whose label is any value."""

    def read(self, cells: WindowCells) -> Floats:
        values = cells.numbers(self.name)
        if values is None:
            values = self._read_slowly(cells[self.name])
        low, high = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
        if low <= high:
            self.low, self.high = min(self.low, low), max(self.high, high)
        return values

    def _read_slowly(self, cells: Sequence[str]) -> Floats:
        values = np.full(len(cells), np.nan)
        for i, cell in enumerate(cells):
            if cell in self.markers:
                continue
            try:
                values[i] = float(cell)
            except ValueError:
                values[i] = np.nan
            if not np.isfinite(values[i]) or "_" in cell:
                what = "holds no finite number; correct it, or add its spelling to missing_markers"
                raise UnreadableCell(i, self.name, what)
            if abs(values[i]) >= _MOST_EXACT and cell.strip().lstrip("+-").isdigit():
                raise UnreadableCell(
                    i, self.name, 'holds a whole number too large to be told apart; say type = "nominal"'
                )
        return values

    def points(self, read: Floats) -> tuple[Singles, Singles]:
        extent = self.high / 4 - self.low / 4
        unit = (read / 4 - self.low / 4) / extent if extent > 0 else np.zeros(len(read))
        unit[np.isnan(read)] = MISSING
        return unit.astype(np.float32)[None], np.ones(1, np.float32)

    def labels(self, read: Floats, groups: Groups) -> list[str]:
        values = read[groups.order]
        low, high = np.fmin.reduceat(values, groups.starts), np.fmax.reduceat(values, groups.starts)
        if self.step is None and self.ends == "rounded":
            self._find_step(read, groups, high - low)
        step = 1.0 if self.step is None else float(self.step)
        with np.errstate(over="ignore", invalid="ignore"):
            below, above = np.floor(low / step).tolist(), np.ceil(high / step).tolist()
        labels = []
        for a, b, first, last, size in zip(
            low.tolist(), high.tolist(), below, above, groups.sizes.tolist(), strict=True
        ):
            if a == b:
                labels.append(self._alone(a))
            elif a < b:
                text, width = self._range(a, b, first, last)
                labels.append(text)
                self.loss += width * size
            else:  # all are missing
                labels.append("")
        n_missing = np.add.reduceat(np.isnan(values).astype(np.int64), groups.starts)
        for group in np.flatnonzero(n_missing).tolist():
            if self.missing == "any":
                labels[group] = EVERYTHING
                self.n_open += int(groups.sizes[group])
            elif labels[group]:
                labels[group] += OR_MISSING
        return labels

    def _alone(self, value: float) -> str:
        """The label of one value, the same for every spelling of it."""
        found = self._values.get(value)
        if found is None:
            if len(self._values) >= _MOST_KEPT:
                self._values.clear()
            found = self._values[value] = range_label(_spelled(value), _spelled(value))
        return found

    def _range(self, low: float, high: float, first: float, last: float) -> tuple[str, float]:
        """The label of a range, and its width; its ends are at about these multiples of the step."""
        if self.step is None:
            return range_label(_spelled(low), _spelled(high)), high - low
        found = self._ranges.get((first, last))
        if found is None:
            if len(self._ranges) >= _MOST_KEPT:
                self._ranges.clear()
            (begin, below), (end, above) = self._edge(first), self._edge(last)
            found = self._ranges[first, last] = range_label(begin, end), below, above
        text, below, above = found
        if below > low or above < high:  # a quotient was rounded, and the label would not cover its group
            return self._range(low, high, first - (below > low), last + (above < high))
        return text, above - below

    def _edge(self, place: float) -> tuple[str, float]:
        """A multiple of the step as it is written, and as that reads."""
        found = self._edges.get(place)
        if found is None:
            assert self.step is not None
            if len(self._edges) >= _MOST_KEPT:
                self._edges.clear()
            text = spell_edge(self.step * int(place))
            found = self._edges[place] = text, float(text)
        return found

    def _find_step(self, read: Floats, groups: Groups, widths: Floats) -> None:
        known = ~np.isnan(read)
        values, place = np.unique(read[known], return_inverse=True)
        if len(values) <= 2 or not (widths > 0).any() or np.abs(values).max() > 1e300:
            return
        pairs = np.unique(groups.labels[known].astype(np.int64) * len(values) + place)
        n_distinct = np.bincount(pairs // len(values), minlength=len(widths))
        self.step = number_step(values, np.nan_to_num(widths), n_distinct)

    def share_lost(self, n_records: int) -> float:
        extent = self.high - self.low
        return min(1.0, ((self.loss / extent if extent > 0 else 0.0) + self.n_open) / max(1, n_records))

    def state(self) -> dict[str, Any]:
        step = None if self.step is None else str(self.step)
        ends = [self.low, self.high] if self.low <= self.high else None
        return {**super().state(), "range": ends, "step": step, "open": self.n_open}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.low, self.high = state["range"] or (np.inf, -np.inf)
        self.step = None if state["step"] is None else Fraction(state["step"])
        self.n_open = int(state["open"])


def _spelled(value: float) -> str:
    """A value alone, the same for every spelling of it."""
    return str(int(value)) if value.is_integer() and abs(value) < _MOST_EXACT else spell(np.array([value]))[0]


class AverageColumn(NumberColumn):
    """Numbers of which each group shows the mean, none of them missing.

    The loss is what microaggregation calls IL: the squares of differences to the mean of the group, as a share of those
    to the mean of all.
    """

    n, sum, squares = 0, 0.0, 0.0

    def read(self, cells: WindowCells) -> Floats:
        values = super().read(cells)
        if np.isnan(values).any():
            what = "is empty, and an average has no place for that; fill it in, or publish ranges (generalise)"
            raise UnreadableCell(int(np.flatnonzero(np.isnan(values))[0]), self.name, what)
        return values

    def labels(self, read: Floats, groups: Groups) -> list[str]:
        means = groups.sum(read) / groups.sizes
        self.loss += float(((read - means[groups.labels]) ** 2).sum())
        self.n += len(read)
        self.sum += float(read.sum())
        self.squares += float((read**2).sum())
        return [_spelled(round(mean, _MEAN_DECIMALS)) for mean in means.tolist()]

    def share_lost(self, n_records: int) -> float:
        total = self.squares - self.sum**2 / max(1, self.n)
        return min(1.0, self.loss / total) if total > 0 else 0.0

    def state(self) -> dict[str, Any]:
        return {**super().state(), "moments": [self.n, self.sum, self.squares]}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.n, self.sum, self.squares = state["moments"]


class GeneralColumn(StreamColumn):
    """Categories, taxonomies, codes and dates: each window as the static engine takes a table."""

    def read(self, cells: WindowCells) -> tuple[Column, Attribute]:
        array = np.array([None if c in self.markers else c for c in cells[self.name]], dtype=object)
        column = encode_cells(self.name, array)
        attribute = self.attribute
        if attribute.type == "date" and len(column.values) and parse_dates(column.values) is None:
            alone = (i for i, c in enumerate(array) if c is not None and parse_dates(array[i : i + 1]) is None)
            raise UnreadableCell(next(alone, 0), self.name, "holds dates of several forms; write all as YYYY-MM-DD")
        texts = [str(v) for v in column.values]
        if attribute.order is not None:
            self._refuse_unlisted(array, set(attribute.order), "the order of its categories leaves out")
        if attribute.type == "prefix":
            attribute = replace(attribute, hierarchy=prefixes(texts) if texts else None)
        elif attribute.hierarchy is not None:
            absent = set(attribute.hierarchy.missing_from(texts))
            self._refuse_unlisted(array, set(texts) - absent, "its hierarchy does not know")
        return column, attribute

    def _refuse_unlisted(self, cells: Any, listed: set[str], what: str) -> None:
        for i, cell in enumerate(cells):
            if cell is not None and cell not in listed:
                raise UnreadableCell(i, self.name, f"holds a value that {what}; add it there")

    def points(self, read: tuple[Column, Attribute]) -> tuple[Singles, Singles]:
        laid_out = width_points([rank(*read)])
        return np.ascontiguousarray(laid_out.points.T, np.float32), laid_out.weights.astype(np.float32)

    def labels(self, read: tuple[Column, Attribute], groups: Groups) -> list[str]:
        column, attribute = read
        ranked = rank(column, attribute)
        self.loss += float(group_losses([ranked], groups.labels).sum())
        made = generalise(column, ranked, groups, attribute.hierarchy, missing=self.missing, ends=self.ends)
        first: Rows = groups.order[groups.starts]
        texts = made.texts()
        return [texts[code] for code in made.codes[first].tolist()]

    def share_lost(self, n_records: int) -> float:
        return min(1.0, self.loss / max(1, n_records))


def column_for(
    attribute: Attribute, missing: str, markers: Sequence[str], ends: str, *, is_averaged: bool = False
) -> StreamColumn:
    """The column of an attribute."""
    if is_averaged and (attribute.type != "continuous" or attribute.hierarchy is not None):
        raise PolicyError(
            f"column {attribute.name!r} is not a number, and a stream averages only numbers; publish labels instead"
        )
    if is_averaged:
        return AverageColumn(attribute, missing, markers, ends)
    if attribute.type == "continuous" and attribute.hierarchy is None:
        return NumberColumn(attribute, missing, markers, ends)
    if attribute.type == "ordinal" and attribute.order is None:
        raise DataError(
            f"column {attribute.name!r} is ordinal, and a stream does not show all categories at once: list them in "
            f"columns.{attribute.name}.order"
        )
    return GeneralColumn(attribute, missing, markers, ends)
