"""What genotypes does someone have at variants that nobody asked for? Read from published persons who are alike nearby.

Who knows some of a person's variants, as from a chip, looks for published persons with the same genotypes at the known
variants around one that is not known, and takes what most of the best have there. Linked variants tell much of each
other in any data of the population, so the same is done for persons who were not in it: what is got of members beyond
that comes from their own records.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.result import AttackResult, Rate
from shoal.attack.strings.case import STRING_ATTACKS, StringCase
from shoal.attack.strings.rates import AgainstOthers
from shoal.check.strings.originals import in_alphabet_of
from shoal.data.strings.strings import Strings

N_ATTACKED = 300
N_HIDDEN = 60  # variants that are asked for
N_AROUND = 10  # known ones by which persons are compared
FEWEST_SITES = 20


class GenotypeRecovery(AgainstOthers):
    """Name a person's genotypes at half of the variants from those at the other half."""

    name = "genotype-recovery"
    place = 120
    title = "reading genotypes from published persons"
    knows = "a person's genotypes at half of the variants, and persons who were not in the data to compare with"
    stopped_by = "groups of at least k persons, and alleles drawn after contexts that enough of them carry"
    remedy = "raise k or support, or lower the order: pseudo-persons then follow single persons for shorter stretches"
    reference = "Shoal's own; by imputation from a panel, as in Li et al., Genetic Epidemiology 34, 2010"

    def fits(self, case: Any) -> bool:
        """Variants only."""
        return isinstance(case, StringCase) and bool(case.original.source.sites)

    def missing(self, case: StringCase) -> str | None:
        """There must be others, and variants to tell apart."""
        if len(case.published.source.sites) < FEWEST_SITES:
            return f"It needs at least {FEWEST_SITES} variants."
        return super().missing(case)

    def run(self, case: StringCase, rng: np.random.Generator) -> AttackResult:
        """Compare members and others."""
        assert case.control is not None  # else it is missing
        shown = in_alphabet_of(case.original, case.published)
        published = doses(shown, len(case.published.source.sites))
        n_sites = published.shape[1]
        known = np.sort(rng.permutation(n_sites)[: n_sites // 2])
        hidden = np.sort(rng.permutation(np.setdiff1d(np.arange(n_sites), known))[:N_HIDDEN])
        rates, guessed = [], []
        for side in (case.original, in_alphabet_of(shown, case.control)):
            rows = np.sort(rng.permutation(len(side))[:N_ATTACKED])
            persons = doses(side.take(rows), n_sites)
            shares, guess = recover(persons, published, known, hidden)
            rates.append(Rate(float(shares.sum()), len(shares)))
            guessed.append(guess)
        main, control = rates
        return self.result(
            main,
            "Someone who knows half of a person's variants correctly names "
            f"{100 * main.value:.1f} % of the other genotypes that are not the most common there; for persons who were "
            f"not in the data, {100 * control.value:.1f} %.",
            control=control,
            details={"all_genotypes_of_members": guessed[0], "all_genotypes_of_others": guessed[1]},
        )


def doses(strings: Strings, n_sites: int) -> Ints:
    """How often each person has the other allele at each variant, -1 where one is missing; of a matrix the values."""
    if strings.source.format == "matrix":
        return strings.symbols.reshape(-1, n_sites).astype(np.int64)
    parts = [re.split(r"[|/]", symbol) for symbol in strings.alphabet]
    n_other = np.array([part.count("1") for part in parts] or [0])
    is_missing = np.array(["." in part for part in parts] or [False])
    calls = strings.symbols.reshape(len(strings), -1, n_sites)
    return np.where(is_missing[calls].any(axis=1), -1, n_other[calls].sum(axis=1))


def recover(persons: Ints, published: Ints, known: Ints, hidden: Ints) -> tuple[Floats, float]:
    """Of each person the share of hidden genotypes named that are not the commonest; of all, the share named.

    Parameters
    ----------
    persons, published : int64 arrays (n, n_sites)
    known, hidden : int64 arrays
        Variants, ascending.

    Returns
    -------
    float64 array, float
        Persons whose hidden genotypes are all the commonest are left out.
    """
    n_right, n_asked, n_all = np.zeros(len(persons)), np.zeros(len(persons)), 0
    for site in hidden.tolist():
        first = int(np.clip(np.searchsorted(known, site) - N_AROUND // 2, 0, max(len(known) - N_AROUND, 0)))
        around = known[first : first + N_AROUND]
        alike = (persons[:, None, around] == published[None, :, around]).sum(axis=2)
        is_best = (alike == alike.max(axis=1, keepdims=True)).astype(np.float64)
        genotypes = np.unique(published[:, site])
        votes = is_best @ (published[:, site, None] == genotypes)
        named = genotypes[votes.argmax(axis=1)]
        commonest = genotypes[_counts(published[:, site], genotypes).argmax()]
        is_right, is_asked = named == persons[:, site], persons[:, site] != commonest
        n_right += is_right & is_asked
        n_asked += is_asked
        n_all += int(is_right.sum())
    asked = n_asked > 0
    return n_right[asked] / n_asked[asked], n_all / max(len(persons) * len(hidden), 1)


def _counts(values: Ints, of: Ints) -> Ints:
    return np.asarray((values[:, None] == of).sum(axis=0))


STRING_ATTACKS.register(GenotypeRecovery())
