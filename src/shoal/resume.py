"""What a run leaves for the next one where it is killed: its finished steps, in a folder that its owner names.

The folder is the owner's alone, and locked while a process works with it. A step appears whole or not at all, by its
name, with the SHA-256 of its files. What it depends on is written once for all steps, as checksums: source, policy and
version. The seed is neither written nor can it be read off sooner than from the rows that it put into an order: it is
stretched with a salt, and the same is done to the seed of the next run. Where anything differs, all is made anew.

Checksums guard against accidents. Whoever can write into the folder is the owner, who can change the source as well.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from shoal.errors import DataError, Infeasible, NotVerified, PolicyError, ShoalError
from shoal.progress import Progress
from shoal.scratch import NoRoom, write_owned

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

LAYOUT = 1
"""Of what is written here; another one is not read."""
ROUNDS = 200_000
"""Of the function that stretches a seed."""

UNFINISHED = ("work-", "partial-")
"""How folders in it begin that hold what is not finished."""

_RUN, _STEP_FILE = "run.json", "step.json"
_OURS = re.compile(r"run\.json|\.run\.json\.shoal-[0-9a-f]{8}|(step|partial)-[a-z]+(-[0-9]+)?|work-[0-9a-f]{8}")
_BEGUN = re.compile(r"\.run\.json\.shoal-[0-9a-f]{8}")
_TRIES = 20
_REMOVED = "what was taken up from an earlier run was removed, and the same command makes all anew"
_REFUSALS = (PolicyError, DataError, Infeasible, NotVerified)


class FinishedStep(NamedTuple):
    """A step that need not be done again.

    Attributes
    ----------
    path : Path
        The folder of its files.
    told : mapping
        What else is known of it, as JSON.
    """

    path: Path
    told: Mapping[str, Any]


@dataclass
class StepFolder:
    """The folder, while a process works with it.

    Attributes
    ----------
    path : Path
    notes : list of str
        What was taken up from an earlier run, and what was not, a sentence each.
    depends : mapping of str to str
        What all steps depend on: in words, and its checksum.
    """

    path: Path
    notes: list[str] = field(default_factory=list)
    depends: Mapping[str, str] = field(default_factory=dict, repr=False)
    _seed: int | None = field(default=None, repr=False)
    _salt: bytes = b""
    _is_made: bool = False
    """Whether it was made for this, and goes with what is in it."""
    _steps: dict[str, FinishedStep] = field(default_factory=dict)
    _handle: int = -1
    _unlock: Any = None

    @classmethod
    def open(
        cls,
        path: str | Path,
        depends: Mapping[str, str],
        seed: int | None = None,
        progress: Progress | None = None,
        is_whole: Callable[[Mapping[str, FinishedStep]], bool] = lambda _: True,
    ) -> StepFolder:
        """Make the folder, or take up what an earlier run left in it.

        Parameters
        ----------
        path : path
        depends : mapping of str to str
            What all steps depend on: in words, and its checksum.
        seed : int, optional
            What some of them depend on besides.
        is_whole : callable
            Whether the steps that are there are all that is needed to go on from them.

        Raises
        ------
        ShoalError
            If it cannot be made, is used by another run, belongs to others, or holds something else.
        """
        path = Path(os.path.abspath(path))
        handle, is_made = _locked_folder(path)
        found = cls(path, depends=dict(depends), _seed=seed, _is_made=is_made, _handle=handle)
        found._unlock = weakref.finalize(found, os.close, handle)
        try:
            found._open(handle, progress, is_whole)
        except OSError as error:
            found._give_up(is_made)
            raise ShoalError(
                f"{path}: what is finished cannot be kept there: {error.strerror or error}; name another folder"
            ) from None
        except BaseException:
            found._give_up(is_made)
            raise
        return found

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        """A copy of what holds it has none: there is one folder, which one run works with."""
        return _no_folder, ()

    def _open(
        self, handle: int, progress: Progress | None, is_whole: Callable[[Mapping[str, FinishedStep]], bool]
    ) -> None:
        names = _names_in(self.path, handle)
        if _RUN in names:
            if progress is not None:
                progress("looking at what an earlier run finished", 0, 0)
            why = self._read(names)
            if why is None and self._steps and not is_whole(self._steps):
                why = "steps are missing"
            if why is None:
                for name in names:
                    if name.startswith(UNFINISHED) or _BEGUN.fullmatch(name):
                        self._take_away(name)
                return
            if any(name.startswith("step-") for name in names):
                self.notes.append(f"What an earlier run had finished was not used: {why}. All was made anew.")
                if progress is not None:
                    progress("removing what an earlier run finished, which does not fit", 0, 0)
        self._begin()

    def _read(self, names: list[str]) -> str | None:
        """Why what is there cannot be used; None where it can."""
        try:
            content = json.loads((self.path / _RUN).read_text(encoding="utf-8"))
            self._is_made, self._salt = bool(content["is_made"]), bytes.fromhex(content["salt"])
            known = content["depends"]
            differs = [what for what, digest in self.depends.items() if known.get(what) != digest]
            if content["layout"] != LAYOUT:
                return "another version of Shoal wrote it"
            if differs:
                return f"it depends on another {differs[0]}"
            for name in names:
                if name.startswith("step-"):
                    found = _verified(self.path / name)
                    if found.told["seed"] not in (None, self._mark):
                        return "it depends on another seed"
                    self._steps[name.removeprefix("step-")] = FinishedStep(found.path, found.told["told"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self._steps.clear()
            return "it is damaged"
        return None

    def _begin(self) -> None:
        """Make the folder empty but for the file that says what it is for."""
        self._steps.clear()
        self.__dict__.pop("_mark", None)
        for name in os.listdir(self.path):
            if name != _RUN and _OURS.fullmatch(name):  # and nothing that somebody put there meanwhile
                self._take_away(name)
        self._salt = secrets.token_bytes(16)
        content = {"layout": LAYOUT, "is_made": self._is_made, "salt": self._salt.hex(), "depends": self.depends}
        write_owned(self.path / _RUN, json.dumps(content, indent=1) + "\n", overwrite=True)

    @cached_property
    def _mark(self) -> str:
        """What tells whether another run has the same seed; "" of none."""
        if self._seed is None:
            return ""
        return hashlib.pbkdf2_hmac("sha256", str(self._seed).encode(), self._salt, ROUNDS).hex()

    @property
    def names(self) -> set[str]:
        """The steps that are finished."""
        return set(self._steps)

    @property
    def told(self) -> str:
        """What a message says where the run ends before the release stands."""
        return _kept_in(self.path)

    def found(self, name: str) -> FinishedStep | None:
        """A step, if it is finished; its files were compared with their checksums when the folder was opened."""
        return self._steps.get(name)

    @contextmanager
    def finishing(self, name: str, *, by_seed: bool = False) -> Iterator[FinishedStep]:
        """A new folder for the files of a step, and what else is to be known of it; finished when the block ends well.

        Raises
        ------
        ShoalError
            If it cannot be kept.
        """
        partial, whole = self.path / f"partial-{name}", self.path / f"step-{name}"
        told: dict[str, Any] = {}
        try:
            partial.mkdir(mode=0o700)
            yield FinishedStep(partial, told)
            body = {"files": _digests(partial), "told": told, "seed": self._mark if by_seed else None}
            write_owned(partial / _STEP_FILE, json.dumps({**body, "digest": _digest(body)}))
            _sync(partial)
            os.rename(partial, whole)
            _sync(self.path)
        except OSError as error:
            raise ShoalError(
                f"what was finished cannot be kept in {self.path}: {error.strerror or error}; make room there, or "
                "name another folder for it"
            ) from None
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        self._steps[name] = FinishedStep(whole, told)

    def drop(self, name: str) -> None:
        """Forget a step that a later one stands for."""
        if self._steps.pop(name, None) is not None:
            self._take_away(f"step-{name}")

    def work(self) -> Path:
        """A new folder for what is not finished; the next run removes it."""
        path = self.path / f"work-{secrets.token_hex(4)}"
        try:
            path.mkdir(mode=0o700)
        except OSError as error:
            raise ShoalError(
                f"nothing can be written to {self.path}: {error.strerror or error}; name another folder for what is "
                "finished"
            ) from None
        return path

    @contextmanager
    def kept(self, *, removed_for: tuple[type[ShoalError], ...] = _REFUSALS, is_end: bool = True) -> Iterator[None]:
        """Where the block fails, keep what is finished for another run, and say so, unless nothing good can come of it.

        That is so if the data or what is asked of them was refused, or if nothing is finished. Another run can have it
        then, if this is the end of the present one.
        """
        try:
            yield
        except BaseException as error:
            is_refused = isinstance(error, removed_for) and not isinstance(error, NoRoom)
            if is_refused or not self._steps:
                if isinstance(error, NotVerified) and self.notes:  # it may lie in what was taken up
                    error.args = (f"{error}; {_REMOVED}", *error.args[1:])
                with suppress(ShoalError):
                    self.remove()
            elif isinstance(error, ShoalError):
                error.args = (f"{error}; {self.told}", *error.args[1:])
            if is_end:
                self.close()
            raise

    def remove(self) -> None:
        """Remove all that is in the folder, and the folder if it was made for it.

        Raises
        ------
        ShoalError
            If something is left.
        """
        self._steps.clear()
        if not self._is_held():
            self.close()
            return
        try:
            names = [name for name in os.listdir(self.path) if _OURS.fullmatch(name)]
            for name in sorted(names, key=lambda name: name == _RUN):  # that last, which says what the rest is
                self._take_away(name)
            if self._is_made:
                with suppress(OSError):  # something else was put there
                    self.path.rmdir()
        except FileNotFoundError:
            pass
        except OSError as error:
            raise ShoalError(
                f"{self.path} holds rows of the original and cannot be removed: {error.strerror or error}; remove it"
            ) from None
        finally:
            self.close()

    def _is_held(self) -> bool:
        """Whether it is still this run's, and the one that it was."""
        try:
            there = os.stat(self.path, follow_symlinks=False)
            return self._unlock.alive and os.path.samestat(os.fstat(self._handle), there)
        except OSError:
            return False

    def _give_up(self, is_new: bool) -> None:
        """Let go of it; a folder that was made a moment ago would be taken for one that its owner had made."""
        with suppress(ShoalError):
            if is_new:
                self.remove()
        self.close()

    def close(self) -> None:
        """Let another run have it."""
        if self._unlock is not None:
            self._unlock()

    def _take_away(self, name: str) -> None:
        path = self.path / name
        if path.is_dir() and not path.is_symlink():
            gone = self.path / f"work-{secrets.token_hex(4)}"
            os.rename(path, gone)  # so that a kill leaves whole steps alone
            shutil.rmtree(gone)
        else:
            path.unlink()


