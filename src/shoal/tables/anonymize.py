"""From a table and a policy to the table to be published. Nothing is promised here: `check/` does that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.check.tables.verify import verify
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.guess import UNKNOWN, is_key
from shoal.data.tables.meaning import attributes_of, refitted
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Column, Table
from shoal.errors import Infeasible, PolicyError
from shoal.kernels.compile import has_compiled
from shoal.kinds.tables.policy import Policy
from shoal.models import registered
from shoal.models.k_anonymity import KAnonymity
from shoal.progress import Progress
from shoal.tables.blind import smallest_that_holds
from shoal.tables.blocks import partition_labels
from shoal.tables.encoding import rank
from shoal.tables.groups import Groups
from shoal.tables.limits import Limit, limits_on_table, violations
from shoal.tables.merge import satisfy
from shoal.tables.publish.base import GroupedRecords, Publication, PublishingTask
from shoal.tables.recoding import RecodedGroups, recoded_groups
from shoal.tables.record_order import content_order, secret_order

_MOST_NAMED = 8


@dataclass(frozen=True)
class Anonymized:
    """What the methods made, and the secrets that tie it to the original.

    Attributes
    ----------
    table : Table
        What would be published.
    attributes : mapping
        Type and role of every column of the original.
    rows : intp array (n_published,)
        Published row i stands for this row of the original. Secret.
    groups : int32 array (n_published,)
        The group of each published row. Secret.
    notes : tuple of str
        What the user should know, a sentence each.
    layout : Layout, optional
        Of a table in slices, which columns stand together. A published row then stands for no record: ``rows`` at the
        same place lies in the same bucket, and that is all.
    sources : tuple of intp arrays (n_published,)
        Of each slice, the row of the original whose content stands in each published row. Secret.
    """

    table: Table
    attributes: Mapping[str, Attribute]
    rows: npt.NDArray[np.intp]
    groups: npt.NDArray[np.int32]
    notes: tuple[str, ...]
    layout: Layout | None = None
    sources: tuple[npt.NDArray[np.intp], ...] = ()


def anonymize_table(
    table: Table,
    policy: Policy,
    *,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Anonymized:
    """Make the table to be published.

    Rows and columns are first put into an order that depends on their content and on a secret, which breaks ties
    (`secret_order`), so that for a given seed neither the order of the rows nor that of the columns changes the
    release. ``stop`` is asked while groups are improved, as in `partition_labels`.
    """
    attributes = attributes_of(table, policy)
    notes = [*table.source.notes, *_repeated_persons(table, attributes), *_unstated(attributes, policy)]
    quasi = sorted(n for n, a in attributes.items() if a.role == "quasi")
    sensitive = sorted(n for n, a in attributes.items() if a.role == "sensitive")
    _refuse_hopeless(table, policy, attributes, quasi, sensitive)

    kept = [n for n, a in attributes.items() if a.role != "identifying"]
    order = secret_order(table, quasi, kept, seed)
    sorted_table = table.select(kept).take(order)
    task = PublishingTask(sorted_table, order, attributes, policy, notes, seed, executor, progress, stop)
    return policy.method.way_of_publishing.make(task)


def publish_groups(task: PublishingTask, publication: Publication) -> Anonymized:
    """Put records into groups by the partition that the policy names, and publish these."""
    step = task.progress or (lambda *_: None)
    sorted_table, order, attributes, policy = task.table, task.order, task.attributes, task.policy
    n_rows, notes = sorted_table.n_rows, task.notes
    quasi = sorted(n for n, a in attributes.items() if a.role == "quasi")
    sensitive = sorted(n for n, a in attributes.items() if a.role == "sensitive")
    ranked = [rank(sorted_table[n], attributes[n]) for n in quasi]
    limits = limits_on_table(sorted_table, policy.require, attributes, sensitive, policy.missing)

    def relimit(rows: npt.NDArray[np.intp]) -> tuple[Limit, ...]:
        return limits_on_table(sorted_table.take(rows), policy.require, attributes, sensitive, policy.missing)

    step("grouping records" if has_compiled() else "compiling (on the first run only), then grouping records", 0, 0)

    def make(asked: Policy, told: list[str], *, look: bool) -> RecodedGroups:
        """Groups as asked, and what is to be told; those that fail a limit are mended if the method may look."""
        if asked.method.is_recoding:
            return recoded_groups(ranked, attributes, asked, limits if look else (), told.append)
        labels = partition_labels(
            ranked,
            asked.k,
            asked.method,
            limits if look else (),
            seed=task.seed,
            executor=task.executor,
            progress=task.progress,
            note=told.append,
            stop=task.stop,
        )
        rows = np.arange(n_rows)
        if look and limits:
            step("meeting the diversity requirements", 0, 0)
            labels, rows = satisfy(labels, ranked, limits, asked.method.suppression, relimit)
            if len(rows) < n_rows:
                n_left_out = n_rows - len(rows)
                told.append(f"{n_left_out:,} records were suppressed to meet the diversity requirements.")
        return RecodedGroups(labels, rows)

    if limits and policy.method.diversity == "blind":
        found = _made_blindly(policy, n_rows, make, relimit, notes)
    else:
        found = make(policy, notes, look=True)
    labels, kept_rows, levels = found.labels, found.rows, found.levels
    everyone = sorted_table
    if len(kept_rows) < n_rows:  # no value of a suppressed record may shape a label
        sorted_table, order = sorted_table.take(kept_rows).compact(), order[kept_rows]
        if levels is None:
            attributes = refitted(sorted_table, attributes, policy)
            ranked = [rank(sorted_table[n], attributes[n]) for n in quasi]
        else:
            ranked = [r.take(kept_rows) for r in ranked]
            notes += _fitted_to_all(quasi, attributes, refitted(sorted_table, attributes, policy))

    step("publishing groups", 0, 0)
    columns, groups = publication.publish(
        GroupedRecords(
            sorted_table, everyone, ranked, Groups.of(labels), attributes, policy, task.seed, notes.append, levels
        )
    )
    published = sorted_table.with_columns(columns)
    final = _published_order(published, order, quasi, policy)
    return Anonymized(published.take(final), attributes, order[final], groups.labels[final], tuple(notes))


def _made_blindly(
    policy: Policy,
    n_rows: int,
    make: Callable[..., RecodedGroups],
    relimit: Callable[[npt.NDArray[np.intp]], Sequence[Limit]],
    notes: list[str],
) -> RecodedGroups:
    """The first partition on the ladder of sizes that meets every limit as it is; see `shoal.tables.blind`."""

    def attempt(size: int) -> tuple[RecodedGroups, list[str]]:
        told: list[str] = []
        return make(policy.model_copy(update={"require": (KAnonymity(k=size),)}), told, look=False), told

    def holds(attempted: tuple[RecodedGroups, list[str]]) -> bool:
        return not violations(attempted[0].labels, relimit(attempted[0].rows)).any()

    size, (found, told) = smallest_that_holds(policy.k, n_rows, attempt, holds)
    notes += told
    if size > policy.k:
        notes.append(
            f"Groups were made of at least {size:,} records, not {policy.k:,}: with no smaller size that was tried do "
            "all of them meet the diversity requirements, and none was mended by itself."
        )
    return found


def _published_order(
    published: Table, order: npt.NDArray[np.intp], quasi: Sequence[str], policy: Policy
) -> npt.NDArray[np.intp]:
    """Sorted by what is published, so that the place of a row tells nothing; or, when asked for, as in the original."""
    if policy.order == "original":
        return np.argsort(order, kind="stable")
    return content_order(published, quasi, published.names)


def _refuse_hopeless(
    table: Table, policy: Policy, attributes: Mapping[str, Attribute], quasi: Sequence[str], sensitive: Sequence[str]
) -> None:
    """Say at once what no partition can mend."""
    if not quasi:
        raise PolicyError(
            "no column is quasi-identifying, so there is nothing to protect; name those that others may know "
            '(--quasi age,zip, or role = "quasi" in the policy)'
        )
    if table.n_rows < policy.k:
        raise Infeasible(
            f"groups of {policy.k} are required but the table has {table.n_rows} "
            f"row{'s' if table.n_rows != 1 else ''}; lower k or add records"
        )
    for requirement in policy.require:
        wanted = requirement.column
        if wanted is not None and attributes[wanted].role != "sensitive":
            raise PolicyError(
                f"{requirement.model} is required of {wanted!r}, whose role is {attributes[wanted].role}; "
                "give it the role sensitive"
            )
    diverse = [r for r in policy.require if r.is_about_values()]
    if not diverse:
        return
    if not sensitive:
        raise PolicyError(
            f"{diverse[0].model} is required but no column is sensitive; "
            'name one (--sensitive disease, or role = "sensitive")'
        )
    alone = "everyone"
    while alone in sensitive:
        alone += " "
    everyone = Column(alone, np.zeros(table.n_rows, dtype=np.int32), np.array(["all"], dtype=object))
    # One recoding may leave out all that is too frequent, though not bring in values that there are not.
    is_mendable = policy.method.is_recoding and policy.method.suppression > 0
    for found in verify(
        Table.of([everyone, *(table[n] for n in sensitive)]),
        diverse,
        [alone],
        sensitive,
        missing=policy.missing,
        markers=policy.missing_markers,
        attributes=attributes,
    ):
        if not found.holds and not (is_mendable and found.kind not in registered()[found.model].needs_values):
            required = ", ".join(f"{k} = {v:g}" for k, v in found.required.items() if isinstance(v, int | float))
            raise Infeasible(
                f"{found.kind + ' ' if found.kind else ''}{found.model} with {required} cannot be met for "
                f"{found.sensitive!r}: the whole table taken as one group reaches {found.achieved:.4g}; ask for less"
            )


def _fitted_to_all(
    quasi: Sequence[str], attributes: Mapping[str, Attribute], left: Mapping[str, Attribute]
) -> list[str]:
    """Say which labels of one recoding for all were shaped by records that were then left out."""
    names = [repr(n) for n in quasi if attributes[n].hierarchy != left[n].hierarchy]
    if not names:
        return []
    return [
        f"The automatic levels of {', '.join(names)} were made before records were suppressed, so the width of their "
        "labels may tell of those; give a hierarchy file to rule that out."
    ]


def _unstated(attributes: Mapping[str, Attribute], policy: Policy) -> list[str]:
    """Say which columns are made alike for no other reason than that nobody said what they are."""
    names = [n for n, a in attributes.items() if a.why.endswith(UNKNOWN) and not policy.states_role_of(n)]
    if not names:
        return []
    told = ", ".join(map(repr, names[:_MOST_NAMED]))
    told += f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return [
        f"No role was stated for {told}, and nothing says that others do not know "
        f"{'it' if len(names) == 1 else 'them'}: so taken for quasi-identifying; state the role to keep values as they "
        "are."
    ]


def _repeated_persons(table: Table, attributes: Mapping[str, Attribute]) -> list[str]:
    """Say where a key that was dropped stood in several rows: k records may then be fewer than k persons."""
    return [
        f"{name!r} stood in several rows for some ({len(table[name].values):,} values in {table.n_rows:,} rows): "
        "groups count records, so k records may belong to fewer than k of them; keep one row for each to be sure."
        for name, attribute in attributes.items()
        if attribute.role == "identifying" and is_key(name) and 1 < len(table[name].values) < table.n_rows
    ]
