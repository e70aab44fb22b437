"""m-privacy: what is required holds of what is left of every class without the rows of any m providers.

Rows come from several providers, who may look at the release with their own rows in hand: each can take these away from
every class. Asked are all coalitions of up to m providers. Without the rows of such a coalition each class must be left
with k records, and meet what is required of sensitive values; a model that compares classes with the whole table
compares what is left of both. Of a class that is of m providers alone nothing is left, so it meets nothing.

**Guarantee.** Whatever up to m providers know of their own rows, each guarantee holds for the rows of all others.
**Not protected.** What more than m providers would find together. Where persons count, rows are taken away, not
persons: one who has rows at two providers stays with the rows of the other.

How the worst coalition is found:

- Sizes: without the m providers who have most of a class. Fewer leave more, so these need not be tried. Where a person
  has rows from several providers, all coalitions of a class are tried if that bound does not settle it.
- Models that look at one class at a time: the coalitions of the providers of a class. If as many records as m of
  them have at most are taken away, those with the rarest sensitive values, no coalition leaves fewer values, or less
  even ones; where classes meet the model so, and no worse than what was found already, none is tried. So
  classes of many providers are quick.
- Models that compare with the whole table: all coalitions of all providers.

What is told of a model of sensitive values is the table that the worst coalition leaves.

References
----------
S. Goryczka, L. Xiong, B. C. M. Fung, "m-privacy for collaborative data publishing", CollaborateCom 2011; IEEE TKDE
26(10), 2014 (Definition 3.1; sec. 4 on pruning).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from shoal.arrays import Floats, Ints, Rows
from shoal.check.guarantee import Guarantee, Reached
from shoal.check.tables.classes import Classes, Missing, classes_of
from shoal.check.tables.distribution import distribution
from shoal.check.tables.models import Check, Held, check_of
from shoal.check.tables.verify import held_by, verify, worse
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import MARKERS, Table
from shoal.models import Requirement

MOST_CELLS = 4_000_000
"""Counts that are held at once: of classes without coalitions, by value."""
_NUMBERS = {1: "one provider", 2: "two providers", 3: "three providers"}


def verify_without(
    table: Table,
    requirements: Sequence[Requirement],
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    *,
    providers: Ints,
    coalition: int,
    missing: Missing = "value",
    markers: Sequence[str] = MARKERS,
    attributes: Mapping[str, Attribute] | None = None,
    persons: Ints | None = None,
) -> tuple[Guarantee, ...]:
    """Recompute the guarantees of what is left of a table without the rows of any coalition.

    Parameters
    ----------
    providers : int64 array (n_rows,)
        From whom each row is.
    coalition : int
        How many providers may put their rows together.

    The others, and what is returned, are those of `verify`.
    """
    whose = np.unique(providers, return_inverse=True)[1].astype(np.int64)
    asked: dict[str, Any] = {"missing": missing, "markers": markers, "attributes": attributes}
    classes = classes_of(table, quasi, missing=missing, markers=markers)
    counted = classes if persons is None else classes.of_persons(persons)
    left = least_left(counted, whose, coalition)
    found = []
    for required in requirements:
        check = check_of(required)
        if (left == 0).any():
            found += [
                _nothing_left(g, counted, left)
                for g in verify(table, [required], quasi, sensitive, classes=classes, persons=persons, **asked)
            ]
        elif not required.is_about_values():
            found.append(check.of_sizes(required, replace(counted, sizes=left)))
        else:
            for name in [required.column] if required.column is not None else list(dict.fromkeys(sensitive)) or [""]:
                names = [name] if name else []
                plain = verify(table, [required], quasi, names, classes=classes, persons=persons, **asked)[0]
                is_low = check.is_low_worse(required)
                if persons is None and classes.weights is None and missing == "value" and not check.is_relative:
                    held = held_by(table, check, required, classes, name, markers, attributes or {})
                    found.append(_worst_of_classes(check, required, classes, held, whose, left, coalition, plain))
                    continue
                part = _collapsed(table, classes, name, whose) if persons is None else (table, classes, whose)
                for rows in _rests(part[2], coalition):
                    some = part[0].select([name]).take(rows)
                    rest = verify(
                        some,
                        [required],
                        quasi,
                        names,
                        classes=_of_rows(part[1], rows),
                        persons=None if persons is None else persons[rows],
                        **asked,
                    )[0]
                    plain = worse(plain, rest, low_is_worse=is_low)
                found.append(plain)
    return tuple(_told(g, coalition) for g in found)


def least_left(classes: Classes, providers: Ints, coalition: int) -> Ints:
    """How many records, or persons, are left of each class at least without the rows of a coalition."""
    if classes.persons is None:
        keys, counts = np.unique(classes.ids * (int(providers.max()) + 1) + providers, return_counts=True)
        if classes.weights is not None:
            counts = np.bincount(
                np.searchsorted(keys, classes.ids * (int(providers.max()) + 1) + providers), classes.weights
            )
        home = keys // (int(providers.max()) + 1)
        return classes.sizes - _most(home, counts.astype(np.int64), classes.n_classes, coalition)
    return _least_persons(classes, providers, coalition)


def _least_persons(classes: Classes, providers: Ints, coalition: int) -> Ints:
    """The same of persons: gone is who has rows with the coalition alone, in the class."""
    assert classes.persons is not None
    n_persons, n_providers = int(classes.persons.max()) + 1, int(providers.max()) + 1
    triples = np.unique((classes.ids * n_persons + classes.persons) * n_providers + providers)
    pairs, owner, n_with = np.unique(triples // n_providers, return_inverse=True, return_counts=True)
    home, provider = (pairs // n_persons)[owner], triples % n_providers
    can_go = n_with[owner] <= coalition
    keys, counts = np.unique(home[can_go] * n_providers + provider[can_go], return_counts=True)
    left = classes.sizes - _most(keys // n_providers, counts, classes.n_classes, coalition)
    shared = np.zeros(classes.n_classes, dtype=bool)
    shared[home[can_go & (n_with[owner] > 1)]] = True  # counted twice above, so that fewer seem to be left than are
    some = shared[home]
    if not some.any():
        return left
    ids, local, n_local = _numbered(home[some], provider[some])
    _, owner = np.unique(owner[some], return_inverse=True)
    class_of = np.empty(int(owner.max()) + 1, dtype=np.int64)
    class_of[owner] = ids
    exact = np.full(classes.n_classes, np.iinfo(np.int64).max)
    for members in _coalitions(int(n_local.max()), coalition):
        stays = np.zeros(len(class_of), dtype=bool)
        stays[owner[~np.isin(local, members)]] = True
        n_left = np.bincount(class_of[stays], minlength=classes.n_classes)
        there = n_local[: classes.n_classes] > members[-1]
        exact[: len(there)][there] = np.minimum(exact[: len(there)], n_left[: len(there)])[there]
    return np.where(shared, exact, left)


def _most(home: Ints, counts: Ints, n_classes: int, n: int) -> Ints:
    """What the n providers of each class have together who have most of it."""
    total = np.zeros(n_classes, dtype=np.int64)
    counts = counts.copy()
    for _ in range(n):
        top = np.zeros(n_classes, dtype=np.int64)
        np.maximum.at(top, home, counts)
        total += top
        at = np.flatnonzero((counts == top[home]) & (counts > 0))
        counts[at[np.unique(home[at], return_index=True)[1]]] = 0
    return total


def _numbered(classes: Ints, providers: Ints) -> tuple[Ints, Ints, Ints]:
    """The class of each entry again, the number of its provider among those of the class, and how many these are."""
    width = int(providers.max()) + 1
    pairs, place = np.unique(classes * width + providers, return_inverse=True)
    n_local = np.bincount(pairs // width)
    starts = np.cumsum(n_local) - n_local
    return classes, place - starts[classes], n_local


def _coalitions(n_providers: int, coalition: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, min(coalition, n_providers) + 1):
        yield from combinations(range(n_providers), size)


def _rests(providers: Ints, coalition: int) -> Iterator[Rows]:
    """The rows that are left without each coalition of all providers."""
    for members in _coalitions(int(providers.max()) + 1, coalition):
        yield np.flatnonzero(~np.isin(providers, members))


def _of_rows(classes: Classes, rows: Rows) -> Classes:
    """What is left of classes; those of which nothing is are gone."""
    weights = None if classes.weights is None else classes.weights[rows]
    sizes = np.bincount(classes.ids[rows], weights, minlength=classes.n_classes).astype(np.int64)
    there = sizes > 0
    ids = (np.cumsum(there) - 1)[classes.ids[rows]]
    return Classes(classes.columns, ids, sizes[there], classes.first[there], weights=weights)


def _collapsed(table: Table, classes: Classes, name: str, providers: Ints) -> tuple[Table, Classes, Ints]:
    """One row for all that agree in class, provider and sensitive value, with their number."""
    codes = table[name].codes.astype(np.int64)
    keys = (classes.ids * (int(providers.max()) + 1) + providers) * (int(codes.max()) + 1) + codes
    _, rows, place = np.unique(keys, return_index=True, return_inverse=True)
    weights = np.bincount(place, classes.weights).astype(np.int32)
    few = replace(table.select([name]).take(rows), weights=weights)
    return few, replace(classes, ids=classes.ids[rows], weights=weights), providers[rows]


class _WithoutCoalitions(Classes):
    """Classes without coalitions, which are named by their number."""

    def values(self, index: int) -> dict[str, str]:
        return {"": str(index)}


def _worst_of_classes(
    check: Check[Any],
    required: Requirement,
    classes: Classes,
    held: Held,
    providers: Ints,
    left: Ints,
    coalition: int,
    plain: Guarantee,
) -> Guarantee:
    """What is reached without the coalition that leaves least, for a model that looks at one class at a time."""
    shown, is_low = held.values, check.is_low_worse(required)
    n_values = len(shown.codes)
    ranks = np.searchsorted(shown.codes, np.minimum(shown.column.codes, len(shown.column.values)))
    pair = np.searchsorted(shown.classes * n_values + shown.values, classes.ids * n_values + ranks)
    _, local, n_local = _numbered(classes.ids, providers)
    width = int(n_local.max())
    cells, counts = np.unique(pair * width + local, return_counts=True)
    n_pairs = np.diff(shown.starts, append=len(shown.counts))
    worst, members = plain, None
    for some in _chunks(n_local, n_pairs, left / classes.sizes, coalition):
        pairs = _ranges(shown.starts[some], n_pairs[some])
        sizes = classes.sizes[some]
        bound = _without_rarest(shown.counts[pairs], np.repeat(np.arange(len(some)), n_pairs[some]), sizes - left[some])
        at_worst = _reached(check, required, held, bound[None], n_pairs[some])
        if at_worst.holds and worse(worst, at_worst, low_is_worse=is_low) is worst:
            continue
        n = int(n_local[some[0]])
        tried = list(_coalitions(n, coalition))
        taken = np.zeros((len(tried), n))
        for i, of in enumerate(tried):
            taken[i, list(of)] = 1
        place = np.full(len(shown.counts), -1)
        place[pairs] = np.arange(len(pairs))
        inside = place[cells // width] >= 0
        by_provider = np.zeros((n, len(pairs)))
        by_provider[cells[inside] % width, place[cells[inside] // width]] = counts[inside]
        rest = shown.counts[pairs] - np.rint(taken @ by_provider).astype(np.int64)
        reached = _reached(check, required, held, rest, n_pairs[some])
        if worse(worst, reached, low_is_worse=is_low) is not worst:
            number = int(reached.worst[0].values[""])
            worst, own = reached, some[number % len(some)]
            numbers = np.unique(providers[classes.ids == own])
            members = numbers[list(tried[number // len(some)])]
    if members is None:
        return plain
    rows = np.flatnonzero(~np.isin(providers, members))
    rest_classes = _of_rows(classes, rows)
    return check.of_values(
        required, rest_classes, held._replace(values=distribution(rest_classes, shown.column.take(rows)))
    )


def _reached(check: Check[Any], required: Requirement, held: Held, rest: Ints, n_pairs: Ints) -> Guarantee:
    """What is reached by classes without coalitions: counts by coalition (rows), and by class and value (columns)."""
    n_coalitions, n_classes = len(rest), len(n_pairs)
    ids = np.repeat(np.arange(n_classes), n_pairs)
    numbers = (np.arange(n_coalitions)[:, None] * n_classes + ids).ravel()
    starts = np.concatenate([[0], np.cumsum(np.tile(n_pairs, n_coalitions))[:-1]]).astype(np.int64)
    flat = rest.ravel()
    sizes = np.add.reduceat(flat, starts)
    nothing = np.zeros(0, dtype=np.int64)
    classes = _WithoutCoalitions((), nothing, sizes, nothing)
    shown = replace(
        held.values,
        sizes=sizes,
        sums=sizes,
        classes=numbers,
        values=np.tile(np.zeros(len(ids), dtype=np.int64), n_coalitions),
        counts=flat,
        starts=starts,
        distinct=np.add.reduceat((flat > 0).astype(np.int64), starts),
    )
    return check.of_values(required, classes, held._replace(values=shown))


def _chunks(n_local: Ints, n_pairs: Ints, share_left: Floats, coalition: int) -> Iterator[Ints]:
    """Classes of equally many providers, few first, and of these the ones of which least may be left."""
    order = np.lexsort((share_left, n_local))
    for n in np.unique(n_local).tolist():
        of_n = order[n_local[order] == n]
        n_tried = sum(1 for _ in _coalitions(n, coalition))
        step = np.cumsum(n_pairs[of_n] * (n_tried + n)) // MOST_CELLS
        yield from np.split(of_n, np.flatnonzero(np.diff(step)) + 1)


def _ranges(starts: Ints, lengths: Ints) -> Ints:
    """All numbers from each start on, so many."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def _without_rarest(counts: Ints, ids: Ints, gone: Ints) -> Ints:
    """Counts of which so many in each class are taken away, from the rarest on."""
    order = np.lexsort((counts, ids))
    sorted_counts = counts[order]
    upto = np.cumsum(sorted_counts)
    first = np.searchsorted(ids, np.arange(len(gone)))
    before = (upto - sorted_counts) - (upto - sorted_counts)[first][ids[order]]
    left: Ints = counts.copy()
    left[order] = sorted_counts - np.clip(gone[ids[order]] - before, 0, sorted_counts)
    return left


def _nothing_left(plain: Guarantee, classes: Classes, left: Ints) -> Guarantee:
    reached = Reached.of(classes, left, left == 0, low_is_worse=True)
    fails = f"{plain.model} fails {reached.failing_groups}: nothing is left of them."
    return reached.guarantee(plain.model, plain.required, ("", fails), kind=plain.kind, sensitive=plain.sensitive)


def _told(found: Guarantee, coalition: int) -> Guarantee:
    """Say without whose rows it is."""
    whose = f"any {_NUMBERS[coalition]}" if found.holds else f"some {_NUMBERS[coalition]}"
    sentence = found.sentence if found.sentence[1:2].isupper() else found.sentence[:1].lower() + found.sentence[1:]
    return replace(
        found,
        sentence=f"Without the rows of {whose}, {sentence}",
        details={**found.details, "coalition": coalition},
    )
