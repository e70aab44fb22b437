"""History: a person's records are in different groups, and a secret that is in all of them is soon the only one.

Where one record of a person is taken to be known, guarantees look at one group at a time. Whoever knows the
quasi-identifiers of all records of a person takes what the secrets of their candidates say together, as if the person
had one: p(s) times, for every record, p(s | its candidates) / p(s). The likeliest is guessed, and right if a record of
the person has it.

Baseline: the same with one of the person's records, which is what guarantees count with. So what is true of people at
large, or follows from one record, is no part of the risk.

References
----------
S. R. Ganta, S. P. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy", KDD 2008,
section 2, where the records of a person are in several releases.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.candidates import candidates_of
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import columns_of, read_view
from shoal.attack.tables.homogeneity import Secret, read_secret
from shoal.attack.tables.secrets import Told, known_beside, secrets_of, told_best
from shoal.attack.tables.targets import TableTargets, n_distinct
from shoal.check.slices.sliced import numbered

LITTLE = 0.01
"""Of a record, how much of it is taken to be anybody's: no secret is ruled out by one group."""
MOST_SCORES = 1 << 23


@dataclass(frozen=True)
class History(Attack[TableCase]):
    """Guess by all records of a person.

    Attributes
    ----------
    n_attacks : int, default 2000
        Persons; see `told_best`.
    """

    n_attacks: int = 2000

    name = "history"
    place = 90
    title = "guessing a secret from all records of a person"
    knows = "the true quasi-identifiers of all records of a person"
    stopped_by = 'person_knowledge = "history", and diversity'
    remedy = 'take person_knowledge = "history", publish one record of a person, or raise k'
    reference = "Ganta, Kasiviswanathan and Smith, KDD 2008, section 2"

    def missing(self, case: TableCase) -> str | None:
        """Needs persons with several records, of whom one is taken to be known, and a secret."""
        if case.persons is None or case.layout is not None:
            return "It takes tables in which a row is a record, and for which it was said whose each is."
        if case.knows_history:
            return "All records of a person are taken to be known, and guarantees count with that."
        if not columns_of(case, "quasi"):
            return "The release has no quasi-identifier of the original."
        if not secrets_of(case):
            return "No sensitive attribute is published, so there is nothing to guess."
        if int(np.bincount(case.persons).max(initial=0)) < 2:
            return "No person has several records."
        return None

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Guess each secret of a sample of persons."""

        def attempt(name: str, chosen: TableTargets, _: TableTargets | None) -> Told:
            return self._told(case, name, chosen, rng)

        knowing = replace(case, knows_history=True, control=None)
        worst, told, compared = told_best(knowing, secrets_of(case), self.n_attacks, rng, attempt)
        return self.result(
            told.main,
            f"Of the guesses at a secret of persons with several records, {100 * told.main.value:.1f} % are right if "
            f"all records are known, and {100 * told.baseline.value:.1f} % if one is.",
            baseline=told.baseline,
            details={name: one.main.value for name, one in compared.items()},
            columns=(worst,),
        )

    def _told(self, case: TableCase, name: str, chosen: TableTargets, rng: np.random.Generator) -> Told:
        """How often one secret is guessed, by all records and by one."""
        view, known = read_view(case, [name]), known_beside(case, name)
        secret = read_secret(view)
        whose = np.repeat(np.arange(len(chosen)), np.diff(np.append(chosen.starts, len(chosen.rows))))
        told = [codes[chosen.rows] for codes in read_view(case, known).original.codes]
        first = np.sort(numbered([whose, secret.original[chosen.rows], *told])[1])  # what is repeated tells no more
        lengths = np.bincount(whose[first], minlength=len(chosen))
        several = np.flatnonzero(lengths > 1)[: max(1, MOST_SCORES // max(1, secret.n_values))]
        if not len(several):
            return Told(Rate(0, 0), None, Rate(0, 0))
        rows = chosen.rows[first[np.isin(whose[first], several)]]
        lengths = lengths[several]
        starts = np.cumsum(lengths) - lengths
        whose = np.repeat(np.arange(len(several)), lengths)
        one = starts + (rng.random(len(several)) * lengths).astype(np.int64)

        def right(part: Ints) -> Rate:
            guessed = self._likeliest(case, known, secret, rows[part], whose[part], len(several))
            hits = secret.original[rows] == guessed[whose]
            return Rate(float(np.sum(np.maximum.reduceat(hits, starts))), len(several))

        return Told(right(np.arange(len(rows))), None, right(one))

    def _likeliest(
        self, case: TableCase, known: list[str], secret: Secret, rows: Ints, whose: Ints, n_persons: int
    ) -> Ints:
        """The secret that is likeliest by all the given records of each person."""
        asked, people = candidates_of(case, known), read_view(case, known).original
        counted = n_distinct(secret.codes, case.published_persons, secret.n_values)
        prior = np.maximum(counted / max(1, counted.sum()), 1e-12)
        scores: Floats = np.tile(np.log(prior), (n_persons, 1))
        for part, _, counts in asked.counts(people[rows], secret.codes, secret.n_values, cover_only=True):
            totals = counts.sum(axis=1, keepdims=True)
            share = (counts + LITTLE * prior) / (totals + LITTLE)
            np.add.at(scores, whose[part], np.where(totals > 0, np.log(share / prior), 0.0))
        return np.asarray(np.argmax(np.round(scores, 9), axis=1), dtype=np.int64)


TABLE_ATTACKS.register(History())
