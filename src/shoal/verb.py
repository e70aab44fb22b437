"""A room of the house whose name is one of the verbs too: `shoal.check` is the checker, and checks."""

from __future__ import annotations

import importlib
import inspect
import sys
from types import ModuleType
from typing import Any


class Verb(ModuleType):
    """A package that can be called, as a function of its name that stands in another module."""

    home: str

    def __call__(self, *args: Any, **asked: Any) -> Any:
        """Do it."""
        return self._function(*args, **asked)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._function)

    @property
    def _function(self) -> Any:
        return getattr(importlib.import_module(self.home), self.__name__.rpartition(".")[2])


def make_verb(room: str, home: str = "shoal.api") -> None:
    """Let a package be called; what it then does stands at home."""
    module: Any = sys.modules[room]
    module.__class__ = Verb
    module.home = home
