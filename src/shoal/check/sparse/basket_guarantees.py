"""What a release of pseudo-baskets is held to, from numbers of records, groups and items alone, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask
from shoal.check.guarantee import Guarantee, count

_SLACK = 0.006  # of a weight: three digits
RECORDS_AT_ONCE = 1_000_000
"""Records whose sizes are compared at once, in whole groups."""


@dataclass(frozen=True)
class BasketsAsked:
    """What published pseudo-baskets are held to: groups of k, and how many of a pool hold an item."""

    k: int
    support: int


@dataclass(frozen=True)
class GroupedSide:
    """Of originals, or of what was published: the class of each, the names of classes, and the group of each."""

    labels: Codes | None
    classes: tuple[str, ...]
    groups: Ints | Codes


def n_persons(keys: Ints, persons: Ints, n_keys: int) -> Ints:
    """How many different persons stand beside each key."""
    order = np.lexsort((persons, keys))
    key, person = keys[order], persons[order]
    is_new = np.ones(len(key), bool)
    is_new[1:] = (key[1:] != key[:-1]) | (person[1:] != person[:-1])
    return np.bincount(key[is_new], minlength=n_keys)


def _guarantee(
    model: str, required: dict[str, float], achieved: float, n: int, n_failing: int, sentences: tuple[str, str]
) -> Guarantee:
    holds = n_failing == 0
    return Guarantee(model, "", "", required, achieved, holds, n, n_failing, (), sentences[not holds])


def told_item_support(held: Ints, k: int, noun: str) -> Guarantee:
    """How many hold each item that was published."""
    n_failing = int((held < k).sum())
    return _guarantee(
        "item-support",
        {"k": k},
        float(held.min()),
        len(held),
        n_failing,
        (
            f"At least {int(held.min()):,} {noun} hold every one of {count(len(held), 'published item')}; "
            f"{k} were required.",
            f"{count(n_failing, 'published item')} of {len(held):,} are held by fewer than {k} {noun}.",
        ),
    )


def told_rare_copies(n_copies: int, n_published: int, k: int) -> Guarantee:
    """How many equal a record that fewer than k hold."""
    return _guarantee(
        "rare-copies",
        {"k": k},
        float(n_copies),
        n_published,
        n_copies,
        (
            f"No pseudo-record has the very items of a record that fewer than {k} hold.",
            f"{count(n_copies, 'pseudo-record')} of {n_published:,} have the very items of a record that fewer than "
            f"{k} hold.",
        ),
    )


def groups_of_k(
    original_groups: Ints | Codes, whose: Ints | None, groups: Ints | Codes, k: int, noun: str
) -> Guarantee:
    """How many each group has that a pseudo-record is of; without `whose`, each record is of another person."""
    shown = np.unique(groups)
    inside = original_groups >= 0
    if whose is None:
        sizes = np.bincount(original_groups[inside], minlength=int(shown.max()) + 1)
    else:
        sizes = n_persons(original_groups[inside].astype(np.int64), whose[inside], int(shown.max()) + 1)
    n_failing = int((sizes[shown] < k).sum())
    least = int(sizes[shown].min())
    return _guarantee(
        "k-anonymity",
        {"k": k},
        float(least),
        len(shown),
        n_failing,
        (
            f"Every pool has at least {least:,} {noun}: items were dealt anew within "
            f"{count(len(shown), 'group')} of near {noun}, or several of them; {k} were required.",
            f"{count(n_failing, 'group')} of {len(shown):,} have fewer than {k} {noun}.",
        ),
    )


def told_pool_support(least: int, n: int, n_failing: int, support: int, noun: str) -> Guarantee:
    """How many of its pool hold each item of a pseudo-record."""
    return _guarantee(
        "pool-support",
        {"support": support},
        float(least),
        n,
        n_failing,
        (
            f"Every item of a pseudo-record is held by at least {support} {noun} of its pool, and no item "
            "is shown more often than it was held.",
            f"{count(n_failing, 'item')} of pseudo-records {'is' if n_failing == 1 else 'are'} held by fewer than "
            f"{support} {noun} of the pool, or shown more often than held.",
        ),
    )


def told_weights(least: int, n: int, n_failing: int, support: int) -> Guarantee:
    """How many hold each item whose mean weight was published."""
    return _guarantee(
        "pool-weights",
        {},
        float(n_failing),
        n,
        n_failing,
        (
            f"Every item weighs what at least {least:,} of its holders do on average, rounded, where none counts for "
            f"more than {support} reach.",
            f"{count(n_failing, 'item')} of pseudo-records do not weigh what their holders do on average.",
        ),
    )


def is_no_mean(shown: Floats, mean: Floats, *, is_integral: bool) -> Mask:
    """Which weights are not what a mean is rounded to."""
    slack = 0.5 if is_integral else _SLACK * np.abs(mean)
    nearest = np.where(np.abs(mean) < 1, np.where(mean < 0, -1.0, 1.0), mean) if is_integral else mean
    off = np.minimum(np.abs(shown - mean), np.abs(shown - nearest))
    return np.asarray(off > slack + 1e-9, np.bool_)


def sizes_within(
    shown_sizes: Ints, groups: Ints | Codes, kept: Ints, originals: GroupedSide, whose: Ints | None, k: int, noun: str
) -> Guarantee:
    """Sorted within groups, from the largest on, no pseudo-record has more items than the record beside it.

    `kept` are the numbers of items of originals that k hold.
    """
    of_group, most = _most_of_groups(kept, originals, whose, k)
    n_failing = n_same = 0
    our_order, their_order = (np.argsort(side, kind="stable").astype(np.int32) for side in (groups, originals.groups))
    last = int(originals.groups.max(initial=-1))
    sizes = np.bincount(originals.groups[originals.groups >= 0], minlength=last + 1)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]) + int((originals.groups < 0).sum())
    cuts = [0, *(np.flatnonzero(np.diff(ends[1:] // RECORDS_AT_ONCE)) + 1).tolist(), last + 1]
    for low, high in pairwise(cuts):
        first, end = np.searchsorted(groups, (low, high), sorter=our_order)
        mine, other = our_order[first:end], their_order[ends[low] : ends[high]]
        theirs = _sorted_sizes(originals.groups[other], kept[other], high - low, low)
        ours = _sorted_sizes(groups[mine], shown_sizes[mine], high - low, low)
        at = theirs.starts[ours.groups] + ours.ranks
        is_there = at < theirs.starts[ours.groups + 1]
        allowed = np.where(is_there, np.append(theirs.sizes, 0)[np.where(is_there, at, -1)], 0)
        n_failing += int((ours.sizes > allowed).sum()) + int((ours.sizes > most[of_group[ours.groups + low]]).sum())
        n_same += int((ours.sizes == allowed).sum())
    return _guarantee(
        "sizes",
        {},
        n_same / len(groups),
        len(groups),
        n_failing,
        (
            "Sorted by size, no pseudo-record of a group has more items than the record at its place, nor more than "
            f"{k} {noun} have.",
            f"{count(n_failing, 'pseudo-record')} of {len(groups):,} have more items than records of the group do, or "
            f"than {k} {noun} have.",
        ),
    )


def _most_of_groups(kept: Ints, originals: GroupedSide, whose: Ints | None, k: int) -> tuple[Ints, Ints]:
    """The class of each group, and the largest size that k of each class reach."""
    inside = originals.groups >= 0
    class_of = np.zeros(len(kept), np.int32) if originals.labels is None else originals.labels
    of_group = np.zeros(int(originals.groups.max(initial=-1)) + 1, np.int64)
    of_group[originals.groups[inside]] = class_of[inside]
    most = np.zeros(int(class_of.max(initial=0)) + 1, np.int64)
    for one in np.unique(class_of[inside]).tolist():
        most[one] = _reached_by(kept, whose, inside & (class_of == one), k)
    return of_group, most


def _reached_by(sizes: Ints, persons: Ints | None, chosen: Mask, k: int) -> int:
    """The largest size that k of some persons reach; of fewer, what all of them do."""
    if persons is None:
        own = sizes[chosen]
        return int(np.partition(own, -min(k, len(own)))[-min(k, len(own))])
    order = np.lexsort((-sizes[chosen], persons[chosen]))
    whose, own = persons[chosen][order], sizes[chosen][order]
    ranked = np.sort(own[np.append(True, whose[1:] != whose[:-1])])
    return int(ranked[-min(k, len(ranked))])


class _Sorted(NamedTuple):
    """Records by group, the largest first: the group of each, its place in it and its size; where groups begin."""

    groups: Ints
    ranks: Ints
    sizes: Ints
    starts: Ints


def _sorted_sizes(groups: Ints | Codes, sizes: Ints, n_groups: int, first: int) -> _Sorted:
    order = np.lexsort((-sizes, groups))
    own = (groups[order] - first).astype(np.int64)
    starts = np.searchsorted(own, np.arange(n_groups + 1))
    return _Sorted(own, np.arange(len(own)) - starts[own], sizes[order], starts)


def misfits(published: GroupedSide, original: GroupedSide) -> list[str]:
    """What is wrong with groups or classes."""
    found, groups, original_groups = [], published.groups, original.groups
    n_groups = int(original_groups.max(initial=-1)) + 1
    if (
        np.bincount(groups, minlength=n_groups) > np.bincount(original_groups[original_groups >= 0], minlength=n_groups)
    ).any():
        found.append("a group has more pseudo-records than records")
    if (published.labels is None) != (original.labels is None):
        return [*found, "one side has classes and the other has none; read both in the same way"]
    if published.labels is None or original.labels is None:
        return found
    inside = np.flatnonzero(original_groups >= 0)
    class_of = np.full(n_groups, -1, np.int64)
    class_of[original_groups[inside]] = original.labels[inside]
    if (class_of[original_groups[inside]] != original.labels[inside]).any():
        found.append("a group has records of two classes")
    place = {name: i for i, name in enumerate(original.classes)}
    shown = np.array([place.get(name, -2) for name in published.classes], np.int64)[published.labels]
    if (shown != class_of[groups]).any():
        found.append("a pseudo-record has another class than its group")
    order = class_of[class_of >= 0]
    if len(order) and np.count_nonzero(np.diff(order)) + 1 != len(np.unique(order)):
        found.append("the groups of a class do not have successive numbers, so its pools are not known")
    return found
