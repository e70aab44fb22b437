"""What a column means: its type, its role, and why we think so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from shoal.data.tables.hierarchy import Hierarchy

Type = Literal["continuous", "ordinal", "nominal", "date", "prefix"]
Role = Literal["identifying", "quasi", "sensitive", "insensitive"]
TYPES: tuple[str, ...] = get_args(Type)
ROLES: tuple[str, ...] = get_args(Role)


@dataclass(frozen=True)
class Attribute:
    """The meaning of one column.

    Attributes
    ----------
    type : {"continuous", "ordinal", "nominal", "date", "prefix"}
        How values compare. A nominal attribute with a hierarchy is a taxonomy.
    role : {"identifying", "quasi", "sensitive", "insensitive"}
        Dropped; made equal within groups; protected by the models of diversity and kept; kept.
    order : tuple of str, optional
        The categories of an ordinal attribute from low to high; else their numeric or alphabetical order.
    hierarchy : Hierarchy, optional
        How single values are generalised.
    why : str
        The reason for type and role, in plain words.
    """

    name: str
    type: Type
    role: Role
    order: tuple[str, ...] | None = None
    hierarchy: Hierarchy | None = None
    why: str = ""
