"""Reading values off the ends of labels: somebody in the class has exactly the value that its range ends with.

For every class and every column of numbers or dates whose label is a range, the attacker claims that a member has the
least value that the label covers, of all that occur in the column, and another the greatest. A claim is right if a
member of the class has the value. Baseline: values drawn from those that the labels cover, each as often as it occurs
in the column. All claims are made, and only the guesses are a sample, so for few claims there are several guesses each.
Columns are attacked one by one; the rates are over the claims of all, and the details have each.

A range that ends at values of members, as they do without rounding, makes every claim right. Members of sets and ranges
of ordered categories are claimed by `downcoding`.

References
----------
A. Cohen, "Attacks on deidentification's defenses", USENIX Security 2022, section 4, for what minimal labels tell.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import CellLabels, People, columns_of, read_view
from shoal.attack.tables.downcoding import Members, no_originals
from shoal.attack.tables.targets import n_distinct

ENOUGH_GUESSES = 50_000
MOST_GUESSES = 16
"""For each claim."""


class LabelEnds(Attack[TableCase]):
    """Claim both ends of every range of numbers or dates."""

    name = "label-ends"
    place = 140
    title = "reading values off the ends of ranges"
    knows = "the published table, which values occur in a column, and how often each does"
    stopped_by = "ends that are rounded outward, on a grid that is the same for all groups"
    remedy = 'leave ends = "exact" out of the policy, so that ranges end at round numbers'
    reference = "Cohen, USENIX Security 2022"
    counts_by_weight = True

    def missing(self, case: TableCase) -> str | None:
        """Needs ranges, and the owner's knowledge of whose they are."""
        why = no_originals(case)
        return (
            why
            if why is not None or _ranges(case)
            else "No quasi-identifier of numbers or dates is published as a range."
        )

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Claim, and look at the originals."""
        assert case.rows is not None
        names = columns_of(case, "quasi")
        view = read_view(case, names)
        classes, first = view.boxes
        claims = []
        for place in _ranges(case):
            read = view.labels[place]
            known, below = _ascending(view.original, place, case.persons, case.original.weights)
            label = read.codes[first].astype(np.int64)
            owner = np.flatnonzero((read.low < read.high)[label])
            ends = np.concatenate([read.low[label[owner]], read.high[label[owner]]])
            owner = np.concatenate([owner, owner])
            held = Members(view.original, place, case.rows, classes)
            claims.append(
                (names[place], read, label[owner], owner, int(held.have(owner, ends).sum()), held, known, below)
            )
        n_claims = sum(len(owner) for _, _, _, owner, *_ in claims)
        n_guesses = min(MOST_GUESSES, max(1, ENOUGH_GUESSES // max(1, n_claims)))
        found = {}
        for name, read, label, owner, n_right, held, known, below in claims:
            drawn = sum(int(held.have(owner, _drawn(read, label, known, below, rng)).sum()) for _ in range(n_guesses))
            found[name] = Rate(n_right, len(owner)), Rate(drawn, len(owner) * n_guesses)
        main, guess = (
            Rate(sum(r[i].successes for r in found.values()), sum(r[i].attempts for r in found.values()))
            for i in (0, 1)
        )
        worst = max(found, key=lambda name: found[name][0].value - found[name][1].value)
        at_ends, at_random = (100 * rate.value for rate in found[worst])
        most = f" ({at_ends:.0f} % and {at_random:.0f} % in {worst!r}, which tells most)"
        return self.result(
            main,
            f"{100 * main.value:.1f} % of the ends of ranges are values of members, and {100 * guess.value:.1f} % of "
            f"values drawn from the ranges are{most if len(found) > 1 else ''}.",
            baseline=guess,
            columns=tuple(found),
            details={
                f"{what} of {name}": rate.value
                for name, rates in found.items()
                for what, rate in zip(("ends", "guesses"), rates, strict=True)
            },
        )


def _ranges(case: TableCase) -> list[int]:
    """The places of the quasi-identifiers that are published as ranges of numbers or dates."""
    names = columns_of(case, "quasi")
    view = read_view(case, names) if names else None
    return [] if view is None else [i for i, read in enumerate(view.labels) if read.is_line and not read.is_plain]


def _ascending(people: People, place: int, persons: Ints | None, weights: Codes | None) -> tuple[Floats, Ints]:
    """The values of a column that somebody has, and before each of them how many people have a lower one; and all."""
    known, of_value = np.unique(people.values[place], return_inverse=True)
    counts = n_distinct(of_value.astype(np.int64)[people.codes[place]], persons, len(known), weights)
    is_held = (counts > 0) & ~np.isnan(known)
    return known[is_held], np.append(0, np.cumsum(counts[is_held]))


def _drawn(read: CellLabels, labels: Ints, known: Floats, below: Ints, rng: np.random.Generator) -> Floats:
    """A value that each label covers, as likely as it is frequent."""
    first = below[np.searchsorted(known, read.low[labels], "left")]
    last = below[np.searchsorted(known, read.high[labels], "right")]
    person = first + (rng.random(len(labels)) * (last - first)).astype(np.int64)
    return np.asarray(known[np.searchsorted(below, person, "right") - 1])


TABLE_ATTACKS.register(LabelEnds())
