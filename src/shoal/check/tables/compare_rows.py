"""Are the rows of a published table those of the original? Everything that speaks against it, a sentence each.

Every published row must have a record of its own that its labels cover and whose kept cells it has. Which record that
is, nobody says, so what is looked for is whether rows and records can be paired off (`assignment`). Where the owner
kept the records of the rows, each row is compared with its own.

Averages cover nothing. Of them it is asked whether records with the kept cells of a class could have such a mean: for
columns without missing cells, the mean of the least and of the greatest values that records with those cells have are
bounds. The more the kept cells tell records apart, the closer they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints
from shoal.check.guarantee import count
from shoal.check.slices.boxes import CheckedBoxes
from shoal.check.slices.matching import Finder, spread
from shoal.check.slices.sliced import CheckedSlices, Part, numbered
from shoal.check.tables.alongside import Alongside, alongside
from shoal.check.tables.assignment import count_unplaced
from shoal.check.tables.cells import published
from shoal.check.tables.covering import ValueScale, covering_of, scale_of
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.dictionary import objects
from shoal.data.tables.labels import read_label
from shoal.data.tables.slices import Layout, Slice
from shoal.data.tables.table import Column, Table, count_codes, counted, spell

MOST_PAIRS = 30_000_000  # of a class and a tuple that it covers, or of kinds of rows and records
AT_ONCE = 1 << 19  # rows of the original that are looked up at once
_SLACK = 1e-9
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Compared:
    """What was found, and what could not be compared; a sentence each."""

    findings: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()


@dataclass(frozen=True)
class ComparedTables:
    """A published table beside its original.

    Attributes
    ----------
    quasi, kept : tuple of str
        Columns that were made alike, and columns that were published as they are; of those that both tables have.
    is_meaning_known : bool
        Whether the attributes have all orders and hierarchies that labels were made with.
    rows : int64 array (n_published,), optional
        The original row of each published one.
    groups : pair of int64 arrays, optional
        The group of each published and of each original record, of pseudo-records; a negative one is none.
    persons : pair of int64 arrays, optional
        Whose each published row is, by the owner's list, and whose each record: a row stands for one of its person.
    """

    published: Table
    original: Table
    attributes: Mapping[str, Attribute]
    quasi: tuple[str, ...]
    kept: tuple[str, ...]
    markers: Sequence[str]
    is_meaning_known: bool
    rows: Ints | None = None
    groups: tuple[Ints, Ints] | None = None
    persons: tuple[Ints, Ints] | None = None


def compare_kept(tables: ComparedTables) -> list[str]:
    """Combinations of cells that were published as they are, and that the original has not, or not so often."""
    return _surplus_told(tables, count_surplus(tables))


def count_surplus(tables: ComparedTables) -> int:
    """How many rows have kept cells that no record of the original is left for."""
    shown, had = _kept_keys(tables)
    if tables.groups is not None:
        both = [np.concatenate([shown, had]), np.concatenate(tables.groups) + 1]
        ids, _ = numbered(both)
        shown, had = np.split(ids, [len(shown)])
    width = int(max(shown.max(initial=0), had.max(initial=0))) + 1
    n_shown = count_codes(shown, tables.published.weights, width)
    return int(np.maximum(n_shown - count_codes(had, tables.original.weights, width), 0).sum())


def _surplus_told(tables: ComparedTables, n_surplus: int) -> list[str]:
    if not n_surplus:
        return []
    beside = "" if tables.groups is None else " of the same group"
    names = ", ".join(map(repr, tables.kept))
    what = f"cells in {names}" if len(tables.kept) == 1 else f"cells in {names} together"
    if tables.persons is not None:
        what = f"a person, and {what}," if tables.kept else "a person"
    return [f"{count(n_surplus, 'row')} with {what} that no record of the original{beside} is left for"]


def compare_labels(tables: ComparedTables) -> Compared:
    """Compare generalised or recoded rows with the records that they stand for."""
    readable, findings, skipped = readable_labels(tables)
    if findings:
        return Compared(tuple(findings))
    not_compared = unread_labels(skipped)
    if tables.rows is not None:
        return Compared(tuple(_compare_own(tables, readable, tables.rows)), tuple(not_compared))
    if not readable:
        return Compared(tuple(compare_kept(tables)), tuple(not_compared))
    found = pair_off(tables, readable).told(tables)
    return Compared(found.findings, (*not_compared, *found.not_compared))


def unread_labels(names: Sequence[str]) -> list[str]:
    """What is said of columns whose labels need more to be read."""
    return [
        f"the labels of {n!r}, which cannot be read without the order or hierarchy that they were made with; give the "
        "policy with -p"
        for n in names
    ]


@dataclass(frozen=True)
class PairedOff:
    """Rows that were paired off with records that their labels cover; of parts of a table, what is found adds up.

    Attributes
    ----------
    n_unplaced : int
        Rows for which no record is left; where that took too long, those that no record fits at all.
    n_surplus : int
        Where it was not decided, and each row fits a record: rows whose kept cells alone no record is left for.
    undecided : tuple of str
        What was not compared, a phrase each.
    """

    n_unplaced: int = 0
    n_surplus: int = 0
    undecided: tuple[str, ...] = ()

    def with_part(self, other: PairedOff) -> PairedOff:
        """Of two parts; no row of one fits a record of the other."""
        undecided = tuple(dict.fromkeys((*self.undecided, *other.undecided)))
        return PairedOff(self.n_unplaced + other.n_unplaced, self.n_surplus + other.n_surplus, undecided)

    def told(self, tables: ComparedTables) -> Compared:
        """In sentences."""
        findings = _surplus_told(tables, self.n_surplus)
        if self.n_unplaced:
            is_listed = tables.persons is not None
            findings = [_unplaced(self.n_unplaced, is_kept=bool(tables.kept), is_listed=is_listed)]
        return Compared(tuple(findings), self.undecided)


def compare_averages(tables: ComparedTables, *, is_stretched: bool) -> Compared:
    """Compare aggregated rows with the records that could stand behind them."""
    findings = compare_kept(tables) if tables.rows is None else _compare_own(tables, (), tables.rows)
    if tables.rows is not None and findings:
        return Compared(tuple(findings))
    columns = alongside(tables.published, tables.original, tables.quasi, tables.markers, tables.attributes)
    ids, _ = numbered([c.published + 1 for c in columns])
    keys = None if tables.rows is not None else _kept_keys(tables)
    n_wrong = {}
    for column in columns:
        if column.original_numbers is None:
            n_wrong[column.name] = int((~np.isin(column.published, column.original)).sum())
        elif not is_stretched:
            n_wrong[column.name] = _beyond(column, ids, keys, tables.rows)
    findings += [
        f"{count(n, 'row')} with an average in {name!r} that no such records of the original can have"
        for name, n in n_wrong.items()
        if n
    ]
    left = []
    if tables.rows is None:
        left.append(
            "of which records the averages are, and so whether other cells stand beside the right ones; keep the rows "
            "(--keep rows) and give --private"
        )
    if is_stretched and any(c.original_numbers is not None for c in columns):
        left.append("the size of averages that were stretched to keep the variance")
    return Compared(tuple(findings), tuple(left))


def _beyond(column: Alongside, ids: Ints, keys: tuple[Ints, Ints] | None, rows: Ints | None) -> int:
    """Rows of classes whose average is no possible one."""
    values, means = column.original_numbers, column.published_numbers
    assert values is not None
    assert means is not None
    present = ~np.isnan(values)
    if not present.any():
        return int((~np.isnan(means)).sum())
    low, high = float(values[present].min()), float(values[present].max())
    slack = 1.0 if column.is_date else _SLACK * max(abs(low), abs(high), 1.0)
    with np.errstate(invalid="ignore"):
        outside = (means < low - slack) | (means > high + slack)
    if present.all():
        sizes = np.bincount(ids)
        for bound, sign in zip(_bounds(values, keys, rows), (-1.0, 1.0), strict=True):
            reached = np.bincount(ids, bound / sizes[ids])  # of huge numbers the sum is none
            outside |= sign * (means - reached[ids]) > slack
    return int(outside.sum())


def _bounds(values: Floats, keys: tuple[Ints, Ints] | None, rows: Ints | None) -> tuple[Floats, Floats]:
    """The least and the greatest value that the record of each row may have."""
    if rows is not None:
        return values[rows], values[rows]
    assert keys is not None
    shown, had = keys
    width = int(max(shown.max(), had.max())) + 1
    least, most = np.full(width, values.min()), np.full(width, values.max())  # of cells that no record has: any
    there = np.bincount(had, minlength=width) > 0
    least[there], most[there] = np.inf, -np.inf
    np.minimum.at(least, had, values)
    np.maximum.at(most, had, values)
    return least[shown], most[shown]


def _kept_keys(tables: ComparedTables) -> tuple[Ints, Ints]:
    """The kept cells of each row and of each record as one number."""
    n_rows = tables.published.n_rows
    both = [np.concatenate(alike_cells(tables.published[n], tables.original[n], tables.markers)) for n in tables.kept]
    both += [] if tables.persons is None else [np.concatenate(tables.persons)]
    ids, _ = numbered(both or [np.zeros(n_rows + tables.original.n_rows, dtype=np.int64)])
    return ids[:n_rows], ids[n_rows:]


def alike_cells(one: Column, other: Column, markers: Sequence[str]) -> tuple[Ints, Ints]:
    """The cells of two columns in one numbering: equal where they read the same."""
    columns = [published(c, markers) for c in (one, other)]
    kinds = {c.values.dtype.kind for c in columns}
    keys: list[npt.NDArray[np.generic]]
    if kinds == {"M"} or (kinds == {"M", "O"} and all(map(_are_moments, columns))):
        keys = [c.values.astype("datetime64[us]") for c in columns]
    else:
        keys = [objects(spell(c.values)) for c in columns]
    place = np.unique(np.concatenate(keys), return_inverse=True)[1].astype(np.int64)
    spelled = sorted({m or "" for c in columns for m in c.markers})
    found = []
    for column, of_value in zip(columns, np.split(place, [len(keys[0])]), strict=True):
        absent = [len(place) + spelled.index(m or "") for m in column.markers]
        found.append(np.array([*of_value.tolist(), *absent, len(place) + len(spelled)], dtype=np.int64)[column.codes])
    return found[0], found[1]


def _are_moments(column: Column) -> bool:
    try:
        column.values.astype("datetime64[us]")
    except ValueError:
        return False
    return True


def readable_labels(tables: ComparedTables) -> tuple[list[str], list[str], list[str]]:
    """Columns whose labels can be read, what is wrong with others, and those that need more to be read."""
    good, findings, skipped = [], [], []
    for name in tables.quasi:
        attribute = tables.attributes[name]
        source = published(tables.original[name], tables.markers)
        column = published(tables.published[name], tables.markers)
        scale = scale_of(source, attribute)
        covering = covering_of(column, scale, missing="value")
        n_unread = int(np.sum(column.counts(tables.published.weights) * covering.unreadable))
        texts = spell(column.values)
        # Only a hierarchy or an order could give such labels a meaning.
        is_name = any(read_label(texts[i]).kind == "value" for i in np.flatnonzero(covering.unreadable[: len(texts)]))
        is_guessed = attribute.type == "ordinal" and attribute.order is None and scale.keys.dtype.kind != "f"
        is_guessed &= not bool(np.all(covering.low == covering.high))
        if not tables.is_meaning_known and (is_name or is_guessed):
            skipped.append(name)
        elif n_unread:
            findings.append(f"the column {name!r} holds {n_unread:,} cells that stand for no value of the original")
        else:
            good.append(name)
    return good, findings, skipped


def _compare_own(tables: ComparedTables, quasi: Sequence[str], rows: Ints) -> list[str]:
    n_rows = tables.published.n_rows
    if len(rows) != n_rows or len(np.unique(rows)) < n_rows or rows.max() >= tables.original.n_rows or rows.min() < 0:
        return ["the rows that were kept are not those of this release and original"]
    findings = []
    for name in quasi:
        source = published(tables.original[name], tables.markers)
        column = published(tables.published[name], tables.markers)
        scale = scale_of(source, tables.attributes[name])
        covering = covering_of(column, scale, missing="value")
        wrong = ~covering.covers(column.codes.astype(np.int64), scale.of_code[source.codes[rows]])
        if wrong.any():
            findings.append(f"{count(int(wrong.sum()), 'row')} with a label of {name!r} that does not cover its record")
    shown, had = _kept_keys(tables)
    n_other = int((shown != had[rows]).sum())
    if n_other:
        findings.append(
            f"{count(n_other, 'row')} with other cells than its record has, in columns published as they are"
        )
    return findings


def pair_off(tables: ComparedTables, quasi: Sequence[str]) -> PairedOff:
    """Pair off rows with records that the labels of some columns cover, and that have the same kept cells."""
    table = tables.published
    columns = tuple(published(table[n], tables.markers) for n in quasi)
    region, first = numbered([c.codes for c in columns])
    sizes = np.bincount(region)
    every = np.arange(len(first))
    zeros = np.zeros(table.n_rows, dtype=np.int64)
    part = Part(0, tuple(quasi), columns, False, region, first, sizes, every, zeros, region)
    layout = Layout("", (Slice(tuple(quasi), tuple(quasi)),))
    sliced = CheckedSlices(table, layout, tables.attributes, every + 1, sizes, (part,), (), 1)
    shown, had = _kept_keys(tables)
    width = int(max(shown.max(initial=0), had.max(initial=0))) + 1
    row_types, n_rows = counted(region * width + shown, table.weights)
    edges: list[tuple[Codes, Codes]] = []
    n_pairs, found = 0, [zeros[:0]]
    scales = {n: scale_of(published(tables.original[n], tables.markers), tables.attributes[n]) for n in quasi}
    index: CheckedBoxes | None = None
    for rows in _pieces(tables, scales):
        n_before = sum(map(len, found))
        counts, index, pairs = _fitting(sliced, tables, rows, scales, had, row_types, width, index)
        found.append(counts)
        for n_looked_at, row, record in pairs:
            edges.append((row.astype(np.int32), (n_before + record).astype(np.int32)))
            n_pairs += n_looked_at + len(row)
            if n_pairs > MOST_PAIRS:
                undecided = "the rows with their records: too many records fit a row; keep the rows and give --private"
                return PairedOff(n_surplus=count_surplus(tables), undecided=(undecided,))
    n_records = np.concatenate(found)
    row, record = (np.concatenate([zeros[:0].astype(np.int32), *(e[i] for e in edges)]) for i in (0, 1))
    edges.clear()
    n_unplaced = count_unplaced(row, record, n_rows, n_records)
    if n_unplaced is not None:
        return PairedOff(n_unplaced)
    undecided = "whether every row has a record of its own: each fits one, but whether all do at once took too long"
    n_homeless = int(n_rows[np.bincount(row, minlength=len(row_types)) == 0].sum())
    return PairedOff(n_homeless, 0 if n_homeless else count_surplus(tables), (undecided,))


def _fitting(
    sliced: CheckedSlices,
    tables: ComparedTables,
    rows: Ints,
    scales: Mapping[str, ValueScale],
    had: Ints,
    row_types: Ints,
    width: int,
    index: CheckedBoxes | None,
) -> tuple[Ints, CheckedBoxes, Iterator[tuple[int, Ints, Ints]]]:
    """How many of some records are of each kind, and which kinds of rows each kind may stand behind, in portions.

    A portion is the number of pairs that were looked at, and the kinds of rows and of records of those that fit. The
    index of the rows is made for the first of the records, and serves for all.
    """
    records = tables.original.take(rows)
    finder = Finder(sliced, records, tables.attributes, "value", tables.markers, scales=scales)
    made = finder.index(np.arange(finder.n_tuples)) if index is None else index
    record_types, counts = counted(finder.of_record * width + had[rows], records.weights)
    starts = np.searchsorted(record_types, np.arange(finder.n_tuples + 1) * width)

    def pairs() -> Iterator[tuple[int, Ints, Ints]]:
        for tuples, regions in finder.covering_regions(made):
            owner, record = spread(starts[tuples], starts[tuples + 1] - starts[tuples])
            keys = regions[owner] * width + record_types[record] % width
            at = np.minimum(np.searchsorted(row_types, keys), len(row_types) - 1)
            there = row_types[at] == keys
            yield len(tuples), at[there], record[there]

    return counts, made, pairs()


def _pieces(tables: ComparedTables, scales: Mapping[str, ValueScale]) -> Iterator[Ints]:
    """The rows of the original, so many at a time; those that are equal in all quasi-identifiers are in one piece."""
    n_rows = tables.original.n_rows
    n_pieces = -(-n_rows // AT_ONCE)
    if n_pieces == 1:
        yield np.arange(n_rows)
        return
    mixed = np.zeros(n_rows, dtype=np.uint64)
    for name, scale in scales.items():
        mixed *= _SPREAD
        mixed += scale.of_code[published(tables.original[name], tables.markers).codes].astype(np.uint64)
    piece = (mixed * _SPREAD >> np.uint64(40)) % np.uint64(n_pieces)
    for number in range(n_pieces):
        yield np.flatnonzero(piece == number)


def _unplaced(n: int, *, is_kept: bool, is_listed: bool) -> str:
    other = ", or whose other cells are not its own" * is_kept
    person = ", or that is another person's than the list of persons says" * is_listed
    return f"{count(n, 'row')} that no record of the original is left for: whose labels do not cover it{other}{person}"
