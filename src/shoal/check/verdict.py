"""What a published table is held to, and what a check found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shoal.check.guarantee import Guarantee
from shoal.check.tables.classes import Missing
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import MARKERS
from shoal.models import Requirement


@dataclass(frozen=True)
class Asked:
    """What a published table is held to."""

    requirements: Sequence[Requirement]
    """What the policy requires."""
    quasi: Sequence[str]
    sensitive: Sequence[str] = ()
    """Columns by role."""
    missing: Missing = "value"
    """Whether a missing cell is a value of its own, or may hide any value."""
    markers: Sequence[str] = MARKERS
    """Texts that mean "missing"."""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    """Type, order and hierarchy of the columns; of a table in slices, those of the original."""
    layout: Layout | None = None
    """Of a table in slices, which columns stand together."""
    jointly: bool = False
    """Of a table in slices, whether sensitive values are protected in combination rather than each."""
    counts_persons: bool = False
    """Whether persons count, and not records; whose a record is, the evidence says."""
    knows_history: bool = False
    """Whether an attacker knows all records of a person, rather than one."""
    coalition: int = 0
    """How many providers may put their records together, 0 where there are none; the evidence says whose they are."""
    is_meaning_known: bool = True
    """Whether `attributes` has the orders and hierarchies that labels were made with; a manifest has none of those of
    quasi-identifiers.
    """


@dataclass(frozen=True)
class Verdict:
    """What was recomputed, and what could not be."""

    guarantees: tuple[Guarantee, ...]
    """Everything that the evidence suffices for."""
    unverified: tuple[str, ...] = ()
    """What else is promised, a sentence each that says what its check needs."""
    findings: tuple[str, ...] = ()
    """What else is wrong with the table, a sentence each."""
    not_compared: tuple[str, ...] = ()
    """What methods see to, and the manifest does not promise, that cannot be seen without the original; a phrase each.
    """

    @property
    def holds(self) -> bool:
        """Whether everything was recomputed, and holds."""
        is_whole = not (self.unverified or self.not_compared)
        return is_whole and not self.findings and all(g.holds for g in self.guarantees)
