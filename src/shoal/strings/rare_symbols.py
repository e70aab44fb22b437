"""Symbols that few strings of a class hold, which may not be shown: what stands in their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.data.ragged import runs_of_rows
from shoal.data.strings.strings import Strings, take_strings
from shoal.kernels.strings.hash import count_holders


def without_rare_symbols(strings: Strings, rare: int) -> tuple[Strings, int, int]:
    """The strings without symbols that fewer than `rare` strings of their class hold; how many these were, and places.

    A token is taken out. A character is replaced by the one before it in its string (the first ones by what follows),
    so that what stands after it keeps its place; a string of rare characters only becomes empty. Where places have
    names, as columns have, the commonest symbol of its place in the class stands for a rare one, and where all of a
    place are rare that of the class.
    """
    if rare <= 1:
        return strings, 0, 0
    few = np.zeros((max(len(strings.classes), 1), len(strings.alphabet)), np.bool_)
    for label, rows in rows_by_class(strings):
        part = (strings.symbols, strings.starts)
        if strings.labels is not None:
            part = take_strings(*part, rows)
        holders = count_holders(*part, len(strings.alphabet))
        few[label] = (holders > 0) & (holders < rare)
    if not few.any():
        return strings, 0, 0
    runs = list(runs_of_rows(strings.starts))
    if strings.source.sites:
        commonest = _commonest(few, strings, runs)
        found = [_filled(few, commonest, strings, low, high) for low, high in runs]
    else:
        found = [without_few(few, strings, low, high) for low, high in runs]
    symbols = np.concatenate([f[0] for f in found])
    starts = np.concatenate([[0], np.cumsum(np.concatenate([f[1] for f in found]))]).astype(np.int64)
    return replace(strings, symbols=symbols, starts=starts), int(few.sum()), sum(f[2] for f in found)


def _commonest(few: Mask, strings: Strings, runs: Sequence[tuple[int, int]]) -> Codes:
    """For each class and named place the symbol that most strings have there of those that are not rare.

    Of several the first in the order of texts; -1 where a class has rare ones only.
    """
    n_sites, n_classes = len(strings.source.sites), len(few)
    known = np.array(sorted(np.flatnonzero(~few.all(axis=0)).tolist(), key=strings.alphabet.__getitem__), np.int64)
    counts = np.zeros((n_classes * n_sites, len(known)), np.int64)
    place_of = np.full(len(strings.alphabet), -1)
    place_of[known] = np.arange(len(known))
    for low, high in runs:
        symbols, label, site = _cells(strings, low, high)
        is_counted = ~few[label, symbols]
        key = (label * n_sites + site)[is_counted] * len(known) + place_of[symbols[is_counted]]
        counts += np.bincount(key, minlength=counts.size).reshape(counts.shape)
    if not len(known):
        return np.full((n_classes, n_sites), -1, np.int32)
    of_places = counts.reshape(n_classes, n_sites, -1)
    of_class = of_places.sum(axis=1)
    fallback = np.where(of_class.any(axis=1), known[of_class.argmax(axis=1)], -1)
    return np.where(of_places.any(axis=2), known[of_places.argmax(axis=2)], fallback[:, None]).astype(np.int32)


def _filled(few: Mask, commonest: Codes, strings: Strings, low: int, high: int) -> tuple[Codes, Ints, int]:
    """As `without_few`, of strings whose places have names."""
    symbols, label, site = _cells(strings, low, high)
    is_rare = few[label, symbols]
    made = np.where(is_rare, commonest[label, site], symbols)
    owner = np.repeat(np.arange(high - low), np.diff(strings.starts[low : high + 1]))
    return made[made >= 0], np.bincount(owner[made >= 0], minlength=high - low), int(is_rare.sum())


def _cells(strings: Strings, low: int, high: int) -> tuple[Codes, Ints, Ints]:
    """The symbols of some strings, the class of each, and which of the named places it has."""
    starts = strings.starts[low : high + 1]
    symbols = strings.symbols[starts[0] : starts[-1]]
    owner = np.repeat(np.arange(high - low), np.diff(starts))
    label = np.zeros(len(symbols), np.int64) if strings.labels is None else strings.labels[low:high][owner].astype(int)
    return symbols, label, (np.arange(len(symbols)) + starts[0] - starts[owner]) % len(strings.source.sites)


def without_few(few: Mask, strings: Strings, low: int, high: int) -> tuple[Codes, Ints, int]:
    """Some strings without the symbols that few of their class hold: symbols, lengths, and in how many places.

    `few` tells of each class and each symbol whether few strings of the class hold it. Places have no names.
    """
    starts = strings.starts[low : high + 1] - strings.starts[low]
    symbols = own = strings.symbols[strings.starts[low] : strings.starts[high]]
    owner = np.repeat(np.arange(high - low), np.diff(starts))
    is_rare = few[0][own] if strings.labels is None else few[strings.labels[low:high][owner], own]
    n_places = int(is_rare.sum())
    if not strings.is_tokens and n_places:
        places = np.arange(len(own))
        before = np.maximum.accumulate(np.where(is_rare, -1, places))
        after = np.minimum.accumulate(np.where(is_rare, len(own), places)[::-1])[::-1]
        for other in (before, np.minimum(after, len(own) - 1)):
            is_filled = is_rare & (other >= 0) & ~is_rare[other] & (owner[other] == owner)
            symbols = np.where(is_filled, own[other], symbols)
            is_rare &= ~is_filled
    return symbols[~is_rare], np.bincount(owner[~is_rare], minlength=high - low), n_places


def rows_by_class(strings: Strings) -> list[tuple[int, Ints]]:
    """The classes, and the rows of each; without classes all rows are of one."""
    return rows_by_label(strings.labels, len(strings), len(strings.classes))


def rows_by_label(labels: Codes | None, n: int, n_classes: int) -> list[tuple[int, Ints]]:
    """The same of so many strings by their labels."""
    if labels is None:
        return [(0, np.arange(n))]
    order = np.argsort(labels, kind="stable")
    return list(enumerate(np.split(order, np.searchsorted(labels[order], np.arange(1, n_classes)))))
