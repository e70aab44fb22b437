"""A release of rows that lie in files, by strict Mondrian: the bytes are those of the same table in memory.

The first cuts are made from histograms (`shoal.tables.spilled.cuts`), and every block is then cut to the end by itself.
Of each group stays what its labels depend on, and labels are made for all groups at once, as they depend on each other
(`shoal.data.tables.round_ends`). Then rows get the labels of their groups, and are sorted by their content
(`shoal.tables.spilled.sort`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.check.tables.averages_in_blocks import Averaged
from shoal.check.tables.classes import classes_of
from shoal.data.memory import bound
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.kept_table import BLOCKS, ROWS
from shoal.data.tables.label_room import LabelRoom
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.room import TooManyDistinct, n_that_fit, value_bytes
from shoal.data.tables.spill import RowFile, Rows2D, SpilledTable, SpillFolder, save_arrays
from shoal.data.tables.table import Column, Table
from shoal.errors import PolicyError
from shoal.kinds.tables.policy import Policy
from shoal.progress import Progress
from shoal.resume import FinishedStep
from shoal.tables.anonymize import Anonymized, Behind, refuse_hopeless, unstated_roles
from shoal.tables.collapse import joined_rows
from shoal.tables.encoding import rank
from shoal.tables.groups import Groups
from shoal.tables.limits import limits_on_table
from shoal.tables.partition.mondrian import block_arguments, finish_block, refuse_unlimited
from shoal.tables.publish.generalise import Spans, label_groups
from shoal.tables.record_order import content_order
from shoal.tables.spilled.cuts import CodedAttribute, CodedLimit, first_cuts
from shoal.tables.spilled.sort import ContentSort

MOST_BLOCK_ROWS = 1 << 20
"""Rows of a block at most: larger ones are not cut faster."""

SAMPLE_ROWS = 200_000
"""Rows, in whole groups, that measures and attacks look at."""


@dataclass(frozen=True)
class SpilledRelease:
    """What was made of rows in files.

    Attributes
    ----------
    columns : dict of str to Column
        What is published, in order: dictionaries, and no rows.
    n_records : int
        Of all that is published.
    sample : Anonymized
        Some whole groups, as if they were all.
    original : Table
        The rows of the original that stand behind the sample.
    sizes_before : two int64 arrays
        Sizes of the classes of the original, by records, and how many classes have each.
    pieces : callable
        Gives the published rows in their order, once.
    evidence : callable, optional
        Of averages: gives what each block of records became, as long as the files are there.
    """

    columns: dict[str, Column]
    n_records: int
    sample: Anonymized
    original: Table
    sizes_before: tuple[Ints, Ints]
    pieces: Callable[[], Iterator[Rows2D]]
    evidence: Callable[[], Iterator[Averaged]] | None = None


def anonymize_spilled(
    table: SpilledTable, policy: Policy, progress: Progress | None = None, *, block_rows: int | None = None
) -> SpilledRelease:
    """Make what is to be published of a table whose rows lie in a file; `block_rows` of them are held at once.

    Raises
    ------
    Infeasible, PolicyError
        As `shoal.tables.anonymize.anonymize_table`.
    DataError
        If the rows of a block that cannot be cut do not fit into memory.
    """
    step = progress or (lambda *_: None)
    attributes = attributes_of(table, policy)
    quasi = sorted(n for n, a in attributes.items() if a.role == "quasi")
    sensitive = sorted(n for n, a in attributes.items() if a.role == "sensitive")
    refuse_hopeless(table, policy, attributes, quasi, sensitive)
    rows, kept = table.rows, [n for n, a in attributes.items() if a.role != "identifying"]
    coded = {n: coded_column(table, n, attributes[n]) for n in quasi}
    limits = _limits(table, policy, attributes, sensitive)
    block_rows = block_rows or _rows_that_fit(len(rows.names), value_bytes(table.columns.values()))

    blocks = rows.folder.kept(BLOCKS)
    if blocks is None:
        step("making the first cuts", 0, rows.file.n_rows)
        blocks = first_cuts(
            rows.file,
            rows.folder,
            list(coded.values()),
            limits,
            policy.k,
            block_rows,
            lambda done, total: step("making the first cuts", done, total),
        )
        rows.folder.keep(BLOCKS, blocks)
    rows.folder.drop(ROWS)
    rows.file.remove()
    if max(block.n_rows for block in blocks) > 2 * block_rows:
        what = "rows are in a block that cannot be cut"
        raise TooManyDistinct(Path(table.source.name), max(b.n_rows for b in blocks), bound() or 0, what)
    grouped = _Grouped(table, policy, coded, limits)
    for i, block in enumerate(blocks):
        step("grouping records", i, len(blocks))
        grouped.add(block)
    rows.folder.tell(grouped.n_taken_up, len(blocks))
    step("publishing groups", 0, 0)
    room = LabelRoom.beside(table.columns.values(), block_rows)
    labels = {n: grouped.labels(n, attributes[n], room) for n in quasi}
    columns = {n: labels.get(n, table[n]) for n in kept}
    order = [*quasi, *sorted(set(kept) - set(quasi))]
    sort = ContentSort(rows.folder, list(columns.values()), [kept.index(n) for n in order], block_rows)
    sample = GroupSample(grouped.n_groups, grouped.n_rows)
    for i, (of_group, block) in enumerate(grouped.blocks):
        step("publishing groups", i, len(blocks))
        found = block.read()
        shown = np.empty((len(found), len(kept) + 1), dtype=np.int32)
        for j, n in enumerate(kept):
            own = found[:, rows.names.index(n)]
            shown[:, j] = labels[n].codes[of_group] if n in labels else own
        shown[:, -1] = found[:, -1]
        sort.add(shown)
        sample.add(found, shown, of_group)
        block.remove()
    original, made = sample.made(table, columns, attributes, quasi, policy)
    notes = (*table.source.notes, *unstated_roles(attributes, policy))
    return SpilledRelease(
        columns,
        rows.n_records,
        replace(made, notes=notes),
        original,
        grouped.sizes_before,
        sort.pieces,
    )


def _rows_that_fit(n_columns: int, taken: int) -> int:
    """How many rows a block may have."""
    most = n_that_fit(n_columns, taken)
    return MOST_BLOCK_ROWS if most is None else max(1, min(MOST_BLOCK_ROWS, most // 2))


def _n_codes(column: Column) -> int:
    return len(column.values) + len(column.markers)


def coded_column(table: SpilledTable, name: str, attribute: Attribute) -> CodedAttribute:
    """A quasi-identifier as methods see it."""
    found = rank(table[name], attribute)  # of every code once, and then again
    return CodedAttribute(table.rows.names.index(name), found.ranks[: _n_codes(table[name])].copy(), found)


def _limits(
    table: SpilledTable, policy: Policy, attributes: dict[str, Attribute], sensitive: Sequence[str]
) -> list[CodedLimit]:
    """What groups have to satisfy, measured against the whole table."""
    persons = np.zeros(table.n_rows, dtype=np.int64) if policy.person else None
    found = []
    for limit in limits_on_table(table, policy.require, attributes, sensitive, policy.missing, persons):
        if limit.own is not None:
            raise PolicyError(f"{limit.text} is kept by joining groups, which needs all records: leave memory out")
        if limit.name:
            place, ranks = table.rows.names.index(limit.name), limit.codes[: _n_codes(table[limit.name])].copy()
            counts = np.bincount(ranks, table.rows.counts[limit.name], limit.n_values).astype(np.int64)
        else:  # on persons
            place, ranks = None, np.zeros(1, dtype=np.int32)
            counts = np.array([table.n_records], dtype=np.int64)
        every = np.arange(len(counts), dtype=np.int32)
        refuse_unlimited([replace(limit, codes=every, counts=counts, weights=counts.astype(np.int32))], len(counts))
        found.append(CodedLimit(place, ranks, replace(limit, counts=counts)))
    return found


class _Grouped:
    """The groups of blocks, and what is left of each for its labels."""

    def __init__(
        self, table: SpilledTable, policy: Policy, coded: dict[str, CodedAttribute], limits: Sequence[CodedLimit]
    ) -> None:
        self._table, self._policy, self._coded, self._limits = table, policy, coded, limits
        self._counts = {
            n: np.bincount(c.rank_of_code, table.rows.counts[n], c.ranked.n_values).astype(np.int64)
            for n, c in coded.items()
        }
        self._spans: list[list[str]] = []
        self._labels: list[tuple[Path, RowFile]] = []
        self._sizes: dict[int, int] = {}
        self.n_groups = self.n_rows = self.n_taken_up = 0

    @property
    def _folder(self) -> SpillFolder:
        return self._table.rows.folder

    @property
    def _rounded(self) -> bool:
        return self._policy.method.ends == "rounded"

    def add(self, block: RowFile) -> None:
        """Cut a block to the end."""
        found = self._folder.finished(f"groups-{len(self._labels)}")
        self.n_taken_up += found is not None
        found = found or self._cut(block)
        self._labels.append((found.path / f"groups-{len(self._labels)}.npy", block))
        for size, n_classes in found.told["sizes"]:
            self._sizes[size] = self._sizes.get(size, 0) + n_classes
        self.n_groups += found.told["n_groups"]
        self.n_rows += block.n_rows

    def _cut(self, block: RowFile) -> FinishedStep:
        rows = block.read()
        weights = np.ascontiguousarray(rows[:, -1])
        ranked = [replace(c.ranked, ranks=c.ranks(rows)) for c in self._coded.values()]
        held = [limit.of_rows(rows) for limit in self._limits]
        everyone = np.arange(len(rows), dtype=np.int32)
        labels = finish_block(*block_arguments(ranked, everyone, self._policy.k, held, True, weights))
        groups, number = Groups.of(labels), len(self._labels)
        sizes = classes_of(self._table.some(rows), list(self._coded), markers=self._policy.missing_markers).sizes
        with self._folder.finishing(f"groups-{number}") as step:
            told: Any = step.told
            told["sizes"] = list(zip(*(a.tolist() for a in np.unique(sizes, return_counts=True)), strict=True))
            told["n_groups"] = len(groups.sizes)
            for n, r in zip(self._coded, ranked, strict=True):
                spans = Spans.of(r, groups, self._counts[n] if self._rounded else None)
                save_arrays(step.path / self._file(n, number), *(getattr(spans, name) for name in spans.names()))
            save_arrays(step.path / f"groups-{number}.npy", labels + np.int32(self.n_groups))
        return self._folder.finished(f"groups-{number}") or step

    def _file(self, name: str, number: int) -> str:
        return f"spans-{list(self._coded).index(name)}-{number}.npz"

    def labels(self, name: str, attribute: Attribute, room: LabelRoom) -> Column:
        """The label of every group in a column."""
        parts = []
        for number, (groups, _) in enumerate(self._labels):
            path = groups.parent / self._file(name, number)
            with np.load(path) as found:
                parts.append(Spans(*found.values()))
            self._folder.forget(path)
        return label_groups(
            self._table[name],
            self._coded[name].ranked,
            Spans.joined(parts),
            attribute.hierarchy,
            missing=self._policy.missing,
            counts=self._counts[name] if self._rounded else None,
            room=room,
        )

    @property
    def blocks(self) -> Iterator[tuple[Codes, RowFile]]:
        """The group of each row of a block, and the block."""
        for path, block in self._labels:
            yield np.load(path), block
            self._folder.forget(path)

    @property
    def sizes_before(self) -> tuple[Ints, Ints]:
        """Sizes of the original's classes, which no cut parts, and how many have each."""
        sizes = np.array(sorted(self._sizes), dtype=np.int64)
        return sizes, np.array([self._sizes[size] for size in sizes.tolist()], dtype=np.int64)


