"""From linked tables and a policy to the tables to be published. Nothing is promised here: `check/` does that.

Pseudonyms tie the rows of a person together in all files, so what has to look alike is all that is known of a person:
the quasi-identifiers of its row in the main table and the multiset of those of its rows in every other one. Persons are
put together who have equally many rows in each table that has quasi-identifiers, after some rows were left out, and
grouped there by vectors of the least and the greatest value in each attribute of each table, as `shoal.tables.history`
does for one. All rows of a group in a table get the same labels.

**Guarantee**: every person has the same published labels, in every table and equally often, as at least k - 1 others.

**Not protected**: what is published as it is, in all tables together; numbers of rows in tables without
quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Codes, Ints, Mask, Rows
from shoal.data.linked.linked import Linked
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.meaning import attributes_of, refitted
from shoal.data.tables.moments import moments_of
from shoal.data.tables.table import Table
from shoal.errors import Infeasible, PolicyError
from shoal.kinds.tables.policy import Policy
from shoal.linked.counts import common_levels
from shoal.progress import Progress
from shoal.tables.anonymize import HISTORY_STEP
from shoal.tables.blocks import partition_labels
from shoal.tables.encoding import Ranked, rank
from shoal.tables.groups import Groups
from shoal.tables.history import person_vectors
from shoal.tables.limits import Limit, limits_on_table, violations
from shoal.tables.merge import merge_round
from shoal.tables.persons import by_appearance
from shoal.tables.pseudonyms import PersonSecrets, refuse_dates_beside
from shoal.tables.publish.base import GroupedRecords
from shoal.tables.record_order import content_order, secret_order


@dataclass(frozen=True)
class LinkedMade:
    """What the methods made, and the secrets that tie it to the original.

    Attributes
    ----------
    tables : mapping of str to Table
        What would be published; the link holds pseudonyms.
    attributes : mapping
        Type and role of every column of each original table.
    rows, groups : mapping of str to arrays (n_published,)
        Of each table, the original row of each published one, and its group. Secret.
    notes : tuple of str
        What the user should know, a sentence each.
    key : bytes
        What pseudonyms were made with. Secret.
    """

    tables: Mapping[str, Table]
    attributes: Mapping[str, Mapping[str, Attribute]]
    rows: Mapping[str, Rows]
    groups: Mapping[str, Codes]
    notes: tuple[str, ...]
    key: bytes


@dataclass(frozen=True)
class _Part:
    """One table, its rows in an order that depends on their content and on a secret; without rows of nobody known."""

    name: str
    policy: Policy
    attributes: Mapping[str, Attribute]
    table: Table
    order: Rows
    persons: Ints

    def named(self, role: str) -> list[str]:
        return sorted(n for n, a in self.attributes.items() if a.role == role)

    def take(self, rows: Rows) -> _Part:
        return replace(self, table=self.table.take(rows), order=self.order[rows], persons=self.persons[rows])

    @property
    def ranked(self) -> list[Ranked]:
        return [rank(self.table[n], self.attributes[n]) for n in self.named("quasi")]

    @property
    def counts_histories(self) -> bool:
        return bool(self.named("quasi"))


def anonymize_linked(
    data: Linked,
    policies: Mapping[str, Policy],
    *,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> LinkedMade:
    """Make the tables to be published.

    Parameters
    ----------
    policies : mapping of str to Policy
        What is asked of each table, whose person is the link; alike in all but columns.
    """
    step = progress or (lambda *_: None)
    notes = [note for table in data.tables.values() for note in table.source.notes]
    for name in data.tables:
        if data.n_strangers(name):
            notes.append(
                f"{data.n_strangers(name):,} of {data.tables[name].n_rows:,} rows of {name!r} are of nobody in "
                f"{data.main!r}, as {data.link!r} is spelled there, and were left out."
            )
    n_several = int((np.bincount(data.persons[data.main]) > 1).sum())
    if n_several:
        notes.append(
            f"{n_several:,} of {len(data):,} persons have several rows in {data.main!r}, the main table, which all "
            "count."
        )
    parts = [_part(data, name, policies[name], seed) for name in data.tables]
    policy = policies[data.main]
    is_shifted = any(own.shifted for own in policies.values())
    for part in parts:
        refuse_dates_beside(part.attributes, part.policy, is_shifted, f" of {part.name!r}")
    if not any(part.counts_histories for part in parts):
        raise PolicyError(
            "no column of any table is quasi-identifying, so there is nothing to protect; name those that others may "
            'know (--quasi age,zip, or role = "quasi" in the policy)'
        )
    if len(data) < policy.k:
        raise Infeasible(
            f"groups of {policy.k} persons are required but {data.main!r} has {len(data)}; lower k or add records"
        )
    # Persons are numbered in the order in which a secret puts their records.
    place = np.empty(len(data), dtype=np.int64)
    place[parts[0].persons] = by_appearance(parts[0].persons)
    parts = [replace(part, persons=place[part.persons]) for part in parts]
    step("grouping persons", 0, 0)
    kept, crowds = _equal_numbers(parts, len(data), policy, seed, notes)
    labels = _groups(kept, crowds, policy, seed, executor, notes, stop)
    step("publishing groups", 0, 0)
    spelled = np.empty(len(data), dtype=object)
    spelled[place] = data.names
    drawn = PersonSecrets.of([(name,) for name in spelled.tolist()], seed)
    offsets = drawn.offsets(policy.shift_days)
    tables, rows, groups = {}, {}, {}
    for part, everyone in zip(kept, parts, strict=True):
        table = _published(part, everyone.table, labels, seed, notes)
        columns = {**table.columns, data.link: drawn.column(data.link, part.persons)}
        columns |= {n: moments_of(columns[n]).moved(columns[n], offsets[part.persons]) for n in part.policy.shifted}
        original = data.tables[part.name]
        table = replace(table, columns={n: columns[n] for n in original.names if n in columns})
        final = content_order(table, part.named("quasi"), table.names)
        tables[part.name], rows[part.name] = table.take(final), part.order[final]
        groups[part.name] = labels[part.persons][final].astype(np.int32)
    attributes = {part.name: part.attributes for part in parts}
    return LinkedMade(tables, attributes, rows, groups, tuple(dict.fromkeys(notes)), drawn.key)


def _part(data: Linked, name: str, policy: Policy, seed: int | None) -> _Part:
    table = data.tables[name]
    attributes = attributes_of(table, policy)
    quasi = [n for n, a in attributes.items() if a.role == "quasi"]
    kept = [n for n, a in attributes.items() if a.role != "identifying"]
    order = secret_order(table, quasi, [*kept, data.link], seed)
    order = order[data.persons[name][order] >= 0]
    return _Part(name, policy, attributes, table.select(kept).take(order), order, data.persons[name][order])


def _equal_numbers(
    parts: Sequence[_Part], n_persons: int, policy: Policy, seed: int | None, notes: list[str]
) -> tuple[list[_Part], Ints]:
    """Leave rows out until k persons have each combination of numbers of rows; and who has which, negative if none."""
    weights = np.sum([np.bincount(part.persons, minlength=n_persons) for part in parts], axis=0).astype(np.int64)
    crowds = np.zeros(n_persons, dtype=np.int64)
    levels: dict[str, Ints] = {}
    for part in parts:
        if part.counts_histories:
            counts = np.bincount(part.persons, minlength=n_persons).astype(np.int64)
            levels[part.name], stays = common_levels(counts, crowds, policy.k, weights)
            joint = np.unique(crowds * (int(counts.max()) + 1) + levels[part.name], return_inverse=True)[1]
            crowds = np.where(stays, joint, -1)
    there: Mask = crowds >= 0
    kept, needed, told = [], 0.0, []
    for i, part in enumerate(parts):
        rows = np.flatnonzero(there[part.persons])
        if part.counts_histories:
            rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(HISTORY_STEP, i)))
            order = np.lexsort((rng.random(len(part.persons)), part.persons))
            starts = np.searchsorted(part.persons[order], np.arange(n_persons))
            nth = np.arange(len(order)) - starts[part.persons[order]]
            fits = (nth < levels[part.name][part.persons[order]]) & there[part.persons[order]]
            rows = np.sort(order[fits])
        n_left_out = len(part.persons) - len(rows)
        if n_left_out:
            told.append(f"{n_left_out:,} of {len(part.persons):,} rows of {part.name!r}")
            needed = max(needed, n_left_out / len(part.persons))
            if n_left_out <= int(policy.method.suppression * len(part.persons)):
                told.pop()
                notes.append(
                    f"{n_left_out:,} of {len(part.persons):,} rows of {part.name!r} were suppressed, so that persons "
                    "of a group have equally many."
                )
        kept.append(part.take(rows))
    if told:
        allow = f"allow it (suppression = {np.ceil(1000 * needed) / 1000:g}), or " if needed < 0.999 else ""
        raise Infeasible(
            f"{' and '.join(told)} have to be left out, so that at least {policy.k} persons have equally many rows in "
            f"all tables with quasi-identifiers; {allow}leave such a table out, or give its columns another role"
        )
    return kept, crowds


def _groups(
    parts: Sequence[_Part],
    crowds: Ints,
    policy: Policy,
    seed: int | None,
    executor: Executor | None,
    notes: list[str],
    stop: Callable[[], bool] | None,
) -> Ints:
    """The group of each person; -1 of those who are left out."""
    n_persons = len(crowds)
    vectors: dict[str, list[Ranked]] = {}
    has_rows: dict[str, Mask] = {}
    for part in parts:
        if part.counts_histories:
            vectors[part.name] = person_vectors(part.ranked, part.persons, n_persons)
            has_rows[part.name] = np.bincount(part.persons, minlength=n_persons) > 0
    limits = {part.name: held for part in parts if (held := _limits(part))}
    method = policy.method.model_copy(update={"effort": "fast"})
    labels = np.full(n_persons, -1, dtype=np.int64)
    of_crowd: list[tuple[Rows, list[Ranked]]] = []
    n_groups = 0
    for crowd in np.unique(crowds[crowds >= 0]):
        some = np.flatnonzero(crowds == crowd)
        near = [v.take(some) for name, vs in vectors.items() if has_rows[name][some[0]] for v in vs]
        found = np.zeros(len(some), dtype=np.int32)
        if len(some) >= 2 * policy.k and near:
            found = partition_labels(
                near, policy.k, method, (), seed=seed, executor=executor, note=notes.append, stop=stop
            )
        labels[some] = found + n_groups
        n_groups += int(found.max()) + 1
        of_crowd.append((some, near))
    while limits and (failing := _failing(parts, limits, labels)).any():
        for some, near in of_crowd:  # persons with other numbers of rows stay apart
            own, its = np.unique(labels[some], return_inverse=True)
            if not failing[own].any():
                continue
            if len(own) == 1 or not near:
                raise Infeasible(
                    f"{len(some):,} persons with equally many rows in all tables have too few sensitive values among "
                    f"them to meet {next(iter(limits.values()))[0].text}; ask for less"
                )
            labels[some] = own[merge_round(its.astype(np.int32), near, failing[own])]
        labels[labels >= 0] = np.unique(labels[labels >= 0], return_inverse=True)[1]
    return labels


def _limits(part: _Part) -> list[Limit]:
    """What is required of the sensitive values of a table."""
    sensitive = part.named("sensitive")
    if not sensitive or not len(part.persons) or not any(r.is_about_values() for r in part.policy.require):
        return []
    found = limits_on_table(
        part.table, part.policy.require, part.attributes, sensitive, part.policy.missing, part.persons
    )
    return [limit for limit in found if limit.by_person is not None]


def _failing(parts: Sequence[_Part], limits: Mapping[str, Sequence[Limit]], labels: Ints) -> Mask:
    """Which groups fail a limit in some table."""
    failing = np.zeros(int(labels.max()) + 1, dtype=bool)
    for part in parts:
        if part.name in limits:
            found = violations(labels[part.persons], limits[part.name])
            failing[: len(found)] |= found
    return failing


def _published(part: _Part, everyone: Table, labels: Ints, seed: int | None, notes: list[str]) -> Table:
    """The rows of a table with the labels of their groups."""
    if not part.counts_histories or not len(part.persons):
        return part.table
    table = part.table.compact()  # no value of a suppressed record may shape a label
    attributes = refitted(table, part.attributes, part.policy)
    ranked = [rank(table[n], attributes[n]) for n in part.named("quasi")]
    groups = Groups.of(np.unique(labels[part.persons], return_inverse=True)[1].astype(np.int32))
    columns, _ = part.policy.method.way_of_publishing.publish(
        GroupedRecords(table, everyone, ranked, groups, attributes, part.policy, seed, notes.append)
    )
    return table.with_columns(columns)
