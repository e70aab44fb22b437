"""Days that were moved by person: whether all of a person moved by one whole number of days, within the window."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.check.guarantee import count
from shoal.check.tables.alongside import alongside
from shoal.check.tables.cells import published
from shoal.check.tables.compare_rows import Compared
from shoal.data.tables.attribute import Attribute, Type
from shoal.data.tables.parse import numbers_of, parse_numbers
from shoal.data.tables.table import Table

SLACK = 1e-9
"""In days: less than a tenth of a millisecond."""
UNSEEN = (
    "that {names} moved by one number of days for each person; keep the rows (--keep rows), and give --original and "
    "--private"
)


def dates_beside(attributes: Mapping[str, Attribute], shifted: Collection[str], is_shifted: bool) -> list[str]:
    """Dates that are published as they are though others are moved: beside them it shows by how much.

    `is_shifted` tells whether some are, in this table or in one that is linked with it.
    """
    kept = [n for n, a in attributes.items() if a.type == "date" and a.role in ("sensitive", "insensitive")]
    return [n for n in kept if n not in shifted] if is_shifted else []


def days_of(table: Table, names: Sequence[str], markers: Sequence[str]) -> dict[str, Floats]:
    """What columns of moved days say, those that can be read; nan where missing."""
    read = {n: numbers_of(published(table[n], markers)) for n in names if n in table.columns}
    return {n: days for n, days in read.items() if days is not None}


def compare_shift(
    table: Table,
    original: Table,
    names: Sequence[str],
    markers: Sequence[str],
    rows: Ints | None,
    persons: Ints | None,
    shift_days: int,
) -> Compared:
    """Compare days that were moved with those of the original.

    Parameters
    ----------
    rows : int64 array (n_published,), optional
        The original record of each published one.
    persons : int64 array (n_published,), optional
        Whose each published record is.
    """
    if not names:
        return Compared()
    if rows is None or persons is None:
        return Compared(not_compared=(UNSEEN.format(names=", ".join(map(repr, names))),))
    findings, by, who = moved_days(table, original, names, markers, rows, persons)
    return Compared((*findings, *unlike_moves(by, who, shift_days)))


def moved_days(
    table: Table, original: Table, names: Sequence[str], markers: Sequence[str], rows: Ints, persons: Ints
) -> tuple[list[str], Floats, Ints]:
    """What is wrong with columns that were moved; by how many days each of their cells was; and whose each is."""
    findings: list[str] = []
    moved, whose = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    for name in names:
        meaning: Type = "continuous" if parse_numbers(original[name].values) is not None else "date"
        (column,) = alongside(table, original, [name], markers, {name: Attribute(name, meaning, "insensitive")})
        if column.published_numbers is None or column.original_numbers is None:
            findings.append(f"the column {name!r} holds no days that could have been moved")
            continue
        ours, theirs = column.published_numbers, column.original_numbers[rows]
        n_gaps = int((np.isnan(ours) != np.isnan(theirs)).sum())
        if n_gaps:
            findings.append(f"{count(n_gaps, 'row')} with a day of {name!r} that its record lacks, or without one")
        there = ~np.isnan(ours) & ~np.isnan(theirs)
        moved.append((ours - theirs)[there])
        whose.append(persons[there])
    return findings, np.nan_to_num(np.concatenate(moved), posinf=1e18, neginf=-1e18), np.concatenate(whose)


def unlike_moves(by: Floats, who: Ints, shift_days: int) -> list[str]:
    """Whether all moves of a person are one whole number of days, within the window."""
    findings = []
    n_outside = int(((np.abs(by) > shift_days + SLACK) | (np.abs(by - np.round(by)) > SLACK)).sum())
    if n_outside:
        findings.append(f"{count(n_outside, 'day')} moved by no whole number of days up to {shift_days:,}")
    order = np.argsort(who, kind="stable")
    is_same = np.diff(who[order]) == 0
    is_apart = np.abs(np.diff(by[order])) > 2 * SLACK
    n_apart = len(np.unique(who[order][1:][is_same & is_apart]))
    if n_apart:
        findings.append(f"{count(n_apart, 'person')} whose days moved by different numbers, so that intervals changed")
    return findings
