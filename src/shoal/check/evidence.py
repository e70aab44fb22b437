"""What a check may look at besides the published table: the original, and who stood together in it. All of it secret.

From the published table alone a class-based model can be recomputed. Other publications promise something about how
the table was made; to recompute that, the original is needed, and mostly the groups too.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.check.tables.classes import Classes
from shoal.data.tables.table import Table
from shoal.errors import DataError

MOST_ROWS = 2**31


@dataclass(frozen=True)
class Evidence:
    """Secrets to check a release against; what is None is not there.

    Attributes
    ----------
    original : Table, optional
        All records as they came in, also those that were suppressed.
    original_groups : int64 array (original.n_rows,), optional
        The group of each original record; negative where it was suppressed.
    groups : int64 array (n_published,), optional
        The group of each published record.
    """

    original: Table | None = None
    original_groups: Ints | None = None
    groups: Ints | None = None

    @classmethod
    def of(cls, original: Table, rows: npt.NDArray[np.integer[Any]], groups: npt.NDArray[np.integer[Any]]) -> Evidence:
        """From what a method knows: for each published record the original one it stands for, and its group."""
        original_groups = np.full(original.n_rows, -1, dtype=np.int64)
        original_groups[rows] = groups
        return cls(original, original_groups, np.asarray(groups, dtype=np.int64))

    @property
    def has_groups(self) -> bool:
        """Whether it is known who stood together."""
        return self.groups is not None and self.original_groups is not None

    def misfit(self, table: Table) -> str | None:
        """A sentence where the groups are not those of this published table and this original."""
        assert self.original is not None
        assert self.groups is not None
        assert self.original_groups is not None
        if len(self.groups) == table.n_rows and len(self.original_groups) == self.original.n_rows:
            return None
        return (
            f"The groups that were kept are of {len(self.groups):,} published and {len(self.original_groups):,} "
            f"original records, but there are {table.n_rows:,} and {self.original.n_rows:,}: the data was changed, or "
            "they are of another release."
        )


GROUPS_FILE = "groups.csv"
PUBLISHED_GROUPS_FILE = "published-groups.csv"
ROWS_FILE = "rows.csv"


def rows_text(rows: npt.NDArray[np.integer[Any]]) -> str:
    """The file that keeps which original row each published one stands for; both are counted from 1."""
    lines = (f"{i},{row}" for i, row in enumerate((rows + 1).tolist(), start=1))
    return "\n".join(["published_row,original_row", *lines, ""])


def groups_text(evidence: Evidence) -> dict[str, str]:
    """The files that keep the groups in `private/`, by name; rows are counted from 1."""
    assert evidence.groups is not None
    assert evidence.original_groups is not None
    published = (f"{i},{g}" for i, g in enumerate(evidence.groups.tolist(), start=1))
    original = (f"{i},{g}" for i, g in enumerate(evidence.original_groups.tolist(), start=1) if g >= 0)
    return {
        GROUPS_FILE: "\n".join(["original_row,group", *original, ""]),
        PUBLISHED_GROUPS_FILE: "\n".join(["published_row,group", *published, ""]),
    }


def keeps_groups(private: Path) -> bool:
    """Whether there is a file of groups in `private/`."""
    folders = (private, private / "private")
    return any((f / name).is_file() for f in folders for name in (GROUPS_FILE, PUBLISHED_GROUPS_FILE))


def read_groups(private: Path, original: Table | None) -> Evidence:
    """The groups that a release kept in `private/`; rows that the file does not name have none."""
    if private.joinpath("private", GROUPS_FILE).is_file():
        private = private / "private"
    groups = read_labels(private / PUBLISHED_GROUPS_FILE, 0)
    return Evidence(original, read_labels(private / GROUPS_FILE, original.n_rows if original else 0), groups)


def read_rows(private: Path) -> Ints | None:
    """The original row of each published one, from 0, if a release kept them in `private/`."""
    folder = private / "private" if private.joinpath("private", ROWS_FILE).is_file() else private
    return read_labels(folder / ROWS_FILE, 0) - 1 if (folder / ROWS_FILE).is_file() else None


def read_labels(path: Path, n_rows: int) -> Ints:
    """The group of each row; negative where the file names none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an empty file is told of below
            cells = np.loadtxt(
                path, dtype=np.int64, delimiter=",", skiprows=1, ndmin=2, comments=None, encoding="utf-8"
            )
    except FileNotFoundError:
        raise DataError(
            f"there is no {path}; the groups are kept only where a release is made with --keep groups"
        ) from None
    except (OSError, ValueError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or "it is not a list of rows and groups"
        raise DataError(f"{path} cannot be read ({reason}); restore it from the release") from None
    if cells.shape[1:] != (2,) or not len(cells) or cells.min() < 0:
        raise DataError(f"{path} is not a list of rows and groups; restore it from the release")
    rows, groups = cells[:, 0], cells[:, 1]
    if rows.min() < 1 or rows.max() > MOST_ROWS or len(np.unique(rows)) < len(rows):
        raise DataError(f"{path} names a row twice, or one that cannot be; restore it from the release")
    labels = np.full(max(int(rows.max()), n_rows), -1, dtype=np.int64)
    labels[rows - 1] = groups
    return labels


def group_classes(groups: npt.NDArray[np.integer[Any]]) -> Classes:
    """The secret groups in the place of classes of records that look alike: for models about who stands together."""
    ids = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    sizes = np.bincount(ids).astype(np.int64)
    first = np.empty(len(sizes), dtype=np.int64)
    first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
    return Classes((), ids, sizes, first)
