"""How much memory a run may take, as far as that was said."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_bound: ContextVar[int | None] = ContextVar("bound", default=None)


@contextmanager
def bounded(n_bytes: int | None) -> Iterator[None]:
    """Let connections that are opened in here use no more than so many bytes each; None leaves it as it is."""
    before = _bound.set(_bound.get() if n_bytes is None else n_bytes)
    try:
        yield
    finally:
        _bound.reset(before)


def bound() -> int | None:
    """How many bytes were given to connections, if that was said."""
    return _bound.get()
