"""Methods for tables: partitions (which records stand together) and publications (what stands in their place)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy import lazy_names

if TYPE_CHECKING:
    from shoal.tables.partition.curve import CurveOrder
    from shoal.tables.partition.k_member import KMember
    from shoal.tables.partition.local_recoding import LocalRecoding
    from shoal.tables.partition.mdav import MDAV
    from shoal.tables.partition.mondrian import Mondrian
    from shoal.tables.partition.nearest_neighbours import NearestNeighbours
    from shoal.tables.partition.univariate import Univariate
    from shoal.tables.partition.v_mdav import VMDAV

_HOME = {
    "CurveOrder": "shoal.tables.partition.curve",
    "KMember": "shoal.tables.partition.k_member",
    "LocalRecoding": "shoal.tables.partition.local_recoding",
    "MDAV": "shoal.tables.partition.mdav",
    "Mondrian": "shoal.tables.partition.mondrian",
    "NearestNeighbours": "shoal.tables.partition.nearest_neighbours",
    "Univariate": "shoal.tables.partition.univariate",
    "VMDAV": "shoal.tables.partition.v_mdav",
}

__all__ = ["MDAV", "VMDAV", "CurveOrder", "KMember", "LocalRecoding", "Mondrian", "NearestNeighbours", "Univariate"]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
