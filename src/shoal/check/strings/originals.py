"""The originals as a check of strings sees them: in one alphabet with the published ones, and without rare symbols."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from shoal.arrays import Ints, Mask, Words
from shoal.data.ragged import distinct
from shoal.data.strings.on_disk import SomeStrings
from shoal.data.strings.strings import Strings

GAPS = ("-", ".")
BATCH_SYMBOLS = 500_000  # a few MB, which the processor keeps at hand
_OF_PLACES = np.uint64(1 << 41)
DENSE = 4  # cells for each symbol, up to which a table is filled and nothing sorted


def in_alphabet_of(original: Strings, published: Strings) -> Strings:
    """The published strings in the codes of the original; symbols that it does not have get codes beyond its own."""
    code_of = {symbol: code for code, symbol in enumerate(original.alphabet)}
    strangers = tuple(s for s in published.alphabet if s not in code_of)
    code_of.update({symbol: len(original.alphabet) + i for i, symbol in enumerate(strangers)})
    codes = np.array([code_of[s] for s in published.alphabet], dtype=np.int32)
    is_same = np.array_equal(codes, np.arange(len(codes)))
    symbols = published.symbols if is_same or not len(published.symbols) else codes[published.symbols]
    return replace(published, symbols=symbols, alphabet=(*original.alphabet, *strangers))


def shared_labels(original: Strings, published: Strings) -> tuple[Ints, Ints]:
    """The class of each original and each published string, numbered alike; 0 where neither has classes.

    A published class that the original does not have, or none where it has some, is -1.
    """
    if original.labels is None and published.labels is None:
        return np.zeros(len(original), np.int64), np.zeros(len(published), np.int64)
    if original.labels is None or published.labels is None:
        return np.zeros(len(original), np.int64), np.full(len(published), -1, np.int64)
    place = {name: i for i, name in enumerate(original.classes)}
    codes = np.array([place.get(name, -1) for name in published.classes], dtype=np.int64)
    shown = codes[published.labels] if len(published) else np.zeros(0, np.int64)
    return original.labels.astype(np.int64), shown


def count_holders(strings: Strings, labels: Ints) -> Ints:
    """How many strings of each class hold each symbol: an array (n_classes, n_symbols)."""
    n_symbols = max(len(strings.alphabet), 1)
    n_classes = int(labels.max(initial=0)) + 1
    holders = np.zeros(n_classes * n_symbols, np.int64)
    for rows in batches(strings.lengths):
        part = strings.take(rows)
        pair = np.repeat(np.arange(len(part)) * n_symbols, part.lengths) + part.symbols
        if len(part) * n_symbols <= DENSE * len(pair):
            is_held = np.zeros(len(part) * n_symbols, bool)
            is_held[pair] = True
            held = np.flatnonzero(is_held)
        else:
            held = distinct(pair)
        holders += np.bincount(labels[rows[held // n_symbols]] * n_symbols + held % n_symbols, minlength=len(holders))
    return holders.reshape(n_classes, n_symbols)


def without_gaps(strings: Strings) -> Strings:
    """The strings without the gap signs of an alignment, where symbols are characters."""
    is_gap = np.array([symbol in GAPS for symbol in strings.alphabet] + [False])
    if strings.is_tokens or not is_gap.any():
        return strings
    is_kept = ~is_gap[strings.symbols]
    starts = np.concatenate([[0], np.cumsum(is_kept)]).astype(np.int64)[strings.starts]
    return replace(strings, symbols=strings.symbols[is_kept], starts=starts)


def own_strings(original: Strings, bare: Strings, k: int) -> tuple[Strings, Strings]:
    """The originals, and those without rare symbols, that fewer than k rows hold, without gaps.

    What at least k rows are, as they came in or without rare symbols, is nobody's own; each side is counted for itself.
    A string of the second side is left out if it is the same one on the first.
    """
    sides = [without_gaps(original)] if bare is original else [without_gaps(original), without_gaps(bare)]
    keys, is_own = [], []
    for side in sides:
        keys.append(np.column_stack([string_words(side), side.lengths.astype(np.uint64)]))
        _, which, counts = np.unique(keys[-1], axis=0, return_inverse=True, return_counts=True)
        is_own.append((counts[which.ravel()] < k) & (side.lengths > 0))
    is_own[-1] &= ~is_own[0] | (keys[-1] != keys[0]).any(axis=1) if len(sides) > 1 else True
    own = [side if rows.all() else side.take(np.flatnonzero(rows)) for side, rows in zip(sides, is_own, strict=True)]
    return own[0], own[-1]


def string_words(strings: SomeStrings) -> Words:
    """A 64-bit word of the symbols of each string and their places."""
    words = [np.zeros(0, np.uint64)]
    for rows in batches(strings.lengths):
        part = strings.take(rows)
        within = np.arange(len(part.symbols)) - np.repeat(part.starts[:-1], part.lengths)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(placed_terms(part, within))])
        words.append(sums[part.starts[1:]] - sums[part.starts[:-1]])
    return np.concatenate(words)


def batches(lengths: Ints, n_symbols: int = BATCH_SYMBOLS) -> Iterator[Ints]:
    """Rows in runs of about so many symbols."""
    parcel = np.cumsum(lengths) // n_symbols
    cuts = np.flatnonzero(np.diff(parcel)) + 1
    return (part for part in np.split(np.arange(len(lengths)), cuts) if len(part))


def placed_terms(strings: Strings, places: Ints) -> Words:
    """A 64-bit word of each symbol at a place: that of the symbol times an odd one of the place."""
    keys = mixed(np.arange(1, len(strings.alphabet) + 1).astype(np.uint64))
    factors = mixed(np.arange(int(places.max(initial=0)) + 1).astype(np.uint64) + _OF_PLACES) | np.uint64(1)
    terms = keys[strings.symbols]
    terms *= factors[places]
    return terms


def mixed(words: Words) -> Words:
    """Splitmix64: any two words that differ, however little, look unrelated (Steele, Lea, Flood, OOPSLA 2014)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))


