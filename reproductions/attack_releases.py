"""The releases that are attacked: every method at two sizes of groups, on tables, strings and sparse records."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

import shoal
from reproductions.adult_partitions import ADULT, SUPPRESSION
from reproductions.string_sets import DATA, whole
from shoal.data.samples.haplotypes import haplotypes
from shoal.data.sparse.files import read_sparse
from shoal.data.sparse.records import Sparse
from shoal.data.strings.strings import Strings
from shoal.data.tables.frames import from_frame
from shoal.data.tables.table import Table
from shoal.tables.partition.base import PARTITIONS as REGISTERED
from shoal.tables.publish.base import PUBLICATIONS

SIZES = (5, 20)
HOLD_OUT = 0.1
SEED = 1
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
SECRET = "occupation"
LEFT_AS_THEY_ARE = ("hours-per-week", "capital-gain", "capital-loss")
PARTITIONS = (
    "mondrian", "k-member", "nearest-neighbours", "local-recoding", "mdav", "v-mdav", "curve", "full-domain", "datafly",
)  # fmt: skip
KEPT = (*QUASI, SECRET, *LEFT_AS_THEY_ARE)
NUMBERS = ("age", *LEFT_AS_THEY_ARE)
DIVERSITY = 3
N_BASKETS = 100_000
ALIKE = ("haplotypes", "mtDNA")
ALIKE_HOLD_OUT = 0.5  # the sets are small, and false alarms are counted on what is held out
N_HAPLOTYPES = 3806
COPIES = {"redraw": "copies drawn again (default)", "allow": "copies allowed"}
NAMES = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class",
)  # fmt: skip


@dataclass(frozen=True)
class Made:
    """A release to be attacked: its place in the tables, and how its case is made."""

    data: str
    method: str
    k: int | None
    kind: str
    case: Callable[[int | None], Any]

    @property
    def key(self) -> str:
        """What it is stored under."""
        return f"{self.data} | {self.method} | {self.k}"


def all_releases(sizes: tuple[int, ...] = SIZES) -> Iterator[Made]:
    """In the order of the page."""
    for method, publish, asked in _adult_methods():
        for k in sizes:
            yield Made("Adult", method, k, "table", _Adult(publish, k, asked))
    for support in (3, 1):
        for k in sizes:
            name = f"condensation, support {support}" + (" (default)" if support == 3 else "")
            yield Made("yeast", name, k, "strings", _Yeast(support, k))
    for data in ("yeast", *ALIKE):
        for copies, name in COPIES.items():
            for k in sizes:
                if (data, copies) != ("yeast", "redraw"):  # which is the default, above
                    yield Made(data, f"condensation, {name}", k, "strings", _Alike(data, copies, k))
    for data in ("T10I4D100K", "20 newsgroups"):
        for k in sizes:
            yield Made(data, "k-variance (default)", k, "sparse", _Sketched(data, {"k": k}))
        yield Made(data, "delta = 0.5 alone", None, "sparse", _Sketched(data, {"model": "delta"}))
        yield Made(
            data, "delta = 0.2, no recovery cap", None, "sparse",
            _Sketched(data, {"model": "delta", "delta": 0.2, "recovery_cap": False}),
        )  # fmt: skip


def _adult_methods() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name on the page, publication, and what else is asked."""
    for partition in PARTITIONS:
        yield partition, "", {"partition": partition}
    yield "mondrian, hierarchies", "", {"partition": "mondrian", "hierarchies": True}
    yield "mdav, generalise", "generalise", {"partition": "mdav"}
    yield "mondrian, condense", "condense", {"partition": "mondrian"}
    yield f"mondrian, l = {DIVERSITY}", "", {"partition": "mondrian", "l": DIVERSITY}
    yield f"mondrian, l = {DIVERSITY}, blind", "", {"partition": "mondrian", "l": DIVERSITY, "diversity": "blind"}
    yield f"k-member, l = {DIVERSITY}", "", {"partition": "k-member", "l": DIVERSITY}
    yield "mondrian, t = 0.2", "", {"partition": "mondrian", "t": 0.2}
    yield "mondrian, hours and capital left as they are", "", {"partition": "mondrian", "insensitive": LEFT_AS_THEY_ARE}
    for publish in [p.name for p in PUBLICATIONS.values() if p.is_sliced]:
        yield f"{publish}, l = {DIVERSITY}", publish, {"l": DIVERSITY}


