"""Genotypes are read from copies and not from groups: against a plain loop, and beside persons who were not there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.strings.case import StringCase
from shoal.attack.strings.genotype_recovery import N_AROUND, GenotypeRecovery, doses, recover
from shoal.data.strings.strings import Strings, StringSource

SITES = 40


def persons(n: int, seed: int, n_haplotypes: int = 30) -> Strings:
    """Of haplotypes that are the same in every set."""
    haplotypes = np.random.default_rng(0).random((n_haplotypes, SITES)) < 0.4
    rng = np.random.default_rng(seed)
    calls = haplotypes[rng.integers(0, n_haplotypes, (n, 2))] ^ (rng.random((n, 2, SITES)) < 0.1)
    source = StringSource("p", "vcf", "|", sites=tuple(f"1\t{i}\t.\tA\tG" for i in range(SITES)))
    starts = np.arange(n + 1, dtype=np.int64) * 2 * SITES
    return Strings(calls.astype(np.int32).ravel(), starts, ("0", "1"), True, source=source)


def slow_recover(
    of: list[list[int]], published: list[list[int]], known: list[int], hidden: list[int]
) -> tuple[list[float], float]:
    shares, n_all = [], 0
    for person in of:
        right, asked = 0, 0
        for site in hidden:
            before = sum(k < site for k in known)
            first = min(max(before - N_AROUND // 2, 0), max(len(known) - N_AROUND, 0))
            around = known[first : first + N_AROUND]
            alike = [sum(person[c] == other[c] for c in around) for other in published]
            votes = [other[site] for other, a in zip(published, alike, strict=True) if a == max(alike)]
            named = max(sorted(set(votes)), key=votes.count)
            column = [other[site] for other in published]
            commonest = max(sorted(set(column)), key=column.count)
            n_all += named == person[site]
            if person[site] != commonest:
                asked += 1
                right += named == person[site]
        if asked:
            shares.append(right / asked)
    return shares, n_all / (len(of) * len(hidden))


@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_a_plain_loop_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ours, published = rng.integers(0, 3, (8, SITES)), rng.integers(0, 3, (15, SITES))
    known = np.sort(rng.permutation(SITES)[: SITES // 2])
    hidden = np.setdiff1d(np.arange(SITES), known)[:9]
    shares, share = recover(ours, published, known, hidden)
    slow, slow_share = slow_recover(ours.tolist(), published.tolist(), known.tolist(), hidden.tolist())
    assert shares.tolist() == slow
    assert share == slow_share


def test_doses_of_phased_unphased_and_missing_genotypes() -> None:
    phased = Strings(np.array([0, 1, 1, 1], np.int32), np.array([0, 4]), ("0", "1"), True)
    assert doses(phased, 2).tolist() == [[1, 2]]
    spelled = Strings(np.arange(4, dtype=np.int32), np.array([0, 4]), ("0/0", "0/1", "1/1", "./."), True)
    assert doses(spelled, 4).tolist() == [[0, 1, 2, -1]]


def test_copies_are_read_and_others_are_not() -> None:
    members, others = persons(120, 1), persons(120, 2)
    attack = GenotypeRecovery()
    copied = attack.run(StringCase(members, members, others), np.random.default_rng(0))
    assert copied.succeeds
    assert copied.main.value > copied.control.value + 0.1  # type: ignore[union-attr]
    fresh = attack.run(StringCase(persons(120, 3), members, others), np.random.default_rng(0))
    assert not fresh.succeeds


def test_it_is_for_variants_and_needs_others() -> None:
    members, attack = persons(60, 1), GenotypeRecovery()
    case = StringCase(members, members, persons(60, 2))
    assert attack.fits(case)
    assert attack.missing(case) is None
    assert not attack.fits(StringCase(Strings.of(["ACGT"]), Strings.of(["ACGT"])))
    assert "not in the release" in str(attack.missing(replace(case, control=None)))
    few = replace(members, source=replace(members.source, sites=members.source.sites[:10]))
    assert "at least 20 variants" in str(attack.missing(replace(case, published=few)))
