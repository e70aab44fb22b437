"""Near copies: strings that become an original when one symbol is changed, put in or left out.

Each string has a 64-bit word, the sum of one term a symbol and place, so that the word without one place, or with the
places after it moved up, is a difference of sums. Two strings differ at one place alone if their words without that
place are equal; one is the other less a symbol if the word of the first is one of the other's words with a symbol left
out. That is one word a symbol, never a pair of strings. Most strings are ruled out before: of two strings one edit
apart the first halves are equal, or the ends are.

Words of different strings are hardly ever equal; then one string too many is called near.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from shoal.arrays import Ints, Mask, Words
from shoal.check.guarantee import Guarantee, count
from shoal.check.strings.originals import (
    batches,
    in_alphabet_of,
    mixed,
    own_strings,
    placed_terms,
    shared_labels,
    without_gaps,
    without_rare,
)
from shoal.data.strings.on_disk import SomeStrings
from shoal.data.strings.strings import Strings

Copies = Literal["redraw", "allow"]

NEAR_COPIES = "near-copies"
MORE = (-1, 0, 1)  # symbols that a string one edit away has more
BATCH_SYMBOLS = 4_000_000  # some hundred MB
END = 8  # symbols of an end by which strings are ruled out before any word is computed


def near_copies(
    published: Strings, originals: Sequence[Strings], k: int, copies: Copies, stated: int | None
) -> Guarantee:
    """Recompute how many published strings are at most one edit from an original, beside what the manifest tells.

    In data of little variety many are, and rightly so: they are draws of groups that are much alike. What can be held
    to is the number, counted before the release. It is told if it is 0, or at least k; a smaller one would point at
    single originals, so a release whose copies are drawn again draws these again too.

    Parameters
    ----------
    published : Strings
    originals : sequence of Strings
        Those that fewer than k rows hold, in the same codes; also without their rare symbols.
    k : int
        A smaller number is not told.
    copies : {"redraw", "allow"}
        Where copies are allowed, a number below k is told as "fewer than k".
    stated : int, optional
        The most that there may be; None before a release.
    """
    return told_near_copies(int(near_strings(published, *originals).sum()), len(published), k, copies, stated)


def told_near_copies(n_near: int, n_published: int, k: int, copies: Copies, stated: int | None) -> Guarantee:
    """That so many of the published strings are at most one edit from an original; see `near_copies`."""
    is_few = 0 < n_near < k
    told = max(n_near, k - 1) if copies == "allow" else n_near
    holds = n_near <= stated if stated is not None else copies == "allow" or not is_few
    found = (
        f"{count(n_near, 'published string')} equal{'s' * (n_near == 1)} an original that fewer than {k} hold, or all "
        "but one symbol of it"
    )
    if stated is None and not holds:
        sentence = f"{found}; so few of them would point at single originals."
    elif stated is not None and not holds:
        sentence = f"{found}, and the manifest says {_at_most(stated, k)}."
    else:
        sentence = _told(told if stated is None else stated, k, copies)
    return Guarantee(
        model=NEAR_COPIES,
        kind=copies,
        sensitive="",
        required={} if stated is None else {"near_copies": stated},
        achieved=float(told if holds else n_near),
        holds=holds,
        n_classes=n_published,
        n_failing=0 if holds else max(n_near - (stated or 0), 1),
        worst=(),
        sentence=sentence,
    )


def _told(most: int, k: int, copies: Copies) -> str:
    """What holds; every number in it is one that the manifest may tell."""
    if most == 0:
        return (
            f"No published string equals an original that fewer than {k} hold, or differs from one in a single symbol."
        )
    if copies == "allow":
        return (
            "Copies are allowed, so a published string may be a person's own, and nothing is promised about that but "
            f"their number: {_at_most(most, k)} equal an original that fewer than {k} hold, or differ from one in a "
            "single symbol."
        )
    return (
        f"Near copies: {_at_most(most, k)} published strings differ in a single symbol from an original that fewer "
        f"than {k} hold."
    )


def _at_most(most: int, k: int) -> str:
    return "none" if most == 0 else f"fewer than {k}" if most < k else f"at most {most:,}"


def near_originals(published: Strings, original: Strings, rare: int, k: int) -> Mask:
    """Which published strings equal an original but for one symbol, or altogether; see `near_strings`.

    Parameters
    ----------
    published, original : Strings
        As they were read, each in codes of its own.
    rare : int
        Symbols of fewer strings of a class were taken out: an original without them is looked for too.
    k : int
        Only originals that fewer rows hold count.
    """
    shown = in_alphabet_of(original, published)
    bare = without_rare(original, shared_labels(original, shown)[0], rare)
    return near_strings(without_gaps(shown), *own_strings(original, bare, k))


def near_strings(strings: Strings, *others: Strings) -> Mask:
    """Which strings are at most one edit (a symbol changed, put in or left out) from one of the others.

    Parameters
    ----------
    strings : Strings
    *others : Strings
        In the same codes. One that stands there twice is looked at once.
    """
    is_near = np.zeros(len(strings), bool)
    for i, part in enumerate(others):
        if not any(part is earlier for earlier in others[:i]):
            is_near |= near_among(strings, part, np.arange(len(part)))
    return is_near


def near_among(strings: SomeStrings, others: SomeStrings, among: Ints, n_symbols: int | None = None) -> Mask:
    """Which strings are at most one edit from one of the others that stand in some rows.

    `n_symbols` are looked at together; by default as many as take some hundred MB.
    """
    ours, theirs = _share_an_end(strings, others, among)
    is_near = np.zeros(len(strings), bool)
    is_near[ours] = _near(strings, ours, others, theirs, n_symbols or BATCH_SYMBOLS)
    return is_near


def _share_an_end(strings: SomeStrings, others: SomeStrings, among: Ints) -> tuple[Ints, Ints]:
    """Rows of strings and of others that may be one edit apart, by a few symbols of their ends alone.

    An edit lies before the middle or after it, so that the last or the first `END` symbols of long strings stay as they
    are. Short strings may all be.
    """
    found_ours = strings.lengths < 2 * END + 2
    their_lengths = others.lengths[among]
    found_theirs = their_lengths < 2 * END + 3
    ours, theirs = np.flatnonzero(~found_ours), np.flatnonzero(their_lengths >= 2 * END + 1)
    for keys, words in zip(_ends(strings, ours), _ends(others, among[theirs]), strict=True):
        found_ours[ours[_among(keys, words)]] = True
        found_theirs[theirs[_among(words, keys)]] = True
    return np.flatnonzero(found_ours), among[found_theirs]


def _ends(strings: SomeStrings, rows: Ints) -> list[Words]:
    """A word of the first symbols of some strings, and one of the last ones."""
    found: list[list[Words]] = [[np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]]
    for some in batches(strings.lengths[rows]):
        part = strings.take(rows[some])
        for words, places in zip(found, (part.starts[:-1], part.starts[1:] - END), strict=True):
            word = np.zeros(len(part), np.uint64)
            for i in range(END):
                word = mixed(word + part.symbols[places + i].astype(np.uint64))  # whatever the size of either alphabet
            words.append(word)
    return [np.concatenate(words) for words in found]


@dataclass(frozen=True)
class _Sums:
    """Running sums of the terms of all symbols: by place from the front, by the place before it, and from the end."""

    strings: Strings

    @property
    def starts(self) -> Ints:
        return self.strings.starts

    @cached_property
    def lengths(self) -> Ints:
        return self.strings.lengths

    @cached_property
    def places(self) -> Ints:
        """The place of each symbol in its string, from 1 on."""
        return np.arange(1, len(self.strings.symbols) + 1) - np.repeat(self.starts[:-1], self.lengths)

    @cached_property
    def front(self) -> Words:
        return _running(self.terms)

    @cached_property
    def moved(self) -> Words:
        return _running(self._terms(self.places - 1))

    @cached_property
    def back(self) -> Words:
        return _running(self._terms(np.repeat(self.lengths, self.lengths) - self.places))

    @cached_property
    def terms(self) -> Words:
        """Of each symbol at its place."""
        return self._terms(self.places)

    def _terms(self, places: Ints) -> Words:
        return placed_terms(self.strings, places)

    @property
    def whole(self) -> Words:
        """The word of each string."""
        return np.asarray(self.front[self.starts[1:]] - self.front[self.starts[:-1]])

    def first(self, n: Ints) -> Words:
        """The word of the first n symbols of each string."""
        return np.asarray(self.front[self.starts[:-1] + n] - self.front[self.starts[:-1]])

    def last(self, n: Ints) -> Words:
        """The word of the last n symbols of each string, counted from its end."""
        return np.asarray(self.back[self.starts[1:]] - self.back[self.starts[1:] - n])

    def but_one(self) -> tuple[Words, Words]:
        """For each symbol the word of its string but for it: with its place left open, and with it left out."""
        owner = np.repeat(np.arange(len(self.lengths)), self.lengths)
        place = np.arange(len(self.terms))
        opened = self.whole[owner] - self.terms + mixed(self.places.astype(np.uint64) + _OPEN)
        before = self.front[place] - self.front[self.starts[owner]]
        return opened, before + (self.moved[self.starts[owner + 1]] - self.moved[place + 1])


def _near(strings: SomeStrings, ours: Ints, others: SomeStrings, theirs: Ints, n_symbols: int) -> Mask:
    """Distinct strings that share a half with one of the others, looked at symbol by symbol; rows are those to look at.

    Tells of each of our rows.
    """
    whole, *halves = _words(strings, ours, _own_halves)
    others_whole, *others_halves = _words(others, theirs, _halves_of_near)
    may_be_near, may_meet = _share_a_half(halves, others_halves, others.lengths[theirs])
    _, first, which = np.unique(whole[may_be_near], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rows = ours[may_be_near][first[order]]
    some = theirs[may_meet][np.sort(np.unique(others_whole[may_meet], return_index=True)[1])]
    found = np.zeros(len(rows), bool)
    for part in batches(strings.lengths[rows], n_symbols):
        here = _Sums(strings.take(rows[part]))
        for of_others in batches(others.lengths[some], n_symbols):
            found[order[part]] |= _meet(here, _Sums(others.take(some[of_others])))
    is_near = np.zeros(len(ours), bool)
    is_near[may_be_near] = found[which]
    return is_near


def _words(strings: SomeStrings, rows: Ints, of: Callable[[_Sums], list[Words]]) -> list[Words]:
    """Some words of each of these strings, computed batch by batch: there are many more symbols than strings."""
    parts = [of(_Sums(strings.take(rows[some]))) for some in batches(strings.lengths[rows])]
    parts = parts or [of(_Sums(strings.take(rows)))]
    return [np.concatenate(words) for words in zip(*parts, strict=True)]


def _own_halves(ours: _Sums) -> list[Words]:
    """Of each string, and of its first half and of the rest; the length is in all of them."""
    half, salt = ours.lengths // 2, mixed(ours.lengths.astype(np.uint64))
    return [ours.whole + salt, ours.first(half) + salt, ours.last(ours.lengths - half) + salt]


def _halves_of_near(theirs: _Sums) -> list[Words]:
    """Of each string, and what the two halves are of one that is a symbol shorter, as long, and a symbol longer."""
    words = [theirs.whole + mixed(theirs.lengths.astype(np.uint64))]
    for more in MORE:
        for part, n in zip((theirs.first, theirs.last), _half_lengths(theirs.lengths + more), strict=True):
            words.append(part(np.clip(n, 0, theirs.lengths)) + mixed((theirs.lengths + more).astype(np.uint64)))
    return words


def _share_a_half(ours: list[Words], theirs: list[Words], lengths: Ints) -> tuple[Mask, Mask]:
    """Which strings begin, up to the middle, or end, from there on, as one of the others of nearly their length does.

    An edit leaves what is before it as it was, and what is after it, counted from the end; and it lies before the
    middle or after it. So no two strings one edit apart are lost.
    """
    is_ours, is_theirs = np.zeros(len(ours[0]), bool), np.zeros(len(lengths), bool)
    for i, more in enumerate(MORE):
        for keys, words, n in zip(ours, theirs[2 * i : 2 * i + 2], _half_lengths(lengths + more), strict=True):
            fits = (lengths + more >= 0) & (n <= lengths)
            is_ours |= _among(keys, words[fits])
            is_theirs |= fits & _among(words, keys)
    return is_ours, is_theirs


def _half_lengths(lengths: Ints) -> tuple[Ints, Ints]:
    return lengths // 2, lengths - lengths // 2


def _meet(ours: _Sums, theirs: _Sums) -> Mask:
    """Which of ours are at most one edit from one of theirs."""
    n = len(ours.lengths)
    owner = np.repeat(np.arange(n), ours.lengths)
    opened, left_out = ours.but_one()
    opened_theirs, left_out_theirs = theirs.but_one()
    is_met = _among(ours.whole, np.concatenate([theirs.whole, left_out_theirs]))
    by_symbol = _among(opened, opened_theirs) | _among(left_out, theirs.whole)
    return np.asarray(is_met | (np.bincount(owner[by_symbol], minlength=n) > 0))


def _among(keys: Words, words: Words) -> Mask:
    """Which keys are among the words, as `np.isin` has it, which hashes these; that is slow where they all differ."""
    if not len(words):
        return np.zeros(len(keys), bool)
    held = np.sort(words)
    return np.asarray(held[np.minimum(np.searchsorted(held, keys), len(held) - 1)] == keys)


_OPEN = np.uint64(1 << 40)


def _running(terms: Words) -> Words:
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms)])
