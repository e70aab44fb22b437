"""Records that are held out of a release, so that attacks have others to be compared on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from shoal.arrays import Ints
from shoal.errors import PolicyError
from shoal.kind import Dataset
from shoal.secrets import write_held_out

FEWEST = 10


Data = TypeVar("Data", bound=Dataset)


@dataclass(frozen=True)
class HeldOut(Generic[Data]):
    """Records that are not in the release.

    Attributes
    ----------
    records : Table, Strings or Sparse
    rows : int64 array, optional
        Where they stood in the data, if they were held out of it; None where they were given apart.
    """

    records: Data
    rows: Ints | None = None

    @property
    def counts(self) -> dict[str, int]:
        """What the numbers of records of a release say of them."""
        return {} if self.rows is None else {"held_out": len(self.rows)}

    def keep(self, private: Path) -> None:
        """Write down in `private/` which ones they are, by their rows, counted from 1."""
        if self.rows is not None:
            write_held_out(private, self.rows)


def hold_out(data: Data, share: float, seed: int | None, persons: Ints | None = None) -> tuple[Data, HeldOut[Data]]:
    """Split records at random: those to make a release from, and those to compare attacks on.

    Parameters
    ----------
    persons : int64 array, optional
        Whose each record is, numbered from 0: all records of a person are held out then or none, since one of whom the
        release holds a record is no stranger to it.

    Raises
    ------
    PolicyError
        If the share is not between 0 and 1, or too few would be held out to tell anything.
    """
    if not 0 < share < 1:
        raise PolicyError(f"the share to hold out is {share:g}; give one between 0 and 1, such as 0.1")
    n_records = len(data) if persons is None else int(persons.max(initial=-1)) + 1
    n_out = round(share * n_records)
    if min(n_out, n_records - n_out) < FEWEST:
        noun = "records" if persons is None else "persons"
        raise PolicyError(
            f"holding out {share:g} of {n_records:,} {noun} leaves fewer than {FEWEST} on one side; "
            f"give more {noun}, or another share"
        )
    # Apart from what the seed is used for in the release.
    rng = np.random.default_rng(None if seed is None else np.random.SeedSequence(seed, spawn_key=(0x686F,)))
    is_out = np.zeros(n_records, bool)
    is_out[rng.choice(n_records, n_out, replace=False)] = True
    kept, out = split_rows(data, np.flatnonzero(is_out if persons is None else is_out[persons]))
    return kept, out


def split_rows(data: Data, rows: Ints) -> tuple[Data, HeldOut[Data]]:
    """Split records where it is known which were held out."""
    is_out = np.zeros(len(data), bool)
    is_out[rows] = True
    return data.take(np.flatnonzero(~is_out)), HeldOut(data.take(np.flatnonzero(is_out)), np.flatnonzero(is_out))
