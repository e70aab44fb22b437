"""Attribute partition: attributes that go together stand in one slice.

References
----------
T. Li, N. Li, J. Zhang, I. Molloy: Slicing, IEEE Transactions on Knowledge and Data Engineering 24(3), 2012, sec. 5.1;
L. Kaufman, P. J. Rousseeuw: Finding Groups in Data, Wiley 1990, chapter 2 (partitioning around medoids).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.arrays import Floats, Rows
from shoal.data.tables.attribute import Attribute
from shoal.errors import PolicyError, did_you_mean
from shoal.tables.publish.slices.bins import Bins

Groups = list[list[str]]


def contingency(one: Bins, other: Bins) -> Floats:
    """The share of records in each pair of bins."""
    cells = np.bincount(one.codes * other.n_bins + other.codes, minlength=one.n_bins * other.n_bins)
    return np.asarray(cells.reshape(one.n_bins, other.n_bins) / max(1, len(one.codes)))


def mean_square_contingency(one: Bins, other: Bins) -> float:
    """phi^2, between 0 (independent) and 1: sum of (f_ij - f_i f_j)^2 / (f_i f_j), over min(d_1, d_2) - 1.

    Bins that no record lies in do not count.
    """
    shares = contingency(one, other)
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    shares = shares[np.ix_(rows > 0, columns > 0)]
    expected = np.outer(rows[rows > 0], columns[columns > 0])
    fewer = min(shares.shape)
    return float(((shares - expected) ** 2 / expected).sum() / (fewer - 1)) if fewer > 1 else 0.0


def correlations(bins: Sequence[Bins]) -> Floats:
    """phi^2 of all pairs; 1 on the diagonal."""
    found = np.eye(len(bins))
    for i in range(len(bins)):
        for j in range(i):
            found[i, j] = found[j, i] = mean_square_contingency(bins[i], bins[j])
    return found


def k_medoids(distances: Floats, n_clusters: int) -> Rows:
    """Partition around medoids: build, then swap while that lowers the sum of distances to the nearest medoid.

    Ties go to the lower number, so the result depends on the distances alone.

    Returns
    -------
    intp array (n,)
        The medoid of each object.
    """
    n = len(distances)
    medoids: list[int] = []
    nearest = np.full(n, np.inf)
    for _ in range(min(n_clusters, n)):
        costs = np.minimum(nearest[:, None], distances).sum(axis=0)
        costs[medoids] = np.inf
        medoids.append(int(np.argmin(costs)))
        nearest = np.minimum(nearest, distances[:, medoids[-1]])
    cost = float(nearest.sum())
    while True:
        best, swap = cost - 1e-12, None
        for place in range(len(medoids)):
            kept = medoids[:place] + medoids[place + 1 :]
            rest = distances[:, kept].min(axis=1, initial=np.inf)
            costs = np.minimum(rest[:, None], distances).sum(axis=0)
            costs[medoids] = np.inf
            other = int(np.argmin(costs))
            if costs[other] < best:
                best, swap = float(costs[other]), (place, other)
        if swap is None:
            break
        medoids[swap[0]] = swap[1]
        cost = best
    medoids.sort()
    return np.asarray(np.array(medoids)[np.argmin(distances[:, medoids], axis=1)], dtype=np.intp)


def clustered(names: Sequence[str], phi: Floats, n_clusters: int) -> Groups:
    """Cluster attributes by the distance 1 - phi^2; clusters in the order of their first names."""
    medoid = k_medoids(1.0 - phi, n_clusters)
    found = [[n for n, m in zip(names, medoid, strict=True) if m == one] for one in np.unique(medoid)]
    return sorted(found)


def placed(groups: Groups, others: Sequence[str], names: Sequence[str], phi: Floats) -> Groups:
    """Put further attributes each to the slice whose attributes it goes with best, on average."""
    at = {name: i for i, name in enumerate(names)}
    made = [list(g) for g in groups]
    for other in others:
        fits = [np.mean([phi[at[other], at[n]] for n in g if n in at]) if set(g) & set(at) else -1.0 for g in groups]
        made[int(np.argmax(fits))].append(other)
    return made


def refuse_columns(columns: Sequence[Sequence[str]], names: Sequence[str], attributes: Mapping[str, Attribute]) -> None:
    """Refuse slices of the user that leave a quasi-identifier out, name one twice, or name what is not there."""
    known = [n for n in names if attributes[n].role != "identifying"]
    seen: set[str] = set()
    for number, group in enumerate(columns, start=1):
        if isinstance(group, str) or not len(group):
            raise PolicyError(f'slice {number} must be a list of column names, such as ["age", "sex"]')
        for name in group:
            if name not in known:
                if name in attributes:
                    raise PolicyError(f"slice {number} names {name!r}, which is identifying and dropped; leave it out")
                raise PolicyError(
                    f"slice {number} names a column {name!r} that is not in the data; {did_you_mean(name, known)}"
                )
            if name in seen and attributes[name].role != "sensitive":
                raise PolicyError(f"the slices name the column {name!r} twice; name it in one of them")
            seen.add(name)
    left = [n for n in known if attributes[n].role == "quasi" and n not in seen]
    if left:
        raise PolicyError(
            f"the slices leave out the quasi-identifier{'s' if len(left) > 1 else ''} {', '.join(map(repr, left))}; "
            "name every one of them in one slice"
        )
