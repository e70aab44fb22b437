"""The folder of a release: it appears whole or not at all, never in the place of another, with checked bytes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from shoal.check.verdict import Verdict
from shoal.errors import NotVerified, ShoalError
from shoal.manifest import FILE_NAME, checksum
from shoal.scratch import folder_beside, scratch_folder

Found = TypeVar("Found")
_PARTS = ("publish", "private")


@contextmanager
def staged(out: Path, *, replace: bool = False) -> Iterator[Path]:
    """A folder beside `out` that becomes `out` when the block ends well, and vanishes when it does not.

    The stage is owner-only and locked while its process lives, so that a later run can clear away what a killed one
    left. To replace a release, the old one is moved aside, to a name of its own, for the moment in which the new one
    takes its place; who is killed in it finds both.
    """
    refuse_occupied(out, replace=replace)
    with ExitStack() as stack:
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            stage = stack.enter_context(folder_beside(out))
        except OSError as error:
            raise ShoalError(
                f"cannot write to {out.parent}: {error.strerror or error}; choose another output folder"
            ) from None
        try:
            yield stage
            _sync(stage)
            stage.chmod(0o755)
            old = _aside(out) if replace and any(out.glob("*")) else None
            os.rename(stage, out)
            _sync_folder(out.parent)
            if old is not None:
                shutil.rmtree(old)
        except OSError as error:
            raise ShoalError(
                f"the release could not be written to {out}: {error.strerror or error}; nothing was published"
            ) from None


class CheckedFile:
    """A file that was written and checked, and has no name any more: the very bytes that will be published.

    It lives as long as it is open, so a process that is killed leaves nothing behind.
    """

    def __init__(self, path: Path, others: Sequence[CheckedFile] = ()) -> None:
        self.name, self.others = path.name, tuple(others)
        self.checksum = checksum(path)
        self.claims: Any = None
        """What was checked of it: what it is published with has to be the same."""
        self._bytes: BinaryIO = path.open("rb")

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        """A copy of a release, or one that was kept in a file, has none: it is written and checked anew."""
        return _no_file, ()

    def put(self, folder: Path) -> Path:
        """Copy it into a folder; `NotVerified` if other bytes arrive there."""
        path = folder / self.name
        self._bytes.seek(0)
        with path.open("wb") as file:
            shutil.copyfileobj(self._bytes, file, 1 << 20)
        if checksum(path) != self.checksum:
            raise NotVerified("the file that was checked is not the one that was written; nothing was published")
        for other in self.others:
            other.put(folder)
        return path

    @property
    def checksums(self) -> dict[str, str]:
        """SHA-256 of it, and of those that were checked with it, by name."""
        return {file.name: file.checksum for file in (self, *self.others)}


def _no_file() -> None:
    return None


def checked_file(
    name: str, write: Callable[[Path], object], check: Callable[[Path], Found], others: Sequence[str] = ()
) -> tuple[CheckedFile, Found]:
    """Write a file, check what stands there, and keep it until it is published; with what the check found.

    `others` are files that are written beside it, and checked and published with it.
    """
    try:
        with scratch_folder() as scratch:
            path = scratch / name
            write(path)
            try:
                found = check(path)
            except ShoalError as error:  # which names a file that nobody else has seen
                error.args = (str(error).replace(str(path), f"the written {name}"),)
                raise
            return CheckedFile(path, [CheckedFile(scratch / other) for other in others]), found
    except OSError as error:
        raise ShoalError(
            f"the release cannot be written to the temporary folder to be checked: {error.strerror or error}; make "
            "room there, or name another one in TMPDIR"
        ) from None


def refuse_failed(verdict: Verdict) -> None:
    """`NotVerified` unless everything was recomputed, and holds."""
    failed = [*(g.sentence for g in verdict.guarantees if not g.holds), *verdict.unverified, *verdict.findings]
    failed += [f"it was not seen {phrase}." for phrase in verdict.not_compared]
    if failed:
        raise NotVerified(
            f"the release failed its own check, so nothing was written: {failed[0]} "
            "This is a defect of Shoal; please report it"
        )


def _aside(out: Path) -> Path:
    """Give a folder another name, which no other has."""
    old = next(p for i in count(1) if not (p := out.with_name(f"{out.name}.old-{i}")).exists())
    os.rename(out, old)
    return old


def refuse_occupied(out: Path, *, replace: bool = False) -> None:
    """Refuse an output that would overwrite something, before any work is done; a release may be replaced on demand.

    Only what is surely a release and nothing else counts as one: whatever stands beside it would be lost.
    """
    try:
        if out.is_dir() and not any(out.iterdir()):
            return
        is_release = not out.is_symlink() and (out / "publish" / FILE_NAME).is_file()
        strange = sorted(path.name for path in out.iterdir() if path.name not in _PARTS) if is_release else []
        if replace and is_release:
            if not strange:
                return
            raise ShoalError(
                f"{out} holds a release and other things too, such as {strange[0]}; move them away, so that nothing of "
                "yours is lost with it"
            )
        occupied = out.exists() or out.is_symlink()
    except ValueError:
        raise ShoalError("the name of the output folder holds a NUL character; choose another") from None
    except OSError as error:
        raise ShoalError(f"cannot look at {out}: {error.strerror or error}; choose another output folder") from None
    if occupied:
        what = "is not empty" if out.is_dir() else "exists and is not a folder"
        why = " and holds no release that could be replaced" if replace and out.is_dir() else ""
        or_replace = ", or replace the release in it (--force)" if is_release and not strange else ""
        raise ShoalError(f"{out} {what}{why}; choose another output folder, or remove it first{or_replace}")


def _sync(folder: Path) -> None:
    """Push every file and folder to the disk, so that the name never appears before the content."""
    for parent, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(parent, name), "rb") as file:
                os.fsync(file.fileno())
        _sync_folder(Path(parent))


def _sync_folder(folder: Path) -> None:
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # some systems cannot open folders
        return
    try:
        os.fsync(handle)
    except OSError:
        return
    finally:
        os.close(handle)
