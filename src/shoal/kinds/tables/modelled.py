"""What the policies of one table and of linked ones share: privacy models, and keys of the same meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, field_validator

from shoal.models import Requirement, least_size, registered
from shoal.policy import BasePolicy, TextFile, option


def missing_option() -> Any:
    """What a missing value means."""
    return option("value", "Whether a missing value is a value of its own, or may hide any value, which is stricter.")


def shift_days_option() -> Any:
    """How far dates are moved."""
    told = "The most days by which a person's dates are moved, either way (--shift)."
    return option(365, told, metavar="DAYS", ge=1, le=36_500)


def accept_option() -> Any:
    """Which findings are taken."""
    return option(
        {},
        "Accept what would stop the release, by its name (singled_out, unprotected, known_history), with a reason that "
        "is published.",
        metavar="FINDING=REASON",
    )


class ModelledPolicy(BasePolicy, TextFile):
    """One that requires privacy models of tables."""

    if TYPE_CHECKING:
        require: tuple[Requirement, ...]

    @field_validator("require", check_fields=False)
    @classmethod
    def _some(cls, require: tuple[Any, ...]) -> tuple[Any, ...]:
        if not require:
            raise ValueError("at least one guarantee must be required")
        return require

    @property
    def k(self) -> int:
        """The least class size that every requirement together asks for."""
        return least_size(self.require)

    @classmethod
    def models(cls) -> Mapping[str, type[BaseModel]]:
        """The privacy models that can be required, by name."""
        return registered()
