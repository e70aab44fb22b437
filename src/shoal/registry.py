"""Things that register themselves, each in a file of its own; the files are read when something is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol, TypeVar


class Registered(Protocol):
    """What a registry holds."""

    @property
    def name(self) -> str:
        """What a policy or a manifest calls it by."""

    @property
    def place(self) -> int:
        """Where it stands in lists: those of smaller numbers first."""


R = TypeVar("R", bound=Registered)


class Registry(Mapping[str, R]):
    """By name, what the files of some packages register when they are imported.

    Parameters
    ----------
    *packages : str
        Each file in them is imported when something is first asked for, and none before.
    """

    def __init__(self, *packages: str) -> None:
        self._packages = packages
        self._registered: dict[str, R] = {}
        self._is_read = False

    def register(self, thing: R) -> R:
        """Add something, in place of what was registered under that name before."""
        self._registered[thing.name] = thing
        return thing

    def forget(self, name: str) -> None:
        """Take something out again, such as what a test registered."""
        del self._registered[name]

    def _all(self) -> dict[str, R]:
        if not self._is_read:
            self._is_read = True  # a file may ask for what others have registered
            for package in self._packages:
                for found in iter_modules(import_module(package).__path__, f"{package}."):
                    import_module(found.name)
        return self._registered

    def __getitem__(self, name: str) -> R:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._all(), key=lambda name: self._registered[name].place))

    def __len__(self) -> int:
        return len(self._all())
