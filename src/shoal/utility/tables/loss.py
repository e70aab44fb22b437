"""Information loss: how much less a published cell says than the original one.

The measures look at the groups and at the original values in them: the least label that covers a group is taken, and of
numbers and dates the published range, where it is given. A method that generalises categories further than its groups
need loses more than is counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask, Rows
from shoal.data.tables.table import Column
from shoal.utility.tables.grouping import Grouping, inner
from shoal.utility.tables.scale import Scale
from shoal.utility.tables.spans import group_spans


def penalties(scale: Scale, grouping: Grouping, column: Column | None = None, kept: Rows | None = None) -> Floats:
    """Normalised certainty penalty of each group in one attribute, from 0 (one value) to 1 (anything).

    - numbers, dates, ordered categories: ``(max - min) / (global max - global min)``, where the published column is
      given and its label is a range from its ends, as far as values reach;
    - categories: 0 if the group holds one value, else ``distinct values of group / distinct values of
      table``;
    - with a hierarchy: ``(leaves under the common label - 1) / (leaves - 1)``.

    A group that holds missing and present values counts 1, for a label that covers both excludes nothing;
    among plain categories a missing value is a value of its own.

    References
    ----------
    J. Xu et al., "Utility-based anonymization using local recoding", KDD 2006 (NCP).
    """
    codes = scale.codes[grouping.rows]
    if scale.ancestors is not None:
        return _tree_penalties(scale, grouping, codes)
    if scale.positions is not None:
        low, high = scale.extremes
        least, greatest = group_spans(scale, grouping, column, kept)
        width = np.nan_to_num(greatest - least) / ((high - low) or 1.0)
        return np.where(_is_mixed(scale, grouping, codes), 1.0, width)
    distinct = grouping.variety(scale.codes, scale.n_values + 1)
    domain = max(1, int(np.count_nonzero(scale.counts)))
    return np.where(distinct > 1, distinct / domain, 0.0)


def _is_mixed(scale: Scale, grouping: Grouping, codes: Codes) -> Mask:
    n_missing = grouping.count(codes == scale.n_values)
    return np.asarray((n_missing > 0) & (n_missing < grouping.sizes))


def meets(scale: Scale, grouping: Grouping) -> tuple[Rows, Ints]:
    """Height and node of the least common label of each group; height -1 where all values are missing."""
    assert scale.ancestors is not None
    codes = scale.codes[grouping.rows]
    present = codes < scale.n_values
    height = np.full(grouping.n_groups, -1, dtype=np.intp)
    node = np.zeros(grouping.n_groups, dtype=np.int64)
    is_open = grouping.count(present) > 0
    for h in range(scale.ancestors.shape[1]):
        above = np.append(scale.ancestors[:, h].astype(np.float64), np.nan)[codes]
        low, high = grouping.least(above), grouping.greatest(above)
        agree = is_open & (low == high)
        height[agree] = h
        node[agree] = low[agree].astype(np.int64)
        is_open &= ~agree
    return height, node


def _tree_penalties(scale: Scale, grouping: Grouping, codes: Codes) -> Floats:
    height, node = meets(scale, grouping)
    n_leaves = int(scale.leaves[-1].sum())
    result = np.zeros(grouping.n_groups)
    if n_leaves > 1:
        for h, leaves in enumerate(scale.leaves):
            at = height == h
            result[at] = (leaves[node[at]] - 1) / (n_leaves - 1)
    result[_is_mixed(scale, grouping, codes)] = 1.0
    return result


def ncp(penalty: Floats, grouping: Grouping, persons: Ints | None = None) -> float:
    """Mean penalty of an attribute's cells; a suppressed record counts 1.

    With `persons`, whose each original record is (0, 1, ...), the mean over persons of the mean of their records.

    References
    ----------
    J. Xu et al., KDD 2006.
    """
    if not grouping.n_rows:
        return 0.0
    if persons is not None:
        counts = np.bincount(persons)
        weights = 1.0 / (counts[persons] * len(counts))
        lost = inner(penalty[grouping.labels], weights[grouping.rows])
        return lost + float(np.delete(weights, grouping.rows).sum())
    return (inner(penalty, grouping.sizes) + grouping.n_suppressed) / grouping.n_rows


def gcp(penalties_by_attribute: Sequence[float]) -> float:
    """Global certainty penalty: the mean of NCP over all cells, that is over the attributes.

    References
    ----------
    G. Ghinita et al., "Fast data anonymization with low information loss", VLDB 2007 (GCP).
    """
    return float(np.mean(penalties_by_attribute)) if len(penalties_by_attribute) else 0.0


def discernibility(grouping: Grouping) -> float:
    """Discernibility metric DM: ``sum of squared group sizes + suppressed records * all records``.

    References
    ----------
    R. Bayardo and R. Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.
    """
    return float(np.dot(grouping.sizes, grouping.sizes)) + float(grouping.n_suppressed) * grouping.n_rows


def average_class_size(grouping: Grouping, k: int) -> float:
    """Normalised average class size C_avg: ``(published records / groups) / k``; 1 is the best that k allows.

    References
    ----------
    K. LeFevre et al., "Mondrian multidimensional k-anonymity", ICDE 2006.
    """
    return grouping.n_published / grouping.n_groups / k if grouping.n_groups else 0.0


def squared_error_share(
    before: Sequence[Floats], after: Sequence[Floats], weights: Codes | None = None
) -> float | None:
    """SSE / SST over attributes that are published as numbers, each standardised by its original deviation.

    ``SSE = sum ((x - y) / sd)^2`` and ``SST = sum ((x - mean) / sd)^2`` over published records; cells that
    are missing on either side are passed over. None where no attribute stays numeric. `weights` say how many records
    each row stands for.

    References
    ----------
    J. Domingo-Ferrer and J. Mateo-Sanz, "Practical data-oriented microaggregation for statistical disclosure
    control", IEEE TKDE 14(1), 2002.
    """
    sse = sst = 0.0
    for x, y in zip(before, after, strict=True):
        known = ~(np.isnan(x) | np.isnan(y))
        if not known.any():
            continue
        held = np.ones(int(known.sum())) if weights is None else weights[known].astype(np.float64)
        n_records = float(held.sum())
        centred = x[known] - (x[known].mean() if weights is None else inner(x[known], held) / n_records)
        variance = inner(centred * held, centred)
        if variance > 0:
            error = x[known] - y[known]
            sse += inner(error * held, error) / variance * n_records
            sst += n_records
    return sse / sst if sst else None
