"""Variants: persons are columns, rare ones are not listed, and nothing else of the file is published."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.data.strings.files import looks_like_strings, read_strings, read_strings_back, write_strings
from shoal.data.strings.format import FORMATS
from shoal.errors import DataError
from tests.toys.variants import write_variants

pytestmark = pytest.mark.unattacked

HEAD = (
    "##fileformat=VCFv4.2\n##source=a pipeline\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tann\tbob\tcy\n"
)
TWO = (
    HEAD
    + "1\t10\trs5\tA\tG\t50\tPASS\tAC=2\tGT:DP\t0|1:7\t0|0:8\t1|0:9\n1\t20\tx\tC\tT,G\t.\t.\t.\tGT\t1/0\t./.\t2/1\n"
)


def vcf(folder: Path, text: str) -> Path:
    path = folder / "x.vcf"
    path.write_text(text)
    return path


def test_a_column_is_a_string_of_genotypes(tmp_path: Path) -> None:
    path = vcf(tmp_path, TWO)
    strings = read_strings(path)
    assert looks_like_strings(path) == "vcf"
    assert strings.texts() == [["0|1", "0/1"], ["0|0", "./."], ["1|0", "1/2"]]
    assert strings.source.sites == ("1\t10\trs5\tA\tG", "1\t20\t.\tC\tT,G")


def test_phased_genotypes_are_haplotypes_one_after_the_other(tmp_path: Path) -> None:
    phased = HEAD + "".join(
        f"1\t{p}\t.\tA\tG\t.\t.\t.\tGT\t{c}\n" for p, c in ((1, "0|1\t1|1\t./."), (2, "1|0\t0|0\t0|1"))
    )
    strings = read_strings(vcf(tmp_path, phased))
    assert strings.texts() == [["0", "1", "1", "0"], ["1", "0", "1", "0"], [".", "0", ".", "1"]]
    write_strings(strings, tmp_path / "data.vcf")
    assert [line.split("\t")[9:] for line in (tmp_path / "data.vcf").read_text().splitlines()[4:]] == [
        ["0|1", "1|1", ".|."],
        ["1|0", "0|0", "0|1"],
    ]
    assert read_strings_back(tmp_path / "data.vcf", strings.source).texts() == strings.texts()


def test_what_is_written_holds_genotypes_and_nothing_else(tmp_path: Path) -> None:
    strings = read_strings(vcf(tmp_path, TWO))
    write_strings(strings, tmp_path / "data.vcf")
    text = (tmp_path / "data.vcf").read_text()
    assert text.splitlines()[3:] == [
        "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tpseudo_000001\tpseudo_000002\tpseudo_000003",
        "1\t10\trs5\tA\tG\t.\t.\t.\tGT\t0|1\t0|0\t1|0",
        "1\t20\t.\tC\tT,G\t.\t.\t.\tGT\t0/1\t./.\t1/2",
    ]
    back = read_strings_back(tmp_path / "data.vcf", strings.source)
    assert (back.texts(), back.source.sites) == (strings.texts(), strings.source.sites)
    assert FORMATS["vcf"].beside(tmp_path / "data.vcf", strings.source) == []
    assert FORMATS["vcf"].beside(tmp_path / "x.vcf", strings.source) == [
        "6 lines or names in x.vcf cannot come from a release"
    ]


@pytest.mark.parametrize("rare", [1, 2, 3])
def test_a_variant_is_listed_if_enough_persons_carry_each_of_its_alleles(tmp_path: Path, rare: int) -> None:
    rng = np.random.default_rng(rare)
    path = tmp_path / "x.vcf"
    calls = write_variants(
        path, calls=rng.integers(0, 2, (7, 2, 60)) * (rng.random((1, 1, 60)) < rng.random((7, 2, 60)))
    )
    expected = [
        f"1\t{1000 + j}\t.\tA\tG"
        for j in range(60)
        if min((calls[:, :, j] == a).any(axis=1).sum() for a in (0, 1)) >= rare
    ]
    assert list(read_strings(path, rare=rare).source.sites) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD.replace("\tann\tbob\tcy", ""), "names no person"),
        (HEAD, "holds no variant"),
        (HEAD.replace("\tbob", "\tAnn "), "line 3: 1 of 3 columns have the name of another"),
        (TWO.split("#CHROM")[0] + "1\t1\t.\tA\tG\t.\t.\t.\tGT\t0|0\n", "line 3: a variant stands before"),
        (HEAD + "1\t1\t.\tA\tG\t.\t.\t.\tGT\t0|0\n", "line 4: has 10 columns and the header 12"),
        (HEAD + "1\t1\t.\tA\tG\t.\t.\t.\tDP\t1\t2\t3\n", "line 4: has no genotypes"),
        (HEAD + "1\t1\t.\tA\tG\t.\t.\t.\tGT\t0|0\t0|x\t1|1\n", "variant 1 has a cell that is not a genotype"),
        (
            HEAD + "1\t1\t.\tA\tG\t.\t.\t.\tGT\t0|0\t0|2\t1|1\n",
            "variant 1 has a genotype of an allele that it does not name",
        ),
    ],
)
def test_what_is_broken_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_strings(vcf(tmp_path, text), rare=0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tx", "line 4: names the persons a second time"),
        ("1\tAnn Smith\t.\tA\tG\t.\t.\t.\tGT\t0|0\t0|1\t1|1", "line 4: the place or the alleles"),
        ("1\t7\t.\tA\t<SMITH>\t.\t.\t.\tGT\t0|0\t0|1\t1|1", "line 4: the place or the alleles"),
        ("1\t7\t.\tA\tG\t.\t.\t.\tGT\t0|0\t0|99999999999\t1|1", "not a genotype"),
    ],
)
def test_what_is_no_vcf_is_refused_and_not_published(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_strings(vcf(tmp_path, HEAD + line + "\n"))


def test_variants_of_several_alleles_are_left_out_and_one_unphased_call_makes_genotypes(tmp_path: Path) -> None:
    path = tmp_path / "x.vcf"
    rng = np.random.default_rng(5)
    write_variants(
        path, calls=rng.integers(0, 2, (4, 24))[rng.integers(0, 4, (48, 2))] ^ (rng.random((48, 2, 24)) < 0.1)
    )
    lines = path.read_text().splitlines()
    lines[5] = lines[5].replace("\tG\t", "\tG,T\t", 1).replace("0|1", "0|2", 9)
    lines[9] = lines[9].replace("0|1", "0/1", 1).replace("1|1", "0/1", 1)
    path.write_text("\n".join(lines) + "\n")
    release = shoal.anonymize(path, shoal.StringPolicy.of(k=4), seed=3)
    assert not any("G,T" in site for site in release.strings.source.sites)
    release.save(tmp_path / "out", keep=("groups",), report=False)
    assert shoal.check(tmp_path / "out", path).findings == ()
    assert shoal.check(tmp_path / "out", path, policy=shoal.StringPolicy.of(k=4, rare=20, order=6)).fails
    with pytest.raises(shoal.PolicyError, match="give the path of the VCF file itself"):
        shoal.anonymize(read_strings(path), shoal.StringPolicy.of(k=4))


def test_no_variant_that_enough_carry_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no variant has two alleles that 4 persons or more carry"):
        read_strings(vcf(tmp_path, TWO), rare=4)


def test_a_release_counts_persons_and_an_added_variant_is_found(tmp_path: Path) -> None:
    path = tmp_path / "x.vcf"
    rng = np.random.default_rng(5)
    kinds = rng.integers(0, 2, (4, 24))
    write_variants(path, calls=kinds[rng.integers(0, 4, (48, 2))] ^ (rng.random((48, 2, 24)) < 0.1))
    release = shoal.anonymize(path, shoal.StringPolicy.of(k=4), seed=3)
    assert release.records["in"] == 48
    assert release.policy.method.order == 6
    assert shoal.anonymize(path, shoal.StringPolicy.of(k=4, order=2), seed=3).policy.method.order == 2
    release.save(tmp_path / "out", keep=("groups",), report=False)
    assert shoal.check(tmp_path / "out", path).findings == ()
    data = tmp_path / "out" / "publish" / "data.vcf"
    lines = data.read_text().splitlines()
    data.write_text("\n".join([*lines, lines[-1].replace("1\t", "2\t", 1)]) + "\n")
    assert shoal.check(tmp_path / "out", path).fails
