"""How many people is a predicate true of? Conditions are intervals, lists of values, or their opposites.

Every column is sorted once. Of a predicate's conditions the one that the fewest people meet names those who are looked
at; the search ends as soon as more have been found than matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Bytes, Codes, Floats, Ints
from shoal.kernels.attack.nearest import is_listed
from shoal.kernels.compile import compiled


class Conditions(NamedTuple):
    """Conditions of some predicates, all true together; arrays (n_predicates, n_conditions).

    Attributes
    ----------
    columns : int64 array
        The column that each is about; negative: none.
    low, high : float64 arrays
        Between which values, ends included; a missing value is minus infinity.
    or_missing : uint8 array
        Whether a missing value will do as well.
    is_not : uint8 array
        Whether the opposite is meant (a missing value does not differ from others: it is missing).
    begins, ends : int64 arrays
        Where the values that will do stand in `listed`; none if all from low to high do.
    listed : float64 array
        One dimension, shared.
    """

    columns: Ints
    low: Floats
    high: Floats
    or_missing: Bytes
    is_not: Bytes
    begins: Ints
    ends: Ints
    listed: Floats


@compiled
def count_true(
    conditions: Conditions, first: Ints, last: Ints, key: Ints, values: Floats, order: Codes, most: int, counts: Ints
) -> None:
    """Count the people that predicates are true of, up to `most`.

    Parameters
    ----------
    first, last, key : int64 arrays (n_predicates,)
        The people to be looked at: ``order[key, first:last]``.
    values : float64 array (n_people, n_columns)
        Missing values are minus infinity.
    order : int32 array (n_columns, n_people)
        The people by each column.
    counts : int64 array (n_predicates,)
        Filled.
    """
    n_conditions = conditions.columns.shape[1]
    for p in range(len(counts)):
        found = 0
        for place in range(first[p], last[p]):
            person = order[key[p], place]
            holds = True
            for c in range(n_conditions):
                column = conditions.columns[p, c]
                if column < 0:
                    continue
                x = values[person, column]
                inside = conditions.low[p, c] <= x <= conditions.high[p, c]
                if inside and conditions.begins[p, c] < conditions.ends[p, c]:
                    inside = is_listed(conditions.listed, conditions.begins[p, c], conditions.ends[p, c], x)
                if conditions.is_not[p, c]:
                    inside = not inside and x > -np.inf
                if x == -np.inf and conditions.or_missing[p, c]:
                    inside = True
                if not inside:
                    holds = False
                    break
            if holds:
                found += 1
                if found >= most:
                    break
        counts[p] = found
