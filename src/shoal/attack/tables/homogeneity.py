"""Homogeneity, skewness and similarity: what the secrets of the records that could be a person's have in common.

The candidates of a person are the published records whose labels cover all known quasi-identifiers; in tables of plain
values the nearest ones. The attacker learns the person's secret
- for sure, where all candidates have one value (homogeneity),
- by a belief that at least doubles, from the share of the value in the whole table to that among candidates, and
  reaches a half (skewness),
- nearly, where all candidates' numbers lie within a tenth of the whole range, or their categories below one node of the
  hierarchy that is not the root (similarity);
a success is that and the truth: the value is the person's own, or lies in the range or below the node.

Control: people who are not in the release. Baseline: the same classes with the secrets dealt out at random.

References
----------
A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, "l-Diversity: privacy beyond k-anonymity", TKDD 1(1),
2007, section 2 (homogeneity); N. Li, T. Li, S. Venkatasubramanian, "t-Closeness: privacy beyond k-anonymity and
l-diversity", ICDE 2007, section 3 (skewness, similarity).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables.candidates import Candidates, candidates_of
from shoal.attack.tables.case import TABLE_ATTACKS, TableCase
from shoal.attack.tables.cells import CellLabels, View, attribute_of, columns_of, read_view
from shoal.attack.tables.secrets import Told, known_beside, remedy_of, secrets_of, told_best
from shoal.attack.tables.targets import TableTargets, draw, n_distinct
from shoal.data.tables.table import spell

NARROW = 0.1
MANY_TIMES = 2.0
LIKELY = 0.5
MOST_DEALT = 10**9  # records from which NumPy draws without putting back


@dataclass(frozen=True)
class Secret:
    """A sensitive attribute in codes.

    Attributes
    ----------
    codes : int64 array (n_published,)
        The value of each record; numbers ascend.
    original, control : int64 arrays
        The same of people, -1 for a value that no record has.
    numbers : float64 array (n_values,), optional
        What the codes of a numeric attribute stand for.
    """

    name: str
    codes: Ints
    n_values: int
    original: Ints
    control: Ints | None
    numbers: Floats | None


@dataclass(frozen=True)
class Homogeneity(Attack[TableCase]):
    """All candidates have the person's value."""

    n_attacks: int = 2000

    name = "homogeneity"
    place = 100
    title = "all candidates share one secret"
    knows = "the true quasi-identifiers of a record"
    stopped_by = "l-diversity with l of 2 or more"
    remedy = "require l-diversity of the attribute"
    reference = "Machanavajjhala et al., TKDD 2007, section 2"
    counts_by_weight = True
    outcome = "the secret is certain, and true,"

    def missing(self, case: TableCase) -> str | None:
        """Needs classes and a secret."""
        if case.layout is not None:
            return "A table in slices has no classes; the column join attacks it instead."
        if not columns_of(case, "quasi"):
            return "The release has no quasi-identifier of the original."
        if not self._secrets(case):
            return "No sensitive attribute is published that it could be about."
        return None

    def _secrets(self, case: TableCase) -> list[str]:
        return secrets_of(case)

    def run(self, case: TableCase, rng: np.random.Generator) -> AttackResult:
        """Look at the candidates of originals and of controls."""

        def attempt(name: str, chosen: TableTargets, others: TableTargets | None) -> Told:
            return self._told(case, name, chosen, others, rng)

        worst, told, compared = told_best(case, self._secrets(case), self.n_attacks, rng, attempt)
        theirs = told.control
        result = self.result(
            told.main,
            f"For {100 * told.main.value:.1f} % of the {case.noun} in the release {self.outcome} from the records that "
            "could be theirs" + ("." if theirs is None else f"; for others that holds in {100 * theirs.value:.1f} %."),
            control=theirs,
            baseline=told.baseline,
            details={name: one.main.value for name, one in compared.items()},
            columns=(worst,),
        )
        return replace(result, remedy=remedy_of(case, worst))

    def _told(
        self, case: TableCase, name: str, chosen: TableTargets, others: TableTargets | None, rng: np.random.Generator
    ) -> Told:
        """How often one secret is learned."""
        known = known_beside(case, name)
        view, asked = read_view(case, known), candidates_of(case, known)
        secret = self._read(case, read_view(case, [name]))
        people, truth = view.original[chosen.rows], secret.original[chosen.rows]
        won = float(np.sum(chosen.best(self._won(asked, people, secret, secret.codes, truth))))
        if view.weights is not None:
            dealt = self._won_by_chance(asked, people, secret, truth, view.weights, rng)
        else:
            codes = _dealt(secret.codes, case.published_persons, rng)
            dealt = self._won(asked, people, secret, codes, truth)
        by_chance = Rate(float(np.sum(chosen.best(dealt))), len(chosen))
        theirs = None
        if others is not None:
            control = 0.0
            if view.control is not None and secret.control is not None:
                people, truth = view.control[others.rows], secret.control[others.rows]
                control = float(np.sum(others.best(self._won(asked, people, secret, secret.codes, truth))))
            theirs = Rate(control, len(others))
        return Told(Rate(won, len(chosen)), theirs, by_chance)

    def _won(self, asked: Candidates, people: Floats, secret: Secret, codes: Ints, truth: Ints) -> Floats:
        """Of which records the secret is learned."""
        won = np.zeros(len(people))
        for part, _, counts in asked.counts(people, codes, secret.n_values, cover_only=True):
            won[part] = self._succeeds(counts, truth[part], secret)
        return won

    def _won_by_chance(
        self, asked: Candidates, people: Floats, secret: Secret, truth: Ints, weights: Codes, rng: np.random.Generator
    ) -> Floats:
        """The same where rows stand for several records: the candidates of each person are drawn from all of them."""
        drawn = self._drawn(asked, people, secret, weights, rng)
        return np.asarray(self._succeeds(drawn, truth, secret), dtype=np.float64)

    def _drawn(
        self, asked: Candidates, people: Floats, secret: Secret, weights: Codes, rng: np.random.Generator
    ) -> Ints:
        """How many of as many records as are candidates, drawn from all, have each value: (n_people, n_values)."""
        overall = n_distinct(secret.codes, None, secret.n_values, weights)
        alike = asked.counts(people, np.zeros_like(secret.codes), 1, cover_only=True)
        totals = np.concatenate([counts[:, 0] for _, _, counts in alike])
        is_many = int(overall.sum()) >= MOST_DEALT
        drawn = [
            rng.multinomial(n, overall / overall.sum())
            if is_many
            else rng.multivariate_hypergeometric(overall, n, method="marginals")
            for n in totals.tolist()
        ]
        return np.array(drawn, dtype=np.int64).reshape(len(totals), -1)

    def _succeeds(self, counts: Ints, truth: Ints, secret: Secret) -> Mask:
        total = counts.sum(axis=1)
        return np.asarray((_of_truth(counts, truth) == total) & (total > 0))

    def _read(self, case: TableCase, view: View) -> Secret:
        return read_secret(view)


