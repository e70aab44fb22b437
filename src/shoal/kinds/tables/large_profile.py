"""What a file seems to hold that is not held in memory: its columns one by one, then its distinct rows.

What a column means is guessed from all of its distinct values, as if the table were held; so are the risk and who is
alone in what, from the distinct rows of all columns that are not dropped. Only the method is proposed from a sample, as
it always is.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import ne
from typing import TYPE_CHECKING, Any

from shoal.data.memory import bounded
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.guess import guess_attribute
from shoal.data.tables.room import BASE_BYTES, CELL_BYTES, ROW_BYTES, TooManyDistinct
from shoal.kinds.tables.large import read_distinct_rows
from shoal.kinds.tables.profile import CellCounts, Profile, profile_columns

if TYPE_CHECKING:
    from shoal.kinds.tables.policy import Policy
    from shoal.progress import Progress

MOST_VALUES = 1_000_000
"""Distinct values of a column that are looked at; one with more is proposed to be dropped."""

NO_PERSONS = (
    "No column was examined for keys of persons, as memory is bounded: if one person has several records, name the "
    "column (--person)."
)


def profile_large(source: Any, policy: Policy, *, sweep: bool, progress: Progress | None) -> Profile:
    """The profile of a file that is scanned a few times and never held.

    Raises
    ------
    PolicyError
        If the source is no file.
    DataError
        If the distinct rows of the columns that are not dropped do not fit into the memory that is given.
    """
    step = progress or (lambda *_: None)
    step("counting records", 0, 0)
    empty = read_distinct_rows(source, policy, lambda _: True)
    guessed: dict[str, Attribute] = {}
    counts: dict[str, CellCounts] = {}
    fitting = BASE_BYTES + MOST_VALUES * (ROW_BYTES + CELL_BYTES)
    for i, name in enumerate(empty.names):
        step("looking at columns", i, len(empty.names))
        try:
            with bounded(min(fitting, policy.n_bytes or fitting)):
                alone = read_distinct_rows(source, policy, partial(ne, name))
        except TooManyDistinct as error:
            why = f"{error.n_rows:,} different values, too many to be looked at: so dropped unless you say otherwise"
            guessed[name], counts[name] = (
                Attribute(name, "nominal", "identifying", why=why),
                CellCounts(error.n_rows, 0),
            )
            continue
        column = alone[name]
        guessed[name] = guess_attribute(column, weights=alone.weights)
        n_missing = int(column.counts(alone.weights)[len(column.values) :].sum())
        counts[name] = CellCounts(len(column.values), n_missing)
    step("reading distinct rows", 0, 0)
    with bounded(policy.n_bytes):
        table = read_distinct_rows(source, policy, lambda name: guessed[name].role == "identifying")
    table = replace(table, source=replace(table.source, notes=(*table.source.notes, NO_PERSONS)))
    found = replace(profile_columns(table, guessed, counts), header=policy.header, reading=policy.reading)
    if not sweep:
        return found
    from shoal.sweep.propose import propose

    return replace(found, proposal=propose(table, found.attributes, progress))
