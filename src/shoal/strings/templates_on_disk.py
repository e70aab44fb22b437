"""Templates of strings that are in a file: each is made when it is asked for, the same as of strings that are held."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.data.strings import on_disk
from shoal.data.strings.on_disk import StringsOnDisk
from shoal.errors import Infeasible
from shoal.kernels.strings.templates import find_features
from shoal.strings.templates import MANY_STRINGS, Templates, TemplatesOnDemand, mean_length, numbered, templates_of


@dataclass(frozen=True)
class TemplatesOnDisk(TemplatesOnDemand):
    """The templates of a segment in a file.

    Attributes
    ----------
    strings : StringsOnDisk
        Its strings.
    places : int64 array, optional
        Where each stands in the file, if not in the order of the segment.
    most : int
        How many symbols may be held at once.
    """

    strings: StringsOnDisk
    most: int
    places: Ints | None = None

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Templates:
        """Some of the templates, in the given order."""
        found = self.strings.take(rows if self.places is None else self.places[rows])
        return self._made(found.symbols, found.starts)

    @property
    def at_once(self) -> int:
        """Of how many strings templates may be held at once."""
        return max(min(MANY_STRINGS, on_disk.SYMBOLS_AT_ONCE // self.length), 1)

    def part(self, rows: Ints) -> tuple[TemplatesOnDemand, Ints]:
        """Templates that some rows can be taken from, and which rows there; many are put beside each other."""
        if len(rows) <= self.at_once:
            return self, rows
        strings = self.strings.in_order(rows if self.places is None else self.places[rows])
        return replace(self, strings=strings, starts=strings.starts, places=None), np.arange(len(rows))

    def whole(self) -> Templates:
        """All of them.

        Raises
        ------
        Infeasible
            If they are too many to be held.
        """
        if self.strings.n_symbols > self.most:
            raise Infeasible(
                f"groups grow to all {len(self):,} strings of a range of lengths, which do not fit into the bound: "
                "raise memory or leave it out"
            )
        return super().whole()

    def by_blocks(self, blocks: list[Ints]) -> TemplatesOnDisk:
        """The same with the strings of each block beside each other.

        Raises
        ------
        Infeasible
            If a block is too large to be held.
        """
        rows = np.concatenate(blocks)
        largest = max(int(self.lengths[block].sum()) for block in blocks)
        if largest > self.most:
            raise Infeasible(
                f"{len(blocks[0]):,} strings that are grouped together have {largest:,} symbols, which do not fit into "
                "the bound: raise memory or leave it out"
            )
        places = np.empty(len(rows), np.int64)
        places[rows] = np.arange(len(rows))
        return replace(self, strings=self.strings.in_order(rows), places=places)


def templates_on_disk(strings: StringsOnDisk, most: int) -> Templates | TemplatesOnDemand:
    """As `templates_of` makes them of strings that are held, which few are.

    Raises
    ------
    Infeasible
        If the table of symbols by positions is too large.
    """
    if strings.n_symbols <= min(on_disk.SYMBOLS_AT_ONCE, most):
        held = strings.part(0, len(strings))
        return templates_of(held.symbols, held.starts)
    lengths = strings.lengths
    L, n_symbols = mean_length(lengths), len(strings.alphabet)
    if L * n_symbols > most:
        raise Infeasible(
            f"strings of {L:,} symbols of {n_symbols:,} different ones need a table that does not fit into the bound: "
            "raise memory or leave it out"
        )
    is_even = bool((lengths == L).all())
    widest = 2 if is_even else int(lengths.max()) // L + 2
    first = np.full((L, n_symbols), -1, np.int64)
    for low, high in strings.runs():
        part = strings.part(low, high)
        here = np.full((L, n_symbols), -1, np.int64)
        find_features(part.symbols, part.starts, L, widest, here)
        is_new = (first < 0) & (here >= 0)
        first[is_new] = here[is_new] + low * widest
    nothing = np.zeros(0, np.int32)
    return TemplatesOnDisk(L, nothing, strings.starts, widest, is_even, *numbered(first), strings, most)
