"""Condensed strings: every published one is a draw from the statistics of a group of at least k originals.

From the published strings alone nothing can be verified. With the original, that none is a copy and that no symbol is
rare; with the secret groups too, everything:

- every group has at least k originals, of one class and of lengths alike, and no more pseudo-strings than originals;
- every pseudo-string is possible given its group: each symbol stands at its position in a member that carries the
  longest context which at least `support` members carry (`string_support`);
- contexts of fewer members were not used: their continuations come no more often than chance explains. Where symbols
  come from windows (`windows`), every one is looked up, and no chance is in it;
- none equals an original that fewer than k rows hold, of whatever class, with its rare symbols or without, unless
  copies are allowed; gaps of an alignment do not count;
- no more of them are near copies, one symbol from such an original, than the manifest tells (`near`);
- every symbol is held by at least `rare` originals of its class.

**Guarantee.** Each symbol of a pseudo-string depends on its group of at least k strings through what at least `support`
of them have in common, or through all of them, and on random numbers. **Not protected.** Fragments: runs of a
pseudo-string stand verbatim in originals, and `shoal.check.strings.verbatim` measures how long. What all members of a
group share is published as it is. That a string is in the data is not hidden: where originals have little variety, that
one is missing among many near it tells it, or, where copies are allowed, that it stands there.

References
----------
C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and Knowledge
Discovery 16(3), 2008. Support, rare symbols and the rejection of copies are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints, Mask
from shoal.check.guarantee import Guarantee, count
from shoal.check.strings.copies import no_string_copies, rare_symbols
from shoal.check.strings.groups import StringGroups, group_strings
from shoal.check.strings.near import Copies, near_copies
from shoal.check.strings.originals import in_alphabet_of, own_strings, shared_labels, without_gaps, without_rare
from shoal.check.strings.sites import rarely_carried
from shoal.check.strings.support import FALSE_ALARM, Support, recompute_support
from shoal.check.strings.windows import WindowRule, possible_by_windows
from shoal.check.verdict import Verdict
from shoal.data.strings.strings import Strings
from shoal.errors import DataError

Lengths = Literal["template", "spread"]

N_LONGER = 3  # symbols that a string may get to be no copy
NEEDS_ORIGINAL = (
    "These are pseudo-strings: from the published ones alone nothing can be verified of them. {copies} each symbol is "
    "held by at least {rare} originals, needs the original (--original)."
)
OF_COPIES = {
    "redraw": "That none is a copy of an original, that no more are near copies than the manifest says, and that",
    "allow": "Copies of originals are allowed among them. That no more are copies or near copies than the manifest "
    "says, and that",
}
NEEDS_GROUPS = (
    "That every pseudo-string was drawn from at least {k} strings, after contexts of at least {support} of them, needs "
    "the original and the groups that the owner may have kept (--original and --private)."
)
NEEDS_LENGTHS = (
    "That every pseudo-string is possible given its group needs the lengths of the groups' templates, as lengths are "
    "spread and do not tell them; the owner may have kept them (--private)."
)


@dataclass(frozen=True)
class StringAsked:
    """What published strings are held to.

    Attributes
    ----------
    k : int
        Fewest strings of a group.
    eps : float
        How much longer the longest string of a group may be than its shortest, as a share of it.
    order, support : int
        A symbol depends on at most ``order - 1`` before it, and on those that `support` members of its group carry.
    rare : int, optional
        How many strings of a class must hold a symbol; None means k, but 1 where `support` is 1.
    lengths : {"template", "spread"}
        Whether all pseudo-strings of a group have one length, or lengths within those of the group.
    copies : {"redraw", "allow"}
        Whether none may equal an original.
    near_copies : int, optional
        How many of them may be at most one edit from an original; None before a release, when it is counted.
    generator : {"window", "template", "markov"}
        Whether symbols come from windows of the members' strings, from their templates, or from the class alone.
    window : float
        Share of a string to either side of a place.
    """

    k: int
    eps: float = 1.5
    order: int = 2
    support: int = 3
    rare: int | None = None
    lengths: Lengths = "template"
    copies: Copies = "redraw"
    near_copies: int | None = None
    generator: Literal["window", "template", "markov"] = "template"
    window: float = 0.05

    @property
    def fewest_holders(self) -> int:
        """`rare`, with its default."""
        return self.rare if self.rare is not None else (1 if self.support == 1 else self.k)

    @property
    def fewest_of_pairs(self) -> int:
        """How many strings of a class must have one symbol after another that is drawn from the class."""
        return max(self.support, self.fewest_holders)


@dataclass(frozen=True)
class StringEvidence:
    """Secrets to check published strings against; what is None is not there.

    Attributes
    ----------
    original : Strings, optional
        All strings as they came in, also those that were suppressed.
    original_groups : int64 array (len(original),), optional
        The group of each; negative where it was suppressed.
    published_groups : int64 array (n_published,), optional
        The group of each published string.
    template_lengths : int64 array, optional
        The length of the templates of each group, by its number; needed only where lengths are spread.
    """

    original: Strings | None = None
    original_groups: Ints | None = None
    published_groups: Ints | None = None
    template_lengths: Ints | None = None


def verify_strings(published: Strings, asked: StringAsked, evidence: StringEvidence | None = None) -> Verdict:
    """Recompute what can be recomputed of pseudo-strings."""
    if not len(published):
        raise DataError("nothing would be published: there are no strings; lower k or give more data")
    secrets = evidence or StringEvidence()
    original = secrets.original
    rare = asked.fewest_holders
    needs_groups = NEEDS_GROUPS.format(k=asked.k, support=asked.support)
    if original is None:
        return Verdict((), (NEEDS_ORIGINAL.format(copies=OF_COPIES[asked.copies], rare=rare), needs_groups))
    if original.is_tokens is not published.is_tokens and len(original.symbols):
        return Verdict((), findings=("the symbols of one side are tokens, those of the other are characters",))
    if original.labels is None and published.labels is not None:
        return Verdict(
            (),
            ("The published strings have classes and the original has none; read both in the same way.", needs_groups),
        )
    if original.source.sites and (n_few := rarely_carried(original, rare)):
        told = f"{count(n_few, 'variant')} {'is' if n_few == 1 else 'are'} listed of which fewer than {rare} persons "
        return Verdict((), findings=(f"{told}carry an allele",))
    shown = in_alphabet_of(original, published)
    labels, shown_labels = shared_labels(original, shown)
    bare = without_rare(original, labels, rare)
    copies = _copies(shown, original, bare, asked)
    has_class = original.labels is None or published.labels is not None
    groups, original_groups = secrets.published_groups, secrets.original_groups
    if groups is None or original_groups is None:
        held = rare_symbols(shown, shown_labels if has_class else None, original, labels, rare)
        return Verdict((*copies, held), (needs_groups,))
    if len(groups) != len(published) or len(original_groups) != len(original):
        return Verdict(
            (*copies, rare_symbols(shown, shown_labels if has_class else None, original, labels, rare)),
            (
                f"The groups that were kept are of {len(groups):,} published and {len(original_groups):,} original "
                f"strings, but there are {len(published):,} and {len(original):,}: the data was changed, or they are "
                "of another release.",
            ),
        )
    grouped = group_strings(
        shown.lengths,
        groups.astype(np.int64),
        shown_labels if has_class else None,
        bare.lengths,
        original_groups.astype(np.int64),
        labels,
        asked.eps,
        asked.lengths,
        secrets.template_lengths,
        N_LONGER if asked.generator != "template" and asked.copies == "redraw" else 0,
    )
    held = rare_symbols(
        shown, shown_labels if has_class else grouped.classes[grouped.published], original, labels, rare
    )
    if asked.generator != "template":
        rule = window_rule(asked, is_named=bool(original.source.sites))
        is_possible, is_suspect = np.zeros(len(published), bool), np.zeros(len(published), bool)
        some = np.flatnonzero((grouped.sizes > 0)[grouped.published])
        drawn = shown if len(some) == len(shown) else shown.take(some)
        is_possible[some], is_suspect[some] = possible_by_windows(
            drawn, grouped.published[some], bare, grouped.original, np.maximum(grouped.classes, 0), rule
        )
        return Verdict(
            (
                told_condensation(grouped, ~is_possible, asked),
                told_windows(is_possible, is_suspect, grouped, asked),
                *copies,
                held,
            )
        )
    if grouped.template_lengths is None:
        whole = told_condensation(grouped, None, asked)
        return Verdict((whole, *copies, held), (NEEDS_LENGTHS,))
    fits = grouped.has_length[grouped.published]
    some = np.flatnonzero(fits)
    found = recompute_support(
        shown.take(some),
        grouped.published[some],
        bare,
        grouped.original,
        grouped.template_lengths,
        asked.order,
        asked.support,
    )
    possible = np.zeros(len(published), bool)
    possible[some] = found.is_possible
    whole = told_condensation(grouped, ~possible, asked)
    return Verdict((whole, _support(found, grouped.published[some], asked), *copies, held))


def window_rule(asked: StringAsked, *, is_named: bool) -> WindowRule:
    """How symbols were to be drawn from windows, or from classes alone."""
    by_group = asked.generator == "window"
    return WindowRule(asked.order, asked.support, asked.fewest_of_pairs, asked.window, by_group, is_named)


def _copies(shown: Strings, original: Strings, bare: Strings, asked: StringAsked) -> tuple[Guarantee, ...]:
    """Whether originals were published, and how many nearly were; strings are copied for it, and let go again."""
    own, plain = own_strings(original, bare, asked.k), without_gaps(shown)
    near = near_copies(plain, own, asked.k, asked.copies, asked.near_copies)
    return (no_string_copies(plain, *own, k=asked.k), near) if asked.copies == "redraw" else (near,)


def told_condensation(grouped: StringGroups, impossible: npt.NDArray[np.bool_] | None, asked: StringAsked) -> Guarantee:
    """Groups and draws: achieved is the size of the smallest group."""
    n_groups = len(grouped.sizes)
    failing = grouped.sizes < asked.k
    reasons = []
    smallest = int(grouped.sizes.min(initial=len(grouped.original)))
    if failing.any():
        reasons.append(f"the smallest is of {count(smallest, 'string')} (required: {asked.k})")
    for bad, phrase in (
        (grouped.has_several_classes, "not all strings of the group are of one class"),
        (grouped.has_uneven_lengths, f"lengths differ by more than the factor {1 + asked.eps:g}"),
        (grouped.has_too_many, "there are more pseudo-strings than originals"),
        (grouped.has_odd_lengths, "the lengths of pseudo-strings are not those of the group"),
    ):
        if bad.any():
            reasons.append(f"in {int(bad.sum())} {phrase}")
            failing = failing | bad
    n_impossible = 0
    if impossible is not None:
        n_impossible = int(impossible.sum())
        if n_impossible:
            reasons.append(f"{count(n_impossible, 'published string')} cannot have been drawn from the group")
            failing = failing | (np.bincount(grouped.published[impossible], minlength=n_groups) > 0)
    n_failing = int(failing.sum())
    drawn = (
        f"Every published string is a possible draw from statistics of at least {smallest} originals"
        if impossible is not None
        else f"Every published string is of a group of at least {smallest} originals"
    )
    return Guarantee.counted(
        model="string-condensation",
        required={"k": asked.k, "order": asked.order, "support": asked.support},
        achieved=float(smallest),
        n_classes=n_groups,
        n_failing=n_failing,
        sentence=(
            f"Condensation fails in {n_failing} of {count(n_groups, 'group')}: {', and '.join(reasons)}."
            if n_failing
            else f"{drawn} (required: {asked.k})."
        ),
        details={"impossible": n_impossible},
    )


def told_windows(is_possible: Mask, is_suspect: Mask, grouped: StringGroups, asked: StringAsked) -> Guarantee:
    """Every symbol is one that enough strings have: achieved is `support`, or 0."""
    failing = np.unique(grouped.published[~is_possible | is_suspect])
    n_impossible, n_suspect = int((~is_possible).sum()), int(is_suspect.sum())
    wrong = [
        f"{count(n, 'published string')} {what}"
        for n, what in (
            (n_impossible, "can have been drawn neither from windows of the group nor from the class"),
            (n_suspect, "came from the class and not from the group at more places than chance explains"),
        )
        if n
    ]
    after = " after the same preceding symbols, as far back as so many of them agree" if asked.order > 1 else ""
    there = f"of its group have near its place{after}"
    fewest = asked.fewest_of_pairs
    told = f"that at least {fewest} strings of its class have after the symbol before it, or that its class has at all"
    return Guarantee.counted(
        model="context-support",
        kind=asked.generator,
        required={"order": asked.order, "support": asked.support},
        achieved=float(asked.support if not len(failing) else 0),
        n_classes=len(grouped.sizes),
        n_failing=len(failing),
        sentence=(
            f"{', and '.join(wrong)} (contexts and symbols of at least {count(asked.support, 'string')})."
            if len(failing)
            else f"Every symbol is one that at least {asked.support} strings {there}, or {told}."
            if asked.generator == "window"
            else f"Every symbol is one {told}."
        ),
        details={"impossible": n_impossible, "suspect": n_suspect},
    )


def _support(found: Support, groups: Ints, asked: StringAsked) -> Guarantee:
    """Contexts of few members were not used: achieved is `support`, or 1 where the strings follow such contexts."""
    suspect = found.is_suspect
    is_whole = found.is_suspect_whole
    failing = np.unique(groups[suspect])
    holds = not is_whole and not len(failing)
    followed, expected = int(found.followed.sum()), float(found.expected.sum())
    told = (
        f"in {followed:,} of {int(found.n_places.sum()):,} places, where {expected:,.0f} are expected"
        if is_whole
        else f"in {count(int(suspect.sum()), 'string')} more often than chance explains"
    )
    return Guarantee(
        model="context-support",
        kind="",
        sensitive="",
        required={"order": asked.order, "support": asked.support},
        achieved=float(asked.support if holds else 1),
        holds=holds,
        n_classes=len(np.unique(groups)),
        n_failing=max(len(failing), int(not holds)),
        worst=(),
        sentence=(
            f"Symbols come after contexts of at least {count(asked.support, 'string')} of a group, as far as can be "
            "told from how often others are followed (a test that a fair release fails once in "
            f"{1 / FALSE_ALARM:,.0f} times)."
            if holds
            else f"Pseudo-strings follow contexts of fewer than {asked.support} strings, or of more than "
            f"{count(asked.order - 1, 'symbol')}: {told}."
        ),
        details={
            "places": int(found.n_places.sum()),
            "followed": followed,
            "expected": expected,
            "suspect": int(suspect.sum()),
        },
    )
