"""What a release is beside: other originals, a Markov chain of them, and letters drawn independently.

All are compared with one half of the originals, on as many strings. The other half is the control: nothing that keeps
the source, and no single string, comes nearer than that but by chance. A release that is farther than the chain is
worth less than thirty lines of code; one that is no nearer than independent symbols keeps nothing but the composition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.data.strings.strings import Strings
from shoal.errors import ShoalError
from shoal.strings.condense import Condensation
from shoal.utility.strings.composition import compare_composition
from shoal.utility.strings.k_mers import compare_k_mers
from shoal.utility.strings.measure import sample
from shoal.utility.strings.subsequences import adjacent_repeats, subsequences_kept

MOST_SYMBOLS = 300_000
FEWEST = 20


@dataclass(frozen=True)
class Baseline:
    """How far strings are from a half of the originals: total variations, None where a width does not fit them.

    Beside them the share of symbols that follow one like them, and that of frequent subsequences that is kept.
    """

    name: str
    composition: float
    pairs: float | None
    triples: float | None
    repeats: float | None
    kept: float | None


def compare_with_baselines(original: Strings, published: Strings, k: int, support: int) -> tuple[Baseline, ...]:
    """The release and what it is beside; none where strings are too few for it.

    Parameters
    ----------
    original, published : Strings
    k, support : int
        Of the chain: symbols of fewer than k strings are not in it, pairs of fewer than k or `support` not followed.
    """
    rng = np.random.default_rng(0)
    some = sample(original.take(np.flatnonzero(original.lengths > 0)), MOST_SYMBOLS, rng)
    rows = rng.permutation(len(some))
    half = len(rows) // 2
    if half < max(FEWEST, k) or not len(published.symbols):
        return ()
    one, other = some.take(rows[:half]), some.take(rows[half : 2 * half])
    shown = published.take(rng.permutation(len(published))[:half])
    letters = replace(one, symbols=rng.permutation(one.symbols))
    sides = {"this release": shown, "other originals": other}
    try:
        chain = Condensation(k=k, support=support, generator="markov", copies="allow", seed=0, workers=1)
        sides["a Markov chain"] = chain.fit_transform(replace(one, labels=None, classes=()))
    except ShoalError:  # no k strings of lengths alike
        pass
    sides["symbols drawn independently"] = letters
    return tuple(
        Baseline(
            name,
            compare_composition(one, side).total_variation,
            _runs(one, side, 2),
            _runs(one, side, 3),
            adjacent_repeats(side),
            subsequences_kept(one, side),
        )
        for name, side in sides.items()
        if len(side.symbols)
    )


def _runs(one: Strings, other: Strings, width: int) -> float | None:
    try:
        return compare_k_mers(one, other, width).total_variation
    except ShoalError:  # strings too short, or an alphabet too large
        return None
