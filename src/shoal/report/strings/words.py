"""Names and sentences for releases of strings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from shoal.check.guarantee import Guarantee
from shoal.kinds.strings.policy import StringPolicy
from shoal.report.checked import named, recomputed
from shoal.report.points import Point
from shoal.report.tables.words import number, percent

if TYPE_CHECKING:
    from shoal.utility.strings.measure import StringUtility

NOUN = "Strings"
MODELS = {
    "string-condensation": "What is published about a string depends on a group of at least k strings.",
    "context-support": "A run that fewer strings of a group share is not continued.",
    "no-copies": "No published string happens to equal an original that fewer than k rows hold.",
    "near-copies": "The published strings that equal an original or differ from one in a single symbol were counted.",
    "rare-symbols": "A symbol that only few strings hold would point at them, so it is not shown.",
}
REASONS = {
    "empty": "empty: there is nothing to draw from",
    "small_class": "class of fewer than k strings: each class is condensed on its own",
    "rare_symbols": "nothing but symbols that too few strings hold",
    "length": "length: it was in no segment of k strings of similar lengths",
    "copies": "copies: every pseudo-string drawn in its place equalled an original or nearly did",
}
CHECKED = recomputed(", the original and the groups")
short_name = partial(
    named,
    names={
        "string-condensation": "condensation of {k}",
        "context-support": "support of {support}",
        "no-copies": "no copies",
        "near-copies": "near copies counted",
        "rare-symbols": "no rare symbols",
    },
)


def required(guarantee: Guarantee) -> str:
    """What was asked for."""
    named = {"k": "groups of {} or more", "support": "{} strings or more", "rare": "{} strings or more"}
    if guarantee.model == "near-copies":
        return "none, or at least k" if guarantee.kind == "redraw" else "copies allowed"
    main = {"string-condensation": "k", "context-support": "support", "rare-symbols": "rare"}.get(guarantee.model)
    return "none" if main is None else named[main].format(number(guarantee.required.get(main), 4))


def achieved(guarantee: Guarantee) -> str:
    """What was reached."""
    if guarantee.model == "near-copies" and guarantee.achieved:
        return f"at most {guarantee.achieved:,.0f}"
    if guarantee.model in ("no-copies", "near-copies"):
        return number(guarantee.achieved, 4) if guarantee.achieved else "none"
    return number(guarantee.achieved, 4)


def method(policy: StringPolicy) -> dict[str, str]:
    """How pseudo-strings were made, in words, by what it is about."""
    m = policy.method
    before = "the symbol" if m.order == 2 else f"the {m.order - 1} symbols"
    where = "at its position" if m.generator == "template" else "about its place"
    drawn = (
        f"Each symbol is drawn from what the group has {where}"
        if m.order == 1
        else f"Each symbol is drawn from what the group has {where} after {before} before it, as far as at "
        f"least {m.support} of its strings carry {'that' if m.order == 2 else 'them'}; otherwise after fewer, or none"
    )
    if m.generator == "window":
        drawn += (
            f", {100 * m.window:g} % of a string to either side or, where all strings of a group have one length, "
            f"exactly there. A symbol that fewer than {m.support} of them have there is drawn from its class instead"
        )
        if m.order > 1:
            drawn += (
                f", after a symbol shortly before it where at least {max(m.support, policy.rare)} strings have both"
            )
    elif m.generator == "markov":
        drawn = (
            "Each symbol is drawn from all strings of the class after the symbol before it, if at least "
            f"{max(m.support, policy.rare)} of them have both; otherwise from the class at the same relative place"
        )
    return {
        "Lengths": f"Strings whose lengths differ by a factor of at most {1 + m.eps:g} form segments ({m.homogenize}).",
        "Groups": f"Within a segment, and within a class, near strings form groups of at least {policy.k}."
        if m.generator != "markov"
        else "All strings of a segment, and of a class, are one group.",
        "Pseudo-strings": f"Each group is replaced by as many new strings. {drawn}.",
        "Length of a new string": "The mean of its segment."
        if m.lengths == "template"
        else "Drawn from between the lengths of its group.",
        "Rare symbols": f"Symbols that fewer than {policy.rare} strings of a class hold are not shown."
        if policy.rare > 1
        else "All symbols are shown, however few strings hold them.",
        "Copies": f"A new string that equals an original which fewer than {policy.k} rows hold is drawn again, and "
        "left out if that does not help. So is one that differs from such an original in one symbol, unless many do."
        if m.copies == "redraw"
        else "A new string may equal an original, also one that a single person holds; copies are not drawn again.",
    }


def limits(policy: StringPolicy, has_classes: bool) -> tuple[Point, ...]:
    """What an attacker can still do."""
    m = policy.method
    points = [
        Point(
            "Short fragments are real",
            "Runs of a pseudo-string occur letter for letter in originals: short ones by chance, longer ones where "
            "strings of a group are alike. A fragment that many originals share is published as it is.",
        ),
        Point(
            "What a group has in common",
            "If all strings of a group have a property, so have its pseudo-strings. Anyone who knows that someone's "
            "string is in that group learns the property. Groups of near-identical strings give near copies.",
        ),
        Point(
            "Being in the data",
            "Nothing here hides whether a string is in the data. Someone who has a string can guess from similar "
            "pseudo-strings that it was used. This is not differential privacy.",
        ),
        _copies(m.copies),
        Point(
            "Several strings of one person",
            "Strings are counted, not persons. Where one person gave several alike, a group of k strings may be "
            "of fewer than k persons.",
        ),
        Point(
            "Several releases",
            "A second release of the same strings is drawn from other groups; both together tell more than either.",
        ),
    ]
    if m.support == 1 and m.order > 1:
        points.insert(
            0,
            Point(
                "Single strings can be followed",
                "With support = 1, as in the paper, what only one string of a group has is continued: pseudo-strings "
                "may hold long runs of it.",
            ),
        )
    if policy.rare == 1:
        points.insert(
            0, Point("Rare symbols", "A symbol that a single string holds is shown, and points at that string.")
        )
    if has_classes:
        points.append(
            Point("Classes are true", "The class of a pseudo-string is that of its group; class sizes are nearly kept.")
        )
    return tuple(points)


def _copies(copies: str) -> Point:
    if copies == "allow":
        return Point(
            "Copies are allowed",
            "Nothing is promised about copies: a published string may be a person's own, letter for letter, even "
            "where nobody else has it. Strings that were in the data appear here more often than others of their "
            "kind: where strings are much alike, that reveals who was in it.",
        )
    return Point(
        "Holes reveal who is in the data",
        "A string that appears here was not in the data, or at least k rows were equal to it, since other copies "
        "were drawn again. Where strings are much alike (markers along a genome, short codes) the reverse holds too: "
        "one that is missing while many near it appear was probably in the data, above all if nobody else has it.",
    )


GOOD_USE = (
    Point(
        "Good for",
        "Composition, short motifs and profiles along the string; comparing groups and classes; developing and testing "
        "software on realistic strings.",
    ),
    Point(
        "Not good for",
        "Anything about single strings: a pseudo-string is drawn at random, and stands for nobody even where it equals "
        "someone's string.",
    ),
    Point("Lengths", "Lengths are those of segments or groups, not of single strings."),
)
MISUSE = (
    Point("Do not look for persons", "Do not try to find out whose strings the data was made from."),
    Point("Do not join", "Do not search for fragments in other data to learn about persons."),
)


def cost(utility: StringUtility, records: Mapping[str, int]) -> str:
    """What the protection of strings cost, in a sentence."""
    changed = percent(utility.composition.total_variation)
    left_out = records["suppressed"]
    return f"Composition changed: {changed} of the symbols. {left_out:,} of {records['in']:,} strings were left out."
