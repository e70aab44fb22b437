"""What a board asks for beyond what a report shows, as plain data that `private/report.json` keeps.

Each kind of data collects it (`Kind.board`); the pages of `shoal report` are drawn from it and from nothing else. No
record, no seed, no key, no membership of a group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

RISKS = (
    ("prosecutor_highest", "Prosecutor, highest"),
    ("prosecutor_average", "Prosecutor, average"),
    ("journalist_highest", "Journalist, highest"),
    ("journalist_average", "Journalist, average"),
    ("marketer", "Marketer, average"),
)
"""The three attackers of El Emam and Dankar (2008), by the names that `shoal.check.tables.risk` has for their risks."""


@dataclass(frozen=True)
class BoardColumn:
    """A column of the original, and what became of it.

    Attributes
    ----------
    role, type, treatment : str
        In plain words; the treatment says "removed" of a column that is not published.
    identifier : str
        The letter of the identifier of Safe Harbor that its name or its contents look like; "" where none.
    why : str
        What it looks like that by.
    """

    name: str
    role: str
    type: str
    treatment: str
    identifier: str = ""
    why: str = ""


@dataclass(frozen=True)
class BoardFacts:
    """What the pages for a board are made from, besides the report.

    Attributes
    ----------
    unit : str
        What is counted: "record", "person", "string", ...
    records : mapping
        How many came in, went out, were suppressed and held out.
    techniques : sequence of (name, what was done)
        By their names in ISO/IEC 20889.
    known : sequence of str
        What an attacker was taken to know.
    columns : sequence of BoardColumn
        Of tables; empty of data without columns.
    before, after : mapping, optional
        The risks by `RISKS`, where classes of look-alikes can be counted.
    bound : float, optional
        The highest risk of a prosecutor that a guarantee admits, where no classes can be counted.
    bound_by : str
        Why, in a sentence.
    population_known : bool
        Whether the journalist's risks are of a population; else they are upper bounds.
    population : mapping
        What was estimated of the population; see `shoal.check.tables.population`.
    """

    unit: str
    records: Mapping[str, int]
    techniques: Sequence[tuple[str, str]] = ()
    known: Sequence[str] = ()
    columns: Sequence[BoardColumn] = ()
    before: Mapping[str, float] | None = None
    after: Mapping[str, float] | None = None
    bound: float | None = None
    bound_by: str = ""
    population_known: bool = False
    population: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> BoardFacts:
        """From what `to_dict` gave."""
        columns = [BoardColumn(**column) for column in told["columns"]]
        return cls(**{**told, "columns": columns, "techniques": [(name, what) for name, what in told["techniques"]]})

    @property
    def highest(self) -> float | None:
        """The highest risk that a record of the release is found by who knows that it is there."""
        return self.bound if self.after is None else self.after["prosecutor_highest"]


def suppression_of(records: Mapping[str, int], unit: str) -> list[tuple[str, str]]:
    """The technique by which whole records were left out, where some were."""
    n = records.get("suppressed", 0)
    return [("record suppression", f"{n:,} of {records['in']:,} {unit}s were left out")] if n else []
