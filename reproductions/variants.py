"""What a release of variants keeps: allele shares and linkage, beside what an attacker gets.

No paper's table: 500 persons are made, whose variants come in blocks that are inherited together, and written as VCF.
They are released with the defaults and with shorter contexts, read back, and compared with the originals: all of them,
and again without a fifth, which is the control of the attacks. Run as ``python -m reproductions.variants``; it writes
docs/reproductions/variants.md.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import shoal
from shoal.attack.attack import Attack, run_attacks
from shoal.attack.result import AttackResult, Rate
from shoal.kind import kind_of_policy

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reproductions" / "variants.md"
N_PERSONS, N_BLOCKS, IN_A_BLOCK, N_HAPLOTYPES = 500, 40, 10, 4
MUTATED = 0.01
FIRST_SITE = 1000
N_OTHERS = 400  # as many as are released
K = 20
TRACED = ("place-membership", "fragment-membership", "share-tracing")
ATTACKS = (*TRACED, "genotype-recovery")
N_SETS = 6


def make_persons(rng: np.random.Generator, n_persons: int) -> npt.NDArray[np.int64]:
    """Genotypes (persons, 2, variants): in each block one of a few haplotypes, and seldom another allele."""
    blocks = []
    for _ in range(N_BLOCKS):
        haplotypes = rng.random((N_HAPLOTYPES, IN_A_BLOCK)) < rng.uniform(0.1, 0.9, IN_A_BLOCK)
        shares = rng.dirichlet(np.ones(N_HAPLOTYPES))
        held = haplotypes[rng.choice(N_HAPLOTYPES, (n_persons, 2), p=shares)]
        blocks.append(held ^ (rng.random(held.shape) < MUTATED))
    return np.concatenate(blocks, axis=2).astype(np.int64)


def write_vcf(path: Path, calls: npt.NDArray[np.int64]) -> None:
    """Write phased genotypes."""
    with open(path, "w", encoding="utf-8") as file:
        names = "\t".join(f"person{i}" for i in range(len(calls)))
        file.write(f"##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t{names}\n")
        for j in range(calls.shape[2]):
            genotypes = "\t".join(f"{a}|{b}" for a, b in calls[:, :, j])
            file.write(f"1\t{FIRST_SITE + j}\t.\tA\tG\t.\t.\t.\tGT\t{genotypes}\n")


def read_doses(path: Path) -> dict[str, npt.NDArray[np.float64]]:
    """The share of the other allele of each person, by the place of the variant."""
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {cells[1]: np.array([cell.count("1") / 2 for cell in cells[9:]]) for cells in lines}


def compare(original: Path, published: Path) -> tuple[float, float, float, int]:
    """Mean and largest difference of allele shares, correlation of r2 over all pairs, and the number of variants."""
    before, after = read_doses(original), read_doses(published)
    sites = list(after)
    ours, theirs = (np.column_stack([held[site] for site in sites]) for held in (before, after))
    apart = np.abs(ours.mean(axis=0) - theirs.mean(axis=0))
    pairs = np.triu_indices(len(sites), 1)
    linked = [np.corrcoef(doses.T)[pairs] ** 2 for doses in (ours, theirs)]
    return float(apart.mean()), float(apart.max()), float(np.corrcoef(*linked)[0, 1]), len(sites)


def compare_samples(calls: npt.NDArray[np.int64], others: npt.NDArray[np.int64], sites: list[str]) -> list[float]:
    """The largest differences of allele shares that chance makes: of other persons, and of four fifths of these."""
    at = [int(site) - FIRST_SITE for site in sites]
    samples = (others, np.random.default_rng(1).permutation(calls)[: len(calls) * 4 // 5])
    return [float(np.abs(calls.mean(axis=(0, 1)) - some.mean(axis=(0, 1)))[at].max()) for some in samples]


def attack(release: Any) -> dict[str, AttackResult]:
    """The attacks that stand on the page, without a limit of time."""
    return attack_case(release.case, kind_of_policy(release.policy).attacks)


def attack_case(case: Any, attacks: Sequence[Attack[Any]]) -> dict[str, AttackResult]:
    """The same on any case."""
    return {r.attack: r for r in run_attacks(attacks, case, ATTACKS, seed=0).results}


def area(result: AttackResult) -> str:
    """The chance that a member scores above another."""
    return f"{result.details['area_under_curve']:.2f}"


def percent(rate: Rate | None) -> str:
    """A share."""
    assert rate is not None
    return f"{100 * rate.value:.1f} %"


def release_to(folder: Path, source: Path, policy: Any, **settings: Any) -> tuple[Any, Path]:
    """A release, and the file that it wrote."""
    release = shoal.anonymize(source, policy, seed=1, **settings)
    release.save(folder)
    return release, folder / "publish" / "data.vcf"


def areas_over_sets(folder: Path) -> list[str]:
    """Areas of the default over persons that are made anew, half of them held out, with 95 % intervals."""
    found = []
    for i in range(N_SETS):
        source = folder / f"set{i}.vcf"
        write_vcf(source, make_persons(np.random.default_rng(100 + i), 2 * N_OTHERS))
        release = shoal.anonymize(source, shoal.StringPolicy.of(k=K), seed=i, hold_out=0.5)
        told = attack(release)
        found.append([told[name].details["area_under_curve"] for name in TRACED])
    half = 1.96 * np.std(found, axis=0, ddof=1) / np.sqrt(N_SETS)
    return [f"{m:.3f} ± {h:.3f}" for m, h in zip(np.mean(found, axis=0), half, strict=True)]


def main() -> None:
    """Make, release, compare, write the page."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "persons.vcf"
        made = make_persons(np.random.default_rng(0), N_PERSONS + N_OTHERS)
        calls, others = made[:N_PERSONS], made[N_PERSONS:]
        write_vcf(source, calls)
        for order in (None, 4, 3, 2):
            policy = shoal.StringPolicy.of(k=K) if order is None else shoal.StringPolicy.of(k=K, order=order)
            _, published = release_to(Path(folder) / f"all{order}", source, policy)
            mean, largest, linked, n = compare(source, published)
            release, of_some = release_to(Path(folder) / f"some{order}", source, policy, hold_out=0.2)
            told = attack(release)
            recovered = told["genotype-recovery"]
            rows.append(
                f"| {release.policy.method.order}{' (default)' if order is None else ''} | {mean:.3f} | {largest:.3f} "
                f"| {linked:.3f} | {compare(source, of_some)[1]:.3f} | {area(told['place-membership'])} "
                f"| {area(told['fragment-membership'])} | {area(told['share-tracing'])} | {percent(recovered.main)} "
                f"| {percent(recovered.control)} |"
            )
        places, fragments, shares = areas_over_sets(Path(folder))
        chance = compare_samples(calls, others, list(read_doses(published)))
        copied = replace(release.case, published=release.case.original)
        raw = attack_case(copied, kind_of_policy(release.policy).attacks)["genotype-recovery"]
    PAGE.write_text(
        f"""# Variants of made persons

Written by `python -m reproductions.variants`. {N_PERSONS} persons are made, with {N_BLOCKS} blocks of
{IN_A_BLOCK} variants; a person has two of {N_HAPLOTYPES} haplotypes in each block, and {100 * MUTATED:.0f} % of
the alleles are others. All are released with k = {K}; {n} variants have alleles that enough persons carry. For the
attacks a fifth of the persons is held out as their control, and the others are released in the same way. The order
was chosen on persons made in this way. For comparison, the shares of {N_OTHERS} other persons with the same haplotypes
differ by {chance[0]:.3f} at most, and those of four fifths of the persons themselves by {chance[1]:.3f}.

"""
        + "| order | allele shares differ by, mean | at most | correlation of r2 | at most, a fifth held out | members "
        "told by place | by fragments | by shares | genotypes read, of members | of others |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        + "\n".join(rows)
        + f"""

r2 is the squared correlation of two variants over persons, the usual measure of linkage disequilibrium; its
correlation is over all pairs of variants. Members are told from others with this chance; a half is guessing.
These are of 100 others, so 0.06 either way; over {N_SETS} sets of {N_OTHERS} persons made anew, with as many others,
they are {places} by place, {fragments} by fragments and {shares} by shares. Exact allele shares of nearly as
many variants as persons tell members to whoever has others to compare with (Homer et al., PLoS Genetics 4, 2008), so
that such a release is amber: keep fewer variants, release more persons together, or take shares for public.
Genotypes are read by who knows half of a person's variants, and counted where they are not the commonest
(`genotype-recovery`). From the originals themselves the same attack reads {percent(raw.main)} of members, and
{percent(raw.control)} of others: that is what it looks like where it succeeds.
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
