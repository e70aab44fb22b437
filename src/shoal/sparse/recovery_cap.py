"""The cap against sparse recovery: at most half as many components as would determine the record.

Not in the paper, which bounds the variance of the usual estimate of one attribute. Whoever holds the key can do
better: a linear programme that looks for a sparse record with just these components recovered baskets of 20 out of 1000
items exactly in most cases at delta = 0.2. A record is determined where its components carry as many bits as there are
to know about it, so this cap leaves half of them:

- what there is to know is the smaller of log2 C(d, n), which n of the d items that occur it has, and its
  self-information under independent items of the shares that they have in the data: that popular items are there
  tells little;
- a component carries the entropy of a normal distribution of variance |x|^2 on its grid, at least one bit;
- ten bits are left in any case: of records that take little to pin down, half of it is too little (of baskets of 3 out
  of 20 items, an attacker who tries them all got 9 of 100 right with the half alone).

On T20.I4, T10I4D100K and 20 newsgroups no attack that knows how popular each item is recovered a record under the cap,
and some did with twice as many components.

**Guarantee**: by this count of bits, which takes items as independent, half of the record, and at least ten bits of it,
stay unknown. **Not protected**: records of which an attacker knows more beforehand, such as most of the items, or a
near copy: with the key and all other records, one of 100 posts of 20 newsgroups was recovered from its nearest. Nor
records of items that go together, from someone who holds the key and knows which do: annealing over the very itemsets
that baskets were made of recovered 3 of 20 of T20.I4 under this cap, 11 of 20 of T20.I10, and 18 of 20 of that with 500
itemsets.
"""

from __future__ import annotations

from math import lgamma, log

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.data.sparse.records import Sparse

LEFT_BITS = 10.0
_SLACK = 1e-9
_MOST = 2**31 - 1


def item_shares(records: Sparse) -> Floats:
    """The share of the records that has each item."""
    return np.bincount(records.items, minlength=records.n_items) / max(1, len(records))


def recovery_counts(
    records: Sparse,
    *,
    step: float,
    share: float = 0.5,
    shares: Floats | None = None,
    n_records: int | None = None,
    n_items: int | None = None,
) -> Ints:
    """The most components of each record that keep it from being determined.

    Parameters
    ----------
    records : Sparse
    step : float
        The grid of real components. Not used for whole numbers, whose components all have one parity, so a grid of 2.
    share : float, default 0.5
        The part of what there is to know that components may carry.
    shares : float64 array (records.n_items,), optional
        The share of all records that has each item, where these are only a block of them.
    n_records : int, optional
        The number of all records.
    n_items : int, optional
        The number d of items that occur in all records.

    Examples
    --------
    >>> rows = np.arange(1000).reshape(50, 20) % 1000
    >>> records = Sparse(np.arange(0, 1001, 20), rows.ravel().astype(np.int32), np.ones(1000, np.int64),
    ...                  tuple(f"{i:03d}" for i in range(1000)))
    >>> int(recovery_counts(records, step=1.0)[0])
    21
    """
    shares = item_shares(records) if shares is None else shares
    n_records = len(records) if n_records is None else n_records
    occurs = shares > 0
    n_items = int(occurs.sum()) if n_items is None else n_items

    chance = np.clip(shares, 1 / (2 * max(1, n_records)), 1 - 1 / (2 * max(1, n_records)))
    absent = np.log2(1 - chance)
    owners = np.repeat(np.arange(len(records)), records.sizes)
    present = np.bincount(owners, weights=(absent - np.log2(chance))[records.items], minlength=len(records))
    information = np.minimum(_log2_binomials(records.sizes, n_items), present - absent[occurs].sum())

    grid = 2.0 if records.is_integral else step
    with np.errstate(divide="ignore"):
        bits = np.maximum(1.0, 0.5 * np.log2(2 * np.pi * np.e * records.squares) - np.log2(grid))
    told = np.minimum(share * information, information - LEFT_BITS)
    return np.asarray(np.floor(np.clip(told / bits * (1 - _SLACK), 0, _MOST)), np.int64)


def _log2_binomials(sizes: Ints, n_items: int) -> Floats:
    distinct, places = np.unique(sizes, return_inverse=True)
    values = [_log2_binomial(max(n_items, n), n) for n in distinct.tolist()]
    return np.array(values, np.float64)[places]


def _log2_binomial(d: int, n: int) -> float:
    return (lgamma(d + 1) - lgamma(n + 1) - lgamma(d - n + 1)) / log(2)
