"""m-invariance: a person is always published among the same m or more sensitive values, each as frequent as the others.

The algorithm of the paper, section 5, for the persons of one release:

1. *Division*: those who were published before go to the bucket of their signature, the set of sensitive values that
   they stood among.
2. *Balancing*: every value of a bucket's signature must be equally frequent in it. Newcomers with the value fill gaps;
   where there are none, counterfeits do.
3. *Assignment*: the other newcomers go to buckets of m values, the most frequent ones first, so that what is left can
   still be dealt out (no value is more than one in m of it).
4. *Split*: buckets are cut into groups of near persons, in each of which all values of the signature are equally
   frequent (`shoal.kernels.tables.balanced_split`).

We depart from the paper in that a group may hold each value several times, so that it has k persons who are no
counterfeits, and in that persons of a bucket who are fewer than k are left out. Newcomers who are too many of one value
for the assignment join a bucket with that value, and counterfeits balance it.

**Guarantee**: whoever has all releases, knows everybody's quasi-identifiers and who is in which release, believes no
sensitive value of a person with a chance above one in m (Theorem 1 and Lemma 1 of the paper).

**Not protected**: values that change, which are refused; columns that are published as they are, which tie rows of two
releases together and are refused beside the sensitive one; what the m values have in common.

References
----------
X. Xiao, Y. Tao, "m-invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Ints
from shoal.errors import Infeasible

MOST_PADDING = 0.1
"""Counterfeits to a newcomer at most, where newcomers have too few values to be dealt out among themselves."""


@dataclass(frozen=True)
class Buckets:
    """Who goes where, and what is missing.

    Attributes
    ----------
    of_person : int64 array (n_persons,)
        The bucket of each.
    signatures : list of tuples of int
        The sensitive values of each bucket, by code; those without anybody in this release too.
    lacking : list of (bucket, value, number)
        The counterfeits.
    """

    of_person: Ints
    signatures: list[tuple[int, ...]]
    lacking: list[tuple[int, int, int]]

    @property
    def n_counterfeits(self) -> int:
        """How many there are in all."""
        return sum(n for _, _, n in self.lacking)


def fill_buckets(
    values: Ints, old: Ints, signatures: Sequence[tuple[int, ...]], m: int, rng: np.random.Generator
) -> Buckets:
    """Division, balancing and assignment.

    Parameters
    ----------
    values : int64 array (n_persons,)
        The sensitive value of each person.
    old : int64 array (n_persons,)
        The bucket of those who were published before; -1 for newcomers.
    signatures : sequence of tuples of int
        The values of each bucket.
    rng : Generator
        Draws which newcomers fill which gap, among those of equal value.

    Raises
    ------
    Infeasible
        If the newcomers have too few values, and no bucket with theirs is there to join.
    """
    n_values = max([int(values.max(initial=-1)), *(max(s) for s in signatures)]) + 1
    found = old.astype(np.int64).copy()
    known = [tuple(s) for s in signatures]
    waiting = [list(rng.permutation(np.flatnonzero((old < 0) & (values == v)))) for v in range(n_values)]
    held = _counts(found, values, len(known), n_values)
    _balance(known, held, waiting, found, m)
    _assign(known, waiting, found, m)
    return Buckets(found, known, _lacking(known, found, values))


def fill_by_panel(
    values: Ints,
    old: Ints,
    signatures: Sequence[tuple[int, ...]],
    m: int,
    rng: np.random.Generator,
    panels: Ints | None = None,
) -> Buckets:
    """The same for each panel, persons who are expected to leave together, so that buckets stay balanced then.

    Whoever was published before stays in the bucket, whatever the panel. Newcomers of a panel who cannot be dealt out
    among themselves are dealt out with those of all such panels, to all buckets.
    """
    if panels is None:
        return fill_buckets(values, old, signatures, m, rng)
    known, found = [tuple(s) for s in signatures], old.astype(np.int64).copy()
    there, first = np.unique(old[old >= 0], return_index=True)
    panel_of = panels[np.flatnonzero(old >= 0)[first]]
    rest = np.zeros(len(values), dtype=bool)
    for panel in np.unique(panels[old < 0]):
        own = there[panel_of == panel]
        some = np.flatnonzero(np.isin(old, own) | ((old < 0) & (panels == panel)))
        local = np.where(old[some] >= 0, np.searchsorted(own, old[some]), -1)
        try:
            made = fill_buckets(values[some], local, [known[b] for b in own], m, rng)
        except Infeasible:
            rest[some[local < 0]] = True
            continue
        numbers = np.concatenate([own, len(known) + np.arange(len(made.signatures) - len(own))])
        known += made.signatures[len(own) :]
        found[some] = numbers[made.of_person]
    if rest.any():
        some = np.flatnonzero(rest | (found >= 0))
        made = fill_buckets(values[some], found[some], known, m, rng)
        found[some], known = made.of_person, made.signatures
    return Buckets(found, known, _lacking(known, found, values))


def _lacking(known: Sequence[tuple[int, ...]], found: Ints, values: Ints) -> list[tuple[int, int, int]]:
    """The counterfeits that make every value of a signature as frequent as the most frequent one."""
    n_values = max([int(values.max(initial=-1)), *(max(s) for s in known)]) + 1
    held = _counts(found, values, len(known), n_values)
    lacking = []
    for bucket, signature in enumerate(known):
        most = max((int(held[bucket, v]) for v in signature), default=0)
        lacking += [(bucket, v, most - int(held[bucket, v])) for v in signature if held[bucket, v] < most]
    return lacking


def _counts(buckets: Ints, values: Ints, n_buckets: int, n_values: int) -> Ints:
    there = buckets >= 0
    keys = buckets[there] * n_values + values[there]
    return np.bincount(keys, minlength=n_buckets * n_values).reshape(n_buckets, n_values)


def _balance(known: Sequence[tuple[int, ...]], held: Ints, waiting: list[list[int]], found: Ints, m: int) -> None:
    """Fill gaps with newcomers, as long as the others can still be dealt out; the largest gaps first."""
    gaps = [
        (int(held[b, list(s)].max()) - int(held[b, v]), b, v)
        for b, s in enumerate(known)
        for v in s
        if held[b, v] < held[b, list(s)].max()
    ]
    for gap, bucket, value in sorted(gaps, reverse=True):
        n_left, most = sum(map(len, waiting)), max(map(len, waiting), default=0)
        # Each that is taken leaves one fewer; the most frequent value must not become more than one in m.
        others = max((len(w) for v, w in enumerate(waiting) if v != value), default=0)
        spare = n_left - m * others if most * m <= n_left else gap
        n_taken = min(gap, len(waiting[value]), max(0, spare))
        _move(waiting, value, n_taken, bucket, found)


def _move(waiting: list[list[int]], value: int, n: int, bucket: int, found: Ints) -> None:
    if n:
        found[waiting[value][-n:]] = bucket
        del waiting[value][-n:]


def _assign(known: list[tuple[int, ...]], waiting: list[list[int]], found: Ints, m: int) -> None:
    """Deal newcomers out to buckets of m values, as in Figure 7 of the paper; those that are too many join others."""
    counts = np.array([len(w) for w in waiting], dtype=np.int64)
    _join(known, waiting, found, counts, m)
    number = {tuple(sorted(s)): b for b, s in enumerate(known)}
    left = _padded(counts, m)
    while left.sum():
        order = np.argsort(-left, kind="stable")
        top, rest = order[:m], int(left[order[m]]) if len(order) > m else 0
        n_each = min(int(left[top[-1]]), int(left.sum()) // m - rest)
        signature = tuple(sorted(int(v) for v in top))
        bucket = number.setdefault(signature, len(known))
        if bucket == len(known):
            known.append(signature)
        for value in signature:
            n_real = min(n_each, len(waiting[value]))
            _move(waiting, value, n_real, bucket, found)
            left[value] -= n_each
    assert not any(waiting), "all newcomers have a bucket"


def _padded(counts: Ints, m: int) -> Ints:
    """The same with counterfeits, so that the number is a multiple of m and no value more than one in m of it."""
    left: Ints = counts.copy()
    n_newcomers = int(counts.sum())
    if not n_newcomers:
        return left
    if len(left) < m:
        raise Infeasible(_too_few(m))
    most = max(m - 1, int(MOST_PADDING * n_newcomers))
    for _ in range(most + 1):
        if left.sum() % m == 0 and m * left.max() <= left.sum():
            return left
        left[int(np.argmin(np.where(left > 0, left, left.max() - 0.5)))] += 1  # a value that is there, the rarest
    raise Infeasible(_too_few(m))


def _join(known: Sequence[tuple[int, ...]], waiting: list[list[int]], found: Ints, counts: Ints, m: int) -> None:
    """Let newcomers whose value is too frequent among them join the largest bucket that has it."""
    sizes = np.bincount(found[found >= 0], minlength=len(known))
    while counts.sum():
        value = int(counts.argmax())
        n_others = int(counts.sum() - counts[value])
        n_too_many = int(counts[value]) - n_others // (m - 1)
        n_values = int((counts > 0).sum())
        if n_too_many <= 0 and n_values >= m:
            return
        n_moved = n_too_many if n_too_many > 0 else int(counts[value])
        having = [b for b, s in enumerate(known) if value in s]
        if not having:
            return
        _move(waiting, value, n_moved, max(having, key=lambda b: (int(sizes[b]), -b)), found)
        counts[value] -= n_moved


def _too_few(m: int) -> str:
    return (
        f"the persons who are published for the first time cannot be dealt out so that each stands among {m} equally "
        "frequent sensitive values: one value is too frequent among them, and no earlier group has it; ask for less, "
        "or let them wait for a later release"
    )