def refuse_same(out: Path, resume: Path) -> None:
    """Refuse to keep what is finished where the release is to stand.

    Raises
    ------
    PolicyError
        If one of both folders is in the other.
    """
    one, other = Path(os.path.realpath(out)), Path(os.path.realpath(resume))
    if one == other or one in other.parents or other in one.parents:
        raise PolicyError(
            f"{resume} is to hold rows of the original while they are worked on, so it cannot be the folder of the "
            "release, in it, or around it; name another"
        )


def what_is_kept(path: Path) -> str | None:
    """What a message says of a folder in which an earlier run, or this one, has finished something."""
    try:
        is_kept = any(name.startswith("step-") for name in os.listdir(path))
    except OSError:
        return None
    return _kept_in(path) if is_kept else None


def _kept_in(path: Path) -> str:
    return (
        f"what was finished is kept in {path}, from where the same command goes on; it holds rows of the original, and "
        "who removes the folder removes them"
    )


def _no_folder() -> None:
    return None


def _locked_folder(path: Path) -> tuple[int, bool]:
    """Make a folder, or open one of ours; locked, and whether it was made."""
    if fcntl is None:
        raise ShoalError(
            "what is finished is kept in a folder that is locked, and this system locks none: leave resume out"
        )
    for _ in range(_TRIES):
        is_made = True
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            is_made = False
        except OSError as error:
            raise ShoalError(f"{path}: the folder cannot be made: {error.strerror or error}; name another") from None
        try:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:  # another run is done with it in this moment
            continue
        except OSError:
            raise ShoalError(
                f"{path}: is a link, or no folder that can be opened, and what is finished is kept in a folder of its "
                "own; name a new one"
            ) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            told = os.fstat(handle)
            if told.st_uid != os.geteuid():
                raise ShoalError(f"{path}: belongs to another user; name a new folder for what is finished")
            if os.path.samestat(told, os.stat(path, follow_symlinks=False)):
                return handle, is_made
        except BlockingIOError:
            os.close(handle)
            raise ShoalError(
                f"{path}: another run works with this folder; wait until it has ended, or name another"
            ) from None
        except FileNotFoundError:
            pass
        except OSError as error:
            os.close(handle)
            raise ShoalError(
                f"{path}: no folder can be locked there ({error.strerror or error}); name one on another disk"
            ) from None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
    raise ShoalError(f"{path}: others make and remove this folder; name another")


