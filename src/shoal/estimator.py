"""Parameters in scikit-learn's manner, without scikit-learn: attributes of the names that `__init__` has."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, TypeVar

from shoal.errors import PolicyError, did_you_mean

Self = TypeVar("Self", bound="Estimator")


class UnusableParameter(PolicyError, ValueError):
    """A parameter that there is not, or of no meaning; a ValueError too, as scikit-learn's tools expect."""


class Estimator:
    """What `clone`, a grid search and a notebook ask of every method."""

    secret: ClassVar[frozenset[str]] = frozenset()  # parameters that are not shown

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self: Self, **params: Any) -> Self:
        """Change parameters by name."""
        for name, value in params.items():
            if name not in self.get_params():
                known = did_you_mean(name, self.get_params())
                raise UnusableParameter(f"{type(self).__name__} has no parameter {name!r}; {known}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        shown = {name: value for name, value in self.get_params().items() if name not in self.secret}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"
