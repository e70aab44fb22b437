"""Data fit for publication: records in groups of at least k, every guarantee checked, the picture of the whole kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal._version import __version__

if TYPE_CHECKING:
    from shoal import sparse, strings, tables
    from shoal.api import anonymize, attack, check, profile
    from shoal.data.sparse.files import read_sparse
    from shoal.data.sparse.records import Sparse
    from shoal.data.sparse.sketch_files import read_sketches
    from shoal.data.sparse.sketches import Sketches
    from shoal.data.strings.strings import Strings
    from shoal.data.tables.hierarchy import Hierarchy
    from shoal.data.tables.read_slices import read_slices, sample_records
    from shoal.data.trajectories.trajectories import Trajectories
    from shoal.errors import DataError, Infeasible, MissingExtra, NotVerified, PolicyError, ShoalError
    from shoal.harden.harden import harden
    from shoal.kind import read_policy
    from shoal.kinds.linked.policy import LinkedPolicy
    from shoal.kinds.linked.release import LinkedRelease
    from shoal.kinds.sparse.baskets import BasketRelease
    from shoal.kinds.sparse.km import KMRelease
    from shoal.kinds.sparse.policy import SparsePolicy
    from shoal.kinds.sparse.release import SparseRelease
    from shoal.kinds.strings.policy import StringPolicy
    from shoal.kinds.strings.release import StringRelease
    from shoal.kinds.tables.policy import Policy
    from shoal.kinds.tables.release import TableRelease
    from shoal.kinds.trajectories.policy import TrajectoryPolicy
    from shoal.kinds.trajectories.release import TrajectoryRelease
    from shoal.release import Release
    from shoal.report.board.page import board_page
    from shoal.stream.stream import stream
    from shoal.sweep.sweep import sweep

_HOME = {
    "anonymize": "shoal.api",
    "profile": "shoal.api",
    "BasketRelease": "shoal.kinds.sparse.baskets",
    "Hierarchy": "shoal.data.tables.hierarchy",
    "KMRelease": "shoal.kinds.sparse.km",
    "LinkedPolicy": "shoal.kinds.linked.policy",
    "LinkedRelease": "shoal.kinds.linked.release",
    "Policy": "shoal.kinds.tables.policy",
    "Release": "shoal.release",
    "TableRelease": "shoal.kinds.tables.release",
    "Sketches": "shoal.data.sparse.sketches",
    "Sparse": "shoal.data.sparse.records",
    "SparsePolicy": "shoal.kinds.sparse.policy",
    "SparseRelease": "shoal.kinds.sparse.release",
    "StringPolicy": "shoal.kinds.strings.policy",
    "StringRelease": "shoal.kinds.strings.release",
    "Strings": "shoal.data.strings.strings",
    "Trajectories": "shoal.data.trajectories.trajectories",
    "TrajectoryPolicy": "shoal.kinds.trajectories.policy",
    "TrajectoryRelease": "shoal.kinds.trajectories.release",
    "board_page": "shoal.report.board.page",
    "read_policy": "shoal.kind",
    "read_sketches": "shoal.data.sparse.sketch_files",
    "read_slices": "shoal.data.tables.read_slices",
    "read_sparse": "shoal.data.sparse.files",
    "sample_records": "shoal.data.tables.read_slices",
    **dict.fromkeys(
        ("DataError", "Infeasible", "MissingExtra", "NotVerified", "PolicyError", "ShoalError"), "shoal.errors"
    ),
}

__all__ = [
    "BasketRelease",
    "DataError",
    "Hierarchy",
    "Infeasible",
    "KMRelease",
    "LinkedPolicy",
    "LinkedRelease",
    "MissingExtra",
    "NotVerified",
    "Policy",
    "PolicyError",
    "Release",
    "ShoalError",
    "Sketches",
    "Sparse",
    "SparsePolicy",
    "SparseRelease",
    "StringPolicy",
    "StringRelease",
    "Strings",
    "TableRelease",
    "Trajectories",
    "TrajectoryPolicy",
    "TrajectoryRelease",
    "__version__",
    "anonymize",
    "attack",
    "board_page",
    "check",
    "harden",
    "profile",
    "read_policy",
    "read_sketches",
    "read_slices",
    "read_sparse",
    "sample_records",
    "sparse",
    "stream",
    "strings",
    "sweep",
    "tables",
]


if not TYPE_CHECKING:  # else a type checker takes every name for one of ours

    def __getattr__(name: str) -> Any:
        """Load a public name when it is first used, so that `import shoal` stays cheap."""
        import importlib

        if name in ("attack", "check", "harden", "sparse", "stream", "strings", "sweep", "tables"):
            return importlib.import_module(f"shoal.{name}")
        if name in _HOME:
            value = getattr(importlib.import_module(_HOME[name]), name)
            globals()[name] = value
            return value
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
