"""beta-likeness: no sensitive value gains more than the relative share beta in any class over the whole table.

With the shares p_i in a class and q_i in the table, (p_i - q_i) / q_i <= beta wherever p_i > q_i; enhanced,
<= min(beta, -ln q_i).
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from shoal.models.base import Bound, ByKind, Guard, Model, Values, register


@register
class BetaLikeness(Model):
    """No sensitive value gains more than the relative share beta in any class over the whole table."""

    model: Literal["beta-likeness"] = "beta-likeness"
    beta: float = Field(gt=0, allow_inf_nan=False)
    kind: Literal["basic", "enhanced"] = "enhanced"
    sensitive: str | None = None

    main: ClassVar[ByKind] = {"": "beta"}
    called: ClassVar[ByKind] = {"": "{kind} {beta}-likeness"}
    means: ClassVar[ByKind] = {"": "No sensitive value becomes much likelier in a group than it is in the whole table."}
    guards = (
        Guard(
            "beta-likeness",
            "a value becoming much likelier than in the whole table",
            "what is likely in the whole table already",
        ),
    )
    reference = "J. Cao, P. Karras, Publishing microdata with a robust privacy guarantee, PVLDB 5, 2012."
    is_relative = True

    def bound(self, values: Values) -> Bound:
        """The formula of the kind."""
        return Bound(self.kind, self.beta)
