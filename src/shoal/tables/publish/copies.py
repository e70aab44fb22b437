"""Pseudo-records that happen to be originals: found among all originals, drawn again, and counted.

Equal is what a reader takes for equal: numbers and dates by value, categories whatever their spelling, a missing cell
like any other missing cell. A combination that at least k originals share is a crowd and no copy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints, Mask, Rows, Words
from shoal.data.tables.parse import parse_numbers
from shoal.data.tables.sense import sense_of
from shoal.tables.encoding import Ranked
from shoal.tables.groups import Groups, n_persons_in

Draw = Callable[[Rows], list[Floats]]

N_TRIES = 20


@dataclass(frozen=True)
class CopyReport:
    """What became of pseudo-records that equalled an original record on all condensed attributes.

    Attributes
    ----------
    n_records : int
        Pseudo-records.
    n_copies : int
        Copies among the first draws.
    n_redrawn : int
        Copies that a further draw mended.
    n_replaced : int
        Copies that all draws repeated; they became a second copy of another pseudo-record of their group.
    n_left : int
        Copies that could not be mended, as the group has no other pseudo-record. Do not publish these.
    n_crowd : int
        Pseudo-records that equal a combination held by as many originals as make a crowd.
    """

    n_records: int
    n_copies: int
    n_redrawn: int
    n_replaced: int
    n_left: int
    n_crowd: int

    def to_dict(self) -> dict[str, int]:
        """JSON-ready."""
        return asdict(self)


@dataclass(frozen=True)
class Originals:
    """The combinations that occur in the original, by a 64-bit hash, and which of them a crowd shares.

    Two combinations of one hash would make us draw again in vain, or count as one crowd; the check would find the
    latter.
    """

    ranked: tuple[Ranked, ...]
    codes: tuple[Ints, ...]  # of the rank of each value; equal for values that say the same
    hashes: Words
    is_crowd: Mask

    @classmethod
    def of(
        cls,
        ranked: Sequence[Ranked],
        crowd: int,
        types: Mapping[str, str] | None = None,
        missing: Literal["value", "any"] = "value",
        persons: Ints | None = None,
    ) -> Originals:
        """Count the combinations.

        Parameters
        ----------
        ranked : sequence of Ranked
            All originals, those that are not published too.
        crowd : int
            As many that share a combination are a crowd.
        types : mapping of name to type of attribute, optional
            By default categories are nominal.
        missing : {"value", "any"}
            Where a missing cell may hide any value, a combination with one is no crowd.
        persons : int64 array, optional
            Whose each original is: a crowd is then of persons.
        """
        codes = tuple(_codes(r, (types or {}).get(r.name, "nominal")) for r in ranked)
        each = _hashed([c[r.ranks] for c, r in zip(codes, ranked, strict=True)])
        hashes, first, place = np.unique(each, return_index=True, return_inverse=True)
        is_crowd = n_persons_in(place, persons, len(hashes)) >= crowd
        if missing == "any":
            gaps = np.any([np.isnan(r.positions)[r.ranks[first]] for r in ranked], axis=0)
            is_crowd &= ~gaps
        return cls(tuple(ranked), codes, hashes, is_crowd)

    def find(self, drawn: Floats, ranked: Sequence[Ranked]) -> tuple[Mask, Mask]:
        """Which pseudo-records equal an original, and which equal a crowd.

        Parameters
        ----------
        drawn : float64 array (n, n_attributes)
            Numbers, or ranks of categories; nan where missing.
        ranked : sequence of Ranked
            What those ranks mean.
        """
        keys, known = [], np.ones(len(drawn), dtype=bool)
        for cells, own, theirs, codes in zip(drawn.T, ranked, self.ranked, self.codes, strict=True):
            gap = np.isnan(cells)
            code = np.full(len(cells), -1, dtype=np.int64)
            if theirs.kind == "number":
                n_present = theirs.n_values - theirs.has_missing
                place = np.minimum(np.searchsorted(theirs.positions[:n_present], cells), max(n_present - 1, 0))
                hit = ~gap & (theirs.positions[place] == cells) if n_present else np.zeros(len(cells), dtype=bool)
                code[hit] = codes[place[hit]]
            else:
                code[~gap] = _translated(own, theirs, codes)[cells[~gap].astype(np.intp)]
            if theirs.has_missing:
                code[gap] = codes[-1]
            known &= code >= 0
            keys.append(code)
        hashes = _hashed(keys)
        at = np.minimum(np.searchsorted(self.hashes, hashes), max(len(self.hashes) - 1, 0))
        equal = known & (self.hashes[at] == hashes) if len(self.hashes) else np.zeros(len(drawn), dtype=bool)
        crowd = equal & self.is_crowd[at] if len(self.hashes) else equal
        return equal & ~crowd, crowd


def _codes(ranked: Ranked, type_: str) -> Ints:
    """One number for the ranks of values that say the same; the missing value has its own."""
    if ranked.kind == "number" or ranked.labels is None:
        return np.arange(ranked.n_values, dtype=np.int64)
    labels = ranked.labels[: ranked.n_values - ranked.has_missing]
    said: npt.NDArray[Any] | None
    if type_ == "ordinal":
        said = parse_numbers(labels)
        said = labels if said is None else said
    else:
        said = sense_of(labels, is_code=type_ == "prefix")
    codes = np.unique(said, return_inverse=True)[1].astype(np.int64)
    return np.append(codes, len(labels)) if ranked.has_missing else codes


def _translated(own: Ranked, theirs: Ranked, codes: Ints) -> Ints:
    """The code of each rank; -1 for a value that no original has."""
    if own is theirs or own.labels is None or theirs.labels is None:
        return codes
    of_label = dict(zip(theirs.labels.tolist(), codes.tolist(), strict=True))
    return np.array([of_label.get(label, -1) for label in own.labels.tolist()], dtype=np.int64)


def _hashed(codes: Sequence[Ints]) -> Words:
    key = np.zeros(len(codes[0]), dtype=np.uint64)
    for column in codes:
        key = (key ^ (column + 1).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return key


def without_copies(
    drawn: Floats, draw: Draw, originals: Originals, ranked: Sequence[Ranked], groups: Groups
) -> tuple[CopyReport, Mask]:
    """Draw copies again, in place; then put another pseudo-record of the group there; say which are left.

    What is left are whole groups: one pseudo-record that is no copy mends all others of its group.
    """
    n_rows = len(drawn)
    if not n_rows:
        return CopyReport(0, 0, 0, 0, 0, 0), np.zeros(0, dtype=bool)
    is_copy, is_crowd = originals.find(drawn, ranked)
    n_copies = int(is_copy.sum())
    for _ in range(N_TRIES):
        rows = np.flatnonzero(is_copy)
        if not len(rows):
            break
        drawn[rows] = np.column_stack(draw(rows))
        is_copy[rows], is_crowd[rows] = originals.find(drawn[rows], ranked)
    stubborn = np.flatnonzero(is_copy)
    some = np.full(len(groups.sizes), -1, dtype=np.intp)
    fine = np.flatnonzero(~is_copy)[::-1]
    some[groups.labels[fine]] = fine  # of several, the last written: the first row
    other = some[groups.labels[stubborn]]
    mended = other >= 0
    drawn[stubborn[mended]] = drawn[other[mended]]
    is_crowd[stubborn[mended]] = is_crowd[other[mended]]
    is_copy[stubborn[mended]] = False
    report = CopyReport(
        n_rows,
        n_copies,
        n_copies - len(stubborn),
        int(mended.sum()),
        int((~mended).sum()),
        int(is_crowd.sum()),
    )
    return report, is_copy
