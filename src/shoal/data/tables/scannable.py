"""What a database scans in the place of a table that is held: columns that are called c0, c1, ... there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class Described:
    """What is scanned, once a database sees it.

    Attributes
    ----------
    scan : str
        The SQL behind FROM.
    names, types : tuple of str
        Of c0, c1, ...
    n_records : int
    """

    scan: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    n_records: int


class Scannable(ABC):
    """One or more files, or a table in one of them."""

    path: Path
    """What messages call it."""

    @abstractmethod
    def described(self, database: DuckDBPyConnection, is_read: Callable[[str], bool]) -> Described:
        """Show it to a database; columns of which `is_read` is false may come without cells.

        Raises
        ------
        DataError
            If it has no rows, or a column has a nested, binary or other odd type.
        """

    @abstractmethod
    def damage(self) -> str:
        """Why a database could not read it, in a sentence."""

    @contextmanager
    def collapsed(self, cells: Mapping[str, str]) -> Iterator[str | None]:
        """What `shoal.data.tables.workers.collapsed` shows, where workers can read it themselves; by default None.

        `cells` is the SQL of each cell by its name.
        """
        yield None
