"""Releases of tables whose distinct rows do not fit into memory.

The file that is published is made, sorted, written and checked as a whole; what the report measures, and what attacks
look at, are some whole groups, drawn at random. Numbers of records, sizes of classes and the counts of each column are
those of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.check.finding import refuse_serious
from shoal.check.tables.averages_in_blocks import verify_averages
from shoal.check.tables.parts import ClassSizes, VerifiedFile, verify_file
from shoal.check.tables.risk import Risk
from shoal.check.verdict import Verdict
from shoal.data.memory import bounded
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.parquet_write import write_parquet_pieces
from shoal.data.tables.spill import SpilledTable, once, spread
from shoal.data.tables.table import Table
from shoal.data.tables.write import file_name
from shoal.errors import NotVerified
from shoal.kinds.tables.findings import told_findings
from shoal.kinds.tables.large import large_notes
from shoal.kinds.tables.manifest import as_published
from shoal.kinds.tables.policy import Policy
from shoal.kinds.tables.release import TableRelease
from shoal.progress import Progress
from shoal.stage import checked_file, refuse_failed
from shoal.tables.spilled.averages import anonymize_in_ranges
from shoal.tables.spilled.make import anonymize_spilled

_SPILLED = "The distinct rows do not fit into memory, so they were grouped, sorted and checked in files. {sampled}"
_IN_RANGES = "Records were grouped in ranges of files, and sorted and checked there. {sampled}"


@dataclass(frozen=True, kw_only=True, repr=False)
class SpilledTableRelease(TableRelease):
    """A release of which some groups are held; the file that was checked has all."""

    _whole: Table = field(repr=False)
    """Dictionaries of all that is published, and no rows."""
    _n_records: int
    _before: ClassSizes = field(repr=False)
    _found: VerifiedFile | None = field(default=None, repr=False)
    """What the checker found in the file."""

    @property
    def records(self) -> dict[str, int]:
        """All of them: none is suppressed."""
        return {"in": self._n_records, "out": self._n_records, "suppressed": 0}

    @property
    def sampled(self) -> str:
        """Some groups."""
        return told_sample(self._original.n_records, self._n_records)

    @cached_property
    def risk_before(self) -> Risk:
        """Of all records."""
        return self._before.risk(self.policy.k)

    @cached_property
    def risk_after(self) -> Risk:
        """Of all records."""
        assert self._found is not None
        return self._found.sizes.risk(self.policy.k)

    @cached_property
    def risk_of_records(self) -> Risk:
        """The same, of records."""
        assert self._found is not None
        return replace(self._found.sizes, noun="record").risk(self.policy.k)

    def _write_and_check(self) -> Any:
        raise NotVerified(
            "the rows of this release are no longer there, so it cannot be written again; call shoal.anonymize again"
        )

    def check(self) -> Any:
        """Recompute every guarantee from the file that was written; averages were compared before it was published."""
        file = self._checked_file()
        return checked_file(file.name, lambda path: file.put(path.parent), self.verified_whole)[1].guarantees

    def verified_whole(self, path: Path) -> VerifiedFile:
        """What the checker finds of a written file, or `NotVerified`, or `Infeasible` where that is serious."""
        with bounded(self.policy.n_bytes):
            found = verify_file(
                path,
                self._whole.names,
                asked=self._asked(self._whole.names, self._published_attributes),
                n_records=self._n_records,
                limit=self.policy.limits.singled_out,
                accepted=self.policy.accept,
                is_one_each=self._whole.is_one_each,
            )
        refuse_failed(Verdict(found.guarantees))
        findings = (*found.findings, *self._unprotected(found.guarantees))
        refuse_serious(findings)
        return replace(found, findings=findings)

    @cached_property
    def _published_attributes(self) -> dict[str, Attribute]:
        return {n: as_published(self.attributes[n], self._whole[n]) for n in self._whole.names}

    def _datasheet(self) -> str:
        from shoal.report.tables.datasheet import render_datasheet

        assert self._found is not None
        return render_datasheet(self._context(is_public=True), self._found.marginals)


def told_sample(n_some: int, n_records: int) -> str:
    """How much of a release is measured and attacked."""
    return (
        f"Measures and attacks used {n_some:,} of {n_records:,} records, in whole groups drawn at random; among fewer "
        "records each stands out more than among all."
    )


def release_spilled(
    table: SpilledTable, policy: Policy, progress: Progress | None, notes: Sequence[str], seed: int | None = None
) -> SpilledTableRelease:
    """Make, write and check a release of rows that lie in files; these are removed."""
    step = progress or (lambda *_: None)
    try:
        with bounded(policy.n_bytes):
            if policy.method.publication == "aggregate":
                made = anonymize_in_ranges(table, policy, seed, progress)
            else:
                made = anonymize_spilled(table, policy, progress)
            columns = {c.name: c for c in spread(list(made.columns.values()))}
            whole = Table(columns, table.source, is_one_each=table.is_one_each)
            release = SpilledTableRelease(
                published=made.sample.table,
                guarantees=(),
                policy=policy,
                notes=(
                    *notes,
                    (_SPILLED if made.evidence is None else _IN_RANGES).format(
                        sampled=told_sample(made.original.n_records, made.n_records)
                    ),
                    *large_notes(policy, made.original),
                    *made.sample.notes,
                ),
                attributes=made.sample.attributes,
                _original=made.original,
                _rows=made.sample.rows,
                _groups=made.sample.groups,
                _behind=made.sample.behind,
                _whole=whole,
                _n_records=made.n_records,
                _before=ClassSizes(*made.sizes_before, "person" if policy.person else "record"),
            )

            def write(path: Path) -> None:
                step("writing the release", 0, 0)
                write_parquet_pieces(whole, made.pieces(), path, made.n_records)

            def verify(path: Path) -> VerifiedFile:
                step("checking the release", 0, 0)
                if made.evidence is not None:
                    read = {n: once(table[n], table.rows.counts[n]) for n in release._names("quasi")}
                    asked = release._asked(whole.names, release._published_attributes)
                    refuse_failed(verify_averages(path, asked, made.evidence(), read))
                return release.verified_whole(path)

            file, found = checked_file(file_name(whole), write, verify)
    finally:
        table.rows.folder.close()
    told = (*told_findings(found.findings), *release.notes)
    return replace(release, guarantees=found.guarantees, findings=found.findings, notes=told, _file=file, _found=found)
