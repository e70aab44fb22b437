"""How many strings lie at each small distance of a target, symbol by symbol at the same places."""

from __future__ import annotations

from shoal.arrays import Codes, Ints
from shoal.kernels.compile import compiled


@compiled
def count_near(
    targets: Codes,
    target_starts: Ints,
    symbols: Codes,
    starts: Ints,
    weights: Ints,
    first: Ints,
    last: Ints,
    counts: Ints,
) -> None:
    """Count the strings that differ from each target at 0, 1, 2, ... places.

    Parameters
    ----------
    targets, target_starts : arrays
        The targets, one after another.
    symbols, starts, weights : arrays
        Distinct strings, shortest first, and how many there are of each.
    first, last : int64 arrays (n_targets,)
        Which of them have the length of each target.
    counts : int64 array (n_targets, most + 1)
        Filled; strings that differ at more than `most` places are in none.
    """
    most = counts.shape[1] - 1
    for target in range(len(counts)):
        begin = target_starts[target]
        length = target_starts[target + 1] - begin
        counts[target] = 0
        for row in range(first[target], last[target]):
            at = starts[row]
            n_apart = 0
            for t in range(length):
                if targets[begin + t] != symbols[at + t]:
                    n_apart += 1
                    if n_apart > most:
                        break
            if n_apart <= most:
                counts[target, n_apart] += weights[row]
