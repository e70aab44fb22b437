"""Condensation: every published record is a draw from the statistics of a group of at least k originals.

The published table of pseudo-records is not k-anonymous in the sense of equal quasi-identifiers, and nothing can be
verified from it alone. With the original, that it holds no copies; with the secret groups too, everything:

- every group has at least k originals, and as many pseudo-records;
- no group of which fewer than k originals have a value of a column publishes one (`averages`);
- every pseudo-record is possible given the mean, the covariance and the shares of its group (`draws`);
- none repeats the quasi-identifiers of fewer than k originals (`copies`);
- models about sensitive values hold of the groups, for those are what an attacker who knows everything else can place a
  person in.

**Guarantee.** A pseudo-record's quasi-identifiers depend on its group through statistics of at least k records, and on
random numbers.
**Not protected.** A value that all of a group share is among its statistics, so it is published as it is, and a group
of near-identical records gives near copies. Who knows all members of a group but one may work the last one out, as far
as the draws tell the mean. That a person is in the table is not hidden. That the draws are random, and that sensitive
values stand beside the pseudo-records of their group in random order, cannot be seen from any table.

References
----------
C. C. Aggarwal, P. S. Yu, "A condensation approach to privacy preserving data mining", EDBT 2004, LNCS 2992, section 2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.arrays import Ints, Mask
from shoal.check.evidence import Evidence, group_classes
from shoal.check.guarantee import Guarantee, Reached, count
from shoal.check.tables.alongside import Alongside, alongside
from shoal.check.tables.averages import drawn_from_few
from shoal.check.tables.copies import no_copies
from shoal.check.tables.draws import possible
from shoal.check.tables.models import check_of
from shoal.check.tables.verify import verify, worse
from shoal.check.verdict import Asked, Verdict
from shoal.data.tables.table import Table
from shoal.errors import DataError, PolicyError
from shoal.models import Requirement, least_size

DRAWN = "that pseudo-records were drawn from"
NEEDS_ORIGINAL = (
    "These are pseudo-records: from the published table alone nothing can be verified of them. That none is a copy of "
    "an original needs the original (--original)."
)
NEEDS_GROUPS = (
    "That every pseudo-record was drawn from at least {k} records needs the original and the groups that the owner may "
    "have kept (--original and --private)."
)


def condensed(table: Table, asked: Asked, evidence: Evidence) -> Verdict:
    """Recompute what can be recomputed of pseudo-records."""
    if not table.n_rows:
        raise DataError("nothing would be published: the table has no rows; allow less suppression or give more data")
    if not asked.quasi:
        raise PolicyError("no quasi-identifier is named; give at least one column the role 'quasi'")
    k = least_size(asked.requirements)
    persons = evidence.original_persons if asked.counts_persons else None
    diverse = [r for r in asked.requirements if r.is_about_values()]
    models = [f"{r.model} of the groups {DRAWN} needs them too." for r in diverse]
    if evidence.original is None:
        return Verdict((), (NEEDS_ORIGINAL, NEEDS_GROUPS.format(k=k), *models))
    columns = alongside(table, evidence.original, asked.quasi, asked.markers, asked.attributes)
    copies = no_copies(columns, k, missing=asked.missing, persons=persons)
    groups, original_groups = evidence.groups, evidence.original_groups
    if groups is None or original_groups is None:
        return Verdict((copies,), (NEEDS_GROUPS.format(k=k), *models))
    misfit = evidence.misfit(table)
    if misfit is not None:
        return Verdict((copies,), (misfit,))
    held = _in_groups(table, groups, diverse, asked)
    if persons is not None and diverse:
        held = _by_persons(held, diverse, asked, evidence, persons)
    told = tuple(replace(g, sentence=g.sentence.replace("of records that look alike", DRAWN)) for g in held)
    few = drawn_from_few(columns, groups, original_groups, k, persons)
    columns = [_without_few(c, original_groups >= 0, k, persons) for c in columns]
    return Verdict((condensation(columns, groups, original_groups, k, persons), copies, *told), findings=few)


def _in_groups(
    table: Table, groups: Ints, diverse: list[Requirement], asked: Asked, persons: Ints | None = None
) -> tuple[Guarantee, ...]:
    """What the sensitive values of each group keep."""
    return verify(
        table,
        diverse,
        asked.quasi,
        asked.sensitive,
        missing=asked.missing,
        markers=asked.markers,
        attributes=asked.attributes,
        classes=group_classes(groups),
        persons=persons,
    )


def _by_persons(
    held: tuple[Guarantee, ...], diverse: list[Requirement], asked: Asked, evidence: Evidence, persons: Ints
) -> tuple[Guarantee, ...]:
    """What was found in published groups, or what their originals show by persons, whichever is worse.

    A pseudo-record is nobody's, but the sensitive values of a group are those of its originals.
    """
    assert evidence.original is not None
    assert evidence.original_groups is not None
    member = np.flatnonzero(evidence.original_groups >= 0)
    original, groups = evidence.original.take(member), evidence.original_groups[member]
    whose = _in_groups(original, groups, diverse, asked, persons[member])
    low = [
        check_of(r).is_low_worse(r)
        for r in diverse
        for _ in ([r.column] if r.column else dict.fromkeys(asked.sensitive))
    ]
    return tuple(worse(p, g, low_is_worse=is_low) for p, g, is_low in zip(whose, held, low, strict=True))


def condensation(
    columns: list[Alongside], groups: Ints, original_groups: Ints, k: int, persons: Ints | None = None
) -> Guarantee:
    """Recompute groups and draws: achieved is the size of the smallest group.

    Parameters
    ----------
    columns : list of Alongside
        The quasi-identifiers of both tables.
    groups, original_groups : int64 arrays
        The group of each published and of each original record; a negative group is none.
    persons : int64 array, optional
        Whose each original record is: a group must then have k persons.
    """
    known = np.unique(np.concatenate([groups, original_groups[original_groups >= 0]]))
    labels = np.searchsorted(known, groups)
    original_labels = np.where(original_groups >= 0, np.searchsorted(known, original_groups), -1)
    sizes = np.bincount(original_labels[original_labels >= 0], minlength=len(known))
    drawn = np.bincount(labels, minlength=len(known))
    has_members = sizes[labels] > 0
    outside = ~has_members
    outside[has_members] = ~_possible(columns, has_members, labels, original_labels)
    n_outside = int(outside.sum())
    n_uneven = int((sizes != drawn).sum())
    members, noun = sizes, "original"
    if persons is not None:
        there = original_labels >= 0
        pairs = np.unique(np.column_stack([original_labels[there], persons[there]]), axis=0)
        members, noun = np.bincount(pairs[:, 0], minlength=len(known)), "person"
    failing = (members < k) | (sizes != drawn) | (np.bincount(labels[outside], minlength=len(known)) > 0)
    classes = replace(group_classes(np.arange(len(known))), sizes=members)
    smallest = int(members.min())
    reasons = [
        f"the smallest is of {count(smallest, 'record' if persons is None else noun)} (required: {k})" * (smallest < k),
        f"{n_uneven} {'has' if n_uneven == 1 else 'have'} not as many pseudo-records as originals" * (n_uneven > 0),
        f"{count(n_outside, 'published record')} cannot have been drawn from the group" * (n_outside > 0),
    ]
    return Reached.of(classes, members, failing, low_is_worse=True).guarantee(
        "condensation",
        {"k": k},
        (
            f"Every published record is a possible draw from statistics of at least {smallest} {noun}s "
            f"(required: {k}).",
            f"Condensation fails in {int(failing.sum())} of {count(len(known), 'group')}: "
            f"{', and '.join(filter(None, reasons))}.",
        ),
        details={"outside": n_outside},
    )


def _without_few(column: Alongside, member: Mask, k: int, persons: Ints | None) -> Alongside:
    """The column as it was drawn from: where fewer than k members, or persons, have a value, as if none had."""
    present = np.flatnonzero(member & (column.original >= 0))
    if (len(present) if persons is None else len(np.unique(persons[present]))) >= k:
        return column
    numbers = column.original_numbers
    return replace(
        column,
        original=np.full_like(column.original, -1),
        original_numbers=None if numbers is None else np.full_like(numbers, np.nan),
    )


def _possible(columns: list[Alongside], some: Mask, labels: Ints, original_labels: Ints) -> Mask:
    """Of the published records whose group has members, which are possible draws."""
    chosen = [
        replace(
            c,
            published=c.published[some],
            published_numbers=None if c.published_numbers is None else c.published_numbers[some],
        )
        for c in columns
    ]
    used, dense = np.unique(original_labels[original_labels >= 0], return_inverse=True)
    numbered = np.full(len(original_labels), -1, dtype=np.int64)
    numbered[original_labels >= 0] = dense
    return possible(chosen, np.searchsorted(used, labels[some]), numbered)
