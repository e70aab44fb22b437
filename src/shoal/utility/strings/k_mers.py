"""k-mer profiles: how often each run of k symbols occurs, before and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Ints
from shoal.data.strings.strings import Strings
from shoal.errors import DataError, PolicyError
from shoal.utility.measured import Measured
from shoal.utility.strings.codes import in_one_alphabet

MOST_COUNTED = 4_000_000  # k-mers that are possible; where there are more, only those that occur are counted


@dataclass(frozen=True)
class KMers(Measured):
    """Two profiles of k-mers.

    Attributes
    ----------
    width : int
        The k of the k-mers.
    total_variation : float
        ``1/2 sum |f - f'|`` over all k-mers, between 0 and 1.
    cosine : float
        ``1 - f . f' / (|f| |f'|)``, between 0 (the same profile) and 1.
    n_before, n_after, n_shared : int
        Distinct k-mers on either side, and on both.
    """

    width: int
    total_variation: float
    cosine: float
    n_before: int
    n_after: int
    n_shared: int


def compare_k_mers(original: Strings, published: Strings, width: int = 2) -> KMers:
    """Compare the shares of all k-mers of a width; they never reach over the end of a string.

    Total variation does not go to 0 with equal sources while k-mers are many against the data: two halves of the
    original differ too.

    Examples
    --------
    >>> found = compare_k_mers(Strings.of(["abab"]), Strings.of(["abc"]))
    >>> found.n_shared, round(found.total_variation, 3)
    (1, 0.5)

    References
    ----------
    B. E. Blaisdell, "A measure of the similarity of sets of sequences not requiring sequence alignment", PNAS 83(14),
    1986.
    """
    if width < 1:
        raise PolicyError(f"k-mers of {width} symbols are not possible; give 1 or more")
    before, after = in_one_alphabet(original, published)
    if len(before.alphabet) ** width >= 2**62:
        raise PolicyError(
            f"k-mers of {width} symbols of an alphabet of {len(before.alphabet):,} are too many; give a smaller width"
        )
    keys = [_keys(s, width) for s in (before, after)]
    if not len(keys[0]) or not len(keys[1]):
        raise DataError(f"all strings of one side are shorter than {width}; give a smaller width")
    n_possible = len(before.alphabet) ** width
    if n_possible > MOST_COUNTED:
        known, place = np.unique(np.concatenate(keys), return_inverse=True)
        keys, n_possible = [place[: len(keys[0])], place[len(keys[0]) :]], len(known)
    f, g = (np.bincount(k, minlength=n_possible) / len(k) for k in keys)
    return KMers(
        width,
        float(np.abs(f - g).sum() / 2),
        max(1 - float((f @ g) / np.sqrt((f @ f) * (g @ g))), 0.0),
        int((f > 0).sum()),
        int((g > 0).sum()),
        int(((f > 0) & (g > 0)).sum()),
    )


def _keys(strings: Strings, width: int) -> Ints:
    """A number for each k-mer of each string."""
    n = max(len(strings.symbols) - width + 1, 0)
    keys = np.zeros(n, np.int64)
    for d in range(width):
        keys *= len(strings.alphabet)
        keys += strings.symbols[d : d + n]
    owner = np.repeat(np.arange(len(strings)), strings.lengths)
    return np.asarray(keys[owner[:n] == owner[width - 1 : width - 1 + n]])
