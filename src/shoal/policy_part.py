"""What parts of policies have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A part of a policy: frozen, and without keys that nobody reads."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What is not as it is by default; all of it would fill the screen."""
        fields = type(self).model_fields
        for name, value in super().__repr_args__():
            if name not in fields or value != fields[name].get_default(call_default_factory=True):
                yield name, value
