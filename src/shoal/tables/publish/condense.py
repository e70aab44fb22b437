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
- Draws are **not** clipped to the range of the group or the table: that would publish its extremes, and would change
  mean and variance. Only a column without negative numbers gets none: what would fall below is 0, which raises the
  mean where it happens. Other bounds that everyone knows can be given as `bounds`.
- A draw that equals an original record on all condensed attributes is drawn again, see `copies`. A combination that at
  least k originals share is not a copy: it hides in a crowd as it is.

**Guarantee.** Every pseudo-record is a function of the statistics of a group of at least k records and of random
numbers, and no pseudo-record equals an original one on all condensed attributes, unless a crowd shares that combination
or `Condensed.left` says otherwise. This is **not** k-anonymity by equal quasi-identifiers: pseudo-records differ, and a
class of the published table may hold one. What `shoal.check.tables.condensation` recomputes from the original and the
(secret) groups: that every group has at least k records and as many pseudo-records; that every category of a
pseudo-record occurs in its group; that its numbers lie in the box ``|V'(x - mean)| <= sqrt(3 eigenvalue)`` around the
group's mean, up to rounding; that none is a copy. From the published table alone nothing can be verified.

**Not protected.** Which records are in the table. A value that all members of a group share is published as it is, and
a group of near-identical records gives near copies. Groups of no more records than attributes have covariances
without full rank: all draws lie in the flat through the members. Who knows k - 1 members and the mean learns the last
one; the draws tell the mean, but only roughly. A group's extreme member widens its box. Where the space is so dense
that most combinations are drawn, a hole in it hints at an original that was avoided. Attributes that are not
condensed are attached to the pseudo-records of their group in random order (`mixed`), but are true values, and those
of one record stay together.

References
----------
C. C. Aggarwal, P. S. Yu, "A condensation approach to privacy preserving data mining", EDBT 2004, LNCS 2992, sections 2,
2.1 (construction of groups and of anonymised data).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints, Mask, Rows
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.parse import Dates, parse_dates
from shoal.data.tables.table import Column, spell
from shoal.errors import DataError, Infeasible
from shoal.report.points import Point, quoted
from shoal.tables.encoding import Ranked
from shoal.tables.groups import Groups
from shoal.tables.publish.base import (
    PUBLICATIONS,
    GroupedRecords,
    Publication,
    PublishedGroups,
    Telling,
)
from shoal.tables.publish.copies import CopyReport, Originals, without_copies

Bounds = Mapping[str, tuple[float, float]]

MOST_DECIMALS = 6
SIGNIFICANT_DIGITS = 12
LARGEST = float(np.finfo(np.float64).max)
FIRST_DAY, LAST_DAY = -719_162.0, 2_932_896.0  # of the years 1 and 9999, beyond which no date can be written
BLOCK_CELLS = 2**22  # floats of eigenvectors at a time


@dataclass(frozen=True)
class Condensed:
    """The condensed columns by name, the check for copies, and which records still are copies: whole groups."""

    columns: dict[str, Column]
    copies: CopyReport
    left: Mask


