"""How many rows persons keep in a table, so that k of them have each number, and each number in the tables before."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Ints, Mask


def common_levels(counts: Ints, crowds: Ints, k: int, weights: Ints) -> tuple[Ints, Mask]:
    """The number of rows that each person keeps, within crowds of at least k persons, and which persons stay.

    In each crowd persons are taken from those with the most rows on; as soon as k are together they keep as many as the
    one of them who has fewest, and all others who have as many join. Fewer than k may be left at the end: then those
    taken last keep as few as they have, or they are left out with all that they have, whichever costs fewer rows. Here
    0 is a number like others, as a person without rows in one table is seen in another.

    Parameters
    ----------
    counts : int64 array (n_persons,)
        Rows of each person.
    crowds : int64 array (n_persons,)
        Who was together before; a negative number is nobody.
    weights : int64 array (n_persons,)
        Rows of each person in all tables, which go if the person does.
    """
    levels, stays = np.zeros(len(counts), dtype=np.int64), crowds >= 0
    order = np.lexsort((-counts, crowds))[int((~stays).sum()) :]
    for members in np.split(order, np.flatnonzero(np.diff(crowds[order])) + 1) if len(order) else ():
        have = counts[members]
        begin = 0
        while begin < len(have):
            level = int(have[begin + k - 1])
            end = int(np.searchsorted(-have, -level, side="right"))
            rest = len(have) - end
            if 0 < rest < k:
                least = int(have[-1])
                lowered = int(np.minimum(have[begin:end], level).sum() + have[end:].sum()) - least * (len(have) - begin)
                if lowered <= int(weights[members[end:]].sum()):
                    level, end = least, len(have)
                else:
                    stays[members[end:]] = False
                    levels[members[begin:end]] = level
                    break
            levels[members[begin:end]] = level
            begin = end
    return levels, stays
