"""What an analyst would rebuild from a sliced table: the measure by which slices and buckets are chosen.

From the original and from the release, the table of shares of two attributes is made, values in bins. In the release, a
record's value is spread evenly over its label; two attributes of one slice are taken from the same rows; two slices are
independent inside a bucket, or where both carry the sensitive value inside the rows of a bucket that have the same. The
loss of a pair is the total variation distance of the two tables: the share of records in the wrong cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Rows
from shoal.tables.encoding import Ranked
from shoal.tables.groups import Groups
from shoal.tables.publish.slices.bins import Bins


def pair_loss(
    slices: Sequence[Sequence[str]],
    ranked: Mapping[str, Ranked],
    bins: Mapping[str, Bins],
    sensitive: Sequence[str],
    buckets: npt.NDArray[np.integer],
    regions: Sequence[Codes] | None,
    keys: Codes,
    missing: str,
) -> float:
    """Mean loss of pairs: half of it of two quasi-identifiers, half of a quasi-identifier and a sensitive attribute.

    Parameters
    ----------
    slices : sequence of sequences of str
        Attributes of each slice; sensitive ones stand in one of them, or where there are regions in all.
    bins : mapping
        Of every attribute in question, sensitive ones included.
    regions : sequence of int32 arrays, optional
        Of each slice; None where values are published as they are.
    keys : int32 array
        The sensitive value of each record, of all sensitive attributes together.
    """
    n_rows = len(buckets)
    quasi = [[n for n in s if n not in sensitive] for s in slices]
    names = [n for s in quasi for n in s]
    spreads: dict[str, tuple[npt.NDArray[np.integer], Floats]] = {}
    for i, group in enumerate(quasi):
        for name in group:
            if regions is None:
                spreads[name] = bins[name].codes, np.eye(bins[name].n_bins)
            else:
                spreads[name] = regions[i], spread(ranked[name], bins[name], Groups.of(regions[i]), missing)
    for name in sensitive:
        spreads[name] = bins[name].codes, np.eye(bins[name].n_bins)
    names += sensitive

    # Inside a bucket (and a sensitive value, where all slices carry it) any two slices are independent.
    joint = buckets.astype(np.int64)
    if regions is not None:
        joint = joint * (int(keys.max(initial=0)) + 1) + keys
    _, at, sizes = np.unique(joint, return_inverse=True, return_counts=True)
    sums = np.hstack([_sums(at, len(sizes), *spreads[n]) for n in names])
    rebuilt = (sums / sizes[:, None]).T @ sums / n_rows
    starts = np.cumsum([0] + [bins[n].n_bins for n in names])
    slice_of = {n: i for i, s in enumerate(slices) for n in s if regions is None or n not in sensitive}

    losses: dict[bool, list[float]] = {True: [], False: []}
    for i, one in enumerate(names):
        for j, other in enumerate(names[:i]):
            if other in sensitive:
                continue
            cells = np.bincount(bins[one].codes * bins[other].n_bins + bins[other].codes)
            true = np.zeros(bins[one].n_bins * bins[other].n_bins)
            true[: len(cells)] = cells / n_rows
            made = rebuilt[starts[i] : starts[i + 1], starts[j] : starts[j + 1]]
            if one in slice_of and slice_of[one] == slice_of[other]:
                if regions is None:
                    losses[one in sensitive].append(0.0)
                    continue
                region, left = spreads[one]
                weights = np.bincount(region, minlength=len(left)) / n_rows
                made = (left * weights[:, None]).T @ spreads[other][1]
            losses[one in sensitive].append(float(np.abs(made.ravel() - true).sum() / 2))
    means = [float(np.mean(found)) for found in losses.values() if found]
    return float(np.mean(means)) if means else 0.0


def _sums(group: Rows, n_groups: int, at: npt.NDArray[np.integer], values: Floats) -> Floats:
    """Sum of ``values[at]`` over the records of each group."""
    if values.shape[0] == values.shape[1] and np.array_equal(values, np.eye(len(values))):
        counts = np.bincount(group * values.shape[1] + at, minlength=n_groups * values.shape[1])
        return counts.reshape(n_groups, -1).astype(np.float64)
    return np.column_stack([np.bincount(group, values[at, b], n_groups) for b in range(values.shape[1])])


def spread(ranked: Ranked, bins: Bins, groups: Groups, missing: str) -> Floats:
    """How the label of each group is spread over the bins of an attribute, as a reader would do it: evenly."""
    present = ~np.isnan(ranked.positions)[ranked.ranks]
    n_present = groups.sum(present)
    holed = n_present < groups.sizes
    n_values = ranked.n_values - ranked.has_missing
    share_missing = np.where(n_present == 0, 1.0, np.where(holed, 0.5, 0.0))
    if ranked.kind == "category":
        group, rank, _ = Groups(groups.labels[present], groups.sizes).pairs(ranked.ranks[present], ranked.n_values)
        n_distinct = np.bincount(group, minlength=len(groups.sizes))
        over = np.zeros((len(groups.sizes), bins.n_bins))
        np.add.at(over, (group, bins.of_rank[rank]), 1.0 / n_distinct[group])
        share_missing = np.where(holed, 1.0 / (n_distinct + 1), 0.0)
    else:
        low, high = groups.span(ranked.ranks, present)
        low[n_present == 0] = high[n_present == 0] = 0
        over = _over_ranks(ranked, bins, low, high, n_values)
    if missing == "any":
        everything = np.bincount(bins.of_rank[:n_values], minlength=bins.n_bins) / max(1, n_values)
        over[holed] = everything
    elif ranked.has_missing:
        over *= 1.0 - share_missing[:, None]
        over[:, bins.of_rank[-1]] += share_missing
    return over


def _over_ranks(ranked: Ranked, bins: Bins, low: Codes, high: Codes, n_values: int) -> Floats:
    """Spread ranges of ranks over bins, which hold neighbours."""
    over = np.zeros((len(low), bins.n_bins))
    if n_values == 0:
        return over
    first = np.flatnonzero(np.diff(bins.of_rank[:n_values], prepend=-1))  # the least rank of each bin
    begin: Floats
    end: Floats
    if ranked.kind == "number":
        inner = np.asarray((ranked.positions[first[1:]] + ranked.positions[first[1:] - 1]) / 2)
        begin, end = ranked.positions[low], ranked.positions[high]
    else:
        if ranked.ancestors is not None:
            low, high = _under_ancestor(ranked.ancestors, low, high, n_values)
        inner = first[1:].astype(np.float64) - 0.5
        begin, end = low.astype(np.float64) - 0.5, high.astype(np.float64) + 0.5
    edges = np.concatenate([[-np.inf], inner, [np.inf]])
    inside = np.minimum(end[:, None], edges[None, 1:]) - np.maximum(begin[:, None], edges[None, :-1])
    width = (end - begin)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(width > 0, np.maximum(inside, 0.0) / width, 0.0)
    over[:, : len(first)] = shares
    point = end <= begin
    over[point, bins.of_rank[low[point]]] = 1.0
    return over


def _under_ancestor(ancestors: Codes, low: Codes, high: Codes, n_values: int) -> tuple[Codes, Codes]:
    """The first and the last leaf under the lowest node above both."""
    height = np.argmax(ancestors[low] == ancestors[high], axis=1)
    reach_low, reach_high = low.copy(), high.copy()
    for h in np.unique(height):
        nodes, inverse = np.unique(ancestors[:n_values, h], return_inverse=True)
        least, greatest = np.full(len(nodes), n_values), np.full(len(nodes), -1)
        np.minimum.at(least, inverse, np.arange(n_values))
        np.maximum.at(greatest, inverse, np.arange(n_values))
        here = height == h
        reach_low[here], reach_high[here] = least[inverse[low[here]]], greatest[inverse[low[here]]]
    return reach_low, reach_high
