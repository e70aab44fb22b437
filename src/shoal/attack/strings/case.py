"""What attacks work on: the release, the originals that it was made from, and others that were not in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.attack.attack import Attack, AttackCase
from shoal.data.strings.strings import Strings
from shoal.registry import Registry

if TYPE_CHECKING:
    from shoal.attack.strings.fragments import Fragments
    from shoal.attack.strings.neighbourhood import Neighbourhood


@dataclass(frozen=True)
class StringCase(AttackCase[Strings, Strings]):
    """Published strings under attack."""

    again: Callable[[Strings, int], Strings] | None = field(default=None, repr=False)
    """Releases strings in the same way, by a seed: what the manifest tells everybody. None where it is not known."""

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
