"""What attacks work on: the release, the originals that it was made from, and others that were not in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from shoal.arrays import Ints
from shoal.attack.attack import Attack
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.registry import Registry


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
    """

    published: Sketches
    original: Sparse = field(repr=False)
    control: Sparse | None = field(default=None, repr=False)
    rows: Ints | None = None
    key: bytes | None = field(default=None, repr=False)

    @property
    def granted(self) -> dict[str, int]:
        """What the attacker was given besides the release, by the number of records of each."""
        given = {"original": self.original, "others": self.control, "rows": self.rows}
        told = {name: len(records) for name, records in given.items() if records is not None}
        return told | ({} if self.key is None else {"key": 1})


SPARSE_ATTACKS: Registry[Attack[SparseCase]] = Registry("shoal.attack.sparse")
