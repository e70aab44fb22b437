"""What attacks work on: the release, the originals that it was made from, and others that were not in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from shoal.arrays import Ints
from shoal.attack.attack import Attack, AttackCase
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.registry import Registry

if TYPE_CHECKING:
    from shoal.attack.sparse.basket_targets import Published


@dataclass(frozen=True)
class SparseCase(AttackCase[Sketches, Sparse]):
    """Published sketches under attack.

    Attributes
    ----------
    rows : int64 array (n_published,), optional
        The original record that each sketch is of: to count what was recovered right.
    key : bytes, optional
        The key of the signs: granted to attacks that assume that it leaked.
    unit : {"record", "group"}
        Whether a sketch is of one record, or of the sum of a group.
    """

    rows: Ints | None = None
    key: bytes | None = field(default=None, repr=False)
    unit: Literal["record", "group"] = "record"

    @property
    def granted(self) -> dict[str, int]:
        """What the attacker was given besides the release, by the number of records of each."""
        rows = {} if self.rows is None else {"rows": len(self.rows)}
        return super().granted | rows | ({} if self.key is None else {"key": 1})


@dataclass(frozen=True)
class BasketCase(AttackCase[Sparse, Sparse]):
    """Published pseudo-baskets, or k^m-anonymous records, under attack."""

    make: Literal["pseudo", "km"] = "pseudo"
    """Which of both they are."""

    @cached_property
    def ready(self) -> Published:
        """The published records as all attacks look through them."""
        from shoal.attack.sparse.basket_targets import Published

        return Published.of(self)


SPARSE_ATTACKS: Registry[Attack[Any]] = Registry("shoal.attack.sparse")
