"""Are the rows of a published file those of an original, where neither is held in memory? In parts, by kept cells.

A row and the record that it stands for have the same cells in the columns that were published as they are. So both are
dealt to parts by these: a row of one part fits no record of another, and what is found in the parts adds up to what
`shoal.check.tables.compare_rows` finds of all at once. Without such columns, or if too many rows share their cells
there, rows are not compared, which is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.arrays import Ints
from shoal.check.tables.compare_rows import (
    Compared,
    ComparedTables,
    PairedOff,
    alike_cells,
    compare_kept,
    count_surplus,
    pair_off,
    readable_labels,
    unread_labels,
)
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.coded_rows import MOST_PARTS, TRIES, CodedRows, more_parts
from shoal.data.tables.room import n_that_fit
from shoal.data.tables.table import Columns, Table


def one_column(rows: Columns, name: str) -> Table:
    """A column by itself, each value once, with the number of its records."""
    column, counts = rows.marginal(name)
    weights = None if counts is None else counts.astype(np.int32)
    return Table({name: column}, weights=weights)


def compare_parts(
    rows: CodedRows,
    original: CodedRows,
    attributes: Mapping[str, Attribute],
    quasi: Sequence[str],
    kept: Sequence[str],
    markers: Sequence[str],
    *,
    is_meaning_known: bool,
    n_parts: int | None = None,
) -> Compared:
    """Compare generalised rows with the records that they stand for; see `shoal.check.tables.compare_rows`.

    Parameters
    ----------
    quasi, kept : sequence of str
        Columns that were made alike, and columns that were published as they are; both files have them.
    n_parts : int, optional
        How many; else as many as it takes.
    """

    def of_column(name: str, quasi: Sequence[str], kept: Sequence[str]) -> ComparedTables:
        one, other = one_column(rows, name), one_column(original, name)
        return ComparedTables(one, other, attributes, tuple(quasi), tuple(kept), markers, is_meaning_known)

    wrong = [n for n in kept if compare_kept(of_column(n, (), [n]))]
    if wrong:
        return Compared(
            tuple(f"the column {n!r} holds cells that the original does not have, or more of them" for n in wrong)
        )
    read = [readable_labels(of_column(n, [n], ())) for n in quasi]
    if any(findings for _, findings, _ in read):
        return Compared(tuple(finding for _, findings, _ in read for finding in findings))
    readable = [n for good, _, _ in read for n in good]
    left = unread_labels([n for _, _, skipped in read for n in skipped])
    shared = {n: alike_cells(rows.dictionaries[n], original.dictionaries[n], markers) for n in kept}
    ours, theirs = ({n: both[i] for n, both in shared.items()} for i in (0, 1))
    chosen = n_parts or _enough(rows, original, kept, ours, theirs, n_that_fit(len(quasi) + len(kept)))
    if not kept or chosen is None:
        why = "too many share their cells in columns published as they are" if kept else "none is published as it is"
        left.append(
            f"any row with the record that it stands for, which is done by columns published as they are: {why}"
        )
        return Compared((), tuple(left))
    found, tables = PairedOff(), None
    dealt = (r.parts(kept, readable, n_parts=chosen, shared=s) for r, s in ((rows, ours), (original, theirs)))
    for (_, _, table), (_, _, records) in zip(*dealt, strict=True):
        tables = ComparedTables(table, records, attributes, tuple(readable), tuple(kept), markers, is_meaning_known)
        if not readable:
            part = PairedOff(n_surplus=count_surplus(tables))
        elif not (table.n_rows and records.n_rows):
            part = PairedOff(table.n_records)
        else:
            part = pair_off(tables, readable)
        found = found.with_part(part)
    assert tables is not None
    told = found.told(tables)
    return Compared(told.findings, (*left, *told.not_compared))


def _enough(
    rows: CodedRows,
    original: CodedRows,
    kept: Sequence[str],
    ours: Mapping[str, Ints],
    theirs: Mapping[str, Ints],
    most: int | None,
) -> int | None:
    """How many parts it takes for each to fit, with the records of the original; None where none is enough."""
    if not kept:
        return None
    chosen, largest = 1, rows.n_rows + original.n_rows
    if most is None or largest <= most:
        return 1
    for _ in range(TRIES):
        chosen = more_parts(chosen, largest, most)
        if chosen > MOST_PARTS:
            return None
        sizes = rows.part_sizes(kept, chosen, ours) + original.part_sizes(kept, chosen, theirs)
        largest = int(sizes.max())
        if largest <= most:
            return chosen
    return None
