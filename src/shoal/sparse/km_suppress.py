"""k^m-anonymity by suppression: rare combinations of items are broken up, and the rest stays as it was.

A combination of up to m items that fewer than k records hold is broken by leaving out one of its items: from the
records that hold it (`scope` "records"), where in each record the item goes that is in most such combinations; or from
all records ("items"), in the order of how many rare combinations an item is in for each record that holds it. What is
left out makes other combinations rarer, so it is repeated until all are held by k.

**Guarantee**: every combination of up to m items that occurs among the published records, of one class where classes
are published, is held by at least k of them. **Not protected**: everything about a person of whom more than m items are
known; what those k have in common; that a record is in the data. A record without an item may have had it.

References
----------
M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data", VLDB 2008, section 3 (the
model). That single places are left out is ours; global suppression is as in Y. Xu, K. Wang, A. Fu, P. Yu, "Anonymizing
transaction databases for publication", KDD 2008.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from shoal.arrays import Ints, Mask
from shoal.data.sparse.records import Sparse
from shoal.kernels.sparse.combinations import drop_rare_pairs, drop_rare_triples, hash_keys
from shoal.sparse.combinations import Coded, coded

Scope = Literal["records", "items"]
_DROP = {2: drop_rare_pairs, 3: drop_rare_triples}


def suppress(records: Sparse, k: int, m: int, *, scope: Scope = "records", owners: Ints | None = None) -> Ints:
    """Which entries of records can be published, so that k owners hold every combination of up to m items."""
    made = coded(records, k, owners)
    if scope == "items":
        return _without_items(made, k, m).entries
    while True:
        n_before = len(made.items)
        made = made.kept(made.supports()[made.items] >= k)
        for size in range(2, m + 1):
            made = _without_rare(made, size, k)
        # Larger combinations that were broken up may have made smaller ones rare.
        if len(made.items) == n_before:
            return made.entries


def _without_rare(made: Coded, size: int, k: int) -> Coded:
    """Break rare combinations of one size up until there are none."""
    while True:
        frequent, _, rare = made.counted(size, k)
        if not rare.any():
            return made
        made = made.kept(_DROP[size](made.starts, made.items, made.n_items, hash_keys(frequent)))


def _without_items(made: Coded, k: int, m: int) -> Coded:
    """Leave whole items out until no combination is rare, a few at a time, the worst first."""
    supports = np.maximum(made.supports(), 1)
    for size in range(2, m + 1):
        while True:
            _, _, rare = made.counted(size, k)
            if not rare.any():
                break
            made = made.kept(~_worst(rare / supports)[made.items])
    return made


def _worst(burden: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Mask:
    """A twentieth of the items that are in rare combinations, those of the greatest burden, and one at least."""
    order = np.lexsort((np.arange(len(burden)), -burden))
    chosen = np.zeros(len(burden), np.bool_)
    chosen[order[: max(1, int((burden > 0).sum()) // 20)]] = True
    return chosen
