"""A table as it stands: what its columns seem to mean, and how easily its records could be singled out."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from shoal.check.tables.classes import classes_of
from shoal.check.tables.population import PopulationUniques
from shoal.check.tables.risk import Risk, risk_of
from shoal.check.tables.singled_out import LIMIT, Combination, Uniques
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.guess import guess
from shoal.data.tables.persons import look_like_persons, person_codes
from shoal.data.tables.table import Table
from shoal.data.trajectories.columns import Wanted, find_columns
from shoal.errors import DataError
from shoal.kind import Profiled
from shoal.kinds.tables.policy import Method, partitions
from shoal.report.points import listed
from shoal.report.tables.words import percent
from shoal.shown import Grid

if TYPE_CHECKING:
    from shoal.sweep.propose import Proposal

K = 5
LOOKED_AT, LEAST_LONG, FEW_LETTERS = 1000, 20, 30
"""Of strings in a column: how many are looked at, the letters that each has at least, and how many differ."""
MOST_LISTED = 60  # categories in the order of a policy
FEWEST_PERSONS = 4 * K
_MOST_NAMED = 12  # quasi-identifiers in a sentence
"""Fewer are hardly worth proposing: groups of k of them would be a quarter of the table."""


@dataclass(frozen=True)
class ColumnProfile:
    """One column: the role proposed and why, and what was measured.

    Attributes
    ----------
    n_distinct, n_missing : int
        Distinct values, and missing cells.
    singled_out : float or None
        The share of the records that have a value of their own; None of a column that is dropped.
    is_sensitive : bool
        Whether it looks sensitive; it is proposed as quasi-identifying as long as nothing is required of it.
    """

    attribute: Attribute
    n_distinct: int
    n_missing: int
    singled_out: float | None = None
    is_sensitive: bool = False


@dataclass(frozen=True, repr=False)
class Profile(Profiled):
    """What `shoal profile` shows.

    Attributes
    ----------
    risk : Risk or None
        On the columns that look quasi-identifying; None where none does.
    proposal : Proposal or None
        The method to start with, found by trying some on a sample; None where that was not asked for.
    header : str or None
        How the first line was read, for the policy to say the same.
    reading : mapping or None
        Delimiter, encoding and decimal mark, where they were said, for the same purpose.
    together : Combination or None
        The columns, at most three, that would single out most records if they were published as they are.
    person : str or None
        The column that looks like the key of persons who have several rows; the policy counts these.
    n_persons : int
        How many values it has.
    population : PopulationUniques or None
        What is estimated of the population, where a policy's context says how much of it the table is.
    """

    n_rows: int
    columns: tuple[ColumnProfile, ...]
    risk: Risk | None
    notes: tuple[str, ...]
    proposal: Proposal | None = None
    header: str | None = None
    reading: Mapping[str, str] | None = None
    together: Combination | None = None
    person: str | None = None
    n_persons: int = 0
    population: PopulationUniques | None = None

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The guesses by column name."""
        return {c.attribute.name: c.attribute for c in self.columns}

    def shown(self) -> list[str | Grid]:
        """The guesses, their reasons, the risk and the proposed method, for a terminal."""
        columns = Grid(
            ("column", "role", "type", "distinct", "missing", "alone", "why"),
            [
                (a.name, a.role, a.type, f"{c.n_distinct:,}", f"{c.n_missing:,}", _share(c.singled_out), a.why)
                for c in self.columns
                for a in (c.attribute,)
            ],
            ("distinct", "missing", "alone"),
        )
        rows = f"{self.n_rows:,} row{'s' * (self.n_rows != 1)}"
        shown: list[str | Grid] = [f"{rows}, {len(self.columns)} column{'s' * (len(self.columns) != 1)}\n", columns]
        shown.append("alone: share of the records whose value in the column no other record has")
        shown += [f"note: {note}" for note in (*self._repeating(), *self.notes, *self._measured())]
        if self.risk is None:
            return [*shown, "\nNo column looks quasi-identifying; say in the policy which ones others may know."]
        quasi = [c.attribute.name for c in self.columns if c.attribute.role == "quasi"]
        known = listed(quasi) if len(quasi) <= _MOST_NAMED else f"the {len(quasi)} columns of the role quasi"
        shown.append(f"\nRisk in the table as it is, to someone who knows {known}:")
        shown += [f"  {sentence}" for sentence in self.risk.sentences]
        if self.population is not None:
            shown.append(f"  {self.population.sentence}")
        return shown if self.proposal is None else [*shown, *self.proposal.shown()]

    def _repeating(self) -> list[str]:
        """Who is counted, where some have several rows."""
        if self.person is None:
            return []
        return [
            f"{self.person!r} has {self.n_persons:,} values in {self.n_rows:,} rows, as the keys of persons with "
            "several rows have: so the policy counts persons by it (or households, if it names these), and does not "
            "publish it."
        ]

    def _measured(self) -> list[str]:
        """Why columns of which nothing is known are not published as they are."""
        if self.together is None:
            return []
        names = listed([repr(n) for n in self.together.columns])
        share, are = percent(self.together.share), "it were" if len(self.together.columns) == 1 else "they were"
        sentence = f"{names} would single out {share} of the records if {are} published unchanged"
        return [
            f"{sentence}, more than {percent(LIMIT)}: so no column is kept as it is, unless all records agree in it."
            if self.together.share > LIMIT
            else f"{sentence}; with the labels of small groups it would be more, so no column is kept as it is, unless "
            "all records agree in it."
        ]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "rows": self.n_rows,
            "columns": [
                {
                    "name": c.attribute.name,
                    "type": c.attribute.type,
                    "role": c.attribute.role,
                    "why": c.attribute.why,
                    "distinct": c.n_distinct,
                    "missing": c.n_missing,
                    "singled_out": c.singled_out,
                    "sensitive": c.is_sensitive,
                }
                for c in self.columns
            ],
            "risk": self.risk.to_dict() if self.risk is not None else None,
            "population": self.population.to_dict() if self.population is not None else None,
            "notes": list(self.notes),
            "person": self.person,
            "together": asdict(self.together) if self.together is not None else None,
            "proposal": self.proposal.to_dict() if self.proposal is not None else None,
        }

    def to_toml(self, k: int = K) -> str:
        """A policy file with the guesses, to be edited."""
        lines = [
            "# Written by `shoal profile`: every type and role below is a guess. Read it, correct it, then run",
            "#     shoal anonymize DATA -p THIS_FILE -o out/",
            "# Roles: identifying (dropped), quasi (others may know it), sensitive (kept, under what is required",
            "# of it), insensitive (kept). What nothing shows to be harmless is quasi.",
            *(f"# {one_line(sentence)}" for sentence in self._measured()),
            'kind = "table"',
            'missing = "value"        # a missing value is a value of its own; "any": it may hide any value (stricter)',
            *([] if self.header is None else [f'header = "{self.header}"']),
            *(f"{name} = {toml_text(said)}" for name, said in (self.reading or {}).items()),
            *self._person_lines(),
            "",
            "[columns]",
        ]
        for column in self.columns:
            a = column.attribute
            extra = order_text(a)
            alone = "" if column.singled_out is None else f"; {_share(column.singled_out)} have a value of their own"
            lines.append(f'{toml_key(a.name)} = {{ role = "{a.role}", type = "{a.type}"{extra} }}   # {a.why}{alone}')
        lines += ["", "[[require]]", 'model = "k-anonymity"', f"k = {k}"]
        if names := [c.attribute.name for c in self.columns if c.is_sensitive]:
            lines += [
                "",
                f"# These look sensitive: {one_line(', '.join(names))}. To keep their values as they are, give them",
                '# role = "sensitive", and require that the records of a group differ in them:',
                "# [[require]]",
                '# model = "l-diversity"',
                "# l = 3",
                '# kind = "distinct"',
                "# Under diversity another method may lose least: compare them with `shoal sweep DATA -p THIS_FILE`.",
            ]
        lines += [
            "",
            "[limits]",
            f"singled_out = {LIMIT:g}       # the most records that columns kept as they are may single out",
            "# [accept]",
            '# singled_out = "..."    # the reason for accepting more; it is published',
        ]
        partition = self.proposal.partition if self.proposal is not None else Method().partition
        lines += [
            "",
            "[method]",
            *([f"# {one_line(self.proposal.why)}"] if self.proposal is not None else []),
            f'partition = "{partition}"   # {" | ".join(partitions())}',
            'publish = "generalise"   # generalise | aggregate',
            "",
        ]
        return "\n".join(lines)

    def _person_lines(self) -> list[str]:
        if self.person is None:
            return []
        return [
            *(f"# {one_line(sentence)}" for sentence in self._repeating()),
            f"person = {toml_text(self.person)}   # whose row it is; without this line records are counted",
        ]


