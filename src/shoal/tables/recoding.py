"""One recoding for all: the levels of the hierarchies at which groups are large enough, and who must be left out.

Groups of a recoding cannot be merged like others, since that would give equal values different labels. So groups that
fail a diversity requirement are suppressed, as those that are too small are, and the search for the levels counts both
against what the policy allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Rows
from shoal.data.tables.attribute import Attribute
from shoal.kinds.tables.policy import Policy
from shoal.tables.encoding import Ranked
from shoal.tables.limits import Limit
from shoal.tables.partition.base import PARTITIONS
from shoal.tables.partition.full_domain import leaf_counts


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

    labels: Codes
    rows: Rows
    levels: tuple[int, ...] | None = None


def recoded_groups(
    ranked: Sequence[Ranked],
    attributes: Mapping[str, Attribute],
    policy: Policy,
    limits: Sequence[Limit],
    note: Callable[[str], None],
    weights: Codes | None = None,
) -> RecodedGroups:
    """Find a recoding, in the way that the policy names, at which few enough records stand in groups that fail."""
    leaves = [leaf_counts(r, attributes[r.name].hierarchy) for r in ranked]
    way = PARTITIONS[policy.method.partition]
    assert way.recoding is not None, "other partitions have groups"
    found = way.recoding(
        ranked,
        policy.k,
        suppression=policy.method.suppression,
        leaves=leaves,
        missing=policy.missing,
        limits=limits,
        weights=weights,
    )
    if way.is_searched:
        proof = "no other recoding loses less" if found.optimal else "that none loses less was not proved"
        note(f"One recoding for all was searched for among {found.n_nodes:,}: {proof}.")
    gone = np.flatnonzero(found.labels < 0)
    n_suppressed = len(gone) if weights is None else int(weights[gone].sum(dtype=np.int64))
    if n_suppressed:
        note(f"{n_suppressed:,} records in groups too small or not diverse were suppressed.")
    rows = np.flatnonzero(found.labels >= 0)
    return RecodedGroups(found.labels[rows], rows, found.levels)
