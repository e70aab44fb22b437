"""The labels of published cells as arrays: what each of them covers, column after column."""

from __future__ import annotations

from typing import NamedTuple

from shoal.arrays import Bytes, Floats, Ints

PLAIN_NUMBER, NUMBER, PLAIN_CATEGORY, CATEGORY = 0, 1, 2, 3
ROUNDING = 1e-12  # sums of the same terms in the same order are equal; those of other terms may be so by chance


class LabelTable(NamedTuple):
    """The labels of all columns, one column after the other.

    Attributes
    ----------
    starts : int64 array (n_columns + 1,)
        The first label of each column.
    kinds : uint8 array (n_columns,)
        PLAIN_NUMBER, NUMBER, PLAIN_CATEGORY or CATEGORY: plain columns hold single values only.
    scales : float64 array (n_columns,)
        What a difference of numbers is multiplied by.
    low, high : float64 arrays (n_labels,)
        The least and the greatest value that a label covers; low > high: none.
    sizes : float64 array (n_labels,)
        Of categories, how many a label covers.
    may_miss : uint8 array (n_labels,)
        Whether it covers a missing value.
    begins, ends : int64 arrays (n_labels,)
        Where its values stand in `listed`, ascending; none if it covers all from low to high.
    listed : float64 array
    """

    starts: Ints
    kinds: Bytes
    scales: Floats
    low: Floats
    high: Floats
    sizes: Floats
    may_miss: Bytes
    begins: Ints
    ends: Ints
    listed: Floats
