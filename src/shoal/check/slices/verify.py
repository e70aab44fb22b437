"""Recompute what a bucketized, sliced or screened table promises.

k is a matter of the published table alone. The models of diversity and closeness are held to what an attacker believes
who knows all quasi-identifiers of a person (`posterior`), for every record of the original. Without the original they
can still be shown where they hold for every combination of regions of every bucket: a person's belief is a mixture of
these, and mixing distributions harms none of the models.

**Guarantee.** Whoever knows all quasi-identifiers of a record, reads the table as it is and joins its slices on the
sensitive value, learns of it no more than the model allows.
**Not protected.** That a record is in the table: bucketized and sliced tables show the quasi-identifiers as they are.
Insensitive attributes are taken to be unknown to the attacker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.check.guarantee import N_WORST, Guarantee, WorstClass, count
from shoal.check.slices.alignment import aligned_records, aligned_values
from shoal.check.slices.belief import Reading, joint_reading, reading_of, settled
from shoal.check.slices.belief_words import Outcome, concluded
from shoal.check.slices.compare import Form, SliceRecords, compare_records, malformed
from shoal.check.slices.matching import Finder, Matching, match_records, spread
from shoal.check.slices.posterior import Posterior, posterior
from shoal.check.slices.sliced import CheckedSlices, sliced_of
from shoal.check.tables.classes import Missing
from shoal.check.tables.models import check_of, refuse_hidden
from shoal.check.tables.t_closeness import Distance
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import SlicedTable
from shoal.data.tables.table import MARKERS, Table
from shoal.errors import DataError, Infeasible, PolicyError
from shoal.models import Model

_MOST_COMBINATIONS = 1 << 21
_GIVE_POLICY = "give the policy with -p to have it compared with the original"
_NOT_READ = "was not checked, as the table cannot be read as what it should be"


@dataclass(frozen=True)
class SlicesCheck:
    """All that was found out about a sliced table.

    Attributes
    ----------
    guarantees : tuple of Guarantee
        What could be recomputed.
    unverified : tuple of str
        What else is required, a sentence each that says what its check needs.
    findings : tuple of str
        Everything else that is wrong: a table that cannot be read, or is no slicing of the original.
    """

    guarantees: tuple[Guarantee, ...]
    unverified: tuple[str, ...]
    findings: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether everything that is required was recomputed and holds, and nothing else is wrong."""
        return not self.unverified and not self.findings and all(g.holds for g in self.guarantees)


