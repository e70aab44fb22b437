"""Check a published file whose distinct rows do not fit into memory: in parts, and with counts that a database makes.

Rows are dealt to parts by their quasi-identifiers, so that every class of records that look alike is in one part. The
formulas of the models run on each part as they run on a whole table, except that classes are compared with the
distribution of sensitive values over all parts. The guarantees are those of the whole table, in the same words.

Where a missing cell may hide any value, a record that lacks a quasi-identifier is a class of its own, in whatever part.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Ints
from shoal.check.finding import Finding
from shoal.check.guarantee import Guarantee, Reached
from shoal.check.tables.cells import published
from shoal.check.tables.classes import Classes, classes_of
from shoal.check.tables.distribution import Whole, distribution
from shoal.check.tables.models import Check, Held, check_of
from shoal.check.tables.risk import Risk, risk_of_sizes
from shoal.check.tables.singled_out import LIMIT, Counted, findings_among
from shoal.check.tables.t_closeness import Distance
from shoal.check.tables.verify import READINGS
from shoal.check.verdict import Asked
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.coded_rows import CodedRows, Marginals, coded_rows
from shoal.data.tables.table import Column, Table
from shoal.errors import DataError, NotVerified, PolicyError
from shoal.models import Requirement
from shoal.progress import Progress


def verify_parts(
    rows: CodedRows,
    asked: Asked,
    *,
    is_one_each: bool = False,
    n_parts: int | None = None,
    progress: Progress | None = None,
) -> tuple[Guarantee, ...]:
    """Recompute the guarantees of a published file, in parts; see `shoal.check.tables.verify.verify`.

    Parameters
    ----------
    rows : CodedRows
        What would be published.
    asked : Asked
        What is required, and of which columns.
    is_one_each : bool
        Whether every record is another person's; where it is not known, records are counted also where persons count.
    n_parts : int, optional
        How many; else as many as it takes.
    """
    if not asked.quasi:
        raise PolicyError("no quasi-identifier is named; give at least one column the role 'quasi'")
    questions = _questions(asked)
    beside = list(dict.fromkeys(q.name for q in questions if q.name))
    wholes = {(q.name, q.distance): _read_whole(rows, q, asked) for q in questions if q.name}
    found: list[Reached | None] = [None] * len(questions)
    are_joined = asked.missing == "value"
    for part, n_of_them, table in rows.parts(asked.quasi, beside, are_joined=are_joined, n_parts=n_parts):
        if progress is not None:
            progress("checking the release", part, n_of_them)
        if not table.n_rows:
            continue
        classes = classes_of(table, asked.quasi, missing=asked.missing, markers=asked.markers)
        if asked.counts_persons and is_one_each:
            one_each = np.arange(table.n_rows)
            classes = classes.of_histories(one_each) if asked.knows_history else classes.of_persons(one_each)
        for i, reached in enumerate(_reached(questions, classes, table, wholes, asked)):
            before = found[i]
            found[i] = reached if before is None else before.with_part(reached)
    return tuple(q.told(reached) for q, reached in zip(questions, found, strict=True) if reached is not None)


@dataclass(frozen=True)
class _Question:
    """One requirement, of one column unless it is about sizes, and the distance by which values are compared."""

    required: Requirement
    check: Check[Requirement]
    name: str
    distance: Distance

    def told(self, reached: Reached) -> Guarantee:
        if not self.name:
            return self.check.tell_sizes(self.required, reached)
        return self.check.tell_values(self.required, reached, self.name, self.distance)


def _questions(asked: Asked) -> list[_Question]:
    """In the order in which guarantees are told."""
    questions = []
    for required in asked.requirements:
        check = check_of(required)
        if not required.is_about_values():
            questions.append(_Question(required, check, "", "equal"))
            continue
        named = [required.column] if required.column is not None else list(dict.fromkeys(asked.sensitive))
        if not named:
            raise PolicyError(
                f"{required.model} needs a sensitive column and none is named; give one the role 'sensitive'"
            )
        questions += [_Question(required, check, n, check.distance(required, asked.attributes.get(n))) for n in named]
    return questions


def _read_whole(rows: CodedRows, question: _Question, asked: Asked) -> tuple[Column, Whole]:
    """The dictionary of a sensitive column as a distance reads it, and how often all records have what it says."""
    name = question.name
    dictionary = Table(rows.dictionaries)[name]
    read = READINGS[question.distance](published(dictionary, asked.markers), asked.attributes.get(name))
    counts = rows.counts(name, list(dict.fromkeys(asked.quasi)) if asked.missing == "any" else ())
    held = np.minimum(read.codes, len(read.values))
    totals = np.bincount(held, counts, len(read.values) + 1).astype(np.int64)
    codes = np.flatnonzero(totals).astype(np.int64)
    return read, Whole(codes, totals[codes])


def _reached(
    questions: Sequence[_Question],
    classes: Classes,
    table: Table,
    wholes: Mapping[tuple[str, Distance], tuple[Column, Whole]],
    asked: Asked,
) -> list[Reached]:
    """What a part reaches of each question."""
    held = {
        (name, distance): Held(
            distribution(
                classes, replace(read, codes=read.codes[table[name].codes]), missing=asked.missing, whole=whole
            ),
            distance,
            asked.attributes.get(name),
        )
        for (name, distance), (read, whole) in wholes.items()
    }
    return [
        q.check.reach_sizes(q.required, classes)
        if not q.name
        else q.check.reach_values(q.required, classes, held[q.name, q.distance])
        for q in questions
    ]


class _OnDisk(Counted):
    """Columns that a database counts."""

    def __init__(self, rows: CodedRows, names: Sequence[str], beside: Sequence[str]) -> None:
        self.names, self.n_rows = tuple(names), rows.n_records
        self._rows, self._beside = rows, tuple(beside)

    def share(self, names: Sequence[str]) -> float:
        """By the records that are alone."""
        return self._rows.n_alone([*self._beside, *names]) / self.n_rows

    def n_agreeing(self, name: str) -> int:
        """By the number of records with each cell."""
        return int((self._rows.counts(name) ** 2).sum())


def findings_in_parts(
    rows: CodedRows,
    attributes: Mapping[str, Attribute],
    *,
    limit: float = LIMIT,
    accepted: Mapping[str, str] | None = None,
    are_persons: bool = False,
) -> tuple[Finding, ...]:
    """What the columns single out that a file publishes as they are; see `shoal.check.tables.singled_out.findings_of`.

    Parameters
    ----------
    are_persons : bool
        Whether every record is another person's, and persons are told of.
    """
    return findings_among(
        [rows.names],
        attributes,
        lambda names, beside: _OnDisk(rows, names, beside),
        n_records=rows.n_records,
        has_labels=True,
        limit=limit,
        accepted=accepted,
        noun="persons" if are_persons else "records",
    )


@dataclass(frozen=True)
class ClassSizes:
    """How many classes of records that look alike have which size, of a whole file.

    Attributes
    ----------
    sizes, counts : int64 arrays
        Sizes, ascending, and how many classes have each.
    noun : {"record", "person"}
        What is counted.
    """

    sizes: Ints
    counts: Ints
    noun: str = "record"

    @classmethod
    def of(cls, rows: CodedRows, quasi: Sequence[str], noun: str = "record") -> ClassSizes:
        """Of the records that are equal in all quasi-identifiers; a missing cell is a value of its own."""
        return cls(*rows.class_sizes(list(dict.fromkeys(quasi))), noun)

    def risk(self, k: int) -> Risk:
        """What `shoal.check.tables.risk.risk_of` says of all classes."""
        return risk_of_sizes(self.sizes, self.counts, k, noun=self.noun)


@dataclass(frozen=True)
class VerifiedFile:
    """What was recomputed from a written file."""

    guarantees: tuple[Guarantee, ...]
    """In the order of the requirements, as `shoal.check.tables.verify.verify` gives them; some may not hold."""
    findings: tuple[Finding, ...]
    """What no guarantee forbids; some may be serious."""
    sizes: ClassSizes
    """Of the classes, a missing cell being a value of its own, for the risk."""
    marginals: Marginals
    """The columns by themselves, for the datasheet and what a manifest tells of values."""
    n_rows: int
    """Distinct rows."""
    n_records: int


def verify_file(
    path: str | os.PathLike[str],
    names: Sequence[str],
    *,
    asked: Asked,
    n_records: int,
    delimiter: str | None = None,
    limit: float = LIMIT,
    accepted: Mapping[str, str] | None = None,
    is_one_each: bool = False,
    n_parts: int | None = None,
    progress: Progress | None = None,
) -> VerifiedFile:
    """Recompute what a written file promises that makes records alike, without holding its rows.

    It is for a release that has no table in memory. Call it inside `shoal.data.memory.bounded`, with the file as it
    will be published; then refuse what does not hold, as for any release: `shoal.stage.refuse_failed` with
    ``Verdict(found.guarantees)``, and `shoal.check.finding.refuse_serious` with the findings.

    Parameters
    ----------
    path : path
        The written file: Parquet, or regular CSV or TSV.
    names : sequence of str
        The columns that were written, in order.
    asked : Asked
        What is required, and of which columns, with the markers by which missing cells are known.
    n_records : int
        How many records were written.
    delimiter : str, optional
        Of a text file.
    limit, accepted
        The share that may be singled out, and what the policy takes, with the reason.
    is_one_each : bool
        Whether every record is known to be another person's; needed where persons count.
    n_parts : int, optional
        How many parts; else as many as it takes for each to fit into memory.

    Raises
    ------
    NotVerified
        If the file does not have these columns or so many records, or persons count that are not known.
    """
    if asked.layout is not None or asked.coalition or (asked.counts_persons and not is_one_each):
        raise NotVerified("slices, providers and persons of several records are not checked in parts; raise memory")
    try:
        with coded_rows(path, names, markers=asked.markers, delimiter=delimiter) as rows:
            if rows.names != list(names) or rows.n_records != n_records:
                raise NotVerified(
                    "the written file does not read back as the table that was made; nothing was published"
                )
            guarantees = verify_parts(rows, asked, is_one_each=is_one_each, n_parts=n_parts, progress=progress)
            findings = findings_in_parts(rows, asked.attributes, limit=limit, accepted=accepted)
            # Records are what everybody can count; persons come after them.
            if asked.counts_persons and not any(f.is_serious for f in findings):
                findings = findings_in_parts(rows, asked.attributes, limit=limit, accepted=accepted, are_persons=True)
            sizes = ClassSizes.of(rows, asked.quasi, "person" if asked.counts_persons else "record")
            return VerifiedFile(guarantees, findings, sizes, rows.marginals(), rows.n_rows, rows.n_records)
    except DataError as error:
        raise NotVerified(f"the written file cannot be checked, so nothing was published: {error}") from None
