"""Attacks on published sparse records: on pseudo-baskets, and on sketches."""

from __future__ import annotations

from typing import Any

from shoal.attack.attack import Attack
from shoal.attack.sparse.case import BasketCase, SparseCase
from shoal.attack.sparse.known_items import KnownItems
from shoal.attack.sparse.known_pairs import KnownPairs
from shoal.attack.sparse.length import Length
from shoal.attack.sparse.linear_estimate import LinearEstimate
from shoal.attack.sparse.matching_pursuit import MatchingPursuit
from shoal.attack.sparse.membership import SketchMembership
from shoal.attack.sparse.nearest_baskets import BasketCopies, NearestBaskets
from shoal.attack.sparse.neighbour_linkage import NeighbourLinkage
from shoal.attack.sparse.one_more_item import OneMoreItem, RareItem
from shoal.attack.sparse.recovery_programme import RecoveryProgramme

BASKET_ATTACKS: tuple[Attack[BasketCase], ...] = (
    KnownItems(),
    OneMoreItem(),
    RareItem(),
    NearestBaskets(),
    BasketCopies(),
)
"""On pseudo-baskets."""

SKETCH_ATTACKS: tuple[Attack[SparseCase], ...] = (
    RecoveryProgramme(),
    MatchingPursuit(),
    KnownPairs(),
    Length(),
    NeighbourLinkage(),
    SketchMembership(),
    LinearEstimate(),
)

SPARSE_ATTACKS: tuple[Attack[Any], ...] = (*SKETCH_ATTACKS, *BASKET_ATTACKS)

REPORT_ATTACKS: tuple[Attack[SparseCase], ...] = (
    RecoveryProgramme(n_records=100, seconds=10.0),
    MatchingPursuit(n_records=100),
    Length(),
    NeighbourLinkage(),
    SketchMembership(),
    LinearEstimate(n_records=500),
)
"""Those on sketches that every report shows, on a sample that takes a few seconds."""

__all__ = [
    "BASKET_ATTACKS",
    "REPORT_ATTACKS",
    "SKETCH_ATTACKS",
    "SPARSE_ATTACKS",
    "BasketCopies",
    "KnownItems",
    "KnownPairs",
    "Length",
    "LinearEstimate",
    "MatchingPursuit",
    "NearestBaskets",
    "NeighbourLinkage",
    "OneMoreItem",
    "RareItem",
    "RecoveryProgramme",
    "SketchMembership",
]