class GroupSample:
    """Some whole groups, each as likely as any other."""

    def __init__(self, n_groups: int, n_rows: int) -> None:
        share = min(1.0, SAMPLE_ROWS / max(1, n_rows))
        wanted = max(1, int(n_groups * share))
        self._is_drawn = np.zeros(n_groups, dtype=bool)
        self._is_drawn[np.random.default_rng(0).permutation(n_groups)[:wanted]] = True
        self._parts: list[tuple[Rows2D, Rows2D, Codes]] = []

    def add(self, rows: Rows2D, shown: Rows2D, groups: Codes) -> None:
        """Take the rows of a block that are in groups which were drawn."""
        some = self._is_drawn[groups]
        self._parts.append((rows[some], shown[some], groups[some]))

    def made(
        self,
        table: SpilledTable,
        columns: dict[str, Column],
        attributes: dict[str, Attribute],
        quasi: Sequence[str],
        policy: Policy,
    ) -> tuple[Table, Anonymized]:
        """The original of the sample, and what was made of it."""
        rows, shown, groups = (np.concatenate(parts) for parts in zip(*self._parts, strict=True))
        original = table.some(rows)
        cells = {n: replace(c, codes=np.ascontiguousarray(shown[:, j])) for j, (n, c) in enumerate(columns.items())}
        published = Table(cells, table.source, original.weights, table.is_one_each)
        everything = content_order(published, quasi, published.names)
        published, final, place = joined_rows(published, everything)
        behind = Behind(everything, groups[everything], place)
        made = Anonymized(published.take(final), attributes, final, groups[final], (), behind=behind)
        return original, made
