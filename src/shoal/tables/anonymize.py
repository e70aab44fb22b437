"""From a table and a policy to the table to be published. Nothing is promised here: `check/` does that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes
from shoal.check.guarantee import Guarantee
from shoal.check.tables.verify import verify
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.guess import UNKNOWN
from shoal.data.tables.meaning import attributes_of, refitted
from shoal.data.tables.persons import look_like_persons, person_codes, provider_codes
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Column, Table
from shoal.errors import Infeasible, PolicyError
from shoal.kinds.tables.policy import SHIFT_TIES, Policy
from shoal.models import registered
from shoal.models.base import Model
from shoal.models.k_anonymity import KAnonymity
from shoal.progress import Progress
from shoal.tables.blind import smallest_that_holds
from shoal.tables.blocks import partition_labels
from shoal.tables.collapse import joined_rows
from shoal.tables.encoding import Ranked, rank
from shoal.tables.groups import Groups
from shoal.tables.history import history_labels, records_to_keep
from shoal.tables.kept_groups import kept_groups
from shoal.tables.limits import Limit, limits_on_table, n_of_sizes, violations
from shoal.tables.merge import merge_round, satisfy
from shoal.tables.partition.base import PARTITIONS
from shoal.tables.persons import block_groups, by_appearance, person_labels, repeat, whole_persons
from shoal.tables.pseudonyms import refuse_dates_beside, with_pseudonyms
from shoal.tables.publish.base import GroupedRecords, Publication, PublishingTask
from shoal.tables.recoding import RecodedGroups, recoded_groups
from shoal.tables.record_order import content_order, secret_order

if TYPE_CHECKING:
    from shoal.releases.series import Series
    from shoal.resume import StepFolder

_MOST_NAMED = 8
RECORDS_COUNTED = "Records were counted, not persons"
"""How a note begins that is to be read first."""


@dataclass(frozen=True)
class Behind:
    """What stands behind published rows of which one may be that of several rows of the original. Secret.

    Attributes
    ----------
    rows : intp array (n_behind,)
        Rows of the original.
    groups : int32 array (n_behind,)
        The group of each.
    published : intp array (n_behind,)
        The published row of each.
    """

    rows: npt.NDArray[np.intp]
    groups: npt.NDArray[np.int32]
    published: npt.NDArray[np.intp]


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
    key : bytes, optional
        What pseudonyms were made with. Secret.
    behind : Behind, optional
        Where rows of the original stand for several records: all that each published row is made of.
    """

    table: Table
    attributes: Mapping[str, Attribute]
    rows: npt.NDArray[np.intp]
    groups: npt.NDArray[np.int32]
    notes: tuple[str, ...]
    layout: Layout | None = None
    sources: tuple[npt.NDArray[np.intp], ...] = ()
    key: bytes | None = None
    behind: Behind | None = None


def anonymize_table(
    table: Table,
    policy: Policy,
    *,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
    series: Series | None = None,
    steps: StepFolder | None = None,
) -> Anonymized:
    """Make the table to be published.

    Rows and columns are first put into an order that depends on their content and on a secret, which breaks ties
    (`secret_order`), so that for a given seed neither the order of the rows nor that of the columns changes the
    release. ``stop`` is asked while groups are improved, as in `partition_labels`. ``series`` says what other releases
    have to do with it, and ``steps`` where groups are kept once they are made.
    """
    attributes = attributes_of(table, policy)
    repeated = [] if policy.person else repeated_persons(table)
    notes = [*repeated, *table.source.notes, *unstated_roles(attributes, policy)]
    quasi = sorted(n for n, a in attributes.items() if a.role == "quasi")
    sensitive = sorted(n for n, a in attributes.items() if a.role == "sensitive")
    refuse_hopeless(table, policy, attributes, quasi, sensitive)

    kept = [n for n, a in attributes.items() if a.role != "identifying"]
    order = secret_order(table, quasi, [*kept, *policy.person, *policy.provider], seed)
    persons = by_appearance(person_codes(table, policy.person)[order]) if policy.person else None
    providers = provider_codes(table, policy.provider)[order] if policy.provider else None
    sorted_table = table.select(kept).take(order)
    task = PublishingTask(
        sorted_table,
        order,
        attributes,
        policy,
        notes,
        seed,
        executor,
        progress,
        stop,
        persons,
        providers,
        series,
        steps,
    )
    made = policy.method.way_of_publishing.make(task)
    return with_pseudonyms(made, table, policy, seed) if policy.keep_person else made


