"""A folder in which a long run keeps what it has finished, each part in a small file, so that it can go on from there.

The folder and its files are the owner's alone.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from shoal.errors import ShoalError
from shoal.scratch import clear_abandoned, write_owned


class KeptFolder:
    """Where a run is written; refuses a folder that holds anything but an earlier run of its sort."""

    noun: ClassVar[str]
    """What the run is called."""
    parts: ClassVar[str]
    """What its parts are called: the folder inside, too."""
    files: ClassVar[tuple[str, ...]]
    """What is written at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if path.is_dir():
                others = sorted(p.name for p in path.iterdir() if not self._is_ours(p.name))
            else:
                others = [path.name] if path.exists() or path.is_symlink() else []
        except OSError as error:
            raise ShoalError(f"cannot look at {path}: {_reason(error)}; choose another output folder") from None
        if others:
            what = f"holds more than a {self.noun}" if path.is_dir() else "exists and is not a folder"
            raise ShoalError(f"{path} {what}; choose another output folder, or remove it first")

    def open(self) -> None:
        """Make the folder, the owner's alone, and clear away what a killed run left half written."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for folder in (self.path, self.path / self.parts):
                folder.mkdir(mode=0o700, exist_ok=True)
                folder.chmod(0o700)
                clear_abandoned(folder)
        except OSError as error:
            raise ShoalError(f"cannot write to {self.path}: {_reason(error)}; choose another output folder") from None

    def abandon(self) -> None:
        """Remove the folder if nothing was stored in it."""
        with suppress(OSError):
            (self.path / self.parts).rmdir()
            self.path.rmdir()

    def place(self, key: str) -> Path:
        """The file of a part."""
        return self.path / self.parts / f"{key}.json"

    def write_file(self, name: str, text: str) -> None:
        """Write one of the files that stand there at the end."""
        self.store(self.path / name, text)

    @classmethod
    def store(cls, path: Path, text: str) -> None:
        """Write a file whole or not at all."""
        try:
            write_owned(path, text, overwrite=True)
        except OSError as error:
            raise ShoalError(
                f"the {cls.noun} could not be written to {path.parent}: {_reason(error)}; finished {cls.parts} are kept"
            ) from None

    @classmethod
    def _is_ours(cls, name: str) -> bool:
        return name in (cls.parts, *cls.files) or name.startswith(tuple(f".{f.partition('.')[0]}." for f in cls.files))


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
