"""Pseudo-records for a whole table: condensed quasi-identifiers beside the other columns of the group.

The quasi-identifiers of a group are condensed (`publish.condense`). All its other columns are published as they are,
those of one record together, beside a pseudo-record of the same group that chance assigns. So a sensitive value
belongs to somebody of the group, and to the pseudo-record beside it no more than to any other of the group; what the
policy requires of sensitive values is required of groups.

A group out of which nothing but copies of originals can be drawn (ages of 30 and 31 and all else alike, say) is joined
with the nearest one, and all are drawn again. So is, before anything is drawn, a group of which some but fewer than k
records have a value of a column: its mean would be that of few, and of one the value itself. A column of which fewer
than k records have a value is published missing. What holds of sensitive values in both groups holds in their union.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Column, Table
from shoal.engine.seeds import spawn_seeds
from shoal.errors import Infeasible
from shoal.kinds.tables.policy import Policy
from shoal.tables.encoding import Ranked, rank
from shoal.tables.groups import Groups, n_persons_in
from shoal.tables.merge import merge_round
from shoal.tables.publish.condense import condense, mixed
from shoal.tables.publish.copies import Originals

# The partition draws from the children of the seed itself.
STEP = 2**31


@dataclass(frozen=True)
class PseudoRecords:
    """The quasi-identifiers of what is published.

    Attributes
    ----------
    columns : dict of str to Column
        The quasi-identifiers: a pseudo-record for each record.
    groups : Groups
        Those that they were drawn from, in the end.
    n_joined : int
        How many groups fewer there are than were given.
    """

    columns: dict[str, Column]
    groups: Groups
    n_joined: int


def pseudo_records(
    table: Table,
    everyone: Table,
    labels: Codes,
    attributes: Mapping[str, Attribute],
    policy: Policy,
    seed: int | None,
    *,
    persons: Ints | None = None,
    everyones: Ints | None = None,
    failing: Callable[[Codes], Mask] | None = None,
) -> PseudoRecords:
    """Draw a pseudo-record for every record of a table.

    Parameters
    ----------
    table : Table
        The records of the groups.
    everyone : Table
        All originals, those suppressed before too: none of them may be repeated.
    labels : int32 array (table.n_rows,)
        The group of each record.
    attributes, policy
        What the columns mean, and what is asked.
    seed : int or None
        The same seed gives the same pseudo-records; None is the operating system's entropy.
    persons, everyones, failing
        Where some persons have several records, as in `GroupedRecords`: values and crowds are then of k persons.
    """
    names = sorted(n for n, a in attributes.items() if a.role == "quasi")
    draw_seed, mix_seed = spawn_seeds(np.random.SeedSequence(seed, spawn_key=(STEP,)), 2)
    originals = Originals.of(
        [_ranked(everyone, attributes[n]) for n in names],
        policy.k,
        {n: attributes[n].type for n in names},
        policy.missing,
        everyones,
    )
    table = table.with_columns({n: _without_few(table[n], policy.k, persons) for n in names})
    sources, ranked = [table[n] for n in names], [_ranked(table, attributes[n]) for n in names]
    given = groups = Groups.of(labels)

    def mended(groups: Groups) -> Groups:
        """Join groups of which too few have a value, or whose union with others fails by persons."""
        while True:
            few = _with_few(groups, ranked, policy.k, persons)
            few |= failing(groups.labels) if failing is not None else False
            if not few.any():
                return groups
            if len(few) == 1:
                raise Infeasible(
                    "what is required cannot be met by counting persons: groups were joined until one was left; ask "
                    "for less"
                )
            groups = Groups.of(merge_round(groups.labels, ranked, few))

    groups = mended(groups)
    while True:
        found = condense(sources, ranked, groups, np.random.default_rng(draw_seed), originals=originals)
        if not found.left.any():
            break
        if len(groups.sizes) == 1:
            raise Infeasible(
                "out of these records nothing but copies of originals can be drawn; make more columns "
                "quasi-identifying, or publish generalised"
            )
        stuck = groups.sum(found.left) > 0
        groups = mended(Groups.of(merge_round(groups.labels, ranked, stuck)))
    order = mixed(groups, mix_seed)
    columns = {n: c.take(order) for n, c in found.columns.items()}
    return PseudoRecords(columns, groups, len(given.sizes) - len(groups.sizes))


def _ranked(table: Table, attribute: Attribute) -> Ranked:
    """Values as such: a hierarchy is for labels, and one made from what is published lacks suppressed values."""
    return rank(table[attribute.name], replace(attribute, hierarchy=None))


def _without_few(column: Column, k: int, persons: Ints | None) -> Column:
    """The column, or an empty one where fewer than k records, or persons, have a value."""
    present = np.flatnonzero(~column.missing)
    n_held = len(present) if persons is None else len(np.unique(persons[present]))
    if n_held >= k or not column.has_missing:
        return column
    return replace(column, codes=np.full(len(column.codes), len(column.values), dtype=np.int32)).compact()


def _with_few(groups: Groups, ranked: Sequence[Ranked], k: int, persons: Ints | None) -> Mask:
    """Groups of which some but fewer than k records, or persons, have a value of some attribute."""
    few = np.zeros(len(groups.sizes), dtype=bool)
    for r in ranked:
        if r.has_missing:
            present = np.flatnonzero(~np.isnan(r.positions)[r.ranks])
            whose = None if persons is None else persons[present]
            n_held = n_persons_in(groups.labels[present], whose, len(few))
            few |= (n_held > 0) & (n_held < k)
    return few
