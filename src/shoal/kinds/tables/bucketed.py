"""Releases of tables in slices whose records are not held: their distinct rows are.

The file is written, read back and checked as a whole, each slice for itself; what the report measures, and what attacks
look at, are the records of some whole buckets, drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shoal.check.evidence import Evidence
from shoal.check.finding import refuse_serious
from shoal.check.guarantee import Guarantee
from shoal.check.slices.alignment import step_of_buckets
from shoal.check.tables.classes import classes_of
from shoal.check.tables.parts import ClassSizes, VerifiedFile
from shoal.check.tables.publication import verify_publication
from shoal.check.tables.singled_out import findings_of
from shoal.data.memory import bounded
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.coded_rows import Marginals
from shoal.data.tables.parquet_write import write_parquet_pieces
from shoal.data.tables.slices import SlicesApart
from shoal.data.tables.slices_apart import read_apart
from shoal.data.tables.table import Table
from shoal.data.tables.write import file_name
from shoal.errors import DataError, NotVerified, PolicyError
from shoal.kinds.tables.findings import told_findings
from shoal.kinds.tables.large import large_notes
from shoal.kinds.tables.manifest import as_published
from shoal.kinds.tables.policy import Policy
from shoal.kinds.tables.spilled import SpilledTableRelease, told_sample
from shoal.progress import Progress
from shoal.stage import CheckedFile, checked_file, refuse_failed
from shoal.tables.publish.slices.in_runs import SAMPLE_RECORDS, SlicesInRuns, slice_in_runs

if TYPE_CHECKING:
    from shoal.attack.tables.case import TableCase
    from shoal.check.slices.exposure import Exposure

_DRAWN = "Buckets were made of distinct rows, and their records drawn, written and checked some buckets at a time. "
_LARGE = "Of {of:,} buckets, {n:,} have more than {most:,} records, and are not among them."


@dataclass(frozen=True, kw_only=True, repr=False)
class BucketedTableRelease(SpilledTableRelease):
    """A release in slices of which some buckets are held; the file that was checked has all."""

    _made: SlicesInRuns = field(repr=False)

    @cached_property
    def _published_attributes(self) -> dict[str, Attribute]:
        assert self.layout is not None
        held = {
            c: replace(as_published(self.attributes[a], self._whole[c]), name=c)
            for c, a in self.layout.attributes.items()
        }
        return {self.layout.bucket: Attribute(self.layout.bucket, "nominal", "insensitive"), **held}

    @cached_property
    def exposure(self) -> Exposure | None:
        """Beliefs about the records that are measured, and the sizes of all buckets."""
        found, sizes = super().exposure, np.sort(self._made.sizes)
        if found is None:
            return None
        smallest, median, largest = (int(sizes[i]) for i in (0, len(sizes) // 2, -1))
        return replace(found, n_buckets=len(sizes), smallest=smallest, median=median, largest=largest)

    @property
    def case(self) -> TableCase:
        """What attacks work on: the records of some buckets, each a row."""
        found = super().case
        return replace(found, original=replace(found.original, weights=None))

    def _write_and_check(self) -> tuple[CheckedFile, tuple[Guarantee, ...]]:
        file, found = self.written()
        return file, found.guarantees

    def written(self) -> tuple[CheckedFile, VerifiedFile]:
        """The file, and what the checker finds of it."""

        def write(path: Path) -> None:
            write_parquet_pieces(self._whole, self._made.pieces(), path, self._n_records)

        return checked_file(file_name(self._whole), write, self.verified_whole)

    def verified_whole(self, path: Path) -> VerifiedFile:
        """What the checker finds of a written file, or `NotVerified`, or `Infeasible` where that is serious."""
        with bounded(self.policy.n_bytes):
            return self._verified_whole(path)

    def _verified_whole(self, path: Path) -> VerifiedFile:
        assert self.layout is not None
        markers, table = self.policy.missing_markers, self._made.table
        try:
            apart = read_apart(path, self.layout, markers=markers, step=step_of_buckets)
        except DataError as error:
            raise NotVerified(f"the written file cannot be checked, so nothing was published: {error}") from None
        if list(apart.names) != self._whole.names or apart.n_records != self._n_records:
            raise NotVerified("the written file does not read back as the table that was made; nothing was published")
        asked = self._asked(self._whole.names, self.attributes)
        groups = self._made.buckets.astype(np.int64)
        persons = np.arange(table.n_rows) if self.policy.person else None  # each record is another's
        evidence = Evidence(table, groups, original_persons=persons)
        verdict = verify_publication(apart, self.policy.method.publication, asked, evidence)
        refuse_failed(verdict)
        findings = findings_of(
            apart,
            self.attributes,
            has_labels=False,
            layout=self.layout,
            markers=markers,
            limit=self.policy.limits.singled_out,
            accepted=self.policy.accept,
            persons=persons,
        )
        findings += self._unprotected(verdict.guarantees)
        refuse_serious(findings)
        sizes, counts = np.unique(
            apart.tables[0].marginal(self.layout.bucket)[0].counts(apart.tables[0].weights), return_counts=True
        )
        noun = "person" if self.policy.person else "record"
        return VerifiedFile(
            verdict.guarantees,
            findings,
            ClassSizes(sizes, counts, noun),
            _marginals(apart),
            apart.n_rows,
            apart.n_records,
        )


def _marginals(apart: SlicesApart) -> Marginals:
    """The columns by themselves, as they were read."""
    columns, counts = {}, {}
    for name in apart.names:
        column, weights = apart.marginal(name)
        n_codes = len(column.values) + len(column.markers)
        columns[name] = replace(column, codes=np.arange(n_codes, dtype=np.int32))
        counts[name] = column.counts(weights)
    return Marginals(columns, counts)


def release_in_runs(
    table: Table,
    policy: Policy,
    progress: Progress | None,
    notes: Sequence[str],
    seed: int | None = None,
    executor: Executor | None = None,
) -> BucketedTableRelease:
    """Make, write and check a release in slices of distinct rows.

    Raises
    ------
    PolicyError
        If all records are held, as some may be of one person, or what is published would be no Parquet.
    """
    if table.weights is None:
        raise PolicyError(
            f"publish = {policy.method.publication} of persons with several records needs all records in memory: leave "
            "memory out, or publish by generalising"
        )
    if table.source.format != "parquet":
        raise PolicyError(
            f"publish = {policy.method.publication} is made in bounded memory from Parquet, and {table.source.name!r} "
            f"is {table.source.format}: convert it first, or leave memory out"
        )
    step = progress or (lambda *_: None)
    with bounded(policy.n_bytes):
        made = slice_in_runs(table, policy, seed, executor, progress)
        quasi = [n for n, a in made.sample.attributes.items() if a.role == "quasi"]
        classes = classes_of(made.table, quasi, markers=policy.missing_markers)
        told = _DRAWN + told_sample(made.original.n_records, made.n_records)
        large = [_LARGE.format(of=len(made.sizes), n=made.n_large, most=SAMPLE_RECORDS)] if made.n_large else []
        release = BucketedTableRelease(
            published=made.sample.table,
            guarantees=(),
            policy=policy,
            notes=(*notes, told, *large, *large_notes(policy, made.original), *made.sample.notes),
            attributes=made.sample.attributes,
            layout=made.layout,
            _original=made.original,
            _rows=made.sample.rows,
            _groups=made.sample.groups,
            _sources=made.sample.sources,
            _whole=Table(made.columns, table.source, is_one_each=table.is_one_each),
            _n_records=made.n_records,
            _before=ClassSizes(*np.unique(classes.sizes, return_counts=True), "person" if policy.person else "record"),
            _made=made,
        )
    step("checking the release", 0, 0)
    file, found = release.written()
    notes = (*told_findings(found.findings), *release.notes)
    return replace(release, guarantees=found.guarantees, findings=found.findings, notes=notes, _file=file, _found=found)