def without_rare(strings: Strings, labels: Ints, rare: int) -> Strings:
    """The strings as they were condensed: without symbols that fewer than `rare` strings of the class hold.

    A rare token is left out. In the place of a rare character stands the last one before it in its string that is not
    rare, or the first one after it where there is none before; a string of nothing else is empty. Where places have
    names stands the symbol that most strings of the class have there, else anywhere, of those that are not rare.
    """
    if rare <= 1 or not len(strings.symbols):
        return strings
    holders = count_holders(strings, labels)
    if not ((holders > 0) & (holders < rare)).any():
        return strings
    if strings.source.sites:
        return _with_commonest(strings, labels, holders >= rare)
    parts = [without_uncommon(strings.take(rows), labels[rows], holders >= rare) for rows in batches(strings.lengths)]
    lengths = np.concatenate([part.lengths for part in parts])
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return replace(strings, symbols=np.concatenate([part.symbols for part in parts]), starts=starts)


def without_uncommon(strings: Strings, labels: Ints, is_common: Mask) -> Strings:
    """Some of the strings without rare symbols, by which symbols of each class are not; places have no names."""
    owner = np.repeat(np.arange(len(strings)), strings.lengths)
    is_kept = is_common[labels[owner], strings.symbols]
    symbols = strings.symbols
    if not strings.is_tokens:
        # Ranks of kept places: the last one before a place, and else the first of its string.
        kept = np.flatnonzero(is_kept)
        n_before = np.concatenate([[0], np.cumsum(is_kept)])
        n_before_string = n_before[strings.starts]
        rank = np.maximum(n_before[1:] - 1, n_before_string[:-1][owner])
        is_kept = (n_before_string[1:] > n_before_string[:-1])[owner]
        symbols = symbols.copy()
        symbols[is_kept] = strings.symbols[kept[rank[is_kept]]]
    starts = np.concatenate([[0], np.cumsum(is_kept)]).astype(np.int64)[strings.starts]
    return replace(strings, symbols=symbols[is_kept], starts=starts)


def _with_commonest(strings: Strings, labels: Ints, is_common: Mask) -> Strings:
    """The strings with the commonest symbol of the place, and class, for each rare one; equal numbers go by text."""
    n_sites = len(strings.source.sites)
    symbols = strings.symbols.copy()
    owner = np.repeat(np.arange(len(strings)), strings.lengths)
    site = (np.arange(len(symbols)) - strings.starts[owner]) % n_sites
    is_rare = ~is_common[labels[owner], symbols]
    for label in np.unique(labels[owner[is_rare]]).tolist():
        most, chosen = np.zeros(n_sites, np.int64), np.full(n_sites, -1)
        most_anywhere, anywhere = 0, -1
        of_class = labels[owner] == label
        for code in sorted(np.flatnonzero(is_common[label]).tolist(), key=strings.alphabet.__getitem__):
            n_there = np.bincount(site[of_class & (strings.symbols == code)], minlength=n_sites)
            chosen[n_there > most] = code
            most = np.maximum(most, n_there)
            if n_there.sum() > most_anywhere:
                most_anywhere, anywhere = int(n_there.sum()), code
        chosen[chosen < 0] = anywhere
        symbols[of_class & is_rare] = chosen[site[of_class & is_rare]]
    is_kept = symbols >= 0
    starts = np.concatenate([[0], np.cumsum(is_kept)]).astype(np.int64)[strings.starts]
    return replace(strings, symbols=symbols[is_kept], starts=starts)
