"""Tables as a kind of data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.arrays import Ints
from shoal.data.tables.spill import SpilledTable
from shoal.data.tables.table import MARKERS, Table
from shoal.errors import DataError, PolicyError
from shoal.kind import SMALL, ColumnPlace, HierarchyLook, Kind, Run
from shoal.kinds.tables.policy import ColumnPolicy, Policy, publications
from shoal.shown import Grid

if TYPE_CHECKING:
    from shoal.attack.attack import Attack
    from shoal.attack.tables.case import TableCase
    from shoal.check.folder import FolderCheck, PublishedFolder
    from shoal.held_out import HeldOut
    from shoal.kinds.tables.harden import TableLadder
    from shoal.kinds.tables.manifest import TableManifest
    from shoal.kinds.tables.profile import Profile
    from shoal.kinds.tables.release import TableRelease
    from shoal.kinds.tables.sweep import TableTrials
    from shoal.progress import Progress
    from shoal.report.board.facts import BoardFacts
    from shoal.resume import StepFolder
    from shoal.secrets import PrivateFolder
    from shoal.stream.tables import TableWindows


def load(
    source: Any,
    markers: tuple[str, ...] = MARKERS,
    header: str | None = None,
    reading: Mapping[Any, Any] | None = None,
) -> Table:
    """Read a table from a file, where `reading` may say its delimiter, encoding and decimal mark, or take a frame."""
    if isinstance(source, str | Path):
        from shoal.data.tables.decimals import noted
        from shoal.data.tables.files import read_table

        read = read_table(source, markers=markers, header=header, **(reading or {}))
        return read if reading and "decimal" in reading else noted(read)
    from shoal.data.tables.frames import from_frame

    return from_frame(source, markers=markers, header=header)


class Tables(Kind):
    """Rows and columns."""

    name = "table"
    published = "a table"
    report_template = "report.html"
    pictures: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("class_sizes", "paired_bars", "histogram", "bars"), "shoal.report.tables.pictures"),
        "scores": "shoal.report.tables.learning",
    }
    takes: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("workers", "pool", "cluster"), "which are worked on in blocks"),
        "stop": "whose groups are improved until it says so",
        "after": "whose persons are known again",
        "resume": "which are read in bounded memory",
        "other": "",
        "beside": "whose persons a ledger knows again",
        "population": "",
        "memory": "",
    }
    policy = Policy

    @property
    def manifest(self) -> type[TableManifest]:
        """See `shoal.kinds.tables.manifest`."""
        from shoal.kinds.tables.manifest import TableManifest

        return TableManifest

    def recognises(self, source: Any) -> bool:
        """Nothing is a table for sure; it is what is left."""
        return False

    def refuse_other(self, source: Any) -> None:
        """Refuse lists of items, which would be a table of one row a length."""
        from shoal.data.sparse.files import looks_like_item_lists

        if isinstance(source, str | Path) and looks_like_item_lists(source):
            raise DataError(
                f"{source} holds lists of items of several lengths, not a table; read them as sets of items "
                "(--kind sparse, or a SparsePolicy) or as sequences (--kind strings --format tokens)"
            )

    def load(self, source: Any, policy: Policy) -> Table:
        """A file, or a frame; with a bound on memory, the distinct rows of a file."""
        if policy.memory is None:
            return load(source, policy.missing_markers, policy.header, policy.reading)
        from shoal.kinds.tables.large import load_distinct

        return load_distinct(source, policy)

    def load_to_release(self, source: Any, policy: Policy, run: Run) -> Table:
        """With a bound on memory, workers that are other processes collapse the file themselves."""
        if policy.memory is None:
            return self.load(source, policy)
        from shoal.data.tables.workers import reading_on
        from shoal.kinds.tables.large import with_workers

        with with_workers(run) as workers, reading_on(workers):
            if run.steps is None:
                found = self.load(source, policy)
            else:
                from shoal.kinds.tables.resumed import table_of

                found = table_of(run.steps, source, policy, run.progress, lambda: self.load(source, policy))
        notes = () if workers is None else workers.notes
        return replace(found, source=replace(found.source, notes=(*found.source.notes, *notes)))

    def steps(self, source: Any, policy: Policy, run: Run) -> StepFolder:
        """See `shoal.kinds.tables.resumed`."""
        from shoal.kinds.tables.resumed import open_steps

        return open_steps(source, policy, run)

    def load_again(
        self,
        source: Any,
        manifest: TableManifest,
        policy: Policy | None = None,
        *,
        label: str | None = None,
        header: str | None = None,
    ) -> Any:
        """As the policy says, or else the manifest; with a bound on memory, the distinct rows of what was published.

        Where these do not fit, what is known of them without holding them (`shoal.data.tables.coded_rows.UnheldTable`).
        """
        from shoal.data.memory import bound
        from shoal.data.tables.coded_rows import UnheldTable
        from shoal.data.tables.files import address_of
        from shoal.data.tables.format import HowToRead
        from shoal.data.tables.parts import look_at
        from shoal.data.tables.room import TooManyDistinct

        markers = manifest.missing_markers if policy is None else policy.missing_markers
        first = header or (policy.header if policy is not None else None) or manifest.header
        reading = (policy.reading if policy is not None else None) or manifest.reading
        if bound() is None:
            return load(source, markers, first, reading)
        from shoal.kinds.tables.large import read_distinct_rows

        if manifest.method.get("publish") == "aggregate":
            told = "publish = aggregate is checked with all records in memory beside an original: leave memory out"
            raise PolicyError(told)
        person = (policy.person if policy is not None else ()) or manifest.person or ()
        said: dict[Any, Any] = {"missing_markers": markers, "header": first, **(reading or {})}

        def drops(name: str) -> bool:
            return name not in manifest.attributes

        try:
            return read_distinct_rows(source, Policy(**said), drops, person)
        except TooManyDistinct as error:
            if not error.names:  # records that are to be held, as some may be of one person
                raise
            asked: dict[Any, Any] = {"header": first, "drops": drops, **(reading or {})}
            where, named = address_of(source)
            return UnheldTable(
                error.names,
                error.n_rows,
                error.n_records,
                error.memory,
                is_one_each=bool(person),
                path=None if look_at(where).is_zip else where,
                reading=HowToRead(markers, table=named, **asked),
            )

    def bytes_to_check(
        self, manifest: TableManifest, policy: Policy | None, memory: str | None, *, beside: Sequence[Any] = ()
    ) -> int | None:
        """As is said, or else by the policy; refused for releases whose records are looked at one by one."""
        asked = memory or (policy.memory if policy is not None else None)
        if asked is None:
            return None
        from shoal.kinds.tables.large import refuse_unweighed

        refuse_unweighed(manifest, policy, is_alone=not beside)
        return Policy(memory=asked).n_bytes

    def bytes_to_attack(self, manifest: TableManifest, memory: str | None, *, others: Sequence[Any] = ()) -> int | None:
        """As is said; refused for releases whose records are attacked one by one."""
        if memory is None:
            return None
        from shoal.kinds.tables.large import refuse_unweighed

        refuse_unweighed(manifest, None, is_alone=True, what="attacked")
        if others:
            raise PolicyError("another release beside it is attacked with all records in memory: leave memory out")
        return Policy(memory=memory).n_bytes

    def first_rows(self, records: Any, n: int) -> Grid:
        """A line a row, cells as a text file shows them."""
        some = records.take(np.arange(min(n, len(records))))
        cells = [[column.texts()[code] for code in column.codes.tolist()] for column in some.compact().columns.values()]
        return Grid(tuple(some.names), list(zip(*cells, strict=True)))

    def paired_rows(self, release: TableRelease, n: int) -> tuple[Grid, Grid, bool]:
        """Published rows, each beside the record that it was, where a row is one."""
        return release.paired_rows(n, self.first_rows)

    def columns_of(self, data: Table) -> tuple[ColumnPlace, ...]:
        """All columns."""
        return tuple(map(ColumnPlace, data.names))

    def told_apart_by(self, data: Table, policy: Policy) -> dict[ColumnPlace, float]:
        """By how much fewer records would be alone in what others may know, were a column not known."""
        from shoal.check.tables.singled_out import Uniques
        from shoal.data.tables.meaning import attributes_of

        known = [n for n, a in attributes_of(data, policy).items() if a.role == "quasi"]
        return {ColumnPlace(n): share for n, share in Uniques([data[n] for n in known]).added_by_each().items()}

    def hierarchies(self, data: Table, policy: Policy, most: int) -> dict[ColumnPlace, HierarchyLook]:
        """The values of columns, and bands of numbers, dates and codes."""
        from shoal.data.tables.meaning import automatic_rows

        found = automatic_rows(data, policy, most)
        return {ColumnPlace(n): HierarchyLook(values, len(data[n].values), rows) for n, (values, rows) in found.items()}

    def persons(self, data: Table, policy: Policy) -> Ints | None:
        """By the columns that the policy names."""
        from shoal.data.tables.meaning import attributes_of
        from shoal.data.tables.persons import person_codes

        if not policy.person:
            return None
        attributes_of(data, policy)  # which refuses what is not in the data
        return person_codes(data, policy.person)

    def is_small(self, data: Any, policy: Policy | None = None) -> bool:
        """Up to a thousand rows: the loops that take longest have ways of NumPy beside them. Some methods take more."""
        if isinstance(data, SpilledTable):
            return data.n_records <= 5 * SMALL
        return len(data) <= 5 * SMALL or (policy is not None and _are_few(data, policy))

    def profile_source(self, source: Any, policy: Policy, *, sweep: bool, progress: Progress | None) -> Any:
        """With a bound on memory, a column at a time and from distinct rows."""
        if policy.memory is None:
            return super().profile_source(source, policy, sweep=sweep, progress=progress)
        from shoal.kinds.tables.large_profile import profile_large

        return profile_large(source, policy, sweep=sweep, progress=progress)

    def profile(self, data: Table, policy: Policy, *, sweep: bool, progress: Progress | None) -> Profile:
        """Guess what columns mean, measure the risk as it stands, and propose a method."""
        refuse_bound(policy, "shoal profile")
        from shoal.kinds.tables.profile import profile_table

        found = replace(profile_table(data), header=policy.header, reading=policy.reading)
        fraction = policy.context.fraction(len(data))
        quasi = [name for name, attribute in found.attributes.items() if attribute.role == "quasi"]
        if fraction is not None and quasi and found.person is None:
            from shoal.check.tables.population import population_of

            population = population_of(data, quasi, fraction, policy.missing_markers)
            found = replace(found, population=population)
        if not sweep:
            return found
        from shoal.sweep.propose import propose

        return replace(found, proposal=propose(data, found.attributes, progress, found.person))

    def release(
        self, data: Table, policy: Policy, run: Run, *, like: Any = None, held_out: HeldOut[Table] | None = None
    ) -> TableRelease:
        """Group records and publish them so that none stands out."""
        from shoal.data.memory import bounded
        from shoal.data.tables.meaning import attributes_of
        from shoal.engine.executors import open_executor
        from shoal.kinds.tables.release import TableRelease
        from shoal.tables.anonymize import anonymize_table
        from shoal.tables.partition.auto import settled

        if policy.target is not None:
            from shoal.utility.tables.target import check_target

            check_target(data, attributes_of(data, policy), policy.target, policy.method.publication)
        policy, why = settled(policy, data)
        if data.weights is not None and held_out is not None:
            raise PolicyError("records are held out of a table in memory: leave memory out, or hold none out")
        series = None
        if run.after is not None:
            policy = policy.changed(releases="several")
        if policy.memory is not None and policy.method.way_of_publishing.is_sliced:  # of one release alone, too
            from shoal.kinds.tables.bucketed import release_in_runs

            with open_executor(run.workers, run.pool, run.cluster) as executor:
                return release_in_runs(data, policy, run.progress, why, run.seed, executor)
        if isinstance(data, SpilledTable):  # of one release alone, as a policy with a bound on memory is
            from shoal.kinds.tables.spilled import release_spilled

            return release_spilled(data, policy, run.progress, why, run.seed)
        if policy.releases == "several":
            from shoal.releases.series import Series

            series = Series.of(data, policy, run.after, run.seed)
            data = series.table
        with bounded(policy.n_bytes), open_executor(run.workers, run.pool, run.cluster) as executor:
            made = anonymize_table(
                data,
                policy,
                seed=run.seed,
                executor=executor,
                progress=run.progress,
                stop=run.stop,
                series=series,
                steps=run.steps,
            )
        made = replace(made, notes=(*why, *made.notes))
        if run.progress is not None:
            run.progress("writing and checking the release", 0, 0)
        if data.weights is None:
            return TableRelease.of(data, made, policy, like=like, held_out=held_out, series=series)
        from shoal.data.tables.workers import writing_on
        from shoal.kinds.tables.large import with_workers

        with bounded(policy.n_bytes), with_workers(run) as workers, writing_on(workers):
            release = TableRelease.of(data, made, policy, like=like)
        return release if workers is None else replace(release, notes=(*release.notes, *workers.notes))

    def check(
        self,
        folder: PublishedFolder,
        manifest: TableManifest,
        original: Table | None,
        policy: Policy | None,
        private: PrivateFolder | None,
        beside: Sequence[PublishedFolder] = (),
    ) -> FolderCheck:
        """See `shoal.check.tables.folder`, and `shoal.check.releases.folder` for several releases together."""
        from shoal.check.tables.folder import check_tables
        from shoal.report.tables.compare_datasheet import compare_datasheet
        from shoal.secrets import GROUPS_FILE, PERSONS_FILE, PROVIDERS_FILE, ROWS_FILE

        kept = None if private is None else private.if_it_holds(GROUPS_FILE, PERSONS_FILE, PROVIDERS_FILE, ROWS_FILE)
        alone = check_tables(folder, manifest, original, policy, kept, compare_datasheet)
        if manifest.series is None and not beside:
            return alone
        from shoal.check.releases.folder import check_together

        others = [(f, self.manifest.parse(f.content, f.path)) for f in beside]
        return check_together(alone, (folder, manifest), others, original, policy, private)

    @property
    def attacks(self) -> Sequence[Attack[Any]]:
        """See `shoal.attack.tables`."""
        from shoal.attack.tables import TABLE_ATTACKS

        return list(TABLE_ATTACKS.values())

    def case(
        self,
        folder: PublishedFolder,
        manifest: TableManifest,
        original: Table,
        control: Table | None,
        private: PrivateFolder | None,
        *,
        others: Sequence[str | Path] = (),
        other_originals: Sequence[Any] = (),
        population: str | Path | None = None,
        header: str | None = None,
        **_: Any,
    ) -> TableCase:
        """The published table, and what the attacker is given."""
        from shoal.attack.tables.case import TableCase
        from shoal.check.tables.folder import providers_of
        from shoal.check.tables.pseudonyms import apart
        from shoal.check.tables.published_data import published_table
        from shoal.data.memory import bound
        from shoal.data.tables.meaning import attributes_of
        from shoal.data.tables.persons import person_codes
        from shoal.kinds.tables.large import in_order, refuse_several_each, refuse_unheld
        from shoal.secrets import ROWS_FILE

        known = None if population is None else self.load_again(Path(population), manifest, header=header)
        refuse_unheld(original=original, control=control, population=known)
        columns = {n: a for n, a in manifest.meant.items() if n not in manifest.shifted}
        missing = [n for n in columns if n not in original.columns]
        if missing:
            raise DataError(f"the original has no column {missing[0]!r}, which was published; give the original itself")
        if control is not None and not any(n in control.columns for n in columns):
            raise DataError("the control has none of the columns that were published; give records like the original's")
        person = manifest.person or ()
        unknown = [n for n in person if n not in original.columns or (control is not None and n not in control.columns)]
        if unknown:
            raise DataError(
                f"persons were counted in this release, and the original or the control has no column {unknown[0]!r}, "
                "which says whose a record is; give files that have it"
            )
        roles = {n: ColumnPolicy(role=a.role, type=a.type, order=a.order) for n, a in columns.items()}
        if other_originals and len(other_originals) != len(others):
            raise PolicyError(
                f"{len(others)} other releases are given, and the originals of {len(other_originals)}; give one for "
                "each, in their order"
            )
        is_bounded = bound() is not None
        counted = bool(person) and not is_bounded  # else each record is another's
        if is_bounded:
            refuse_several_each([original, control])
            original, control = in_order(original), None if control is None else in_order(control)
        held = published_table(folder, manifest, n_most=original.n_records, is_weighed=is_bounded)
        table = apart(in_order(held) if is_bounded else held, manifest.pseudonym)[0]
        case = TableCase(
            published=table.select([n for n in table.names if n not in manifest.shifted]),
            original=original,
            control=control,
            quasi=[n for n, a in columns.items() if a.role == "quasi"],
            sensitive=[n for n, a in columns.items() if a.role == "sensitive"],
            attributes=attributes_of(
                original.select(list(columns)), Policy(columns=roles, missing_markers=manifest.missing_markers)
            ),
            publication=str(manifest.method["publish"]),
            layout=manifest.layout,
            rows=None if private is None or is_bounded else private.rows(),
            are_rows_unread=is_bounded and private is not None and private.holds(ROWS_FILE),
            population=known,
            policy=_told_policy(manifest, roles),
            persons=person_codes(original, person) if counted else None,
            control_persons=person_codes(control, person) if counted and control is not None else None,
            is_one_each=bool(person) and is_bounded,
            knows_history=manifest.person_knowledge == "history",
            providers=None if manifest.provider is None else providers_of(table, original, manifest.provider, private),
            coalition=manifest.coalition or 0,
        )
        return case if not others else self._beside(case, person, others, other_originals, header)

    def _beside(
        self,
        case: TableCase,
        person: Sequence[str],
        folders: Sequence[str | Path],
        originals: Sequence[Any],
        header: str | None,
    ) -> TableCase:
        """The case with other releases, whose persons are those of the first where the originals say so."""
        from shoal.attack.tables.people import joint_keys
        from shoal.check.folder import PublishedFolder
        from shoal.check.tables.pseudonyms import apart
        from shoal.check.tables.published_data import published_table

        found = []
        for i, path in enumerate(folders):
            theirs = PublishedFolder.open(path)
            told = self.manifest.parse(theirs.content, theirs.path)
            if not originals:
                second = apart(published_table(theirs, told), told.pseudonym)[0]
                found.append(replace(case, published=second))
                continue
            if not person:
                raise PolicyError(
                    "the originals of other releases are given, and no column says who is who in them; make the "
                    "releases with --person"
                )
            original = self.load_again(originals[i], told, header=header)
            found.append(self.case(theirs, told, original, None, None))
        if originals:
            keys = joint_keys([case.original, *(other.original for other in found)], person)
            case = replace(case, known_as=keys[0])
            found = [replace(other, known_as=key) for other, key in zip(found, keys[1:], strict=True)]
        return replace(case, others=tuple(found))

    def ladder(self, data: Table, policy: Policy) -> TableLadder:
        """See `shoal.kinds.tables.harden`."""
        refuse_bound(policy, "shoal harden")
        from shoal.kinds.tables.harden import TableLadder

        return TableLadder(data, policy)

    def board(self, release: TableRelease) -> BoardFacts:
        """See `shoal.report.tables.board`."""
        from shoal.report.tables.board import board_facts

        return board_facts(release)

    def trials(self, policy: Policy, target: str | None = None) -> TableTrials:
        """See `shoal.kinds.tables.sweep`."""
        from shoal.kinds.tables.sweep import TableTrials

        return TableTrials(policy, target)

    def windows(self, policy: Policy, *, seed: int | None, key: bytes | None) -> TableWindows:
        """See `shoal.stream.tables`."""
        from shoal.stream.tables import TableWindows

        if key is not None:
            raise PolicyError("a key is for sketches of sparse records; leave it out for tables")
        return TableWindows(policy, seed)

    def stream_line(self, record: Any) -> bytes:
        """A dict as a JSON object."""
        if not isinstance(record, Mapping):
            raise DataError(f"a record is a {type(record).__name__}, and of a table it has to be a dict; give dicts")
        return json.dumps(dict(record), default=str).encode() + b"\n"

    def stream_records(self, data: bytes, windows: TableWindows) -> list[Any]:
        """Dicts."""
        return windows.records(data)

    def shown(self, release: TableRelease, *, report: bool = True) -> tuple[list[str], list[str]]:
        """What became of the columns, and how well the target is predicted."""
        from shoal.report.tables.limits import what_became_of
        from shoal.tables.anonymize import RECORDS_COUNTED

        policy = release.policy
        tie = policy.pseudonym if policy.keep_person else ""
        became = what_became_of(release.attributes, release.guarantees, policy.method, tie, policy.shifted)
        lines = [f"  {line}" for line in became]
        if any(note.startswith(RECORDS_COUNTED) for note in release.notes):
            lines.insert(0, f"  {RECORDS_COUNTED.lower()}, though some may have several: see the note below")
        if not report or release.learning is None:
            return [*super().shown(release)[0], *lines], []
        from shoal.report.tables.learning import sentence

        return [*super().shown(release)[0], *lines], [f"  {sentence(release.learning)}"]


def refuse_bound(policy: Policy, where: str) -> None:
    """Refuse a bound on memory where all records are looked at one by one."""
    if policy.memory is not None:
        raise PolicyError(f"memory is not for {where}, which holds the table in memory: leave memory out")


def _are_few(data: Table, policy: Policy) -> bool:
    """Whether records are few for the method itself; persons with several records, and more effort, are other loops."""
    from shoal.tables.partition.base import FEW_COLUMNS, PARTITIONS

    method = policy.method
    way = PARTITIONS[method.partition]
    is_plain = not policy.person and method.effort == "fast" and method.publish in (None, way.publication)
    return is_plain and len(data) * max(FEW_COLUMNS, len(data.columns)) <= FEW_COLUMNS * way.few_records


def _told_policy(manifest: TableManifest, columns: dict[str, ColumnPolicy]) -> Policy | None:
    """What a manifest says that was asked; None where another version asked for what this one does not know."""
    method = dict(manifest.method)
    known = dict(publications().items()).get(str(method["publish"]))
    if known is not None and "ends" in known.parameters:
        method = {"ends": "exact", **method}  # as they were before they could be rounded
    try:
        return Policy(
            columns=columns,
            missing=manifest.missing,
            missing_markers=manifest.missing_markers,
            require=manifest.require,
            method=method,
        )
    except PolicyError:
        return None


KIND = Tables()
