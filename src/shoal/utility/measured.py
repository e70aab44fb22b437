"""What all measures have in common: they are told as their fields."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

Z_95 = 1.959963984540054
"""Standard errors to each side that hold 95 % of a normal variable."""


@dataclass(frozen=True)
class Measured:
    """A result of measuring; what it consists of stands in the fields of those that inherit from it."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)
