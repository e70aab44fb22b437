"""Data fit for publication: every record hides among at least k others, and the picture of the whole stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal._version import __version__

if TYPE_CHECKING:
    from shoal import tables
    from shoal.api import anonymize, check_folder, profile
    from shoal.data.hierarchy import Hierarchy
    from shoal.errors import DataError, Infeasible, MissingExtra, NotVerified, PolicyError, ShoalError
    from shoal.frontier import sweep
    from shoal.policy import Policy
    from shoal.release import Release

_HOME = {
    "anonymize": "shoal.api",
    "check_folder": "shoal.api",
    "profile": "shoal.api",
    "Hierarchy": "shoal.data.hierarchy",
    "Policy": "shoal.policy",
    "Release": "shoal.release",
    "sweep": "shoal.frontier",
    **dict.fromkeys(
        ("DataError", "Infeasible", "MissingExtra", "NotVerified", "PolicyError", "ShoalError"), "shoal.errors"
    ),
}

__all__ = [
    "DataError",
    "Hierarchy",
    "Infeasible",
    "MissingExtra",
    "NotVerified",
    "Policy",
    "PolicyError",
    "Release",
    "ShoalError",
    "__version__",
    "anonymize",
    "check_folder",
    "profile",
    "sweep",
    "tables",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import shoal` stays cheap."""
    import importlib

    if name == "tables":
        return importlib.import_module("shoal.tables")
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'shoal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
