"""Work in progress on disk: the owner's alone, and locked while its process lives.

A run that is killed cannot clear away what it was writing. Whatever is made here is locked by its process, so that the
next run tells what was abandoned from what another run is working on, and removes the former alone.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows; what a killed run left behind then stays
    fcntl = None  # type: ignore[assignment]

from shoal.errors import DataError, ShoalError

SPILL = "shoal-run-"
_BESIDE = re.compile(r"\..+\.shoal-[0-9a-f]{8}")
_SPILLED = re.compile(rf"{SPILL}[0-9a-f]{{8}}")
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class NoRoom(DataError):
    """The data needs more room for a while, in memory or on disk, than there is."""


def temporary_folder() -> Path:
    """The system's temporary folder, or the one that TMPDIR names.

    Raises
    ------
    ShoalError
        If nothing can be written to the latter. Python would take the next that it finds, and whoever named a folder
        may have done so because rows of the original should be on no other disk.
    """
    asked, found = os.environ.get("TMPDIR"), tempfile.gettempdir()
    if asked and found != os.path.abspath(asked) and found in _next_best():
        raise ShoalError(
            f"{asked}: nothing can be written to the temporary folder that TMPDIR names; make room there, or name "
            "another one"
        )
    return Path(found)


def _next_best() -> set[str]:
    """What Python takes where the folder that TMPDIR names cannot be used."""
    named = [os.environ[name] for name in ("TEMP", "TMP") if os.environ.get(name)]
    return {os.path.abspath(path) for path in (*named, "/tmp", "/var/tmp", "/usr/tmp", os.curdir)}


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder among the system's temporary ones, gone when the block ends; those of killed runs go at its start."""
    parent = temporary_folder()
    _clear(parent, _SPILLED)
    folder, lock = _new(lambda: parent / f"{SPILL}{secrets.token_hex(4)}", _make_folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _release(lock)


@contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """A folder beside `path`, gone when the block ends unless it was renamed; those of killed runs go at its start."""
    clear_abandoned(path.parent)
    folder, lock = _new(lambda: _beside(path), _make_folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _release(lock)


def write_owned(path: Path, text: str, *, overwrite: bool = False) -> None:
    """Write a file that is the owner's alone from its first byte on; it appears whole or not at all.

    Raises
    ------
    FileExistsError
        If it is there, and is not to be overwritten.
    OSError
        If it cannot be written; then it is as it was.
    """
    partial, handle = _new(lambda: _beside(path), _make_file)
    assert handle is not None
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            if overwrite:
                os.replace(partial, path)
            else:
                _appear(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def clear_abandoned(folder: Path) -> None:
    """Remove from a folder what killed runs were writing there, and nothing that another run is working on."""
    _clear(folder, _BESIDE)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Be alone with a folder for the time of the block, as far as its file system knows locks."""
    handle = _lock(folder, wait=True)
    try:
        yield
    finally:
        _release(handle)


def _beside(path: Path) -> Path:
    return path.parent / f".{path.name}.shoal-{secrets.token_hex(4)}"


def _make_folder(path: Path) -> int | None:
    path.mkdir(mode=0o700)
    return _lock(path, wait=True)


def _make_file(path: Path) -> int:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _PLAIN, 0o600)
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def _new(name: Callable[[], Path], make: Callable[[Path], int | None]) -> tuple[Path, int | None]:
    """Make and lock something new; again if another run cleared it away in the moment before it was locked."""
    while True:
        path = name()
        lock = make(path)
        if path.exists():
            return path, lock
        _release(lock)


def _appear(partial: Path, path: Path) -> None:
    """Give a whole file its name, unless something has it."""
    try:
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if path.exists():
            raise FileExistsError(None, "it exists", str(path)) from None
        os.replace(partial, path)


def _lock(path: Path, *, wait: bool) -> int | None:
    """Lock a folder or file; None where that cannot be done, and then no other run can take it for abandoned either."""
    if fcntl is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY | _PLAIN)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(handle)
        return None
    return handle


def _release(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)


def _clear(parent: Path, pattern: re.Pattern[str]) -> None:
    if fcntl is None:
        return
    try:
        names = [name for name in os.listdir(parent) if pattern.fullmatch(name)]
    except OSError:
        return
    for path in (parent / name for name in names):
        with suppress(OSError):
            if path.lstat().st_uid != os.getuid():
                continue
            lock = _lock(path, wait=False)
            if lock is None:
                continue
            try:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()
            finally:
                _release(lock)