def publish_groups(task: PublishingTask, publication: Publication) -> Anonymized:
    """Put records into groups by the partition that the policy names, and publish these."""
    step = task.progress or (lambda *_: None)
    sorted_table, order, attributes, policy = task.table, task.order, task.attributes, task.policy
    n_rows, notes = sorted_table.n_rows, task.notes
    quasi = sorted(n for n, a in attributes.items() if a.role == "quasi")
    sensitive = sorted(n for n, a in attributes.items() if a.role == "sensitive")
    ranked = [rank(sorted_table[n], attributes[n]) for n in quasi]
    persons, providers = task.persons, task.providers

    def relimit(rows: npt.NDArray[np.intp]) -> tuple[Limit, ...]:
        return limits_on_table(
            sorted_table.take(rows),
            policy.require,
            attributes,
            sensitive,
            policy.missing,
            None if persons is None else persons[rows],
            None if providers is None else providers[rows],
            policy.coalition,
        )

    limits, way = relimit(np.arange(n_rows)), PARTITIONS[policy.method.partition]
    own = [limit for limit in limits if limit.own is not None]
    if own and sorted_table.weights is not None:  # its groups are joined by averages of single records
        raise PolicyError(f"{own[0].text} is kept by joining groups, which needs all records: leave memory out")
    knows_history = policy.person_knowledge == "history" and repeat(persons)
    of_sizes = limits[: n_of_sizes(persons, providers)]

    step("grouping records", 0, 0)

    def make(asked: Policy, told: list[str], *, look: bool) -> RecodedGroups:
        """Groups as asked, and what is to be told; those that fail a limit are mended if the method may look.

        That groups hold persons enough, and records enough of other providers, is seen to in any case.
        """
        seen = limits if look else of_sizes

        def relimit_seen(left: npt.NDArray[np.intp]) -> Sequence[Limit]:
            return relimit(left)[: len(seen)]

        if asked.method.is_recoding:
            recoded = recoded_groups(ranked, attributes, asked, seen, told.append, sorted_table.weights)
            return whole(recoded, relimit_seen, told)
        if knows_history and persons is not None:
            return _history_groups(task, asked, ranked, persons, seen, relimit, told)
        is_kept = way.keeps_limits and (len(seen) > len(of_sizes) or providers is not None)
        grows = repeat(persons) and not is_kept
        wanted, method = asked.k, asked.method
        if grows:  # the partition makes blocks, and groups of different persons grow in them
            most = block_groups(n_rows, len(ranked)) * wanted
            wanted = min(most, n_rows // 2 if n_rows >= 2 * wanted else wanted)
            method = method.model_copy(update={"effort": "fast"})
        labels = partition_labels(
            ranked,
            wanted,
            method,
            seen if not grows else (),
            seed=task.seed,
            executor=task.executor,
            progress=task.progress,
            note=told.append,
            stop=task.stop,
            weights=sorted_table.weights,
        )
        if grows and persons is not None:
            labels = person_labels(ranked, persons, asked.k, labels)
            told.append(_GROWN.format(partition=asked.method.partition))
        rows = np.arange(n_rows)
        if seen:
            step("meeting the diversity requirements", 0, 0)
            labels, rows = satisfy(labels, ranked, seen, asked.method.suppression, relimit_seen, sorted_table.weights)
            # Shares of persons may grow when groups are joined, so the whole table may fail too.
            may_fail = persons is not None or (providers is not None and not labels.any())
            failing = [limit for limit in relimit_seen(rows) if may_fail and violations(labels, [limit]).any()]
            if failing:
                how = "by counting persons" if providers is None else "without the rows of some providers"
                raise Infeasible(
                    f"{failing[0].text} cannot be met {how}: groups were joined until one was left; ask for less"
                )
            if len(rows) < n_rows:
                n_left_out = sorted_table.n_records - _n_records(rows, sorted_table.weights)
                told.append(f"{n_left_out:,} records were suppressed to meet the diversity requirements.")
        return whole(RecodedGroups(labels, rows), relimit_seen, told)

    def partition(vectors: Sequence[Ranked], size: int) -> npt.NDArray[np.int32]:
        return partition_labels(
            vectors, size, policy.method, (), seed=task.seed, executor=task.executor, note=notes.append, stop=task.stop
        )

    def whole(
        found: RecodedGroups, relimit_seen: Callable[[npt.NDArray[np.intp]], Sequence[Limit]], told: list[str]
    ) -> RecodedGroups:
        """Of a person all records or none."""
        if persons is None or len(found.rows) == n_rows:
            return found
        return _of_whole_persons(found, persons, ranked, relimit_seen, policy, told, sorted_table.weights)

    if task.series is not None:
        found = task.series.group(task, ranked, partition)
    elif len(limits) > len(of_sizes) and policy.method.diversity == "blind":
        found = _made_blindly(policy, n_rows, make, relimit, notes)
    else:
        found = kept_groups(task.steps, order, notes, lambda: make(policy, notes, look=True))
    labels, kept_rows, levels = found.labels, found.rows, found.levels
    everyone = sorted_table
    whose, left = (persons, relimit(kept_rows)) if repeat(persons) else (None, ())
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
            sorted_table,
            everyone,
            ranked,
            Groups.of(labels),
            attributes,
            policy,
            task.seed,
            notes.append,
            levels,
            None if whose is None else whose[kept_rows],
            whose,
            None if whose is None else lambda joined: violations(joined, left),
        )
    )
    published = sorted_table.with_columns(columns)
    final = _published_order(published, order, quasi, policy)
    behind = None
    if published.weights is not None:
        everything = final
        published, final, place = joined_rows(published, everything)
        behind = Behind(order[everything], groups.labels[everything], place)
    return Anonymized(
        published.take(final), attributes, order[final], groups.labels[final], tuple(notes), behind=behind
    )


