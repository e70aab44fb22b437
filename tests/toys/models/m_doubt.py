"""m-doubt, which no paper knows: in every class at least m records have another value than the most frequent one."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.arrays import Mask
from shoal.models.base import Bound, ByKind, Counts, Guard, Model, Values, register


@register
class MDoubt(Model):
    """In every class at least m records have another value than the most frequent one."""

    model: Literal["m-doubt"] = "m-doubt"
    m: int = Field(ge=1)
    sensitive: str | None = None

    option = "m"
    main: ClassVar[ByKind] = {"": "m"}
    at_least = ("m",)
    called: ClassVar[ByKind] = {"": "{m}-doubt"}
    means: ClassVar[ByKind] = {"": "Whoever guesses the most frequent value of a group is wrong of at least m records."}
    guards = (Guard("m-doubt", "being sure of a value", "a good guess"),)
    reference = "None."

    @property
    def least_size(self) -> int:
        """The records in doubt, and one of the most frequent value."""
        return self.m + 1

    def bound(self, values: Values) -> Bound:
        """Its own formula."""
        return Bound()

    def fails(self, counts: Counts) -> Mask:
        """A union of two groups has at least as many of both together."""
        return counts.sizes - np.maximum.reduceat(counts.counts, counts.starts) < self.m
