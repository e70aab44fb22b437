"""Tables that are not held in memory: what needs memory are their distinct rows, each with the number of its records.

Strict cuts and labels of groups never part equal records, so they give the same release from distinct rows. All columns
that are published tell rows apart; a column in which nearly every record has a value of its own, and which is not
dropped, leaves as many rows as there are records, which is refused where they do not fit.

Where persons count, and every record is another person's, to count records is to count persons. Where one person has
several, groups of different persons grow by single records, so that all records are held, without the columns that are
dropped; that too is refused where they do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.data.memory import bounded
from shoal.data.tables.coded_rows import UnheldTable
from shoal.data.tables.decimals import noted
from shoal.data.tables.files import read_table
from shoal.data.tables.room import TooManyDistinct
from shoal.data.tables.spill import SpilledTable, spill
from shoal.data.tables.table import Table
from shoal.data.tables.workers import Workers
from shoal.engine.blocks import run_blocks
from shoal.engine.executors import count_workers, open_executor
from shoal.errors import PolicyError
from shoal.kind import Run
from shoal.kinds.tables.manifest import TableManifest
from shoal.kinds.tables.policy import ColumnPolicy, Policy
from shoal.tables.record_order import content_order

if TYPE_CHECKING:
    pass

N_TARGETS = 2000
"""Records, or descriptions, that an attack tries at most where it does not try all."""

UNATTACKED = "it looks at all records, and memory is bounded"
"""Why no attack is run where all records are held in bounded memory."""

CHECKED = ("generalise", "aggregate", "bucketize", "slice")
"""How a release may be published that is checked in bounded memory."""

_DISTINCT = "Every distinct row was read once, with the number of its records."
_UNATTACKED = "Nothing was attacked: attacks look at all records, and memory is bounded."
_NO_PERSONS = (
    "No column was examined for keys of persons; if one person has several records, k records may be of fewer than k "
    "persons."
)


def large_notes(policy: Policy, original: Table) -> list[str]:
    """What a release in bounded memory says of itself."""
    if policy.memory is None:
        return []
    told = _UNATTACKED if original.weights is None else _DISTINCT
    return [told if policy.person else f"{told} {_NO_PERSONS}"]


def attacked_on(n_records: int) -> str:
    """How much of a release from distinct rows was attacked, for its verdict."""
    sample = f"a sample of at most {min(N_TARGETS, n_records):,} of {n_records:,}"
    return f"Attacks on single records tried {sample}, against the whole release."


@contextmanager
def with_workers(run: Run) -> Iterator[Workers | None]:
    """Those who read and write for a run: other processes, here or elsewhere; None where there are none."""
    if run.cluster is None and (run.workers == 1 or run.pool != "processes"):
        yield None
        return
    with open_executor(run.workers, run.pool, run.cluster) as executor:
        yield None if executor is None else workers_of(executor)


def workers_of(executor: Executor) -> Workers:
    """Workers that read and write on an executor."""
    return Workers(count_workers(executor), lambda job, blocks, note: run_blocks(job, blocks, executor, note=note))


def load_distinct(source: Any, policy: Policy, *, spills: bool = True) -> Table:
    """The distinct rows of a file, without the columns that are dropped.

    Where they do not fit and the method can do with rows in files, they are left there, unless `spills` forbids it.

    Raises
    ------
    PolicyError
        If the source is no file, or a column has no role: to guess it, all of its values would be looked at.
    """
    usual = policy.columns.get("*", ColumnPolicy())

    def drops(name: str) -> bool:
        if name in policy.person:
            return True
        if not policy.states_role_of(name):
            raise PolicyError(
                f"the column {name!r} has no role, and none is guessed where memory is bounded; state it, or one for "
                "all others (--others identifying)"
            )
        return policy.columns.get(name, usual).role == "identifying"

    in_ranges = policy.method.is_in_ranges
    if in_ranges and not spills:
        raise PolicyError("averages are made in bounded memory for one release alone: leave memory out")
    is_sliced = policy.method.way_of_publishing.is_sliced
    can_spill = spills and not is_sliced and (policy.method.partition == "mondrian" or in_ranges)
    with bounded(policy.n_bytes):
        found = read_distinct_rows(source, policy, drops, policy.person, spills=can_spill)
        return in_files(found, [n for n in found.names if not drops(n)]) if in_ranges else found


def in_files(table: Table, names: Sequence[str]) -> SpilledTable:
    """A table whose distinct rows lie in files, with some of the columns; those that are held are written.

    Raises
    ------
    PolicyError
        If all records are held, as some may be of one person, or what is published would be no Parquet.
    """
    if table.source.format != "parquet":
        raise PolicyError(
            f"averages are made in bounded memory from Parquet, and {table.source.name!r} is {table.source.format}: "
            "convert it first, or leave memory out"
        )
    if isinstance(table, SpilledTable):
        return table
    if table.weights is None:
        raise PolicyError("averages of persons with several records need all records in memory: leave memory out")
    return spill(table, names)


def read_distinct_rows(
    source: Any,
    policy: Policy,
    drops: Callable[[str], bool],
    person: Sequence[str] = (),
    *,
    spills: bool = False,
) -> Table:
    """The distinct rows of a file in all columns but those that `drops` says, each with the number of its records.

    All records, where some may be of one `person`. Rows that do not fit may be left in files, if `spills` says so.
    """
    if not isinstance(source, str | Path):
        raise PolicyError("a bound on memory is for files, and this is in memory already: leave memory out")
    found = read_table(
        source,
        markers=policy.missing_markers,
        header=policy.header,
        drops=drops,
        person=person,
        spills=spills,
        **(policy.reading or {}),
    )
    return found if policy.reading and "decimal" in policy.reading else noted(found)


def in_order(table: Table) -> Table:
    """The same rows by their content, whatever the order in which they were found, so that a seed draws the same."""
    return table.take(content_order(table, (), table.names))


def refuse_unheld(**tables: Any) -> None:
    """Refuse to attack records whose distinct rows do not fit into memory; tables by what they are called."""
    for name, table in tables.items():
        if isinstance(table, UnheldTable):
            raise TooManyDistinct(Path(f"the {name}"), table.n_rows, table.memory)


def refuse_several_each(tables: Sequence[Table | None]) -> None:
    """Refuse to attack records of which all had to be read, as some may be of one person."""
    if any(table is not None and table.weights is None for table in tables):
        raise PolicyError("persons with several records are attacked with all records in memory: leave memory out")


def refuse_unweighed(manifest: TableManifest, policy: Policy | None, *, is_alone: bool, what: str = "checked") -> None:
    """Refuse to check, or to attack, a release from distinct rows whose promises are about single records."""
    told = str(manifest.method.get("publish", ""))
    taken = CHECKED if what == "checked" else ("generalise",)
    asked = {
        f"publish = {told}": told not in taken,
        "another way to publish, as the policy asks for,": policy is not None
        and policy.method.publication not in (told, "generalise"),
        "a provider": bool(manifest.provider or (policy is not None and policy.provider)),
        "a pseudonym": manifest.pseudonym is not None,
        "a series of releases": manifest.series is not None or not is_alone,
        "what was held out": "held_out" in manifest.records,
    }
    refused = [name for name, is_refused in asked.items() if is_refused]
    if refused:
        raise PolicyError(f"{refused[0]} is {what} with all records in memory: leave memory out")
