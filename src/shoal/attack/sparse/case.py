"""What attacks work on: the release, the originals that it was made from, and others that were not in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from shoal.arrays import Ints
from shoal.attack.attack import Attack
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.registry import Registry

if TYPE_CHECKING:
    from shoal.attack.sparse.basket_targets import Published


@dataclass(frozen=True)
class SparseCase:
    """Published sketches under attack.

    Attributes
    ----------
    published : Sketches
        What was published.
    original : Sparse
        All records that came in.
    control : Sparse, optional
        Records that were not in it.
    rows : int64 array (n_published,), optional
        The original record that each sketch is of: to count what was recovered right.
    key : bytes, optional
        The key of the signs: granted to attacks that assume that it leaked.
    unit : {"record", "group"}
        Whether a sketch is of one record, or of the sum of a group.
    """

    published: Sketches
    original: Sparse = field(repr=False)
    control: Sparse | None = field(default=None, repr=False)
    rows: Ints | None = None
    key: bytes | None = field(default=None, repr=False)
    unit: Literal["record", "group"] = "record"

    @property
    def granted(self) -> dict[str, int]:
        """What the attacker was given besides the release, by the number of records of each."""
        given = {"original": self.original, "others": self.control, "rows": self.rows}
        told = {name: len(records) for name, records in given.items() if records is not None}
        return told | ({} if self.key is None else {"key": 1})


@dataclass(frozen=True)
class BasketCase:
    """Published pseudo-baskets, or k^m-anonymous records, under attack.

    Attributes
    ----------
    published, original : Sparse
        What was published, and all records that came in.
    control : Sparse, optional
        Records that were not in it.
    make : {"pseudo", "km"}
        Which of both they are.
    """

    published: Sparse
    original: Sparse = field(repr=False)
    control: Sparse | None = field(default=None, repr=False)
    make: Literal["pseudo", "km"] = "pseudo"

    @property
    def granted(self) -> dict[str, int]:
        """What the attacker was given besides the release, by the number of records of each."""
        return {"original": len(self.original), **({} if self.control is None else {"others": len(self.control)})}

    @cached_property
    def ready(self) -> Published:
        """The published records as all attacks look through them."""
        from shoal.attack.sparse.basket_targets import Published

        return Published.of(self)


SPARSE_ATTACKS: Registry[Attack[Any]] = Registry("shoal.attack.sparse")
