"""The folder that the studio may look into, and the sessions that it keeps; nothing outside is ever named or read."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from shoal.errors import ShoalError
from shoal.studio.session import Session

SESSIONS = ".shoal-studio"
MOST_LISTED = 500


class Sample(NamedTuple):
    """Invented data to begin with: its title, its main file, what it is read as, and what writes it into a folder."""

    title: str
    file: str
    kind: str | None
    write: Callable[[Path], None]


class FileEntry(NamedTuple):
    """A folder or file that can be opened: its name, its place from the top, its bytes (None of a folder)."""

    name: str
    place: str
    n_bytes: int | None


@dataclass(frozen=True)
class Workspace:
    """What the studio may touch.

    Attributes
    ----------
    top : path
        The folder that was given at the start: files are read from it and releases are written into it.
    home : path
        Where sessions are kept, the owner's alone.
    samples : mapping of str to Sample
        Invented data, by name.
    """

    top: Path
    home: Path
    samples: Mapping[str, Sample] = field(default_factory=dict)

    @classmethod
    def at(cls, top: Path, home: Path | None = None, samples: Mapping[str, Sample] | None = None) -> Workspace:
        """The workspace of a folder; sessions are kept in it unless another place is given."""
        try:
            top = top.resolve(strict=True)
        except OSError as error:
            raise ShoalError(f"the folder {top} cannot be looked at: {error.strerror or error}") from None
        if not _is_text(str(top)):
            raise ShoalError("the folder's path is no UTF-8 text, which pages could not show; rename it")
        if not top.is_dir():
            raise ShoalError(f"{top} is not a folder; give the folder that holds the data")
        home = (home or top / SESSIONS).absolute()
        try:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            if home.is_symlink() or (hasattr(os, "getuid") and home.stat().st_uid != os.getuid()):
                raise ShoalError(f"{home} is not a folder of yours; name another one for sessions")
            home.chmod(0o700)
        except OSError as error:
            raise ShoalError(
                f"sessions cannot be kept in {home}: {error.strerror or error}; name another folder for them"
            ) from None
        return cls(top, home, samples or {})

    def inside(self, place: str) -> Path:
        """A place below the top, links followed; what leads elsewhere is refused."""
        if "\0" in place or len(place) > 4096 or not _is_text(place):
            raise ShoalError("that is not the name of a file in the folder that the studio was started with")
        try:
            path = (self.top / place).resolve()
        except (OSError, RuntimeError):
            raise ShoalError("that place cannot be looked at; choose another") from None
        home = self.home.resolve()
        if not path.is_relative_to(self.top) or path.is_relative_to(home):
            raise ShoalError(
                "that place is outside of the folder that the studio was started with; start it with another folder "
                "(shoal studio --folder), or upload the file"
            )
        return path

    def files(self, place: str = "") -> list[FileEntry]:
        """What can be opened in a folder, folders first; what leads outside is not listed."""
        folder = self.inside(place)
        found: list[FileEntry] = []
        try:
            entries = sorted(os.scandir(folder), key=lambda e: (not e.is_dir(), e.name))
        except OSError as error:
            raise ShoalError(f"the folder cannot be looked at: {error.strerror or error}") from None
        for entry in entries:
            if entry.name.startswith(".") or len(found) == MOST_LISTED:
                continue
            try:
                path = self.inside(str(Path(place) / entry.name))
                n_bytes = None if path.is_dir() else path.stat().st_size
            except (ShoalError, OSError):
                continue
            if n_bytes is None or path.is_file():
                found.append(FileEntry(entry.name, (Path(place) / entry.name).as_posix(), n_bytes))
        return found

    def sessions(self) -> list[Session]:
        """Those that there are, the last one used first."""
        found = [Session(path) for path in self.home.iterdir() if path.is_dir() and not path.name.startswith(".")]
        whole = [session for session in found if session.is_whole]
        return sorted(whole, key=lambda s: ((s.folder / "policy.toml").stat().st_mtime_ns, s.name), reverse=True)

    def session(self, name: str) -> Session | None:
        """The session of a name; None where there is none."""
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,60}", name):
            return None
        found = Session(self.home / name)
        return found if found.is_whole else None

    def new_place(self, file: str) -> Path:
        """A folder for a new session that no other has."""
        stem = re.sub(r"[^a-z0-9]+", "-", Path(file).stem.lower()).strip("-")[:40] or "data"
        return next(p for i in range(1, 10**6) if not os.path.lexists(p := self.home / f"{stem}-{i}"))

    def open(self, places: list[str], kind: str | None = None) -> Session:
        """A new session of files in the folder."""
        paths = [self.inside(place) for place in places]
        if not paths:
            raise ShoalError("no file was chosen; choose one")
        for path in paths:
            if not os.path.exists(path):  # also where the name is too long
                raise ShoalError(f"there is no file {path.name}; choose one of those that are listed")
        return self._begun(paths[0].name, paths, kind)

    def open_sample(self, name: str) -> Session:
        """A new session of invented data, which is kept with it."""
        if name not in self.samples:
            raise ShoalError("there is no such sample; choose one of those that are listed")
        sample = self.samples[name]
        inputs = self.new_input()
        sample.write(inputs)
        return self.open_upload(inputs, [sample.file], sample.kind)

    def open_upload(self, inputs: Path, files: list[str], kind: str | None) -> Session:
        """A new session of files that were put into a folder by `new_input`."""
        try:
            return self._begun(files[0], [inputs / file for file in files], kind, inputs)
        finally:
            shutil.rmtree(inputs, ignore_errors=True)

    def new_input(self) -> Path:
        """A folder for a file that is still coming."""
        folder = self.home / f".input-{os.urandom(8).hex()}"
        folder.mkdir(mode=0o700)
        return folder

    def _begun(self, file: str, paths: list[Path], kind: str | None, inputs: Path | None = None) -> Session:
        while True:
            try:
                return Session.begin(self.new_place(file), paths, kind, inputs)
            except FileExistsError:  # another one took the place in this moment
                continue


def _is_text(name: str) -> bool:
    """Whether a name can be shown and kept; file systems know others."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def safe_name(name: str) -> str:
    """The name of an uploaded file as it can stand in a folder: no path, nothing odd, its ends kept.

    >>> safe_name("../../etc/passwd"), safe_name("My people (1).csv.gz"), safe_name("")
    ('passwd', 'My_people_1_.csv.gz', 'upload')
    """
    last = re.split(r"[/\\\\]", name)[-1]
    return re.sub(r"[^A-Za-z0-9._-]+", "_", last).lstrip(".-_")[-80:] or "upload"
