"""Tables of millions of rows: ``python -m benchmarks.large 10_000_000 large.parquet``.

Each row is one of Adult's, drawn with replacement, and three of ten of its cells are drawn anew from their column.
Where Adult is not, the package's own invented clinic is drawn from. Batches of codes go through a database on disk into
one Parquet file, so that no more than a batch is in memory; the same number of rows gives the same cells every time.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from benchmarks.data import ADULT, QUASI, adult
from shoal.data.samples.clinic import clinic

BATCH = 1_000_000
NEW_SHARE = 0.3
SEED = 16


@dataclass(frozen=True)
class Drawn:
    """What rows are drawn from, and what is asked of a release of them.

    Attributes
    ----------
    derived : mapping
        Further columns, as SQL over the others and over the ``number`` of the row.
    new_share : float
        Of the cells: so many are drawn anew from their column.
    """

    origin: str
    columns: Mapping[str, npt.NDArray[Any]]
    quasi: tuple[str, ...]
    sensitive: str
    derived: Mapping[str, str] = field(default_factory=dict)
    new_share: float = NEW_SHARE


def drawn_from(*, is_clinic: bool = False) -> Drawn:
    """Adult with eight quasi-identifiers, or the clinic with three."""
    if ADULT.is_file() and not is_clinic:
        sensitive = "salary-class"
        return Drawn("Adult", adult().select([*QUASI, sensitive]), QUASI, sensitive)
    quasi = ("age", "sex", "zip")
    people = clinic(10_000, seed=SEED)
    columns = {name: people[name].astype(str) for name in (*quasi, "diagnosis")}
    return Drawn("the invented clinic", columns, quasi, "diagnosis")


def write_large(n_rows: int, path: Path, source: Drawn) -> None:
    """Draw rows and write them as Parquet."""
    coded = {name: np.unique(cells, return_inverse=True) for name, cells in source.columns.items()}
    n_source = len(next(iter(source.columns.values())))
    with TemporaryDirectory(dir=path.parent) as folder:
        database = duckdb.connect(str(Path(folder) / "rows.duckdb"), config={"memory_limit": "1GB"})
        try:
            for i, (values, _) in enumerate(coded.values()):
                kind = "BIGINT" if values.dtype.kind == "i" else "VARCHAR"
                database.execute(f"CREATE TABLE values{i} (code INTEGER, value {kind})")
                database.executemany(f"INSERT INTO values{i} VALUES (?, ?)", list(enumerate(values.tolist())))
            declared = ", ".join(f"c{i} INTEGER" for i in range(len(coded)))
            database.execute(f"CREATE TABLE codes ({declared})")
            for begin in range(0, n_rows, BATCH):
                rng = np.random.default_rng([SEED, begin // BATCH])
                m = min(BATCH, n_rows - begin)
                base = rng.integers(0, n_source, m)
                batch = {}
                for i, (_, codes) in enumerate(coded.values()):
                    is_new = rng.random(m) < source.new_share
                    batch[f"c{i}"] = codes[np.where(is_new, rng.integers(0, n_source, m), base)].astype(np.int32)
                database.register("batch", batch)
                database.execute("INSERT INTO codes SELECT * FROM batch")
                database.unregister("batch")
            cells = ", ".join(f'values{i}.value AS "{name}"' for i, name in enumerate(coded))
            joins = " ".join(f"JOIN values{i} ON codes.c{i} = values{i}.code" for i in range(len(coded)))
            rows = f"SELECT {cells} FROM codes {joins}"
            if source.derived:
                further = ", ".join(f'{sql} AS "{name}"' for name, sql in source.derived.items())
                numbered = f"SELECT codes.rowid AS number, {cells} FROM codes {joins}"
                rows = f"SELECT * EXCLUDE (number), {further} FROM ({numbered})"
            database.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
        finally:
            database.close()


def main() -> None:
    """Read number and file from the command line."""
    if len(sys.argv) != 3:
        raise SystemExit("usage: python -m benchmarks.large ROWS FILE.parquet")
    write_large(int(sys.argv[1]), Path(sys.argv[2]), drawn_from())


if __name__ == "__main__":
    main()
