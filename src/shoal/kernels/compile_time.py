"""How long this process has been compiling loops: time that is spent once on a machine, and is not the method's."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import get_ident


class _Clock:
    """Runs while something is compiled, however deep kernels call one another; numba compiles one at a time."""

    def __init__(self) -> None:
        self.depth = 0
        self.began = 0.0
        self.spent: defaultdict[int, float] = defaultdict(float)  # by thread
        self.changed: Callable[[], None] = lambda: None

    def start(self) -> None:
        self.depth += 1
        if self.depth == 1:
            self.began = time.perf_counter()
            self.changed()

    def stop(self) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.spent[get_ident()] += time.perf_counter() - self.began
            self.changed()


_clock = _Clock()


@cache
def watch_compiler() -> None:
    """Let numba say when it compiles; called once it is imported."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: object) -> None:
            _clock.start()

        def on_end(self, event: object) -> None:
            _clock.stop()

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]  # numba has no types


def seconds_compiling() -> float:
    """Seconds by the clock that this process has spent on compiling, up to now."""
    return sum(_clock.spent.values()) + (time.perf_counter() - _clock.began if is_compiling() else 0.0)


def seconds_compiled_here() -> float:
    """Seconds by the clock that this thread has spent on compiling what is compiled by now."""
    return _clock.spent[get_ident()]


def is_compiling() -> bool:
    """Whether a loop is being compiled just now."""
    return _clock.depth > 0


@contextmanager
def when_compiling_changes(act: Callable[[], None]) -> Iterator[None]:
    """Call something whenever compiling begins or ends in here, in the thread that compiles."""
    before, _clock.changed = _clock.changed, act
    try:
        yield
    finally:
        _clock.changed = before
