"""Recompute what is required of linked tables from the files that would be published, and measure what they show.

Nothing here comes from the methods: who looks like whom is asked of the files (`joint`), and what is required of
sensitive values is recomputed table by table, by the check of single tables, for these classes of persons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from shoal.arrays import Ints
from shoal.check.finding import KNOWN_HISTORY, Finding
from shoal.check.guarantee import Guarantee, count
from shoal.check.linked.joint import Joined
from shoal.check.tables.classes import Classes, Missing
from shoal.check.tables.compare_rows import Compared, ComparedTables, compare_labels
from shoal.check.tables.k_anonymity import judge_sizes
from shoal.check.tables.known_history import known_history, tied_records
from shoal.check.tables.pseudonyms import UNSEEN, apart, compare_pseudonyms
from shoal.check.tables.shift import moved_days, unlike_moves
from shoal.check.tables.singled_out import findings_of
from shoal.check.tables.verify import verify
from shoal.check.verdict import Verdict
from shoal.data.linked.linked import Linked
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import MARKERS, Table
from shoal.models import Requirement


@dataclass(frozen=True)
class LinkedAsked:
    """What published tables are held to.

    Attributes
    ----------
    attributes : mapping of str to mapping
        What the columns of each table mean, but for the link.
    shifted : mapping of str to sequence of str
        Columns of each table whose days were moved.
    """

    link: str
    requirements: Sequence[Requirement]
    attributes: Mapping[str, Mapping[str, Attribute]]
    shifted: Mapping[str, Sequence[str]]
    shift_days: int = 0
    missing: Missing = "value"
    markers: Sequence[str] = MARKERS
    limit: float = 1.0
    accepted: Mapping[str, str] = field(default_factory=dict)


def verify_linked(tables: Mapping[str, Table], joined: Joined, asked: LinkedAsked) -> Verdict:
    """Recompute the guarantees; the first table is the main one."""
    findings = [
        f"{count(n, 'row')} of {name!r} whose pseudonym is not in {next(iter(tables))!r}"
        for name, n in joined.strangers.items()
        if n
    ]
    if findings or not len(joined.sizes):
        return Verdict((), findings=tuple(findings or ["the main table has no rows"]))
    guarantees: list[Guarantee] = []
    first = np.zeros(len(joined.sizes), dtype=np.int64)
    persons = Classes((), np.array(list(joined.classes.values()), dtype=np.int64), joined.sizes, first)
    for required in asked.requirements:
        if not required.is_about_values():
            guarantees.append(_alike(persons, required.least_size, len(tables)))
            continue
        for name, table in tables.items():
            sensitive = [n for n, a in asked.attributes[name].items() if a.role == "sensitive"]
            if required.column is not None:
                sensitive = [n for n in sensitive if n == required.column]
            if not sensitive or not table.n_rows:
                continue
            whose = _whose(table, asked.link, joined)
            ids = np.unique(whose[1], return_inverse=True)[1].astype(np.int64)
            firsts = np.zeros(int(ids.max()) + 1, dtype=np.int64)
            firsts[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
            reached = verify(
                apart(table, asked.link)[0],
                [required],
                [],
                sensitive,
                missing=asked.missing,
                markers=asked.markers,
                attributes=asked.attributes[name],
                classes=Classes((), ids, np.bincount(ids).astype(np.int64), firsts),
                persons=whose[0],
            )
            guarantees += [
                replace(g, sensitive=f"{name}: {g.sensitive}", sentence=f"In {name!r}: {g.sentence}") for g in reached
            ]
    return Verdict(tuple(guarantees))


def _alike(classes: Classes, k: int, n_tables: int) -> Guarantee:
    others = int(classes.sizes.min()) - 1
    known = f"The published quasi-identifiers of a person in all {n_tables} tables together"
    few = f"only {count(others, 'other person')}" if others else "no other person"
    return judge_sizes(
        classes,
        k,
        f"{known} are those of at least {count(others, 'other person')} too (required: {k - 1}).",
        f"the rows of some persons in all {n_tables} tables, taken together, are like those of {few} "
        f"(required: {k - 1}).",
    )


def _whose(table: Table, link: str, joined: Joined) -> tuple[Ints, Ints]:
    """Of each row the number of its pseudonym, the same in all tables, and its class."""
    numbers = {text: i for i, text in enumerate(joined.classes)}
    texts = table[link].texts()
    place = np.array([numbers.get(t, -1) for t in texts], dtype=np.int64)
    alike = np.array([joined.classes.get(t, -1) for t in texts], dtype=np.int64)
    return place[table[link].codes], alike[table[link].codes]


def measure_linked(tables: Mapping[str, Table], joined: Joined, asked: LinkedAsked) -> tuple[Finding, ...]:
    """What the columns show that are published as they are: row by row in each table, and all rows of a person."""
    findings: list[Finding] = []
    tied = []
    for name, table in tables.items():
        whose = _whose(table, asked.link, joined)[0]
        bare, moved = apart(table, asked.link)[0], asked.shifted[name]
        tied.append(tied_records(bare, asked.attributes[name], whose, moved, asked.markers, f"{name}."))
        shown = bare.select([n for n in bare.names if n not in moved])
        for persons in (None, whose):
            found = findings_of(
                shown,
                asked.attributes[name],
                has_labels=True,
                markers=asked.markers,
                limit=asked.limit,
                accepted=asked.accepted,
                persons=persons,
            )
            if persons is not None or any(f.is_serious for f in found):
                findings += [
                    replace(f, columns=tuple(f"{name}.{c}" for c in f.columns), sentence=f"In {name!r}: {f.sentence}")
                    for f in found
                ]
                break
    findings += known_history(
        tied,
        shift_days=asked.shift_days,
        limit=asked.limit,
        reason=asked.accepted.get(KNOWN_HISTORY),
        counts_alone=True,
    )
    return tuple(sorted(findings, key=lambda f: (not f.is_above, f.limit - f.share)))


def compare_linked(
    tables: Mapping[str, Table],
    original: Linked,
    rows: Mapping[str, Ints] | None,
    asked: LinkedAsked,
    *,
    is_meaning_known: bool = True,
) -> Compared:
    """Compare published tables with the originals: labels and cells, pseudonyms and persons, days and moved days.

    Parameters
    ----------
    rows : mapping of str to int64 array, optional
        The original row of each published one, by table.
    """
    if rows is None:
        return Compared(not_compared=(UNSEEN,))
    findings: list[str] = []
    left: list[str] = []
    pseudonyms, persons, moves, movers = [], [], [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    for name, table in tables.items():
        own, source, meant = rows[name], original.tables[name], asked.attributes[name]
        n_rows = table.n_rows
        is_one_each = len(own) == n_rows == len(np.unique(own)) and (
            not n_rows or (int(own.min()) >= 0 and int(own.max()) < source.n_rows)
        )
        if not is_one_each:
            return Compared((f"the rows of {name!r} that were kept are not those of this release and original",))
        if not n_rows:
            continue
        whose = original.persons[name][own]
        pseudonyms.append(np.array(table[asked.link].texts(), dtype=object)[table[asked.link].codes])
        persons.append(whose)
        moved = [n for n in asked.shifted[name] if n in table.columns]
        wrong, by, who = moved_days(table, source, moved, asked.markers, own, whose)
        findings += [f"In {name!r}: {finding}" for finding in wrong]
        moves.append(by)
        movers.append(who)
        bare = apart(table, asked.link)[0]
        if not bare.names:  # pseudonyms alone, which say how many rows there are
            continue
        compared = compare_labels(
            ComparedTables(
                bare,
                source,
                meant,
                tuple(n for n in bare.names if n in meant and meant[n].role == "quasi"),
                tuple(n for n in bare.names if n in meant and meant[n].role != "quasi" and n not in moved),
                asked.markers,
                is_meaning_known,
                own,
            )
        )
        findings += [f"In {name!r}: {finding}" for finding in compared.findings]
        left += [f"in {name!r}, {phrase}" for phrase in compared.not_compared]
    spelled = np.unique(np.concatenate(pseudonyms).astype(str), return_inverse=True)[1].astype(np.int64)
    findings += compare_pseudonyms(spelled, np.concatenate(persons)).findings
    findings += unlike_moves(np.concatenate(moves), np.concatenate(movers), asked.shift_days)
    return Compared(tuple(findings), tuple(left))
