"""What a release of Adult tells an attacker and what it is worth to an analyst, by the same means for every kind.

A generalised table is read as a table of one slice whose groups are its buckets, so that generalisation, bucketization,
slicing and screening go through the same posterior, the same sampler and the same models.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import shoal
from shoal.check.slices.matching import Matching, matching
from shoal.check.slices.membership import Membership, membership
from shoal.check.slices.posterior import Posterior, naive_posterior, posterior
from shoal.data.tables.frames import from_frame
from shoal.data.tables.read_slices import sample_records, slice_frames
from shoal.data.tables.slices import Layout, SlicedTable
from shoal.data.tables.table import Column, Table
from shoal.utility.tables.queries import query_error

ADULT = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "adult"
NAMES = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class",
)  # fmt: skip
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
SENSITIVE = "occupation"
OTHER_TARGET = "education"
SEVEN = ("age", "workclass", "education", "marital-status", "race", "sex", SENSITIVE)

K = 5
N_SAMPLES = 3
N_BINS = 10
N_QUERIES = 200

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Cells = Mapping[str, npt.NDArray[Any]]
Hits = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Kind:
    """A way of publishing, and its slices."""

    name: str
    publish: str
    slices: int | str | tuple[tuple[str, ...], ...] = "best"


GENERALISATION = Kind("generalisation", "generalise")
KINDS = (
    GENERALISATION,
    Kind("bucketization", "bucketize"),
    Kind("slicing", "slice"),
    Kind("screening, 2 slices", "screen", 2),
    Kind("screening, 3 slices", "screen", 3),
    Kind("screening, best", "screen", "best"),
)


@dataclass(frozen=True)
class Told:
    """What an attacker gets: likeliest value of a person, joined and naive; and how often it is the true one."""

    highest: float
    average: float
    naive_highest: float
    naive_average: float
    right: float
    certain: float


@dataclass(frozen=True)
class Worth:
    """What an analyst gets.

    Attributes
    ----------
    hits : mapping of (target, model) to bool array (n_samples, n_test)
        Which held-out records a model predicts that is trained on a sample.
    query_error : float
        Median relative error of random counts, averaged over samples.
    pairs, pairs_sensitive : float
        Share of records in the wrong cell of a table of two attributes, averaged over pairs: both quasi-identifying,
        or one of them sensitive.
    """

    hits: Mapping[tuple[str, str], Hits]
    query_error: float
    pairs: float
    pairs_sensitive: float


def read_adult(name: str) -> Table:
    """The complete records of `adult.data` (30,162) or `adult.test` (15,060), all 15 attributes."""
    with gzip.open(ADULT / f"{name}.gz", "rt", encoding="utf-8") as file:
        rows = [line.strip().rstrip(".").split(", ") for line in file if line.count(",") == len(NAMES) - 1]
    return from_frame({n: [r[i] for r in rows if "?" not in r] for i, n in enumerate(NAMES)})


def require(l: float, kind: str) -> list[dict[str, Any]]:  # noqa: E741  the paper's name
    """k and one kind of l."""
    return [{"model": "k-anonymity", "k": K}, {"model": "l-diversity", "l": l, "kind": kind}]


def release_of(table: Table, kind: Kind, required: Sequence[Any], *, strict: bool = True) -> shoal.Release:
    """A checked release: every attribute but the sensitive one is quasi-identifying, none has a hierarchy."""
    columns = {n: {"role": "quasi", "type": "continuous" if n in NUMBERS else "nominal"} for n in table.names}
    columns[SENSITIVE] = {"role": "sensitive", "type": "nominal"}
    slices = {"slices": kind.slices} if kind.publish != "generalise" else {}
    policy = shoal.Policy.of(columns=columns, require=required, publish=kind.publish, strict=strict, **slices)
    return shoal.anonymize(table, policy, seed=1)


def in_slices(release: shoal.Release) -> SlicedTable:
    """The release as slices; a generalised one as one slice with its groups for buckets."""
    if release.sliced is not None:
        return release.sliced
    layout = Layout.of([release.table.names])
    groups = np.unique(release._groups, return_inverse=True)[1].astype(np.int32)
    number = Column(layout.bucket, groups, np.arange(1, int(groups.max()) + 2))
    return SlicedTable(Table.of([number, *release.table.columns.values()]), layout, release.attributes)


def members(release: shoal.Release) -> Membership:
    """Matching buckets of the records, and of fakes."""
    return membership(in_slices(release), release._original)


def told(release: shoal.Release) -> Told:
    """The attacker's belief of every record."""
    found = matching(in_slices(release), release._original)
    truth = _true_values(found, release._original)
    joined = _beliefs(posterior(found), truth)
    naive = _beliefs(naive_posterior(found), truth)
    return Told(*joined[:2], *naive[:2], *joined[2:])


