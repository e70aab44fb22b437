"""Which published records lie nearest to a person of whom some attributes are known?

A published cell is one of the few labels of its column, so that for each person the distance to every label is
computed once; the distance to a record is the sum of what its labels say. Where labels cover several values, only the
records whose labels all cover the person's are looked at, if there are any. Records are left as soon as the sum passes
what is looked for.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Words
from shoal.kernels.attack.covering import list_covering
from shoal.kernels.attack.label_table import (
    CATEGORY,
    NUMBER,
    PLAIN_CATEGORY,
    PLAIN_NUMBER,
    ROUNDING,
    LabelTable,
)
from shoal.kernels.attack.nearest_by_arrays import count_nearest_by_arrays, find_least_by_arrays, find_nearest_by_arrays
from shoal.kernels.compile import compiled, compiled_beside


@compiled
def is_listed(listed: Floats, begin: int, end: int, value: float) -> bool:
    """Whether a value stands in a part of a list, by bisection."""
    last = end
    while begin < end:
        middle = (begin + end) >> 1
        if listed[middle] < value:
            begin = middle + 1
        else:
            end = middle
    return bool(begin < last and listed[begin] == value)


@compiled
def _covers(table: LabelTable, label: int, value: float) -> bool:
    if np.isnan(value):
        return bool(table.may_miss[label] != 0)
    if value < table.low[label] or value > table.high[label]:
        return False
    if table.begins[label] == table.ends[label]:
        return True
    return is_listed(table.listed, table.begins[label], table.ends[label], value)


@compiled
def fill_terms(table: LabelTable, person: Floats, penalty: float, cover_only: bool, terms: Floats) -> None:
    """The distance of a person to each label.

    In a plain column the difference of numbers, or 1 where categories differ or one of two is missing. Elsewhere every
    covered value is equally likely: the expected distance where the label covers the person's value (0 if
    `cover_only`), else `penalty` and the gap.
    """
    for column in range(len(table.kinds)):
        kind, scale, x = table.kinds[column], table.scales[column], person[column]
        for label in range(table.starts[column], table.starts[column + 1]):
            a, b = table.low[label], table.high[label]
            if kind == PLAIN_NUMBER:
                if np.isnan(x) or a > b:
                    terms[label] = 0.0 if np.isnan(x) and table.may_miss[label] else 1.0
                else:
                    terms[label] = abs(x - a) * scale
            elif kind == PLAIN_CATEGORY:
                terms[label] = 0.0 if _covers(table, label, x) else 1.0
            elif not _covers(table, label, x):
                gap = 1.0
                if kind == NUMBER and a <= b and not np.isnan(x):
                    gap = max(a - x, x - b, 0.0) * scale
                terms[label] = penalty + gap
            elif cover_only or np.isnan(x):
                terms[label] = 0.0
            elif kind == CATEGORY:
                terms[label] = 1.0 - 1.0 / table.sizes[label]
            elif b > a:
                terms[label] = ((x - a) * (x - a) + (b - x) * (b - x)) / (2.0 * (b - a)) * scale
            else:
                terms[label] = 0.0


@compiled
def _distance(terms: Floats, labels: Codes, row: int, enough: float) -> float:
    """The distance of a record; once the sum passes `enough` it is left."""
    distance = 0.0
    for column in range(labels.shape[1]):
        distance += terms[labels[row, column]]
        if distance > enough:
            break
    return distance


@compiled_beside(find_nearest_by_arrays)
def find_nearest(
    table: LabelTable,
    people: Floats,
    labels: Codes,
    owners: Ints,
    penalty: float,
    found: Ints,
    distances: Floats,
    terms: Floats,
) -> None:
    """The nearest records of each person, one of each owner; of equally near ones the first.

    Parameters
    ----------
    people : float64 array (n_people, n_columns)
    labels : int32 array (n_records, n_columns)
        Numbered through all columns.
    owners : int64 array (n_records,)
        Whose each record is.
    found, distances : arrays (n_people, n_nearest)
        Filled: rows of `labels`, from near to far, and how far they are.
    """
    most = found.shape[1]
    cover_only = bool(np.bool_(False))  # typed: a literal one would compile the terms a second time
    for person in range(len(people)):
        fill_terms(table, people[person], penalty, cover_only, terms)
        for place in range(most):
            found[person, place], distances[person, place] = -1, np.inf
        bound = np.inf
        for row in range(len(labels)):
            distance = _distance(terms, labels, row, bound)
            if distance < bound:
                place = _place_of(owners, found[person], row)
                if distances[person, place] <= distance:
                    continue
                while place > 0 and distances[person, place - 1] > distance:
                    distances[person, place] = distances[person, place - 1]
                    found[person, place] = found[person, place - 1]
                    place -= 1
                distances[person, place], found[person, place] = distance, row
                bound = distances[person, most - 1]


@compiled
def _place_of(owners: Ints, found: Ints, row: int) -> int:
    """Where a record of the same owner stands, or else the last place."""
    for place in range(len(found)):
        if found[place] >= 0 and owners[found[place]] == owners[row]:
            return place
    return len(found) - 1


@compiled
def _list_likely(bits: Words, cells: Codes, person: int, listed: Ints) -> int:
    """List the boxes that could hold a person, or all where none could; return how many."""
    n_listed = list_covering(bits, cells, person, listed) if cells.shape[1] > 0 else 0
    if n_listed > 0:
        return n_listed
    for box in range(len(listed)):
        listed[box] = box
    return len(listed)


@compiled
def _tie(box: int, distance: float, bound: float, tied: Ints, n_tied: int) -> tuple[float, int]:
    """Take a box for the nearest so far, or among those that are as near; how near they are then, and how many."""
    if distance < bound - ROUNDING:
        tied[0] = box
        return distance, 1
    if distance <= bound + ROUNDING:
        tied[n_tied] = box
        return bound, n_tied + 1
    return bound, n_tied


@compiled
def nearest_boxes(terms: Floats, labels: Codes, listed: Ints, n_listed: int, tied: Ints) -> tuple[float, int]:
    """Put the nearest of some boxes into `tied`; how near they are, and how many."""
    bound, n_tied = np.inf, 0
    for i in range(n_listed):
        box = listed[i]
        distance = _distance(terms, labels, box, bound + ROUNDING)
        bound, n_tied = _tie(box, distance, bound, tied, n_tied)
    return bound, n_tied


@compiled_beside(find_least_by_arrays)
def find_least(
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
    """How near the nearest is, how many are as near, and how far the person's own is.

    Parameters
    ----------
    labels, weights : arrays (n_boxes, n_columns) and (n_boxes,)
        Distinct published records, and how many of each there are.
    bits, cells : arrays
        Which of them could hold each person; see `shoal.kernels.attack.covering`. Without columns nothing is known.
    starts, persons : int64 arrays
        Whose the records of each box are, where persons are counted and `weights` has how many; else none.
    own_starts, own_boxes : int64 arrays (n_people + 1,) and others
        The boxes of each person's own records.
    least, ties, own_distance : arrays (n_people,)
        Filled.
    listed, tied : int64 arrays (n_boxes,)
        Room.
    seen : int64 array (n_persons,)
        Room, below `first` before; who is counted is noted there from `first` on.
    """
    for person in range(len(people)):
        fill_terms(table, people[person], penalty, cover_only, terms)
        n_likely = _list_likely(bits, cells, person, listed)
        least[person], n_tied = nearest_boxes(terms, labels, listed, n_likely, tied)
        count = 0
        for i in range(n_tied):
            if n_tied == 1 or len(persons) == 0:
                count += weights[tied[i]]
            else:  # who stands in several boxes counts once
                for place in range(starts[tied[i]], starts[tied[i] + 1]):
                    if seen[persons[place]] != first + person:
                        seen[persons[place]] = first + person
                        count += 1
        ties[person] = count
        own_distance[person] = np.inf
        for i in range(own_starts[person], own_starts[person + 1]):
            own_distance[person] = min(own_distance[person], _distance(terms, labels, own_boxes[i], np.inf))


@compiled_beside(count_nearest_by_arrays)
def count_nearest(
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
    """The secret values beside the nearest records of each person.

    Parameters
    ----------
    starts : int64 array (n_boxes + 1,)
        Where the secret values of each box begin in `values` and `amounts`: a value, and how many have it.
    least : float64 array (n_people,)
        Filled: how near the nearest are.
    counts : int64 array (n_people, n_values)
        Filled: how many of the nearest have each value.
    tied, listed : int64 arrays (n_boxes,)
        Room.
    """
    for person in range(len(people)):
        fill_terms(table, people[person], penalty, cover_only, terms)
        n_likely = _list_likely(bits, cells, person, listed)
        least[person], n_tied = nearest_boxes(terms, labels, listed, n_likely, tied)
        for i in range(n_tied):
            for place in range(starts[tied[i]], starts[tied[i] + 1]):
                counts[person, values[place]] += amounts[place]
