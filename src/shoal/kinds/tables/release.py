"""A release: the published data, its checked guarantees, and the folder that appears whole or not at all.

::

    out/
      publish/    the data in the format it came in, manifest.json, datasheet.html
      private/    report.json, report.html, attacks.json; on request the group and the origin of each record, and
                  the applied mapping
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal._version import __version__
from shoal.check.evidence import PUBLISHED_GROUPS_FILE, ROWS_FILE, Evidence, group_classes, groups_text, rows_text
from shoal.check.guarantee import Guarantee
from shoal.check.tables.classes import classes_of
from shoal.check.tables.publication import needs_original, uses_groups, verify_publication
from shoal.check.tables.risk import Risk, risk_of
from shoal.check.verdict import Asked
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Table
from shoal.data.tables.write import file_name, read_back, write_table
from shoal.errors import NotVerified, PolicyError
from shoal.held_out import HeldOut
from shoal.kinds.tables.manifest import FILE_NAME, Manifest, as_published, checksums
from shoal.kinds.tables.policy import Policy
from shoal.stage import refuse_failed, secrets_to_keep, staged
from shoal.told_counts import public_counts

if TYPE_CHECKING:
    from shoal.attack.attack import Attacked
    from shoal.attack.cases import TableCase
    from shoal.check.slices.exposure import Exposure
    from shoal.report.tables.context import ReportContext
    from shoal.utility.tables.classification import LearningComparison
    from shoal.utility.tables.measure import Utility
    from shoal.utility.tables.queries import QueryError
    from shoal.utility.tables.target import TargetLearning

KEEPABLE = ("groups", "mapping", "rows")
ATTACK_SECONDS, ATTACK_SEED = 60.0, 0


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
    layout : Layout, optional
        Of a table in slices, which columns stand together; a row of it is then no record.
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
    layout: Layout | None = None
    _sources: tuple[npt.NDArray[np.intp], ...] = field(default=(), repr=False)
    _held_out: HeldOut[Table] | None = field(default=None, repr=False)

    @cached_property
    def data(self) -> Any:
        """The published data as a frame of the kind that came in (from a file: a dictionary of columns)."""
        from shoal.data.tables.frames import to_frame

        return to_frame(self.table, {} if self._like is None else self._like)

    @cached_property
    def utility(self) -> Utility:
        """What the protection cost."""
        from shoal.utility.tables.measure import measure

        if self.layout is not None:
            from shoal.utility.tables.slices import measure_slices

            return measure_slices(self._original, self.table, self.layout, self._sources, self.attributes, self.policy)
        return measure(
            self._original,
            self.table,
            self._rows,
            self._groups,
            self.attributes,
            self.policy.k,
            is_recoding=self.policy.method.is_recoding,
            is_paired=self.policy.method.publication != "condense",
            target=self.policy.target,
        )

    @cached_property
    def exposure(self) -> Exposure | None:
        """What a table in slices tells an attacker; None for other tables."""
        from shoal.check.slices.exposure import exposure

        if self.layout is None:
            return None
        return exposure(
            self.table,
            self.layout,
            self._original,
            self.attributes,
            missing=self.policy.missing,
            markers=self.policy.missing_markers,
        )

    @cached_property
    def learning(self) -> TargetLearning | None:
        """How well the policy's target can be predicted from the release; None where the policy names none."""
        from shoal.utility.tables.target import TargetLearning

        target = self.policy.target
        return None if target is None else TargetLearning.of(target, lambda: self.compare_learning(target))

    def query_error(self, **asked: Any) -> QueryError:
        """How far random counts on the release are from those on the original; see `shoal.utility.tables.queries`."""
        from shoal.utility.tables.queries import query_error

        return query_error(self._original, self.table, self._rows, self._groups, self.attributes, **asked)

    def compare_learning(self, target: str, **asked: Any) -> LearningComparison:
        """How well models learned from the release predict a column of originals that they have not seen.

        Against models learned from the originals; see `shoal.utility.tables.classification`. Needs the extra `mining`.
        """
        from shoal.utility.tables.classification import compare_learning

        return compare_learning(self._original, self.table, self._rows, self._groups, self.attributes, target, **asked)

    @property
    def records(self) -> dict[str, int]:
        """How many records came in, went out and were suppressed, and how many were held out before."""
        n_in, n_out = self._original.n_rows, self.table.n_rows
        held = {} if self._held_out is None else self._held_out.counts
        return {"in": n_in, "out": n_out, "suppressed": n_in - n_out, **held}

    @property
    def case(self) -> TableCase:
        """What attacks work on; for the owner alone."""
        from shoal.attack.cases import TableCase

        return TableCase(
            published=self.table,
            original=self._original,
            control=None if self._held_out is None else self._held_out.records,
            quasi=self._names("quasi"),
            sensitive=self._names("sensitive"),
            attributes=self.attributes,
            publication=self.policy.method.publication,
            layout=self.layout,
            rows=None if needs_original(self.policy.method.publication) else self._rows.astype(np.int64),
            policy=self.policy,
        )

    @cached_property
    def attacked(self) -> Attacked[TableCase] | None:
        """What attacks get out of the release, if records were held out to compare with."""
        from shoal.attack.folder import attack_case

        if self._held_out is None:
            return None
        return attack_case("table", self.case, seed=ATTACK_SEED, seconds=ATTACK_SECONDS)

    @cached_property
    def risk_before(self) -> Risk:
        """Re-identification risk of the original on the same quasi-identifiers."""
        markers = self.policy.missing_markers
        return risk_of(classes_of(self._original, self._names("quasi"), markers=markers), self.policy.k)

    @cached_property
    def risk_after(self) -> Risk:
        """Re-identification risk of the release; of records that stand for no one, that of their secret groups."""
        markers = self.policy.missing_markers
        if needs_original(self.policy.method.publication):
            return risk_of(group_classes(self._groups), self.policy.k)
        return risk_of(classes_of(self.table, self._names("quasi"), markers=markers), self.policy.k)

    def _names(self, role: str) -> list[str]:
        return [n for n, a in self.attributes.items() if a.role == role]

    def save(self, out: str | Path, keep: Sequence[str] = (), *, report: bool = True) -> Path:
        """Write `publish/` and `private/`, after checking the very bytes that would be published.

        Parameters
        ----------
        out : path
            A folder that does not exist yet, or is empty.
        keep : sequence of {"groups", "mapping", "rows"}
            Secrets to keep in `private/`: the group of each record, what each record's values became, and which record
            each published row stands for, so that attacks can be scored.
        report : bool
            Whether to measure what the protection cost and to write report.json and report.html into `private/`; else
            nothing is measured, drawn or attacked, and `publish/` is the same.
        """
        from shoal.attack.kept import keep_first
        from shoal.report.content import write_report
        from shoal.report.tables.report import report_content

        keep = secrets_to_keep(keep, KEEPABLE)
        if {"mapping", "rows"} & set(keep) and needs_original(self.policy.method.publication):
            raise PolicyError("a published row stands for no record, so no value became another; keep groups alone")
        with staged(Path(out)) as stage:
            self._write_publish(stage / "publish")
            self._write_private(stage / "private", keep)
            if report and self.attacked is not None:
                keep_first(stage, self.attacked, self.case.granted, ATTACK_SEED)
            if report:
                write_report(stage / "private", report_content(self._context(self.guarantees)))
        return Path(out)

    def _write_publish(self, folder: Path) -> None:
        from shoal.report.tables.datasheet import render_datasheet

        folder.mkdir()
        data = file_name(self.table)
        write_table(self.table, folder / data)
        guarantees = self._verify_file(folder / data)
        (folder / "datasheet.html").write_text(
            render_datasheet(self._context(guarantees, is_public=True), self.table), encoding="utf-8"
        )
        manifest = Manifest(
            version=__version__,
            kind=self.policy.kind,
            data=data,
            delimiter=None if data.endswith(".parquet") else self.table.source.delimiter,
            method=self.policy.method.told(),
            missing=self.policy.missing,
            missing_markers=self.policy.missing_markers,
            header=self.policy.header,
            attributes=self._published_attributes,
            records=public_counts(self.records, self.policy.k),
            require=self.policy.require,
            guarantees=tuple(_claim(g) for g in guarantees),
            checksums=checksums(folder, [data, "datasheet.html"]),
            layout=self.layout,
            order=self.policy.order,
            by_hierarchy=self._by_hierarchy,
        )
        (folder / FILE_NAME).write_text(manifest.to_json(), encoding="utf-8")

    def _verify_file(self, path: Path) -> tuple[Guarantee, ...]:
        """Run the checker on the file as any reader would see it."""
        markers, delimiter = self.policy.missing_markers, self.table.source.delimiter
        written = read_back(path, self.table.names, markers=markers, delimiter=delimiter)
        if written.n_rows != self.table.n_rows or written.names != self.table.names:
            raise NotVerified("the written file does not read back as the table that was made; nothing was published")
        attributes = self._published_attributes if self.layout is None else self.attributes
        return verified(written, self.policy, attributes, self._evidence, self.layout)

    @property
    def _evidence(self) -> Evidence:
        return Evidence.of(self._original, self._rows, self._groups)

    @cached_property
    def _published_attributes(self) -> dict[str, Attribute]:
        if self.layout is not None:
            held = {
                c: replace(as_published(self.attributes[a], self.table[c]), name=c)
                for c, a in self.layout.attributes.items()
            }
            return {self.layout.bucket: Attribute(self.layout.bucket, "nominal", "insensitive"), **held}
        return {n: as_published(self.attributes[n], self.table[n]) for n in self.table.names}

    @property
    def _by_hierarchy(self) -> frozenset[str]:
        held = {n: n for n in self.table.names} if self.layout is None else self.layout.attributes
        attributes = {c: self.attributes[a] for c, a in held.items()}
        return frozenset(c for c, a in attributes.items() if a.role == "quasi" and a.hierarchy is not None)

    def _write_private(self, folder: Path, keep: Sequence[str]) -> None:
        folder.mkdir(mode=0o700)
        if "groups" in keep:
            for name, text in groups_text(self._evidence).items():
                if name != PUBLISHED_GROUPS_FILE or uses_groups(self.policy.method.publication):
                    (folder / name).write_text(text, encoding="utf-8")
        if self._held_out is not None:
            self._held_out.keep(folder)
        if "mapping" in keep:
            self._write_mapping(folder)
        if "rows" in keep:
            (folder / ROWS_FILE).write_text(rows_text(self._rows), encoding="utf-8")
        for path in folder.iterdir():
            path.chmod(0o600)

    def _write_mapping(self, folder: Path) -> None:
        """What each distinct value became, with the number of records, one file a quasi-identifier."""
        from shoal.data.tables.mapping import applied_mapping

        for i, name in enumerate(self._names("quasi"), start=1):
            path = folder / f"mapping-{i}.csv"
            write_table(applied_mapping(self._original[name].take(self._rows), self.table[name]), path)

    def _context(self, guarantees: tuple[Guarantee, ...], *, is_public: bool = False) -> ReportContext:
        from shoal.report.tables.context import ReportContext

        return ReportContext.of(self, guarantees, is_public=is_public)

    def _repr_html_(self) -> str:
        rows = "".join(f"<li>{escape(g.sentence)}</li>" for g in self.guarantees)
        return f"<p><b>Release</b> of {self.table.n_rows:,} records</p><ul>{rows}</ul>"


def _claim(guarantee: Guarantee) -> dict[str, Any]:
    """A guarantee as the manifest states it; the worst classes are for the owner's report."""
    return {name: value for name, value in guarantee.to_dict().items() if name != "worst"}


def verified(
    table: Table,
    policy: Policy,
    attributes: Mapping[str, Attribute],
    evidence: Evidence,
    layout: Layout | None = None,
) -> tuple[Guarantee, ...]:
    """The guarantees of a table, or `NotVerified` when one does not hold or could not be recomputed."""
    names = table.names if layout is None else list(dict.fromkeys(layout.attributes.values()))
    roles = {role: [n for n in names if attributes[n].role == role] for role in ("quasi", "sensitive")}
    asked = Asked(
        policy.require,
        roles["quasi"],
        roles["sensitive"],
        policy.missing,
        policy.missing_markers,
        attributes,
        layout,
        policy.method.jointly,
    )
    verdict = verify_publication(table, policy.method.publication, asked, evidence)
    refuse_failed(verdict)
    return verdict.guarantees
