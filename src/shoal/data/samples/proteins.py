"""Protein-like families made in code, for the demo, tests and benchmarks: none of them exists.

Each family has an ancestor of letters drawn by their frequency in real proteins. A member is the ancestor with letters
substituted, inserted and deleted, each place at its own rate, so that some stretches are kept and others drift. All
begin with M, as translation does.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.data.strings.strings import Strings, StringSource, take_strings
from shoal.engine.seeds import spawn_seeds
from shoal.errors import PolicyError

# Per mille of the 11.4 million residues of yeast, mouse and human proteins in Swiss-Prot (January 2014), counted by us.
_PER_MILLE = {
    "A": 68.2,
    "C": 21.7,
    "D": 49.2,
    "E": 69.5,
    "F": 37.9,
    "G": 63.7,
    "H": 25.4,
    "I": 46.2,
    "K": 58.5,
    "L": 99.5,
    "M": 21.4,
    "N": 39.2,
    "P": 59.9,
    "Q": 46.4,
    "R": 54.7,
    "S": 84.4,
    "T": 54.3,
    "V": 60.0,
    "W": 12.0,
    "Y": 27.8,
}
_LETTERS = tuple(_PER_MILLE)
_LONGEST_INSERTION = 10
_PLACES_AT_ONCE = 1 << 21


def protein_families(
    n: int,
    *,
    n_families: int = 5,
    mean_length: float = 350.0,
    spread: float = 0.5,
    substitution: float = 0.3,
    insertion: float = 0.01,
    deletion: float = 0.01,
    unevenness: float = 1.0,
    seed: int | np.random.SeedSequence | None = None,
) -> Strings:
    """Make n protein-like strings in families, which are their classes, in random order.

    Parameters
    ----------
    n : int
        How many strings; every family has the same number, or one more.
    mean_length, spread : float
        The ancestors' lengths are log-normal with this mean; `spread` is the standard deviation of their logarithm.
    substitution, insertion, deletion : float
        The mean chance, for each place of the ancestor, that its letter is drawn anew, that a run of 1 to 10 letters
        comes after it, and that it is missing.
    unevenness : float
        How much the rate of substitution differs from place to place: 0 not at all; else the rates are
        gamma-distributed with this variance around a mean of 1.

    Examples
    --------
    >>> proteins = protein_families(100, n_families=4, seed=1)
    >>> len(proteins), proteins.classes
    (100, ('family 1', 'family 2', 'family 3', 'family 4'))
    """
    if n < 1 or n_families < 1 or mean_length < 1 or min(spread, unevenness) < 0:
        raise PolicyError("the numbers of strings and families and the mean length are at least 1, the spreads 0")
    if not all(0 <= rate < 1 for rate in (substitution, insertion, deletion)):
        raise PolicyError("the rates of substitution, insertion and deletion are from 0 to below 1")
    n_families = min(n_families, n)
    of_ancestors, of_members = spawn_seeds(seed, 2)
    rng = np.random.default_rng(of_ancestors)
    lengths = rng.lognormal(np.log(mean_length) - spread**2 / 2, spread, n_families)
    lengths = np.maximum(1, np.rint(lengths)).astype(np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    ancestors = _draw_letters(rng, int(starts[-1]))
    ancestors[starts[:-1]] = _LETTERS.index("M")
    rates = rng.gamma(1 / unevenness, unevenness, len(ancestors)) if unevenness else np.ones(len(ancestors))
    rng = np.random.default_rng(of_members)
    family = rng.permutation(np.arange(n, dtype=np.int32) % n_families)
    places = np.arange(len(ancestors), dtype=np.int32)
    at_once = max(1, int(_PLACES_AT_ONCE // lengths.mean()))
    parts: list[Codes] = []
    counts: list[Ints] = []
    for begin in range(0, n, at_once):
        chosen, member_starts = take_strings(places, starts, family[begin : begin + at_once])
        letters = ancestors[chosen]
        is_changed = rng.random(len(letters)) < substitution * rates[chosen]
        is_changed[member_starts[:-1]] = False
        letters[is_changed] = _draw_letters(rng, int(is_changed.sum()))
        part, part_starts = _insert_and_delete(rng, letters, member_starts, insertion, deletion)
        parts.append(part)
        counts.append(np.diff(part_starts))
    new_starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(counts))])
    digits = len(str(n_families))
    classes = tuple(f"family {i + 1:0{digits}d}" for i in range(n_families))
    source = StringSource("proteins", "fasta", alphabet="protein")
    return Strings(np.concatenate(parts), new_starts, _LETTERS, False, family, classes, source)


def _insert_and_delete(
    rng: np.random.Generator, letters: Codes, starts: Ints, insertion: float, deletion: float
) -> tuple[Codes, Ints]:
    """Every letter as often as it is then there: 0 times where it is deleted, more where letters come after it."""
    n_after = np.where(
        rng.random(len(letters)) < insertion, rng.integers(1, _LONGEST_INSERTION, len(letters), endpoint=True), 0
    )
    is_there = rng.random(len(letters)) >= deletion
    is_there[starts[:-1]] = True  # no string becomes empty
    times = n_after + is_there
    ends = np.cumsum(times)
    out = np.repeat(letters, times)
    is_new = np.ones(len(out), dtype=bool)
    is_new[(ends - times)[is_there]] = False
    out[is_new] = _draw_letters(rng, int(is_new.sum()))
    return out, np.concatenate([np.zeros(1, np.int64), ends])[starts]


def _draw_letters(rng: np.random.Generator, n: int) -> Codes:
    shares = np.cumsum(list(_PER_MILLE.values()))
    drawn = np.searchsorted(shares / shares[-1], rng.random(n), side="right")
    return np.minimum(drawn, len(_LETTERS) - 1).astype(np.int32)
