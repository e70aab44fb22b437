"""What attacks work on: the release, the originals that it was made from, and others that were not in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.attack.attack import Attack
from shoal.data.strings.strings import Strings
from shoal.registry import Registry

if TYPE_CHECKING:
    from shoal.attack.strings.fragments import Fragments
    from shoal.attack.strings.neighbourhood import Neighbourhood


@dataclass(frozen=True)
class StringCase:
    """Published strings under attack.

    Attributes
    ----------
    published, original : Strings
        What was published, and all strings that came in.
    control : Strings, optional
        Strings of the same kind that were not in it.
    again : callable, optional
        Releases strings in the same way, by a seed: what the manifest tells everybody. None where it is not known.
    """

    published: Strings
    original: Strings = field(repr=False)
    control: Strings | None = field(default=None, repr=False)
    again: Callable[[Strings, int], Strings] | None = field(default=None, repr=False)

    @property
    def granted(self) -> dict[str, int]:
        """What the attacker was given besides the release, by the number of records of each."""
        return {"original": len(self.original), **({} if self.control is None else {"others": len(self.control)})}

    @cached_property
    def fragments(self) -> Fragments:
        """Where fragments of some of the strings stand in the published ones; all attacks look there."""
        from shoal.attack.strings.fragments import Fragments

        return Fragments.of(self, np.random.default_rng(0))

    @cached_property
    def neighbourhood(self) -> Neighbourhood:
        """How many published strings lie near some of the strings, where there is a control."""
        from shoal.attack.strings.neighbourhood import Neighbourhood

        return Neighbourhood.of(self, np.random.default_rng(0))


STRING_ATTACKS: Registry[Attack[StringCase]] = Registry("shoal.attack.strings")
