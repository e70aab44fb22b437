"""The data of the benchmarks: Adult where it is, else invented records of the same shape.

Adult is looked for in ``../shared/data/adult/adult.data.gz``, the file of the UCI repository. Rows with a
missing value are left out, as in all published comparisons. Its hierarchies, beside it, are those of ARX.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult" / "adult.data.gz"

NUMERIC = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
QUASI = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
)
NAMES = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "salary-class",
)
_N_CATEGORIES = {
    "workclass": 7,
    "education": 16,
    "marital-status": 7,
    "occupation": 14,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "native-country": 41,
    "salary-class": 2,
}
N_ADULT = 30_162


@dataclass(frozen=True)
class People:
    """Columns of equal length, and where they are from."""

    origin: str
    columns: dict[str, npt.NDArray[Any]]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns["age"])

    @property
    def about(self) -> str:
        """What the table of results says about the data."""
        return f"{self.origin}, {self.n_rows:,} rows"

    def take(self, rows: npt.NDArray[np.intp] | slice) -> People:
        """Some of the rows."""
        return People(self.origin, {name: cells[rows] for name, cells in self.columns.items()})

    def select(self, names: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
        """Some of the columns."""
        return {name: self.columns[name] for name in names}

    def matrix(self) -> npt.NDArray[np.float64]:
        """The six numeric attributes."""
        return np.column_stack([self.columns[name].astype(np.float64) for name in NUMERIC])

    def resampled(self, n_rows: int, seed: int = 1) -> People:
        """Draw rows with replacement and move each age by up to two years, so that repeats differ."""
        rng = np.random.default_rng(seed)
        drawn = self.take(rng.integers(0, self.n_rows, n_rows))
        age = np.clip(drawn.columns["age"] + rng.integers(-2, 3, n_rows), 17, 99)
        return People(f"{self.origin}, resampled", {**drawn.columns, "age": age})


def people(quick: bool = False) -> People:
    """Adult, or what stands in for it."""
    if quick:
        return invented(400)
    return adult() if ADULT.is_file() else invented(N_ADULT)


@lru_cache(maxsize=1)
def adult() -> People:
    """The complete rows of Adult."""
    with gzip.open(ADULT, "rt") as lines:
        rows = [row for row in csv.reader(lines, skipinitialspace=True) if row and "?" not in row]
    columns = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    return People(
        "Adult",
        {name: np.array(cells, dtype=np.int64 if name in NUMERIC else object) for name, cells in columns.items()},
    )


def invented(n_rows: int, seed: int = 0) -> People:
    """Records with Adult's columns, as many values in each, and frequencies as uneven."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.gamma(8.0, 4.8, n_rows), 17, 90).astype(np.int64)
    school = np.clip(rng.normal(10, 2.5, n_rows), 1, 16).astype(np.int64)
    gains = (rng.random(n_rows) < 0.08) * rng.lognormal(8.5, 1.0, n_rows)
    losses = (rng.random(n_rows) < 0.05) * rng.normal(1870, 380, n_rows)
    usual = rng.random(n_rows) < 0.47
    columns: dict[str, npt.NDArray[Any]] = {
        "age": age,
        "fnlwgt": rng.lognormal(12.0, 0.5, n_rows).astype(np.int64),
        "education-num": school,
        "capital-gain": np.round(gains).astype(np.int64),
        "capital-loss": np.round(np.abs(losses)).astype(np.int64),
        "hours-per-week": np.where(usual, 40, np.clip(rng.normal(42, 15, n_rows), 1, 99)).astype(np.int64),
    }
    for name, size in _N_CATEGORIES.items():
        shares = 1.0 / np.arange(1, size + 1) ** (3.0 if name == "native-country" else 1.3)
        codes = rng.choice(size, n_rows, p=shares / shares.sum())
        if name == "education":
            codes = school - 1
        elif name == "marital-status":
            codes = np.where(age < 25, 0, codes)
        columns[name] = np.array([f"{name} {i}" for i in range(size)], dtype=object)[codes]
    return People("generated (shape of Adult)", {name: columns[name] for name in NAMES})


def hierarchy_files(data: People, folder: Path) -> dict[str, Path]:
    """The file of the hierarchy of each quasi-identifier; invented records get invented ones, of three levels."""
    if data.origin.startswith("Adult"):
        return {name: ADULT.parent / "hierarchies" / f"adult_hierarchy_{name}.csv" for name in QUASI}
    files = {}
    for name in QUASI:
        values = sorted(set(data.columns[name].tolist()))
        files[name] = folder / f"hierarchy_{name}.csv"
        text = "".join(f"{value};part {i * 4 // len(values)};*\n" for i, value in enumerate(values))
        files[name].write_text(text, encoding="utf-8")
    return files


def write_csv(columns: dict[str, npt.NDArray[Any]], path: Path) -> Path:
    """Write columns for a process that reads them."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(cells.tolist() for cells in columns.values()), strict=True))
    return path
