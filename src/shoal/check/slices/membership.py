"""Does a sliced table tell who is in it? How many buckets match people of the original, and people who do not exist.

The fewer people outside match a bucket, and the fewer buckets match a person inside, the more does a match say. Where
nobody is protected, all originals match one bucket and all fakes none.

A fake record is put together from the original: in every slice the quasi-identifiers of another record, so that each
slice alone looks true and only their combination never was. These are the fakes that slicing promises to hide the
originals among; records whose values are all drawn apart ("independent") are far easier to tell. They are what is left
where one slice holds all quasi-identifiers, and what to ask for to compare tables of different forms. Fakes that are in
the original by chance are left out.

References
----------
T. Li, N. Li, J. Zhang, I. Molloy, "Slicing: a new approach for privacy preserving data publishing", IEEE Transactions
on Knowledge and Data Engineering 24(3), 2012, sections 5 and 6.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from shoal.arrays import Ints
from shoal.check.slices.matching import Finder, match_records
from shoal.check.slices.sliced import numbered, sliced_of
from shoal.check.tables.classes import Missing
from shoal.data.tables.slices import SlicedTable
from shoal.data.tables.table import MARKERS, Table

Fakes = Literal["recombined", "independent"]

BINS = ("0", "1", "2-5", "6-10", "more than 10")
_EDGES = np.array([1, 2, 6, 11])


@dataclass(frozen=True)
class Membership:
    """Matching buckets of people inside and outside the table.

    Attributes
    ----------
    bins : tuple of str
        Numbers of matching buckets.
    originals, fakes : tuple of float
        The share of the records in each bin; all 0 where there are none.
    n_originals, n_fakes : int
        Records of the original, and fakes that were made.
    how : {"recombined", "independent"}
        How the fakes were made.
    """

    bins: tuple[str, ...]
    originals: tuple[float, ...]
    fakes: tuple[float, ...]
    n_originals: int
    n_fakes: int
    how: Fakes

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "matching_buckets": list(self.bins),
            "originals": list(self.originals),
            "fakes": list(self.fakes),
            "n_originals": self.n_originals,
            "n_fakes": self.n_fakes,
            "how": self.how,
        }


def membership(
    published: SlicedTable,
    original: Table,
    *,
    missing: Missing = "value",
    markers: Sequence[str] = MARKERS,
    fakes: Fakes | None = None,
    n_fakes: int = 10_000,
    seed: int = 0,
) -> Membership:
    """Count the matching buckets of the published records, and of fakes made from them.

    Parameters
    ----------
    published, original, missing, markers
        As for `shoal.check.slices.matching.matching`.
    fakes : {"recombined", "independent"}, optional
        Slices of different records, or every value drawn apart; by default the first where there are two slices with
        quasi-identifiers.
    n_fakes : int
        How many to try; the more look like an original, the fewer are left.
    seed : int
        For the fakes; it has nothing to do with the seed of the release.
    """
    sliced = sliced_of(published, markers)
    rng = np.random.default_rng(seed)
    groups = [part.quasi for part in sliced.parts if part.quasi]
    how: Fakes = fakes or ("recombined" if len(groups) > 1 else "independent")
    if how == "independent":
        groups = [(name,) for group in groups for name in group]
    drawn = {}
    for group in groups:
        places = rng.integers(original.n_rows, size=n_fakes)
        drawn.update({name: original[name].codes[places] for name in group})
    names = [name for group in groups for name in group]
    # One table of both, so that they are looked up by the same dictionaries.
    both = Table.of(
        replace(original[name], codes=np.concatenate([original[name].codes, drawn[name]]).astype(np.int32))
        for name in names
    )
    ids, _ = numbered([both[name].codes for name in names])
    known, made = ids[: original.n_rows], ids[original.n_rows :]
    is_fake = ~np.isin(made, known)
    found = match_records(Finder(sliced, both, published.attributes, missing, markers))
    n_matching = found.n_matching[found.of_record]
    return Membership(
        BINS,
        _shares(n_matching[: original.n_rows]),
        _shares(n_matching[original.n_rows :][is_fake]),
        original.n_rows,
        int(is_fake.sum()),
        how,
    )


def _shares(n_matching: Ints) -> tuple[float, ...]:
    counts = np.bincount(np.searchsorted(_EDGES, n_matching, "right"), minlength=len(BINS))
    return tuple((counts / max(1, len(n_matching))).tolist())
