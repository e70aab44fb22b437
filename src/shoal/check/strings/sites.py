"""Whether the variants that a release lists are common enough to be listed, counted anew from the originals.

A variant that hardly anybody carries tells by being listed that somebody was there. So each one must have both its
alleles, the reference and the other, in as many persons as a symbol needs that is shown. So it is with a column of a
matrix in which hardly anybody has another value than the rest.
"""

from __future__ import annotations

import numpy as np

from shoal.data.strings.strings import Strings

NO_VALUE = "NA"  # how a cell without one is read


def rarely_carried(original: Strings, rare: int) -> int:
    """How many of the variants that originals are written at have an allele that fewer than `rare` persons carry.

    Of a matrix, how many columns have not two values, other than none, that as many persons hold each.

    Parameters
    ----------
    original : Strings
        With the variants of the release, of the persons that it was made from.
    rare : int
    """
    n_sites = len(original.source.sites)
    person = np.repeat(np.arange(len(original)), original.lengths)
    place = (np.arange(len(original.symbols)) - original.starts[:-1][person]) % n_sites
    if original.source.format == "matrix":
        n_held = np.zeros(n_sites, np.int64)
        for code, symbol in enumerate(original.alphabet):
            if symbol != NO_VALUE:
                n_held += np.bincount(place[original.symbols == code], minlength=n_sites) >= max(rare, 1)
        return int((n_held < 2).sum())
    n_few = np.zeros(n_sites, bool)
    for allele in ("0", "1"):
        has = np.array([allele in symbol.replace("|", "/").split("/") for symbol in original.alphabet])
        carried = np.unique(person[has[original.symbols]] * n_sites + place[has[original.symbols]])
        n_few |= np.bincount(carried % n_sites, minlength=n_sites) < rare
    return int(n_few.sum())
