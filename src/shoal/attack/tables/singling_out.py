"""Singling out: a predicate made from the published table is true of exactly one original.

Univariate predicates name a value that one published record has, or the least or the greatest number of a column.
Multivariate ones take some attributes of one published record: categories equal, numbers at most or at least as large,
whichever is rarer by the published median; a label that covers several values is taken as it is. Where there are such
labels all attributes are taken; else three, and more until one predicate in twenty singles a published record out. (The
paper takes three. Out of labels they single out far fewer: of Adult by Mondrian with k = 5 it is 3 % of the predicates,
against all.) Those that do go first; where there are too few, they are filled up with what is true of the fewest. (The
paper's attacker makes no guess then; in a table of classes of k that would be always.)

A control of another size is brought to the size of the original: to fewer people exactly, by the hypergeometric
distribution; to more by the paper's model, ``N(n) = c (1 - (n w + 1) (1 - w)^n) / (n + 1)``, fitted to the expected
successes among fewer.

References
----------
M. Giomi, F. Boenisch, C. Wehmeyer, B. Tasnádi, "A unified framework for quantifying privacy risk in synthetic data",
PoPETs 2023(2), section 5.1; A. Cohen, K. Nissim, "Towards formalizing the GDPR's notion of singling out", PNAS 117(15),
2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, lgamma, log
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import View, columns_of, read_view
from shoal.attack.tables.predicates import (
    AT_LEAST,
    AT_MOST,
    EQUAL,
    LESS,
    MORE,
    OTHER,
    Crowd,
    Predicates,
    about_people,
    about_records,
    label_values,
    records_of,
)
from shoal.attack.tables.targets import n_distinct
from shoal.check.finding import SINGLED_OUT

if TYPE_CHECKING:
    from typing_extensions import Self

N_COLUMNS = 3
A_FEW = 0.1  # of all successes: a column that has fewer is not named
ENOUGH = 0.05  # of the predicates tried
MOST_BATCHES = 1000  # of predicates tried; fewer where they would not suffice
MANY = 64  # people beyond which a predicate is far from singling out


@dataclass(frozen=True)
class SinglingOut(Attack[TableCase]):
    """Predicates over a few attributes of a published record.

    Attributes
    ----------
    n_columns : int, optional
        Attributes of a predicate; by default all where labels cover several values, else 3, and more as long as they
        single out too few published records.
    n_attacks : int, default 2000
        Predicates.
    """

    n_columns: int | None = None
    n_attacks: int = 2000

    name = "singling-out"
    place = 20
    title = "singling out by several attributes"
    knows = "the published table alone"
    stopped_by = "k-anonymity: no combination of published quasi-identifiers is rare"
    remedy = "raise k, give more columns the role quasi, or coarsen columns that are published as they are"
    reference = "Giomi et al., PoPETs 2023(2); Cohen and Nissim, PNAS 2020"
    accepted_as = SINGLED_OUT
    counts_by_weight = True

    def advice(self, columns: Sequence[str]) -> str:
        """Of the columns that it succeeds by."""
        if not columns:
            return self.remedy
        names, it = ", ".join(map(repr, columns)), "it" if len(columns) == 1 else "them"
        return f"coarsen or drop {names}, give {it} the role quasi where others may know {it}, or raise k"

    def missing(self, case: TableCase) -> str | None:
        """Needs a column that original and release have in common."""
        if not columns_of(case, "quasi", "sensitive", "other"):
            return "The release and the original have no column in common."
        return None

    def of_size(self, n_attacks: int) -> Self:
        """Itself: the rarest predicates come first, so that more of them would only thin the successes out."""
        return self

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Make predicates, and count whom they are true of."""
        names = columns_of(case, "quasi", "sensitive", "other")
        main, control, baseline, alone, used = self._attack(case, names, rng)
        quasi = columns_of(case, "quasi")
        by_quasi = self._attack(case, quasi, rng, main_only=True)[0] if 0 < len(quasi) < len(names) else main
        kept = [n for n in used if n not in quasi]
        one = "original" if case.noun == "records" else "person"
        return self.result(
            main,
            f"Of {main.attempts:,} descriptions drawn from the release, {100 * main.value:.1f} % fit exactly one {one}"
            + ("" if control is None else f" ({100 * control.value:.1f} % would fit exactly one of as many others)")
            + f"; with quasi-identifiers alone, {100 * by_quasi.value:.1f} % do.",
            control=control,
            baseline=baseline,
            details={"true_of_one_published": float(alone), "by_quasi_identifiers": by_quasi.value},
            columns=kept if kept and by_quasi.value < main.value / 2 else used,
        )

    def _attack(
        self, case: TableCase, names: list[str], rng: np.random.Generator, *, main_only: bool = False
    ) -> tuple[Rate, Rate | None, Rate, int, list[str]]:
        """Main, control, baseline, how many predicates are true of one published record, and by which columns."""
        made, fit, alone, chance, guesses = 0, 0, 0, 0, 0
        by_column = dict.fromkeys(names, 0)
        held: float | None = None
        groups = _standing_together(case, names)
        for group in groups:
            view = read_view(case, group)
            n_attacks = -(-self.n_attacks // len(groups))
            predicates, n_alone = self._predicates(view, n_attacks, rng, case.published_persons)
            said = about_people(predicates, view)
            people = Crowd(view.original, case.persons, case.original.weights)
            made += predicates.n
            alone += n_alone
            hit = people.count(said, 2) == 1
            fit += int(np.sum(hit))
            for place, n in enumerate(np.bincount(predicates.columns[hit].ravel(), minlength=len(group)).tolist()):
                by_column[group[place]] += n
            if main_only:
                continue
            if view.control is not None and case.control is not None:
                crowd = Crowd(view.control, case.control_persons, case.control.weights)
                found = _scaled(crowd.count(said, MANY), crowd.n_people, people.n_people)
                held = (0.0 if held is None else held) + found
            random = _random(view, n_attacks, min(self.n_columns or N_COLUMNS, len(view.labels)), rng)
            chance += int(np.sum(people.count(about_people(random, view), 2) == 1))
            guesses += random.n
        control = None if held is None else Rate(min(held, float(made)), made)
        used = [n for n in sorted(names, key=lambda n: -by_column[n]) if by_column[n] > A_FEW * fit]
        return Rate(fit, made), control, Rate(chance, guesses), alone, used

    def _predicates(
        self, view: View, n_attacks: int, rng: np.random.Generator, persons: Ints | None = None
    ) -> tuple[Predicates, int]:
        """Distinct predicates; how many of them are true of one published record, or of those of one person."""
        records = Crowd(records_of(view), persons, view.weights)
        # A label covers its own person, so that every attribute more leaves fewer others; plain values may be wrong.
        covering = not all(read.is_plain for read in view.labels)
        width = min(self.n_columns or (len(view.labels) if covering else N_COLUMNS), len(view.labels))
        directions = [_direction(view, place) for place in range(len(view.labels))]
        if width == len(view.labels) and all((d == EQUAL).all() for d in directions):
            return _rarest(view, directions, n_attacks, rng, persons)
        if self.n_columns is None and width < len(view.labels):
            # Where not even all attributes together are enough, none of the widths between has to be tried.
            all_together = _drawn(view, directions, n_attacks, len(view.labels), rng.spawn(1)[0])
            if np.mean(records.count(about_records(all_together, view), 2) == 1) < ENOUGH:
                width = len(view.labels)
        batch = _drawn(view, directions, n_attacks, width, rng)
        while self.n_columns is None and width < len(view.labels):
            if np.mean(records.count(about_records(batch, view), 2) == 1) >= ENOUGH:
                break
            width += 1
            batch = _drawn(view, directions, n_attacks, width, rng)
        found = batch.take(np.arange(0))
        for left in range(MOST_BATCHES - 1, -1, -1):
            single = batch.take(np.flatnonzero(records.count(about_records(batch, view), 2) == 1))
            before = found.n
            found = found.beside(single).distinct()
            if found.n >= n_attacks:
                return found.take(np.arange(n_attacks)), n_attacks
            if (found.n - before) * left < n_attacks - found.n:
                break
            batch = _drawn(view, directions, n_attacks, width, rng)
        return _filled(found, batch, records, view, n_attacks)


@dataclass(frozen=True)
class UnivariateSinglingOut(SinglingOut):
    """Predicates over one attribute: rare values, and the ends of numbers."""

    n_columns: int | None = 1

    name = "singling-out-univariate"
    place = 10
    title = "singling out by one attribute"
    stopped_by = "k-anonymity, for quasi-identifiers; nothing, for rare values of columns kept as they are"

    def _predicates(
        self, view: View, n_attacks: int, rng: np.random.Generator, persons: Ints | None = None
    ) -> tuple[Predicates, int]:
        columns: list[Ints] = []
        labels: list[Ints] = []
        operators: list[Ints] = []
        for place, read in enumerate(view.labels):
            counts = np.bincount(read.codes, minlength=read.n_labels)
            used = np.flatnonzero(counts)
            columns.append(np.full(len(used), place))
            labels.append(used)
            operators.append(np.full(len(used), EQUAL))
            shown = np.where(counts > 0, label_values(read), np.nan)
            if read.is_number and read.is_plain and not np.isnan(shown).all():
                columns.append(np.full(2, place))
                labels.append(np.array([np.nanargmin(shown), np.nanargmax(shown)]))
                operators.append(np.array([AT_MOST, AT_LEAST]))
        listed = Predicates(*(np.concatenate(p)[:, None].astype(np.int64) for p in (columns, labels, operators)))
        listed = listed.take(rng.permutation(listed.n))
        records = Crowd(records_of(view), persons, view.weights)
        counts = records.count(about_records(listed, view), MANY)
        single = listed.take(np.flatnonzero(counts == 1)[:n_attacks])
        if single.n:  # as in the paper: what more than one has is not tried
            return single, single.n
        return listed.take(np.argsort(counts, kind="stable")[:n_attacks]), 0


def _standing_together(case: TableCase, names: list[str]) -> list[list[str]]:
    """The columns that predicates may combine: all, or those of one slice."""
    if case.layout is None:
        return [names]
    groups = [[n for n in one.attributes if n in names] for one in case.layout.slices]
    return [g for g in groups if g]


def _direction(view: View, place: int) -> Ints:
    """How a predicate uses each label of a column: numbers by the side of the median that they lie on."""
    read = view.labels[place]
    if not (read.is_number and read.is_plain):
        return np.full(read.n_labels, EQUAL)
    shown = label_values(read)
    cells = shown[read.codes]
    if np.isnan(cells).all():
        return np.full(read.n_labels, EQUAL)
    middle = float(np.nanmedian(cells)) if view.weights is None else _median(shown, read.codes, view.weights)
    return np.where(np.isnan(shown), EQUAL, np.where(shown > middle, AT_LEAST, AT_MOST)).astype(np.int64)


def _median(shown: Floats, codes: Codes, weights: Codes) -> float:
    """The median of the labels of records that rows with weights stand for, without missing ones."""
    order = np.argsort(shown, kind="stable")
    order = order[~np.isnan(shown[order])]
    ends = np.cumsum(np.bincount(codes, weights, minlength=len(shown)).astype(np.int64)[order])
    low, high = np.searchsorted(ends, [(ends[-1] - 1) // 2, ends[-1] // 2], "right")
    return float(shown[order[low]] + shown[order[high]]) / 2


def _some_columns(n_columns: int, n: int, width: int, rng: np.random.Generator) -> Ints:
    """Different columns for each predicate, ascending."""
    return np.sort(np.argsort(rng.random((n, n_columns)), axis=1)[:, :width], axis=1).astype(np.int64)


def _drawn(view: View, directions: list[Ints], n: int, width: int, rng: np.random.Generator) -> Predicates:
    """Predicates from records drawn at random, each once."""
    rows = view.draw_published(n, rng)
    columns = _some_columns(len(view.labels), n, width, rng)
    labels, operators = np.empty_like(columns), np.empty_like(columns)
    for place, read in enumerate(view.labels):
        here = columns == place
        labels[here] = read.codes[rows[np.nonzero(here)[0]]]
        operators[here] = directions[place][labels[here]]
    return Predicates(columns, labels, operators).distinct()


def _rarest(
    view: View, directions: list[Ints], n: int, rng: np.random.Generator, persons: Ints | None
) -> tuple[Predicates, int]:
    """Predicates that say all of a published record, the rarest first: what batches of them would come to."""
    box_of, first = view.boxes
    sizes = n_distinct(box_of, persons, len(first), view.weights)
    alone = rng.permutation(np.flatnonzero(sizes == 1))[:n]
    if len(alone) < n:
        others = np.unique(box_of[view.draw_published(n, rng)])
        others = rng.permutation(others[sizes[others] > 1])
        chosen = np.concatenate([alone, others[np.argsort(sizes[others], kind="stable")]])[:n]
    else:
        chosen = alone
    rows = first[chosen]
    labels = np.column_stack([read.codes[rows] for read in view.labels]).astype(np.int64)
    columns = np.broadcast_to(np.arange(labels.shape[1], dtype=np.int64), labels.shape).copy()
    operators = np.column_stack([d[labels[:, i]] for i, d in enumerate(directions)]).astype(np.int64)
    return Predicates(columns, labels, operators), len(alone)


def _random(view: View, n: int, width: int, rng: np.random.Generator) -> Predicates:
    """Predicates of labels and relations drawn at random."""
    columns = _some_columns(len(view.labels), n, width, rng)
    labels, operators = np.empty_like(columns), np.empty_like(columns)
    for place, read in enumerate(view.labels):
        here = columns == place
        used = np.flatnonzero(np.bincount(read.codes, minlength=read.n_labels))
        labels[here] = rng.choice(used, int(here.sum()))
        known = [EQUAL, OTHER, AT_LEAST, AT_MOST, MORE, LESS] if read.is_number else [EQUAL, OTHER]
        operators[here] = rng.choice(known, int(here.sum()))
    return Predicates(columns, labels, operators)


def _filled(found: Predicates, batch: Predicates, records: Crowd, view: View, n_attacks: int) -> tuple[Predicates, int]:
    counts = records.count(about_records(batch, view), MANY)
    rarest = batch.take(np.argsort(counts, kind="stable"))
    both = found.beside(rarest).distinct()
    return both.take(np.arange(min(n_attacks, both.n))), found.n


def _expected(counts: Ints, n_people: int, n_drawn: Ints) -> Floats:
    """Predicates that would be true of exactly one of so many people drawn from a crowd, on the average."""
    values, times = np.unique(counts[counts > 0], return_counts=True)
    result = np.zeros(len(n_drawn))
    for i, n in enumerate(n_drawn.tolist()):
        for c, m in zip(values.tolist(), times.tolist(), strict=True):
            if c <= n_people - n + 1:
                # c * C(N - c, n - 1) / C(N, n)
                result[i] += m * exp(log(c) + _log_choose(n_people - c, n - 1) - _log_choose(n_people, n))
    return result


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _scaled(counts: Ints, n_people: int, n_wanted: int) -> float:
    """Successes among so many people as are wanted, from the counts among those there are."""
    alone = float(np.sum(counts == 1))
    if n_wanted == n_people or not n_people:
        return alone
    if n_wanted < n_people:
        return float(_expected(counts, n_people, np.array([n_wanted]))[0])
    sizes = np.unique(np.linspace(min(n_people, max(2, n_people // 20)), n_people, 10).astype(np.int64))
    seen = _expected(counts, n_people, sizes)
    if not seen.any():
        return 0.0
    best, result = np.inf, alone
    for weight in np.geomspace(1e-3 / n_wanted, 1.0, 400):
        shape = _model(sizes, weight)
        norm = float(shape @ seen / (shape @ shape))
        error = float(np.sum((norm * shape - seen) ** 2))
        if error < best:
            here, there = _model(np.array([n_people, n_wanted]), weight)
            best, result = error, alone * float(there / here)
    return result


def _model(sizes: npt.NDArray[np.int64], weight: float) -> Floats:
    n = sizes.astype(np.float64)
    return np.asarray((1 - (n * weight + 1) * np.exp(n * np.log1p(-min(weight, 1 - 1e-12)))) / (n + 1))


TABLE_ATTACKS.register(UnivariateSinglingOut())
TABLE_ATTACKS.register(SinglingOut())
