"""Records that are alike in all that a method looks at, put together into one row with a weight.

Strict cuts, recodings and whatever else decides by values alone never part such records. So these methods work on
distinct rows, each of which stands for as many records as its weight says, and give the very groups that the records
would have given. A table without equal records is the one whose weights are all 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Codes, Ints, Rows
from shoal.data.tables.table import Table, count_codes
from shoal.tables.encoding import Ranked


@dataclass(frozen=True)
class Collapsed:
    """Distinct rows of a table.

    Attributes
    ----------
    rows : intp array (n_distinct,)
        A record of each; ascending.
    weights : int32 array (n_distinct,)
        How many records each stands for.
    of_record : int32 array (n_rows,)
        The distinct row of each record.
    """

    rows: Rows
    weights: Codes
    of_record: Codes

    def ranked(self, ranked: Sequence[Ranked]) -> list[Ranked]:
        """The attributes of the distinct rows."""
        return [r.take(self.rows) for r in ranked]


def collapse(ranked: Sequence[Ranked], codes: Sequence[Codes] = (), weights: Codes | None = None) -> Collapsed:
    """Put records together that follow each other with equal ranks, and have equal codes.

    Whoever sorts records by their quasi-identifiers first gets every distinct row once. Else some come several times,
    which changes no group.

    Parameters
    ----------
    ranked : sequence of Ranked
        The quasi-identifiers.
    codes : sequence of int32 arrays (n_rows,)
        What else must not be mixed up, such as sensitive values that are counted; not negative. Records whose ranks are
        equal may have them in any order.
    weights : int32 array (n_rows,), optional
        How many records each row stands for already.

    Examples
    --------
    >>> ranks = np.array([0, 0, 0, 1], dtype=np.int32)
    >>> found = collapse([Ranked("a", "category", ranks, np.arange(2.0))], [np.array([7, 5, 7, 7], dtype=np.int32)])
    >>> found.rows.tolist(), found.weights.tolist(), found.of_record.tolist()
    ([0, 1, 3], [2, 1, 1], [0, 1, 0, 2])
    """
    n_rows = len(ranked[0].ranks)
    opens = np.zeros(n_rows, dtype=bool)
    opens[:1] = True
    for attribute in ranked:
        opens[1:] |= attribute.ranks[1:] != attribute.ranks[:-1]
    of_record = np.cumsum(opens, dtype=np.int64) - 1
    if codes and not opens.all():
        is_tied = ~opens
        is_tied[:-1] |= ~opens[1:]
        tied = np.flatnonzero(is_tied)
        _, first, same = np.unique(_packed(of_record[tied], [c[tied] for c in codes]), True, True)
        stands_for = np.arange(n_rows)
        stands_for[tied] = tied[first[same]]
        opens = stands_for == np.arange(n_rows)
        of_record = (np.cumsum(opens) - 1)[stands_for]
    rows = np.flatnonzero(opens)
    return Collapsed(rows, count_codes(of_record, weights).astype(np.int32), of_record.astype(np.int32))


def joined_rows(table: Table, order: Rows) -> tuple[Table, Rows, Rows]:
    """Let the first of rows that follow each other and are equal stand for all of them.

    Returns
    -------
    table : Table
        With the records of all of them in the weight of the first.
    rows : intp array
        Which rows stay.
    place : intp array
        Of each of the rows in `order`, the place of the one that stands for it among those that stay.
    """
    assert table.weights is not None
    opens = np.zeros(len(order), dtype=bool)
    opens[:1] = True
    for column in table.columns.values():
        codes = column.codes[order]
        opens[1:] |= codes[1:] != codes[:-1]
    weights = table.weights.copy()
    place = np.cumsum(opens) - 1
    weights[order[opens]] = count_codes(place, table.weights[order])
    return replace(table, weights=weights), order[opens], place


def single_rows(n_rows: int) -> Collapsed:
    """Every record for itself, for what may part equal ones."""
    everyone = np.arange(n_rows)
    return Collapsed(everyone, np.ones(n_rows, dtype=np.int32), everyone.astype(np.int32))


def _packed(key: Ints, codes: Sequence[Codes]) -> Ints:
    """One number for each combination, made dense before it would overflow."""
    span = int(key.max()) + 1
    for more in codes:
        width = int(more.max()) + 1
        if span > 2**62 // width:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            span = int(key.max()) + 1
        key = key * width + more
        span *= width
    return key
