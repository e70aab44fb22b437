"""One recoding for all: the levels of the hierarchies at which groups are large enough, and who must be left out.

Groups of a recoding cannot be merged like others, since that would give equal values different labels. So groups that
fail a diversity requirement are suppressed, as far as the policy allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.data.attribute import Attribute
from shoal.errors import Infeasible
from shoal.policy import Policy
from shoal.tables.encoding import Ranked
from shoal.tables.limits import Limit, violations
from shoal.tables.partition.base import Labels
from shoal.tables.partition.datafly import datafly_recoding
from shoal.tables.partition.full_domain import full_domain_recoding, leaf_counts


@dataclass(frozen=True)
class RecodedGroups:
    """The groups of a recoding, or of a partition.

    Attributes
    ----------
    labels : int32 array (n_kept,)
        The group of each record that stays.
    rows : intp array (n_kept,)
        Which records these are.
    levels : tuple of int, optional
        The level of each attribute, of a recoding.
    """

    labels: Labels
    rows: npt.NDArray[np.intp]
    levels: tuple[int, ...] | None = None


def recoded_groups(
    ranked: Sequence[Ranked],
    attributes: Mapping[str, Attribute],
    policy: Policy,
    relimit: Callable[[npt.NDArray[np.intp]], Sequence[Limit]],
    note: Callable[[str], None],
) -> RecodedGroups:
    """Find a recoding, by search or by Datafly, and suppress the groups that fail a limit."""
    suppression = policy.method.suppression
    leaves = [leaf_counts(r, attributes[r.name].hierarchy) for r in ranked]
    if policy.method.partition == "datafly":
        found = datafly_recoding(ranked, policy.k, suppression=suppression, leaves=leaves, missing=policy.missing)
    else:
        found = full_domain_recoding(ranked, policy.k, suppression=suppression, leaves=leaves, missing=policy.missing)
        proof = "no other recoding loses less" if found.optimal else "that none loses less was not proved"
        note(f"One recoding for all was searched for among {found.n_nodes:,}: {proof}.")
    labels, rows = _diverse(found.labels, relimit)
    budget = int(suppression * len(found.labels))
    if len(rows) < len(found.labels) - budget or not len(rows):
        raise Infeasible(
            f"one recoding for all would leave out {len(found.labels) - len(rows):,} records to meet the diversity "
            f"requirements, and {budget:,} are allowed; allow more suppression or use another partition"
        )
    if len(rows) < len(found.labels):
        note(f"{len(found.labels) - len(rows):,} records in groups too small or not diverse were suppressed.")
    return RecodedGroups(labels, rows, found.levels)


def _diverse(
    labels: Labels, relimit: Callable[[npt.NDArray[np.intp]], Sequence[Limit]]
) -> tuple[Labels, npt.NDArray[np.intp]]:
    """Leave out failing groups until none fails; the whole table's distribution changes each time."""
    rows = np.flatnonzero(labels >= 0)
    while len(rows):
        dense = np.asarray(np.unique(labels[rows], return_inverse=True)[1], dtype=np.int32)
        limits = relimit(rows)
        failing = violations(dense, limits) if limits else np.zeros(1, dtype=bool)
        if not failing.any():
            return dense, rows
        rows = rows[~failing[dense]]
    return np.zeros(0, dtype=np.int32), rows
