"""What the kernels of `shoal.kernels.attack.nearest` find, in array operations: for few people and records.

A distance is the sum of the same terms in the same order, so that both find the same. What a label says of a value is
reckoned once for each distinct value of a column.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask, Words
from shoal.kernels.attack.covering import places_of_bits
from shoal.kernels.attack.label_table import CATEGORY, NUMBER, PLAIN_CATEGORY, PLAIN_NUMBER, ROUNDING, LabelTable

DISTANCES_AT_ONCE = 1_000_000


def _portions(n_people: int, n_boxes: int) -> Iterator[slice]:
    step = max(1, DISTANCES_AT_ONCE // max(1, n_boxes))
    return (slice(low, min(low + step, n_people)) for low in range(0, n_people, step))


def _distances(table: LabelTable, people: Floats, labels: Codes, penalty: float, cover_only: bool) -> Floats:
    """Of each person from each record (n_people, n_records)."""
    found = np.zeros((len(people), len(labels)))
    for column in range(len(table.kinds)):
        values, at = np.unique(people[:, column], return_inverse=True)
        of_label = labels[:, column] - table.starts[column]
        found += _terms(table, column, values[:, None], penalty, cover_only)[:, of_label][at.reshape(-1)]
    return found


@np.errstate(invalid="ignore")  # of labels that cover nothing, from inf to -inf
def _terms(table: LabelTable, column: int, x: Floats, penalty: float, cover_only: bool) -> Floats:
    """The distance of values (n, 1) to each label of their column; see `shoal.kernels.attack.nearest.fill_terms`."""
    kind, scale = table.kinds[column], table.scales[column]
    labels = slice(table.starts[column], table.starts[column + 1])
    a, b, may_miss = table.low[labels], table.high[labels], table.may_miss[labels] != 0
    is_missing = np.isnan(x)
    if kind == PLAIN_NUMBER:
        differs = np.where(is_missing & may_miss, 0.0, 1.0)
        return np.where(is_missing | (a > b), differs, np.abs(x - a) * scale)
    begins, ends = table.begins[labels], table.ends[labels]
    first = begins.min(initial=len(table.listed))
    found = np.zeros((len(x), max(ends.max(initial=first) - first, 0) + 1), np.int64)
    np.cumsum(table.listed[first : ends.max(initial=first)] == x, axis=1, out=found[:, 1:])
    is_listed = (begins == ends) | (found[:, ends - first] > found[:, begins - first])
    covers = np.where(is_missing, may_miss, (x >= a) & (x <= b) & is_listed)
    if kind == PLAIN_CATEGORY:
        return np.where(covers, 0.0, 1.0)
    gap, inside = np.ones(covers.shape), np.zeros(covers.shape)
    if kind == NUMBER:
        gap = np.where((a <= b) & ~is_missing, np.maximum(np.maximum(a - x, x - b), 0.0) * scale, 1.0)
    if not cover_only and kind == CATEGORY:
        inside = np.where(is_missing, 0.0, 1.0 - 1.0 / np.maximum(table.sizes[labels], 1.0))
    elif not cover_only:
        is_wide = b > a
        width = np.where(is_wide, b - a, 1.0)
        away = ((x - a) * (x - a) + (b - x) * (b - x)) / (2.0 * width) * scale
        inside = np.where(is_wide & ~is_missing, away, 0.0)
    return np.where(covers, inside, penalty + gap)


def find_nearest_by_arrays(
    table: LabelTable,
    people: Floats,
    labels: Codes,
    owners: Ints,
    penalty: float,
    found: Ints,
    distances: Floats,
    terms: Floats,
) -> None:
    """See `shoal.kernels.attack.nearest.find_nearest`."""
    boxes, box_of = np.unique(labels, axis=0, return_inverse=True)
    box_of, most = box_of.reshape(-1), found.shape[1]
    is_one_each = len(np.unique(owners)) == len(owners)
    if not most:
        return
    for part in _portions(len(people), len(labels)):
        near = _distances(table, people[part], boxes, penalty, False)[:, box_of]
        for person, row in enumerate(near, part.start):
            if is_one_each:
                listed = np.flatnonzero(row <= np.partition(row, most - 1)[most - 1])
                listed = listed[np.argsort(row[listed], kind="stable")][:most]
            else:
                listed = np.argsort(row, kind="stable")
                listed = listed[np.sort(np.unique(owners[listed], return_index=True)[1])[:most]]
            found[person], distances[person] = listed, row[listed]


def _tied(distances: Floats, bits: Words, cells: Codes) -> tuple[Floats, Mask]:
    """How near the nearest of the likely boxes are to each person, and which are as near (n_people, n_boxes).

    Sums that are equal but for rounding are taken as they come, as the kernel does: how near the nearest is and who is
    as near then depends on their order.
    """
    if cells.shape[1]:
        covers = places_of_bits(np.bitwise_and.reduce(bits[cells], axis=1), distances.shape[1]) != 0
        covers[~covers.any(axis=1)] = True
        distances = np.where(covers, distances, np.inf)
    least = distances.min(axis=1, initial=np.inf)
    is_tied = distances == least[:, None]
    # Whatever is farther than that from the least is soon forgotten.
    about = distances <= least[:, None] + 1000 * ROUNDING
    for person in np.flatnonzero((about != is_tied).any(axis=1)).tolist():
        bound, tied = np.inf, []
        for box in np.flatnonzero(about[person]).tolist():
            if distances[person, box] < bound - ROUNDING:
                bound, tied = distances[person, box], [box]
            elif distances[person, box] <= bound + ROUNDING:
                tied.append(box)
        least[person], is_tied[person] = bound, False
        is_tied[person, tied] = True
    return least, is_tied


def find_least_by_arrays(
    table: LabelTable,
    people: Floats,
    labels: Codes,
    bits: Words,
    cells: Codes,
    weights: Ints,
    starts: Ints,
    persons: Ints,
    own_starts: Ints,
    own_boxes: Ints,
    penalty: float,
    cover_only: bool,
    least: Floats,
    ties: Ints,
    own_distance: Floats,
    terms: Floats,
    listed: Ints,
    tied: Ints,
    seen: Ints,
    first: int,
) -> None:
    """See `shoal.kernels.attack.nearest.find_least`."""
    own_distance[:] = np.inf
    for part in _portions(len(people), len(labels)):
        distances = _distances(table, people[part], labels, penalty, cover_only)
        least[part], is_tied = _tied(distances, bits, cells[part])
        ties[part] = (is_tied * weights).sum(axis=1)
        if len(persons):
            for person in np.flatnonzero(is_tied.sum(axis=1) > 1).tolist():  # who stands in several boxes counts once
                held = [persons[starts[box] : starts[box + 1]] for box in np.flatnonzero(is_tied[person])]
                ties[part.start + person] = len(np.unique(np.concatenate(held)))
        begins, ends = own_starts[part], own_starts[part.start + 1 : part.stop + 1]
        whose = np.repeat(np.arange(len(begins)), ends - begins)
        mine = own_boxes[own_starts[part.start] : own_starts[part.stop]]
        np.minimum.at(own_distance[part], whose, distances[whose, mine])


def count_nearest_by_arrays(
    table: LabelTable,
    people: Floats,
    labels: Codes,
    bits: Words,
    cells: Codes,
    starts: Ints,
    values: Ints,
    amounts: Ints,
    penalty: float,
    cover_only: bool,
    least: Floats,
    counts: Ints,
    terms: Floats,
    tied: Ints,
    listed: Ints,
) -> None:
    """See `shoal.kernels.attack.nearest.count_nearest`."""
    for part in _portions(len(people), len(labels)):
        distances = _distances(table, people[part], labels, penalty, cover_only)
        least[part], is_tied = _tied(distances, bits, cells[part])
        person, box = np.nonzero(is_tied)
        sizes = starts[box + 1] - starts[box]
        place = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(starts[box], sizes)
        np.add.at(counts[part], (np.repeat(person, sizes), values[place]), amounts[place])
