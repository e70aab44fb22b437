"""What groups cost, by the package's own measures, for our groups and the peers' alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import Table
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.loss import discernibility, gcp, ncp, penalties, squared_error_share
from shoal.utility.tables.scale import scale_of


def of_generalising(
    table: Table, attributes: Mapping[str, Attribute], quasi: Sequence[str], labels: npt.ArrayLike
) -> dict[str, float]:
    """GCP and DM of the groups (both the smaller the better), and the least group."""
    grouping, _ = Grouping.of(table.n_rows, np.arange(table.n_rows), np.asarray(labels))
    shares = [ncp(penalties(scale_of(table[name], attributes[name]), grouping), grouping) for name in quasi]
    return {
        "GCP": round(gcp(shares), 5),
        "DM": discernibility(grouping),
        "least group": int(grouping.sizes.min()),
    }


def of_labels(
    hierarchies: Mapping[str, Hierarchy], published: Mapping[str, npt.NDArray[Any]], n_rows: int
) -> dict[str, float]:
    """GCP_h and DM from the published labels alone, the records left out, and the least class.

    GCP_h is the mean over cells of ``(leaves under the label - 1) / (leaves - 1)``, 1 for those of a suppressed record.
    A class is what a reader sees: all records with the same labels.
    """
    n_published = len(next(iter(published.values())))
    n_suppressed = n_rows - n_published
    key = np.zeros(n_published, dtype=np.int64)
    total = 0.0
    for name, hierarchy in hierarchies.items():
        below: dict[str, set[str]] = {}
        for row in hierarchy.rows:
            for label in row:
                below.setdefault(label, set()).add(row[0])
        labels, codes = np.unique(published[name].astype(str), return_inverse=True)
        shares = np.array([(len(below[label]) - 1) / (len(hierarchy.leaves) - 1) for label in labels])
        total += shares[codes].sum() + n_suppressed
        key = np.unique(key * len(labels) + codes, return_inverse=True)[1]
    sizes = np.bincount(key)
    return {
        "GCP_h": round(float(total) / n_rows / len(hierarchies), 5),
        "DM": float(sizes @ sizes) + float(n_suppressed) * n_rows,
        "suppressed": n_suppressed,
        "least class": int(sizes.min()),
    }


def of_averaging(X: npt.NDArray[np.float64], labels: npt.ArrayLike) -> dict[str, float]:
    """100 SSE / SST (the smaller the better) when averages stand in for the records, and the least group."""
    groups = np.unique(np.asarray(labels), return_inverse=True)[1]
    sizes = np.bincount(groups)
    averaged: list[npt.NDArray[Any]] = [(np.bincount(groups, weights=column) / sizes)[groups] for column in X.T]
    share = squared_error_share(list(X.T), averaged)
    return {"SSE/SST %": round(100 * (share or 0.0), 4), "least group": int(sizes.min())}
