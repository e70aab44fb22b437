"""Pseudonyms in a published table: whose records they say are of one person, and whether that is so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.arrays import Ints
from shoal.check.guarantee import count
from shoal.check.tables.compare_rows import Compared
from shoal.data.tables.dictionary import objects
from shoal.data.tables.table import Table

UNSEEN = (
    "that every pseudonym stands for one person, and every person for one pseudonym; keep the rows (--keep rows), and "
    "give --original and --private"
)


def apart(table: Table, name: str | None) -> tuple[Table, Ints | None]:
    """The table without its pseudonyms, and whose each record is by them; None where it has none."""
    if name is None or name not in table.columns:
        return table, None
    same = np.unique(objects(table[name].texts()), return_inverse=True)[1]
    whose = np.unique(same[table[name].codes], return_inverse=True)[1].astype(np.int64)
    return replace(table, columns={n: c for n, c in table.columns.items() if n != name}), whose


def compare_pseudonyms(pseudonyms: Ints, persons: Ints | None) -> Compared:
    """Whether pseudonyms and persons are paired off, given whose each record is, if that is known."""
    if persons is None:
        return Compared(not_compared=(UNSEEN,))
    findings = []
    for one, other, words in (
        (pseudonyms, persons, "pseudonym{} of several persons"),
        (persons, pseudonyms, "person{} of several pseudonyms"),
    ):
        pairs = np.unique(np.stack([one, other]), axis=1)
        n_several = int((np.unique(pairs[0], return_counts=True)[1] > 1).sum())
        if n_several:
            noun, of = words.split("{}")
            findings.append(f"{count(n_several, noun)}{of}")
    return Compared(tuple(findings))
