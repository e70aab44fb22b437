"""An offline, private, bounded duckdb connection for reading and writing files."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import duckdb

from shoal.data.memory import bound
from shoal.scratch import scratch_folder

_LEAST_BYTES = 2 << 30
_POLL = 0.25
"""Seconds between two looks at how far a query is."""

_watcher: ContextVar[Callable[[float], None] | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(tell: Callable[[float], None]) -> Iterator[None]:
    """Call a function with the share that is done of each query of connections that are opened in here.

    It is called now and then while a query runs, from another thread, and not of queries that end sooner.
    """
    before = _watcher.set(tell)
    try:
        yield
    finally:
        _watcher.reset(before)


@contextmanager
def connection(n_beside: int = 1) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that installs and loads nothing and keeps the order of rows.

    It may use half of the machine's memory, or of what `bounded` says, divided by the number of those that are open
    beside each other, and spills the rest into an owner-only folder that it removes.
    """
    with scratch_folder() as spill:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": f"{(bound() or _memory()) // (2 * n_beside) >> 20}MiB",
            "preserve_insertion_order": "true",
            "temp_directory": str(spill),
        }
        opened = duckdb.connect(":memory:", config=settings)
        try:
            with _watching(opened):
                yield opened
        finally:
            opened.close()


@contextmanager
def _watching(opened: duckdb.DuckDBPyConnection) -> Iterator[None]:
    tell, share_of = _watcher.get(), getattr(opened, "query_progress", None)
    if tell is None or share_of is None:
        yield
        return
    opened.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(_POLL):
            try:
                percent = share_of()
            except duckdb.Error:
                return
            if 0 < percent <= 100:  # -1 where no query runs
                tell(percent / 100)

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield
    finally:
        is_over.set()
        looking.join()


def _memory() -> int:
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not a POSIX system
        return 2 * _LEAST_BYTES
    return max(_LEAST_BYTES, physical)


def lacks_room(error: duckdb.Error) -> bool:
    """Whether it is for want of memory, or of room on a disk, that something was not done."""
    full = {getattr(errno, name, errno.ENOSPC) for name in ("ENOSPC", "EDQUOT", "EFBIG")}
    return isinstance(error, duckdb.OutOfMemoryException) or any(os.strerror(number) in str(error) for number in full)


def literal(text: str) -> str:
    """Spell a text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Spell a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def file_literal(path: str | os.PathLike[str]) -> str:
    """Spell a path as an SQL string that duckdb does not take for a pattern or a remote address.

    >>> file_literal("/data/a[1].csv")
    "'/data/a[[]1].csv'"
    """
    absolute = os.path.abspath(path)
    return literal("".join(f"[{c}]" if c in "[*?" else c for c in absolute))
