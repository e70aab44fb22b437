"""The data sets of the string reproductions, each with originals that are held out.

Proteins are drawn at random, with a fixed seed, from the species' files: 1,000 strings a set, as the paper has, and
1,000 more that no set holds. The paper took the first 1,000 answers of a keyword search, which cannot be repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from shoal.check.strings.copies import equal_strings
from shoal.data.samples.quest import Quest, generate_baskets, labelled_baskets
from shoal.data.strings.files import read_strings
from shoal.data.strings.strings import Strings

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / ".." / "shared" / "data"
SEED = 0

PROTEINS = ("YST1", "YST2", "MS", "HS")
DNA = ("splice", "promoters", "mtdna")
BASKETS = ("V20.I4.D10K", "V20.I6.D10K", "equal baskets")

# Table 1 of the paper: mean, standard deviation, least and largest length of its sets.
TABLE_1 = {
    "YST1": (513.8, 345.7, 7, 3122),
    "YST2": (527.12, 394.74, 21, 3856),
    "MS": (541.64, 337.55, 21, 2434),
    "HS": (549.22, 399.84, 51, 3911),
}
_FILES = {"YST1": "yeast", "YST2": "yeast", "MS": "mouse", "HS": "human"}


@dataclass(frozen=True)
class StringSet:
    """A data set.

    Attributes
    ----------
    name, about : str
        What the paper calls it, and what it is here.
    strings : Strings
        What is condensed.
    held_out : Strings
        Others of the same source; none equals one of `strings`.
    """

    name: str
    about: str
    strings: Strings
    held_out: Strings


@lru_cache(maxsize=1)
def read_set(name: str) -> StringSet:
    """One of the sets by its name."""
    if name in PROTEINS:
        return _proteins(name)
    return {**_DNA, **_BASKETS}[name](name)


def whole(name: str) -> Strings:
    """All strings of a species or of a file of DNA."""
    if name in ("yeast", "mouse", "human"):
        return read_strings(DATA / "swissprot" / f"{name}.fasta.gz")
    if name == "mtdna":
        return read_strings(DATA / "mtdna_hvr1_coia2005" / "coia2005_hvr1.fasta.gz")
    if name == "T10I4D100K":
        return read_strings(DATA / "t10i4d100k" / "T10I4D100K.dat.gz", format="tokens")
    return read_strings(DATA / name / f"{name}.csv", column="sequence", class_column="class", alphabet="dna")


def split(strings: Strings, n_used: int, n_held_out: int) -> tuple[Strings, Strings]:
    """Draw strings to be condensed, and others that differ from all of these."""
    rows = np.random.default_rng(SEED).permutation(len(strings))
    used = strings.take(np.sort(rows[:n_used]))
    rest = strings.take(np.sort(rows[n_used : n_used + n_held_out]))
    return used, rest.take(np.flatnonzero(~equal_strings(rest, used)))


def _proteins(name: str) -> StringSet:
    species = _FILES[name]
    strings = whole(species)
    rows = np.random.default_rng(SEED).permutation(len(strings))
    begin = 1000 if name == "YST2" else 0
    used = strings.take(np.sort(rows[begin : begin + 1000]))
    rest = strings.take(np.sort(rows[2000:3000]))
    other = rest.take(np.flatnonzero(~equal_strings(rest, used)))
    return StringSet(name, f"1,000 of {len(strings):,} {species} proteins", used, other)


def _dna(n_used: int, n_held_out: int, about: str) -> Callable[[str], StringSet]:
    def read(name: str) -> StringSet:
        return StringSet(name, about, *split(whole(name), n_used, n_held_out))

    return read


def _labelled(name: str) -> StringSet:
    # The generator puts both classes in random order, so the last ones are as good as any.
    strings = labelled_baskets(name.replace("D10K", "D11K"), seed=SEED)
    return StringSet(name, "10,000 baskets of two classes, 1,000 items", *split(strings, 10_000, 1_000))


def _equal(name: str) -> StringSet:
    strings = generate_baskets(Quest.named("T20.I4.D40K"), seed=SEED).strings()
    strings = strings.take(np.flatnonzero(strings.lengths == 20))
    strings = replace(strings, source=replace(strings.source, name=name))
    return StringSet(name, "2,500 baskets of exactly 20 items, from T20.I4", *split(strings, 2500, 1000))


_DNA: dict[str, Callable[[str], StringSet]] = {
    "splice": _dna(2190, 1000, "2,190 windows of 60 bases around splice sites, three classes"),
    "promoters": _dna(80, 26, "80 promoters and others of 57 bases, two classes"),
    "mtdna": _dna(335, 100, "335 human mitochondrial sequences of 360 bases, many of them equal"),
}
_BASKETS: dict[str, Callable[[str], StringSet]] = {
    "V20.I4.D10K": _labelled,
    "V20.I6.D10K": _labelled,
    "equal baskets": _equal,
}