HISTORY_STEP = 2**31 + 2
"""Of the seed: which records are left out so that persons have equally many."""

_GROWN = (
    "Some persons have several records, so {partition} made blocks of near records, in which groups of different "
    "persons grew by the record that widens them least."
)


def _history_groups(
    task: PublishingTask,
    asked: Policy,
    ranked: Sequence[Ranked],
    persons: npt.NDArray[np.int64],
    limits: Sequence[Limit],
    relimit: Callable[[npt.NDArray[np.intp]], Sequence[Limit]],
    told: list[str],
) -> RecodedGroups:
    """Groups of persons whose records, all together, will look alike; see `shoal.tables.history`."""
    n_rows, method = len(persons), asked.method.model_copy(update={"effort": "fast"})
    rows = records_to_keep(persons, asked.k, task.seed, HISTORY_STEP)
    n_left_out = n_rows - len(rows)
    if n_left_out > int(method.suppression * n_rows):
        raise Infeasible(
            f"{n_left_out:,} of {n_rows:,} records have to be left out, so that at least {asked.k} persons have "
            f"equally many; allow it (suppression = {np.ceil(1000 * n_left_out / n_rows) / 1000:g}), or take "
            'person_knowledge = "row"'
        )
    if n_left_out:
        told.append(f"{n_left_out:,} records were suppressed, so that persons of a group have equally many.")
    whose = np.unique(persons[rows], return_inverse=True)[1].astype(np.int64)
    here = [r.take(rows) for r in ranked]

    def partition(vectors: list[Ranked]) -> npt.NDArray[np.int32]:
        return partition_labels(
            vectors, asked.k, method, (), seed=task.seed, executor=task.executor, note=told.append, stop=task.stop
        )

    labels = history_labels(here, whose, partition)
    held = [limit for limit in relimit(rows)[: len(limits)] if limit.by_person is not None]
    counts = np.bincount(whose)[whose]
    for number in np.unique(counts) if held else ():
        some = np.flatnonzero(counts == number)  # groups of persons with other numbers of records stay apart
        of_number, its = np.unique(labels[some], return_inverse=True)
        found = its.astype(np.int32)
        bounds = [limit.of_rows(some) for limit in held]
        near = [r.take(some) for r in here]
        failing = violations(found, bounds)
        while failing.any() and len(failing) > 1:
            found = merge_round(found, near, failing)
            failing = violations(found, bounds)
        if failing.any():
            raise Infeasible(
                f"the persons with {int(number)} records have too few sensitive values among them to meet "
                f'{held[0].text}; ask for less, or take person_knowledge = "row"'
            )
        labels[some] = of_number[found]
    return RecodedGroups(np.unique(labels, return_inverse=True)[1].astype(np.int32), rows)


