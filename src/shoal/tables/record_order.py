"""The order in which methods see records, and the one in which they are published.

A partition takes records of equal quasi-identifiers as they come. If they came in an order that a sensitive value
decides, everyone with the quasi-identifiers and this program could repeat the partition and read off which of them have
the greater values. So methods see them in an order that a secret decides, and nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from shoal.arrays import Codes, Ints, Rows, Words
from shoal.data.tables.table import Column, Table

Keys = Sequence[Ints]

STEP = 2**31 + 1  # of the seed; the partition draws from its children, and pseudo-records from STEP = 2**31
MADE_AT_ONCE = 1 << 20  # secret numbers


def content_order(table: Table, quasi: Sequence[str], kept: Sequence[str]) -> Rows:
    """Sort rows by the content of the quasi-identifiers, then of all other columns, columns by name."""
    names = [*sorted(quasi), *sorted(set(kept) - set(quasi))]
    return _sorted([*pack([table[n] for n in names])[0], *spellings([table[n] for n in names])])


def secret_order(table: Table, quasi: Sequence[str], kept: Sequence[str], seed: int | None) -> Rows:
    """Sort rows by the quasi-identifiers, and those in which they are equal by a secret.

    Records are first put into the order of their content, which does not depend on the order of the rows: only wholly
    equal ones can change places there. Then the places of each run of equal quasi-identifiers are permuted. The
    permutation is made from a secret and the number of places alone, so it is independent of everything that the
    records hold, equal sensitive values are scattered like different ones, and the same seed gives the same order
    however the rows came.

    The secret is 32 bytes: of the operating system's entropy, or spawned from the seed. SHAKE-256 stretches it to 64
    bits a place (`SecretNumbers`), which nobody without it tells from random numbers, and a sort by random numbers
    makes every permutation of a run equally likely. (Of the 64 bits those stay that the number of the run leaves: 45
    and more for 400,000 records. Two places of a run of m get equal ones, and stay as they were, with a chance of
    m * m / 2**46.)

    Parameters
    ----------
    seed : int or None
        None takes the operating system's entropy. A seed that others can guess is no secret.
    """
    ours, others = ([table[n] for n in sorted(names)] for names in (quasi, set(kept) - set(quasi)))
    known, span = pack(ours)
    order = _sorted([*pack(others, known, span)[0], *spellings([*ours, *others])])
    opens = np.zeros(len(order), dtype=bool)
    opens[:1] = True
    for key in known:
        opens[1:] |= np.diff(key[order]) != 0
    is_tied = ~opens
    is_tied[:-1] |= ~opens[1:]
    places = np.flatnonzero(is_tied)
    if len(places):
        runs = np.cumsum(opens[places], dtype=np.uint64)
        n_bits = int(runs[-1]).bit_length()
        order[places] = order[places[within_runs(runs, n_bits, SecretNumbers(seed).numbers(0, len(places)))]]
    return order


def within_runs(runs: Words, n_bits: int, numbers: Words) -> Rows:
    """Sort places by the number of their run, which has at most so many bits, and those of a run by secret numbers."""
    # One sort: the run above, and a number as long as fits below.
    return np.argsort((runs << np.uint64(64 - n_bits)) | (numbers >> np.uint64(n_bits)), kind="stable")


class SecretNumbers:
    """Numbers that nobody without the seed, or without the entropy drawn for want of one, can foretell.

    Every so many of them are made at once, so that as many as there are records need not be held.
    """

    def __init__(self, seed: int | None) -> None:
        self._key = np.random.SeedSequence(seed, spawn_key=(STEP,)).generate_state(8).astype("<u4").tobytes()
        self._made: tuple[int, Words] = (-1, np.zeros(0, dtype=np.uint64))

    def numbers(self, begin: int, end: int) -> Words:
        """Some of them, by their places."""
        found = []
        for i in range(begin // MADE_AT_ONCE, -(-end // MADE_AT_ONCE)):
            first, last = max(0, begin - i * MADE_AT_ONCE), min(MADE_AT_ONCE, end - i * MADE_AT_ONCE)
            found.append(self._piece(i, last)[first:last])
        return np.concatenate(found) if found else np.zeros(0, dtype=np.uint64)

    def _piece(self, number: int, length: int) -> Words:
        """The first of a piece at least, and all where more are asked for than before."""
        if self._made[0] != number or len(self._made[1]) < length:
            told = self._key + (number.to_bytes(8, "little") if number else b"")
            n_made = MADE_AT_ONCE if self._made[0] == number else length
            self._made = number, np.frombuffer(hashlib.shake_256(told).digest(8 * n_made), dtype="<u8")
        return self._made[1]


def pack(columns: Sequence[Column], keys: Keys = (), span: int = 2**63) -> tuple[Keys, int]:
    """Put the ranks of columns below those in `keys`, packed into as few 64-bit numbers as they fit.

    Most tables need one, and so one sort. `span` is how many values the last of the keys can take.
    """
    packed = list(keys)
    for column in columns:
        ranks = column.ranks()
        width = len(ranks) + 1
        if span > 2**62 // width:
            packed.append(np.zeros(len(column.codes), dtype=np.int64))
            span = 1
        packed[-1] = packed[-1] * width + ranks[column.codes]
        span *= width
    return packed, span


def spellings(columns: Sequence[Column]) -> list[Codes]:
    """What tells rows apart, after all else, whose missing cells are spelled in two ways that rank alike."""
    return [c.codes for c in columns if len({m or "" for m in c.markers}) < len(c.markers)]


def _sorted(keys: Sequence[Ints | Codes]) -> Rows:
    if len(keys) == 1:
        return np.argsort(keys[0], kind="stable")
    return np.lexsort(keys[::-1])
