"""l-diversity: how many sensitive values every class holds, or how evenly, in one of four senses.

With the counts r_1 >= r_2 >= ... >= r_m of the sensitive values in a class of n records:

- distinct: m >= l;
- probabilistic: r_1 / n <= 1 / l;
- entropy: exp(H) >= l, where H = -sum r_i / n * ln(r_i / n);
- recursive (c, l): r_1 < c * (r_l + r_(l+1) + ... + r_m).

**Guarantee.** Whoever finds a record's class is left with as many sensitive values, or as uncertain, as the kind
says. Distinct counts values alone: they may be very unequal, and one of them nearly all of the class.
**Not protected.** Values that differ and mean the same; a class whose values are distributed otherwise than
in the whole table tells about its members even so (t-closeness). Missing values that may hide any value
count as the most frequent one of their class, and not as a distinct one.

References
----------
A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, "l-diversity: privacy beyond k-anonymity", ACM
Transactions on Knowledge Discovery from Data 1(1), 2007.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints, Mask
from shoal.check.guarantee import TOLERANCE, Guarantee, Reached, count, number
from shoal.check.tables.classes import Classes
from shoal.check.tables.distribution import Distribution
from shoal.check.tables.models import Believed, Check, Held, checks
from shoal.models.l_diversity import LDiversity

if TYPE_CHECKING:
    from shoal.check.slices.belief import Reading
    from shoal.check.slices.belief_words import Outcome
    from shoal.check.slices.posterior import Shares
    from shoal.check.tables.t_closeness import Distance

Kind = Literal["distinct", "probabilistic", "entropy", "recursive"]


def distinct_l(held: Distribution) -> Ints:
    """Different sensitive values in each class."""
    return held.distinct


def probabilistic_l(held: Distribution) -> Floats:
    """One over the share of the most frequent value of each class."""
    return np.asarray(held.sizes / held.most_frequent())


def entropy_l(held: Distribution) -> Floats:
    """exp(H) of each class, by H = ln n - sum r ln r / n."""
    logs = held.counts * np.log(np.maximum(held.counts, 1))
    entropy = np.log(held.sums) - np.add.reduceat(logs, held.starts) / held.sums
    return np.exp(np.maximum(entropy, 0.0))


def recursive_c(held: Distribution, l: int) -> Floats:  # noqa: E741  the paper's name
    """r_1 / (r_l + ... + r_m) of each class: any c above it is met; infinite with fewer than l values."""
    return _top_over_tail(held.counts, held.classes, held.starts, l)


def _top_over_tail(weights: npt.NDArray[Any], classes: Ints, starts: Ints, l: int) -> Floats:  # noqa: E741
    order = np.lexsort((-weights, classes))
    place = np.arange(len(order)) - starts[classes]
    tail = np.add.reduceat(np.where(place >= l - 1, weights[order], 0), starts)
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum.reduceat(weights, starts) / tail)


_LEAST_L: dict[str, Callable[[Distribution], npt.NDArray[Any]]] = {
    "distinct": distinct_l,
    "probabilistic": probabilistic_l,
    "entropy": entropy_l,
}


def _said_of_least_l(noun: str, name: str, kind: Kind, l: float, least: float) -> tuple[str, str]:  # noqa: E741  as there
    """What a group does, in words: where it holds, and where it fails."""
    reached, wanted, allowed = number(least), f"(required: {number(l)})", f"(allowed: 1 of {number(l)})"
    if kind == "distinct":
        return (
            f"holds at least {reached} different values of {name} {wanted}",
            f"holds only {count(int(reached), 'different value')} of {name} {wanted}",
        )
    if kind == "probabilistic":
        return (
            f"shows no value of {name} more often than in 1 of {reached} {noun}s {allowed}",
            f"shows one value of {name} in 1 of {reached} {noun}s {allowed}",
        )
    return (
        f"leaves {name} at least as uncertain as {reached} equally likely values do {wanted}",
        f"leaves {name} only as uncertain as {reached} equally likely values do {wanted}",
    )


def _said_of_ratio(name: str, required: LDiversity, largest: float) -> tuple[str, str]:
    """The same of r_1 / (r_l + ...)."""
    far, rest = number(largest), f"all from the {_ordinal(int(required.l))} most frequent on together"
    bound = f"(required: less than {number(required.c)} times)"
    often = f"{far} times as often as {rest} {bound}"
    return (
        f"has its most frequent value of {name} at most {often}",
        f"has its most frequent value of {name} {often}"
        if np.isfinite(largest)
        else f"has fewer than {number(required.l)} different values of {name}",
    )


def _ordinal(n: int) -> str:
    """Write a rank.

    >>> [_ordinal(n) for n in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th") if n % 100 not in (11, 12, 13) else "th"
    return f"{n}{ending}"


@checks("l-diversity")
class LDiversityCheck(Check[LDiversity]):
    """Of classes, and of beliefs: the same definitions with probabilities in place of counts."""

    is_relative = False

    def reach_values(self, required: LDiversity, classes: Classes, held: Held) -> Reached:
        """The least l, for recursive the largest r_1 / (r_l + ...)."""
        achieved: npt.NDArray[Any]
        if required.kind == "recursive":
            achieved = recursive_c(held.values, int(required.l))
            failing = ~(achieved < required.c)
        else:
            achieved = _LEAST_L[required.kind](held.values)
            # Where n / r_1 equals l, it is l, by one correctly rounded division of integers; an entropy is less exact.
            failing = achieved < (required.l * (1 - TOLERANCE) if required.kind == "entropy" else required.l)
        return Reached.of(classes, achieved, failing, low_is_worse=self.is_low_worse(required))

    def tell_values(self, required: LDiversity, reached: Reached, name: str, distance: Distance) -> Guarantee:
        """What a group holds, or lacks."""
        parameters = {"l": required.l}
        if required.kind == "recursive":
            parameters["c"] = required.c
            says, lacks = _said_of_ratio(repr(name), required, reached.achieved)
        else:
            says, lacks = _said_of_least_l(reached.noun, repr(name), required.kind, required.l, reached.achieved)
        return reached.guarantee(
            "l-diversity",
            parameters,
            (
                f"Every group of records that look alike {says}.",
                f"{required.kind.capitalize()} l-diversity fails {reached.failing_groups}: a group {lacks}.",
            ),
            kind=required.kind,
            sensitive=name,
        )

    def is_low_worse(self, required: LDiversity) -> bool:
        """All but r_1 / (r_l + ...)."""
        return required.kind != "recursive"

    def of_beliefs(
        self, required: LDiversity, belief: Shares, reading: Reading, distance: Distance
    ) -> tuple[Floats, Mask]:
        """Values that are thought possible; one over the largest probability; exp(H); r_1 / (r_l + ... + r_m)."""
        if required.kind == "distinct":  # a hidden value is none
            reached = np.add.reduceat((belief.values != reading.hidden).astype(np.float64), belief.starts)
            return reached, reached < required.l
        if required.kind == "probabilistic":
            most = belief.largest()
            return 1 / most, most > (1 + TOLERANCE) / required.l
        if required.kind == "entropy":
            entropy = -np.add.reduceat(belief.shares * np.log(belief.shares), belief.starts)
            reached = np.exp(np.maximum(entropy, 0.0))
            return reached, reached < required.l * (1 - TOLERANCE)
        reached = _top_over_tail(belief.shares, belief.classes, belief.starts, int(required.l))
        return reached, ~(reached < required.c * (1 - TOLERANCE))

    def believed(self, required: LDiversity, outcome: Outcome, smallest: int, fails: bool) -> Believed:
        """How many values are left, or how uncertain they are."""
        name, reached = repr(outcome.name), number(outcome.worst)
        parameters: dict[str, float] = {"l": required.l}
        if required.kind == "distinct":
            few = f"only {count(int(outcome.worst), 'possible value')}"
            says = f"is left with {few if fails else f'at least {reached} possible values'} of {name}"
            says += f" (required: {number(required.l)})"
        elif required.kind == "probabilistic":
            says = f"finds {'a' if fails else 'no'} value of {name} {'as likely as' if fails else 'likelier than'}"
            says += f" 1 in {reached} (allowed: 1 in {number(required.l)})"
        elif required.kind == "entropy":
            says = f"is {'only' if fails else 'at least'} as uncertain of {name} as of {reached} equally likely values"
            says += f" (required: {number(required.l)})"
        else:
            rest = f"all but the {count(int(required.l) - 1, 'likeliest value')} together"
            says = f"finds the likeliest value of {name} {'' if fails else 'at most '}{reached} times as likely as "
            says += f"{rest} (required: less than {number(required.c)} times)"
            parameters["c"] = required.c
        return Believed(f"{required.kind.capitalize()} l-diversity", parameters, says, required.kind)
