"""Can every row have a record of its own? Kinds of rows and kinds of records, and which may belong together.

A matching in a bipartite graph of kinds with multiplicities. Records that fit one kind of row only are given to it
first, which is never wrong; then rows take records in rounds, all at once; what is left is placed by augmenting paths.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from shoal.arrays import Codes, Ints

MOST_STEPS = 2_000_000  # along edges, in the search for paths
_ROUNDS = 60


def count_unplaced(row: Ints | Codes, record: Ints | Codes, n_rows: Ints, n_records: Ints) -> int | None:
    """How many rows are left when as many as possible have a record of their own; None if that took too long to tell.

    Parameters
    ----------
    row, record : int64 or int32 arrays (n_edges,)
        Kinds that may belong together, each pair once.
    n_rows, n_records : int64 arrays
        How many there are of each kind.
    """
    need, room = n_rows.astype(np.int64), n_records.astype(np.int64)
    alone = np.bincount(record, minlength=len(room))[record] == 1
    given = np.bincount(row[alone], room[record[alone]], minlength=len(need)).astype(np.int64)
    need = np.maximum(need - given, 0)
    keep = ~alone & (need[row] > 0)
    row, record = row[keep], record[keep]
    most = np.bincount(row, room[record], minlength=len(need)).astype(np.int64)
    n_short = int(np.maximum(need - most, 0).sum())
    need = np.minimum(need, most)  # what no record is left for is counted, and not looked for again
    if not need.any():
        return n_short
    flow = _in_rounds(row, record, need, room)
    if not need.any():
        return n_short
    n_left = _by_paths(row, record, need, room, flow)
    return None if n_left is None else n_short + n_left


def _in_rounds(row: Ints | Codes, record: Ints | Codes, need: Ints, room: Ints) -> Ints:
    """Let rows take records that few others could use, all kinds at once; changes `need` and `room`."""
    flow = np.zeros(len(row), dtype=np.int64)
    order = np.lexsort((np.bincount(record, minlength=len(room))[record], row))
    row, record = row[order], record[order]
    for _ in range(_ROUNDS):
        open_ = np.flatnonzero((need[row] > 0) & (room[record] > 0))
        if not len(open_):
            break
        first = open_[np.unique(row[open_], return_index=True)[1]]  # one record for each kind of row
        first = first[np.unique(record[first], return_index=True)[1]]  # and one kind of row for each record
        amount = np.minimum(need[row[first]], room[record[first]])
        flow[order[first]] += amount
        need[row[first]] -= amount
        room[record[first]] -= amount
    return flow


def _by_paths(row: Ints | Codes, record: Ints | Codes, need: Ints, room: Ints, flow: Ints) -> int | None:
    of_row: dict[int, list[int]] = {}
    of_record: dict[int, list[int]] = {}
    rows, records = row.tolist(), record.tolist()
    for edge, (a, b) in enumerate(zip(rows, records, strict=True)):
        of_row.setdefault(a, []).append(edge)
        of_record.setdefault(b, []).append(edge)
    free, used = room.tolist(), flow.tolist()
    n_left = n_steps = 0
    for start in np.flatnonzero(need).tolist():
        wanted = int(need[start])
        while wanted:
            came: dict[int, int] = {}  # record -> the edge that it was reached by
            taken: dict[int, int] = {start: -1}  # row -> the edge that it would give up
            queue, end = deque([start]), -1
            while queue and end < 0:
                a = queue.popleft()
                for edge in of_row[a]:
                    b = records[edge]
                    n_steps += 1
                    if b in came:
                        continue
                    came[b] = edge
                    if free[b]:
                        end = b
                        break
                    for other in of_record[b]:
                        n_steps += 1
                        if used[other] and rows[other] not in taken:
                            taken[rows[other]] = other
                            queue.append(rows[other])
            if n_steps > MOST_STEPS:
                return None
            if end < 0:
                n_left += wanted
                break
            _shift(end, came, taken, rows, records, used)
            free[end] -= 1
            wanted -= 1
    return n_left


def _shift(
    end: int, came: dict[int, int], taken: dict[int, int], rows: list[int], records: list[int], used: list[int]
) -> None:
    """Give the free record to the last row of the path, the one that this row gives up to the row before, and so on."""
    while True:
        edge = came[end]
        used[edge] += 1
        back = taken[rows[edge]]
        if back < 0:
            return
        used[back] -= 1
        end = records[back]
