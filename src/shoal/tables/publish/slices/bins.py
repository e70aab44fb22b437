"""Values put into few bins: for measures of correlation, and for tables of two attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.data.tables.table import count_codes
from shoal.tables.encoding import Ranked

N_BINS = 16


@dataclass(frozen=True)
class Bins:
    """One attribute in bins.

    Attributes
    ----------
    of_rank : int64 array (n_values,)
        The bin of each rank.
    n_bins : int
    codes : int64 array (n_rows,)
        The bin of each record.
    """

    of_rank: Ints
    n_bins: int
    codes: Ints


def binned(ranked: Ranked, weights: Codes | None = None) -> Bins:
    """Put values into at most 16 bins, and the missing one into one of its own.

    Numbers, ordered categories and leaves of a taxonomy go into bins of neighbours with about equally many records;
    of plain categories the 15 most frequent have a bin each, and all others share one. `weights` say how many records
    each row stands for, if not one.
    """
    n_present = ranked.n_values - ranked.has_missing
    counts = count_codes(ranked.ranks, weights, ranked.n_values)[:n_present]
    of_rank = np.zeros(ranked.n_values, dtype=np.int64)
    if n_present <= N_BINS:
        of_rank[:n_present] = np.arange(n_present)
    elif ranked.kind == "category":
        frequent = np.argsort(-counts, kind="stable")[: N_BINS - 1]
        of_rank[:n_present] = N_BINS - 1
        of_rank[frequent] = np.arange(N_BINS - 1)
    else:
        middle = np.cumsum(counts) - counts / 2
        raw = np.minimum(middle * N_BINS // max(1, counts.sum()), N_BINS - 1).astype(np.int64)
        of_rank[:n_present] = np.unique(raw, return_inverse=True)[1]
    n_bins = int(of_rank[:n_present].max(initial=-1)) + 1
    if ranked.has_missing:
        of_rank[-1] = n_bins
        n_bins += 1
    return Bins(of_rank, n_bins, of_rank[ranked.ranks])