@dataclass(frozen=True)
class _Adult:
    publish: str
    k: int
    asked: dict[str, Any]

    def __call__(self, most: int | None) -> Any:
        """The case, with a second release and with all of Adult as the population."""
        table = adult(most)
        case = self._release(table, self.asked, self.publish).case
        other = "mondrian" if self.asked.get("partition") == "local-recoding" else "local-recoding"
        second = self._release(table, {"partition": other}, "").case
        return replace(case, others=(replace(case, published=second.published),), population=table)

    def _release(self, table: Table, asked: dict[str, Any], publish: str) -> Any:
        kept = [*QUASI, SECRET, *asked.get("insensitive", ())]
        recodes = REGISTERED[asked.get("partition", "mondrian")].is_recoding
        files = {name: str(ADULT / "hierarchies" / f"adult_hierarchy_{name}.csv") for name in (*QUASI, SECRET)}
        all_have = recodes or asked.get("hierarchies", False)
        options = {name: value for name, value in asked.items() if name != "hierarchies"}
        policy = shoal.Policy.of(
            quasi=QUASI, sensitive=[SECRET], hierarchies=files if all_have else {SECRET: files[SECRET]}, k=self.k,
            publish=publish or None, suppression=SUPPRESSION if recodes else 0.0, singled_out=1.0, **options,
        )  # fmt: skip
        return shoal.anonymize(table.select(kept), policy, seed=SEED, hold_out=HOLD_OUT)


@dataclass(frozen=True)
class _Yeast:
    support: int
    k: int

    def __call__(self, most: int | None) -> Any:
        strings = whole("yeast")
        policy = shoal.StringPolicy.of(k=self.k, support=self.support)
        return shoal.anonymize(strings.take(np.arange(len(strings))[:most]), policy, seed=SEED, hold_out=HOLD_OUT).case


@dataclass(frozen=True)
class _Alike:
    data: str
    copies: str
    k: int

    def __call__(self, most: int | None) -> Any:
        policy = shoal.StringPolicy.of(k=self.k, copies=self.copies)
        hold_out = ALIKE_HOLD_OUT if self.data in ALIKE else HOLD_OUT
        strings = _strings(self.data)
        return shoal.anonymize(strings.take(np.arange(len(strings))[:most]), policy, seed=SEED, hold_out=hold_out).case


def _strings(data: str) -> Strings:
    return haplotypes(N_HAPLOTYPES, seed=SEED) if data == "haplotypes" else whole(data.lower())


@dataclass(frozen=True)
class _Sketched:
    data: str
    asked: dict[str, Any]

    def __call__(self, most: int | None) -> Any:
        records = baskets() if self.data == "T10I4D100K" else texts()
        rows = np.random.default_rng(SEED).permutation(len(records))[: min(most or N_BASKETS, len(records))]
        return shoal.anonymize(
            records.take(np.sort(rows)),
            shoal.SparsePolicy.of(publish="sketch", **self.asked),
            seed=SEED,
            hold_out=HOLD_OUT,
        ).case


@lru_cache(maxsize=1)
def adult(most: int | None) -> Table:
    """The 30,162 records of the training file that miss nothing."""
    with gzip.open(ADULT / "adult.data.gz", "rt", encoding="ascii") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    whole_rows = [row for row in rows if "?" not in row]
    cells = dict(zip(NAMES, zip(*whole_rows, strict=True), strict=True))
    columns = {n: [int(c) for c in cells[n]] if n in NUMBERS else list(cells[n]) for n in KEPT}
    return from_frame(columns).take(np.arange(len(whole_rows))[:most])


@lru_cache(maxsize=1)
def baskets() -> Sparse:
    """All of T10I4D100K."""
    return read_sparse(DATA / "t10i4d100k" / "T10I4D100K.dat.gz", format="baskets")


@lru_cache(maxsize=1)
def texts() -> Sparse:
    """20 newsgroups as binary bags of words."""
    records = read_sparse(
        DATA / "newsgroups20" / "20news_bydate.csv.gz", format="text", column="text", class_column="group"
    )
    return records.take(np.flatnonzero(records.sizes > 0))
