"""Column generalisation: inside each bucket, every slice is cut into regions of at least k records.

References
----------
S. R. Subramanian: Screening, section 5.2 and definition 4. Departing from it, a region may be cut further only while an
attacker who joins the slices on the sensitive value stays within every limit: the paper's own test does not see that
attacker, and its printed Table 1c fails by him.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import starmap

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.kernels.tables.diversity import LimitArrays
from shoal.kernels.tables.mondrian import Space
from shoal.kernels.tables.regions import Rules, Slices, refine
from shoal.tables.encoding import Ranked
from shoal.tables.limits import Limit, arrays_of
from shoal.tables.partition.mondrian import block_arguments

N_TRIES = 8
LEAST_COMBINATIONS = 1024
ROOM = 2**25  # counts of (region, sensitive value) at once: 128 MiB


def region_labels(
    ranked: Sequence[Ranked],
    slices: Sequence[Sequence[int]],
    buckets: Codes,
    keys: Codes,
    limits: Sequence[Limit],
    k: int,
    *,
    strict: bool = True,
    complete: bool = False,
    block_rows: int = 100_000,
    run: Callable[..., Iterable[Codes]] = starmap,
) -> Codes:
    """Cut every slice of every bucket into regions, in turn, as Mondrian does.

    **Guarantee** every region has at least k records of its bucket. For every combination of regions that a record of
    the bucket lies in (`complete`: for every combination at all), the sensitive values that a join of the slices
    leaves, weighted with how often it is expected to, satisfy every limit.

    **Not protected** without `complete`, records whose published labels cover more than their own regions.

    Parameters
    ----------
    ranked : sequence of Ranked
        The quasi-identifiers.
    slices : sequence of sequences of int
        Which of them stand in each slice; every one in exactly one.
    buckets : int32 array (n_rows,)
        Buckets 0 .. b - 1 that satisfy the limits and have at least k records.
    keys : int32 array (n_rows,)
        The sensitive value of each record, of all sensitive attributes together.
    complete : bool
        Ask for it where labels overlap, see `labels_overlap`. A bucket of n records then gets at most 4 n
        combinations, or 1024.

    Returns
    -------
    int32 array (n_slices, n_rows)
        The region of each record in each slice, numbered from 0 through all buckets.
    """
    order = np.argsort(buckets, kind="stable").astype(np.int32)
    sizes = np.bincount(buckets)
    labels = np.empty((len(slices), len(buckets)), dtype=np.int32)
    parts = list(_parts(sizes, block_rows))
    ends = np.concatenate([[0], np.cumsum(sizes)])

    def jobs() -> Iterator[tuple[object, ...]]:
        for first, last in parts:
            rows = order[ends[first] : ends[last]]
            space, arrays, _, _ = block_arguments(ranked, rows, k, limits, strict)
            used, dense = np.unique(keys[rows], return_inverse=True)
            one = np.zeros(len(used), dtype=np.intp)
            one[dense] = np.arange(len(rows))
            codes = [limit.codes[rows[one]] for limit in limits]
            yield (
                space,
                arrays if arrays is not None else arrays_of((), len(rows)),
                [list(s) for s in slices],
                dense.astype(np.int32),
                np.array(codes, dtype=np.int32).reshape(len(limits), len(used)),
                (ends[first + 1 : last + 1] - ends[first]).astype(np.int64),
                k,
                strict,
                complete,
            )

    numbered = np.zeros((len(slices), 1), dtype=np.int32)
    for (first, last), part in zip(parts, run(refine_block, jobs()), strict=True):
        labels[:, order[ends[first] : ends[last]]] = part + numbered
        numbered += part.max(axis=1, keepdims=True) + 1
    return labels


def refine_block(
    space: Space,
    limits: LimitArrays,
    slices: Sequence[Sequence[int]],
    keys: Codes,
    codes: Codes,
    ends: Ints,
    k: int,
    strict: bool,
    complete: bool,
) -> Codes:
    """Cut the slices of some buckets, whose records follow each other; any worker can run it."""
    laid_out = Slices(
        starts=np.cumsum([0] + [len(s) for s in slices]).astype(np.int64),
        attributes=np.array([a for s in slices for a in s], dtype=np.int64),
        keys=keys,
        codes=codes,
    )
    rows = np.arange(len(keys), dtype=np.int32)
    room = max(ROOM, 2 * len(slices) * codes.shape[1])
    rules = Rules(int(k), bool(strict), bool(complete), N_TRIES, LEAST_COMBINATIONS)
    return refine(space, laid_out, limits, rows, ends, rules, room)


def labels_overlap(ranked: Sequence[Ranked], strict: bool, missing: str, ends: str) -> bool:
    """Whether a record can be covered by published labels of regions that it does not lie in.

    Strict cuts leave ranges and sets of values apart. Labels of taxonomies and prefixes reach as far as the common
    ancestor does; relaxed cuts part equal values; ``*`` covers whatever is missing; rounded ends reach into the next
    region.
    """
    if not strict or any(r.kind == "tree" or (r.kind == "number" and ends == "rounded") for r in ranked):
        return True
    return any(r.has_missing and (missing == "any" or r.kind == "category") for r in ranked)


def _parts(sizes: Ints, block_rows: int) -> Iterator[tuple[int, int]]:
    """Runs of buckets of up to block_rows records together, or one that has more alone."""
    ends = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        done = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + block_rows, side="right")))
        yield first, last
        first = last
