"""V-MDAV over a tree of boxes: groups around far records, extended by those nearer to them than to others."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled
from shoal.kernels.tables.box_tree import BoxTree, build_tree, nearest_rows, remove_row


@compiled
def _squared_distances(points: Floats, weights: Floats, n_metric: int, query: Floats, out: Floats) -> None:
    """Squared distances of all records from a point."""
    for row in range(len(points)):
        total = 0.0
        for j in range(n_metric):
            difference = points[row, j] - query[j]
            total += difference * difference
        for j in range(n_metric, len(query)):
            total += weights[j] if points[row, j] != query[j] else 0.0
        out[row] = total


@compiled
def _form_groups(
    points: Floats,
    k: int,
    gamma: float,
    tree: BoxTree,
    n_alive: int,
    enough: int,
    seeds: Ints,
    labels: Codes,
    label: int,
) -> tuple[int, int]:
    """Form groups until at most ``enough`` records, or less than k, are left; return the next label, how many are."""
    members, distances = np.zeros(2 * k - 1, np.int64), np.zeros(k)
    near, gaps = np.zeros(2 * k - 1, np.int64), np.zeros(2 * k - 1)  # of each member, among the records that are left
    pair, pair_gaps = np.zeros(2, np.int64), np.zeros(2)
    at = 0
    while n_alive >= k and n_alive > enough:
        while labels[seeds[at]] >= 0:
            at += 1
        members[0] = seeds[at]
        home = tree.leaf_of[members[0]]
        for i in range(k):
            if i == 1:  # the seed has left the tree and is not its own neighbour
                nearest_rows(tree, points[members[0]], home, distances[1:], members[1:k])
            remove_row(tree, members[i])
            labels[members[i]] = label
            near[i] = -1
        n_alive -= k
        size = k
        while size < 2 * k - 1 and n_alive > 0:
            closest = 0
            for i in range(size):
                if near[i] < 0 or labels[near[i]] >= 0:
                    row = members[i]
                    nearest_rows(tree, points[row], tree.leaf_of[row], gaps[i : i + 1], near[i : i + 1])
                if gaps[i] < gaps[closest] or (gaps[i] == gaps[closest] and near[i] < near[closest]):
                    closest = i
            candidate, inside, outside = near[closest], gaps[closest], np.inf
            if n_alive > 1:
                nearest_rows(tree, points[candidate], tree.leaf_of[candidate], pair_gaps, pair)
                # Two that are as near as the candidate to itself may crowd it out; they are at distance 0.
                outside = pair_gaps[1] if pair[0] == candidate else pair_gaps[0]
            if not inside < gamma * gamma * outside:
                break
            remove_row(tree, candidate)
            labels[candidate] = label
            members[size], near[size] = candidate, -1
            size += 1
            n_alive -= 1
        label += 1
    return label, n_alive


@compiled
def _join_nearest(
    points: Floats, weights: Floats, n_metric: int, placed: Ints, rest: Ints, room: Floats, labels: Codes
) -> None:
    """Put each leftover into the group of the nearest record that has one; of equals the smallest row's."""
    for row in rest:
        _squared_distances(points, weights, n_metric, points[row], room)
        nearest = placed[0]
        for other in placed:
            if room[other] < room[nearest]:
                nearest = other
        labels[row] = labels[nearest]


def label_v_mdav(points: Floats, weights: Floats, n_metric: int, average: Floats, k: int, gamma: float) -> Codes:
    """Label the records by V-MDAV, the groups numbered in the order in which they form.

    Ties go to the smallest row. The number of records must be k >= 2 or more. Columns and weights are those of
    `shoal.kernels.tables.box_tree`; ``average`` is the point from which far records are far.
    """
    labels = np.full(len(points), -1, np.int32)
    distances = np.empty(len(points))
    _squared_distances(points, weights, n_metric, average, distances)
    seeds = np.argsort(-distances, kind="stable")
    label, n_alive = 0, len(points)
    while n_alive >= k:
        # The outer leaves empty first. A tree over what is left is cheap, and has full leaves again.
        alive = np.flatnonzero(labels < 0)
        tree = build_tree(points, alive, average, weights, n_metric)
        enough = 7 * n_alive // 10
        label, n_alive = _form_groups(points, k, gamma, tree, n_alive, enough, seeds, labels, label)
        seeds = seeds[labels[seeds] < 0]
    placed, rest = np.flatnonzero(labels >= 0), np.flatnonzero(labels < 0)
    _join_nearest(points, weights, n_metric, placed, rest, distances, labels)
    return labels