def _true_values(found: Matching, original: Table) -> Ints:
    """The sensitive value of each record, numbered as in the published table."""
    part = found.sliced.carrying[0]
    column = found.sliced.table[found.sliced.layout.slices[part.number].column_of(SENSITIVE)]
    number = dict(zip(np.asarray(column.texts())[column.codes].tolist(), part.sensitive.tolist(), strict=True))
    source = original[SENSITIVE]
    return np.array([number[t] for t in source.texts()], dtype=np.int64)[source.codes]


def _beliefs(held: Posterior, truth: Ints) -> tuple[float, float, float, float]:
    """Highest and average belief in the likeliest value, how often it is true, and how often it is certain."""
    n_values = held.matching.sliced.n_sensitive
    of_record = held.of_tuple[held.matching.of_record]
    n_true = np.bincount(of_record * n_values + truth, minlength=held.n_classes * n_values).reshape(-1, n_values)
    highest, total, n_right, n_certain = 0.0, 0.0, 0, 0
    for shares in held.distributions():
        likeliest = np.maximum.reduceat(shares.shares, shares.starts)
        first = np.lexsort((shares.values, -shares.shares, shares.classes))[shares.starts]
        records = held.sizes[shares.ids]
        highest = max(highest, float(likeliest.max()))
        total += float(likeliest @ records)
        n_right += int(n_true[shares.ids, shares.values[first]].sum())
        n_certain += int(records[likeliest > 1 - 1e-9].sum())
    n_records = len(truth)
    return highest, total / n_records, n_right / n_records, n_certain / n_records


def difference(one: Hits, other: Hits) -> tuple[float, float]:
    """Accuracy of `one` less that of `other`, and the half width of its 95 % interval.

    It is over test records, in pairs, and over the samples that models were trained on.
    """
    paired = one.mean(axis=0) - other.mean(axis=0)
    variance = paired.var() / len(paired)
    for hits in (one, other):
        if len(hits) > 1:
            variance += hits.mean(axis=1).var(ddof=1) / len(hits)
    return float(paired.mean()), float(1.96 * np.sqrt(variance))


