"""Data fit for publication: every record hides among at least k others, and the picture of the whole stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal._version import __version__

if TYPE_CHECKING:
    from shoal import strings, tables
    from shoal.api import anonymize, check_folder, profile, profile_strings
    from shoal.data.hierarchy import Hierarchy
    from shoal.data.read_slices import read_slices, sample_records
    from shoal.data.strings import Strings
    from shoal.errors import DataError, Infeasible, MissingExtra, NotVerified, PolicyError, ShoalError
    from shoal.frontier import sweep
    from shoal.policy import Policy
    from shoal.release import Release
    from shoal.string_policy import StringPolicy, read_policy
    from shoal.string_release import StringRelease

_HOME = {
    "anonymize": "shoal.api",
    "check_folder": "shoal.api",
    "profile": "shoal.api",
    "profile_strings": "shoal.api",
    "Hierarchy": "shoal.data.hierarchy",
    "Policy": "shoal.policy",
    "Release": "shoal.release",
    "StringPolicy": "shoal.string_policy",
    "StringRelease": "shoal.string_release",
    "Strings": "shoal.data.strings",
    "read_policy": "shoal.string_policy",
    "read_slices": "shoal.data.read_slices",
    "sample_records": "shoal.data.read_slices",
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
    "StringPolicy",
    "StringRelease",
    "Strings",
    "__version__",
    "anonymize",
    "check_folder",
    "profile",
    "profile_strings",
    "read_policy",
    "read_slices",
    "sample_records",
    "strings",
    "sweep",
    "tables",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import shoal` stays cheap."""
    import importlib

    if name in ("strings", "tables"):
        return importlib.import_module(f"shoal.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'shoal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
