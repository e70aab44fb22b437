"""(alpha, k)-anonymity: classes of at least k, and no sensitive value in more than the share alpha of a class."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from shoal.models.base import Bound, ByKind, Guard, Model, Values, register


@register
class AlphaK(Model):
    """Classes of at least k, and no sensitive value in more than the share alpha of a class."""

    model: Literal["alpha-k"] = "alpha-k"
    alpha: float = Field(gt=0, lt=1)
    k: int = Field(ge=2)
    sensitive: str | None = None

    main: ClassVar[ByKind] = {"": "alpha"}
    at_least = ("k",)
    called: ClassVar[ByKind] = {"": "({alpha}, {k})-anonymity"}
    means: ClassVar[ByKind] = {"": "At least k records fit, and no sensitive value makes up too large a share of them."}
    means_in_slices: ClassVar[ByKind] = {
        "": "At least k records share a bucket, and no sensitive value is too likely to be a record's."
    }
    guards = (
        Guard("(alpha,k)", "being sure of a value beyond the share alpha", "the same for several values together"),
    )
    reference = (
        "R. C.-W. Wong, J. Li, A. W.-C. Fu, K. Wang, (alpha, k)-anonymity: an enhanced k-anonymity model for privacy "
        "preserving data publishing, KDD 2006."
    )

    @property
    def least_size(self) -> int:
        """The size k."""
        return self.k

    def covers(self, other: Model) -> bool:
        """A smaller alpha."""
        return isinstance(other, AlphaK) and self.alpha <= other.alpha and self.is_about_all_of(other)

    def bound(self, values: Values) -> Bound:
        """The share alpha; k is a matter of size."""
        return Bound("share", self.alpha, text=f"a share of at most {self.alpha:g}")
