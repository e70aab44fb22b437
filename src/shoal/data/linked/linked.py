"""Tables of the same persons, which a column of the same name ties together in all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.data.tables.files import stem_of
from shoal.data.tables.persons import person_codes
from shoal.data.tables.table import Column, Table
from shoal.errors import DataError, PolicyError, did_you_mean


def name_files(paths: Sequence[Path]) -> dict[str, Path]:
    """Files by the names that their tables go by: those of the files without their ends.

    >>> list(name_files([Path("a/patients.csv"), Path("labs.csv.gz")]))
    ['patients', 'labs']
    """
    named: dict[str, Path] = {}
    for path in paths:
        name = stem_of(path)
        if name in named:
            same = named[name].resolve() == path.resolve()
            raise DataError(
                f"{path} is given twice; give each table once"
                if same
                else f"{named[name]} and {path} have the same name, by which tables are told apart; rename one"
            )
        named[name] = path
    return named


@dataclass(frozen=True)
class Linked:
    """Several tables with a column that names persons in each of them. Its records are persons.

    Attributes
    ----------
    tables : mapping of str to Table
        By name; the first is the main one, which says who there is.
    link : str
        The column.
    names : list of str
        Of the persons, as the main table spells them.
    persons : mapping of str to int64 array (n_rows,)
        Of each table, whose each row is, by its place in `names`; -1 where the main table does not know it.
    """

    tables: Mapping[str, Table]
    link: str
    names: list[str]
    persons: Mapping[str, Ints]

    @classmethod
    def of(cls, tables: Mapping[str, Table], link: str) -> Linked:
        """Tie tables together.

        Raises
        ------
        DataError, PolicyError
            If there is one table alone, one lacks the column, or it is missing in some rows or spelled in two ways, or
            no row of a table is of anybody that the main one knows.
        """
        if len(tables) < 2:
            raise DataError(
                "one table has nothing to be linked with; give two or more, or name the person of one (--person)"
            )
        known: dict[str, int] = {}
        persons = {}
        keys = {name: _keys(name, table, link) for name, table in tables.items()}
        _refuse_spellings([text for texts, _ in keys.values() for text in texts], link)
        for place, (name, (texts, codes)) in enumerate(keys.items()):
            if place == 0:
                known = {text: i for i, text in enumerate(sorted(texts))}
            numbers = np.array([known.get(text, -1) for text in texts], dtype=np.int64)[codes]
            if len(numbers) and numbers.max() < 0:
                raise DataError(
                    f"no row of {name!r} is of anybody in {next(iter(tables))!r}; {link!r} has to name the same "
                    "persons in both: give the column that does, or leave the table out"
                )
            persons[name] = numbers
        return cls(dict(tables), link, list(known), persons)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def main(self) -> str:
        """The name of the main table."""
        return next(iter(self.tables))

    @property
    def n_rows(self) -> int:
        """Rows of all tables."""
        return sum(table.n_rows for table in self.tables.values())

    def n_strangers(self, name: str) -> int:
        """Rows of a table whose person the main table does not know."""
        return int((self.persons[name] < 0).sum())

    def take(self, persons: npt.NDArray[np.integer]) -> Linked:
        """Some of the persons, with all their rows."""
        rows = {n: np.flatnonzero(np.isin(whose, persons)) for n, whose in self.persons.items()}
        return Linked.of({n: t.take(rows[n]).compact() for n, t in self.tables.items()}, self.link)


def _refuse_spellings(texts: Sequence[str], link: str) -> None:
    """Refuse keys that say the same: one person would count as two, or lose the rows of another table."""
    distinct = np.array(sorted(set(texts)), dtype=object)
    column = Column(link, np.arange(len(distinct), dtype=np.int32), distinct)
    n_same = len(distinct) - len(np.unique(person_codes(Table.of([column]), [link]))) if len(distinct) else 0
    if n_same:
        which = "a key" if n_same == 1 else f"{n_same:,} keys"
        raise DataError(
            f"{which} of {link!r} can be told from others only by spelling, as 7 from 007 or A1 from a1, in one table "
            "or between two; spell alike what is one person, and apart what are two"
        )


def _keys(name: str, table: Table, link: str) -> tuple[list[str], npt.NDArray[np.integer]]:
    """The distinct keys of a table as they are spelled, and which of them each row has."""
    if link not in table.columns:
        raise PolicyError(f"{name!r} has no column {link!r} to link it by; {did_you_mean(link, table.names)}")
    column = table[link].compact()
    n_unknown = int(column.missing.sum())
    if n_unknown:
        raise DataError(
            f"{link!r}, which says whose row it is, is missing in {n_unknown:,} of {table.n_rows:,} rows of {name!r}; "
            "fill it in, or leave these rows out"
        )
    return column.texts(), column.codes
