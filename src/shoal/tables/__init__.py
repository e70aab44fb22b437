"""Methods for tables: partitions (which records stand together) and publications (what stands in their place)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.tables.partition.mdav import MDAV
    from shoal.tables.partition.mondrian import Mondrian

_HOME = {"MDAV": "shoal.tables.partition.mdav", "Mondrian": "shoal.tables.partition.mondrian"}

__all__ = ["MDAV", "Mondrian"]


def __getattr__(name: str) -> Any:
    import importlib

    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'shoal.tables' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
