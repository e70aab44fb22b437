"""Attacks on published sketches of sparse records."""

from __future__ import annotations

from shoal.attack.attack import Attack
from shoal.attack.sparse.case import SparseCase
from shoal.attack.sparse.known_pairs import KnownPairs
from shoal.attack.sparse.length import Length
from shoal.attack.sparse.linear_estimate import LinearEstimate
from shoal.attack.sparse.matching_pursuit import MatchingPursuit
from shoal.attack.sparse.membership import SketchMembership
from shoal.attack.sparse.neighbour_linkage import NeighbourLinkage
from shoal.attack.sparse.recovery_programme import RecoveryProgramme

SPARSE_ATTACKS: tuple[Attack[SparseCase], ...] = (
    RecoveryProgramme(),
    MatchingPursuit(),
    KnownPairs(),
    Length(),
    NeighbourLinkage(),
    SketchMembership(),
    LinearEstimate(),
)

REPORT_ATTACKS: tuple[Attack[SparseCase], ...] = (
    RecoveryProgramme(n_records=100, seconds=10.0),
    MatchingPursuit(n_records=100),
    Length(),
    NeighbourLinkage(),
    SketchMembership(),
    LinearEstimate(n_records=500),
)
"""Those that every report shows, on a sample that takes a few seconds."""

__all__ = [
    "REPORT_ATTACKS",
    "SPARSE_ATTACKS",
    "KnownPairs",
    "Length",
    "LinearEstimate",
    "MatchingPursuit",
    "Membership",
    "NeighbourLinkage",
    "RecoveryProgramme",
]