def condense(
    sources: Sequence[Column],
    ranked: Sequence[Ranked],
    groups: Groups,
    rng: np.random.Generator,
    *,
    bounds: Bounds | None = None,
    originals: Originals | None = None,
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
        Limits that are public knowledge; numbers (dates: days since 1970) are clipped to them. By default a column
        without negative numbers gets none.
    originals : Originals, optional
        What no pseudo-record may repeat; by default these records, and as many as the smallest group has are a crowd.
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

    def draw(rows: Rows) -> list[Floats]:
        """New values of some records, attribute by attribute: numbers, or ranks; nan where missing."""
        cells: list[Floats] = [np.zeros(0)] * len(ranked)
        numbers = boxes.draw(rows, rng)
        for column, i in enumerate(numeric):
            values = forms[i].written(boxes.keep_constants(column, rows, forms[i].rounded(numbers[:, column])))
            cells[i] = np.where(boxes.draw_present(column, rows, rng), values, np.nan)
        for i, r in enumerate(ranked):
            if r.kind != "number":
                drawn = r.ranks[_members(groups, rows, rng)]
                cells[i] = np.where(np.isnan(r.positions)[drawn], np.nan, drawn)
        return cells

    everyone = np.arange(len(groups.labels))
    drawn = np.column_stack(draw(everyone)) if len(everyone) else np.zeros((0, len(ranked)))
    known = originals or Originals.of(ranked, int(groups.sizes.min()) if len(groups.sizes) else 2)
    report, left = without_copies(drawn, draw, known, ranked, groups)
    columns = {}
    for i, (source, r) in enumerate(zip(sources, ranked, strict=True)):
        columns[source.name] = forms[i].column(drawn[:, i]) if i in forms else _category(source, r, drawn[:, i])
    return Condensed(columns, report, left)


def mixed(groups: Groups, seed: np.random.SeedSequence) -> Rows:
    """Another order of the records, each group's among themselves at random.

    The columns that are not condensed stay where they are and the pseudo-records move, so that neither the order of the
    draws nor a generator whose state was guessed from them tells which member such a column came from: these random
    numbers come from a hash of the seed, out of which nothing can be worked back.
    """
    words = seed.generate_state(8)
    stream = hashlib.shake_256(words.tobytes()).digest(8 * len(groups.labels))
    by_chance = np.lexsort((np.frombuffer(stream, dtype="<u8"), groups.labels))
    order = np.empty(len(by_chance), dtype=np.intp)
    order[groups.order] = by_chance
    return order


def _members(groups: Groups, rows: Rows, rng: np.random.Generator) -> Rows:
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
        reach = float(values[-1] - self.middle[j]) or 1.0
        z = np.where(present, ((np.nan_to_num(r.positions) - self.middle[j]) / reach)[r.ranks], 0.0)
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

    def factors(self, chosen: Ints) -> Floats:
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

    def draw(self, rows: Rows, rng: np.random.Generator) -> Floats:
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

    def draw_present(self, j: int, rows: Rows, rng: np.random.Generator) -> Mask:
        """Whether a number is present, as often as in the group."""
        if self.present[:, j].all():
            return np.ones(len(rows), dtype=bool)
        return np.asarray(self.present[_members(self.groups, rows, rng), j])

    def keep_constants(self, j: int, rows: Rows, values: Floats) -> Floats:
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
        # That no value is negative is what a column means; where its values begin would be what somebody has.
        is_sign_known = dates is None and len(values) > 0 and values[0] >= 0
        low, high = bounds or (0.0 if is_sign_known else -LARGEST, LARGEST)
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

    def written(self, values: Floats) -> Floats:
        """What the form has a place for: of dates in texts the day."""
        return np.asarray(np.round(values)) if self.dates is not None and self.source.is_text else values

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
    if source.is_text:
        return _laid_out(source, labels, np.argsort(labels, kind="stable"), codes, missing)
    place = {text: i for i, text in enumerate(spell(source.values))}
    values = source.values[np.array([place[text] for text in labels], dtype=np.intp)]
    return _laid_out(source, values, np.argsort(values, kind="stable"), codes, missing)


def _laid_out(
    source: Column,
    dictionary: npt.NDArray[np.generic],
    order: Rows,
    codes: Rows,
    missing: Mask,
) -> Column:
    """A column whose dictionary is in ascending order."""
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    new_codes = np.full(len(missing), len(order), dtype=np.int32)
    new_codes[~missing] = place[codes]
    return Column(source.name, new_codes, dictionary[order], (source.markers[:1] or (None,)) if missing.any() else ())


class CondensedGroups(Publication):
    """Pseudo-records in the place of each group."""

    name = "condense"
    help = "Each group is replaced by as many pseudo-records, drawn from its mean, covariance and shares"
    technique = "synthetic data"
    place = 2
    rows_are_records = False
    loses_order = "pseudo-records stand for no record, so none has a place in the original"
    done_to_quasi = "drawn anew in groups"
    kept = "kept beside what was drawn"
    telling = Telling(
        alike="Its quasi-identifiers are invented: each row was drawn from statistics of a group of at least {n} "
        "records.",
        groups="Groups drawn from",
        changed="were replaced by pseudo-records, drawn from the mean, covariance and shares of groups of records; all "
        "other columns hold true values, those of one record together, beside any pseudo-record of its group",
        row="As many rows as records, but a row is not a record of the source: what stands in it belongs together only "
        "as far as its group does.",
        recomputed="The guarantees are about how the rows were drawn. To recompute them the original and the groups "
        "are needed, which are not published; the owner's software did so before this data was written.",
        checked="Every guarantee was recomputed from the table as it is published, the original and the groups, by a "
        "checker that is independent of the method. Without the original nobody can recompute it.",
        classes="Before: records with the same quasi-identifiers form a class, and the larger it is, the harder it is "
        "to tell whose a record is. After: pseudo-records are nobody's, so the groups that they were drawn from are "
        "counted, as if an attacker knew them.",
        width=("Width of a group", "of the whole range, on average"),
    )

    def publish(self, records: GroupedRecords) -> PublishedGroups:
        """Draw as many pseudo-records as each group has records."""
        from shoal.tables.pseudo_records import pseudo_records

        given, policy = records.groups, records.policy
        drawn = pseudo_records(
            records.table,
            records.everyone,
            given.labels,
            records.attributes,
            policy,
            records.seed,
            persons=records.persons,
            everyones=records.everyones,
            failing=records.failing,
        )
        if drawn.n_joined:
            records.note(
                f"{drawn.n_joined:,} of {len(given.sizes):,} groups were joined with others, as nothing but copies of "
                f"originals could be drawn out of them, or fewer than {policy.k} of their "
                f"{'records' if records.persons is None else 'persons'} had some value."
            )
        return PublishedGroups(drawn.columns, drawn.groups)

    def treatment(self, attribute: Attribute, *, by_hierarchy: bool) -> str:
        """What it was drawn from."""
        from_group = "mean and covariance" if attribute.type in ("continuous", "date") else "shares of values"
        return f"drawn at random from the {from_group} of a group"

    def treatment_of_others(self, attribute: Attribute) -> str:
        """They are true, beside what is drawn."""
        return "kept, beside a pseudo-record of its group"

    def not_protected(self, kept: Sequence[str]) -> list[Point]:
        """Near copies, means, and true values beside."""
        points = [
            Point(
                "Near copies",
                "A group of near-identical records gives pseudo-records near to all of them, and what all members of a "
                "group share is published as it is. No pseudo-record equals fewer than k originals; how near one comes "
                "is not limited.",
            ),
            Point(
                "Means tell",
                "The pseudo-records of a group tell its mean roughly: whoever knows all its other members, and could "
                "tell its pseudo-records from others, gets an idea of the last one. An extreme record widens its "
                "group.",
            ),
        ]
        if kept:
            points.append(
                Point(
                    "True values beside drawn ones",
                    f"The cells of {quoted(kept)} are true, and those of one record stand together, beside a "
                    "pseudo-record of their group: whoever can place a record in a group learns what the group has.",
                )
            )
        return points

    def good_use(self, has_kept: bool) -> list[Point]:
        """What pseudo-records are good for."""
        return [
            Point(
                "Means, covariances and shares",
                "over the whole table or many groups stay close to the truth, and so does most that follows from them.",
            ),
            Point(
                "Single rows",
                "are invented. Values beyond the original's extremes occur, a column without negative numbers has too "
                "many zeros where draws fell below, and what depends on combinations inside a group is lost.",
            ),
        ]


PUBLICATIONS.register(CondensedGroups())
