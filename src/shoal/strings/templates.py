"""Templates: strings of one segment brought to one length, ConvertLength.

Position i of the template of a string of length L_j covers ``[(i-1) * L_j / L, i * L_j / L)`` of the string; each
symbol gets the share of the window that it covers. Shares are whole multiples of ``1 / L_j`` and are computed as
such, so no rounding decides whether a symbol is touched.

References
----------
C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and Knowledge
Discovery 16(3), 2008, section 3 and Fig. 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints, Singles
from shoal.data.strings.strings import take_strings
from shoal.kernels.strings.templates import count_entries, fill_numbered, fill_templates, find_features

MANY_STRINGS = 1 << 16
"""Templates of more strings, which take ten times the memory of these, are made when they are asked for."""


@dataclass(frozen=True)
class Templates:
    """The templates of one segment, sparse: a row a string, an entry for each symbol that a position holds.

    Attributes
    ----------
    length : int
        The number of positions, L.
    starts : int64 array (n + 1,)
        Where the entries of each template begin; they stand in the order of the positions.
    features : int32 array
        The feature (a symbol at a position) of each entry.
    weights : float32 array
        The share of each entry; those of a position add up to 1. Empty where all strings have the length L: then
        every position holds one symbol, with weight 1.
    feature_symbols : int32 array (n_features,)
        The symbol code of each feature.
    position_starts : int64 array (L + 1,)
        The features of position i are numbered from ``position_starts[i]`` to ``position_starts[i + 1] - 1``.
    lengths : int64 array (n,)
        The lengths of the strings themselves.
    """

    length: int
    starts: Ints
    features: Codes
    weights: Singles
    feature_symbols: Codes
    position_starts: Ints
    lengths: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def n_features(self) -> int:
        """How many symbols there are at all positions together."""
        return len(self.feature_symbols)

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Templates:
        """Some of the templates, in the given order; features keep their numbers."""
        features, starts = take_strings(self.features, self.starts, rows)
        weights = self.weights
        if len(weights):
            weights = take_strings(weights.view(np.int32), self.starts, rows)[0].view(np.float32)
        return replace(self, starts=starts, features=features, weights=weights, lengths=self.lengths[rows])

    def whole(self) -> Templates:
        """All of them: these."""
        return self

    def shortened(self, most: int) -> Templates:
        """The same templates, or of longer ones at most so many positions, evenly spread over those that vary."""
        if self.length <= most:
            return self
        n_features = np.diff(self.position_starts)
        varied = np.flatnonzero(n_features > 1)
        kept = varied[np.linspace(0, len(varied) - 1, min(most, len(varied))).astype(np.int64)] if len(varied) else [0]
        is_kept = np.zeros(self.length, bool)
        is_kept[kept] = True
        has_feature = np.repeat(is_kept, n_features)
        has_entry = has_feature[self.features]
        return replace(
            self,
            length=int(is_kept.sum()),
            starts=np.concatenate([[0], np.cumsum(has_entry)])[self.starts].astype(np.int64),
            features=(np.cumsum(has_feature) - 1).astype(np.int32)[self.features[has_entry]],
            weights=self.weights[has_entry] if len(self.weights) else self.weights,
            feature_symbols=self.feature_symbols[has_feature],
            position_starts=np.concatenate([[0], np.cumsum(n_features[is_kept])]).astype(np.int64),
        )

    def frequencies(self, row: int, position: int) -> dict[int, float]:
        """The shares of the symbols at one position (from 0 on) of one template."""
        entries = np.arange(self.starts[row], self.starts[row + 1])
        of_row = self.features[entries]
        low, high = self.position_starts[position], self.position_starts[position + 1]
        entries = entries[(of_row >= low) & (of_row < high)]
        shares = self.weights[entries] if len(self.weights) else np.ones(len(entries), np.float32)
        symbols = self.feature_symbols[self.features[entries]]
        return dict(zip(symbols.tolist(), shares.tolist(), strict=True))


@dataclass(frozen=True)
class TemplatesOnDemand:
    """The templates of a large segment, each made from its string when it is asked for; the same as `Templates`.

    Attributes
    ----------
    length : int
        The number of positions, L.
    symbols, starts : arrays
        The strings of the segment.
    widest : int
        How many symbols a position can hold.
    is_even : bool
        Whether all strings of the segment have the length L, so that there are no weights.
    numbers : int32 array (L, n_symbols)
        The feature of each symbol at each position; -1 where it never stands there.
    feature_symbols, position_starts : arrays
        As in `Templates`.
    """

    length: int
    symbols: Codes
    starts: Ints
    widest: int
    is_even: bool
    numbers: Codes
    feature_symbols: Codes
    position_starts: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Ints:
        """The lengths of the strings themselves."""
        return np.diff(self.starts)

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Templates:
        """Some of the templates, in the given order."""
        return self._made(*take_strings(self.symbols, self.starts, rows))

    @property
    def at_once(self) -> int:
        """Of how many strings templates may be held at once."""
        return MANY_STRINGS

    def part(self, rows: Ints) -> tuple[TemplatesOnDemand, Ints]:
        """Templates that some rows can be taken from, and which rows there."""
        return self, rows

    def _made(self, symbols: Codes, starts: Ints) -> Templates:
        n = len(starts) - 1
        if self.is_even:
            entry_starts, weights = np.arange(n + 1, dtype=np.int64) * self.length, np.zeros(0, np.float32)
        else:
            entry_starts = count_entries(symbols, starts, self.length, self.widest)
            weights = np.empty(entry_starts[-1], np.float32)
        features = np.empty(entry_starts[-1], np.int32)
        fill_numbered(symbols, starts, self.length, self.widest, self.numbers, entry_starts, features, weights)
        return Templates(
            self.length, entry_starts, features, weights, self.feature_symbols, self.position_starts, np.diff(starts)
        )

    def whole(self) -> Templates:
        """All of them."""
        return self.take(np.arange(len(self)))

    def of_strings(self, symbols: Codes, starts: Ints) -> TemplatesOnDemand:
        """The same of other strings of the segment, or of these in another order."""
        return replace(self, symbols=symbols, starts=starts)


def templates_of(symbols: Codes, starts: Ints) -> Templates | TemplatesOnDemand:
    """Bring strings to one length; of many, none of them empty, when they are asked for.

    That needs a table of the symbols at all positions, so alphabets that are not far smaller than the data are
    converted as a whole.
    """
    lengths = np.diff(starts)
    L, n_symbols = mean_length(lengths), int(symbols.max()) + 1
    if len(lengths) <= MANY_STRINGS or L * n_symbols > len(symbols):
        return convert_lengths(symbols, starts)
    is_even = bool((lengths == L).all())
    widest = 2 if is_even else int(lengths.max()) // L + 2
    first = np.full((L, n_symbols), -1, np.int64)
    find_features(symbols, starts, L, widest, first)
    return TemplatesOnDemand(L, symbols, starts, widest, is_even, *numbered(first))


def numbered(first: Ints) -> tuple[Codes, Codes, Ints]:
    """The features by where each symbol comes first at each position: see `TemplatesOnDemand`."""
    L = len(first)
    position, symbol = np.nonzero(first >= 0)
    order = np.lexsort((first[position, symbol], position))
    numbers = np.full(first.shape, -1, np.int32)
    numbers[position[order], symbol[order]] = np.arange(len(order), dtype=np.int32)
    position_starts = np.searchsorted(position, np.arange(L + 1)).astype(np.int64)
    return numbers, symbol[order].astype(np.int32), position_starts


def mean_length(lengths: Ints) -> int:
    """The mean length, rounded up."""
    return int(-(-int(lengths.sum()) // len(lengths)))


def convert_lengths(symbols: Codes, starts: Ints, length: int | None = None) -> Templates:
    """Bring strings to one length.

    Parameters
    ----------
    symbols, starts : arrays
        Strings as in `shoal.data.strings.strings.Strings`; none is empty.
    length : int, optional
        The length L; else the mean length, rounded up.
    """
    lengths = np.diff(starts)
    L = mean_length(lengths) if length is None else length
    longest = int(lengths.max())
    n_symbols = int(symbols.max()) + 1
    if bool((lengths == L).all()):
        entry_starts, weights = np.arange(len(lengths) + 1, dtype=np.int64) * L, np.zeros(0, np.float32)
        widest = 2
    else:
        widest = longest // L + 2
        entry_starts = count_entries(symbols, starts, L, widest)
        weights = np.empty(entry_starts[-1], np.float32)
    features = np.empty(entry_starts[-1], np.int32)
    position_starts = np.empty(L + 1, np.int64)
    feature_symbols = np.empty(entry_starts[-1], np.int32)
    n_features = fill_templates(
        symbols, starts, L, widest, n_symbols, entry_starts, features, weights, feature_symbols, position_starts
    )
    return Templates(L, entry_starts, features, weights, feature_symbols[:n_features].copy(), position_starts, lengths)
