"""What a table in slices tells an attacker, in a few numbers for the owner: beliefs, with and without the join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.check.slices.matching import matching
from shoal.check.slices.membership import Membership, membership
from shoal.check.slices.posterior import Posterior, naive_posterior, posterior
from shoal.check.tables.classes import Missing
from shoal.data.tables.slices import SlicedTable
from shoal.data.tables.table import MARKERS, Table

CERTAIN = 1 - 1e-9


@dataclass(frozen=True)
class Belief:
    """How sure an attacker is of the likeliest sensitive value of a person.

    Attributes
    ----------
    highest, average : float
        The probability of the likeliest value, of the person it is highest for, and over all records.
    certain : float
        The share of records of which it is known.
    """

    highest: float
    average: float
    certain: float


@dataclass(frozen=True)
class Exposure:
    """What the slices give away.

    Attributes
    ----------
    n_buckets, smallest, median, largest : int
        Buckets, and records in them.
    joined : Belief or None
        Of an attacker who knows all quasi-identifiers and joins the slices; None without a sensitive column.
    naive : Belief or None
        The same as the check of the paper has it, which forgets the join.
    membership : Membership
        Buckets that match records of the original, and fakes.
    """

    n_buckets: int
    smallest: int
    median: int
    largest: int
    joined: Belief | None
    naive: Belief | None
    membership: Membership

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "membership": self.membership.to_dict()}


def exposure(
    published: SlicedTable, original: Table, *, missing: Missing = "value", markers: Sequence[str] = MARKERS
) -> Exposure:
    """Measure what a table in slices tells of the records of the original."""
    found = matching(published, original, missing=missing, markers=markers)
    sizes = np.sort(found.sliced.sizes)
    is_sensitive = bool(found.sliced.sensitive)
    return Exposure(
        len(sizes),
        int(sizes[0]),
        int(sizes[len(sizes) // 2]),
        int(sizes[-1]),
        _belief(posterior(found)) if is_sensitive else None,
        _belief(naive_posterior(found)) if is_sensitive else None,
        membership(
            published,
            original,
            missing=missing,
            markers=markers,
            # quasi-identifiers of one slice cannot be recombined
            fakes="recombined" if sum(bool(part.quasi) for part in found.sliced.parts) > 1 else "independent",
        ),
    )


def _belief(held: Posterior) -> Belief:
    total, n_certain, highest = 0.0, 0, 0.0
    n_records = int(held.sizes.sum())
    for shares in held.distributions():
        if len(shares.ids):
            likeliest = np.maximum.reduceat(shares.shares, shares.starts)
            records = held.sizes[shares.ids]
            total += float(np.dot(likeliest, records))
            n_certain += int(records[likeliest >= CERTAIN].sum())
            highest = max(highest, float(likeliest.max()))
    return Belief(min(1.0, highest), min(1.0, total / max(1, n_records)), n_certain / max(1, n_records))
