"""Condense: every group is replaced by as many pseudo-records, drawn from its mean and covariance.

A group of n >= k records is reduced to its mean and covariance. Each pseudo-record is the mean plus one independent
draw along each eigenvector of the covariance, uniform with the eigenvalue as its variance (paper, sections 2 and
2.1).

What is kept: per group, in expectation, the mean and the covariance of numbers and dates, and the share of every
category and of missing cells. What is lost: the shape of the distribution inside a group, and every association
inside a group between two categories, between a category and a number, and between two gaps. Between groups all
associations stay.

We depart from the paper in what it does not speak of:

- Numbers are put on one scale (their deviation over the table) before the eigenvectors are taken. The covariance of
  the draws is the same on any scale; the box that they fill is not, and on raw units the largest unit would decide
  it.
- Categories, and the taxonomies and ordered ones among them, are drawn from the group's own shares, each attribute by
  itself: the paper has numbers only. A vector of categories is never copied from one record.
- A missing number is at its group's mean and the others move away from it until the variance of those that are
  present is right; covariances with attributes that have gaps come out nearer to 0. Gaps are then drawn with the
  group's share.
- Draws have as many decimals as the original (at most six), so whole numbers stay whole; rounding to a step s adds
  s^2 / 12 to a variance. Dates are whole days if all were.
- Draws are **not** clipped to the group's range: that would publish its extremes, and would change mean and variance.
  So an income can become negative. Where a bound is known to everyone (no age below 0), give it as `bounds`.
- A draw that equals an original record on all condensed attributes is drawn again, see `CopyReport`. A combination
  that as many originals share as the smallest group has is not a copy: it hides in a crowd as it is.

**Guarantee.** Every pseudo-record is a function of the statistics of a group of at least k records and of random
numbers, and no pseudo-record equals an original one on all condensed attributes, unless a crowd shares that
combination or `CopyReport.n_left` says otherwise. This is **not** k-anonymity by equal quasi-identifiers:
pseudo-records differ, and a class of the published table may hold one. The k-anonymity check does not apply. What an
independent check can recompute from the original and the (secret) groups: that every group has at least k records and
as many pseudo-records; that every category of a pseudo-record occurs in its group; that its numbers lie in the box
``|V'(x - mean)| <= sqrt(3 eigenvalue)`` around the group's mean, up to rounding; that none is a copy. From the
published table alone nothing can be verified.

**Not protected.** A value that all members of a group share is published as it is. Groups of no more records than
attributes have covariances without full rank: all draws lie in the flat through the members. Who knows k - 1
members and the mean learns the last one; the draws tell the mean, but only roughly. A group's extreme member widens
its box. Where the space is so dense that most combinations are drawn, a hole in it hints at an original that was
avoided. Attributes that are not condensed are attached to the pseudo-records of their group in no meaningful order,
but are true values.

References
----------
C. C. Aggarwal, P. S. Yu, "A condensation approach to privacy preserving data mining", EDBT 2004, LNCS 2992, sections 2,
2.1 (construction of groups and of anonymised data).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from shoal.data.parse import Dates, parse_dates
from shoal.data.table import Column
from shoal.errors import DataError, Infeasible
from shoal.tables.encoding import Ranked
from shoal.tables.groups import Groups

Floats = npt.NDArray[np.float64]
Bounds = Mapping[str, tuple[float, float]]
Draw = Callable[[npt.NDArray[np.intp]], list[Floats]]

N_TRIES = 20
MOST_DECIMALS = 6
SIGNIFICANT_DIGITS = 12
LARGEST = float(np.finfo(np.float64).max)
FIRST_DAY, LAST_DAY = -719_162.0, 2_932_896.0  # of the years 1 and 9999, beyond which no date can be written
BLOCK_CELLS = 2**22  # floats of eigenvectors at a time


@dataclass(frozen=True)
class CopyReport:
    """What became of pseudo-records that equalled an original record on all condensed attributes.

    Attributes
    ----------
    n_records : int
        Pseudo-records.
    n_copies : int
        Copies among the first draws.
    n_redrawn : int
        Copies that a further draw mended.
    n_replaced : int
        Copies that all draws repeated; they became a second copy of another pseudo-record of their group.
    n_left : int
        Copies that could not be mended, as the group has no other pseudo-record. Do not publish these.
    n_crowd : int
        Pseudo-records that equal a combination held by at least as many originals as the smallest group has.
    """

    n_records: int
    n_copies: int
    n_redrawn: int
    n_replaced: int
    n_left: int
    n_crowd: int

    def to_dict(self) -> dict[str, int]:
        """JSON-ready."""
        return asdict(self)


@dataclass(frozen=True)
class Condensed:
    """The condensed columns by name, and the check for copies."""

    columns: dict[str, Column]
    copies: CopyReport


def condense(
    sources: Sequence[Column],
    ranked: Sequence[Ranked],
    groups: Groups,
    rng: np.random.Generator,
    *,
    bounds: Bounds | None = None,
) -> Condensed:
    """Draw a pseudo-record for every record.

    Parameters
    ----------
    sources : sequence of Column
        The attributes to condense, quasi-identifiers and, if wanted, sensitive ones.
    ranked : sequence of Ranked
        The same attributes in the same order, as ranks.
    groups : Groups
        Groups of at least k records; one of a single record is refused.
    rng : numpy.random.Generator
        The same records, groups and generator give the same pseudo-records.
    bounds : mapping of name to (low, high), optional
        Limits that are public knowledge; numbers (dates: days since 1970) are clipped to them.
    """
    if len(sources) != len(ranked) or not ranked:
        raise DataError("there is nothing to condense; give at least one attribute, each as a column and as ranks")
    if len(groups.sizes) and groups.sizes.min() < 2:
        raise Infeasible("a group of one record would be published as it is; make groups of at least 2 records")
    numeric = [i for i, r in enumerate(ranked) if r.kind == "number"]
    for i in numeric:
        if np.isinf(ranked[i].positions).any():
            raise DataError(f"column {ranked[i].name!r} holds an infinite value; replace it, or make it missing")
    boxes = _Boxes([ranked[i] for i in numeric], groups)
    forms = {i: _Form.of(sources[i], ranked[i], (bounds or {}).get(ranked[i].name)) for i in numeric}

    def draw(rows: npt.NDArray[np.intp]) -> list[Floats]:
        """New values of some records, attribute by attribute: numbers, or ranks; nan where missing."""
        cells: list[Floats] = [np.zeros(0)] * len(ranked)
        numbers = boxes.draw(rows, rng)
        for column, i in enumerate(numeric):
            values = boxes.keep_constants(column, rows, forms[i].rounded(numbers[:, column]))
            cells[i] = np.where(boxes.draw_present(column, rows, rng), values, np.nan)
        for i, r in enumerate(ranked):
            if r.kind != "number":
                drawn = r.ranks[_members(groups, rows, rng)]
                cells[i] = np.where(np.isnan(r.positions)[drawn], np.nan, drawn)
        return cells

    everyone = np.arange(len(groups.labels))
    drawn = np.column_stack(draw(everyone)) if len(everyone) else np.zeros((0, len(ranked)))
    report = _without_copies(drawn, draw, _Originals.of(ranked, groups), groups)
    columns = {}
    for i, (source, r) in enumerate(zip(sources, ranked, strict=True)):
        columns[source.name] = forms[i].column(drawn[:, i]) if i in forms else _category(source, r, drawn[:, i])
    return Condensed(columns, report)


def _members(groups: Groups, rows: npt.NDArray[np.intp], rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """For each record a member of its group, all equally likely."""
    group = groups.labels[rows]
    return np.asarray(groups.order[groups.starts[group] + rng.integers(0, groups.sizes[group])])


class _Boxes:
    """Means and eigenvectors of the numbers of each group, on one scale."""

    def __init__(self, numbers: Sequence[Ranked], groups: Groups) -> None:
        self.groups, self.numbers = groups, numbers
        n_rows = len(groups.labels)
        self.deviations = np.zeros((n_rows, len(numbers)))
        self.means = np.zeros((len(groups.sizes), len(numbers)))
        self.middle, self.unit = np.zeros(len(numbers)), np.ones(len(numbers))
        self.present = np.ones((n_rows, len(numbers)), dtype=bool)
        self.constants = np.full((len(groups.sizes), len(numbers)), np.nan)
        for j, r in enumerate(numbers):
            self._add(j, r)

    def _add(self, j: int, r: Ranked) -> None:
        """Deviations from the group's mean, widened where others of the group are missing."""
        values = r.positions[~np.isnan(r.positions)]
        present = ~np.isnan(r.positions)[r.ranks]
        self.present[:, j] = present
        if not len(values):
            return
        self.middle[j] = values[0] / 2 + values[-1] / 2
        reach = max(float(values[-1] - self.middle[j]), np.finfo(np.float64).tiny)
        z = np.where(present, (np.nan_to_num(r.positions) / reach - self.middle[j] / reach)[r.ranks], 0.0)
        spread = float(np.std(z[present])) or 1.0
        z /= spread
        self.unit[j] = reach * spread
        n_present = self.groups.sum(present)
        low, high = self.groups.span(r.ranks, present)
        self.constants[low == high, j] = r.positions[low[low == high]]
        self.means[:, j] = self.groups.sum(z) / np.maximum(n_present, 1)
        widening = np.sqrt(self.groups.sizes / np.maximum(n_present, 1))
        labels = self.groups.labels
        self.deviations[:, j] = np.where(present, (z - self.means[labels, j]) * widening[labels], 0.0)

    def factors(self, chosen: npt.NDArray[np.int64]) -> Floats:
        """Eigenvectors, each as long as half the range of a uniform draw with its eigenvalue as variance."""
        n_numbers = len(self.numbers)
        covariances = np.empty((len(chosen), n_numbers, n_numbers))
        sizes = self.groups.sizes[chosen]
        for size in np.unique(sizes):  # groups of one size are one stack
            at = np.flatnonzero(sizes == size)
            rows = self.groups.order[self.groups.starts[chosen[at], None] + np.arange(size)]
            stack = self.deviations[rows]
            covariances[at] = np.swapaxes(stack, 1, 2) @ stack / size
        eigenvalues, vectors = np.linalg.eigh(covariances)
        # The sign of an eigenvector is the library's choice; the largest entry made positive is nobody's.
        largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1, keepdims=True), axis=1)
        vectors = np.where(largest < 0, -vectors, vectors)
        return np.asarray(vectors * np.sqrt(3 * np.maximum(eigenvalues, 0.0))[:, None, :])

    def draw(self, rows: npt.NDArray[np.intp], rng: np.random.Generator) -> Floats:
        """Means plus draws along the eigenvectors, in the attributes' own units."""
        n_numbers = len(self.numbers)
        steps = rng.uniform(-1.0, 1.0, (len(rows), n_numbers))
        result = np.empty_like(steps)
        if not n_numbers:
            return result
        by_group = np.argsort(self.groups.labels[rows], kind="stable")
        block = max(1, BLOCK_CELLS // n_numbers**2)
        for first in range(0, len(rows), block):
            at = by_group[first : first + block]
            chosen, place = np.unique(self.groups.labels[rows[at]].astype(np.int64), return_inverse=True)
            moved = np.einsum("rij,rj->ri", self.factors(chosen)[place], steps[at])
            with np.errstate(over="ignore"):  # clipped when it is rounded
                result[at] = (self.means[chosen][place] + moved) * self.unit + self.middle
        return result

    def draw_present(self, j: int, rows: npt.NDArray[np.intp], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Whether a number is present, as often as in the group."""
        if self.present[:, j].all():
            return np.ones(len(rows), dtype=bool)
        return np.asarray(self.present[_members(self.groups, rows, rng), j])

    def keep_constants(self, j: int, rows: npt.NDArray[np.intp], values: Floats) -> Floats:
        """A value that a whole group shares stays, to the last bit."""
        constant = self.constants[self.groups.labels[rows], j]
        return np.where(np.isnan(constant), values, constant)


@dataclass(frozen=True)
class _Form:
    """How drawn numbers are written: as many decimals as there were, dates as they were."""

    source: Column
    decimals: int | None
    dates: Dates | None
    low: float
    high: float

    @classmethod
    def of(cls, source: Column, ranked: Ranked, bounds: tuple[float, float] | None) -> _Form:
        values = ranked.positions[~np.isnan(ranked.positions)]
        with np.errstate(over="ignore", invalid="ignore"):
            fits = (d for d in range(MOST_DECIMALS + 1) if (np.round(values, d) == values).all())
            decimals = next(fits, None)
        dates = parse_dates(source.values) if source.values.dtype.kind in "OM" else None
        low, high = bounds or (-LARGEST, LARGEST)
        if dates is not None:
            low, high = max(low, FIRST_DAY), min(high, LAST_DAY)
            if source.is_text:
                decimals = 0  # a text form has no place for the time of day
        return cls(source, decimals, dates, low, high)

    def rounded(self, values: Floats) -> Floats:
        values = np.clip(values, self.low, self.high)
        if self.decimals is not None:
            return np.asarray(np.round(values, self.decimals) + 0.0)
        # Sums of floats are not known to the last digits.
        with np.errstate(divide="ignore"):
            exponent = np.floor(np.log10(np.abs(values)))
        digits = np.where(np.isfinite(exponent), np.clip(SIGNIFICANT_DIGITS - 1 - exponent, -300, 300), 0.0)
        return np.asarray(np.rint(values * 10.0**digits) / 10.0**digits)

    def column(self, cells: Floats) -> Column:
        """The published column, nan where missing."""
        missing = np.isnan(cells)
        values, codes = np.unique(cells[~missing], return_inverse=True)
        order = np.arange(len(values))
        dictionary: npt.NDArray[np.generic] = values
        if self.dates is not None:
            moments = np.round(values * 86_400e6).astype(np.int64).astype("datetime64[us]")
            dictionary = moments
            if self.source.is_text:
                days = moments.astype("datetime64[D]").tolist()
                dictionary = np.array([d.strftime(self.dates.form) for d in days], dtype=object)
                order = np.argsort(dictionary, kind="stable")
        elif self.source.values.dtype.kind == "i" and self.decimals == 0 and (np.abs(values) < 2**62).all():
            dictionary = values.astype(np.int64)
        return _laid_out(self.source, dictionary, order, codes, missing)


def _category(source: Column, ranked: Ranked, cells: Floats) -> Column:
    assert ranked.labels is not None, "only columns of a table are condensed"
    missing = np.isnan(cells)
    used, codes = np.unique(cells[~missing].astype(np.int64), return_inverse=True)
    labels = ranked.labels[used]
    return _laid_out(source, labels, np.argsort(labels.astype(str), kind="stable"), codes, missing)


def _laid_out(
    source: Column,
    dictionary: npt.NDArray[np.generic],
    order: npt.NDArray[np.intp],
    codes: npt.NDArray[np.intp],
    missing: npt.NDArray[np.bool_],
) -> Column:
    """A column whose dictionary is in ascending order."""
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    new_codes = np.full(len(missing), len(order), dtype=np.int32)
    new_codes[~missing] = place[codes]
    return Column(source.name, new_codes, dictionary[order], (source.markers[:1] or (None,)) if missing.any() else ())


@dataclass(frozen=True)
class _Originals:
    """The combinations that occur in the original, by a 64-bit hash, and how many records hold each.

    Two combinations of one hash would make us draw again in vain, and nothing worse.
    """

    ranked: Sequence[Ranked]
    hashes: npt.NDArray[np.uint64]
    is_crowd: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, ranked: Sequence[Ranked], groups: Groups) -> _Originals:
        hashes, counts = np.unique(_hashed([r.ranks for r in ranked]), return_counts=True)
        return cls(ranked, hashes, counts >= (groups.sizes.min() if len(groups.sizes) else 2))

    def find(self, drawn: Floats) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which pseudo-records equal an original, and which equal a crowd."""
        ranks, known = [], np.ones(len(drawn), dtype=bool)
        for cells, r in zip(drawn.T, self.ranked, strict=True):
            n_present = r.n_values - r.has_missing
            place = np.searchsorted(r.positions[:n_present], cells)
            place = np.where(np.isnan(cells), n_present, np.minimum(place, max(n_present - 1, 0)))
            known &= np.where(np.isnan(cells), r.has_missing, n_present > 0)
            known &= np.isnan(cells) | (r.positions[np.minimum(place, r.n_values - 1)] == cells)
            ranks.append(place.astype(np.int32))
        hashes = _hashed(ranks)
        at = np.minimum(np.searchsorted(self.hashes, hashes), max(len(self.hashes) - 1, 0))
        equal = known & (self.hashes[at] == hashes)
        crowd = equal & self.is_crowd[at]
        return equal & ~crowd, crowd


def _hashed(ranks: Sequence[npt.NDArray[np.int32]]) -> npt.NDArray[np.uint64]:
    key = np.zeros(len(ranks[0]), dtype=np.uint64)
    for column in ranks:
        key = (key ^ (column.astype(np.uint64) + np.uint64(1))) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return key


def _without_copies(drawn: Floats, draw: Draw, originals: _Originals, groups: Groups) -> CopyReport:
    """Draw copies again, in place; then put another pseudo-record of the group there; count what is left."""
    n_rows = len(drawn)
    if not n_rows:
        return CopyReport(0, 0, 0, 0, 0, 0)
    is_copy, is_crowd = originals.find(drawn)
    n_copies = int(is_copy.sum())
    for _ in range(N_TRIES):
        rows = np.flatnonzero(is_copy)
        if not len(rows):
            break
        drawn[rows] = np.column_stack(draw(rows))
        is_copy[rows], is_crowd[rows] = originals.find(drawn[rows])
    stubborn = np.flatnonzero(is_copy)
    some = np.full(len(groups.sizes), -1, dtype=np.intp)
    fine = np.flatnonzero(~is_copy)[::-1]
    some[groups.labels[fine]] = fine  # of several, the last written: the first row
    other = some[groups.labels[stubborn]]
    mended = other >= 0
    drawn[stubborn[mended]] = drawn[other[mended]]
    is_crowd[stubborn[mended]] = is_crowd[other[mended]]
    return CopyReport(
        n_rows,
        n_copies,
        n_copies - len(stubborn),
        int(mended.sum()),
        int((~mended).sum()),
        int(is_crowd.sum()),
    )
