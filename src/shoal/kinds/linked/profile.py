"""Linked tables as they stand: what their columns seem to mean, and a policy to start with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.data.linked.linked import Linked
from shoal.kind import Profiled
from shoal.kinds.linked.policy import LinkedPolicy
from shoal.kinds.tables.profile import Profile, one_line, order_text, profile_table, toml_key, toml_text
from shoal.linked.counts import common_levels
from shoal.shown import Grid

K = 5


@dataclass(frozen=True, repr=False)
class LinkedProfile(Profiled):
    """What `shoal profile` shows of linked tables.

    Attributes
    ----------
    tables : mapping of str to Profile
        Of each by itself, without the link; the main one first.
    n_persons : int
        Different values of the link in the main table.
    strangers : mapping of str to int
        Of each table, rows that are of nobody in the main one.
    suppression : float
        The share of the rows of a table that have to be left out, so that persons have equally many.
    """

    link: str
    tables: Mapping[str, Profile]
    n_persons: int
    strangers: Mapping[str, int]
    suppression: float
    header: str | None = None
    reading: Mapping[str, str] | None = None

    def shown(self) -> list[str | Grid]:
        """The tables one after the other, for a terminal."""
        shown: list[str | Grid] = [f"{len(self.tables)} tables of {self.n_persons:,} persons, linked by {self.link!r}"]
        for name, found in self.tables.items():
            shown += [f"\n{name}:", *found.shown()]
            if self.strangers[name]:
                shown.append(f"note: {self.strangers[name]:,} rows are of nobody in {next(iter(self.tables))!r}")
        if self.suppression:
            shown.append(
                f"\nSo that {K} persons have equally many rows in every table, up to {100 * self.suppression:.1f} % of "
                "the rows of one have to be left out."
            )
        return shown

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "link": self.link,
            "persons": self.n_persons,
            "tables": {name: found.to_dict() for name, found in self.tables.items()},
            "strangers": dict(self.strangers),
            "suppression": self.suppression,
        }

    def to_toml(self, k: int = K) -> str:
        """A policy file with the guesses, to be edited."""
        lines = [
            "# Written by `shoal profile`: every type and role below is a guess. Read it, correct it, then run",
            "#     shoal anonymize FILES -p THIS_FILE -o out/",
            "# Roles: identifying (dropped), quasi (others may know it), sensitive (kept, under what is required",
            "# of it), insensitive (kept). What nothing shows to be harmless is quasi.",
            "# A pseudonym ties the rows of a person together in all files, so all rows of a person get labels that k",
            "# persons have in all tables. Where a person has many rows these labels say little. What else there is:",
            '# a date that moves by a secret number of days, one for each person: taken = { shift = "person" };',
            '# values that others do not know: value = { role = "sensitive" }.',
            'kind = "linked"',
            f"link = {toml_text(self.link)}",
            'missing = "value"        # a missing value is a value of its own; "any": it may hide any value (stricter)',
            "shift_days = 365         # the most days by which dates move, either way",
            *([] if self.header is None else [f'header = "{self.header}"']),
            *(f"{name} = {toml_text(said)}" for name, said in (self.reading or {}).items()),
        ]
        for name, found in self.tables.items():
            lines += ["", f"[tables.{toml_key(name)}.columns]"]
            for column in found.columns:
                a = column.attribute
                extra = order_text(a)
                lines.append(
                    f'{toml_key(a.name)} = {{ role = "{a.role}", type = "{a.type}"{extra} }}   # {one_line(a.why)}'
                )
        lines += [
            "",
            "[[require]]",
            'model = "k-anonymity"',
            f"k = {k}",
            "",
            "[limits]",
            "singled_out = 0.05       # the most persons that what is kept as it is may single out",
            "# [accept]",
            '# known_history = "..."  # the reason for accepting more; it is published',
            "",
            "[method]",
            'partition = "mondrian"',
            'publish = "generalise"',
            f"suppression = {self.suppression:g}   # share of the rows of a table that may be left out, so that "
            "persons have equally many",
            "",
        ]
        return "\n".join(lines)


def profile_linked(data: Linked, policy: LinkedPolicy) -> LinkedProfile:
    """Guess the meaning of all columns, and see how many rows have to be left out."""
    tables = {
        name: profile_table(table.select([n for n in table.names if n != data.link]))
        for name, table in data.tables.items()
    }
    known = {n: whose[whose >= 0] for n, whose in data.persons.items()}
    counts = {n: np.bincount(whose, minlength=len(data)).astype(np.int64) for n, whose in known.items()}
    weights = np.sum(list(counts.values()), axis=0).astype(np.int64)
    crowds = np.zeros(len(data), dtype=np.int64)
    kept = {}
    if len(data) >= K:
        for name, found in tables.items():
            if any(a.role == "quasi" for a in found.attributes.values()):
                kept[name], stays = common_levels(counts[name], crowds, K, weights)
                joint = np.unique(crowds * (int(counts[name].max()) + 1) + kept[name], return_inverse=True)[1]
                crowds = np.where(stays, joint, -1)
    there = crowds >= 0
    shares = [1 - (kept.get(n, c) * there).sum() / c.sum() for n, c in counts.items() if c.sum()]
    needed = min(float(np.ceil(1000 * max(shares))) / 1000, 0.999)
    strangers = {name: data.n_strangers(name) for name in data.tables}
    return LinkedProfile(data.link, tables, len(data), strangers, needed, policy.header, policy.reading)