def check_slices(
    published: SlicedTable,
    require: Sequence[Model],
    *,
    original: Table | None = None,
    missing: Missing = "value",
    markers: Sequence[str] = MARKERS,
    form: Form,
    jointly: bool = False,
    is_meaning_known: bool = True,
    rows: npt.NDArray[np.intp] | None = None,
    buckets: npt.NDArray[np.int32] | None = None,
) -> SlicesCheck:
    """Recompute the guarantees of a published sliced table, and compare it with the original where it is there.

    Parameters
    ----------
    published : SlicedTable
        What would be published, typed or read back as text.
    require : sequence of Model
        One that names no sensitive attribute applies to all of them, each on its own, or jointly.
    original : Table, optional
        All records as they came in.
    missing : {"value", "any"}
        Whether a missing cell is a value of its own, or may hide any value.
    markers : sequence of str
        Texts that mean "missing".
    form : {"bucketize", "slice", "screen"}
        Which rules the slices follow: see `malformed`; and what k means: rows of a bucket, or of a region.
    jointly : bool
        Whether several sensitive attributes are protected as one. It is weaker: two values of one attribute
        count as different also where the other attribute tells them apart only.
    is_meaning_known : bool
        Whether its attributes have the orders and hierarchies that labels were made with. Where they may lack them,
        labels that cannot be read without are no fault of the table, and nothing is compared.
    rows, buckets : integer arrays (n_published,), optional
        What the owner alone knows: the original record of every published one, in any order, and the number of its
        bucket as published.
    """
    attributes = published.attributes
    sliced = sliced_of(published, markers)
    findings = malformed(sliced, attributes, form)
    finder = None
    aligned = [] if findings else aligned_values(sliced)
    if original is not None and not findings:
        if form != "screen":
            aligned += aligned_records(sliced, original, markers)
        finder = Finder(sliced, original, attributes, missing, markers, as_values=form != "screen")
        unread = [] if is_meaning_known else finder.unread
        if unread:
            judge = Judge(sliced, attributes, form, missing, tuple(markers), jointly, _GIVE_POLICY)
            found = judge.all(require, None, None)
            sure = tuple(g for g, doubt in found if g is not None and not doubt)
            return SlicesCheck(sure, (*unread, *(doubt for _, doubt in found if doubt)), tuple(aligned))
        findings += finder.findings
        findings += compare_records(SliceRecords(finder, original, attributes, markers, form), rows, buckets)
    if findings and (finder is None or finder.n_unreadable):
        return SlicesCheck((), tuple(f"{r.model} {_NOT_READ}" for r in require), tuple(findings))
    judge = Judge(sliced, attributes, form, missing, tuple(markers), jointly)
    # A cell that was put into a sensitive column need not be one that its distance can read. Where the original is
    # at fault, nothing was found so far, and the error says so.
    read = [r for r in require if judge.can_read(r)] if findings else list(require)
    left_out = tuple(f"{r.model} {_NOT_READ}" for r in require if r not in read)
    found = judge.all(read, finder, rows)
    sure = tuple(g for g, doubt in found if g is not None and not doubt)
    return SlicesCheck(sure, (*left_out, *(doubt for _, doubt in found if doubt)), (*findings, *aligned))


