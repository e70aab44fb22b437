"""How many persons have, in all records that a pseudonym ties together, what no other has: values, counts, intervals.

Of each record that is tied to others it is taken what is published of it as it is, beside its labels. A person is found
by that if no other has the same, in as many records. Whoever knows less than all records of a person finds no more:
if another has the same history, it has the same in every part of it.

**Moved days** are not known, the days between them are, and that each moved by at most w either way. Say that the first
day of a person was t; it is published at s, and t - w <= s <= t + w. Who knows t is left with all persons of the same
history, intervals and time of day whose first day is published between t - w and t + w. What t was is not published, so
the worst is taken: a person counts as found if for some t that it may have had nobody else would be left. That is so if
the next earlier and the next later first day among such persons are different from its own and more than 2 w + 1 days
apart. More persons are counted than are found, none fewer.

References
----------
Y.-A. de Montjoye, C. A. Hidalgo, M. Verleysen, V. D. Blondel, "Unique in the crowd: the privacy bounds of human
mobility", Scientific Reports 3, 2013; B. Malin, L. Sweeney, "How (not) to protect genomic data privacy in a distributed
network: using trail re-identification", Journal of Biomedical Informatics 37, 2004.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.check.finding import KNOWN_HISTORY, Finding
from shoal.check.guarantee import number
from shoal.check.tables.cells import published
from shoal.check.tables.classes import Classes
from shoal.check.tables.shift import days_of
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import MARKERS, Column, Table, row_keys

_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class TiedRecords:
    """The records of one table that are tied to persons.

    Attributes
    ----------
    persons : int64 array (n_rows,)
        Whose each is; the same number is the same person in all tables.
    labels : sequence of Column
        Quasi-identifiers as they are published, which are known in any case.
    kept : mapping of str to Column
        What is published as it is, by the name that it is told by.
    moved : mapping of str to float64 array (n_rows,)
        Days that were moved, by the name that they are told by; nan where missing.
    """

    persons: Ints
    labels: Sequence[Column] = ()
    kept: Mapping[str, Column] = field(default_factory=dict)
    moved: Mapping[str, Floats] = field(default_factory=dict)


def tied_records(
    table: Table,
    attributes: Mapping[str, Attribute],
    persons: Ints,
    moved: Sequence[str] = (),
    markers: Sequence[str] = MARKERS,
    prefix: str = "",
) -> TiedRecords:
    """A published table as tied records; moved days that cannot be read are taken as they are."""
    read = {n: published(table[n], markers) for n in table.names if n in attributes}
    days = days_of(table, moved, markers)
    return TiedRecords(
        persons,
        [c for n, c in read.items() if attributes[n].role == "quasi"],
        {prefix + n: c for n, c in read.items() if attributes[n].role not in ("quasi", "sensitive") and n not in days},
        {prefix + n: d for n, d in days.items()},
    )


def share_found(tables: Sequence[TiedRecords], names: Collection[str], shift_days: int) -> float:
    """The share of the persons that some columns find, in all records of a person, beside the labels."""
    n_persons = max(int(t.persons.max(initial=-1)) for t in tables) + 1
    first = np.full(n_persons, np.inf)  # day of each person
    for table in tables:
        for name, days in table.moved.items():
            if name in names:
                np.minimum.at(first, table.persons, np.where(np.isnan(days), np.inf, days))
    keys, persons, n_keys = [], [], 0
    for table in tables:
        if not len(table.persons):
            continue
        columns = [*table.labels, *(c for name, c in table.kept.items() if name in names)]
        columns += [_since(days, first[table.persons], name) for name, days in table.moved.items() if name in names]
        own = row_keys(columns) if columns else np.zeros(len(table.persons), dtype=np.int64)
        keys.append(own + n_keys)
        n_keys += int(own.max()) + 1
        persons.append(table.persons)
    ids, whose = np.concatenate(keys), np.concatenate(persons)
    there, at = np.unique(whose, return_index=True)
    alike = Classes((), ids, np.bincount(ids), np.zeros(n_keys, dtype=np.int64)).of_histories(whose).ids[at]
    return float(_are_found(alike, first[there], shift_days).mean())


def _since(days: Floats, first: Floats, name: str) -> Column:
    """How long after the first day of its person each was, to the microsecond."""
    known = ~np.isnan(days)
    since = np.full(len(days), -1, dtype=np.int64)
    since[known] = np.round((days - np.where(known, first, 0))[known] * _DAY).astype(np.int64)
    distinct, codes = np.unique(since, return_inverse=True)
    return Column(name, codes.astype(np.int32), distinct)


def _are_found(alike: Ints, first: Floats, shift_days: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which persons nobody else can be taken for, given who has the same history, and the first day of each."""
    dated = np.isfinite(first)
    day = np.where(dated, np.floor(np.where(dated, first, 0)), 0).astype(np.int64)
    time = np.where(dated, np.round((np.where(dated, first, 0) - day) * _DAY), -1).astype(np.int64)
    order = np.lexsort((day, time, alike))
    same = (np.diff(alike[order]) == 0) & (np.diff(time[order]) == 0)  # as the one before
    gap = np.where(same, np.diff(day[order]), np.iinfo(np.int64).max // 4)
    far = np.array([np.iinfo(np.int64).max // 4])
    before, after = np.concatenate([far, gap]), np.concatenate([gap, far])
    is_dated = time[order] >= 0
    found = np.zeros(len(alike), dtype=bool)
    found[order] = (before > 0) & (after > 0) & (before + after >= np.where(is_dated, 2 * shift_days + 2, 1))
    return found


def known_history(
    tables: Sequence[TiedRecords],
    *,
    shift_days: int,
    limit: float,
    reason: str | None,
    counts_alone: bool = False,
) -> tuple[Finding, ...]:
    """What the records of a person, tied together, tell of who it is: the fewest columns above the limit, or all.

    Parameters
    ----------
    shift_days : int
        Most days by which dates were moved, either way.
    limit : float
        The share of the persons that may be found.
    reason : str, optional
        Why the policy takes it.
    counts_alone : bool
        Whether the number of records of a person tells something where no column does: where labels are not in all
        tables, so that numbers were not made equal.
    """
    kept = [name for t in tables for name in t.kept]
    moved = [name for t in tables for name in t.moved]
    names = (*kept, *moved)
    if not names and not counts_alone:
        return ()
    worst: tuple[str, ...] = names
    share = share_found(tables, names, shift_days)
    if share > limit:
        alone: list[tuple[tuple[str, ...], float]] = [((), share_found(tables, (), shift_days))] if counts_alone else []
        alone += [((name,), share_found(tables, [name], shift_days)) for name in names if len(names) > 1]
        if alone and max(found for _, found in alone) > limit:
            # The fewest columns, and of those the worst.
            worst, share = min((a for a in alone if a[1] > limit), key=lambda a: (len(a[0]), -a[1]))
    return (_finding(worst, [n for n in worst if n in moved], share, limit, reason),)


def _finding(names: tuple[str, ...], moved: Sequence[str], share: float, limit: float, reason: str | None) -> Finding:
    known = [repr(n) for n in names if n not in moved]
    if moved:
        known.append(f"the days between its {' and '.join(map(repr, moved))}")
    told = f"{', '.join(known[:-1])} and {known[-1]}" if len(known) > 1 else "".join(known) or "how many there are"
    up_to = "up to " if moved else ""
    return Finding(
        KNOWN_HISTORY,
        names,
        share,
        limit,
        f"Whoever knows of all records of a person {told}, beside the published labels, finds {up_to}{_percent(share)} "
        f"of the persons by what the pseudonyms tie together (the limit is {_percent(limit)}).",
        "give such columns the role quasi or identifying, leave pseudonyms out, or accept it with a reason: "
        f'[accept] {KNOWN_HISTORY} = "..." in the policy, or --accept {KNOWN_HISTORY}=REASON',
        reason,
    )


def _percent(share: float) -> str:
    return "less than 0.01 %" if 0 < share < 1e-4 else f"{number(round(100 * share, 2))} %"
