"""The passes of `shoal.kernels.strings.groups` by postings: for each feature the templates that have it.

Where a template shares features with few others, as baskets do, a centre looks at these alone: over its own features,
each template of the list gets ``min(f, c)`` added. Sums are of a few hundred numbers of 24 bits, so no addition is
rounded, whatever its order, and labels are the same as those of the plain passes. Templates that share nothing with a
centre are equally far from it: of those the first rows are taken.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Singles
from shoal.kernels.compile import compiled
from shoal.kernels.strings.groups import SparseTemplates, add_template, insert_near, sink

Postings = tuple[Ints, Codes, Singles]
"""Where the templates of each feature begin, the templates, and their weights (empty where all weigh 1)."""


@compiled
def _score(
    templates: SparseTemplates,
    first: Ints,
    last: Ints,
    rows: Codes,
    own_weights: Singles,
    labels: Codes,
    group: Ints,
    scores: Floats,
    touched: Ints,
    centre: Singles,
) -> int:
    """Add to `scores` the similarity of every template to the centroid of a group, and tell how many were `touched`.

    Templates that have a label are taken off the lists.
    """
    starts, features, weights = templates.starts, templates.features, templates.weights
    for row in group:
        add_template(features, weights, starts[row], starts[row + 1], 1.0 / len(group), centre)
    n_touched = 0
    for row in group:
        for e in range(starts[row], starts[row + 1]):
            feature = features[e]
            c = centre[feature]
            if c == 0.0:  # another member had it
                continue
            centre[feature] = 0.0
            kept = first[feature]
            for p in range(kept, last[feature]):
                other = rows[p]
                if labels[other] >= 0:
                    continue
                weight = own_weights[p] if len(weights) else c
                if kept < p:
                    rows[kept] = other
                    if len(weights):
                        own_weights[kept] = weight
                kept += 1
                if scores[other] == 0.0:
                    touched[n_touched] = other
                    n_touched += 1
                scores[other] += min(weight, c)
            last[feature] = kept
    return n_touched


@compiled
def pass_by_postings(
    templates: SparseTemplates, by_feature: Postings, k: int, order: Ints, members: Ints, group_starts: Ints
) -> Codes:
    """As `shoal.kernels.strings.groups.pass_around`."""
    n = len(templates.starts) - 1
    labels = np.full(n, -1, np.int32)
    scores, touched, centre = np.zeros(n), np.empty(n, np.int64), np.zeros(templates.n_features, np.float32)
    first, last = by_feature[0], by_feature[0][1:].copy()
    lists, own_weights = by_feature[1].copy(), by_feature[2].copy()
    keys, rows = np.empty(k), np.empty(k, np.int64)
    one = np.empty(1, np.int64)
    at, first_left = 0, 0
    for label in range(n // k):
        if len(order):
            while labels[order[at]] >= 0:
                at += 1
            one[0] = order[at]
            group = one
        else:
            group = members[group_starts[label] : group_starts[label + 1]]
        n_touched = _score(templates, first, last, lists, own_weights, labels, group, scores, touched, centre)
        keys[:] = -np.inf
        rows[:] = -1
        for i in range(n_touched):
            row = touched[i]
            s = scores[row]
            scores[row] = 0.0
            if s > keys[0] or (s == keys[0] and row < rows[0]):
                keys[0], rows[0] = s, row
                sink(keys, rows, k)
        for i in range(k):
            if rows[i] >= 0:
                labels[rows[i]] = label
        while first_left < n and labels[first_left] >= 0:
            first_left += 1
        row = first_left
        for _ in range(k - n_touched):  # as near as all that share nothing with the centre
            while labels[row] >= 0:
                row += 1
            labels[row] = label
    return labels


@compiled
def nearest_by_postings(
    templates: SparseTemplates, by_feature: Postings, members: Ints, group_starts: Ints, labels: Codes, n_near: int
) -> Codes:
    """For each template the groups with the nearest centroids, its own left out; as `nearest_groups` of all."""
    n, n_groups = len(templates.starts) - 1, len(group_starts) - 1
    near = np.full((n, n_near), -1, np.int32)
    best = np.full((n, n_near), -np.inf)
    scores, touched, centre = np.zeros(n), np.empty(n, np.int64), np.zeros(templates.n_features, np.float32)
    first, rows, own_weights = by_feature
    last, none = first[1:].copy(), np.full(n, -1, np.int32)
    for label in range(n_groups):
        group = members[group_starts[label] : group_starts[label + 1]]
        n_touched = _score(templates, first, last, rows, own_weights, none, group, scores, touched, centre)
        for i in range(n_touched):
            row = touched[i]
            s = scores[row]
            scores[row] = 0.0
            if labels[row] != label:
                insert_near(best, near, row, s, label)
    for row in range(n):
        label = 0
        for place in range(n_near):
            if near[row, place] >= 0:
                continue
            while label < n_groups and (label == labels[row] or label in near[row, :place]):
                label += 1
            if label < n_groups:
                near[row, place] = label
    return near