class Skewness(Homogeneity):
    """The candidates make the person's value twice as likely as the whole table does, or more, and at least a half."""

    name = "skewness"
    place = 110
    title = "candidates make a secret much likelier"
    needs_others = True
    stopped_by = "t-closeness, and beta-likeness"
    remedy = "require t-closeness or beta-likeness of the attribute"
    reference = "Li, Li and Venkatasubramanian, ICDE 2007, section 3"
    outcome = "the true secret becomes at least twice as likely, and likelier than not,"

    def _won(self, asked: Candidates, people: Floats, secret: Secret, codes: Ints, truth: Ints) -> Floats:
        """Shares are of records, or of persons, of whom one with two values counts for both."""
        won = np.zeros(len(people))
        totals = np.concatenate([c[:, 0] for _, _, c in asked.counts(people, np.zeros_like(codes), 1, cover_only=True)])
        for part, _, counts in asked.counts(people, codes, secret.n_values, cover_only=True):
            won[part] = self._is_likelier(asked, secret, counts, totals[part], truth[part])
        return won

    def _won_by_chance(
        self, asked: Candidates, people: Floats, secret: Secret, truth: Ints, weights: Codes, rng: np.random.Generator
    ) -> Floats:
        drawn = self._drawn(asked, people, secret, weights, rng)
        return self._is_likelier(asked, secret, drawn, drawn.sum(axis=1), truth).astype(np.float64)

    def _is_likelier(self, asked: Candidates, secret: Secret, counts: Ints, totals: Ints, truth: Ints) -> Mask:
        """Whether the share of the true value among candidates is so much more than that in the whole."""
        overall = n_distinct(secret.codes, asked.persons, secret.n_values, asked.weights)
        n_there = overall.sum() if asked.persons is None else len(np.unique(asked.persons))
        before = np.where(truth >= 0, (overall / max(1, n_there))[np.maximum(truth, 0)], 1.0)
        now = _of_truth(counts, truth) / np.maximum(totals, 1)
        return np.asarray((now >= MANY_TIMES * before) & (now >= LIKELY))


