"""Linked tables as a kind of data: several tables of the same persons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.data.linked.linked import Linked
from shoal.errors import DataError, PolicyError
from shoal.kind import SMALL, ColumnPlace, HierarchyLook, Kind, Run
from shoal.kinds.linked.policy import LinkedPolicy

if TYPE_CHECKING:
    from shoal.attack.attack import Attack
    from shoal.attack.linked.case import LinkedCase
    from shoal.check.folder import FolderCheck, PublishedFolder
    from shoal.held_out import HeldOut
    from shoal.kinds.linked.manifest import LinkedManifest
    from shoal.kinds.linked.profile import LinkedProfile
    from shoal.kinds.linked.release import LinkedRelease
    from shoal.progress import Progress
    from shoal.report.board.facts import BoardFacts
    from shoal.secrets import PrivateFolder
    from shoal.shown import Grid


class LinkedKind(Kind):
    """Tables that a key ties together."""

    name = "linked"
    published = "linked tables"
    report_template = "linked_report.html"
    pictures: ClassVar[Mapping[str, str]] = {}
    takes: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("workers", "pool", "cluster"), "which are worked on in blocks"),
        "stop": "whose groups are improved until it says so",
    }
    policy = LinkedPolicy

    @property
    def manifest(self) -> type[LinkedManifest]:
        """See `shoal.kinds.linked.manifest`."""
        from shoal.kinds.linked.manifest import LinkedManifest

        return LinkedManifest

    def recognises(self, source: Any) -> bool:
        """`Linked`, and several paths or frames by name."""
        if isinstance(source, Linked):
            return True
        return (
            isinstance(source, Mapping)
            and bool(source)
            and all(isinstance(value, Path) or hasattr(value, "columns") for value in source.values())
        )

    def load(self, source: Any, policy: LinkedPolicy) -> Linked:
        """Files or frames by name, tied together by the policy's link."""
        return self._load(source, policy.link, policy.missing_markers, policy.header, policy.reading)

    def is_small(self, data: Linked, policy: Any = None) -> bool:
        """Whether there are few rows in all."""
        return sum(map(len, data.tables.values())) <= SMALL

    def load_again(
        self,
        source: Any,
        manifest: LinkedManifest,
        policy: LinkedPolicy | None = None,
        *,
        label: str | None = None,
        header: str | None = None,
    ) -> Linked:
        """As the policy says, or else the manifest."""
        markers = manifest.missing_markers if policy is None else policy.missing_markers
        first = header or (policy.header if policy is not None else None) or manifest.header
        reading = (policy.reading if policy is not None else None) or manifest.reading
        read = self._load(source, manifest.link, markers, first, reading)
        if list(read.tables) != list(manifest.tables):
            named = ", ".join(map(repr, manifest.tables))
            raise PolicyError(f"the release is of the tables {named}; give their originals, in this order")
        return read

    def _load(
        self,
        source: Any,
        link: str | None,
        markers: tuple[str, ...],
        header: str | None,
        reading: Mapping[Any, str] | None,
    ) -> Linked:
        from shoal.kinds.tables.kind import load

        if isinstance(source, Linked):
            return source
        if isinstance(source, str | Path):
            source = {"": source}
        if not isinstance(source, Mapping) or not all(isinstance(name, str) for name in source):
            raise PolicyError("the policy is for linked tables; give files or frames by name, as a dictionary")
        if link is None:
            raise PolicyError(
                f"{len(source)} tables are given, and it is not said what links them; name the column that says in "
                'each whose row it is (--link id, or link = "id" in the policy); parts of one table are given as a '
                "folder, or as a pattern in quotes"
            )
        tables = {name: load(given, markers, header, reading) for name, given in source.items()}
        return Linked.of(tables, link)

    def offered(self, source: Any, policy: LinkedPolicy) -> dict[str, list[str]]:
        """The columns that all tables have, one of which links them."""
        from shoal.kinds.tables.kind import load

        if isinstance(source, Linked):
            tables = list(source.tables.values())
        else:
            tables = [load(g, policy.missing_markers, policy.header, policy.reading) for g in source.values()]
        return {"link": [name for name in tables[0].names if all(name in table.columns for table in tables)]}

    def first_tables(self, records: Linked, n: int) -> dict[str, Grid]:
        """The first rows of each table."""
        from shoal.kinds.tables.kind import KIND as TABLES

        return {name: TABLES.first_rows(table, n) for name, table in records.tables.items()}

    def paired_tables(self, release: LinkedRelease, n: int) -> dict[str, tuple[Grid, Grid, bool]]:
        """Published rows of each table, each beside the row that it was."""
        kept = {name: release._original.tables[name].take(rows[:n]) for name, rows in release._rows.items()}
        after = self.first_tables(release.published, n)
        before = self.first_tables(replace(release._original, tables=kept), n)
        return {name: (before[name], after[name], True) for name in after}

    def columns_of(self, data: Linked) -> tuple[ColumnPlace, ...]:
        """All columns of all tables but the link."""
        return tuple(ColumnPlace(n, table) for table, t in data.tables.items() for n in t.names if n != data.link)

    def told_apart_by(self, data: Linked, policy: LinkedPolicy) -> dict[ColumnPlace, float]:
        """By how much fewer persons would be alone in what others may know of a table, were a column not known."""
        from shoal.check.tables.singled_out import Uniques
        from shoal.data.tables.meaning import attributes_of

        found: dict[ColumnPlace, float] = {}
        for name, asked in policy.of_tables(data.tables).items():
            table, whose = data.tables[name], data.persons[name]
            attributes = attributes_of(table, asked)
            known = [n for n, a in attributes.items() if a.role == "quasi" and n != data.link]
            rows = np.flatnonzero(whose >= 0)
            added = Uniques([table[n].take(rows) for n in known], persons=whose[rows]).added_by_each()
            found |= {ColumnPlace(n, name): share for n, share in added.items()}
        return found

    def hierarchies(self, data: Linked, policy: LinkedPolicy, most: int) -> dict[ColumnPlace, HierarchyLook]:
        """As of one table, for each."""
        from shoal.kinds.tables.kind import KIND as TABLES

        return {
            ColumnPlace(place.name, name): look
            for name, asked in policy.of_tables(data.tables).items()
            for place, look in TABLES.hierarchies(data.tables[name], asked, most).items()
            if place.name != data.link
        }

    def profile(self, data: Linked, policy: LinkedPolicy, *, sweep: bool, progress: Progress | None) -> LinkedProfile:
        """Guess what the columns of each table mean."""
        from shoal.kinds.linked.profile import profile_linked

        return profile_linked(data, policy)

    def release(
        self, data: Linked, policy: LinkedPolicy, run: Run, *, like: Any = None, held_out: HeldOut[Linked] | None = None
    ) -> LinkedRelease:
        """Group persons by what all tables say of them."""
        from shoal.engine.executors import open_executor
        from shoal.kinds.linked.release import LinkedRelease
        from shoal.linked.anonymize import anonymize_linked

        with open_executor(run.workers, run.pool, run.cluster) as executor:
            made = anonymize_linked(
                data,
                policy.of_tables(data.tables),
                seed=run.seed,
                executor=executor,
                progress=run.progress,
                stop=run.stop,
            )
        if run.progress is not None:
            run.progress("checking the release", 0, 0)
        return LinkedRelease.of(data, made, policy, like=like, held_out=held_out)

    def check(
        self,
        folder: PublishedFolder,
        manifest: LinkedManifest,
        original: Linked | None,
        policy: LinkedPolicy | None,
        private: PrivateFolder | None,
    ) -> FolderCheck:
        """See `shoal.check.linked.folder`."""
        from shoal.check.linked.folder import check_linked

        return check_linked(folder, manifest, original, policy, private)

    @property
    def attacks(self) -> Sequence[Attack[Any]]:
        """See `shoal.attack.linked`."""
        from shoal.attack.linked import LINKED_ATTACKS

        return list(LINKED_ATTACKS.values())

    def case(
        self,
        folder: PublishedFolder,
        manifest: LinkedManifest,
        original: Linked,
        control: Linked | None,
        private: PrivateFolder | None,
        **_: Any,
    ) -> LinkedCase:
        """The published tables, and whose pseudonyms are, if the rows of the main one were kept."""
        from shoal.attack.linked.case import LinkedCase, pseudonyms_of
        from shoal.check.linked.folder import linked_tables, rows_file
        from shoal.data.linked.linked import Linked

        published = Linked.of(linked_tables(folder, manifest), manifest.link)
        rows = None if private is None else private.rows(rows_file(0))
        shown = published.tables[published.main]
        if rows is not None and (
            len(rows) != shown.n_rows or rows.min() < 0 or rows.max() >= original.tables[original.main].n_rows
        ):
            raise DataError("the rows that were kept are not those of this release and original; give those of it")
        for linked in (original, *([] if control is None else [control])):
            for name, part in manifest.tables.items():
                absent = [n for n in part.columns if n not in linked.tables[name].columns]
                if absent:
                    raise DataError(
                        f"{name!r} has no column {absent[0]!r}, which was published; give the original itself"
                    )
        return LinkedCase(
            published,
            original,
            control,
            {name: part.attributes for name, part in manifest.tables.items()},
            {name: part.shifted for name, part in manifest.tables.items()},
            None if rows is None else pseudonyms_of(published, original, rows),
            manifest.k,
            manifest.missing_markers,
        )

    def board(self, release: LinkedRelease) -> BoardFacts:
        """The columns of all tables, and what groups of persons admit."""
        from shoal.report.board.facts import BoardFacts
        from shoal.report.tables.board import board_columns, techniques_of

        tables, policies = release._original.tables, release._policies
        columns = [
            replace(column, name=f"{name}.{column.name}")
            for name, found in release.attributes.items()
            for column in board_columns(tables[name], found, policies[name])
        ]
        done = [
            (technique, f"{name}: {what}")
            for name, found in release.attributes.items()
            for technique, what in techniques_of(found, policies[name], {})
        ]
        together = next((g.achieved for g in release.guarantees if g.model == "k-anonymity"), None)
        return BoardFacts(
            "person",
            release.records,
            done,
            known=[c.name for c in columns if c.role == "quasi-identifying"],
            columns=columns,
            bound=None if not together else 1 / together,
            bound_by="Persons look alike in all tables together in groups of at least that many.",
        )

    def shown(self, release: LinkedRelease, *, report: bool = True) -> tuple[list[str], list[str]]:
        """What became of persons, of the rows of each table, and of columns."""
        from shoal.report.tables.limits import what_became_of

        records = release.records
        lines = [f"{records['out']:,} of {records['in']:,} persons published, {records['suppressed']:,} suppressed."]
        for name, table in release.tables.items():
            lines.append(f"{name}: {table.n_rows:,} of {release._original.tables[name].n_rows:,} rows published.")
            own = release.guarantees_of(name)
            policy = release._policies[name]
            became = what_became_of(
                release.attributes[name], own, policy.method, release.policy.link or "", policy.shifted
            )
            lines += [f"  {line}" for line in became]
        return lines, []


KIND = LinkedKind()
