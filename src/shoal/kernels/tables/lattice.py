"""Roll-up: the equivalence classes of a coarser recoding from those of a finer one, by one pass over a hash table.

References
----------
K. LeFevre, D. DeWitt, R. Ramakrishnan, "Incognito: Efficient Full-Domain K-Anonymity", SIGMOD 2005 (the rollup
property).
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.kernels.compile import compiled

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(32)


@compiled
def roll_up(
    cells: Codes, rows: Codes, counts: Ints, nodes: Codes, starts: Ints, sizes: Ints
) -> tuple[Codes, Codes, Ints]:
    """Merge classes whose nodes agree in every attribute; new classes are numbered by first appearance.

    The node of rank r of attribute a is ``nodes[starts[a] + r]``, less than ``sizes[a]``; attributes of size 1 do not
    count. Nodes are written as the digits of one number. Where that may overflow, equal numbers are compared node by
    node, so the result is exact.

    Parameters
    ----------
    cells : int32 array (n, m)
        The ranks of records.
    rows, counts : int32, int64 arrays (c,)
        A record of each class, and how many records the class has.
    nodes : int32 array
        The nodes of all attributes at all levels.
    starts : int64 array (m,)
        Where the nodes of each attribute's chosen level begin.
    sizes : int64 array (m,)
        How many nodes that level has.

    Returns
    -------
    of : int32 array (c,)
        The new class of each class.
    rows, counts : int32, int64 arrays (g,)
        A record of each new class (that of its first class), and how many records it has.
    """
    n_old = len(rows)
    n_columns = 0
    columns = np.empty(len(starts), np.int64)
    span = 1.0
    for a in range(len(starts)):
        if sizes[a] > 1:
            columns[n_columns] = a
            n_columns += 1
            span *= sizes[a]
    is_exact = span < 2.0**63
    n_slots = 16
    while n_slots < 2 * n_old:
        n_slots *= 2
    slots = np.full(n_slots, -1, np.int32)
    codes = np.empty(n_old, np.uint64)
    of = np.empty(n_old, np.int32)
    new_rows = np.empty(n_old, np.int32)
    new_counts = np.empty(n_old, np.int64)
    n_new = 0
    for i in range(n_old):
        row = rows[i]
        code = np.uint64(0)
        for j in range(n_columns):
            a = columns[j]
            code = code * np.uint64(sizes[a]) + np.uint64(nodes[starts[a] + cells[row, a]])
        slot = np.int64(((code * _STEP) >> _FOLD) & np.uint64(n_slots - 1))
        while True:
            found = slots[slot]
            if found < 0:
                slots[slot] = n_new
                codes[n_new] = code
                new_rows[n_new] = row
                new_counts[n_new] = counts[i]
                of[i] = n_new
                n_new += 1
                break
            same = codes[found] == code
            if same and not is_exact:
                other = new_rows[found]
                for j in range(n_columns):
                    a = columns[j]
                    if nodes[starts[a] + cells[row, a]] != nodes[starts[a] + cells[other, a]]:
                        same = False
                        break
            if same:
                new_counts[found] += counts[i]
                of[i] = found
                break
            slot = (slot + 1) & (n_slots - 1)
    return of, new_rows[:n_new].copy(), new_counts[:n_new].copy()
