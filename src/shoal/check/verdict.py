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
    """What a published table is held to.

    Attributes
    ----------
    requirements : sequence of Requirement
        What the policy requires.
    quasi, sensitive : sequence of str
        Columns by role.
    missing : {"value", "any"}
        Whether a missing cell is a value of its own, or may hide any value.
    markers : sequence of str
        Texts that mean "missing".
    attributes : mapping of str to Attribute
        Type, order and hierarchy of the columns; of a table in slices, those of the original.
    layout : Layout, optional
        Of a table in slices, which columns stand together.
    jointly : bool
        Of a table in slices, whether sensitive values are protected in combination rather than each.
    counts_persons : bool
        Whether persons count, and not records; whose a record is, the evidence says.
    knows_history : bool
        Whether an attacker knows all records of a person, rather than one.
    coalition : int
        How many providers may put their own records together, 0 where there are none; from whom a record is, the
        evidence says.
    is_meaning_known : bool
        Whether `attributes` has the orders and hierarchies that labels were made with; a manifest has none of those of
        quasi-identifiers.
    """

    requirements: Sequence[Requirement]
    quasi: Sequence[str]
    sensitive: Sequence[str] = ()
    missing: Missing = "value"
    markers: Sequence[str] = MARKERS
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    layout: Layout | None = None
    jointly: bool = False
    counts_persons: bool = False
    knows_history: bool = False
    coalition: int = 0
    is_meaning_known: bool = True


@dataclass(frozen=True)
class Verdict:
    """What was recomputed, and what could not be.

    Attributes
    ----------
    guarantees : tuple of Guarantee
        Everything that the evidence suffices for.
    unverified : tuple of str
        What else is promised, a sentence each that says what its check needs.
    findings : tuple of str
        What else is wrong with the table, a sentence each.
    not_compared : tuple of str
        What methods see to, and the manifest does not promise, that cannot be seen without the original; a phrase each.
    """

    guarantees: tuple[Guarantee, ...]
    unverified: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether everything was recomputed, and holds."""
        is_whole = not (self.unverified or self.not_compared)
        return is_whole and not self.findings and all(g.holds for g in self.guarantees)
