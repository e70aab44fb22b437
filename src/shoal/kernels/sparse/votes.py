"""Loops of guesses by the nearest published records: who is nearest to some items, and what they hold besides."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask, Singles
from shoal.kernels.compile import compiled


@compiled
def best_by_votes(
    starts: Ints,
    items: Codes,
    is_known: Mask,
    strengths: Floats,
    row_starts: Ints,
    row_items: Codes,
    holder_starts: Ints,
    holders: Codes,
    holder_units: Singles,
    n_voters: Ints,
    ties: Floats,
) -> Codes:
    """The item that the nearest published records name for each person, by how many of them vote; -1 where none.

    Parameters
    ----------
    starts, items, is_known
        The items of each person, and which of them are known.
    strengths : float64 array (n_items,)
        What a known item weighs.
    row_starts, row_items
        The published records.
    holder_starts, holders, holder_units
        Of each item the published records that hold it, and what it weighs in each.
    n_voters : int64 array
        How many records vote, ascending.
    ties : float64 array (n_items,)
        Added to the votes of an item.

    Returns
    -------
    int32 array (len(n_voters), n_persons)
    """
    n_rows, most = len(row_starts) - 1, n_voters[-1]
    near = np.zeros(n_rows)
    touched = np.empty(n_rows, np.int64)
    votes, voted = np.zeros(len(ties)), np.empty(len(ties), np.int64)
    known = np.zeros(len(ties), np.bool_)
    best, best_at = np.empty(most), np.empty(most, np.int64)
    found = np.full((len(n_voters), len(starts) - 1), -1, np.int32)
    for person in range(len(starts) - 1):
        n_touched = 0
        for e in range(starts[person], starts[person + 1]):
            if not is_known[e]:
                continue
            item = items[e]
            known[item] = True
            for h in range(holder_starts[item], holder_starts[item + 1]):
                row = holders[h]
                if near[row] == 0.0:
                    touched[n_touched] = row
                    n_touched += 1
                near[row] += strengths[item] * holder_units[h]
        n_best = 0
        for t in range(n_touched):
            score = near[touched[t]]
            near[touched[t]] = 0.0
            if n_best < most or score > best[n_best - 1]:
                j = n_best if n_best < most else most - 1
                while j > 0 and best[j - 1] < score:
                    best[j], best_at[j] = best[j - 1], best_at[j - 1]
                    j -= 1
                best[j], best_at[j] = score, touched[t]
                n_best = min(n_best + 1, most)
        n_voted, voter = 0, 0
        for v in range(len(n_voters)):
            while voter < min(n_voters[v], n_best):
                row = best_at[voter]
                for e in range(row_starts[row], row_starts[row + 1]):
                    item = row_items[e]
                    if not known[item]:
                        if votes[item] == 0.0:
                            voted[n_voted] = item
                            n_voted += 1
                        votes[item] += best[voter]
                voter += 1
            most_votes = 0.0
            for i in range(n_voted):
                if votes[voted[i]] + ties[voted[i]] > most_votes:
                    most_votes = votes[voted[i]] + ties[voted[i]]
                    found[v, person] = voted[i]
        for i in range(n_voted):
            votes[voted[i]] = 0.0
        for e in range(starts[person], starts[person + 1]):
            known[items[e]] = False
    return found
