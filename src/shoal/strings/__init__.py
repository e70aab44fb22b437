"""Methods for strings: condensation, one step a module.

::

    lengths -> templates -> groups -> statistics -> generate        condense: all of them in turn
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy import lazy_names

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

__getattr__, __dir__ = lazy_names(__name__, _HOME)
