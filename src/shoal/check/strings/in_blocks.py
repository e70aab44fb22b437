"""The check of pseudo-strings that are in a file, against originals that are in another one, neither of them held.

The same is recomputed as in `shoal.check.strings.verify`. Originals are read twice: how many of each class hold each
symbol is counted, and then they are put into a file of codes, as they came and without rare symbols, and that into the
order of their groups. So is what was published. Copies are known by 64-bit words and lengths alone: two different
strings have the same ones once in 2^64 times, and then one copy too many is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import Codes, Ints, Mask, Words
from shoal.check.strings.copies import told_no_copies, told_rare_symbols
from shoal.check.strings.groups import group_strings
from shoal.check.strings.near import near_among, told_near_copies
from shoal.check.strings.originals import GAPS, count_holders, mixed, string_words, without_gaps, without_uncommon
from shoal.check.strings.verify import N_LONGER, StringAsked, told_condensation, told_windows, window_rule
from shoal.check.strings.windows import possible_by_windows
from shoal.check.verdict import Verdict
from shoal.data.strings.on_disk import DiskWriter, StringsOnDisk
from shoal.data.strings.strings import Strings, StringSource
from shoal.errors import DataError

SYMBOLS_AT_ONCE = 300_000
"""Symbols that are looked at together with the groups that they are from; some 100 MB."""
BYTES_OF_NEAR = 1000
"""Of the bound for each symbol that is looked at together as of a possible near copy; all are beside all others."""

Read = Callable[[], Iterable[Strings]]


class OwnSide(NamedTuple):
    """Originals without gaps, and the rows of those that fewer than k rows hold."""

    strings: StringsOnDisk
    own: Ints


@dataclass(frozen=True)
class OriginalsOnDisk:
    """Originals as a check sees them.

    Attributes
    ----------
    alphabet, classes : tuple of str
        All symbols and classes.
    labels : int32 array, optional
        The class of each; None where they have none.
    holders : int64 array (n_classes, n_symbols)
        How many strings of each class hold each symbol.
    bare : StringsOnDisk
        The strings without rare symbols.
    sides : tuple of OwnSide
        The strings as they came and, if that is something else, without rare symbols.
    """

    alphabet: tuple[str, ...]
    classes: tuple[str, ...]
    labels: Codes | None
    holders: Ints
    bare: StringsOnDisk
    sides: tuple[OwnSide, ...]

    def __len__(self) -> int:
        return len(self.bare)

    def coded(self, block: Strings, strangers: dict[str, int]) -> Strings:
        """Some strings in the codes of these; symbols that they do not have get codes beyond."""
        place = _places(self.alphabet)
        n = len(place)
        codes = [place[s] if s in place else strangers.setdefault(s, n + len(strangers)) for s in block.alphabet]
        return Strings(
            np.array(codes, np.int32)[block.symbols] if codes else block.symbols,
            block.starts,
            (*self.alphabet, *strangers),
            block.is_tokens,
        )


@dataclass(frozen=True)
class PublishedOnDisk:
    """Published strings in the codes of the originals, without gaps for copies; see `put_published`.

    Attributes
    ----------
    shown, plain : StringsOnDisk
        As they stand, and without gaps.
    labels : int64 array, optional
        The class of each among those of the originals; -1 for another one.
    """

    shown: StringsOnDisk
    plain: StringsOnDisk
    labels: Ints | None


def put_originals(read: Read, rare: int, k: int) -> OriginalsOnDisk:
    """Count originals, and put them into files.

    Parameters
    ----------
    read : callable
        The originals block by block, each in codes of its own.
    rare : int
        How many strings of a class must hold a symbol.
    k : int
        What so many rows hold is nobody's own.
    """
    seen = _Seen()
    for block in read():
        seen.add(block)
    alphabet, known, holders = seen.ascending()
    place, class_place = _places(alphabet), _places(known)
    is_common = holders >= rare
    is_as_it_came = rare <= 1 or not ((holders > 0) & ~is_common).any()
    writer, bare_writer = (DiskWriter(alphabet, seen.is_tokens, StringSource()) for _ in range(2))
    labels: list[Ints] = [np.zeros(0, np.int64)]
    for block in read():
        codes = _codes(block.alphabet, place).astype(np.int32)
        symbols = codes[block.symbols] if len(codes) else block.symbols
        strings = Strings(symbols, block.starts, alphabet, seen.is_tokens)
        labels.append(_labels(block, class_place) if known else np.zeros(len(block), np.int64))
        writer.add(strings.symbols, strings.lengths)
        if not is_as_it_came:
            strings = without_uncommon(strings, labels[-1], is_common)
            bare_writer.add(strings.symbols, strings.lengths)
    all_labels = np.concatenate(labels)
    if len(all_labels) != seen.n or (len(all_labels) and all_labels.min() < 0):
        raise _changed()
    whole = writer.done()
    bare = whole if is_as_it_came else bare_writer.done()
    sides = [_side(plain(whole), k)]
    if bare is not whole:
        sides.append(_side(plain(bare), k))
        # What is the same on both sides is looked for once.
        both = np.intersect1d(sides[0].own, sides[1].own, assume_unique=True)
        is_same = _keys(sides[0].strings)[both] == _keys(sides[1].strings)[both]
        sides[1] = sides[1]._replace(own=np.setdiff1d(sides[1].own, both[is_same], assume_unique=True))
    return OriginalsOnDisk(alphabet, known, all_labels.astype(np.int32) if known else None, holders, bare, tuple(sides))


def put_published(read: Read, originals: OriginalsOnDisk) -> PublishedOnDisk:
    """Put what was published into a file, in the codes of the originals."""
    strangers: dict[str, int] = {}
    labels: list[Ints] = [np.zeros(0, np.int64)]
    has_classes, is_tokens = True, False
    for block in read():
        originals.coded(block, strangers)
        is_tokens = block.is_tokens
    writer = DiskWriter((*originals.alphabet, *strangers), is_tokens, StringSource())
    place = _places(originals.classes)
    for block in read():
        coded = originals.coded(block, strangers)
        writer.add(coded.symbols, coded.lengths)
        has_classes = has_classes and block.labels is not None
        if has_classes:
            labels.append(_labels(block, place))
    shown = writer.done()
    return PublishedOnDisk(shown, plain(shown), np.concatenate(labels) if has_classes else None)


def find_near(published: PublishedOnDisk, originals: OriginalsOnDisk, n_bytes: int) -> Mask:
    """Which published strings are at most one edit from an original that fewer than k rows hold.

    `n_bytes` is about how much memory may be used.
    """
    at_once = max(n_bytes // BYTES_OF_NEAR, 1)
    found = [near_among(published.plain, side.strings, side.own, at_once) for side in originals.sides]
    return np.asarray(np.logical_or.reduce(found))


def verify_on_disk(
    published: PublishedOnDisk,
    asked: StringAsked,
    originals: OriginalsOnDisk,
    published_groups: Codes,
    original_groups: Codes,
    template_lengths: Ints,
    n_bytes: int,
) -> Verdict:
    """Recompute all that is claimed of pseudo-strings that were drawn from windows; see `verify_strings`.

    `n_bytes` is about how much memory may be used.
    """
    shown, n = published.shown, len(published.shown)
    if not n:
        raise DataError("nothing would be published: there are no strings; lower k or give more data")
    if shown.is_tokens is not originals.bare.is_tokens:
        return Verdict((), findings=("the symbols of one side are tokens, those of the other are characters",))
    if (published.labels is None) != (originals.labels is None):
        return Verdict((), findings=("one side has classes and the other has none",))
    if len(published_groups) != n or len(original_groups) != len(originals):
        return Verdict((), findings=("the groups are of other strings",))
    keys = _keys(published.plain)
    is_copy = np.logical_or.reduce([_among(keys, _keys(side.strings)[side.own]) for side in originals.sides])
    n_near = int(find_near(published, originals, n_bytes).sum())
    near = told_near_copies(n_near, n, asked.k, asked.copies, asked.near_copies)
    copies = (told_no_copies(int(is_copy.sum()), n, asked.k), near) if asked.copies == "redraw" else (near,)
    del keys
    labels: Any = np.zeros(len(originals), np.int8) if originals.labels is None else originals.labels
    shown_labels: Any = np.zeros(n, np.int8) if published.labels is None else published.labels
    grouped = group_strings(
        shown.lengths,
        published_groups.astype(np.int64),
        shown_labels,
        originals.bare.lengths,
        original_groups.astype(np.int64),
        labels,
        asked.eps,
        asked.lengths,
        template_lengths,
        N_LONGER if asked.copies == "redraw" else 0,
    )
    held = told_rare_symbols(
        _holders_reached(shown, shown_labels, originals.holders), len(originals), asked.fewest_holders
    )
    del labels, shown_labels
    # Both sides in the order of their groups.
    order = np.argsort(grouped.published, kind="stable")
    order = order[(grouped.sizes > 0)[grouped.published[order]]]
    members = np.argsort(grouped.original, kind="stable")
    members = members[grouped.original[members] >= 0]
    by_group, own = originals.bare.in_order(members), grouped.original[members]
    del members
    is_possible, is_suspect = np.zeros(n, bool), np.zeros(n, bool)
    is_possible[order], is_suspect[order] = possible_by_windows(
        shown.in_order(order),
        grouped.published[order],
        by_group,
        own,
        np.maximum(grouped.classes, 0),
        window_rule(asked, is_named=False),
        SYMBOLS_AT_ONCE,
    )
    return Verdict(
        (
            told_condensation(grouped, ~is_possible, asked),
            told_windows(is_possible, is_suspect, grouped, asked),
            *copies,
            held,
        )
    )


def plain(strings: StringsOnDisk) -> StringsOnDisk:
    """The strings without gaps of an alignment; the same ones where they have none."""
    if strings.is_tokens or not any(symbol in GAPS for symbol in strings.alphabet):
        return strings
    writer = DiskWriter(strings.alphabet, strings.is_tokens, strings.source)
    for low, high in strings.runs():
        part = without_gaps(strings.part(low, high))
        writer.add(part.symbols, part.lengths)
    return writer.done()


class _Seen:
    """How many strings of each class hold each symbol, of blocks with codes of their own."""

    def __init__(self) -> None:
        self.n, self.is_tokens, self._has_classes = 0, False, True
        self._symbols: dict[str, int] = {}
        self._classes: dict[str, int] = {}
        self._holders = np.zeros((1, 1), np.int64)

    def add(self, block: Strings) -> None:
        """Count some strings."""
        self.n += len(block)
        self.is_tokens = block.is_tokens
        self._has_classes = self._has_classes and block.labels is not None
        columns, rows = ([known.setdefault(name, len(known)) for name in names] for known, names in self._named(block))
        more = [
            max(n, len(known)) - n for n, known in zip(self._holders.shape, (self._classes, self._symbols), strict=True)
        ]
        self._holders = np.pad(self._holders, ((0, more[0]), (0, more[1])))
        own = np.zeros(len(block), np.int64) if block.labels is None else block.labels.astype(np.int64)
        held = count_holders(block, own)[:, : len(columns)]
        self._holders[np.ix_((rows or [0])[: len(held)], columns)] += held

    def _named(self, block: Strings) -> list[tuple[dict[str, int], tuple[str, ...]]]:
        return [(self._symbols, block.alphabet), (self._classes, block.classes)]

    def ascending(self) -> tuple[tuple[str, ...], tuple[str, ...], Ints]:
        """The symbols, the classes if all strings have one, and the numbers in that order."""
        alphabet, classes = sorted(self._symbols), sorted(self._classes) if self._has_classes else []
        holders = self._holders[:, [self._symbols[s] for s in alphabet]] if alphabet else self._holders
        of_classes = holders[[self._classes[c] for c in classes]] if classes else holders.sum(axis=0, keepdims=True)
        return tuple(alphabet), tuple(classes), of_classes


def _side(strings: StringsOnDisk, k: int) -> OwnSide:
    keys = _keys(strings)
    order = np.argsort(keys, kind="stable")
    ascending = keys[order]
    heads = np.flatnonzero(np.concatenate([[True], ascending[1:] != ascending[:-1]])) if len(keys) else order
    n_holders = np.diff(np.append(heads, len(keys)))
    is_own = np.zeros(len(keys), bool)
    is_own[order] = np.repeat(n_holders < k, n_holders)
    return OwnSide(strings, np.flatnonzero(is_own & (strings.lengths > 0)))


def _keys(strings: StringsOnDisk) -> Words:
    """A word of each string with its length."""
    return np.asarray(string_words(strings) + mixed(strings.lengths.astype(np.uint64)))


def _among(keys: Words, words: Words) -> Mask:
    if not len(words):
        return np.zeros(len(keys), bool)
    held = np.sort(words)
    return np.asarray(held[np.minimum(np.searchsorted(held, keys), len(held) - 1)] == keys)


def _holders_reached(shown: StringsOnDisk, labels: Ints, holders: Ints) -> Ints:
    """Of each symbol that is published of a class, how many originals of the class hold it."""
    known = np.zeros((len(holders) + 1, len(shown.alphabet) or 1), np.int64)  # the first row is of no class
    known[1:, : holders.shape[1]] = holders[:, : known.shape[1]]
    is_used = np.zeros(known.shape, bool)
    for low, high in shown.runs():
        part = shown.part(low, high)
        is_used[np.repeat(labels[low:high], part.lengths) + 1, part.symbols] = True
    return np.asarray(known[is_used])


def _places(names: Sequence[str]) -> dict[str, int]:
    return {name: i for i, name in enumerate(names)}


def _codes(names: Sequence[str], place: dict[str, int]) -> Ints:
    try:
        return np.array([place[name] for name in names], np.int64)
    except KeyError:
        raise _changed() from None


def _labels(block: Strings, place: dict[str, int]) -> Ints:
    codes = np.array([place.get(name, -1) for name in block.classes], np.int64)
    assert block.labels is not None
    return codes[block.labels] if len(block) else np.zeros(0, np.int64)


def _changed() -> DataError:
    return DataError("the strings changed while they were read; try again when nobody writes to them")
