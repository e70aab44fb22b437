"""The folder of a release: it appears whole or not at all, and never in the place of another."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import escape as escape_pattern
from pathlib import Path

from shoal.check.verdict import Verdict
from shoal.errors import NotVerified, PolicyError, ShoalError, did_you_mean

try:
    import fcntl
except ImportError:  # not on Windows; a stage that a killed run left behind then stays
    fcntl = None  # type: ignore[assignment]


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """A folder beside `out` that becomes `out` when the block ends well, and vanishes when it does not.

    The stage is owner-only and locked while its process lives, so that a later run can clear away what a killed one
    left.
    """
    refuse_occupied(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _clear_abandoned(out)
        stage, lock = _new_stage(out)
    except OSError as error:
        raise ShoalError(
            f"cannot write to {out.parent}: {error.strerror or error}; choose another output folder"
        ) from None
    try:
        yield stage
        _sync(stage)
        stage.chmod(0o755)
        os.rename(stage, out)
        _sync_folder(out.parent)
    except OSError as error:
        shutil.rmtree(stage, ignore_errors=True)
        raise ShoalError(
            f"the release could not be written to {out}: {error.strerror or error}; nothing was published"
        ) from None
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        raise
    finally:
        if lock is not None:
            os.close(lock)


def secrets_to_keep(keep: str | Sequence[str], keepable: Sequence[str]) -> list[str]:
    """What a user asks to be kept in `private/`, which has to be among what can be."""
    wanted = [keep] if isinstance(keep, str) else list(keep)
    for what in wanted:
        if what not in keepable:
            raise PolicyError(f"cannot keep {what!r}; {did_you_mean(what, keepable)}")
    return wanted


def refuse_failed(verdict: Verdict) -> None:
    """`NotVerified` unless everything that is promised was recomputed, and holds."""
    failed = [*(g.sentence for g in verdict.guarantees if not g.holds), *verdict.unverified, *verdict.findings]
    if failed:
        raise NotVerified(
            f"the release failed its own check, so nothing was written: {failed[0]} "
            "This is a defect of Shoal; please report it"
        )


def refuse_occupied(out: Path) -> None:
    """Refuse an output that would overwrite something, before any work is done."""
    try:
        if out.is_dir() and not any(out.iterdir()):
            return
        occupied = out.exists() or out.is_symlink()
    except ValueError:
        raise ShoalError("the name of the output folder holds a NUL character; choose another") from None
    except OSError as error:
        raise ShoalError(f"cannot look at {out}: {error.strerror or error}; choose another output folder") from None
    if occupied:
        what = "is not empty" if out.is_dir() else "exists and is not a folder"
        raise ShoalError(f"{out} {what}; choose another output folder, or remove it first")


def _new_stage(out: Path) -> tuple[Path, int | None]:
    """Make a stage and lock the folder itself, so that it is never without a lock while its process lives."""
    while True:
        stage = out.parent / f".{out.name}.shoal-{secrets.token_hex(4)}"
        stage.mkdir(mode=0o700)
        lock = _lock(stage)
        if stage.is_dir():
            return stage, lock
        if lock is not None:  # another run cleared it away before it was locked
            os.close(lock)


def _lock(stage: Path) -> int | None:
    if fcntl is None:
        return None
    try:
        handle = os.open(stage, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:  # a file system without locks; then no other run takes this one for abandoned either
        os.close(handle)
        return None
    return handle


def _clear_abandoned(out: Path) -> None:
    """Remove stages of the same output whose process is gone."""
    if fcntl is None:
        return
    for stage in out.parent.glob(f".{escape_pattern(out.name)}.shoal-????????"):
        try:
            handle = os.open(stage, os.O_RDONLY)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(stage, ignore_errors=True)
        except OSError:
            continue
        finally:
            os.close(handle)


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
