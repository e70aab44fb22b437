"""A release of any kind: the published data, its checked guarantees, and the folder that appears whole or not at all.

::

    out/
      publish/    the data in the format it came in, manifest.json, datasheet.html
      private/    report.json, report.html, attacks.json; on request what ties published records to original ones
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from shoal.check.finding import Finding
from shoal.check.guarantee import Guarantee
from shoal.errors import NotVerified, ShoalError
from shoal.held_out import HeldOut
from shoal.kind import Dataset
from shoal.manifest import DATASHEET, FILE_NAME, Manifest, checksum
from shoal.metadata.files import metadata_files
from shoal.provenance import SourceFile, source_checksums
from shoal.resume import StepFolder, refuse_same
from shoal.secrets import secrets_to_keep
from shoal.stage import CheckedFile, staged
from shoal.told_counts import Count, public_reasons

if TYPE_CHECKING:
    from shoal.attack.attack import Attacked
    from shoal.report.content import ReportContent
    from shoal.report.verdict import Grounds, ReleaseVerdict

D = TypeVar("D", bound=Dataset)
ATTACK_SECONDS, ATTACK_SEED = 60.0, 0


class Pages(NamedTuple):
    """The modules that tell of a release in words, by name: they are loaded when something is to be told.

    Attributes
    ----------
    words
        Has `short_name(guarantee)` and `cost(utility, records)`.
    datasheet
        Has `render_datasheet(release)`.
    report
        Has `report_content(release)`.
    """

    words: str
    datasheet: str
    report: str

    @classmethod
    def of(cls, room: str, words: str = "words", datasheet: str = "datasheet", report: str = "report") -> Pages:
        """Those of a room of `shoal.report`."""
        return cls(*(f"shoal.report.{room}.{name}" for name in (words, datasheet, report)))


@dataclass(frozen=True, kw_only=True, repr=False)
class Release(ABC, Generic[D]):
    """What `anonymize` gives back. Nothing is on disk before `save`.

    Attributes
    ----------
    published : Table, Strings or Sketches
        What would be published.
    guarantees : tuple of Guarantee
        Every requirement, recomputed by the independent checker from the bytes that would be written; all hold.
    policy
        What was asked for.
    notes : tuple of str
        What the user should know, a sentence each.
    suppressed : mapping of str to int
        How many records were left out, by the reason, where a reason is known; reasons that did not occur are not
        there.
    findings : tuple of Finding
        What was measured on the bytes that would be written and no guarantee forbids; none of them is serious.
    """

    kind: ClassVar[str]
    noun: ClassVar[str]
    """What the published records are called."""
    keepable: ClassVar[tuple[str, ...]]
    """Secrets that can be kept in `private/`."""
    pages: ClassVar[Pages]
    """Who words it."""

    published: D
    guarantees: tuple[Guarantee, ...]
    policy: Any
    notes: tuple[str, ...]
    suppressed: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    _original: Any = field(repr=False)
    _file: CheckedFile | None = field(default=None, repr=False)
    _like: Any = field(default=None, repr=False)
    _held_out: HeldOut[Any] | None = field(default=None, repr=False)
    _sources_read: tuple[SourceFile, ...] = field(default=(), repr=False)
    _steps: StepFolder | None = field(default=None, repr=False)
    """What a run that was killed would have gone on from; it goes when the release is saved."""

    def __post_init__(self) -> None:
        """Bind the bytes that were checked to what they were checked for."""
        if self._file is not None and self._file.claims is None:
            self._file.claims = self._claims()

    def _claims(self) -> Any:
        """What is said of the data, which only holds of bytes that were checked for it."""
        return self.policy, self.guarantees

    @property
    def data(self) -> Any:
        """What would be published, as the kind of object that came in."""
        return self.published

    @property
    def records(self) -> dict[str, int]:
        """How many records came in, went out and were suppressed, and how many were held out before."""
        n_in, n_out = len(self._original), len(self.published)
        held = {} if self._held_out is None else self._held_out.counts
        return {"in": n_in, "out": n_out, "suppressed": n_in - n_out, **held}

    @property
    def unattacked_because(self) -> str | None:
        """Why no attack can be run; None where they can."""
        return None

    @property
    def sampled(self) -> str:
        """What attacks look at, where that is not all, in a sentence; "" where it is."""
        return ""

    @property
    def kept_unasked(self) -> Sequence[str]:
        """Secrets that are kept unless the owner wants nothing kept: without them a promise could not be checked."""
        return ()

    @property
    def least_told(self) -> int:
        """The least number of records that is counted out in public."""
        return int(self.policy.k)

    @property
    def told_counts(self) -> tuple[dict[str, Count], dict[str, Count]]:
        """The numbers of records, and those of suppressed ones by the reason, as they are told in public."""
        return public_reasons(self.records, self.suppressed, self.least_told)

    @property
    def doubts(self) -> tuple[Finding, ...]:
        """What was measured beside the bytes that would be written: it stops no release, and its verdict tells it."""
        return ()

    @property
    def _control(self) -> Any:
        return None if self._held_out is None else self._held_out.records

    @property
    @abstractmethod
    def case(self) -> Any:
        """What attacks work on; for the owner alone."""

    @cached_property
    @abstractmethod
    def utility(self) -> Any:
        """What the protection cost."""

    @cached_property
    def attacked(self) -> Attacked[Any]:
        """What attacks get out of the release: those that need no others to compare with, and with some held out all.

        They are run in a fixed order, and none is begun after a minute.
        """
        from shoal.attack.attack import Attacked
        from shoal.attack.run import attack_case
        from shoal.kind import kind_named

        why = self.unattacked_because
        if why is not None:
            return Attacked((), tuple((attack.name, why) for attack in kind_named(self.kind).attacks))
        with self._at_work():
            return attack_case(
                self.kind,
                self.case,
                seed=ATTACK_SEED,
                seconds=ATTACK_SECONDS,
                has_others=self._held_out is not None,
                in_release=True,
            )

    def attack(
        self, names: Sequence[str] | None = None, *, seed: int = ATTACK_SEED, seconds: float | None = None
    ) -> Attacked[Any]:
        """Attack the release as others could, as `shoal.attack` does a folder: with all attacks that apply, or some."""
        from shoal.attack.run import attack_case

        with self._at_work():
            return attack_case(self.kind, self.case, names, seed=seed, seconds=seconds)

    def check(self) -> tuple[Guarantee, ...]:
        """Write the data to a temporary file again, and recompute every guarantee from what stands there."""
        return self._write_and_check()[1]

    def _at_work(self) -> AbstractContextManager[None]:
        """Loops over the records are compiled, or interpreted where these are few."""
        from shoal.kernels.compile import interpreted
        from shoal.kind import kind_named

        return interpreted(kind_named(self.kind).is_small(self._original, self.policy))

    def _called(self, guarantee: Guarantee) -> str:
        """The usual name of a guarantee, with its parameters."""
        return str(import_module(self.pages.words).short_name(guarantee))

    def _cost(self) -> str:
        """What the protection cost, in a sentence."""
        return str(import_module(self.pages.words).cost(self.utility, self.records))

    def _losses_found(self) -> tuple[Finding, ...]:
        """What was measured for the report and is a finding."""
        return ()

    def grounds(self, *, report: bool = True) -> Grounds:
        """What the verdict rests on besides attacks; without a report nothing that would have to be measured."""
        from shoal.report.verdict import Grounds

        cost = self._cost() if report else "What it cost was not measured."
        names = [self._called(g) for g in self.guarantees]
        findings = (*self.findings, *self.doubts, *(self._losses_found() if report else ()))
        return Grounds.of(self.guarantees, names, cost, findings, self.sampled)

    @cached_property
    def verdict(self) -> ReleaseVerdict:
        """What holds, the worst thing found, and what it cost."""
        return self.judged()

    def judged(self, *, report: bool = True) -> ReleaseVerdict:
        """The verdict; without a report nothing is attacked or measured for it."""
        from shoal.kind import kind_named
        from shoal.report.verdict import judge_release

        attacked = self.attacked if report else None
        with self._at_work():
            return judge_release(self.grounds(report=report), attacked, kind_named(self.kind).attacks)

    def summary(self, *, report: bool = True) -> dict[str, Any]:
        """What became of the data, as JSON; without a report nothing that would have to be measured."""
        return {
            "kind": self.kind,
            "records": self.records,
            "suppressed_because": dict(self.suppressed),
            **self._told(),
            "guarantees": [g.to_dict() for g in self.guarantees],
            "findings": [f.to_dict() for f in (*self.findings, *self.doubts)],
            "verdict": self.judged(report=report).to_dict(),
            **(self._measured() if report else {}),
            "notes": list(self.notes),
        }

    def _told(self) -> dict[str, Any]:
        """What a summary tells of this kind alone."""
        return {}

    def _measured(self) -> dict[str, Any]:
        """What a summary tells and has to be measured for it."""
        return {"utility": self.utility.to_dict(), "attacks": self.attacked.to_dict()}

    @abstractmethod
    def _write_and_check(self) -> tuple[CheckedFile, tuple[Guarantee, ...]]:
        """Write the data and check what stands there, where that was not done yet; what was recomputed."""

    def _checked_file(self) -> CheckedFile:
        """The bytes to publish, which were checked for what is said of them."""
        file, guarantees = (self._file, self.guarantees) if self._file is not None else self._write_and_check()
        if guarantees != self.guarantees or file.claims not in (None, self._claims()):
            raise NotVerified(
                "the release was changed after it was checked, so nothing was written; ask shoal.anonymize for what it "
                "is to be"
            )
        return file

    @abstractmethod
    def _manifest(self, **told: Any) -> Manifest:
        """The manifest, given what all have."""

    def _datasheet(self) -> str:
        """The page for whoever gets the data."""
        return str(import_module(self.pages.datasheet).render_datasheet(self))

    def _report(self) -> ReportContent:
        """What the owner's report shows."""
        content: ReportContent = import_module(self.pages.report).report_content(self)
        return content

    @abstractmethod
    def _keep(self, folder: Path, keep: Sequence[str]) -> None:
        """Write the secrets that are to be kept."""

    def _refuse(self, keep: Sequence[str]) -> None:
        """Refuse to keep what this release does not have."""

    def save(
        self,
        out: str | Path,
        keep: str | Sequence[str] = (),
        *,
        report: bool = True,
        replace: bool = False,
        command: str = "",
    ) -> Path:
        """Write `publish/` and `private/`; what is published are the very bytes that were checked.

        Parameters
        ----------
        out : path
            A folder that does not exist yet, or is empty.
        keep : sequence of str
            Secrets to keep in `private/`, by which published records can be tied to original ones: of tables "groups",
            "mapping", "rows" and, with pseudonyms, "key"; of strings "groups" and "statistics"; of sparse records
            "rows" and "key". Of tables whose persons count, whose each published row is ("persons"), or the groups
            where no row is anybody's, are kept unless this is "nothing".
        report : bool
            Whether to measure what the protection cost and to write report.json and report.html into `private/`; else
            nothing is measured, drawn or attacked, and `publish/` is the same.
        replace : bool
            Whether to take the place of an earlier release in that folder, once this one is whole.
        command : str
            What made it, for the report to name; without seed and key.
        """
        wanted = secrets_to_keep(keep, self.keepable, self.kept_unasked)
        self._refuse(wanted)
        if self._steps is not None:
            refuse_same(Path(out), self._steps.path)
        is_kept = nullcontext() if self._steps is None else self._steps.kept(removed_for=(NotVerified,), is_end=False)
        with is_kept, staged(Path(out), replace=replace) as stage, self._at_work():
            published = self._write_publish(stage / "publish")
            self._write_private(stage / "private", wanted, published if report else None, command)
        if self._steps is not None:
            try:
                self._steps.remove()
            except ShoalError as error:
                raise ShoalError(f"{out} was written and is whole, but {error}") from None
        return Path(out)

    def keep_evidence(self, folder: Path) -> None:
        """Write into a new folder of the owner's alone what lets `shoal.check` recompute all that is claimed."""
        folder.mkdir(mode=0o700)
        wanted = []
        for name in self.keepable:
            with suppress(ShoalError):  # what this release does not have
                self._refuse([name])
                wanted.append(name)
        self._keep(folder, [name for name in wanted if name != "mapping"])
        if self._held_out is not None:
            self._held_out.keep(folder)
        for path in folder.iterdir():
            path.chmod(0o600)

    def _write_publish(self, folder: Path) -> dict[str, str]:
        """Write what is given away; the checksums of all files, that of the data first."""
        folder.mkdir()
        file = self._checked_file()
        file.put(folder)
        (folder / DATASHEET).write_text(self._datasheet(), encoding="utf-8")
        checksums = {**file.checksums, DATASHEET: checksum(folder / DATASHEET)}
        manifest = self._manifest(
            data=file.name,
            records=self.told_counts[0],
            context=self.policy.context.public(),
            checksums=checksums,
        )
        if self.policy.metadata:
            for name, text in metadata_files(manifest).items():
                (folder / name).write_text(text, encoding="utf-8")
                checksums[name] = checksum(folder / name)
            manifest = manifest.model_copy(update={"checksums": checksums})
        (folder / FILE_NAME).write_text(manifest.to_json(), encoding="utf-8")
        return {**checksums, FILE_NAME: checksum(folder / FILE_NAME)}

    def _write_private(
        self, folder: Path, keep: Sequence[str], reported: Mapping[str, str] | None, command: str
    ) -> None:
        from shoal.attack.kept import KeptAttacks
        from shoal.report.content import write_report

        folder.mkdir(mode=0o700)
        self._keep(folder, keep)
        if self._held_out is not None:
            self._held_out.keep(folder)
        for path in folder.iterdir():
            if path.is_file():
                path.chmod(0o600)
        if reported is None:
            return
        attacked = self.attacked
        shown = self._report().with_more(**self._about(reported, command))
        try:
            if attacked.results or attacked.skipped:  # of a kind that there are attacks on
                kept = KeptAttacks(next(iter(reported.values())))
                granted = self.case.granted if attacked.results else {}
                kept.joined(attacked, granted, ATTACK_SEED).write(folder)
            write_report(folder, shown)
        except ShoalError as error:  # of a release that is there already; this one is not yet
            if isinstance(error.__context__, OSError):
                raise error.__context__ from None
            raise

    def _about(self, published: Mapping[str, str], command: str) -> dict[str, Any]:
        """What the report of any kind says besides: the context, and what the release was made from."""
        from shoal.kind import kind_named
        from shoal.policy_file import policy_toml

        provenance = {
            "command": command,
            "sources": list(source_checksums(self._sources_read).items()),
            "published": list(published.items()),
            "policy": policy_toml(self.policy, {}, (), is_shown=True),
        }
        context = self.policy.context.model_dump(exclude_none=True)
        return {"context": context, "provenance": provenance, "board": kind_named(self.kind).board(self).to_dict()}

    def __repr__(self) -> str:
        told = "\n".join(f"  {heading}: {text}" for heading, text in self.verdict.lines)
        return f"{type(self).__name__} of {self.records['out']:,} {self.noun}, {self.verdict.level}\n{told}"

    def _repr_html_(self) -> str:
        told = "".join(f"<li><b>{heading}:</b> {escape(text)}</li>" for heading, text in self.verdict.lines)
        head = f"<p><b>Release</b> of {self.records['out']:,} {self.noun}, {self.verdict.level}</p><ul>{told}</ul>"
        held = "".join(f"<li>{escape(str(g))}</li>" for g in self.guarantees)
        notes = "".join(f"<li>note: {escape(note)}</li>" for note in self.notes)
        return f"{head}<ul>{held}{notes}</ul>{self._first_rows()}"

    def _first_rows(self) -> str:
        """Some of what is published, for a notebook; never of the original, as notebooks are passed on."""
        return ""
