"""VCF: a column is a person and a line a variant, so a person's string is their genotypes along the lines.

All strings have one length and are aligned. Where every genotype is phased (``0|1``), a symbol is an allele, and a
string is one haplotype and then the next: what is near on a chromosome is near in the string. Else a symbol is a
genotype, in ascending order (``1/0`` is ``0/1``). Other fields, such as depths and qualities, are not read.

What is written has neutral names of persons, the place, the alleles and an rs number of each variant, and genotypes: no
INFO, no QUAL and no FILTER, since these were counted from the originals, and no header line but those that a reader
needs.

A variant that hardly anybody carries tells who was there by being listed. So a line stays only if it has two alleles
and each of them, the reference too, is carried by as many persons as a symbol needs that is shown (`rare` of the
policy). Variants of more alleles are left out: a symbol may be drawn from a variant beside it, which has not as many.
A genotype that fewer persons have anywhere is read as missing, and variants with missing genotypes are left out where
fewer persons have any: all strings keep one length.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from shoal.arrays import Codes, Mask
from shoal.data.strings.format import FORMATS, HowToReadStrings, TextFormat, refuse_named_alphabet
from shoal.data.strings.sites import places_of
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.tables.sense import sense_of
from shoal.data.whole_text import WholeText, load_text
from shoal.errors import DataError

_FIXED = 9  # columns before those of the persons
_CALL = re.compile(r"(?:\.|[0-9]{1,3})(?:[|/](?:\.|[0-9]{1,3}))*")
_PLACE = re.compile(rb"[0-9A-Za-z_.*:+-]{1,64}\t[0-9]{1,12}")
_ALLELES = re.compile(
    rb"[ACGTNacgtn*]+\t(?:\.|(?:[ACGTNacgtn*]+|<(?:DEL|INS|DUP|INV|CNV|\*|NON_REF)>)(?:,(?:[ACGTNacgtn*]+|<(?:DEL|INS|DUP|INV|CNV|\*|NON_REF)>))*)"
)
_RS = re.compile(rb"rs[0-9]+")
_GT = '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">'
_HEAD = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t"


class Vcf(TextFormat):
    """Variants as lines, persons as columns."""

    name = "vcf"
    place = 0
    help = "VCF with genotypes alone; each column is a pseudo-person, and its name means nothing"
    has_tokens = True
    ending = "vcf"

    def is_told(self, lines: list[bytes]) -> bool:
        """By its first line."""
        return bool(lines) and lines[0].startswith(b"##fileformat=VCF")

    def parse(self, text: WholeText, source: StringSource, reading: HowToReadStrings) -> Strings:
        """Read the genotypes of each person."""
        refuse_named_alphabet(reading.alphabet)
        calls, spelled, sites = _read(text)
        if reading.sites:
            places = places_of(sites, reading.sites)
            if places is None:
                raise DataError(f"{text.path}: lacks variants of the release; give genotypes for all of them")
            calls, sites = calls[places], list(reading.sites)
        is_kept = _carried(calls, spelled, sites, reading.rare)
        if reading.rare:
            calls = _rare_as_missing(calls, spelled, is_kept, reading.rare, by_allele=source.delimiter != "/")
            is_kept &= _without_few_missing(calls, spelled, is_kept, reading.rare)
        notes = [*source.notes]
        if not is_kept.all():
            notes.append(
                f"{int((~is_kept).sum()):,} of {len(sites):,} variants were left out: fewer than {reading.rare} "
                "persons carry one of their alleles or have one missing, or they have not two"
            )
        if not is_kept.any():
            raise DataError(
                f"{text.path}: no variant has two alleles that {reading.rare} persons or more carry each, so there is "
                "nothing that can be published; lower k, or give more persons"
            )
        symbols, alphabet, is_phased = _symbols(calls[is_kept], spelled, may_be_phased=source.delimiter != "/")
        starts = np.arange(calls.shape[1] + 1, dtype=np.int64) * (symbols.size // calls.shape[1])
        kept = tuple(site for site, keep in zip(sites, is_kept.tolist(), strict=True) if keep)
        return Strings(
            symbols,
            starts,
            alphabet,
            True,
            source=replace(source, delimiter="|" if is_phased else "/", sites=kept, notes=tuple(notes)),
        )

    def pieces(self, strings: Strings) -> Iterator[bytes]:
        """A header, then a line for each variant."""
        sites = strings.source.sites
        contigs = dict.fromkeys(site.split("\t", 1)[0] for site in sites)
        digits = max(6, len(str(len(strings))))
        persons = "\t".join(f"pseudo_{i:0{digits}d}" for i in range(1, len(strings) + 1))
        lines = ["##fileformat=VCFv4.2", *(f"##contig=<ID={name}>" for name in contigs), _GT, _HEAD + persons, ""]
        yield "\n".join(lines).encode()
        named = np.array([*strings.alphabet, None], dtype=object)[:-1]
        calls = named[strings.symbols.reshape(len(strings), -1, len(sites)).transpose(2, 0, 1)]
        for site, row in zip(sites, calls.tolist(), strict=True):
            yield f"{site}\t.\t.\t.\tGT\t{chr(9).join(map('|'.join, row))}\n".encode()

    def holds(self, symbol: str, source: StringSource) -> bool:
        """Genotypes."""
        return _CALL.fullmatch(symbol) is not None

    def refuse_unwritable(self, strings: Strings) -> None:
        """Persons who do not have a genotype for every variant."""
        super().refuse_unwritable(strings)
        n_sites = len(strings.source.sites)
        if not n_sites or (strings.lengths != strings.lengths[0]).any() or strings.lengths[0] % n_sites:
            raise DataError("VCF holds a genotype of each person for each variant, and these strings do not fit")

    def beside(self, path: Path, source: StringSource) -> list[str]:
        """Header lines, names and fields that a release does not have."""
        strange = 0
        for line in load_text(path).data.decode().split("\n")[:-1]:
            if line.startswith("##"):
                strange += not (line in ("##fileformat=VCFv4.2", _GT) or re.fullmatch(r"##contig=<ID=[^,>]+>", line))
            elif line.startswith("#"):
                names = line.removeprefix(_HEAD).split("\t")
                strange += sum(re.fullmatch(rf"pseudo_0*{i}", name) is None for i, name in enumerate(names, start=1))
            else:
                cells = line.split("\t")
                is_bare = cells[5:9] == [".", ".", ".", "GT"] and (cells[2] == "." or _RS.fullmatch(cells[2].encode()))
                strange += not (is_bare and all(_CALL.fullmatch(cell) for cell in cells[_FIXED:]))
        return [f"{strange:,} lines or names in {path.name} cannot come from a release"] if strange else []


def _read(text: WholeText) -> tuple[Codes, list[str], list[str]]:
    """The genotypes by variant and person as numbers, what the numbers mean, and the variants."""
    numbers: defaultdict[bytes, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a genotype that is not known yet gets the next number
    rows: list[Codes] = []
    sites: list[str] = []
    n_persons = -1
    for number, line in enumerate(text.data.split(b"\n")[:-1], start=1):
        where = f"{text.path}, line {number}"
        if line.startswith(b"##") or not line:
            continue
        cells = line.split(b"\t")
        if line.startswith(b"#"):
            if n_persons >= 0:
                raise DataError(f"{where}: names the persons a second time; give one file of variants")
            n_persons = len(cells) - _FIXED
            if n_persons < 1:
                raise DataError(f"{where}: names no person, so there are no genotypes; give a VCF file with samples")
            _refuse_named_twice(where, cells[_FIXED:])
            continue
        if n_persons < 0:
            raise DataError(f"{where}: a variant stands before the line that names the persons (#CHROM ...)")
        if len(cells) != n_persons + _FIXED:
            raise DataError(f"{where}: has {len(cells)} columns and the header {n_persons + _FIXED}; mend the line")
        if cells[8] != b"GT" and not cells[8].startswith(b"GT:"):
            raise DataError(f"{where}: has no genotypes (GT is not the first of FORMAT); leave such variants out")
        if not _PLACE.fullmatch(b"\t".join(cells[:2])) or not _ALLELES.fullmatch(b"\t".join(cells[3:5])):
            raise DataError(
                f"{where}: the place or the alleles are not spelled as in VCF; mend the line or leave it out"
            )
        calls = cells[_FIXED:] if cells[8] == b"GT" else [c.partition(b":")[0] for c in cells[_FIXED:]]
        rows.append(np.fromiter(map(numbers.__getitem__, calls), np.int32, n_persons))
        identifier = cells[2] if _RS.fullmatch(cells[2]) else b"."
        sites.append(b"\t".join([*cells[:2], identifier, *cells[3:5]]).decode())
    if not rows:
        raise DataError(f"{text.path}: holds no variant")
    spelled = [_canonical(call.decode()) for call in numbers]
    if None in spelled:
        bad = spelled.index(None)
        row = next(i for i, calls in enumerate(rows) if (calls == bad).any())
        raise DataError(
            f"{text.path}: variant {row + 1} has a cell that is not a genotype such as 0|1, 1/1 or ./.; mend it, or "
            "leave the variant out"
        )
    names = [name for name in spelled if name is not None]
    place = {name: i for i, name in reversed(list(enumerate(names)))}
    return np.array([place[name] for name in names], dtype=np.int32)[np.stack(rows)], names, sites


def _refuse_named_twice(where: str, names: list[bytes]) -> None:
    """Refuse two columns of one name: they may be of one person, who would count as two."""
    said = np.array([name.decode(errors="replace") for name in names], dtype=object)
    n_again = len(said) - len(set(sense_of(said, is_code=True).tolist()))
    if n_again:
        raise DataError(
            f"{where}: {n_again:,} of {len(names):,} columns have the name of another; give each person one column and "
            "a name of their own"
        )


def _rare_as_missing(calls: Codes, spelled: list[str], is_kept: Mask, rare: int, *, by_allele: bool) -> Codes:
    """The same genotypes; those that fewer persons have anywhere are missing. Of phased ones alleles count instead."""
    if by_allele and not any("/" in spelled[i] and "." not in spelled[i] for i in np.unique(calls[is_kept]).tolist()):
        return calls
    made: Codes = calls.copy()
    for i in np.unique(calls[is_kept]).tolist():
        if (calls[is_kept] == i).any(axis=0).sum() < rare and set(re.split(r"[|/]", spelled[i])) != {"."}:
            if "./." not in spelled:
                spelled.append("./.")
            made[calls == i] = spelled.index("./.")
    return made


def _without_few_missing(calls: Codes, spelled: list[str], is_kept: Mask, rare: int) -> Mask:
    """Which variants stay: all, or those without a missing allele where fewer persons have any."""
    has_gap = np.array(["." in call for call in spelled])[calls]
    n_persons = int(has_gap[is_kept].any(axis=0).sum())
    return np.asarray(~has_gap.any(axis=1) if n_persons < rare else np.ones(len(calls), dtype=bool))


def _symbols(calls: Codes, spelled: list[str], *, may_be_phased: bool) -> tuple[Codes, tuple[str, ...], bool]:
    """The strings of all persons, one after another, and their alphabet: alleles by haplotype, or genotypes."""
    used, codes = np.unique(calls, return_inverse=True)
    alleles = [re.split(r"[|/]", spelled[i]) for i in used.tolist()]
    is_phased = not any("/" in spelled[i] and set(a) != {"."} for i, a in zip(used.tolist(), alleles, strict=True))
    is_phased = may_be_phased and is_phased and len({*map(len, alleles)}) == 1
    parts = alleles if is_phased else [[spelled[i]] for i in used.tolist()]
    alphabet = tuple(sorted({symbol for part in parts for symbol in part}))
    place = {symbol: code for code, symbol in enumerate(alphabet)}
    table = np.array([[place[symbol] for symbol in part] for part in parts], dtype=np.int32)
    by_person = table[codes.reshape(calls.shape)].transpose(1, 2, 0)  # persons, haplotypes, variants
    return np.ascontiguousarray(by_person).ravel(), alphabet, is_phased


def _canonical(call: str) -> str | None:
    """A genotype; an unphased one in ascending order, missing alleles first."""
    if not _CALL.fullmatch(call):
        return None
    if "|" in call or "/" not in call:
        return call
    return "/".join(sorted(call.split("/"), key=lambda allele: -1 if allele == "." else int(allele)))


def _carried(calls: Codes, spelled: list[str], sites: list[str], rare: int) -> Mask:
    """Which variants have alleles that at least so many persons carry each; a genotype of an allele not named fails."""
    alleles = [{int(a) for a in re.split(r"[|/]", call) if a != "."} for call in spelled]
    most = max((max(a, default=0) for a in alleles), default=0)
    has = np.array([[allele in of_call for of_call in alleles] for allele in range(most + 1)])
    keep = np.ones(len(calls), dtype=bool)
    for i, (row, site) in enumerate(zip(calls, sites, strict=True)):
        alternatives = site.split("\t")[4]
        n_alleles = 1 if alternatives == "." else 2 + alternatives.count(",")
        carriers = has[:, row].sum(axis=1)
        if carriers[n_alleles:].any():
            raise DataError(f"variant {i + 1} has a genotype of an allele that it does not name; mend it")
        keep[i] = n_alleles == 2 <= len(carriers) and carriers[:2].min() >= rare if rare else True
    return keep


FORMATS.register(Vcf())
