"""m-doubt, recomputed: the records of a class but for those of its most frequent value."""

from __future__ import annotations

from shoal.check.guarantee import Guarantee, Reached
from shoal.check.tables.classes import Classes
from shoal.check.tables.models import Check, Held, checks
from shoal.models.m_doubt import MDoubt


@checks("m-doubt")
class MDoubtCheck(Check[MDoubt]):
    """Of classes."""

    def of_values(self, required: MDoubt, classes: Classes, held: Held) -> Guarantee:
        """What is reached is the least number of records in doubt."""
        in_doubt = held.values.sizes - held.values.most_frequent()
        reached = Reached.of(classes, in_doubt, in_doubt < required.m, low_is_worse=True)
        few = f"{in_doubt.min()} records with another value of {held.values.name!r} (required: {required.m})"
        sentences = (f"Every group has at least {few}.", f"m-doubt fails {reached.failing_groups}: one has {few}.")
        return reached.guarantee("m-doubt", {"m": required.m}, sentences, sensitive=held.values.name)
