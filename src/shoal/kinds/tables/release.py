"""A release of a table; see `shoal.release`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.check.evidence import Evidence, group_classes
from shoal.check.finding import KNOWN_HISTORY, UNPROTECTED, Finding, reasons, refuse_serious
from shoal.check.guarantee import Guarantee
from shoal.check.tables.classes import Classes, classes_of
from shoal.check.tables.known_history import known_history, tied_records
from shoal.check.tables.pseudonyms import apart, compare_pseudonyms
from shoal.check.tables.publication import needs_original, uses_groups, verify_publication
from shoal.check.tables.risk import Risk, risk_of
from shoal.check.tables.shift import compare_shift
from shoal.check.tables.singled_out import findings_of, records_behind
from shoal.check.verdict import Asked
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.guess import is_key
from shoal.data.tables.persons import look_like_persons, person_codes, persons_at_most
from shoal.data.tables.slices import Layout, SlicedTable, attributes_held
from shoal.data.tables.table import Table
from shoal.data.tables.write import file_name, is_text, read_back, write_table
from shoal.errors import NotVerified, PolicyError
from shoal.held_out import HeldOut
from shoal.kinds.tables.findings import few_persons, told_findings, unexamined_persons, unprotected
from shoal.kinds.tables.large import UNATTACKED, attacked_on, large_notes
from shoal.kinds.tables.manifest import PublishedColumn, SeriesEntry, TableManifest, as_published
from shoal.kinds.tables.policy import ORIGINAL_ORDER, Policy
from shoal.kinds.tables.secrets import TableSecrets
from shoal.manifest import Manifest
from shoal.release import Pages, Release
from shoal.stage import CheckedFile, checked_file, refuse_failed
from shoal.told_counts import Count, public_counts

if TYPE_CHECKING:
    from shoal.attack.tables.case import TableCase
    from shoal.check.slices.exposure import Exposure
    from shoal.releases.series import Series
    from shoal.report.content import ReportContent
    from shoal.report.tables.context import ReportContext
    from shoal.shown import Grid
    from shoal.tables.anonymize import Anonymized, Behind
    from shoal.utility.tables.classification import LearningComparison
    from shoal.utility.tables.measure import Utility
    from shoal.utility.tables.queries import QueryError
    from shoal.utility.tables.target import TargetLearning


_Verified = tuple[tuple[Guarantee, ...], tuple[Finding, ...]]


@dataclass(frozen=True, kw_only=True, repr=False)
class TableRelease(Release[Table]):
    """What `anonymize` gives back for a table. Nothing is on disk before `save`.

    Attributes
    ----------
    attributes : mapping of str to Attribute
        What each column of the original was taken to be.
    layout : Layout, optional
        Of a table in slices, which columns stand together; a row of it is then no record.
    """

    kind: ClassVar[str] = "table"
    noun: ClassVar[str] = "records"
    keepable: ClassVar[tuple[str, ...]] = ("groups", "mapping", "persons", "providers", "rows", "key", "ledger")
    pages: ClassVar[Pages] = Pages.of("tables")

    attributes: Mapping[str, Attribute]
    layout: Layout | None = None
    _rows: npt.NDArray[np.intp] = field(repr=False)
    _groups: npt.NDArray[np.int32] = field(repr=False)
    _sources: tuple[npt.NDArray[np.intp], ...] = field(default=(), repr=False)
    _key: bytes | None = field(default=None, repr=False)
    _series: Series | None = field(default=None, repr=False)
    _behind: Behind | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        original: Table,
        made: Anonymized,
        policy: Policy,
        *,
        like: Any = None,
        held_out: HeldOut[Table] | None = None,
        in_memory: bool = False,
        is_tried: bool = False,
        series: Series | None = None,
    ) -> TableRelease:
        """Check what the methods made of a table; `NotVerified` unless all guarantees hold.

        Parameters
        ----------
        in_memory : bool
            Check the table rather than the bytes of a file, as nothing will be published.
        is_tried : bool
            In memory, refuse nothing for what its findings are: it is made to see them.
        series : Series, optional
            What other releases have to do with it.
        """
        release = cls(
            published=made.table,
            guarantees=(),
            policy=policy,
            notes=(
                *large_notes(policy, original),
                *made.notes,
                *([ORIGINAL_ORDER] if policy.order == "original" else []),
            ),
            attributes=made.attributes,
            layout=made.layout,
            _original=original,
            _rows=made.rows,
            _groups=made.groups,
            _sources=made.sources,
            _key=made.key,
            _behind=made.behind,
            _like=like,
            _held_out=held_out,
            _series=series,
        )
        file = None
        if in_memory:
            guarantees, findings = release._verified(release.published, made.attributes, is_tried=is_tried)
        else:
            file, (guarantees, findings) = release._write_and_measure()
        notes = (*told_findings(findings), *release.notes)
        return replace(release, guarantees=guarantees, findings=findings, notes=notes, _file=file)

    @property
    def records(self) -> dict[str, int]:
        """How many records came in, went out and were suppressed, and how many were held out before."""
        n_in, n_out = self._original.n_records, self.published.n_records
        counts = {**super().records, "in": n_in, "out": n_out, "suppressed": n_in - n_out}
        if self._series is None or not self._series.m:
            return counts
        n_in, n_false = self._series.n_records, int(self._series.is_counterfeit[self._rows].sum())
        return {**counts, "in": n_in, "suppressed": n_in - (n_out - n_false), "counterfeits": n_false}

    @property
    def unattacked_because(self) -> str | None:
        """Not where all records are held in bounded memory."""
        return UNATTACKED if self.policy.memory is not None and self._original.weights is None else None

    @property
    def sampled(self) -> str:
        """A sample, where rows stand for several records."""
        return "" if self._original.weights is None else attacked_on(self.records["in"])

    def _refuse_rows(self, what: str) -> None:
        if self._original.weights is not None:
            raise PolicyError(f"{what} looks at all records, and memory is bounded: leave memory out")

    @cached_property
    def table(self) -> Table:
        """What would be published, without pseudonyms."""
        return apart(self.published, self._pseudonym)[0]

    @property
    def _pseudonym(self) -> str | None:
        return self.policy.pseudonym if self.policy.keep_person else None

    @cached_property
    def data(self) -> Any:
        """The published data as a frame of the kind that came in (from a file: a dictionary of columns)."""
        from shoal.data.tables.frames import to_frame

        self._refuse_rows("a frame of the published data")
        return to_frame(self.published, {} if self._like is None else self._like)

    def _first_rows(self) -> str:
        from shoal.shown import Grid, table_html

        some = self.published.take(np.arange(min(5, self.published.n_rows)))
        cells = [[column.texts()[code] for code in column.codes.tolist()] for column in some.columns.values()]
        return table_html(Grid(tuple(some.names), list(zip(*cells, strict=True))))

    def paired_rows(self, n: int, first: Callable[[Table, int], Grid]) -> tuple[Grid, Grid, bool]:
        """Some records before and after; whether those of a line belong together, for the owner alone to see."""
        is_paired = self.layout is None and self.policy.method.way_of_publishing.rows_are_records
        n = min(n, self.published.n_rows)
        before = self._original.take(self._rows[:n]) if is_paired else self._original
        return first(before, n), first(self.published, n), is_paired

    @property
    def sliced(self) -> SlicedTable | None:
        """The published table as what it is where it stands in slices; None where every row is one record."""
        return None if self.layout is None else SlicedTable(self.table, self.layout, self.attributes)

    @cached_property
    def utility(self) -> Utility:
        """What the protection cost."""
        from shoal.utility.tables.measure import measure

        persons = self._evidence.original_persons
        if self.sliced is not None:
            from shoal.utility.tables.slices import measure_slices

            return measure_slices(self._original, self.sliced, self._sources, self.policy, persons)
        if self._behind is None:
            own = np.flatnonzero(self._rows < self._own.n_rows)  # without counterfeits
            shown, rows, groups = self.table.take(own), self._rows[own], self._groups[own]
        else:
            shown, rows, groups = self.table.take(self._behind.published), self._behind.rows, self._behind.groups
        return measure(
            self._own,
            shown,
            rows,
            groups,
            self.attributes,
            self.policy.k,
            is_recoding=self.policy.method.is_recoding,
            is_paired=self.policy.method.way_of_publishing.rows_are_records,
            target=self.policy.target,
            persons=None if persons is None else persons[: self._own.n_rows],
        )

    @cached_property
    def _own(self) -> Table:
        """The original without counterfeits."""
        original: Table = self._original
        if self._series is None or original.n_rows == self._series.n_records:
            return original
        return original.take(np.arange(self._series.n_records))

    @cached_property
    def exposure(self) -> Exposure | None:
        """What a table in slices tells an attacker; None for other tables."""
        from shoal.check.slices.exposure import exposure

        if self.sliced is None:
            return None
        return exposure(
            self.sliced,
            self._original,
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

        self._refuse_rows("the error of queries")
        return query_error(self._original, self.table, self._rows, self._groups, self.attributes, **asked)

    def compare_learning(self, target: str, **asked: Any) -> LearningComparison:
        """How well models learned from the release predict a column of originals that they have not seen.

        Against models learned from the originals; see `shoal.utility.tables.classification`. Needs the extra `mining`.
        """
        from shoal.utility.tables.classification import compare_learning

        self._refuse_rows("a comparison of learning")
        return compare_learning(self._original, self.table, self._rows, self._groups, self.attributes, target, **asked)

    @cached_property
    def doubts(self) -> tuple[Finding, ...]:
        """Groups of too few persons, where records were counted, and a column looks as if it numbered persons.

        One that is published, and that no name calls a key, may as well be a place or a day: a note says so. With a
        bound on memory no column is examined, and one that is called a key may number persons.
        """
        if self.policy.person:
            return ()
        if self.policy.memory is not None:
            return unexamined_persons([n for n in self.attributes if is_key(n)])
        found = look_like_persons(self._original, may_miss=True)
        keys = [n for n in found if is_key(n) or self.attributes[n].role == "identifying"]
        if not keys:
            return ()
        classes = self._classes if self.layout is None else group_classes(self._groups)
        persons = persons_at_most(self._original, keys[0])[self._rows]
        return few_persons(classes, persons, self.policy.k, keys[0])

    @property
    def kept_unasked(self) -> Sequence[str]:
        """Where persons or providers count, whose each row is; who stood together, where that is promised of them."""
        publication = self.policy.method.publication
        wanted = {"groups": uses_groups(publication), "persons": not needs_original(publication)}
        wanted["ledger"] = self._series is not None
        if self._original.weights is not None:  # every record is another person's, so there is nothing to list
            return []
        kept = [what for what, is_wanted in wanted.items() if self.policy.person and is_wanted]
        return [*kept, *(["providers"] if self.policy.provider else [])]

    @property
    def told_counts(self) -> tuple[dict[str, Count], dict[str, Count]]:
        """The numbers of records as they are told in public; reasons for suppression are not told of tables."""
        if self._original.weights is not None:
            n_persons = self.records["suppressed"] if self.policy.person else None
            return public_counts(self.records, self.policy.k, n_persons), {}
        persons, rows = self._evidence.original_persons, self._rows
        if persons is not None and self._series is not None:
            persons, rows = persons[: self._series.n_records], rows[rows < self._series.n_records]
        n_left_out = None if persons is None else len(np.unique(np.delete(persons, rows)))
        return public_counts(self.records, self.policy.k, n_left_out), {}

    @property
    def case(self) -> TableCase:
        """What attacks work on; for the owner alone. Days that were moved are nobody's, so they are left out."""
        from shoal.attack.tables.case import TableCase

        persons, has_rows = self._evidence.original_persons, not needs_original(self.policy.method.publication)
        shown, rows = self.table.select([n for n in self.table.names if n not in self.policy.shifted]), self._rows
        if self._behind is not None and self._own.weights is not None:  # a published row for each of the original
            persons, rows = None, self._behind.rows
            shown = replace(shown.take(self._behind.published), weights=self._own.weights[rows])
        return TableCase(
            published=shown,
            original=self._own,
            control=self._control,
            quasi=self._names("quasi"),
            sensitive=self._names("sensitive"),
            attributes={n: a for n, a in self.attributes.items() if n not in self.policy.shifted},
            publication=self.policy.method.publication,
            layout=self.layout,
            rows=rows.astype(np.int64) if has_rows and not self.records.get("counterfeits") else None,
            present=np.isin(np.arange(self._own.n_rows), self._rows) if self._series is not None else None,
            policy=self.policy,
            persons=None if persons is None else persons[: self._own.n_rows],
            control_persons=person_codes(self._control, self.policy.person)
            if self.policy.person and self._control is not None
            else None,
            knows_history=self.policy.person_knowledge == "history",
            providers=self._evidence.providers,
            coalition=self.policy.coalition if self.policy.provider else 0,
        )

    @cached_property
    def risk_before(self) -> Risk:
        """Re-identification risk of the original on the same quasi-identifiers."""
        markers, person = self.policy.missing_markers, self.policy.person
        classes = classes_of(self._original, self._names("quasi"), markers=markers)
        return risk_of(classes.of_persons(person_codes(self._original, person)) if person else classes, self.policy.k)

    @cached_property
    def risk_after(self) -> Risk:
        """Re-identification risk of the release; of records that stand for no one, that of their secret groups."""
        persons = self._evidence.persons
        return risk_of(self._classes if persons is None else self._classes.of_persons(persons), self.policy.k)

    @cached_property
    def risk_of_records(self) -> Risk:
        """The same of records, which everybody can count, whether persons have several or not; of secret groups not."""
        is_secret = needs_original(self.policy.method.publication)
        return risk_of(self._classes, self.policy.k) if self.policy.person and not is_secret else self.risk_after

    @cached_property
    def _classes(self) -> Classes:
        if needs_original(self.policy.method.publication):
            return group_classes(self._groups)
        return classes_of(self.table, self._names("quasi"), markers=self.policy.missing_markers)

    def _told(self) -> dict[str, Any]:
        return {"risk": {"before": self.risk_before.to_dict(), "after": self.risk_after.to_dict()}}

    def _measured(self) -> dict[str, Any]:
        learning = {"learning": self.learning.to_dict()} if self.learning else {}
        return {**super()._measured(), **learning}

    def _cost(self) -> str:
        from shoal.report.tables.words import cost

        return cost(self.utility, self.records, self.policy.method.publication)

    def _claims(self) -> Any:
        return *super()._claims(), self.attributes, self.layout, self.findings

    def _names(self, role: str) -> list[str]:
        return [n for n, a in self.attributes.items() if a.role == role]

    def _write_and_check(self) -> tuple[CheckedFile, tuple[Guarantee, ...]]:
        file, (guarantees, _) = self._write_and_measure()
        return file, guarantees

    def _write_and_measure(self) -> tuple[CheckedFile, _Verified]:
        def write(path: Path) -> None:
            write_table(self.published, path)

        return checked_file(file_name(self.table), write, self._verified_file)

    def _verified_file(self, path: Path) -> _Verified:
        """Run the checker on the file as any reader would see it."""
        markers, delimiter = self.policy.missing_markers, self.table.source.delimiter
        made = self.published
        written = read_back(path, made.names, markers=markers, delimiter=delimiter, expected=made)
        if written.n_records != made.n_records or written.names != made.names:
            raise NotVerified("the written file does not read back as the table that was made; nothing was published")
        return self._verified(written, self._published_attributes if self.layout is None else self.attributes)

    def _verified(self, table: Table, attributes: Mapping[str, Attribute], *, is_tried: bool = False) -> _Verified:
        """The guarantees of a table, or `NotVerified` when one does not hold or could not be recomputed.

        With what else was measured, or `Infeasible` when that is serious and the policy does not take it.
        """
        layout = self.layout
        table, pseudonyms = apart(table, self._pseudonym)
        asked = self._asked(table.names, attributes)
        verdict = verify_publication(table, self.policy.method.publication, asked, self._evidence)
        if pseudonyms is not None:
            verdict = replace(verdict, findings=(*verdict.findings, *self._wrongly_tied(table, pseudonyms)))
        if self._series is not None:
            from shoal.check.releases.verify import verify_series

            over = verify_series(self._series, table, asked.quasi, self._rows, self.policy.k)
            verdict = replace(verdict, guarantees=(*verdict.guarantees, *over))
        refuse_failed(verdict)
        measure = partial(
            findings_of,
            attributes=attributes,
            has_labels=not needs_original(self.policy.method.publication),
            layout=layout,
            markers=self.policy.missing_markers,
            limit=self.policy.limits.singled_out,
            accepted=self.policy.accept,
        )
        still = table.select([n for n in table.names if n not in self.policy.shifted])
        findings, persons = measure(still), self._evidence.persons
        # Records are what everybody can count; persons come after them.
        if persons is not None and not any(f.is_serious for f in findings):
            shown = still if layout is None else records_behind(self._original, self._rows, table.names, layout)
            findings = measure(shown, persons=persons)
        if pseudonyms is not None:
            findings += known_history(
                [tied_records(table, attributes, pseudonyms, self.policy.shifted, self.policy.missing_markers)],
                shift_days=self.policy.shift_days,
                limit=self.policy.limits.singled_out,
                reason=self.policy.accept.get(KNOWN_HISTORY),
            )
        findings += self._unprotected(verdict.guarantees)
        if not is_tried:
            refuse_serious(findings)
        return verdict.guarantees, findings

    def _asked(self, published: Sequence[str], attributes: Mapping[str, Attribute]) -> Asked:
        """What is required of columns that are published."""
        names = list(dict.fromkeys(attributes_held(published, self.layout).values()))
        roles = {role: [n for n in names if attributes[n].role == role] for role in ("quasi", "sensitive")}
        return Asked(
            self.policy.require,
            roles["quasi"],
            roles["sensitive"],
            self.policy.missing,
            self.policy.missing_markers,
            attributes,
            self.layout,
            self.policy.method.jointly,
            counts_persons=bool(self.policy.person),
            knows_history=self.policy.person_knowledge == "history",
            coalition=self.policy.coalition if self.policy.provider else 0,
        )

    def _wrongly_tied(self, table: Table, pseudonyms: Ints) -> list[str]:
        """What is wrong with pseudonyms and with days that were moved."""
        policy, evidence = self.policy, self._evidence
        moved = compare_shift(
            table,
            self._original,
            policy.shifted,
            policy.missing_markers,
            evidence.rows,
            evidence.persons,
            policy.shift_days,
        )
        return [*compare_pseudonyms(pseudonyms, evidence.persons).findings, *moved.findings]

    def _unprotected(self, guarantees: Sequence[Guarantee]) -> tuple[Finding, ...]:
        """Columns that nobody called sensitive, that look so, and that nothing is required of."""
        covered = {g.sensitive for g in guarantees}
        names = [n for n in self._names("sensitive") if n not in covered and not self.policy.states_role_of(n)]
        return unprotected(names, self.policy.accept.get(UNPROTECTED))

    @property
    def _evidence(self) -> Evidence:
        made = Evidence.of(self._original, self._rows, self._groups, self.policy.person, self.policy.provider)
        if self._series is None or made.original_persons is None:
            return made
        persons, false = made.original_persons, self._series.is_counterfeit
        return replace(made, original_persons=np.where(false, -1 - np.arange(len(persons)), persons))

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
        attributes = {c: self.attributes[a] for c, a in attributes_held(self.table.names, self.layout).items()}
        return frozenset(c for c, a in attributes.items() if a.role == "quasi" and a.hierarchy is not None)

    def _manifest(self, **told: Any) -> Manifest:
        return TableManifest(
            **told,
            delimiter=self.table.source.delimiter if is_text(told["data"]) else None,
            require=self.policy.require,
            guarantees=TableManifest.claims(self.guarantees),
            method=self.policy.method.told(),
            order=self.policy.order,
            missing=self.policy.missing,
            missing_markers=self.policy.missing_markers,
            header=self.policy.header,
            reading=self.policy.reading,
            person=self.policy.person or None,
            person_knowledge=self.policy.person_knowledge if self.policy.person else None,
            pseudonym=self._pseudonym,
            shift_days=self.policy.shift_days if self.policy.shifted else None,
            provider=self.policy.provider or None,
            coalition=self.policy.coalition if self.policy.provider else None,
            columns={
                name: PublishedColumn.of(
                    attribute, has_labels=name in self._by_hierarchy, is_moved=name in self.policy.shifted
                )
                for name, attribute in self._published_attributes.items()
            },
            layout=self.layout,
            limits=self.policy.limits.model_dump(),
            accepted=dict(reasons(self.findings)) or None,
            series=None
            if self._series is None
            else SeriesEntry(release=self._series.number, after=self._series.checksums_before),
        )

    def _datasheet(self) -> str:
        from shoal.report.tables.datasheet import render_datasheet

        return render_datasheet(self._context(is_public=True), self.table)

    def _report(self) -> ReportContent:
        from shoal.report.tables.report import report_content

        return report_content(self._context())

    def _context(self, *, is_public: bool = False) -> ReportContext:
        from shoal.report.tables.context import ReportContext

        return ReportContext.of(self, self.guarantees, is_public=is_public)

    @cached_property
    def _secrets(self) -> TableSecrets:
        return TableSecrets(
            self._original,
            self.table,
            self._rows,
            self._groups,
            self._evidence,
            self.policy,
            self._names("quasi"),
            self._key,
            self._series,
        )

    def _refuse(self, keep: Sequence[str]) -> None:
        if keep:
            self._refuse_rows("what is to be kept")
            self._secrets.refuse(keep)

    def _keep(self, folder: Path, keep: Sequence[str]) -> None:
        if keep:
            file = self._checked_file()
            self._secrets.write(folder, keep, file.checksums[file.name])
