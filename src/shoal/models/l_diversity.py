"""l-diversity: every class holds at least l sensitive values, counted or weighed in one of four senses.

With the counts r_1 >= r_2 >= ... >= r_m of the values of a class of n records: distinct, m >= l; probabilistic,
r_1 * l <= n; entropy, exp(H) >= l; recursive (c, l), r_1 < c (r_l + ... + r_m) (sec. 4 of the paper). Distinct
counts values, and one of them may be nearly all of the class; the other three weigh them. In slices, where an attacker
can weigh what stays possible, probabilistic is meant unless a kind is named.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from shoal.models.base import Bound, ByKind, Guard, Model, Values, register


@register
class LDiversity(Model):
    """Every class holds at least l sensitive values, counted (distinct) or weighed (the other kinds)."""

    model: Literal["l-diversity"] = "l-diversity"
    l: float = Field(gt=1, allow_inf_nan=False)  # noqa: E741  the paper's name
    kind: Literal["distinct", "probabilistic", "entropy", "recursive"] = "distinct"
    c: float = Field(default=3.0, gt=0, allow_inf_nan=False)
    sensitive: str | None = None

    option = "l"
    main: ClassVar[ByKind] = {"": "l", "recursive": "c"}
    at_least = ("l",)
    called: ClassVar[ByKind] = {"": "{kind} {l}-diversity", "recursive": "recursive ({c}, {l})-diversity"}
    means: ClassVar[ByKind] = {
        "distinct": "Each group holds at least that many different sensitive values. They may be very unequal: one of "
        "them may be nearly all of a group.",
        "probabilistic": "No sensitive value makes up more than one in l of a group.",
        "entropy": "By their entropy, the sensitive values of a group are as uncertain as that many equally frequent "
        "ones.",
        "recursive": "The most frequent sensitive value of a group is bounded by the rarer ones together.",
    }
    means_in_slices: ClassVar[ByKind] = {
        "distinct": "At least that many sensitive values stay possible for a record. They may be very unequal: one of "
        "them may be nearly certain.",
        "probabilistic": "No sensitive value is believed of a record with a chance above one in l.",
        "entropy": "By its entropy, what is believed of a record's sensitive value is as uncertain as that many "
        "equally likely values.",
        "recursive": "The likeliest sensitive value of a record is bounded by the less likely ones together.",
    }
    guards = (
        Guard(
            "l-diversity, distinct",
            "a group with fewer than l different sensitive values",
            "a good guess: l values may be very unequal, one of them nearly all of the group",
        ),
        Guard(
            "l-diversity, the other kinds",
            "one sensitive value being nearly all of a group: its share, the entropy or the rarer values bound it",
            "values that are alike in meaning",
        ),
    )
    reference = (
        "A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, l-diversity: privacy beyond k-anonymity, "
        "TKDD 1, 2007."
    )
    needs_values = ("distinct",)
    kind_in_slices = "probabilistic"

    @model_validator(mode="after")
    def _whole(self) -> LDiversity:
        if self.kind in ("distinct", "recursive") and self.l != int(self.l):
            raise ValueError(f"l must be a whole number for {self.kind} l-diversity")
        return self

    @property
    def least_size(self) -> int:
        """So many values take as many records."""
        return -int(-self.l // 1)

    def covers(self, other: Model) -> bool:
        """The same kind with a larger l; of distinct values also those kinds that take l of them."""
        if not isinstance(other, LDiversity):
            return False
        has_as_many = other.kind == "distinct" and self.kind in ("probabilistic", "entropy")
        return (
            (has_as_many or (self.kind, self.c) == (other.kind, other.c))
            and self.l >= other.l
            and self.is_about_all_of(other)
        )

    def bound(self, values: Values) -> Bound:
        """The formula of the kind."""
        return Bound(self.kind, float(self.l), self.c if self.kind == "recursive" else 0.0)
