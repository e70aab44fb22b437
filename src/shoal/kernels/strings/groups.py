"""Groups of k templates: a pass takes, for one centre after another, the k closest templates that are left.

Templates are sparse rows (`shoal.kernels.strings.templates`); ``weights`` is empty where every entry weighs 1. Both a
template and a centre add up to 1 at each position, so their distance is ``2 L - 2 s`` with the similarity
``s = sum of min(f, c)`` over the template's own entries: about two look-ups a position, whatever the alphabet.
A centre lies in an array over all features, which is filled and cleared around each use.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Singles
from shoal.kernels.compile import compiled, compiled_beside


class SparseTemplates(NamedTuple):
    """Templates as sparse rows, see `shoal.kernels.strings.templates`."""

    starts: Ints
    features: Codes
    weights: Singles
    n_features: int


def _similarity_by_arrays(features: Codes, weights: Singles, begin: int, end: int, centre: Singles) -> float:
    """See `similarity`; sums along the columns of an array are made one row after another."""
    terms = centre[features[begin:end]].astype(np.float64)
    if len(weights):
        terms = np.minimum(weights[begin:end], terms)
    stop = len(terms) // 4 * 4
    a, b, c, d = terms[:stop].reshape(-1, 4).sum(axis=0).tolist()
    for term in terms[stop:].tolist():
        a += term
    return float((a + b) + (c + d))


@compiled_beside(_similarity_by_arrays)
def similarity(features: Codes, weights: Singles, begin: int, end: int, centre: Singles) -> float:
    """The sum of min(f, c) over the entries of one template.

    Four sums side by side: one alone would wait for each addition.
    """
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    stop = begin + (end - begin) // 4 * 4
    if len(weights) == 0:
        for e in range(begin, stop, 4):
            a += centre[features[e]]
            b += centre[features[e + 1]]
            c += centre[features[e + 2]]
            d += centre[features[e + 3]]
        for e in range(stop, end):
            a += centre[features[e]]
    else:
        for e in range(begin, stop, 4):
            a += min(weights[e], centre[features[e]])
            b += min(weights[e + 1], centre[features[e + 1]])
            c += min(weights[e + 2], centre[features[e + 2]])
            d += min(weights[e + 3], centre[features[e + 3]])
        for e in range(stop, end):
            a += min(weights[e], centre[features[e]])
    return (a + b) + (c + d)


def _add_by_arrays(features: Codes, weights: Singles, begin: int, end: int, share: float, centre: Singles) -> None:
    """See `add_template`; sums are rounded as there, to single precision when they are kept."""
    own = features[begin:end]
    centre[own] = centre[own].astype(np.float64) + (
        share * weights[begin:end].astype(np.float64) if len(weights) else share
    )


@compiled_beside(_add_by_arrays)
def add_template(features: Codes, weights: Singles, begin: int, end: int, share: float, centre: Singles) -> None:
    """Add a share of a template to a centre."""
    if len(weights) == 0:
        for e in range(begin, end):
            centre[features[e]] += share
    else:
        for e in range(begin, end):
            centre[features[e]] += share * weights[e]


def _clear_by_arrays(features: Codes, begin: int, end: int, centre: Singles) -> None:
    """See `clear_template`."""
    centre[features[begin:end]] = 0.0


@compiled_beside(_clear_by_arrays)
def clear_template(features: Codes, begin: int, end: int, centre: Singles) -> None:
    """Set a centre to 0 wherever a template has an entry."""
    for e in range(begin, end):
        centre[features[e]] = 0.0


@compiled
def _add_group(starts: Ints, features: Codes, weights: Singles, group: Ints, centre: Singles) -> None:
    """Add the centroid of some templates to a centre."""
    for row in group:
        add_template(features, weights, starts[row], starts[row + 1], 1.0 / len(group), centre)


@compiled
def _clear_group(starts: Ints, features: Codes, group: Ints, centre: Singles) -> None:
    """Set a centre to 0 wherever one of some templates has an entry."""
    for row in group:
        clear_template(features, starts[row], starts[row + 1], centre)


@compiled
def similarities(templates: SparseTemplates, centre: Singles) -> Floats:
    """The similarity of every template to one centre."""
    starts, features, weights = templates.starts, templates.features, templates.weights
    out = np.empty(len(starts) - 1)
    for row in range(len(out)):
        out[row] = similarity(features, weights, starts[row], starts[row + 1], centre)
    return out


@compiled
def average(templates: SparseTemplates, rows: Ints) -> Singles:
    """The centroid of some templates."""
    centre = np.zeros(templates.n_features, np.float32)
    _add_group(templates.starts, templates.features, templates.weights, rows, centre)
    return centre


@compiled
def sink(keys: Floats, rows: Ints, size: int) -> None:
    """Let the root of a heap sink; its root is the least similar, of equals the largest row."""
    key, row, at = keys[0], rows[0], 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (keys[right] < keys[child] or (keys[right] == keys[child] and rows[right] > rows[child])):
            child = right
        if keys[child] > key or (keys[child] == key and rows[child] < row):
            break
        keys[at], rows[at] = keys[child], rows[child]
        at = child
    keys[at], rows[at] = key, row


@compiled
def _take_closest(
    starts: Ints,
    features: Codes,
    weights: Singles,
    centre: Singles,
    label: int,
    labels: Codes,
    left: Ints,
    n_left: int,
    keys: Floats,
    rows: Ints,
) -> int:
    """Label the closest templates of those left, of equals the smallest rows; return how many were left before."""
    k, kept = len(keys), 0
    keys[:] = -np.inf
    rows[:] = -1
    for i in range(n_left):
        row = left[i]
        if labels[row] >= 0:
            continue
        left[kept] = row
        kept += 1
        s = similarity(features, weights, starts[row], starts[row + 1], centre)
        if s > keys[0]:  # rows ascend, so an equal one is the larger
            keys[0], rows[0] = s, row
            sink(keys, rows, k)
    for i in range(k):
        labels[rows[i]] = label
    return kept


@compiled
def pass_around(templates: SparseTemplates, k: int, order: Ints, members: Ints, group_starts: Ints) -> Codes:
    """Group around templates that are picked in the given order, or, where that is empty, around former centroids.

    Fewer than k stay unlabelled, -1. The former groups, `members` and `group_starts`, are not looked at where there is
    an order.
    """
    starts, features, weights = templates.starts, templates.features, templates.weights
    n = len(starts) - 1
    labels = np.full(n, -1, np.int32)
    left = np.arange(n)
    centre = np.zeros(templates.n_features, np.float32)
    keys, rows = np.empty(k), np.empty(k, np.int64)
    n_left, at = n, 0
    for label in range(n // k):
        if len(order) > 0:
            # A picked one is as close as can be, but smaller rows with the same string may be taken before it.
            while labels[order[at]] >= 0:
                at += 1
            group = order[at : at + 1]
        else:
            group = members[group_starts[label] : group_starts[label + 1]]
        _add_group(starts, features, weights, group, centre)
        n_left = _take_closest(starts, features, weights, centre, label, labels, left, n_left, keys, rows)
        _clear_group(starts, features, group, centre)
    return labels


@compiled
def insert_near(scores: Floats, near: Codes, row: int, score: float, label: int) -> None:
    """Put a group among the nearest of a template, if it is one of them; behind those that are as near."""
    at = near.shape[1] - 1
    if score <= scores[row, at]:
        return
    while at > 0 and scores[row, at - 1] < score:
        scores[row, at], near[row, at] = scores[row, at - 1], near[row, at - 1]
        at -= 1
    scores[row, at], near[row, at] = score, label


@compiled
def nearest_groups(
    templates: SparseTemplates, members: Ints, group_starts: Ints, labels: Codes, asked: Ints, n_near: int
) -> Codes:
    """For each template that is asked for, the groups with the nearest centroids, its own left out, nearest first.

    Of equally near ones the smaller number comes first; -1 where there are no more groups.
    """
    starts, features, weights = templates.starts, templates.features, templates.weights
    near = np.full((len(asked), n_near), -1, np.int32)
    best = np.full((len(asked), n_near), -np.inf)
    centre = np.zeros(templates.n_features, np.float32)
    for label in range(len(group_starts) - 1):
        group = members[group_starts[label] : group_starts[label + 1]]
        _add_group(starts, features, weights, group, centre)
        for i in range(len(asked)):
            row = asked[i]
            if labels[row] == label:
                continue
            insert_near(best, near, i, similarity(features, weights, starts[row], starts[row + 1], centre), label)
        _clear_group(starts, features, group, centre)
    return near


@compiled
def group_costs(templates: SparseTemplates, length: int, members: Ints, group_starts: Ints) -> Floats:
    """The sum of the distances of the members to their centroid, for each group."""
    starts, features, weights = templates.starts, templates.features, templates.weights
    out = np.zeros(len(group_starts) - 1)
    centre = np.zeros(templates.n_features, np.float32)
    for label in range(len(out)):
        group = members[group_starts[label] : group_starts[label + 1]]
        _add_group(starts, features, weights, group, centre)
        for row in group:
            out[label] += 2.0 * (length - similarity(features, weights, starts[row], starts[row + 1], centre))
        _clear_group(starts, features, group, centre)
    return out
