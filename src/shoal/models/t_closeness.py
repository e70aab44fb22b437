"""t-closeness: every class's sensitive values are distributed as in the whole table, up to a distance of t.

The distance is the earth mover's of the shares p in a class and q in the table. Equal: the sum of p_i - q_i where
positive; ordered: the sum of the absolute cumulative differences over m - 1; hierarchical: the sum over inner nodes of
height / H times the lesser of positive and negative extra (sec. 5 of the paper).
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from shoal.errors import PolicyError
from shoal.models.base import Bound, ByKind, Guard, Model, Values, register

_DISTANCES = {"number": "ordered", "order": "ordered", "category": "equal", "tree": "hierarchical"}


@register
class TCloseness(Model):
    """Every class's sensitive values are distributed as in the whole table, up to an earth mover's distance of t."""

    model: Literal["t-closeness"] = "t-closeness"
    t: float = Field(gt=0, le=1)
    distance: Literal["equal", "ordered", "hierarchical"] | None = None
    sensitive: str | None = None

    option = "t"
    main: ClassVar[ByKind] = {"": "t"}
    called: ClassVar[ByKind] = {"": "{t}-closeness"}
    means: ClassVar[ByKind] = {
        "": "What a group says of the sensitive value is close to what the whole table says of it."
    }
    guards = (
        Guard("t-closeness", "learning much more than the whole table tells", "learning what the whole table tells"),
    )
    reference = (
        "N. Li, T. Li, S. Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity, ICDE 2007."
    )
    is_relative = True

    @property
    def reads_hierarchies(self) -> bool:
        """Unless another distance is named."""
        return self.distance not in ("equal", "ordered")

    def covers(self, other: Model) -> bool:
        """The same distance with a smaller t."""
        return (
            isinstance(other, TCloseness)
            and self.distance == other.distance
            and self.t <= other.t
            and self.is_about_all_of(other)
        )

    def bound(self, values: Values) -> Bound:
        """The formula of the distance that is named, or fits the attribute."""
        distance = self.distance or _DISTANCES[values.kind]
        if distance == "hierarchical" and values.ancestors is None:
            raise PolicyError(f"the hierarchical distance needs a hierarchy of {values.name!r}; give one, or use equal")
        if distance == "ordered" and values.kind == "category":
            raise PolicyError(
                f"the ordered distance needs an order of {values.name!r}; "
                "make its type ordinal or continuous, or use equal"
            )
        return Bound(distance, self.t)
