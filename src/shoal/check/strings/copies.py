"""Copies of strings, and symbols that only few strings hold: what an attacker would look for first."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.check.guarantee import Guarantee, count
from shoal.check.strings.originals import batches, count_holders, string_words
from shoal.data.strings.strings import Strings


def no_string_copies(published: Strings, *originals: Strings, k: int) -> Guarantee:
    """Recompute that no published string equals one of the originals, of whatever class; achieved is how many do.

    Parameters
    ----------
    published : Strings
    *originals : Strings Those that fewer than k rows hold, in the same codes; also without their rare symbols, as a
        copy but for those is a copy. All without gaps: see `shoal.check.strings.originals.own_strings`.
    k : int
        What at least so many hold may be published.
    """
    n_copies = int(np.logical_or.reduce([equal_strings(published, o) for o in originals]).sum())
    return told_no_copies(n_copies, len(published), k)


def told_no_copies(n_copies: int, n_published: int, k: int) -> Guarantee:
    """That so many of the published strings equal an original that fewer than k hold."""
    return Guarantee.counted(
        model="no-copies",
        kind="strings",
        required={},
        achieved=float(n_copies),
        n_classes=n_published,
        n_failing=n_copies,
        sentence=(
            f"{count(n_copies, 'published string')} equal{'s' * (n_copies == 1)} an original that fewer than {k} hold."
            if n_copies
            else f"No published string equals an original that fewer than {k} hold."
        ),
        details={"copies": n_copies},
    )


def equal_strings(strings: Strings, others: Strings) -> Mask:
    """Which strings stand among the others, symbol for symbol."""
    if not len(strings) or not len(others):
        return np.zeros(len(strings), bool)
    words = np.concatenate([string_words(strings), string_words(others)])
    lengths = np.concatenate([strings.lengths, others.lengths])
    order = np.lexsort((words, lengths))
    is_new = np.ones(len(order), bool)
    is_new[1:] = (np.diff(words[order]) != 0) | (np.diff(lengths[order]) != 0)
    # Words only bring candidates together; neighbours are compared symbol by symbol. A copy could be missed where a
    # different string of the same length and word stands between the two: once in 2^64 pairs.
    pairs = np.flatnonzero(~is_new)
    for some in batches(lengths[order[pairs]]):
        part = pairs[some]
        sizes = lengths[order[part]]
        differs = _symbols_of(strings, others, order[part - 1]) != _symbols_of(strings, others, order[part])
        ends, n_differing = np.cumsum(sizes), np.concatenate([[0], np.cumsum(differs)])
        is_new[part] = n_differing[ends] > n_differing[ends - sizes]
    run = np.cumsum(is_new) - 1
    is_held = np.bincount(run, weights=order >= len(strings), minlength=len(order)) > 0
    out = np.zeros(len(order), bool)
    out[order] = is_held[run]
    return out[: len(strings)]


def _symbols_of(strings: Strings, others: Strings, rows: Ints) -> Codes:
    """The symbols of some strings, one after another; rows beyond the strings are those of the others."""
    is_own = rows < len(strings)
    row = np.where(is_own, rows, rows - len(strings))
    begins, ends = (
        np.where(is_own, strings.starts[np.where(is_own, row, 0) + i], others.starts[np.where(is_own, 0, row) + i])
        for i in (0, 1)
    )
    sizes = ends - begins
    places = np.arange(int(sizes.sum())) + np.repeat(begins - (np.cumsum(sizes) - sizes), sizes)
    of_own = np.repeat(is_own, sizes)
    symbols = np.empty(len(places), np.int32)
    symbols[of_own] = strings.symbols[places[of_own]]
    symbols[~of_own] = others.symbols[places[~of_own]]
    return symbols


def rare_symbols(published: Strings, shown: Ints | None, original: Strings, labels: Ints, rare: int) -> Guarantee:
    """Recompute that every published symbol is held by enough originals; achieved is the fewest holders of one.

    Parameters
    ----------
    published, original : Strings
        In the same codes.
    shown, labels : int64 arrays
        Their classes, numbered alike; a negative one holds nothing. Where classes are not published, any will do.
    rare : int
        How many strings of the class must hold a symbol.
    """
    holders = count_holders(original, labels)
    if shown is None:
        holders, shown = holders.max(axis=0, keepdims=True), np.zeros(len(published), np.int64)
    known = np.zeros((len(holders) + 1, max(len(published.alphabet), 1)), np.int64)  # the first row is of no class
    known[1:, : len(original.alphabet)] = holders[:, : len(original.alphabet)]
    seen = [np.zeros(0, np.int64)]
    for rows in batches(published.lengths):
        part = published.take(rows)
        seen.append(np.unique((np.repeat(shown[rows], part.lengths) + 1) * known.shape[1] + part.symbols))
    used = np.unique(np.concatenate(seen))
    return told_rare_symbols(known.ravel()[used], len(original), rare)


def told_rare_symbols(reached: Ints, n_originals: int, rare: int) -> Guarantee:
    """That each published symbol of a class is held by so many originals of it."""
    needed = max(rare, 1)
    n_failing = int((reached < needed).sum())
    fewest = int(reached.min(initial=n_originals))
    return Guarantee.counted(
        model="rare-symbols",
        required={"rare": rare},
        # How many hold the rarest symbol that may be shown is nobody's business.
        achieved=float(min(fewest, needed)),
        n_classes=len(reached),
        n_failing=n_failing,
        sentence=(
            f"{count(n_failing, 'published symbol')} {'is' if n_failing == 1 else 'are'} held by fewer than "
            f"{count(needed, 'original')} of the class."
            if n_failing
            else f"Every published symbol is held by at least {count(needed, 'original')} of its class."
        ),
    )