class Similarity(Homogeneity):
    """The candidates' secrets are many, but near each other."""

    name = "similarity"
    place = 120
    title = "candidates' secrets are very similar"
    needs_others = True
    stopped_by = "t-closeness with the ordered or the hierarchical distance"
    remedy = "require t-closeness with the ordered or the hierarchical distance"
    reference = "Li, Li and Venkatasubramanian, ICDE 2007, section 3"
    outcome = "the secret is known within a tenth of its range, or its branch is,"

    def _secrets(self, case: TableCase) -> list[str]:
        found = []
        for name in columns_of(case, "sensitive"):
            attribute = attribute_of(case, name)
            if attribute.type in ("continuous", "date", "ordinal") or attribute.hierarchy is not None:
                found.append(name)
        return found

    def _read(self, case: TableCase, view: View) -> Secret:
        secret = read_secret(view)
        hierarchy = attribute_of(case, view.labels[-1].name).hierarchy
        return secret if secret.numbers is not None or hierarchy is None else _branches(case, secret.name)

    def _succeeds(self, counts: Ints, truth: Ints, secret: Secret) -> Mask:
        if secret.numbers is None:
            return super()._succeeds(counts, truth, secret)
        there = counts > 0
        some = there.any(axis=1)
        low = secret.numbers[np.argmax(there, axis=1)]
        high = secret.numbers[there.shape[1] - 1 - np.argmax(there[:, ::-1], axis=1)]
        own = np.where(truth >= 0, secret.numbers[np.maximum(truth, 0)], np.nan)
        narrow = high - low <= NARROW * (np.nanmax(secret.numbers) - np.nanmin(secret.numbers))
        return np.asarray(some & narrow & (low <= own) & (own <= high))


def _dealt(codes: Ints, persons: Ints | None, rng: np.random.Generator) -> Ints:
    """The same secrets dealt out at random: to records, or to persons, each of whom gets one of another's."""
    if persons is None:
        return rng.permutation(codes)
    names, who = np.unique(persons, return_inverse=True)
    theirs = draw(who, len(who), len(names), rng).rows
    return np.asarray(codes[theirs[who]])


def _of_truth(counts: Ints, truth: Ints) -> Ints:
    found = counts[np.arange(len(truth)), np.maximum(truth, 0)]
    return np.where(truth >= 0, found, -1)


def read_secret(view: View) -> Secret:
    """The last column of a view in codes; people with a value that nobody published get one of their own."""
    hidden = view.labels[-1]
    people = [p for p in (view.original, view.control) if p is not None]
    coded = [(_single(hidden), hidden.codes), *((p.values[-1], p.codes[-1]) for p in people)]
    used = [np.bincount(codes, minlength=len(v)) > 0 for v, codes in coded]
    values = np.unique(np.concatenate([v[u] for (v, _), u in zip(coded, used, strict=True)]))
    # nan, the missing one, is last
    parts = [np.searchsorted(values, v)[codes].astype(np.int64) for v, codes in coded]
    numbers = values if hidden.is_number else None
    return Secret(hidden.name, parts[0], len(values), parts[1], parts[2] if len(parts) > 2 else None, numbers)


def _single(hidden: CellLabels) -> Floats:
    """The value of each label; one that covers several is a value of its own, beyond all others."""
    several = hidden.low < hidden.high
    beyond = np.nanmax(np.where(np.isfinite(hidden.high), hidden.high, 0.0), initial=0.0) + 1.0
    shown = np.where(hidden.low <= hidden.high, hidden.low, np.nan)
    return np.where(several, beyond + np.arange(hidden.n_labels), shown)


def _branches(case: TableCase, name: str) -> Secret:
    """The secrets of everybody, all below one child of the root made one."""
    hierarchy = attribute_of(case, name).hierarchy
    assert hierarchy is not None
    leaves = set(hierarchy.leaves)
    place: dict[str | None, int] = {}
    parts: list[Ints] = []
    for table in (case.published, case.original, case.control):
        if table is None:
            continue
        column = table[name]
        labels = [hierarchy.label(t, hierarchy.height - 1) if t in leaves else t for t in spell(column.values)]
        recode = [place.setdefault(label, len(place)) for label in [*labels, None]]
        parts.append(np.array(recode, dtype=np.int64)[np.minimum(column.codes, len(labels))])
    return Secret(name, parts[0], len(place), parts[1], parts[2] if len(parts) > 2 else None, None)


TABLE_ATTACKS.register(Homogeneity())
TABLE_ATTACKS.register(Skewness())
TABLE_ATTACKS.register(Similarity())
