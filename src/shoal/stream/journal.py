"""What survives a kill: the output as far as it goes, and where to go on.

::

    out/
      publish/data.csv     what was published; appended to, never rewritten
      private/journal.json the last commit: records read, lengths of the files, what windows remember
      private/next.bin     the bytes of the last commit
      private/persons.bin  whose each published record is, where persons count

A commit writes the bytes to `next.bin` first, then names them in `journal.json`, which changes at one moment, and then
appends them to the output; each step is on the disk before the next begins. Who is killed before that moment has
published nothing of it; who is killed after it finds the bytes again and appends what is missing. So no record is lost
or published twice, and nobody who reads along ever sees bytes that are taken back.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from shoal.errors import DataError, ShoalError
from shoal.manifest import FILE_NAME
from shoal.scratch import clear_abandoned, locked, write_owned

JOURNAL, NEXT, PERSONS = "journal.json", "next.bin", "persons.bin"


class Journal:
    """The folder of a stream: new, or one to go on with."""

    def __init__(self, out: Path, asked: str) -> None:
        self.publish, self.private = out / "publish", out / "private"
        self.asked = asked
        self.state: dict[str, Any] | None = None
        if (self.publish / FILE_NAME).exists():
            self.forget()  # a run that was killed after its last word had no time for it
            raise ShoalError(f"{out} holds a stream that ended; choose another output folder, or remove it first")
        try:
            if (self.private / JOURNAL).exists():
                self._recover(out)
                return
            if out.exists() and any(p.name not in ("publish", "private") for p in out.iterdir()):
                raise ShoalError(f"{out} is not empty; choose another output folder, or remove it first")
            self.publish.mkdir(parents=True, exist_ok=True)
            self.private.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise ShoalError(
                f"cannot write to {out}: {error.strerror or error}; choose another output folder"
            ) from None

    def commit(self, data: bytes, persons: bytes, name: str, state: dict[str, Any]) -> None:
        """Publish bytes, and remember the state after them."""
        before = {"data": 0, "persons": 0} if self.state is None else self.state["lengths"]
        told = {
            "asked": self.asked,
            "file": name,
            "lengths": {"data": before["data"] + len(data), "persons": before["persons"] + len(persons)},
            "next": {"data": len(data), "persons": len(persons), "sha256": hashlib.sha256(data + persons).hexdigest()},
            "state": state,
        }
        try:
            _write(self.private / NEXT, data + persons)
            write_owned(self.private / JOURNAL, json.dumps(told), overwrite=True)
            _sync_folder(self.private)
            _append(self.publish / name, data)
            if persons:
                _append(self.private / PERSONS, persons)
        except OSError as error:
            raise ShoalError(
                f"the output cannot be written: {error.strerror or error}; make room, and give the same command again, "
                "which goes on where this one stopped"
            ) from None
        self.state = told

    @property
    def remembered(self) -> dict[str, Any] | None:
        """The state of the last commit; None of a new stream."""
        return None if self.state is None else self.state["state"]

    def _recover(self, out: Path) -> None:
        try:
            told = json.loads((self.private / JOURNAL).read_bytes())
            kept = (self.private / NEXT).read_bytes()
            parts = [
                (self.publish / told["file"], told["lengths"]["data"], kept[: told["next"]["data"]]),
                (self.private / PERSONS, told["lengths"]["persons"], kept[told["next"]["data"] :]),
            ]
        except (ValueError, KeyError, TypeError, FileNotFoundError):
            raise DataError(f"{self.private / JOURNAL} cannot be read as a journal; restore it") from None
        if told["asked"] != self.asked:
            raise ShoalError(
                f"{out} holds a stream that was begun with another policy, delay or format; give the same, or another "
                "output folder"
            )
        for path, length, piece in parts:
            size = path.stat().st_size if path.exists() else 0
            if size == length:
                continue
            if not length - len(piece) <= size < length or hashlib.sha256(kept).hexdigest() != told["next"]["sha256"]:
                raise DataError(
                    f"{path} is not as long as the journal says; restore it, as nothing can go on from here"
                )
            _append(path, piece[size - (length - len(piece)) :])
        self.state = told

    def end(self, manifest: str) -> None:
        """Put the manifest beside the data, whole or not at all, and let the journal go."""
        write_owned(self.private / FILE_NAME, manifest, overwrite=True)
        (self.private / FILE_NAME).chmod(0o644)
        os.replace(self.private / FILE_NAME, self.publish / FILE_NAME)
        self.forget()

    def forget(self) -> None:
        """The stream ended: nothing goes on from here, so nothing that would help with it is kept."""
        for name in (JOURNAL, NEXT):
            with suppress(OSError):
                (self.private / name).unlink()


@contextmanager
def alone_with(out: Path, asked: str) -> Iterator[Journal]:
    """The folder of a stream, for this run alone: where another is at work, it is waited for."""
    if not (out / "private").is_dir():
        Journal(out, asked)
    with locked(out / "private"):
        clear_abandoned(out / "private")
        yield Journal(out, asked)


def _write(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _append(path: Path, data: bytes) -> None:
    is_new = not path.exists()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644 if path.parent.name == "publish" else 0o600)
    with open(handle, "ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
