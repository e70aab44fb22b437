"""Names of a package that are imported when they are first asked for, so that reading a policy loads no method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

is_alone = False
"""Whether nobody else imports anything in this process, as in a command: then less is loaded with the first kernel."""


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package.

    Parameters
    ----------
    package : str
        Its own name.
    homes : mapping of str to str
        The module of each name: a whole one of Shoal, or one inside the package.

    Examples
    --------
    >>> find, names = lazy_names("shoal", {"DataError": "shoal.errors"})
    >>> find("DataError").__name__, names()
    ('DataError', ['DataError'])
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        return getattr(import_module(home if "." in home else f"{package}.{home}"), name)

    return find, lambda: sorted(homes)