def one_line(sentence: str) -> str:
    """A sentence that a comment can hold, whatever the names of columns in it."""
    return "".join(c if c.isprintable() else " " for c in sentence)


def toml_key(name: str) -> str:
    """A column name as a TOML key."""
    is_bare = name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    return name if is_bare else toml_text(name)


def order_text(attribute: Attribute) -> str:
    """The order of categories, for a policy; where there are many, it is found again from their spelling."""
    order = attribute.order
    return f", order = {toml_text(list(order))}" if order is not None and len(order) <= MOST_LISTED else ""


def toml_text(content: str | list[str]) -> str:
    """A text, or a list of texts, as TOML: as in JSON, but for one character that must be escaped here."""
    return json.dumps(content, ensure_ascii=False).replace("\x7f", "\\u007f")


def profile_table(table: Table) -> Profile:
    """Guess every column's meaning and measure the risk on the guessed quasi-identifiers."""
    if not table.columns or table.n_rows == 0:
        raise DataError("there is nothing to profile: the table has no rows")
    guessed = guess(table)
    attributes = {n: _until_required(a) if a.role == "sensitive" else a for n, a in guessed.items()}
    person = next((n for n in look_like_persons(table) if len(table[n].values) >= FEWEST_PERSONS), None)
    if person is not None:
        why = f"{attributes[person].why}; the same value stands in several rows, as keys of persons do"
        attributes[person] = replace(attributes[person], role="identifying", why=why)
    counts = {
        n: CellCounts(int((c.counts()[: len(c.values)] > 0).sum()), int(c.missing.sum()))
        for n, c in table.columns.items()
    }
    return _measured(table, guessed, attributes, counts, person)


