"""Tuple partition: buckets that are narrow in the quasi-identifiers and diverse in the sensitive values.

The paper tests the whole table after each split (Fig. 2). Every model of diversity here is closed under mixing: if two
distributions satisfy it, any mixture does. An attacker's posterior p(t, .) is a mixture of D(t, B) over the buckets B
that match t, so it suffices that D(t, B) satisfies the limits in every bucket, and a split touches its own bucket only:
n log n in all. It then holds even for an attacker who knows the bucket.

References
----------
S. R. Subramanian: Screening, section 5.3; T. Li, N. Li, J. Zhang, I. Molloy: Slicing, IEEE Transactions on Knowledge
and Data Engineering 24(3), 2012, section 5.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import starmap

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.data.tables.table import count_codes
from shoal.errors import Infeasible
from shoal.kernels.tables.slicing import Pairs, cut_beside
from shoal.tables.collapse import collapse, single_rows
from shoal.tables.encoding import Ranked
from shoal.tables.history import person_vectors
from shoal.tables.limits import Limit, violations
from shoal.tables.merge import merge_round
from shoal.tables.partition.mondrian import block_arguments, mondrian_labels


def bucket_labels(
    ranked: Sequence[Ranked],
    k: int,
    limits: Sequence[Limit],
    beside: Ints | None = None,
    *,
    strict: bool = True,
    block_rows: int = 100_000,
    run: Callable[..., Iterable[Codes]] = starmap,
    weights: Codes | None = None,
) -> Codes:
    """Put records into buckets of at least k by Mondrian's cuts.

    **Guarantee** every bucket has at least k records, and in every bucket the sensitive values of the records of each
    value beside (without one: of all records) satisfy every limit.

    **Not protected** who is in the table, where quasi-identifiers are published as they are.

    Parameters
    ----------
    ranked : sequence of Ranked
        The quasi-identifiers.
    beside : int64 array (n_rows,), optional
        The combination of quasi-identifiers that stands in the slice of the sensitive values; 0 .. b - 1. The whole
        table must satisfy the limits for each: see `standing_in_the_way`.
    weights : int32 array (n_rows,), optional
        How many records each row stands for; only strict cuts keep these together.

    Returns
    -------
    int32 array (n_rows,)
        Buckets 0 .. b - 1 from left to right.
    """
    if beside is None or not limits:
        return mondrian_labels(ranked, k, limits, strict, block_rows=block_rows, run=run, weights=weights)
    pairs = pairs_of(limits, beside)
    alike = collapse(ranked, list(pairs.ids), weights) if strict else single_rows(len(beside))
    held = [limit.of_rows(alike.rows) for limit in limits]
    space, arrays, _, _ = block_arguments(alike.ranked(ranked), None, k, held, strict, alike.weights)
    assert arrays is not None
    ids = np.ascontiguousarray(pairs.ids[:, alike.rows])
    rows, ends = cut_beside(space, arrays, pairs._replace(ids=ids), int(k), bool(strict))
    labels = np.empty(len(rows), dtype=np.int32)
    labels[rows] = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    return labels[alike.of_record]


def person_buckets(
    ranked: Sequence[Ranked],
    k: int,
    limits: Sequence[Limit],
    beside: Ints | None = None,
    *,
    persons: Ints,
    strict: bool = True,
    block_rows: int = 100_000,
    run: Callable[..., Iterable[Codes]] = starmap,
) -> Codes:
    """Put persons, with all of their records, into buckets of at least k persons by Mondrian's cuts, then join some.

    If the records of a person stood in several buckets, whoever finds them by quasi-identifiers that nobody else has
    would ask what these buckets have in common. So persons are cut, as vectors of the least and the greatest value of
    their records, and buckets that fail a limit are joined with the nearest one.

    **Guarantee** all records of a person are in one bucket, every bucket has at least k persons, and in every bucket
    the sensitive values of the records of each value beside satisfy every limit, by records and by persons.

    **Not protected** as of `bucket_labels`; and whoever knows how many records a person has may strike out values.

    Raises
    ------
    Infeasible
        If not even one bucket of all satisfies the limits.
    """
    vectors = person_vectors(ranked, persons)
    labels = mondrian_labels(vectors, k, (), strict, block_rows=block_rows, run=run)[persons]
    while (failing := _failing(labels, limits, beside)).any():
        if len(failing) == 1:
            raise not_by_persons(limits)
        labels = merge_round(labels, ranked, failing)
    return labels


def not_by_persons(limits: Sequence[Limit]) -> Infeasible:
    """What is said where not even all persons together are diverse."""
    what = ", ".join(dict.fromkeys(f"{limit.text} of {limit.name!r}" for limit in limits))
    return Infeasible(
        f"{what} cannot be met by counting persons: not even all of them in one bucket do, as each counts once for "
        "each of its values; ask for less, or publish in another way, such as generalise"
    )


def _failing(labels: Codes, limits: Sequence[Limit], beside: Ints | None) -> Mask:
    """Which buckets fail a limit, for some value beside."""
    if not limits:
        return np.zeros(int(labels.max()) + 1, dtype=bool)
    if beside is None:
        return violations(labels, limits)
    width = int(beside.max()) + 1
    pairs, pair = np.unique(labels * np.int64(width) + beside, return_inverse=True)
    failing = np.zeros(int(labels.max()) + 1, dtype=bool)
    failing[pairs[violations(pair, limits)] // width] = True
    return failing


def standing_in_the_way(beside: Ints, limits: Sequence[Limit], weights: Codes | None = None) -> int:
    """How many records have a value beside the sensitive ones for which not even the whole table is diverse."""
    if not limits:
        return 0
    return int(count_codes(beside, weights)[violations(beside, limits)].sum())


def pairs_of(limits: Sequence[Limit], beside: Ints) -> Pairs:
    """Number the pairs of a value beside and a sensitive value, for each limit."""
    found = [np.unique(beside * limit.n_values + limit.codes, return_inverse=True) for limit in limits]
    widths = [limit.n_values for limit in limits]
    return Pairs(
        ids=np.array([ids for _, ids in found], dtype=np.int32),
        starts=np.cumsum([0] + [len(pairs) for pairs, _ in found]).astype(np.int64),
        beside=np.concatenate([p // m for (p, _), m in zip(found, widths, strict=True)]).astype(np.int32),
        codes=np.concatenate([p % m for (p, _), m in zip(found, widths, strict=True)]).astype(np.int32),
    )
