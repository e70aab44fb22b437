"""Inference: what is known of a person and what is published tell the person's secret.

The first attacker takes the secret value of the nearest published record, or the most frequent one among equally near.
In a table in slices it takes the likeliest value by the checker's own posterior (`shoal.check.slices.posterior`), and
the most frequent one for whom no bucket matches. The second, in the manner of Kifer's deFinetti attack, learns from the
whole release how secrets go with quasi-identifiers (`naive_bayes`) and applies it inside the person's group.

A guess is right if the category is the same, or the number within 5 % of the guess. Control: people that are not in the
release; what is true of people at large is inferred for them as well, and is no leak. Baseline: the most frequent
published value.

References
----------
M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023(2), section 5.3;
D. Kifer, "Attacks on privacy and deFinetti's theorem", SIGMOD 2009, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.attack import ALL_RECORDS, Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.candidates import Candidates
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import CellLabels, People, View, columns_of, read_view
from shoal.attack.tables.naive_bayes import ValueBins, bucket_secrets, cut, known_secrets, learn, refine
from shoal.attack.tables.secrets import Told, known_beside, remedy_of, secrets_of, told_best
from shoal.attack.tables.slice_beliefs import SliceBeliefs
from shoal.attack.tables.targets import TableTargets, n_distinct

TOLERANCE = 0.05


@dataclass(frozen=True)
class _Guessed:
    """People whose secret is guessed; `rows` count originals and controls through."""

    view: View
    case: TableCase
    people: Floats
    rows: Ints
    beliefs: SliceBeliefs | None


@dataclass(frozen=True)
class Inference(Attack[TableCase]):
    """By the nearest published record.

    Attributes
    ----------
    known : sequence of str, optional
        What is known of a person; by default all quasi-identifiers, but for the secret where that is one.
    secrets : sequence of str, optional
        What is wanted; by default all (`secrets_of`). The rates are those of the one that is told best.
    votes : bool, default True
        Whether the most frequent value among equally near records is taken, or that of one at random.
    n_attacks : int, default 2000
        Guesses; see `told_best`.
    """

    known: Sequence[str] | None = None
    secrets: Sequence[str] | None = None
    votes: bool = True
    n_attacks: int = 2000

    name = "inference"
    place = 70
    title = "guessing a secret from the nearest record"
    knows = "the true quasi-identifiers of a record"
    stopped_by = "l-diversity and t-closeness, for sensitive attributes"
    remedy = "require l-diversity or t-closeness of the attribute, or raise k"
    reference = "Giomi et al., PoPETs 2023(2)"
    needs_others = True
    counts_by_weight = True

    def missing(self, case: TableCase) -> str | None:
        """Needs something known and something secret."""
        if not (self.known or columns_of(case, "quasi")):
            return "The release has no quasi-identifier of the original."
        if not (self.secrets or secrets_of(case)):
            return "No sensitive attribute is published, so there is nothing to infer."
        return ALL_RECORDS if case.is_weighted and not self.votes else None

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Guess each secret of a sample of people."""
        beliefs = None if case.layout is None else SliceBeliefs(case)

        def attempt(secret: str, chosen: TableTargets, others: TableTargets | None) -> Told:
            return self._told(case, secret, beliefs, chosen, others, rng)

        worst, told, compared = told_best(case, self.secrets or secrets_of(case), self.n_attacks, rng, attempt)
        rates = {f"{name}: main": one.main for name, one in compared.items()}
        rates |= {f"{name}: control": one.control for name, one in compared.items() if one.control is not None}
        theirs = told.control
        result = self.result(
            told.main,
            f"{100 * told.main.value:.1f} % of the guesses at a secret of {case.noun} in the release are right"
            + (
                f" ({100 * told.baseline.value:.1f} % by always taking the most frequent value)."
                if theirs is None
                else f", and {100 * theirs.value:.1f} % for others."
            ),
            control=theirs,
            baseline=told.baseline,
            details={name: rate.value for name, rate in rates.items()},
            columns=(worst,),
        )
        return replace(result, remedy=remedy_of(case, worst))

    def _told(
        self,
        case: TableCase,
        secret: str,
        beliefs: SliceBeliefs | None,
        chosen: TableTargets,
        others: TableTargets | None,
        rng: np.random.Generator,
    ) -> Told:
        """How often one secret is guessed right."""
        known = [n for n in self.known if n != secret] if self.known else known_beside(case, secret)
        view = read_view(case, [*known, secret])
        hidden = view.labels[-1]
        usual = int(np.argmax(n_distinct(hidden.codes, case.published_persons, hidden.n_labels, view.weights)))

        def right(of: People, targets: TableTargets, first: int) -> Rate:
            people, truth = of[targets.rows, :-1], of[targets.rows, -1]
            guess = self._guess(_Guessed(view, case, people, first + targets.rows, beliefs), rng)
            scored = targets.best(rightness(hidden, np.where(guess < 0, usual, guess), truth))
            return Rate(float(np.sum(scored)), len(targets))

        truth = view.original[chosen.rows, -1]
        always = rightness(hidden, np.full(len(truth), usual, dtype=np.int64), truth)
        theirs = None
        ours = right(view.original, chosen, 0)
        if others is not None and view.control is not None:
            theirs = right(view.control, others, len(view.original))
        return Told(ours, theirs, Rate(float(np.sum(chosen.best(always))), len(chosen)))

    def _guess(self, targets: _Guessed, rng: np.random.Generator) -> Ints:
        """A label of the last column for each person, -1 for none."""
        view, people, beliefs = targets.view, targets.people, targets.beliefs
        hidden, persons = view.labels[-1], targets.case.published_persons
        if beliefs is not None:
            chances = beliefs.distributions(hidden, beliefs.believe(beliefs.match(targets.rows)))
            return np.where(chances.any(axis=1), np.argmax(chances, axis=1), -1)
        asked = Candidates(view.select(range(len(view.labels) - 1)), persons)
        if not self.votes:
            return np.asarray(hidden.codes[asked.nearest(people, 1, rng)[:, 0]], dtype=np.int64)
        guess = np.empty(len(people), dtype=np.int64)
        totals = n_distinct(hidden.codes, persons, hidden.n_labels, view.weights)
        for part, _, counts in asked.counts(people, hidden.codes.astype(np.int64), hidden.n_labels):
            # Of equally frequent values the one that is more frequent in the whole.
            guess[part] = np.argmax(counts + totals / (totals.sum() + 1.0), axis=1)
        return guess


