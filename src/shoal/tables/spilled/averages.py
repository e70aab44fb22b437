"""A release of rows that lie in files, by microaggregation of numbers and dates in ranges along a curve.

The ranges are the blocks that the near-linear way cuts a table in memory into (`shoal.tables.blocks`), as long as one
of them fits; so are the order of the records in them, the scale of their numbers, and the sums of which averages are
made. So the release is that of the same table in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.check.tables.averages_in_blocks import Averaged
from shoal.data.memory import bound
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.kept_table import RANGES, ROWS
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.room import BASE_BYTES
from shoal.data.tables.spill import RowFile, Rows2D, SpilledTable, SpillFolder, save_arrays
from shoal.data.tables.table import Column, Table
from shoal.errors import PolicyError
from shoal.kernels.tables.mdav import MixedPoints
from shoal.kinds.tables.policy import Policy
from shoal.progress import Progress
from shoal.tables.anonymize import refuse_hopeless, unstated_roles
from shoal.tables.blocks import LARGER, near_linear_told, partition_labels, sample_rows
from shoal.tables.encoding import Ranked
from shoal.tables.groups import Groups
from shoal.tables.microaggregation.near_linear import FEWEST_LISTED, MOST_LISTED, near_linear_labels
from shoal.tables.partition.base import refuse_infeasible
from shoal.tables.partition.mdav import points_of, standardised
from shoal.tables.publish.aggregate import group_means, published_means
from shoal.tables.spilled.cuts import CodedAttribute
from shoal.tables.spilled.make import GroupSample, SpilledRelease, coded_column
from shoal.tables.spilled.ranges import CurveRecords
from shoal.tables.spilled.sort import ContentSort

MOST_SORTED = 1 << 20
"""Rows that are sorted at once at most."""

_RECORD_BYTES, _LISTED_BYTES, _COLUMN_BYTES = 120, 15, 48
"""What a record of a block takes, by measurement at 300,000: by itself, for each near record, for each column."""


def anonymize_in_ranges(
    table: SpilledTable,
    policy: Policy,
    seed: int | None = None,
    progress: Progress | None = None,
    *,
    range_rows: int | None = None,
) -> SpilledRelease:
    """Make what is to be published of a table whose rows lie in a file; a range has at most `range_rows` records.

    Raises
    ------
    Infeasible, PolicyError
        As `shoal.tables.anonymize.anonymize_table`, or where a quasi-identifier has other values than numbers or dates,
        or some are missing: averages then depend on groups of other ranges.
    TooManyDistinct
        If more records than fit into memory are equal in all quasi-identifiers.
    """
    step = progress or (lambda *_: None)
    attributes = attributes_of(table, policy)
    quasi = sorted(n for n, a in attributes.items() if a.role == "quasi")
    sensitive = sorted(n for n, a in attributes.items() if a.role == "sensitive")
    refuse_hopeless(table, policy, attributes, quasi, sensitive)
    kept = [n for n, a in attributes.items() if a.role != "identifying"]
    coded = {n: _numbers(table, n, attributes[n]) for n in quasi}
    refuse_infeasible([c.ranked for c in coded.values()], policy.k, np.array([table.n_records], dtype=np.int32))
    most = _records_that_fit(len(table.rows.names), len(quasi), policy.k)
    range_rows = min(range_rows or LARGER * policy.method.block_rows, most)
    n_records, notes = table.n_records, [*table.source.notes, *unstated_roles(attributes, policy)]

    n_ranges = max(1, min(-(-n_records // range_rows), n_records // policy.k))
    dealt = _Dealt.kept(table.rows.folder)
    if dealt is None:
        step("sorting records", 0, 0)
        content = _sorted_rows(table, quasi, kept, min(most, MOST_SORTED))
        points = _Points(coded, table.rows.counts, _in_order(list(coded.values()), content))
        records = CurveRecords.of(table.source.name, content, [points.column(n) for n in quasi], points.of, most)
        seen = _Seen(sample_rows(n_records, points.n_columns) if n_ranges > 1 else np.zeros(0, dtype=np.int32))
        ranges = records.dealt(table.rows.folder, n_ranges, seed, seen.look)
        dealt = _Dealt(ranges, seen.rows, records.sizes, points.order)
        dealt.keep(table.rows.folder)
    points = _Points(coded, table.rows.counts, dealt.order)
    grouped = _Averages(table, points)
    for i, file in enumerate(dealt.ranges):
        step("grouping records", i, n_ranges)

        def labels_of(rows: Rows2D, told: list[str]) -> Codes:
            if n_ranges > 1:
                return near_linear_labels(points.mixed(rows), policy.k)
            return partition_labels(points.ranked(rows), policy.k, policy.method, seed=seed, note=told.append)

        notes += grouped.add(file, labels_of)
    table.rows.folder.tell(grouped.n_taken_up, n_ranges)
    if n_ranges > 1:
        notes.append(near_linear_told(policy.method, policy.k, n_records, n_ranges, points.mixed(dealt.seen)))
    step("publishing groups", 0, n_ranges)
    return _published(table, policy, attributes, kept, grouped, dealt.sizes, notes, min(most, MOST_SORTED))


def _numbers(table: SpilledTable, name: str, attribute: Attribute) -> CodedAttribute:
    found = coded_column(table, name, attribute)
    if found.ranked.kind != "number":
        more = " with a hierarchy" if found.ranked.kind == "tree" else ""
        raise PolicyError(
            f"the column {name!r} is {attribute.type}{more}, and in "
            "bounded memory numbers and dates alone are averaged: give it the type continuous if it is a number, or "
            "leave memory out"
        )
    if found.ranked.has_missing:
        raise PolicyError(
            f"the column {name!r} has missing values, whose averages may be those of several groups, which needs all "
            "records in memory: leave memory out, or publish by generalising"
        )
    return found


def _records_that_fit(n_columns: int, n_quasi: int, k: int) -> int:
    """How many records a range may have."""
    n_listed = min(max(FEWEST_LISTED, 2 * k), MOST_LISTED)
    each = _RECORD_BYTES + _LISTED_BYTES * n_listed + _COLUMN_BYTES * n_quasi + 12 * n_columns
    memory = bound()
    return 1 << 30 if memory is None else max(1000, (memory - BASE_BYTES) // 2 // each)


class _Points:
    """Records as points on the scale of the whole table."""

    def __init__(self, coded: Mapping[str, CodedAttribute], counts: Mapping[str, Ints], order: Sequence[str]) -> None:
        self.coded, self.order = dict(coded), list(order)
        columns = []
        for c in (coded[name] for name in order):
            per_rank = np.bincount(c.rank_of_code, counts[c.ranked.name], c.ranked.n_values).astype(np.int64)
            columns.append((c, standardised(c.ranked.positions, per_rank)))
        self._columns = [(c, standard) for c, standard in columns if (standard != standard[0]).any()]

    @property
    def n_columns(self) -> int:
        """Of the points."""
        return max(1, len(self._columns))

    def column(self, name: str) -> int:
        """Where a quasi-identifier stands in the rows."""
        return self.coded[name].column

    def ranked(self, rows: Rows2D) -> list[Ranked]:
        """Some rows as methods see them."""
        return [replace(c.ranked, ranks=c.ranks(rows)) for c in self.coded.values()]

    def of(self, rows: Rows2D) -> Floats:
        """Their points."""
        if not self._columns:
            return np.zeros((len(rows), 1))
        return np.ascontiguousarray(np.column_stack([standard[c.ranks(rows)] for c, standard in self._columns]))

    def mixed(self, rows: Rows2D) -> MixedPoints:
        """The same for methods."""
        return points_of(self.of(rows))


def _in_order(columns: list[CodedAttribute], content: RowFile) -> list[str]:
    """Columns in the order of `shoal.tables.partition.mdav.mixed_points`: by their values, and then by their cells."""
    told = [(c.ranked.n_values, c.ranked.positions.tobytes()) for c in columns]
    cells = [b""] * len(columns)
    alike = [i for i, values in enumerate(told) if told.count(values) > 1]
    for rows in content.runs() if alike else ():
        here = {i: columns[i].ranks(rows).tobytes() for i in alike}
        if len({(told[i], cell) for i, cell in here.items()}) > len({told[i] for i in alike}):
            cells = [cell + here.get(i, b"") for i, cell in enumerate(cells)]
        if len({(told[i], cells[i]) for i in alike}) == len(alike):
            break
    return [columns[i].ranked.name for i in sorted(range(len(columns)), key=lambda i: (*told[i], cells[i]))]


class _Seen:
    """Some of the records that pass, by their numbers."""

    def __init__(self, wanted: Codes) -> None:
        self._wanted = wanted
        self._parts: list[Rows2D] = []

    def look(self, begin: int, records: Rows2D) -> None:
        """Take those that are wanted."""
        first, last = np.searchsorted(self._wanted, [begin, begin + len(records)])
        self._parts.append(records[self._wanted[first:last] - begin])

    @property
    def rows(self) -> Rows2D:
        """All that were wanted."""
        return np.concatenate(self._parts)


def _sorted_rows(table: SpilledTable, quasi: Sequence[str], kept: Sequence[str], sorted_rows: int) -> RowFile:
    """The rows in the order of their content, in a file; that they were read into is removed."""
    rows = table.rows
    order = [rows.names.index(n) for n in (*quasi, *sorted(set(kept) - set(quasi)))]
    sort = ContentSort(rows.folder, [table[n] for n in rows.names], order, sorted_rows)
    for run in rows.file.runs(sorted_rows):
        sort.add(run)
    rows.file.remove()
    content = rows.folder.new(len(rows.names))
    for piece in sort.pieces():
        content.append(piece)
    return content


@dataclass(frozen=True)
class _Dealt:
    """Records in ranges, some of all that were seen on the way, the sizes of classes, and the order of the columns."""

    ranges: list[RowFile]
    seen: Rows2D
    sizes: tuple[Ints, Ints]
    order: Sequence[str]

    @classmethod
    def kept(cls, folder: SpillFolder) -> _Dealt | None:
        """Those of an earlier run."""
        found, files = folder.finished(RANGES), folder.kept(RANGES)
        if found is None or files is None:
            return None
        sizes, times = (np.array(told, dtype=np.int64) for told in found.told["sizes"])
        return cls(files[:-1], files[-1].read(), (sizes, times), found.told["order"])

    def keep(self, folder: SpillFolder) -> None:
        """For a run that follows if this one is killed; the rows are not needed any more."""
        if folder.steps is None:
            return
        seen = folder.new(self.ranges[0].n_columns)
        seen.append(self.seen)
        told: dict[str, Any] = {"sizes": [a.tolist() for a in self.sizes], "order": list(self.order)}
        folder.keep(RANGES, [*self.ranges, seen], by_seed=True, **told)
        folder.drop(ROWS)


@dataclass(frozen=True)
class _Range:
    file: RowFile
    labels: Path


class _Averages:
    """The groups of ranges and their averages, in files."""

    def __init__(self, table: SpilledTable, points: _Points) -> None:
        self._table, self._points = table, points
        self._ranges: list[_Range] = []
        self.n_groups = self.n_taken_up = 0

    def add(self, file: RowFile, labels_of: Callable[[Rows2D, list[str]], Codes]) -> list[str]:
        """Group a range and average its groups; what there is to tell of it."""
        folder, number = self._table.rows.folder, len(self._ranges)
        found = folder.finished(f"groups-{number}")
        self.n_taken_up += found is not None
        if found is None:
            rows, notes = file.read(), list[str]()
            labels = labels_of(rows, notes)
            groups = Groups.of(labels)
            with folder.finishing(f"groups-{number}", by_seed=True) as step:
                told: Any = step.told
                told |= {"n_groups": len(groups.sizes), "notes": notes}
                save_arrays(step.path / f"groups-{number}.npy", labels + np.int32(self.n_groups))
                for ranked in self._points.ranked(rows):
                    save_arrays(step.path / self._means(ranked.name, number), group_means(ranked, groups))
            found = folder.finished(f"groups-{number}") or step
        self._ranges.append(_Range(file, found.path / f"groups-{number}.npy"))
        self.n_groups += found.told["n_groups"]
        return list(found.told["notes"])

    def _means(self, name: str, number: int) -> str:
        return f"means-{list(self._points.coded).index(name)}-{number}.npy"

    def columns(self) -> dict[str, Column]:
        """What is published of every group."""
        found = {}
        for name, coded in self._points.coded.items():
            files = [one.labels.parent / self._means(name, i) for i, one in enumerate(self._ranges)]
            means = np.concatenate([np.load(file) for file in files])
            found[name] = published_means(self._table[name], coded.ranked, means)
        return found

    @property
    def ranges(self) -> Iterator[tuple[Rows2D, Codes]]:
        """The records of every range, and their groups."""
        for one in self._ranges:
            yield one.file.read(), np.load(one.labels)


def _published(
    table: SpilledTable,
    policy: Policy,
    attributes: dict[str, Attribute],
    kept: Sequence[str],
    grouped: _Averages,
    sizes_before: tuple[Ints, Ints],
    notes: Sequence[str],
    sorted_rows: int,
) -> SpilledRelease:
    """Let every record have the averages of its group, and sort what is published by its content."""
    averages, names = grouped.columns(), table.rows.names
    quasi = sorted(averages)
    columns = {n: averages.get(n, table[n]) for n in kept}
    order = [*quasi, *sorted(set(kept) - set(quasi))]
    sort = ContentSort(table.rows.folder, list(columns.values()), [kept.index(n) for n in order], sorted_rows)
    sample = GroupSample(grouped.n_groups, table.n_records)
    for rows, of_group in grouped.ranges:
        shown = np.ones((len(rows), len(kept) + 1), dtype=np.int32)
        for j, n in enumerate(kept):
            shown[:, j] = averages[n].codes[of_group] if n in averages else rows[:, names.index(n)]
        sample.add(rows, shown, of_group)
        for begin in range(0, len(shown), sorted_rows):
            sort.add(shown[begin : begin + sorted_rows])
    original, made = sample.made(table, columns, attributes, quasi, policy)

    def evidence() -> Iterator[Averaged]:
        for rows, of_group in grouped.ranges:
            own = {n: replace(table[n], codes=np.ascontiguousarray(rows[:, names.index(n)])).compact() for n in quasi}
            shown = {n: replace(averages[n], codes=averages[n].codes[of_group]).compact() for n in quasi}
            yield Averaged(Table(own), Table(shown), of_group.astype(np.int64))

    return SpilledRelease(
        columns,
        table.n_records,
        replace(made, notes=tuple(notes)),
        original,
        sizes_before,
        sort.pieces,
        evidence,
    )
