"""k-anonymity: every combination of published quasi-identifiers stands in at least k records."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from shoal.models.base import ByKind, Guard, Model, register


@register
class KAnonymity(Model):
    """Every combination of published quasi-identifiers stands in at least k records."""

    model: Literal["k-anonymity"] = "k-anonymity"
    k: int = Field(ge=2)

    option = "k"
    main: ClassVar[ByKind] = {"": "k"}
    at_least = ("k",)
    called: ClassVar[ByKind] = {"": "{k}-anonymity"}
    means: ClassVar[ByKind] = {
        "": "Whoever knows the quasi-identifiers of a record finds at least k records that fit equally well."
    }
    means_in_slices: ClassVar[ByKind] = {
        "": "Quasi-identifiers are published as they are, so a record's may be found; at least k records share the "
        "bucket that they lead to."
    }
    means_in_screens: ClassVar[ByKind] = {
        "": "In each slice at least k rows fit a record equally well; whoever joins the slices may be left with fewer."
    }
    guards = (Guard("k-anonymity", "telling which of k records is yours", "learning what all k share"),)
    reference = "P. Samarati, Protecting respondents' identities in microdata release, TKDE 13, 2001."

    @property
    def least_size(self) -> int:
        """The size k."""
        return self.k

    def covers(self, other: Model) -> bool:
        """Sizes are compared apart."""
        return isinstance(other, KAnonymity)