class Judge:
    """The requirements of one table, each beside a sentence of doubt where it cannot be decided."""

    def __init__(
        self,
        sliced: CheckedSlices,
        attributes: Mapping[str, Attribute],
        form: Form,
        missing: Missing,
        markers: tuple[str, ...],
        jointly: bool,
        remedy: str = "give the original to have it checked",
    ) -> None:
        self.remedy = remedy
        self.sliced, self.attributes, self.form, self.jointly = sliced, attributes, form, jointly
        self.missing, self.markers = missing, markers
        self.smallest = _rows_of_groups(sliced, form, missing)

    def all(
        self, require: Sequence[Model], finder: Finder | None, rows: npt.NDArray[np.intp] | None
    ) -> list[tuple[Guarantee | None, str]]:
        asked = [(r, *self._reading(r, name)) for r in require for name in self._names(r)]
        belief, n_unmatched, n_suppressed = self._belief(finder, rows) if asked else (None, 0, 0)
        outcomes = iter(self._measured(asked, belief) if belief is not None else [None] * len(asked))
        found: list[tuple[Guarantee | None, str]] = []
        for required in require:
            if not required.is_about_values():
                found.append((self._k(required), ""))
                continue
            for name in self._names(required):
                outcome = next(outcomes)
                if outcome is None or belief is None:
                    found.append((None, self._undecided(required, name)))
                    continue
                # Whom no join finds stands nowhere, either.
                n_lost = int(belief.sizes.sum() - belief.sizes[outcome.ids].sum()) if finder is not None else 0
                n_nowhere = max(0, n_unmatched + n_lost - n_suppressed)
                made = concluded(
                    outcome,
                    belief,
                    who=self._who(),
                    smallest=int(self.smallest[0].min()),
                    n_unmatched=n_nowhere,
                    show_regions=self.form == "screen",
                )
                doubt = ""
                n_failing = int(belief.sizes[outcome.ids[outcome.failing]].sum())
                if n_nowhere or not n_failing:
                    pass  # it holds, or it fails for sure
                elif finder is None:
                    doubt = self._undecided(required, name)
                elif n_failing <= n_suppressed:
                    doubt = (
                        f"{required.model} of {name!r} fails for no more records than were suppressed; whether it is "
                        "these is only known with the record of each published row"
                    )
                found.append((made, doubt))
        return found

    def _undecided(self, required: Model, name: str) -> str:
        return f"{required.model} of {name!r} cannot be decided from the published table alone; {self.remedy}"

    def _names(self, required: Model) -> list[str]:
        if not required.is_about_values():
            return []
        if not self.sliced.sensitive:
            raise PolicyError(
                f"{required.model} needs a sensitive column and none is named; give one the role 'sensitive'"
            )
        if required.column is not None:
            if required.column not in self.sliced.sensitive:
                raise PolicyError(f"{required.model} names {required.column!r}, which is not a sensitive column")
            return [required.column]
        return [", ".join(self.sliced.sensitive)] if self.jointly else list(self.sliced.sensitive)

    def can_read(self, required: Model) -> bool:
        """Whether the published sensitive values are such as a requirement is about."""
        try:
            for name in self._names(required):
                self._reading(required, name)
        except (DataError, Infeasible):
            return False
        return True

    def _reading(self, required: Model, name: str) -> tuple[Reading, Distance]:
        part = self.sliced.carrying[0]
        names = [name] if name in self.sliced.sensitive else list(self.sliced.sensitive)
        check = check_of(required)
        distance: Distance = check.distance(required, self.attributes[names[0]]) if len(names) == 1 else "equal"
        read = [
            reading_of(self.sliced, part, n, self.attributes[n], distance, self.missing, self.markers) for n in names
        ]
        reading = read[0] if len(read) == 1 else joint_reading(read, part)
        if reading.hidden >= 0 and check.needs_known:
            raise refuse_hidden(required.model, reading.name)
        return reading, distance

    def _belief(self, finder: Finder | None, rows: npt.NDArray[np.intp] | None) -> tuple[Posterior | None, int, int]:
        """The belief, the records that no bucket matches, and how many records may be suppressed."""
        if finder is None:
            combined = _combinations(self.sliced)
            return (posterior(combined) if combined is not None else None), 0, 0
        found = match_records(finder, rows)
        n_suppressed = max(0, int(found.sizes.sum()) - self.sliced.n_records) if rows is None else 0
        n_unmatched = int(found.sizes[found.n_matching == 0].sum())
        return posterior(found), n_unmatched, n_suppressed

    def _measured(self, asked: Sequence[tuple[Model, Reading, Distance]], belief: Posterior) -> list[Outcome]:
        portions: list[list[tuple[Ints, npt.NDArray[np.float64], npt.NDArray[np.bool_]]]] = [[] for _ in asked]
        for shares in belief.distributions():
            if not len(shares.ids):
                continue
            read = {id(reading): settled(shares, reading) for _, reading, _ in asked}
            for portion, (required, reading, distance) in zip(portions, asked, strict=True):
                portion.append(
                    (shares.ids, *check_of(required).of_beliefs(required, read[id(reading)], reading, distance))
                )
        nothing = (np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=bool))
        return [
            Outcome(
                required,
                reading.name,
                distance,
                *(np.concatenate([nothing[i], *(p[i] for p in portion)]).astype(nothing[i].dtype) for i in range(3)),
            )
            for portion, (required, reading, distance) in zip(portions, asked, strict=True)
        ]

    def _who(self) -> str:
        who = "Whoever knows all quasi-identifiers of a record"
        if self.form == "screen":
            return f"{who} and joins the slices on {' and '.join(map(repr, self.sliced.sensitive))}"
        return f"{who} and looks into every bucket that could hold the record"

    def _k(self, required: Model) -> Guarantee:
        k = check_of(required).least_rows(required)
        if not k:
            raise PolicyError(f"{required.model} cannot be shown for slices; publish in another way")
        sizes, places = self.smallest
        failing = sizes < k
        least = int(sizes.min())
        order = np.argsort(sizes, kind="stable")[:N_WORST].tolist()
        if self.form == "screen":
            good = f"every published combination of quasi-identifiers stands in {count(least, 'row')} or more"
            sentence = f"In every slice of every bucket, {good} (required: {k})."
            where = f"in {int(failing.sum())} of {count(len(sizes), 'region')} of a slice and bucket"
            bad = f"a combination of quasi-identifiers stands in {count(least, 'row')} only (required: {k})."
        else:
            is_apart = not self.sliced.carrying[0].quasi
            what = "permutes the sensitive values of" if is_apart else "has"
            sentence = f"Every bucket {what} {count(least, 'record')} or more (required: {k})."
            where = f"in {int(failing.sum())} of {count(len(sizes), 'bucket')}"
            bad = f"a bucket has {count(least, 'record')} only (required: {k})."
        return Guarantee(
            model=required.model,
            kind="",
            sensitive="",
            required={"k": k},
            achieved=float(least),
            holds=not failing.any(),
            n_classes=len(sizes),
            n_failing=int(failing.sum()),
            worst=tuple(WorstClass(_named(self.sliced, places[i]), int(sizes[i]), float(sizes[i])) for i in order),
            sentence=f"{required.model} fails {where}: {bad}" if failing.any() else sentence,
        )


