"""Groups for local recoding: cut top-down by gain, and grow groups inside the blocks.

Records are then exchanged between groups (`shoal.kernels.tables.record_exchange`). All work is on distinct records,
each of which stands for as many as there are copies of it, which are never parted.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.kernels.compile import compiled, compiled_beside
from shoal.kernels.tables.cells import Cells, NarrowCells, penalty

BETTER = 1 + 1e-12  # scores nearer than this are equal but for rounding


@compiled
def _gain(
    cells: Cells,
    a: int,
    rows: Ints,
    begin: int,
    end: int,
    n_records: int,
    k: int,
    power: float,
    sizes: Ints,
    kids: Ints,
) -> tuple[float, int, int]:
    """The best cut of a block in one attribute: its score, the height of the parts and how many children stand alone.

    The children of the block's node, most frequent first, become parts; those after some point are one part together.
    The score is the loss that the attribute no longer has, over the entropy of the parts to the given power. On return
    `kids` holds the ranks that stand for the children, and `sizes` is 0 again.
    """
    low = high = cells.ranks[rows[begin], a]
    for i in range(begin, end):
        rank = cells.ranks[rows[i], a]
        low, high = min(low, rank), max(high, rank)
    if low == high:
        return 0.0, 0, 0
    width, start = cells.widths[a], cells.starts[a]
    height = 0
    while cells.nodes[start + low * width + height] != cells.nodes[start + high * width + height]:
        height += 1
    whole = cells.penalties[start + low * width + height]
    height -= 1
    n_kids, n_large = 0, 0
    for i in range(begin, end):
        rank = cells.ranks[rows[i], a]
        node = cells.nodes[start + rank * width + height]
        if sizes[node] == 0:
            kids[n_kids] = rank
            n_kids += 1
        sizes[node] += cells.counts[rows[i]]
    for i in range(n_kids):  # large ones to the front, most frequent first, of equals the one of least node
        kid = kids[i]
        node = cells.nodes[start + kid * width + height]
        if sizes[node] >= k:
            at = n_large
            n_large += 1
            kids[i] = kids[at]
            while at > 0:
                other = cells.nodes[start + kids[at - 1] * width + height]
                if sizes[other] > sizes[node] or (sizes[other] == sizes[node] and other < node):
                    break
                kids[at] = kids[at - 1]
                at -= 1
            kids[at] = kid
    best, n_best = 0.0, 0
    left, gain, entropy = n_records, 0.0, 0.0
    for i in range(n_large):
        at = start + kids[i] * width + height
        size = sizes[cells.nodes[at]]
        left -= size
        gain += size * (whole - cells.penalties[at])
        entropy -= size / n_records * np.log2(size / n_records)
        all_gain, all_entropy = gain, entropy
        if left > 0:
            all_entropy -= left / n_records * np.log2(left / n_records)
            if n_kids == i + 2:  # the rest is one child
                all_gain += left * (whole - cells.penalties[start + kids[i + 1] * width + height])
        if (left == 0 or left >= k) and all_gain > BETTER * best * all_entropy**power:
            best, n_best = all_gain / all_entropy**power, i + 1
    for i in range(n_kids):
        sizes[cells.nodes[start + kids[i] * width + height]] = 0
    return best, height, n_best


@compiled
def cut_blocks(cells: Cells, k: int, enough: int, power: float, n_nodes: int) -> tuple[Ints, Ints]:
    """Cut all records into blocks, each time in the attribute of best score, of equals the first.

    Blocks of at most `enough` records are left, and those of which no part would have k records or be told from the
    others. All copies of a record come into one block.

    Returns
    -------
    rows : int64 array (n_distinct,)
        The distinct records, block by block.
    ends : int64 array (n_blocks,)
        Where each block ends.
    """
    n_rows, m = cells.ranks.shape
    rows, moved = np.arange(n_rows), np.empty(n_rows, np.int64)
    ends = np.empty(n_rows, np.int64)
    first, last = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)  # blocks not looked at yet, the next one last
    sizes, part = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    kids, best_kids = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    begins = np.empty(n_rows + 2, np.int64)
    first[0], last[0] = 0, n_rows
    n_open, n_ends = 1, 0
    while n_open > 0:
        n_open -= 1
        start, end = first[n_open], last[n_open]
        n_records = cells.counts[rows[start]]  # a number that is written here would have _gain compiled twice
        for i in range(start + 1, end):
            n_records += cells.counts[rows[i]]
        best, attribute, height, n_parts = 0.0, 0, 0, 0
        if n_records > enough and n_records >= 2 * k:
            for a in range(m):
                score, at, n_alone = _gain(cells, a, rows, start, end, n_records, k, power, sizes, kids)
                if score > BETTER * best:
                    best, attribute, height, n_parts = score, a, at, n_alone
                    for i in range(n_alone):
                        best_kids[i] = kids[i]
        if n_parts == 0:
            ends[n_ends] = end
            n_ends += 1
            continue
        offset, width = cells.starts[attribute] + height, cells.widths[attribute]
        for i in range(n_parts):
            part[cells.nodes[offset + best_kids[i] * width]] = i + 1
        for i in range(1, n_parts + 2):
            begins[i] = 0
        begins[0] = start
        for i in range(start, end):
            begins[part[cells.nodes[offset + cells.ranks[rows[i], attribute] * width]] + 1] += 1
        for i in range(n_parts + 1):
            begins[i + 1] += begins[i]
        for i in range(n_parts, -1, -1):  # the first is to be looked at next, so that blocks end in ascending order
            if begins[i + 1] > begins[i]:
                first[n_open], last[n_open] = begins[i], begins[i + 1]
                n_open += 1
        for i in range(start, end):
            at = part[cells.nodes[offset + cells.ranks[rows[i], attribute] * width]]
            moved[begins[at]] = rows[i]
            begins[at] += 1
        for i in range(start, end):
            rows[i] = moved[i]
        for i in range(n_parts):
            part[cells.nodes[offset + best_kids[i] * width]] = 0
    return rows, ends[:n_ends].copy()


def _grow_at_once(cells: Cells, rows: Ints, k: int, labels: Codes) -> int:
    """Grow the same groups, with all that are left measured at once."""
    space, counts = NarrowCells.of(cells, rows), cells.counts[rows]
    alive, n_left = np.arange(len(rows)), int(counts.sum())
    low, high = np.empty((2, len(space.ranks), n_left // k), dtype=np.int64)
    sizes, losses = np.zeros(n_left // k, dtype=np.int64), np.empty(n_left // k)
    n_new = 0
    while n_left >= k:
        at, size = 0, 0
        least = greatest = space.ranks[:, alive[:1]]
        while True:
            mine, alive = alive[at], np.delete(alive, at)
            labels[rows[mine]] = n_new
            least, greatest = space.widened(least, greatest, mine)
            size += int(counts[mine])
            if size >= k:
                break
            losses_with = space.loss(*space.widened(least, greatest, alive))
            at = int((np.maximum(k, size + counts[alive]) * losses_with).argmin())
        n_left -= size
        low[:, [n_new]], high[:, [n_new]], sizes[n_new] = least, greatest, size
        n_new += 1
    low, high, sizes = low[:, :n_new], high[:, :n_new], sizes[:n_new]
    if len(alive):
        losses = space.loss(low, high)
    for mine in alive:
        wider_low, wider_high = space.widened(low, high, mine)
        after = space.loss(wider_low, wider_high)
        best = int(((sizes + counts[mine]) * after - sizes * losses).argmin())
        labels[rows[mine]] = best
        sizes[best] += counts[mine]
        losses[best] = after[best]
        low[:, best], high[:, best] = wider_low[:, best], wider_high[:, best]
    return n_new


@compiled_beside(_grow_at_once)
def _grow_block(cells: Cells, rows: Ints, k: int, labels: Codes) -> int:
    """Group the records of a block of 2 k or more; return the number of groups, which are numbered from 0."""
    ranks, counts, m = cells.ranks, cells.counts, cells.ranks.shape[1]
    alive, n_alive, n_left = rows.copy(), len(rows), 0
    for row in rows:
        n_left += counts[row]
    room = n_left // k
    low, high = np.empty((room, m), np.int32), np.empty((room, m), np.int32)
    sizes, losses = np.zeros(room, np.int64), np.zeros(room)
    n_new = 0
    while n_left >= k:
        at = 0
        for a in range(m):
            low[n_new, a] = high[n_new, a] = ranks[alive[0], a]
        while True:
            row = alive[at]
            labels[row] = n_new
            for a in range(m):
                low[n_new, a] = min(low[n_new, a], ranks[row, a])
                high[n_new, a] = max(high[n_new, a], ranks[row, a])
            sizes[n_new] += counts[row]
            n_left -= counts[row]
            n_alive -= 1
            for i in range(at, n_alive):
                alive[i] = alive[i + 1]
            if sizes[n_new] >= k:
                break
            least = np.inf
            for i in range(n_alive):
                row = alive[i]
                size = max(k, sizes[n_new] + counts[row])
                loss = 0.0
                for a in range(m):
                    rank = ranks[row, a]
                    loss += penalty(cells, a, min(low[n_new, a], rank), max(high[n_new, a], rank))
                    if size * loss >= least:
                        break
                if size * loss < least:
                    at, least = i, size * loss
        for a in range(m):
            losses[n_new] += penalty(cells, a, low[n_new, a], high[n_new, a])
        n_new += 1
    for i in range(n_alive):
        row = alive[i]
        best, least, joint = 0, np.inf, 0.0
        for group in range(n_new):
            after = 0.0
            for a in range(m):
                rank = ranks[row, a]
                after += penalty(cells, a, min(low[group, a], rank), max(high[group, a], rank))
            growth = (sizes[group] + counts[row]) * after - sizes[group] * losses[group]
            if growth < least:
                best, least, joint = group, growth, after
        labels[row] = best
        sizes[best] += counts[row]
        losses[best] = joint
        for a in range(m):
            low[best, a] = min(low[best, a], ranks[row, a])
            high[best, a] = max(high[best, a], ranks[row, a])
    return n_new


@compiled
def grow_groups(cells: Cells, rows: Ints, ends: Ints, k: int, labels: Codes) -> int:
    """Group the distinct records of each block greedily; return the number of groups.

    A group starts with the first one that is left, and takes others until it stands for k records or more: each time
    the one with which the loss of a record, times k or as many as there would be if that is more, is least. When fewer
    than k are left over, each one joins the group whose loss grows least.

    Parameters
    ----------
    rows, ends : int64 arrays
        The distinct records block by block, in the order in which they start groups, and where each block ends.
    labels : int32 array (n_distinct,)
        Filled with the group of each; those of a block are numbered on from those before.
    """
    counts = cells.counts
    n_groups, start = 0, 0
    for end in ends:
        n_records = 0
        for i in range(start, end):
            n_records += counts[rows[i]]
        n_new = 1
        if n_records < 2 * k or end == start + 1:
            for i in range(start, end):
                labels[rows[i]] = 0
        else:
            n_new = _grow_block(cells, rows[start:end], k, labels)
        for i in range(start, end):
            labels[rows[i]] += n_groups
        n_groups += n_new
        start = end
    return n_groups
