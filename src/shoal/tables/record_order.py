"""The order in which methods see records, and the one in which they are published.

A partition takes records of equal quasi-identifiers as they come. If they came in an order that a sensitive value
decides, everyone with the quasi-identifiers and this program could repeat the partition and read off which of them have
the greater values. So methods see them in an order that a secret decides, and nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shoal.data.table import Column, Table

Order = npt.NDArray[np.intp]

STEP = 2**31 + 1  # of the seed; the partition draws from its children, and pseudo-records from STEP = 2**31


def content_order(table: Table, quasi: Sequence[str], kept: Sequence[str]) -> Order:
    """Sort rows by the content of the quasi-identifiers, then of all other columns, columns by name."""
    names = [*sorted(quasi), *sorted(set(kept) - set(quasi))]
    return _sort_rows([table[n] for n in names])


def secret_order(table: Table, quasi: Sequence[str], kept: Sequence[str], seed: int | None) -> Order:
    """Sort rows by the quasi-identifiers, and those in which they are equal by a secret.

    Records are first put into the order of their content, which does not depend on the order of the rows: only wholly
    equal ones can change places there. Then the places of each run of equal quasi-identifiers are permuted. The
    permutation is made from a secret and the number of places alone, so it is independent of everything that the
    records hold, equal sensitive values are scattered like different ones, and the same seed gives the same order
    however the rows came.

    The secret is 32 bytes: of the operating system's entropy, or spawned from the seed. SHAKE-256 stretches it to 64
    bits a place, which nobody without it tells from random numbers, and a sort by random numbers makes every
    permutation of a run equally likely. (Two of n places get equal numbers, and stay as they were, with a chance of
    n * n / 2**65 at most: 1 in 200 million for 400,000 records.)

    Parameters
    ----------
    seed : int or None
        None takes the operating system's entropy. A seed that others can guess is no secret.
    """
    order = content_order(table, quasi, kept)
    opens = np.ones(len(order), dtype=bool)
    if len(order):
        opens[1:] = False
    for name in quasi:
        ranks = table[name].ranks()[table[name].codes[order]]
        opens[1:] |= ranks[1:] != ranks[:-1]
    is_tied = ~(opens & np.append(opens[1:], True))
    places = np.flatnonzero(is_tied)
    run = np.cumsum(opens)[places]
    shuffled = places[np.lexsort((_secret_numbers(len(places), seed), run))]
    order[places] = order[shuffled]
    return order


def _secret_numbers(n: int, seed: int | None) -> npt.NDArray[np.uint64]:
    """Numbers that nobody without the seed, or without the entropy drawn for want of one, can foretell."""
    key = np.random.SeedSequence(seed, spawn_key=(STEP,)).generate_state(8).astype("<u4").tobytes()
    return np.frombuffer(hashlib.shake_256(key).digest(8 * n), dtype="<u8")


def _sort_rows(columns: Sequence[Column]) -> Order:
    """Sort rows by the dictionaries' order, column by column.

    Codes are packed into as few 64-bit keys as they fit, so that most tables need one sort.
    """
    keys: list[npt.NDArray[np.int64]] = []
    span = 2**63
    for column in columns:
        ranks = column.ranks()
        width = len(ranks) + 1
        if span > 2**62 // width:
            keys.append(np.zeros(len(column.codes), dtype=np.int64))
            span = 1
        keys[-1] = keys[-1] * width + ranks[column.codes]
        span *= width
    if len(keys) == 1:
        return np.argsort(keys[0], kind="stable")
    return np.lexsort(keys[::-1])
