"""A release: the published data, its checked guarantees, and the folder that appears whole or not at all.

::

    out/
      publish/    the data in the format it came in, manifest.json, datasheet.html
      private/    report.html; on request the group of each record and the applied mapping
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from glob import escape as escape_pattern
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal._version import __version__
from shoal.check.classes import classes_of
from shoal.check.guarantee import Guarantee
from shoal.check.risk import Risk, risk_of
from shoal.check.verify import verify
from shoal.data.attribute import Attribute
from shoal.data.table import Table
from shoal.data.write import file_name, read_back, write_table
from shoal.errors import NotVerified, PolicyError, ShoalError, did_you_mean
from shoal.manifest import FILE_NAME, Manifest, as_published, checksums
from shoal.policy import Policy

if TYPE_CHECKING:
    from shoal.report.context import ReportContext
    from shoal.utility.classification import LearningComparison
    from shoal.utility.measure import Utility
    from shoal.utility.queries import QueryError

KEEPABLE = ("groups", "mapping")

try:
    import fcntl
except ImportError:  # not on Windows; a stage that a killed run left behind then stays
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Release:
    """What `anonymize` gives back. Nothing is on disk before `save`.

    Attributes
    ----------
    table : Table
        What would be published.
    guarantees : tuple of Guarantee
        Every requirement, recomputed from `table` by the independent checker; all hold.
    policy, attributes
        What was asked for, and what each column was taken to be.
    notes : tuple of str
        What the user should know, a sentence each.
    """

    table: Table
    guarantees: tuple[Guarantee, ...]
    policy: Policy
    attributes: Mapping[str, Attribute]
    notes: tuple[str, ...]
    _original: Table = field(repr=False)
    _rows: npt.NDArray[np.intp] = field(repr=False)
    _groups: npt.NDArray[np.int32] = field(repr=False)
    _like: Any = field(default=None, repr=False)

    @cached_property
    def data(self) -> Any:
        """The published data as a frame of the kind that came in (from a file: a dictionary of columns)."""
        from shoal.data.frames import to_frame

        return to_frame(self.table, {} if self._like is None else self._like)

    @cached_property
    def utility(self) -> Utility:
        """What the protection cost."""
        from shoal.utility.measure import measure

        return measure(
            self._original,
            self.table,
            self._rows,
            self._groups,
            self.attributes,
            self.policy.k,
            is_recoding=self.policy.method.is_recoding,
        )

    def query_error(self, **asked: Any) -> QueryError:
        """How far random counts on the release are from those on the original; see `shoal.utility.queries`."""
        from shoal.utility.queries import query_error

        return query_error(self._original, self.table, self._rows, self._groups, self.attributes, **asked)

    def compare_learning(self, target: str, **asked: Any) -> LearningComparison:
        """How well models learned from the release predict a column of originals that they have not seen.

        Against models learned from the originals; see `shoal.utility.classification`. Needs the extra `mining`.
        """
        from shoal.utility.classification import compare_learning

        return compare_learning(self._original, self.table, self._rows, self._groups, self.attributes, target, **asked)

    @property
    def records(self) -> dict[str, int]:
        """How many records came in, went out and were suppressed."""
        n_in, n_out = self._original.n_rows, self.table.n_rows
        return {"in": n_in, "out": n_out, "suppressed": n_in - n_out}

    @cached_property
    def risk_before(self) -> Risk:
        """Re-identification risk of the original on the same quasi-identifiers."""
        return self._risk(self._original)

    @cached_property
    def risk_after(self) -> Risk:
        """Re-identification risk of the release."""
        return self._risk(self.table)

    def _risk(self, table: Table) -> Risk:
        markers = self.policy.missing_markers
        return risk_of(classes_of(table, self._names("quasi"), markers=markers), self.policy.k)

    def _names(self, role: str) -> list[str]:
        return [n for n, a in self.attributes.items() if a.role == role]

    def save(self, out: str | Path, keep: Sequence[str] = ()) -> Path:
        """Write `publish/` and `private/`, after checking the very bytes that would be published.

        Parameters
        ----------
        out : path
            A folder that does not exist yet, or is empty.
        keep : sequence of {"groups", "mapping"}
            Secrets to keep in `private/`: the group of each record, and what each record's values became.
        """
        keep = [keep] if isinstance(keep, str) else list(keep)
        for what in keep:
            if what not in KEEPABLE:
                raise PolicyError(f"cannot keep {what!r}; {did_you_mean(what, KEEPABLE)}")
        with staged(Path(out)) as stage:
            self._write_publish(stage / "publish")
            self._write_private(stage / "private", keep)
        return Path(out)

    def _write_publish(self, folder: Path) -> None:
        from shoal.report.datasheet import render_datasheet

        folder.mkdir()
        data = file_name(self.table)
        write_table(self.table, folder / data)
        guarantees = self._verify_file(folder / data)
        (folder / "datasheet.html").write_text(
            render_datasheet(self._context(guarantees), self.table), encoding="utf-8"
        )
        manifest = Manifest(
            version=__version__,
            kind=self.policy.kind,
            data=data,
            delimiter=None if data.endswith(".parquet") else self.table.source.delimiter,
            method=self.policy.method.model_dump() | {"publish": self.policy.method.publication},
            missing=self.policy.missing,
            missing_markers=self.policy.missing_markers,
            attributes=self._published_attributes,
            records=self.records,
            require=self.policy.require,
            guarantees=tuple(_claim(g) for g in guarantees),
            checksums=checksums(folder, [data, "datasheet.html"]),
        )
        (folder / FILE_NAME).write_text(manifest.to_json(), encoding="utf-8")

    def _verify_file(self, path: Path) -> tuple[Guarantee, ...]:
        """Run the checker on the file as any reader would see it."""
        markers, delimiter = self.policy.missing_markers, self.table.source.delimiter
        written = read_back(path, self.table.names, markers=markers, delimiter=delimiter)
        if written.n_rows != self.table.n_rows or written.names != self.table.names:
            raise NotVerified("the written file does not read back as the table that was made; nothing was published")
        return verified(written, self.policy, self._published_attributes)

    @cached_property
    def _published_attributes(self) -> dict[str, Attribute]:
        return {n: as_published(self.attributes[n], self.table[n]) for n in self.table.names}

    def _write_private(self, folder: Path, keep: Sequence[str]) -> None:
        from shoal.report.report import render_report

        folder.mkdir(mode=0o700)
        (folder / "report.html").write_text(render_report(self._context(self.guarantees)), encoding="utf-8")
        if "groups" in keep:
            lines = (f"{r},{g}" for r, g in sorted(zip((self._rows + 1).tolist(), self._groups.tolist(), strict=True)))
            (folder / "groups.csv").write_text("\n".join(["original_row,group", *lines, ""]), encoding="utf-8")
        if "mapping" in keep:
            self._write_mapping(folder)
        for path in folder.iterdir():
            path.chmod(0o600)

    def _write_mapping(self, folder: Path) -> None:
        """What each distinct value became, with the number of records, one file a quasi-identifier."""
        from shoal.data.mapping import applied_mapping

        for i, name in enumerate(self._names("quasi"), start=1):
            path = folder / f"mapping-{i}.csv"
            write_table(applied_mapping(self._original[name].take(self._rows), self.table[name]), path)

    def _context(self, guarantees: tuple[Guarantee, ...]) -> ReportContext:
        from shoal.report.context import ReportContext

        return ReportContext.of(self, guarantees)

    def _repr_html_(self) -> str:
        rows = "".join(f"<li>{escape(g.sentence)}</li>" for g in self.guarantees)
        return f"<p><b>Release</b> of {self.table.n_rows:,} records</p><ul>{rows}</ul>"


def _claim(guarantee: Guarantee) -> dict[str, Any]:
    """A guarantee as the manifest states it; the worst classes are for the owner's report."""
    return {name: value for name, value in guarantee.to_dict().items() if name != "worst"}


def verified(table: Table, policy: Policy, attributes: Mapping[str, Attribute]) -> tuple[Guarantee, ...]:
    """The guarantees of a table, or `NotVerified` when one does not hold."""
    roles = {role: [n for n in table.names if attributes[n].role == role] for role in ("quasi", "sensitive")}
    guarantees = verify(
        table,
        policy.require,
        roles["quasi"],
        roles["sensitive"],
        missing=policy.missing,
        markers=policy.missing_markers,
        attributes=attributes,
    )
    failed = [g for g in guarantees if not g.holds]
    if failed:
        raise NotVerified(
            f"the release failed its own check, so nothing was written: {failed[0].sentence} "
            "This is a defect of Shoal; please report it"
        )
    return guarantees


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