@dataclass(frozen=True)
class CellCounts:
    """How many distinct values a column has, and how many of its cells are missing."""

    n_distinct: int
    n_missing: int


def profile_columns(table: Table, guessed: Mapping[str, Attribute], counts: Mapping[str, CellCounts]) -> Profile:
    """The profile of distinct rows, each with the number of its records, whose columns were looked at before.

    Persons are not looked for.
    """
    attributes = {n: _until_required(a) if a.role == "sensitive" else a for n, a in guessed.items()}
    return _measured(table, guessed, attributes, counts, None)


def _measured(
    table: Table,
    guessed: Mapping[str, Attribute],
    attributes: Mapping[str, Attribute],
    counts: Mapping[str, CellCounts],
    person: str | None,
) -> Profile:
    """Who is alone in what, and the risk."""
    uniques = Uniques([table[n] for n, a in attributes.items() if a.role != "identifying"], weights=table.weights)
    alone = {found.columns[0]: found.share for found in uniques.each()}
    columns = tuple(
        ColumnProfile(
            attributes[name],
            counts[name].n_distinct,
            counts[name].n_missing,
            alone.get(name),
            guessed[name].role == "sensitive" and name != person,
        )
        for name in table.columns
    )
    quasi = [n for n, a in attributes.items() if a.role == "quasi"]
    risk = None
    if quasi:
        classes = classes_of(table, quasi)
        risk = risk_of(classes if person is None else classes.of_persons(person_codes(table, [person])), k=K)
    return Profile(
        table.n_records,
        columns,
        risk,
        (*table.source.notes, *_sequences(table, attributes), *_trips(table)),
        together=uniques.most_telling(LIMIT),
        person=person,
        n_persons=0 if person is None else len(table[person].values),
    )


def _sequences(table: Table, attributes: Mapping[str, Attribute]) -> list[str]:
    """What to do with columns that would be dropped and look like strings of few letters, such as DNA."""
    found = []
    for name, attribute in attributes.items():
        texts = table[name].texts()[: len(table[name].values)] if attribute.role == "identifying" else []
        letters = set("".join(texts[:LOOKED_AT]))
        is_long = len(texts) >= K and min(map(len, texts[:LOOKED_AT])) >= LEAST_LONG
        if is_long and len(letters) <= FEW_LETTERS and all(map(str.isalpha, letters)):
            found.append(
                f"{name!r} looks like strings over {len(letters)} letters, which a table does not publish; new ones, "
                f"drawn from groups of them, are published with --kind strings --column {shlex.quote(name)}"
            )
    return found


def _trips(table: Table) -> list[str]:
    """What to do with rows that look like points of trips, by the names of their columns."""
    try:
        found = find_columns(table.names, Wanted())
    except DataError:  # which has no such columns
        return []
    where = [found[meaning] for meaning in ("latitude", "longitude", "time")]
    if any(len(name) < len("lat") for name in where[:2]):  # x and y may be anything
        return []
    return [
        f"{listed([repr(name) for name in where])} look like points of trips; whole trips are made alike and published "
        "with --kind trajectories"
    ]


def _until_required(attribute: Attribute) -> Attribute:
    """What looks sensitive is made alike in groups as long as nothing is required of it."""
    why = f"{attribute.why}: sensitive, so not published as it is until something is required of it"
    return replace(attribute, role="quasi", why=why)


def _share(share: float | None) -> str:
    return "" if share is None else percent(share)
