"""What a release promises together with those before it, recomputed from a published table and the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.check.guarantee import Guarantee
from shoal.check.releases.candidates import classes_by_labels, k_candidates
from shoal.check.releases.invariance import ClassValues, m_invariance
from shoal.check.tables.classes import classes_of
from shoal.data.ledger import Digests, Ledger, said
from shoal.data.tables.table import Column, Table


class SeriesFacts(Protocol):
    """What the methods hand over: who is who, and what was published before."""

    @property
    def before(self) -> Ledger | None:
        """What the earlier releases published."""

    @property
    def persons(self) -> Digests:
        """The keyed hash of each person of this release."""

    @property
    def codes(self) -> Ints:
        """Whose each row of the original is."""

    @property
    def n_records(self) -> int:
        """Rows of the original; counterfeits come after them."""

    @property
    def sensitive(self) -> str:
        """The column whose values are protected, or ""."""

    @property
    def m(self) -> int:
        """The fewest values that have to stay possible; 0 where none are protected."""


def verify_series(
    series: SeriesFacts, table: Table, quasi: Sequence[str], rows: npt.NDArray[np.integer[Any]], k: int
) -> tuple[Guarantee, ...]:
    """What all releases together leave to an attacker; the earlier ones as the ledger tells of them.

    Parameters
    ----------
    rows : int array (n_published,)
        The row of the series' table that each published one stands for.
    """
    classes = classes_of(table, quasi).ids
    real = np.flatnonzero(rows < series.n_records)
    whose, before = series.codes[rows[real]], series.before
    now = np.full(len(series.persons), -1, dtype=np.int64)
    now[whose] = classes[real]
    n_classes = int(classes.max(initial=0)) + 1
    astray = whose[now[whose] != classes[real]]
    now[astray] = n_classes + astray  # a person in several classes is in none with others
    if not series.m:
        return (k_candidates(now[:, None] if before is None else _joined(before, series.persons, now), k),)
    buckets = np.full(len(now), -1, dtype=np.int64)
    if before is not None:
        place = before.places(series.persons)
        buckets = np.where(place >= 0, before.cohorts[place], -1).astype(np.int64)
    signatures = () if before is None else before.signatures
    n_before = 0 if before is None else before.n_releases
    return (invariant(table[series.sensitive], classes, now, buckets, signatures, series.m, n_before + 1),)


def published_classes(ledger: Ledger) -> Ints:
    """The class of each person in each release, by its published labels; negative where it was not published."""
    histories = np.full(ledger.classes.shape, -1, dtype=np.int64)
    for i, labels in enumerate(ledger.labels):
        texts = list(labels.values())
        number = classes_by_labels(texts, len(texts[0]) if texts else 0)
        there = ledger.classes[:, i] >= 0
        histories[there, i] = number[ledger.classes[there, i]]
    return histories


def _joined(before: Ledger, persons: Digests, now: Ints) -> Ints:
    """Histories with one more release, of all persons that any release has."""
    earlier = published_classes(before)
    place = before.places(persons)
    known = place >= 0
    last = np.full(len(earlier), -1, dtype=np.int64)
    last[place[known]] = now[known]
    fresh = np.full((int((~known).sum()), earlier.shape[1] + 1), -1, dtype=np.int64)
    fresh[:, -1] = now[~known]
    return np.concatenate([np.column_stack([earlier, last]), fresh])


def invariant(
    column: Column,
    classes: Ints,
    now: Ints,
    buckets: Ints,
    signatures: Sequence[Sequence[str]],
    m: int,
    n_releases: int,
) -> Guarantee:
    """What was possible of a person before, its signature as the ledger has it, and what is in its class now.

    Parameters
    ----------
    column : Column
        The published sensitive values.
    classes : int64 array (n_published,)
    now, buckets : int64 arrays (n_persons,)
        The class of each person, and its bucket where an earlier release has it; negative: none.
    """
    texts = said(column)
    names = {text: i for i, text in enumerate(dict.fromkeys([*texts, *(v for s in signatures for v in s)]))}
    values = np.array([*(names[t] for t in texts), len(names)], dtype=np.int64)[np.minimum(column.codes, len(texts))]
    listed = np.array([(b, names[v]) for b, s in enumerate(signatures) for v in s], dtype=np.int64).reshape(-1, 2)
    releases, histories = [ClassValues(classes, values)], now[:, None]
    if len(listed):
        releases = [ClassValues(listed[:, 0], listed[:, 1]), *releases]
        histories = np.column_stack([buckets, now])
    return m_invariance(histories[now >= 0], releases, len(names) + 1, m, column.name, n_releases)