def _names_in(path: Path, handle: int) -> list[str]:
    """What is in a folder, which has to be ours, and nobody else's to look at."""
    with os.scandir(path) as entries:
        found = {entry.name: entry.is_symlink() for entry in entries}
    strange = [name for name, is_link in found.items() if is_link or not _OURS.fullmatch(name)]
    if _RUN not in found:
        strange += [name for name in found if not _BEGUN.fullmatch(name)]
    elif not _is_head(path / _RUN):
        strange.append(_RUN)
    if strange:
        raise ShoalError(
            f"{path}: holds something that no run left there, so nothing is written to it or removed; name a new or "
            "empty folder"
        )
    if stat.S_IMODE(os.fstat(handle).st_mode) & 0o077:
        if _RUN in found:
            raise ShoalError(f"{path}: others may look into it; remove it, or make it your own (chmod 700)")
        os.fchmod(handle, 0o700)
    return sorted(found)


def _is_head(path: Path) -> bool:
    """Whether a file of that name says what such a folder is for; other programs have files of the name, too."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and {"layout", "is_made", "salt", "depends"} <= content.keys()


def _digests(folder: Path) -> dict[str, list[Any]]:
    """Size and SHA-256 of all files, which are on the disk afterwards."""
    from shoal.manifest import checksum

    found = {}
    for path in sorted(folder.iterdir()):
        _sync(path)
        found[path.name] = [path.stat().st_size, checksum(path)]
    return found


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _verified(path: Path) -> FinishedStep:
    """A step whose files are as they were when it was finished; `ValueError` of another."""
    from shoal.manifest import checksum

    content = json.loads((path / _STEP_FILE).read_text(encoding="utf-8"))
    digest = content.pop("digest")
    there = {entry.name for entry in path.iterdir() if entry.is_file() and not entry.is_symlink()}
    if digest != _digest(content) or there != {*content["files"], _STEP_FILE} or len(os.listdir(path)) != len(there):
        raise ValueError("the step is not what was finished")
    for name, (size, sha256) in content["files"].items():
        if (path / name).stat().st_size != size or checksum(path / name) != sha256:
            raise ValueError("a file is not what was finished")
    return FinishedStep(path, content)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        if not path.is_dir():  # some systems cannot do it with folders
            raise
    finally:
        os.close(handle)
