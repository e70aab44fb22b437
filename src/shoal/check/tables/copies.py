"""No copies: no published record repeats the quasi-identifiers of fewer than k originals.

For publications that make new records. A published record that equals an original one on every quasi-identifier is that
record, however it came about, unless at least k originals share the combination: then it tells of none of them.

**Guarantee.** Whoever knows all quasi-identifiers of a record either finds no published record that has them, or at
least k originals that a record with them could be made from.
**Not protected.** Near copies: a record that differs from an original in the last digit of one number passes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Ints
from shoal.check.guarantee import Guarantee, count
from shoal.check.tables.alongside import Alongside, shared_keys
from shoal.check.tables.classes import Missing


def no_copies(
    columns: Sequence[Alongside], k: int, *, missing: Missing = "value", persons: Ints | None = None
) -> Guarantee:
    """Recompute that no published record is a copy: achieved is the fewest originals behind one, k if none has fewer.

    More is not told, as the number of originals that share a combination is nobody's business.

    Parameters
    ----------
    columns : sequence of Alongside
        The quasi-identifiers of both tables.
    k : int
        As many originals that share a combination are a crowd.
    missing : {"value", "any"}
        Where a missing cell may hide any value it helps no record to hide: a combination with one is no crowd.
    persons : int64 array, optional
        Whose each original is: a crowd is then of k persons.
    """
    published, original = shared_keys(columns)
    n_keys = int(max(published.max(initial=-1), original.max(initial=-1))) + 1
    noun = "originals"
    if persons is not None:
        original, noun = np.unique(np.column_stack([original, persons]), axis=0)[:, 0], "persons"
    crowd = np.bincount(original, minlength=n_keys)[published]
    if missing == "any":
        has_gap = np.any([c.published < 0 for c in columns], axis=0)
        crowd = np.where(has_gap, np.minimum(crowd, 1), crowd)
    copies = (crowd > 0) & (crowd < k)
    n_copies = int(copies.sum())
    reached = float(crowd[copies].min()) if n_copies else float(k)
    return Guarantee.counted(
        model="no-copies",
        required={"k": k},
        achieved=reached,
        n_classes=len(published),
        n_failing=n_copies,
        sentence=(
            f"{count(n_copies, 'published record')} repeat{'s' * (n_copies == 1)} all quasi-identifiers of fewer than "
            f"{k} {noun}."
            if n_copies
            else f"No published record repeats the quasi-identifiers of any original, unless at least {k} "
            f"{'' if persons is None else 'persons '}share them."
        ),
        details={"copies": n_copies},
    )