class BayesInference(Inference):
    """By naive Bayes inside the person's group, in the manner of the deFinetti attack."""

    name = "inference-bayes"
    place = 80
    title = "guessing a secret from what the release teaches"
    stopped_by = "t-closeness, in part; l-diversity does not promise to"
    remedy = "require t-closeness, or publish fewer attributes that go with the secret"
    reference = "Kifer, SIGMOD 2009"
    counts_by_weight = False

    def _guess(self, targets: _Guessed, rng: np.random.Generator) -> Ints:
        view, people, beliefs, case = targets.view, targets.people, targets.beliefs, targets.case
        hidden, known, persons = view.labels[-1], view.labels[:-1], case.published_persons
        secrets, n_secrets = hidden.codes.astype(np.int64), hidden.n_labels
        bins = [cut(read, view.original[:, i], case.persons) for i, read in enumerate(known)]
        asked = [cells.of_people(people[:, i]) for i, cells in enumerate(bins)]
        if beliefs is not None:
            return _guess_in_slices(beliefs, hidden, bins, asked, targets.rows)
        tables = [learn(cells, known_secrets(secrets, persons), n_secrets) for cells in bins]
        candidates = Candidates(view.select(range(len(known))), persons)
        nearest = candidates.nearest(people, 1, rng)[:, 0]
        # Of those in one class, p(s | x) is p(s | class) * p(x | s) / p(label of the class | s).
        gain = np.zeros((len(people), n_secrets))
        for cells, place, table in zip(bins, asked, tables, strict=True):
            label = cells.of_label[cells.read.codes[nearest]]
            chance = label @ np.exp(table)
            gain += table[place] - np.log(
                np.where(np.any(label, axis=1, keepdims=True), np.maximum(chance, 1e-300), 1.0)
            )
        guess = np.empty(len(people), dtype=np.int64)
        for part, _, counts in candidates.counts(people, secrets, n_secrets):
            with np.errstate(divide="ignore"):
                # Equally likely ones are so but for rounding: the first of them.
                guess[part] = np.argmax(np.round(np.log(counts) + gain[part], 9), axis=1)
        return guess


def _guess_in_slices(
    beliefs: SliceBeliefs, hidden: CellLabels, bins: list[ValueBins], asked: list[Ints], rows: Ints
) -> Ints:
    """The posterior, times what the values in slices without the secret teach; in the others it has used them."""
    chances = beliefs.distributions(hidden, beliefs.believe(beliefs.match(rows)))
    gain = np.zeros(chances.shape)
    sliced = beliefs.sliced
    for part in sliced.parts:
        here = [i for i, cells in enumerate(bins) if cells.read.name in {c.name for c in part.columns}]
        if part.carries or not here:
            continue
        start = bucket_secrets(sliced.bucket, hidden.codes.astype(np.int64), hidden.n_labels)
        learned, _ = refine([bins[i] for i in here], sliced.bucket, start, hidden.n_labels)
        for i, table in zip(here, learned, strict=True):
            gain += table[asked[i]]
    with np.errstate(divide="ignore"):
        best = np.argmax(np.log(chances) + gain, axis=1)
    return np.where(chances.any(axis=1), best, -1)


def rightness(hidden: CellLabels, guess: Ints, truth: Floats) -> Floats:
    """How far each label guessed is right; one that covers m categories is by 1 / m if the true one is among them."""
    if hidden.is_number and hidden.is_plain:
        value = hidden.low[guess]
        near = np.abs(value - truth) <= TOLERANCE * np.abs(value)
        right = np.where(np.isnan(truth), hidden.may_miss[guess], np.isfinite(value) & near).astype(np.float64)
    else:
        right = hidden.covers(guess, truth) / np.maximum(hidden.sizes[guess], 1.0)
    return np.asarray(right)


TABLE_ATTACKS.register(Inference())
TABLE_ATTACKS.register(BayesInference())
