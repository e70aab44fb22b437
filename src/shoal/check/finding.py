"""Something that a release shows and no guarantee forbids: what, of which columns, how much, and whether it is taken.

A serious finding stops a release, unless the policy takes it by its name, with a reason that all pages tell. That
records were counted, where a column seems to number persons, stops none, but makes its verdict amber.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shoal.errors import Infeasible

SINGLED_OUT = "singled_out"
UNPROTECTED = "unprotected"
KNOWN_SENSITIVE = "known_sensitive"
KNOWN_HISTORY = "known_history"
RECORDS_COUNTED = "records_counted"
ACCEPTABLE = {
    SINGLED_OUT: "columns published as they are, alone or with the labels, tell too many records from all others",
    UNPROTECTED: "a column that looks sensitive is published as it is, and nothing is required of it",
    KNOWN_HISTORY: "what is published of all records of a person, tied together, tells too many persons apart",
}
"""What a policy can take, by name, and what is meant."""


@dataclass(frozen=True)
class Finding:
    """One thing that was measured on what is published.

    Attributes
    ----------
    name : str
        What was looked for, as ``[accept]`` of the policy calls it.
    columns : tuple of str
        The columns that it comes from.
    share : float
        How many of the records, or of the persons where those are known, from 0 to 1.
    limit : float
        How many may be.
    sentence : str
        What was found, in plain words.
    remedy : str
        What to do about it, as the end of a sentence.
    accepted : str or None
        The reason for which the policy takes it.
    is_loss : bool
        Whether it is about what was lost, and no risk to anybody.
    """

    name: str
    columns: tuple[str, ...]
    share: float
    limit: float
    sentence: str
    remedy: str
    accepted: str | None = None
    is_loss: bool = False

    @property
    def is_above(self) -> bool:
        """Whether it is more than the limit, accepted or not."""
        return self.share > self.limit

    @property
    def is_serious(self) -> bool:
        """Whether it is more than the limit, and nobody took it with a reason."""
        return self.is_above and self.accepted is None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "columns": list(self.columns), "serious": self.is_serious}


def refuse_serious(findings: Sequence[Finding]) -> None:
    """`Infeasible` with the worst of what nobody took, if there is such."""
    serious = sorted((f for f in findings if f.is_serious), key=lambda f: -f.share)
    if serious:
        worst = serious[0]
        n_others = len(serious) - 1
        others = f" ({n_others} more such finding{'s' * (n_others > 1)})" if n_others else ""
        raise Infeasible(f"{worst.sentence.removesuffix('.')}, so nothing was published; {worst.remedy}{others}")


def reasons(findings: Sequence[Finding]) -> Mapping[str, str]:
    """What was found above its limit and taken, by name, with the reason."""
    return {f.name: f.accepted for f in findings if f.is_above and f.accepted is not None}
