"""Downcoding: labels that are no wider than they must be give away values inside them.

Who knows that a group was generalised as little as possible knows that every member of ``{a, b}``, and of ordered
categories both ends of ``[low..high]``, occur in the group. The attacker claims so for every class and column whose
label is a set or such a range; a claim is right if a member of the class has the value. Baseline: as many values drawn
at random from those that the labels cover. Where labels come from a recoding that is the same for all, or are rounded
outward (`shoal.data.tables.round_ends`), their ends are values like others.

What is left out: ranges of numbers and dates, which `label_ends` attacks, and nodes of a hierarchy, of which minimality
tells only that two of the branches below are inhabited.

References
----------
A. Cohen, "Attacks on deidentification's defenses", USENIX Security 2022, section 4. There a strategy for hierarchical
generalisations is proved to reach a constant share of the records; here it is what ranges and sets give away.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import CellLabels, People, attribute_of, columns_of, read_view
from shoal.attack.tables.targets import n_distinct

WIDEST_TABLE = 1 << 24  # classes times values that are noted one by one


class Downcoding(Attack[TableCase]):
    """Claim the members of sets and the ends of ranges of ordered categories."""

    name = "downcoding"
    place = 150
    title = "reading values off sets of categories"
    knows = "the published table, and that groups are generalised no more than they must be"
    stopped_by = "no guarantee of groups; a recoding that is the same for all records"
    remedy = "recode with hierarchies, so that labels do not depend on the members of a group"
    reference = "Cohen, USENIX Security 2022"
    counts_by_weight = True

    def missing(self, case: TableCase) -> str | None:
        """Needs ranges or sets, and the owner's knowledge of whose they are."""
        why = no_originals(case)
        if why is not None:
            return why
        names = columns_of(case, "quasi")
        view = read_view(case, names) if names else None
        if view is None or all(r.is_plain or _is_other(case, n, r) for n, r in zip(names, view.labels, strict=True)):
            return "No quasi-identifier is published as a set or as a range of ordered categories."
        return None

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Claim, and look at the originals."""
        assert case.rows is not None
        names = columns_of(case, "quasi")
        view = read_view(case, names)
        classes, first = view.boxes
        sizes = n_distinct(classes, None, len(first), view.weights)
        n_members = n_distinct(classes, case.published_persons, len(first), view.weights)
        right, chance, n_claims, n_cells = 0, 0, 0, 0
        for place, read in enumerate(view.labels):
            if read.is_line:
                continue
            domain = np.unique(view.original.held(place))
            label = read.codes[first].astype(np.int64)
            wide = (read.low < read.high) & (read.sizes < read.n_values)
            n_cells += int(sizes[wide[label]].sum())
            if _is_other(case, names[place], read):
                continue
            owner, claimed = _claims(read, label, wide, n_members)
            guessed = _drawn(read, label[owner], domain, rng)
            n_claims += len(owner)
            held = Members(view.original, place, case.rows, classes)
            right += int(np.sum(held.have(owner, claimed)))
            chance += int(np.sum(held.have(owner, guessed)))
        main = Rate(right, n_claims)
        return self.result(
            main,
            f"For {100 * n_claims / max(1, n_cells):.1f} % of the generalised cells a single value can be claimed, and "
            f"{100 * main.value:.1f} % of these claims are right (of random ones, "
            f"{100 * chance / max(1, n_claims):.1f} %).",
            baseline=Rate(chance, n_claims),
            details={"claims": float(n_claims), "generalised_cells": float(n_cells)},
        )


def no_originals(case: TableCase) -> str | None:
    """Why claims about members of classes cannot be checked; None where they can."""
    if case.layout is not None:
        return "A row of a table in slices stands for no record whose value could be told."
    if case.rows is None:
        return case.no_rows("claims cannot be checked")
    return None


def _is_other(case: TableCase, name: str, read: CellLabels) -> bool:
    """Whether labels are nodes of a hierarchy, or ranges of numbers or dates."""
    return read.is_line or (attribute_of(case, name).hierarchy is not None and not read.is_number)


def _claims(
    read: CellLabels, label: Ints, wide: npt.NDArray[np.bool_], sizes: npt.NDArray[np.int64]
) -> tuple[Ints, Floats]:
    """Class and value of every claim: ends of numbers, members of sets, never more than a class has members."""
    classes = np.flatnonzero(wide[label])
    if read.is_number:
        owner = np.repeat(classes, 2)
        return owner, np.column_stack([read.low[label[classes]], read.high[label[classes]]]).ravel()
    members = {
        x: read.listed[read.begins[x] : read.begins[x + 1]]
        if read.begins[x] < read.begins[x + 1]
        else np.arange(read.low[x], read.high[x] + 1)
        for x in np.flatnonzero(wide).tolist()
    }
    if not members:
        return classes, np.zeros(0)
    lengths, begins = np.zeros(len(wide), dtype=np.int64), np.zeros(len(wide), dtype=np.int64)
    lengths[list(members)] = [len(some) for some in members.values()]
    begins[list(members)] = np.cumsum(lengths[list(members)]) - lengths[list(members)]
    taken = np.minimum(lengths[label[classes]], sizes[classes])
    within = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken, taken)
    return np.repeat(classes, taken), np.concatenate(list(members.values()))[
        np.repeat(begins[label[classes]], taken) + within
    ]


def _drawn(read: CellLabels, labels: Ints, domain: Floats, rng: np.random.Generator) -> Floats:
    """A value that each label covers."""
    if read.is_number:
        first = np.searchsorted(domain, read.low[labels], "left")
        last = np.searchsorted(domain, read.high[labels], "right")
        return np.asarray(domain[first + (rng.random(len(labels)) * (last - first)).astype(np.int64)])
    shares = rng.random(len(labels))
    gaps = read.begins[labels + 1] > read.begins[labels]
    span = (read.low[labels] + np.floor(shares * read.sizes[labels])).astype(np.float64)
    at = read.begins[labels] + np.floor(shares * read.sizes[labels]).astype(np.int64)
    if not len(read.listed):
        return span
    return np.where(gaps, read.listed[np.minimum(at, len(read.listed) - 1)], span)


class Members:
    """Which values of a column the members of each class have.

    Parameters
    ----------
    rows : int64 array (n_published,)
        The person that each published record stands for.
    classes : int64 array (n_published,)
        The class of each.
    """

    def __init__(self, people: People, place: int, rows: Ints, classes: Ints) -> None:
        values = people.values[place]
        self._known, of_value = np.unique(values[~np.isnan(values)], return_inverse=True)
        place_of = np.full(len(values), len(self._known), dtype=np.int64)
        place_of[~np.isnan(values)] = of_value
        self._width = len(self._known) + 1
        keys = classes * self._width + place_of[people.codes[place][rows]]
        span = (int(classes.max(initial=-1)) + 1) * self._width
        self._is_held = np.zeros(span if span <= WIDEST_TABLE else 0, dtype=bool)
        self._is_held[keys if len(self._is_held) else keys[:0]] = True
        self._keys = keys[:0] if len(self._is_held) else np.unique(keys)

    def have(self, owner: Ints, claimed: Floats) -> npt.NDArray[np.bool_]:
        """Whether a member of each class has the value that is claimed."""
        asked = owner * self._width + np.searchsorted(self._known, claimed)
        return self._is_held[asked] if len(self._is_held) else np.isin(asked, self._keys)


TABLE_ATTACKS.register(Downcoding())
