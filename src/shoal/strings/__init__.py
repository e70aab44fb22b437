"""Methods for strings: condensation, one step a module.

::

    lengths -> templates -> groups -> statistics -> generate        condense: all of them in turn
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.strings.condense import Condensation
    from shoal.strings.generate import PseudoStrings
    from shoal.strings.statistics import GroupStatistics

_HOME = {
    "Condensation": "shoal.strings.condense",
    "GroupStatistics": "shoal.strings.statistics",
    "PseudoStrings": "shoal.strings.generate",
}

__all__ = ["Condensation", "GroupStatistics", "PseudoStrings"]


def __getattr__(name: str) -> Any:
    import importlib

    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'shoal.strings' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
