"""A room of the house whose name is one of the five verbs too: `shoal.check` is the checker, and checks."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any


class Verb(ModuleType):
    """A package that can be called, as the function of its name in `shoal.api`."""

    def __call__(self, *args: Any, **asked: Any) -> Any:
        """Do it."""
        return self._function(*args, **asked)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._function)

    @property
    def _function(self) -> Any:
        return getattr(importlib.import_module("shoal.api"), self.__name__.rpartition(".")[2])
