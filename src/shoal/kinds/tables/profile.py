"""A table as it stands: what its columns seem to mean, and how easily its records could be singled out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.check.tables.classes import classes_of
from shoal.check.tables.risk import Risk, risk_of
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.guess import guess
from shoal.data.tables.table import Table
from shoal.errors import DataError
from shoal.kind import Grid
from shoal.kinds.tables.policy import Method, partitions

if TYPE_CHECKING:
    from shoal.sweep.propose import Proposal


@dataclass(frozen=True)
class ColumnProfile:
    """One column: the guess, how many distinct values and missing cells it has."""

    attribute: Attribute
    n_distinct: int
    n_missing: int


@dataclass(frozen=True)
class Profile:
    """What `shoal profile` shows.

    Attributes
    ----------
    risk : Risk or None
        On the columns that look quasi-identifying; None where none does.
    proposal : Proposal or None
        The method to start with, found by trying some on a sample; None where that was not asked for.
    header : str or None
        How the first line was read, for the policy to say the same.
    """

    n_rows: int
    columns: tuple[ColumnProfile, ...]
    risk: Risk | None
    notes: tuple[str, ...]
    proposal: Proposal | None = None
    header: str | None = None

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The guesses by column name."""
        return {c.attribute.name: c.attribute for c in self.columns}

    def shown(self) -> list[str | Grid]:
        """The guesses, their reasons, the risk and the proposed method, for a terminal."""
        columns = Grid(
            ("column", "role", "type", "distinct", "missing", "why"),
            [
                (a.name, a.role, a.type, f"{c.n_distinct:,}", f"{c.n_missing:,}", a.why)
                for c in self.columns
                for a in (c.attribute,)
            ],
            ("distinct", "missing"),
        )
        shown: list[str | Grid] = [f"{self.n_rows:,} rows, {len(self.columns)} columns\n", columns]
        shown += [f"note: {note}" for note in self.notes]
        if self.risk is None:
            return [*shown, "\nNo column looks quasi-identifying; say in the policy which ones others may know."]
        quasi = ", ".join(c.attribute.name for c in self.columns if c.attribute.role == "quasi")
        shown.append(f"\nRisk as it stands, for someone who knows {quasi}:")
        shown += [f"  {sentence}" for sentence in self.risk.sentences]
        return shown if self.proposal is None else [*shown, *self.proposal.shown()]

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
                }
                for c in self.columns
            ],
            "risk": self.risk.to_dict() if self.risk is not None else None,
            "notes": list(self.notes),
            "proposal": self.proposal.to_dict() if self.proposal is not None else None,
        }

    def to_toml(self, k: int = 5) -> str:
        """A policy file with the guesses, to be edited."""
        lines = [
            "# Written by `shoal profile`: every type and role below is a guess. Read it, correct it, then run",
            "#     shoal anonymize DATA -p THIS_FILE -o out/",
            "# Roles: identifying (dropped), quasi (others may know it), sensitive (kept, under what is required",
            "# of it), insensitive (kept).",
            'kind = "table"',
            'missing = "value"        # a missing value is a value of its own; "any": it may hide any value (stricter)',
            *([] if self.header is None else [f'header = "{self.header}"']),
            "",
            "[columns]",
        ]
        for column in self.columns:
            a = column.attribute
            extra = f", order = {_text(list(a.order))}" if a.order is not None else ""
            lines.append(f'{_key(a.name)} = {{ role = "{a.role}", type = "{a.type}"{extra} }}   # {a.why}')
        lines += ["", "[[require]]", 'model = "k-anonymity"', f"k = {k}"]
        if any(c.attribute.role == "sensitive" for c in self.columns):
            lines += [
                "",
                "# Groups of k may still agree in what is sensitive. To rule that out as well:",
                "# [[require]]",
                '# model = "l-diversity"',
                "# l = 3",
                '# kind = "distinct"',
                "# With diversity another method may lose least: compare them with `shoal sweep DATA -p THIS_FILE`.",
            ]
        partition = self.proposal.partition if self.proposal is not None else Method().partition
        lines += [
            "",
            "[method]",
            *([f"# {_one_line(self.proposal.why)}"] if self.proposal is not None else []),
            f'partition = "{partition}"   # {" | ".join(partitions())}',
            'publish = "generalise"   # generalise | aggregate',
            "",
        ]
        return "\n".join(lines)


def _one_line(sentence: str) -> str:
    """A sentence that a comment can hold, whatever the names of columns in it."""
    return "".join(c if c.isprintable() else " " for c in sentence)


def _key(name: str) -> str:
    """A column name as a TOML key."""
    is_bare = name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    return name if is_bare else _text(name)


def _text(content: str | list[str]) -> str:
    """A text, or a list of texts, as TOML: as in JSON, but for one character that must be escaped here."""
    return json.dumps(content, ensure_ascii=False).replace("\x7f", "\\u007f")


def profile_table(table: Table) -> Profile:
    """Guess every column's meaning and measure the risk on the guessed quasi-identifiers."""
    if not table.columns or table.n_rows == 0:
        raise DataError("there is nothing to profile: the table has no rows")
    attributes = guess(table)
    columns = tuple(
        ColumnProfile(
            attributes[name], int((column.counts()[: len(column.values)] > 0).sum()), int(column.missing.sum())
        )
        for name, column in table.columns.items()
    )
    quasi = [n for n, a in attributes.items() if a.role == "quasi"]
    risk = risk_of(classes_of(table, quasi), k=5) if quasi else None
    return Profile(table.n_rows, columns, risk, table.source.notes)
