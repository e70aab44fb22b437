"""Naive Bayes learned from a release: how the values of quasi-identifiers go with a secret.

Every published cell counts for the values that its label covers, all alike; numbers are cut into bins. In a slice that
does not carry the secret, each row has a share of every secret of its bucket. These shares begin as the secret's share
of the bucket and are then made anew, a few times, from what was learned with them: the release teaches who in a bucket
has which value, although it never says so.

References
----------
D. Kifer, "Attacks on privacy and deFinetti's theorem", SIGMOD 2009, section 4.2. There rows are assigned to secrets by
random swaps; here by shares, which need no random walk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.tables.cells import CellLabels

N_BINS = 24
MOST_CATEGORIES = 200
PRIOR_WEIGHT = 1.0  # records that every secret is given in the proportions of the whole
N_ROUNDS = 4
AT_ONCE = 1 << 21


@dataclass(frozen=True)
class ValueBins:
    """A column cut into bins.

    Attributes
    ----------
    of_label : float64 array (n_labels, n_bins)
        The share of each label in each bin; rows of 0 where it covers nothing.
    """

    read: CellLabels
    edges: Floats
    of_label: Floats

    def of_people(self, values: Floats) -> Ints:
        """The bin of each value; the last but one for those unknown, the last for missing ones."""
        n_bins = self.of_label.shape[1]
        if self.read.is_number:
            place = np.searchsorted(self.edges, np.nan_to_num(values), "right")
        else:
            place = np.minimum(np.nan_to_num(values).astype(np.int64), n_bins - 2)
        return np.where(np.isnan(values), n_bins - 1, place).astype(np.int64)


def cut(read: CellLabels, people: Floats, persons: Ints | None = None) -> ValueBins:
    """Bins of about equally many people for numbers, one for each of the first categories.

    Where it is known whose each value is, a person counts once for each of its values.
    """
    is_known = ~np.isnan(people)
    known = people[is_known]
    if persons is not None:
        known = np.unique(np.column_stack([persons[is_known], known]), axis=0)[:, 1]
    if read.is_number:
        edges = np.unique(np.quantile(known, np.linspace(0, 1, N_BINS + 1)[1:-1])) if len(known) else np.zeros(0)
        n_bins = len(edges) + 2
        of_label = np.zeros((read.n_labels, n_bins))
        low, high = np.searchsorted(edges, read.low, "right"), np.searchsorted(edges, read.high, "right")
        bottom, top = np.concatenate([[-np.inf], edges]), np.concatenate([edges, [np.inf]])
        for b in range(n_bins - 1):
            inside = (low <= b) & (b <= high) & (read.low <= read.high)
            width = read.high - read.low
            with np.errstate(divide="ignore", invalid="ignore"):
                share = (np.minimum(read.high, top[b]) - np.maximum(read.low, bottom[b])) / width
            of_label[inside, b] = np.where(width[inside] > 0, np.maximum(share[inside], 1e-9), 1.0)
    else:
        edges = np.zeros(0)
        n_bins = min(read.n_values, MOST_CATEGORIES) + 2
        of_label = np.zeros((read.n_labels, n_bins))
        for b in range(n_bins - 1):
            of_label[:, b] = read.covers(np.arange(read.n_labels), np.full(read.n_labels, float(b)))
        if read.n_values > n_bins - 2:
            of_label[:, n_bins - 2] = np.maximum(read.sizes - of_label[:, :-2].sum(axis=1), 0.0)
    of_label[:, -1] = read.may_miss & ~(read.low <= read.high)
    total = of_label.sum(axis=1, keepdims=True)
    return ValueBins(read, edges, np.divide(of_label, total, out=np.zeros_like(of_label), where=total > 0))


@dataclass(frozen=True)
class ClassShares:
    """Which secrets rows have, and with which share: row, secret, share; by row."""

    rows: Ints
    secrets: Ints
    shares: Floats


def known_secrets(codes: Ints, persons: Ints | None = None) -> ClassShares:
    """Every row has one secret, and it stands beside it; a person's rows with the same secret count as one."""
    if persons is None:
        return ClassShares(np.arange(len(codes)), codes, np.ones(len(codes)))
    pairs = persons * (int(codes.max(initial=0)) + 1) + codes
    _, place, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    return ClassShares(np.arange(len(codes)), codes, 1 / counts[place])


def bucket_secrets(bucket: Ints, secrets: Ints, n_secrets: int) -> ClassShares:
    """Every row has all secrets of its bucket, by their share."""
    keys, counts = np.unique(bucket * n_secrets + secrets, return_counts=True)
    owner, value = np.divmod(keys, n_secrets)
    starts = np.searchsorted(owner, bucket, "left")
    lengths = np.searchsorted(owner, bucket, "right") - starts
    rows = np.repeat(np.arange(len(bucket)), lengths)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + starts[rows]
    return ClassShares(rows, value[place], counts[place] / np.bincount(bucket)[bucket[rows]])


def learn(bins: ValueBins, held: ClassShares, n_secrets: int) -> Floats:
    """Log-probability of each bin given each secret: (n_bins, n_secrets)."""
    cells = bins.of_label[bins.read.codes]
    total = np.zeros((cells.shape[1], n_secrets))
    for b in range(cells.shape[1]):
        total[b] = np.bincount(held.secrets, cells[held.rows, b] * held.shares, minlength=n_secrets)
    whole = total.sum(axis=1, keepdims=True) + 1e-6
    smoothed = total + PRIOR_WEIGHT * whole / whole.sum()
    return np.asarray(np.log(smoothed / smoothed.sum(axis=0)))


def refine(
    columns: list[ValueBins], bucket: Ints, start: ClassShares, n_secrets: int
) -> tuple[list[Floats], ClassShares]:
    """Learn, share anew with what was learned, and so on; the columns of one slice."""
    held = start
    learned = [learn(bins, held, n_secrets) for bins in columns]
    keys, group = np.unique(bucket[start.rows] * n_secrets + start.secrets, return_inverse=True)
    wanted = np.bincount(group, start.shares, minlength=len(keys))
    for _ in range(N_ROUNDS):
        log = np.log(start.shares)
        for bins, table in zip(columns, learned, strict=True):
            log += label_logs(bins, table, held)
        log -= _largest(log, start.rows, len(bucket))[start.rows]
        shares = np.exp(log)
        for _ in range(3):  # every row has one secret, and every bucket as many of each as it shows
            shares /= np.bincount(start.rows, shares, minlength=len(bucket))[start.rows]
            shares *= (wanted / np.maximum(np.bincount(group, shares, minlength=len(keys)), 1e-300))[group]
        held = ClassShares(start.rows, start.secrets, shares)
        learned = [learn(bins, held, n_secrets) for bins in columns]
    return learned, held


def label_logs(bins: ValueBins, table: Floats, held: ClassShares) -> Floats:
    """Log-probability of each row's label given each of its secrets."""
    result = np.empty(len(held.rows))
    chances = np.exp(table)
    step = max(1, AT_ONCE // bins.of_label.shape[1])
    for begin in range(0, len(result), step):
        part = slice(begin, begin + step)
        label = bins.of_label[bins.read.codes[held.rows[part]]]
        chance = np.einsum("ij,ij->i", label, chances.T[held.secrets[part]])
        result[part] = np.log(np.where(label.any(axis=1), np.maximum(chance, 1e-300), 1.0))
    return result


def _largest(values: Floats, owners: Ints, n_owners: int) -> Floats:
    """The largest value of each owner; owners ascend and all have one."""
    return np.asarray(np.maximum.reduceat(values, np.searchsorted(owners, np.arange(n_owners))))