def _of_whole_persons(
    found: RecodedGroups,
    persons: npt.NDArray[np.int64],
    ranked: Sequence[Ranked],
    relimit: Callable[[npt.NDArray[np.intp]], Sequence[Limit]],
    policy: Policy,
    notes: list[str],
    weights: Codes | None,
) -> RecodedGroups:
    """Leave out all records of a person of whom one is left out, and mend the groups that have too few then."""

    n_rows = _n_records(np.arange(len(persons)), weights)
    n_left_out = n_rows - _n_records(found.rows, weights)
    rows, labels = found.rows, found.labels
    while True:
        whole = whole_persons(persons, rows)
        labels = np.unique(labels[np.isin(rows, whole)], return_inverse=True)[1].astype(np.int32)
        rows = whole
        failing = violations(labels, relimit(rows)) if len(rows) else np.ones(1, dtype=bool)
        if not failing.any():
            break
        if found.levels is not None and not failing.all():  # groups of one recoding cannot be merged
            labels, rows = labels[~failing[labels]], rows[~failing[labels]]
            continue
        here = [r.take(rows) for r in ranked]
        while failing.any() and len(failing) > 1 and found.levels is None:
            labels = merge_round(labels, here, failing, None if weights is None else weights[rows])
            failing = violations(labels, relimit(rows))
        if failing.any():
            raise Infeasible(
                "too few persons are left when all records of each who is suppressed are left out; allow no "
                "suppression, or ask for less"
            )
        break
    n_gone = n_rows - _n_records(rows, weights)
    if n_gone > int(policy.method.suppression * n_rows):
        raise Infeasible(
            f"{n_gone:,} of {n_rows:,} records would be left out, as of a person all are published or "
            f"none, and the policy allows {policy.method.suppression:.1%}; allow more, or take another method"
        )
    if n_gone > n_left_out:
        notes.append(
            f"{n_gone - n_left_out:,} more records were suppressed with them, so that of every person "
            "all are published or none."
        )
    return RecodedGroups(labels, rows, found.levels)


def _n_records(rows: npt.NDArray[np.intp], weights: Codes | None) -> int:
    """How many records some rows stand for."""
    return len(rows) if weights is None else int(weights[rows].sum(dtype=np.int64))


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