def _rows_of_groups(sliced: CheckedSlices, form: Form, missing: Missing) -> tuple[Ints, npt.NDArray[np.int64]]:
    """The rows of what must have k of them, and of each a region and its slice, or a bucket and -1."""
    if form != "screen":
        return sliced.sizes, np.column_stack([np.arange(sliced.n_buckets), np.full(sliced.n_buckets, -1)])
    sizes, places = [], []
    for part in sliced.parts:
        rows = part.sizes.copy()
        if missing == "any" and part.columns:
            # A cell that may hide any value hides nobody: its record stands alone.
            absent = np.any([c.missing[part.first] for c in part.columns], axis=0)
            rows[absent] = 1
        sizes.append(rows)
        places.append(np.column_stack([np.arange(part.n_regions), np.full(len(rows), part.number)]))
    return np.concatenate(sizes), np.concatenate(places)


def _named(sliced: CheckedSlices, place: npt.NDArray[np.int64]) -> dict[str, str]:
    which, number = int(place[0]), int(place[1])
    if number < 0:
        return {sliced.layout.bucket: str(int(sliced.numbers[which]))}
    part = sliced.parts[number]
    values = {sliced.layout.bucket: str(int(sliced.numbers[part.bucket[which]]))}
    for column in part.columns:
        values[column.name] = [*column.texts(), ""][column.codes[part.first[which]]]
    return values


def _combinations(sliced: CheckedSlices) -> Matching | None:
    """Every combination of regions of the carrying slices of every bucket, as if each had an owner; None if too many.

    What covers a person in a slice may be several regions. W is linear in the rows of each slice, so such a person's
    belief is a mixture of those of single regions.
    """
    carrying = sliced.carrying
    per_bucket = [np.bincount(part.bucket, minlength=sliced.n_buckets) for part in carrying]
    n_each = np.prod(np.array(per_bucket, dtype=np.float64), axis=0)
    if n_each.sum() > _MOST_COMBINATIONS:
        return None
    n_each = n_each.astype(np.int64)
    bucket, place = spread(np.zeros(len(n_each), dtype=np.int64), n_each)
    chosen: dict[int, Ints] = {}
    for part, counts in zip(carrying, per_bucket, strict=True):
        starts = np.cumsum(counts) - counts
        chosen[part.number] = starts[bucket] + place % counts[bucket]
        place = place // counts[bucket]
    pairs = np.arange(len(bucket))
    hits = tuple(
        (pairs, chosen.get(part.number, np.searchsorted(part.bucket, bucket).astype(np.int64))) for part in sliced.parts
    )
    return Matching(sliced, pairs, np.ones(len(bucket), dtype=np.int64), pairs, bucket, hits)
