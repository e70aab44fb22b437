"""A release of linked tables; see `shoal.release`. Its records are persons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.arrays import Codes, Rows
from shoal.check.finding import SINGLED_OUT, UNPROTECTED, Finding, reasons, refuse_serious
from shoal.check.guarantee import Guarantee
from shoal.check.linked.folder import rows_file
from shoal.check.linked.joint import WrittenTable, join_files
from shoal.check.linked.verify import LinkedAsked, compare_linked, measure_linked, verify_linked
from shoal.data.linked.linked import Linked
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table
from shoal.data.tables.write import file_name, is_text, read_back, write_table
from shoal.errors import NotVerified
from shoal.kinds.linked.manifest import LinkedManifest, PublishedTable
from shoal.kinds.linked.policy import LinkedPolicy
from shoal.kinds.tables.findings import told_findings, unprotected
from shoal.kinds.tables.manifest import PublishedColumn, as_published
from shoal.kinds.tables.policy import Policy
from shoal.manifest import Manifest
from shoal.release import Pages, Release
from shoal.secrets import write_key, write_rows
from shoal.stage import CheckedFile, checked_file, refuse_failed
from shoal.told_counts import Count, public_counts

if TYPE_CHECKING:
    from shoal.attack.linked.case import LinkedCase
    from shoal.held_out import HeldOut
    from shoal.linked.anonymize import LinkedMade
    from shoal.utility.linked.loss import LinkedUtility

_Verified = tuple[tuple[Guarantee, ...], tuple[Finding, ...]]


@dataclass(frozen=True, kw_only=True, repr=False)
class LinkedRelease(Release[Linked]):
    """What `anonymize` gives back for linked tables. Nothing is on disk before `save`.

    Attributes
    ----------
    attributes : mapping of str to mapping
        What each column of each original table was taken to be.
    """

    kind: ClassVar[str] = "linked"
    noun: ClassVar[str] = "persons"
    keepable: ClassVar[tuple[str, ...]] = ("rows", "key")
    pages: ClassVar[Pages] = Pages.of("linked")._replace(words=Pages.of("tables").words)

    attributes: Mapping[str, Mapping[str, Attribute]]
    _policies: Mapping[str, Policy] = field(repr=False)
    _rows: Mapping[str, Rows] = field(repr=False)
    _groups: Mapping[str, Codes] = field(repr=False)
    _key: bytes = field(repr=False)

    @classmethod
    def of(
        cls,
        original: Linked,
        made: LinkedMade,
        policy: LinkedPolicy,
        *,
        like: Any = None,
        held_out: HeldOut[Linked] | None = None,
    ) -> LinkedRelease:
        """Check what the methods made; `NotVerified` unless all guarantees hold."""
        release = cls(
            published=Linked.of(made.tables, original.link),
            guarantees=(),
            policy=policy,
            notes=made.notes,
            attributes=made.attributes,
            _policies=policy.of_tables(original.tables),
            _original=original,
            _rows=made.rows,
            _groups=made.groups,
            _key=made.key,
            _like=like,
            _held_out=held_out,
        )
        file, (guarantees, findings) = release._write_and_measure()
        notes = (*told_findings(findings), *release.notes)
        return replace(release, guarantees=guarantees, findings=findings, notes=notes, _file=file)

    @property
    def tables(self) -> Mapping[str, Table]:
        """What would be published, by name."""
        return self.published.tables

    def guarantees_of(self, name: str) -> list[Guarantee]:
        """Those about sensitive columns of a table, by the names that these have there."""
        start = f"{name}: "
        own = [g for g in self.guarantees if g.sensitive.startswith(start)]
        return [replace(g, sensitive=g.sensitive.removeprefix(start)) for g in own]

    @cached_property
    def data(self) -> dict[str, Any]:
        """The published tables by name, as frames of the kind that came in (from files: dictionaries of columns)."""
        from shoal.data.tables.frames import to_frame

        given = self._like if isinstance(self._like, Mapping) else {}
        likes = {n: {} if isinstance(given.get(n), str | Path | None) else given[n] for n in self.tables}
        return {name: to_frame(table, likes[name]) for name, table in self.tables.items()}

    @property
    def case(self) -> LinkedCase:
        """What attacks work on; for the owner alone."""
        from shoal.attack.linked.case import LinkedCase, pseudonyms_of

        main = self._original.main
        return LinkedCase(
            self.published,
            self._original,
            self._control,
            {
                name: {n: self.attributes[name][n] for n in table.names if n != self._original.link}
                for name, table in self.tables.items()
            },
            {name: policy.shifted for name, policy in self._policies.items()},
            pseudonyms_of(self.published, self._original, self._rows[main].astype(np.int64)),
            self.policy.k,
            self.policy.missing_markers,
        )

    @cached_property
    def utility(self) -> LinkedUtility:
        """What the protection cost."""
        from shoal.utility.linked.loss import measure_linked_loss

        return measure_linked_loss(self._original, self.tables, self._rows, self._groups, self.attributes)

    @property
    def told_counts(self) -> tuple[dict[str, Count], dict[str, Count]]:
        """The numbers of persons as they are told in public."""
        return public_counts(self.records, self.policy.k), {}

    def _told(self) -> dict[str, Any]:
        rows = {n: {"in": self._original.tables[n].n_rows, "out": t.n_rows} for n, t in self.tables.items()}
        return {"rows": rows}

    def _cost(self) -> str:
        from shoal.report.tables.words import percent

        left = [
            f"{self._original.tables[n].n_rows - t.n_rows:,} of {self._original.tables[n].n_rows:,} rows of {n!r}"
            for n, t in self.tables.items()
            if t.n_rows < self._original.tables[n].n_rows
        ]
        records = self.records
        told = f"{records['suppressed']:,} of {records['in']:,} persons were left out" + (
            f", with them and besides {', '.join(left)}." if left else "."
        )
        return f"Certainty lost in an average quasi-identifying cell: {percent(self.utility.gcp)}. {told}"

    def _claims(self) -> Any:
        return *super()._claims(), self.attributes, self.findings

    @cached_property
    def _files(self) -> dict[str, str]:
        """The file of each table."""
        return {n: f"{n}{file_name(t).removeprefix('data')}" for n, t in self.tables.items()}

    def _write_and_check(self) -> tuple[CheckedFile, tuple[Guarantee, ...]]:
        file, (guarantees, _) = self._write_and_measure()
        return file, guarantees

    def _write_and_measure(self) -> tuple[CheckedFile, _Verified]:
        def write(path: Path) -> None:
            for name, table in self.tables.items():
                write_table(table, path.parent / self._files[name])

        main, *others = self._files.values()
        return checked_file(main, write, lambda path: self._verified(path.parent), others)

    def _verified(self, folder: Path) -> _Verified:
        """The guarantees of the written files, or `NotVerified`; what else was measured, or `Infeasible` for it."""
        policy, markers = self.policy, self.policy.missing_markers
        read, written = {}, {}
        for name, table in self.tables.items():
            path, delimiter = folder / self._files[name], self._delimiter(table)
            read[name] = read_back(path, table.names, markers=markers, delimiter=delimiter, expected=table)
            if read[name].n_rows != table.n_rows or read[name].names != table.names:
                raise NotVerified("a written file does not read back as the table that was made; nothing was published")
            quasi = [n for n in table.names if n != policy.link and self.attributes[name][n].role == "quasi"]
            written[name] = WrittenTable(path, delimiter, read[name], quasi)
        asked = LinkedAsked(
            self._original.link,
            policy.require,
            {n: self._published_attributes(n) for n in self.tables},
            {n: self._policies[n].shifted for n in self.tables},
            policy.shift_days,
            policy.missing,
            markers,
            policy.limits.singled_out,
            policy.accept,
        )
        joined = join_files(written, self._original.link, policy.missing, markers)
        verdict = verify_linked(read, joined, asked)
        if not verdict.findings:
            full = {n: {c: self.attributes[n][c] for c in found} for n, found in asked.attributes.items()}
            rows = {n: r.astype(np.int64) for n, r in self._rows.items()}
            compared = compare_linked(read, self._original, rows, replace(asked, attributes=full))
            verdict = replace(verdict, findings=compared.findings, not_compared=compared.not_compared)
        refuse_failed(verdict)
        findings = measure_linked(read, joined, asked) + self._unprotected(verdict.guarantees)
        refuse_serious(findings)
        return verdict.guarantees, findings

    def _delimiter(self, table: Table) -> str | None:
        return table.source.delimiter if is_text(file_name(table)) else None

    def _published_attributes(self, name: str) -> dict[str, Attribute]:
        table, link = self.tables[name], self._original.link
        return {n: as_published(self.attributes[name][n], table[n]) for n in table.names if n != link}

    def _unprotected(self, guarantees: Sequence[Guarantee]) -> tuple[Finding, ...]:
        covered = {g.sensitive for g in guarantees}
        names = [
            f"{name}.{n}"
            for name, found in self.attributes.items()
            for n, a in found.items()
            if a.role == "sensitive" and f"{name}: {n}" not in covered and not self._policies[name].states_role_of(n)
        ]
        return unprotected(names, self.policy.accept.get(UNPROTECTED))

    def _manifest(self, **told: Any) -> Manifest:
        policies = self._policies
        tables = {
            name: PublishedTable(
                data=self._files[name],
                rows=table.n_rows,
                delimiter=self._delimiter(table),
                columns={
                    n: PublishedColumn.of(
                        a,
                        has_labels=a.role == "quasi" and self.attributes[name][n].hierarchy is not None,
                        is_moved=n in policies[name].shifted,
                    )
                    for n, a in self._published_attributes(name).items()
                },
            )
            for name, table in self.tables.items()
        }
        return LinkedManifest(
            **told,
            link=self._original.link,
            tables=tables,
            require=self.policy.require,
            guarantees=LinkedManifest.claims(self.guarantees),
            method=self.policy.method.told(),
            missing=self.policy.missing,
            missing_markers=self.policy.missing_markers,
            header=self.policy.header,
            reading=self.policy.reading,
            shift_days=self.policy.shift_days if any(p.shifted for p in policies.values()) else None,
            limits={SINGLED_OUT: self.policy.limits.singled_out},
            accepted=dict(reasons(self.findings)) or None,
        )

    def _keep(self, folder: Path, keep: Sequence[str]) -> None:
        if "rows" in keep:
            for i, name in enumerate(self.tables):
                write_rows(folder, self._rows[name], rows_file(i))
        if "key" in keep:
            write_key(folder, self._key)
