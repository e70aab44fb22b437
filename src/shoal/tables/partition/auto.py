"""The method that suits the table at hand: the one of two whose groups are narrower on a sample of its records.

Mondrian, which is fast at any size, is compared with the method that usually loses least: k-member where all
quasi-identifiers are numbers or dates, else local recoding. The latter is left out where it would take long. What
decides is the mean width of a label as a share of its column (`shoal.tables.information_loss`), and of two that are as
narrow Mondrian is taken. A user is told both figures. Where some persons have several records nothing is compared, and
Mondrian makes the blocks in which groups of different persons grow.

The records of the sample lie evenly over all records in the order of their quasi-identifiers, and nothing else is
looked at: neither the order of rows nor a sensitive value decides.

**Guarantee**: that of the method that is chosen: every group has at least k records.

**Not protected**: what a group has in common, as for every partition by quasi-identifiers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import Codes
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.persons import person_codes
from shoal.data.tables.table import Table
from shoal.tables.encoding import Ranked, rank
from shoal.tables.partition.base import PARTITIONS, GroupingTask, PartitionMethod, usually_narrowest
from shoal.tables.partition.mondrian import MONDRIAN

if TYPE_CHECKING:
    from shoal.kinds.tables.policy import Policy

SAMPLE = 5_000
GROUPS = 20  # that the sample has room for at least, if there are so many records

SEVERAL = (
    f"Method chosen for this table: {MONDRIAN.name}, as some persons have several records: a method then makes "
    "only the blocks in which groups of different persons grow."
)


@dataclass(frozen=True)
class Chosen:
    """A method, and in a sentence what it was chosen by."""

    way: PartitionMethod
    why: str


def choose(task: GroupingTask) -> Chosen:
    """Compare both methods on a sample of the records that are to be grouped."""
    n_rows = len(task.ranked[0].ranks)
    better = usually_narrowest(is_numeric=all(r.kind == "number" for r in task.ranked))
    if better.most_records is not None and n_rows > better.most_records:
        why = f"{better.name} would take long on {n_rows:,} records"
        return Chosen(MONDRIAN, f"Method chosen for this table: {MONDRIAN.name}, as {why}.")
    rows = _evenly(task.ranked, max(SAMPLE, GROUPS * task.k))
    some = replace(task, ranked=[r.take(rows) for r in task.ranked], limits=(), note=lambda _: None)
    losses = {way.name: _mean_width(some, way) for way in (MONDRIAN, better)}
    told = {name: f"{100 * loss:.1f} %" for name, loss in losses.items()}
    way = better if losses[better.name] < losses[MONDRIAN.name] else MONDRIAN
    other = MONDRIAN if way is better else better
    how = "as narrow as" if told[way.name] == told[other.name] else "narrower than"
    where = "all records" if len(rows) == n_rows else f"a sample of {len(rows):,} records"
    return Chosen(
        way,
        f"Method chosen for this table: {way.name}. Its groups are {how} those of {other.name}: the mean width of a "
        f"label is {told[way.name]} of its column, against {told[other.name]}, with k = {task.k} on {where}.",
    )


def settled(policy: Policy, table: Table) -> tuple[Policy, tuple[str, ...]]:
    """The policy with the method that suits the table, and why, where it leaves the choice to us."""
    if policy.method.partition != AUTO.name:
        return policy, ()
    attributes = attributes_of(table, policy)
    names = sorted(name for name, attribute in attributes.items() if attribute.role == "quasi")
    if not names or table.n_rows < policy.k:  # which is refused later, with its reason
        return policy, ()
    if policy.person and len(np.unique(person_codes(table, policy.person))) < table.n_rows:
        return policy.changed(partition=MONDRIAN.name), (SEVERAL,)
    ranked = [replace(rank(table[name], attributes[name]), labels=None) for name in names]
    chosen = choose(GroupingTask(ranked, policy.k, policy.method, (), run_here, lambda _: None))
    return policy.changed(partition=chosen.way.name), (chosen.why,)


def run_here(job: Callable[..., Codes], blocks: Iterable[tuple[Any, ...]]) -> list[Codes]:
    """Call a function with each tuple of arguments, one after the other."""
    return [job(*block) for block in blocks]


def _evenly(ranked: Sequence[Ranked], n_most: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Some records, evenly over all in the order of their quasi-identifiers, by the names of these."""
    order = np.lexsort([r.ranks for r in sorted(ranked, key=lambda r: r.name, reverse=True)])
    n = min(n_most, len(order))
    return order[(np.arange(n) * len(order) + len(order) // 2) // n]


def _mean_width(task: GroupingTask, way: PartitionMethod) -> float:
    from shoal.tables.information_loss import information_loss

    labels = way.group(task)
    return information_loss(task.ranked, labels) / (len(labels) * len(task.ranked))


def _labels(task: GroupingTask) -> Codes:
    chosen = choose(task)
    task.note(chosen.why)
    return chosen.way.group(task)


AUTO = PARTITIONS.register(
    PartitionMethod(
        name="auto",
        help="auto: Mondrian or the method that usually loses least, whichever has narrower groups on a sample",
        reference="Shoal's own",
        labels=_labels,
        place=0,
    )
)
