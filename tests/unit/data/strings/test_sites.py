"""Variants that enough of some persons carry, and the same variants of others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.check.folder import FolderCheck
from shoal.check.strings.sites import rarely_carried
from shoal.data.strings.files import read_strings
from shoal.data.strings.sites import at_sites, only_carried, places_of
from shoal.data.strings.strings import Strings

RNG = np.random.default_rng(7)
N, SITES = 60, 12
HEAD = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t"


def write(path: Path, calls: np.ndarray, places: range | list[int] = range(SITES), ids: bool = False) -> Path:
    """Phased genotypes of (persons, 2, variants)."""
    lines = [HEAD + "\t".join(f"p{i}" for i in range(len(calls)))]
    for j in places:
        genotypes = "\t".join(f"{a}|{b}" for a, b in calls[:, :, j])
        lines.append(f"1\t{100 + j}\t{f'rs{j}' if ids else '.'}\tA\tG\t.\t.\t.\tGT\t{genotypes}")
    path.write_text("\n".join(lines) + "\n")
    return path


def people(n: int = N, share: float = 0.4) -> np.ndarray:
    return (RNG.random((n, 2, SITES)) < share).astype(int)


def slow_carriers(strings: Strings) -> list[list[int]]:
    """Of each variant, how many persons carry either allele."""
    n = len(strings.source.sites)
    found = [[0, 0] for _ in range(n)]
    for text in strings.texts():
        for j in range(n):
            held = {a for symbol in text[j::n] for a in symbol.replace("|", "/").split("/")}
            for allele in (0, 1):
                found[j][allele] += str(allele) in held
    return found


def test_only_variants_that_enough_of_these_persons_carry_stay(tmp_path: Path) -> None:
    calls = people()
    calls[:, :, 3] = 0
    calls[:8, 0, 3] = 1
    strings = read_strings(write(tmp_path / "a.vcf", calls), rare=5)
    assert len(strings.source.sites) == SITES
    some = strings.take(np.arange(4, N))
    kept = only_carried(some, 5)
    carriers = slow_carriers(some)
    assert [min(c) >= 5 for c in carriers] == [s in kept.source.sites for s in some.source.sites]
    assert len(kept.source.sites) == SITES - 1
    assert min(map(min, slow_carriers(kept))) >= 5
    assert rarely_carried(some, 5) == 1
    assert rarely_carried(kept, 5) == 0
    assert only_carried(kept, 5) is kept
    with pytest.raises(shoal.DataError, match="no variant has two alleles"):
        only_carried(some, N + 1)


def test_counts_of_the_check_are_those_of_a_plain_loop(tmp_path: Path) -> None:
    strings = read_strings(write(tmp_path / "a.vcf", people(share=0.08)), rare=1)
    carriers = slow_carriers(strings)
    for rare in range(1, 14):
        assert rarely_carried(strings, rare) == sum(min(c) < rare for c in carriers)


def test_strings_that_are_no_variants_stay() -> None:
    strings = Strings.of(["ACGT", "ACGA"])
    assert only_carried(strings, 9) is strings


def test_others_are_read_at_the_variants_of_the_data(tmp_path: Path) -> None:
    calls, others = people(), people(40)
    others[:, :, 5] = 0  # nobody of them carries it
    data = read_strings(write(tmp_path / "a.vcf", calls), rare=5)
    order = [7, *(j for j in range(SITES) if j != 7)]
    found = read_strings(write(tmp_path / "b.vcf", others, order, ids=True), sites=data.source.sites)
    assert found.source.sites == data.source.sites
    assert found.symbols.reshape(40, 2, SITES).tolist() == others.tolist()
    release = shoal.anonymize(tmp_path / "a.vcf", shoal.StringPolicy.of(k=5), control=tmp_path / "b.vcf", seed=1)
    assert release.case.control is not None
    assert set(release.case.control.lengths.tolist()) == set(release.case.original.lengths.tolist())
    release.save(tmp_path / "out", report=False)
    attacked = shoal.attack(
        tmp_path / "out" / "publish", tmp_path / "a.vcf", control=tmp_path / "b.vcf", names=["place-membership"]
    )
    assert attacked.results
    with pytest.raises(shoal.DataError, match="lacks variants of the release"):
        read_strings(write(tmp_path / "c.vcf", others, range(SITES - 1)), sites=data.source.sites)
    with pytest.raises(shoal.DataError, match="the others lack variants"):
        at_sites(data, ["2\t5\t.\tA\tG"])
    assert places_of(["1\t5\trs1\tA\tG"], ["1\t5\t.\tA\tG"]) is not None


def test_held_out_persons_do_not_make_a_variant_common(tmp_path: Path) -> None:
    calls = people()
    calls[:, :, 3] = 0
    calls[::2, 0, 3][:12] = 1
    path = write(tmp_path / "a.vcf", calls)
    release = shoal.anonymize(path, shoal.StringPolicy.of(k=10), hold_out=0.4, seed=1)
    assert min(map(min, slow_carriers(release.case.original))) >= 10
    assert len(release.strings.source.sites) < SITES
    release.save(tmp_path / "out", keep=["groups"], report=False)
    found: FolderCheck = shoal.check(tmp_path / "out" / "publish", path, private=tmp_path / "out" / "private")
    assert found.holds, found.findings


def test_a_release_that_lists_a_rare_variant_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where the code that leaves rare ones out does not."""
    calls = people()
    calls[:, :, 3] = 0
    calls[:3, 0, 3] = 1
    path = write(tmp_path / "a.vcf", calls)
    monkeypatch.setattr("shoal.data.strings.formats.vcf._carried", lambda calls, *_: np.ones(len(calls), bool))
    monkeypatch.setattr("shoal.kinds.strings.kind.only_carried", lambda strings, rare: strings)
    with pytest.raises(shoal.NotVerified, match="1 variant is listed of which fewer than 10 persons carry an allele"):
        shoal.anonymize(path, shoal.StringPolicy.of(k=10), seed=1)


def test_identifiers_do_not_matter(tmp_path: Path) -> None:
    strings = read_strings(write(tmp_path / "a.vcf", people(), ids=True), rare=5)
    bare = replace(strings, source=replace(strings.source, sites=tuple(reversed(strings.source.sites))))
    turned = at_sites(bare, strings.source.sites)
    assert turned.symbols.reshape(N, 2, -1)[:, :, ::-1].tolist() == strings.symbols.reshape(N, 2, -1).tolist()