class Analyst:
    """Trains on samples of plausible records of a release, and tests on records that no release was made of."""

    def __init__(self, original: Table, held_out: Table) -> None:
        self.names = original.names
        self.original = cells_of(original)
        self.test = cells_of(held_out)
        self.table = original
        self.bins = {n: _edges(self.original[n]) if n in NUMBERS else np.unique(self.original[n]) for n in self.names}
        self.of_original = self._pairs([self.original])

    def worth(self, release: shoal.Release) -> Worth:
        """All measures of a release."""
        sliced = in_slices(release)
        frames = slice_frames(sliced.table, sliced.layout)
        samples = [self._sample(frames, seed) for seed in range(N_SAMPLES)]
        everyone = np.arange(self.table.n_rows)
        asked = {n: replace(a, role="quasi") for n, a in release.attributes.items()}
        errors = [
            query_error(
                self.table, from_frame(dict(s)), everyone, everyone.astype(np.int32), asked,
                n_queries=N_QUERIES, n_attributes=2,
            ).median_error
            for s in samples
        ]  # fmt: skip
        shares = self._pairs(samples)
        lost = {pair: float(np.abs(shares[pair] - self.of_original[pair]).sum() / 2) for pair in shares}
        return Worth(
            self.learned(samples),
            float(np.mean(errors)),
            float(np.mean([v for p, v in lost.items() if SENSITIVE not in p])),
            float(np.mean([v for p, v in lost.items() if SENSITIVE in p])),
        )

    def _sample(self, frames: Sequence[Any], seed: int) -> Cells:
        """Plausible records; a label that the sampler cannot read is any value of its attribute."""
        cells = cells_of(sample_records(frames, seed, draw=True), self.names)
        rng = np.random.default_rng(seed)
        for name in (n for n in self.names if n not in NUMBERS):
            unknown = ~np.isin(cells[name], self.bins[name])
            cells[name] = np.where(unknown, rng.choice(self.bins[name], len(unknown)), cells[name])
        return cells

    def learned(self, samples: Sequence[Cells]) -> dict[tuple[str, str], Hits]:
        """For both targets and models, which test records are predicted after training on each sample."""
        bayes, tree = import_module("sklearn.naive_bayes"), import_module("sklearn.tree")
        hits: dict[tuple[str, str], list[Hits]] = {}
        for target in (SENSITIVE, OTHER_TARGET):
            # education-num is education in numbers
            features = [n for n in self.names if n != target and not (target == "education" and n == "education-num")]
            for sample in samples:
                y, truth = (np.searchsorted(self.bins[target], s[target]) for s in (sample, self.test))
                train, test = (self._codes(s, features, sample) for s in (sample, self.test))
                most = [int(max(a.max(), b.max())) + 1 for a, b in zip(train.T, test.T, strict=True)]
                model = bayes.CategoricalNB(min_categories=most).fit(train, y)
                hits.setdefault((target, "naive Bayes"), []).append(model.predict(test) == truth)
                model = tree.DecisionTreeClassifier(min_samples_leaf=20, random_state=0)
                model.fit(self._numbers(sample, features), y)
                found = model.predict(self._numbers(self.test, features)) == truth
                hits.setdefault((target, "tree"), []).append(found)
        return {at: np.array(found) for at, found in hits.items()}

    def _codes(self, cells: Cells, features: Sequence[str], sample: Cells) -> Ints:
        """Values as categories: numbers by the tenths of the sample, what was never seen as one of its own."""
        return np.column_stack(
            [_binned(cells[n], _edges(sample[n]) if n in NUMBERS else self.bins[n], n) for n in features]
        )

    def _numbers(self, cells: Cells, features: Sequence[str]) -> Floats:
        return np.column_stack(
            [cells[n].astype(float) if n in NUMBERS else _binned(cells[n], self.bins[n], n) for n in features]
        )

    def _pairs(self, samples: Sequence[Cells]) -> dict[tuple[str, str], Floats]:
        """The shares of two attributes' values, of every pair, averaged over samples."""
        totals: dict[tuple[str, str], Floats] = {}
        for sample in samples:
            codes = {n: _binned(sample[n], self.bins[n], n) for n in self.names}
            for a, b in combinations(self.names, 2):
                width = len(self.bins[b]) + 1
                size = (len(self.bins[a]) + 1) * width
                share = np.bincount(codes[a] * width + codes[b], minlength=size) / len(codes[a]) / len(samples)
                totals[a, b] = totals.get((a, b), np.zeros(size)) + share
        return totals


def cells_of(table: Table | Mapping[str, Any], names: Iterable[str] | None = None) -> dict[str, npt.NDArray[Any]]:
    """Numbers as such, all else as text."""
    if isinstance(table, Table):
        return {n: _typed(n, np.asarray(c.texts(), dtype=str)[c.codes]) for n, c in table.columns.items()}
    return {n: _typed(n, np.array([str(c) for c in table[n]])) for n in names or table}


def _typed(name: str, cells: npt.NDArray[np.str_]) -> npt.NDArray[Any]:
    return cells.astype(np.float64) if name in NUMBERS else cells


def _edges(numbers: Floats) -> Floats:
    return np.unique(np.quantile(numbers, np.arange(1, N_BINS) / N_BINS))


def _binned(cells: npt.NDArray[Any], bins: npt.NDArray[Any], name: str) -> Ints:
    if name in NUMBERS:
        return np.searchsorted(bins, cells, "right")
    at = np.minimum(np.searchsorted(bins, cells), len(bins) - 1)
    return np.where(bins[at] == cells, at, len(bins)).astype(np.int64)
