"""What parts of policies have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A part of a policy: frozen, and without keys that nobody reads."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)
