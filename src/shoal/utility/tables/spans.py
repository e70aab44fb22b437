"""How far the published ranges of numbers and dates reach, which may be further than their groups do."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Rows
from shoal.data.tables.labels import calendar_span, read_label
from shoal.data.tables.table import Column, spell
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.scale import MICROSECONDS_A_DAY, Scale, positions_of


def group_spans(
    scale: Scale, grouping: Grouping, column: Column | None = None, kept: Rows | None = None
) -> tuple[Floats, Floats]:
    """The least and the greatest position of each group; nan where all values are missing. Found once.

    Parameters
    ----------
    column : Column, optional
        The published column: where the label of a group is a range, its ends count, as far as values of the original
        reach. What is no range, such as an average, changes nothing.
    kept : intp array, optional
        The published rows behind ``grouping.rows``; by default all, in order.
    """
    found = grouping.spans.get((id(scale), id(column), id(kept)))
    if found is None:
        # What they are of is kept with them, so that nothing else gets its number.
        found = _group_spans(scale, grouping, column, kept), (scale, column, kept)
        grouping.spans[id(scale), id(column), id(kept)] = found
    return found[0]


def _group_spans(scale: Scale, grouping: Grouping, column: Column | None, kept: Rows | None) -> tuple[Floats, Floats]:
    values = scale.numbers()[grouping.rows]
    low, high = grouping.least(values), grouping.greatest(values)
    if column is None or scale.kind != "number" or not grouping.n_groups:
        return low, high
    rows = np.arange(len(grouping.rows)) if kept is None else kept
    shown = np.minimum(column.codes[rows[grouping.order[grouping.starts]]], len(column.values))
    ends = np.full((len(column.values) + 1, 2), np.nan)
    texts = spell(column.values) if column.is_text else []
    for code in np.unique(shown[shown < len(texts)]).tolist():
        label = read_label(texts[code])
        if label.kind == "range":
            ends[code] = [
                _position(end, scale, last=last) for end, last in zip(label.values, (False, True), strict=True)
            ]
    first, last = scale.extremes
    wide_low, wide_high = np.maximum(ends[shown, 0], first), np.minimum(ends[shown, 1], last)
    return np.fmin(low, np.where(np.isnan(low), np.nan, wide_low)), np.fmax(
        high, np.where(np.isnan(high), np.nan, wide_high)
    )


def _position(end: str, scale: Scale, *, last: bool) -> float:
    """Where an end lies; nan for one that cannot be read."""
    if scale.attribute.type == "date":
        span = calendar_span(end)
        if span is not None:
            days = float(span[last].astype(np.int64)) / MICROSECONDS_A_DAY
            return float(np.floor(days)) if scale.is_whole else days
    found = positions_of(Column("", np.zeros(0, dtype=np.int32), np.array([end], dtype=object)), scale.attribute.type)
    return float("nan") if found is None else float(found[0])