def refuse_hopeless(
    table: Table, policy: Policy, attributes: Mapping[str, Attribute], quasi: Sequence[str], sensitive: Sequence[str]
) -> None:
    """Say at once what no partition can mend."""
    if policy.shifted and not policy.keep_person:
        raise PolicyError(SHIFT_TIES)
    refuse_dates_beside(attributes, policy, bool(policy.shifted))
    if not quasi:
        raise PolicyError(
            "no column is quasi-identifying, so there is nothing to protect; name those that others may know "
            '(--quasi age,zip, or role = "quasi" in the policy)'
        )
    if policy.person:
        codes = person_codes(table, policy.person)
        n_persons = int(codes.max(initial=-1)) + 1 if table.weights is None else table.n_records
        if n_persons < policy.k:
            raise Infeasible(
                f"groups of {policy.k:,} persons are required but the table has {n_persons:,}; lower k or add records"
            )
    if policy.provider:
        counts = np.bincount(provider_codes(table, policy.provider))
        n_left = table.n_rows - int(np.sort(counts)[-policy.coalition :].sum())
        if n_left < policy.k:
            raise Infeasible(
                f"groups of {policy.k} besides the rows of any {policy.coalition} of {len(counts):,} providers are "
                f"required, and {n_left:,} rows are left without the largest; lower k or coalition, or add providers"
            )
    if table.n_records < policy.k:
        raise Infeasible(
            f"groups of {policy.k:,} are required but the table has {table.n_records:,} "
            f"row{'s' if table.n_records != 1 else ''}; lower k or add records"
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
    # One recoding may leave out all that is too frequent, though not bring in values that there are not.
    is_mendable = policy.method.is_recoding and policy.method.suppression > 0
    for found in _as_one_group(table, diverse, sensitive, policy, attributes):
        if not found.holds and not (is_mendable and found.kind not in registered()[found.model].needs_values):
            required = ", ".join(f"{k} = {v:g}" for k, v in found.required.items() if isinstance(v, int | float))
            raise Infeasible(
                f"{found.kind + ' ' if found.kind else ''}{found.model} with {required} cannot be met for "
                f"{found.sensitive!r}: the whole table taken as one group reaches {found.achieved:.4g}; ask for less"
            )


def _as_one_group(
    table: Table,
    diverse: Sequence[Model],
    sensitive: Sequence[str],
    policy: Policy,
    attributes: Mapping[str, Attribute],
) -> Iterator[Guarantee]:
    """What the whole table would reach in every sensitive column, were it one group."""
    for name in sensitive:
        column, weights = table.marginal(name)
        alone = f"not {name}"
        everyone = Column(alone, np.zeros(len(column.codes), dtype=np.int32), np.array(["all"], dtype=object))
        yield from verify(
            replace(Table.of([everyone, column]), weights=None if weights is None else weights.astype(np.int32)),
            [r for r in diverse if r.column in (None, name)],
            [alone],
            [name],
            missing=policy.missing,
            markers=policy.missing_markers,
            attributes=attributes,
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


def unstated_roles(attributes: Mapping[str, Attribute], policy: Policy) -> list[str]:
    """Say which columns are made alike for no other reason than that nobody said what they are."""
    names = [n for n, a in attributes.items() if a.why.endswith(UNKNOWN) and not policy.states_role_of(n)]
    if not names:
        return []
    told = ", ".join(map(repr, names[:_MOST_NAMED]))
    told += f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return [
        f"No role was stated for {told}, and others may know {'it' if len(names) == 1 else 'them'}: taken as "
        "quasi-identifying; state the role to keep the values as they are."
    ]


def repeated_persons(table: Table) -> list[str]:
    """Say that records were counted, where a column looks like a key of persons who have several."""
    keys = look_like_persons(table, may_miss=True)
    if not keys:
        return []
    n_persons = len(table[keys[0]].values)
    return [
        f"{RECORDS_COUNTED}: {keys[0]!r} has {n_persons:,} values in {table.n_rows:,} rows, so k records may belong "
        f"to fewer than k persons. If it says whose row it is, name it as the person (--person {keys[0]})."
    ]
