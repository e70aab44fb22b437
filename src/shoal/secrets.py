"""What `private/` can keep of a release, written and read back in one place; rows are counted from 1 in its files.

Whoever has one of these files can tie published records to original ones, so they are the owner's alone to read, and
are kept on request; but where persons or providers count, what it takes to count them again is kept unless the owner
wants nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints
from shoal.errors import DataError, PolicyError, did_you_mean

ROWS_FILE = "rows.csv"
PERSONS_FILE = "persons.csv"
PROVIDERS_FILE = "providers.csv"
GROUPS_FILE = "groups.csv"
PUBLISHED_GROUPS_FILE = "published-groups.csv"
LENGTHS_FILE = "template-lengths.csv"
KEY_FILE = "key.txt"
NEIGHBOURS_FILE = "neighbours.npy"
HELD_OUT_FILE = "held-out.csv"
KEY_BYTES = 32
MOST_ROWS = 2**31
NOTHING = "nothing"

Numbers = npt.NDArray[np.integer[Any]]


def secrets_to_keep(keep: str | Sequence[str], keepable: Sequence[str], unasked: Sequence[str] = ()) -> list[str]:
    """What is kept in `private/`: what a user asks for, which has to be among what can be, and what is kept unasked.

    "nothing" asks that nothing is.
    """
    wanted = [keep] if isinstance(keep, str) else list(keep)
    for what in wanted:
        if what not in (*keepable, NOTHING):
            raise PolicyError(f"cannot keep {what!r}; {did_you_mean(what, (*keepable, NOTHING))}")
    if NOTHING in wanted:
        others = [what for what in wanted if what != NOTHING]
        if others:
            raise PolicyError(f"cannot keep {NOTHING!r} and {others[0]!r} both; leave one of them out")
        return []
    return list(dict.fromkeys([*wanted, *unasked]))


def write_rows(folder: Path, rows: Numbers, name: str = ROWS_FILE) -> None:
    """Which original row each published one stands for."""
    _write(folder / name, "published_row,original_row", np.arange(1, len(rows) + 1), rows + 1)


def write_persons(folder: Path, persons: Numbers) -> None:
    """Whose each published row is: the first original row of that person."""
    _write(folder / PERSONS_FILE, "published_row,person_of_original_row", np.arange(1, len(persons) + 1), persons + 1)


def write_providers(folder: Path, providers: Numbers) -> None:
    """From whom each published row is: the first original row of that provider."""
    rows = np.arange(1, len(providers) + 1)
    _write(folder / PROVIDERS_FILE, "published_row,provider_of_original_row", rows, providers + 1)


def write_groups(folder: Path, original_groups: Numbers) -> None:
    """The group of each original row; negative where it has none, and then it is not named."""
    named = np.flatnonzero(original_groups >= 0)
    _write(folder / GROUPS_FILE, "original_row,group", named + 1, original_groups[named])


def write_published_groups(folder: Path, groups: Numbers) -> None:
    """The group of each published row."""
    _write(folder / PUBLISHED_GROUPS_FILE, "published_row,group", np.arange(1, len(groups) + 1), groups)


def write_lengths(folder: Path, lengths: Numbers) -> None:
    """Of strings, the length of the template that each published one was drawn from."""
    _write(folder / LENGTHS_FILE, "published_row,length", np.arange(1, len(lengths) + 1), lengths)


def write_held_out(folder: Path, rows: Numbers) -> None:
    """Which rows were held out of the release."""
    _write(folder / HELD_OUT_FILE, "original_row,held_out", rows + 1, np.ones(len(rows), np.int64))


def write_key(folder: Path, key: bytes) -> None:
    """The key of sketches."""
    (folder / KEY_FILE).write_text(f"{key.hex()}\n", encoding="ascii")


def write_neighbours(folder: Path, neighbours: Numbers) -> None:
    """Of sketches, the neighbours of each original record, where they were not found exactly."""
    np.save(folder / NEIGHBOURS_FILE, neighbours, allow_pickle=False)


@dataclass(frozen=True)
class PrivateFolder:
    """What a release kept for its owner.

    Attributes
    ----------
    path : Path
    is_given : bool
        Whether the user named it, rather than that it lies beside the folder that is checked: then it may hold nothing.
    """

    path: Path
    is_given: bool = True

    @classmethod
    def at(cls, path: str | Path | None) -> PrivateFolder | None:
        """The `private/` folder, where a release's own folder is given too; None where none is given."""
        if path is None:
            return None
        inner = Path(path) / "private"
        return cls(inner if inner.is_dir() else Path(path))

    def holds(self, *names: str) -> bool:
        """Whether one of these files is there."""
        return any((self.path / name).is_file() for name in names)

    def if_it_holds(self, *names: str) -> PrivateFolder | None:
        """Itself, unless it was given for nothing but the records that were held out, or was not given at all."""
        is_for_more = self.is_given and not self.holds(HELD_OUT_FILE)
        return self if is_for_more or self.holds(*names) else None

    def rows(self, name: str = ROWS_FILE) -> Ints | None:
        """The original row of each published one, from 0, if they were kept."""
        return read_labels(self.path / name, 0) - 1 if self.holds(name) else None

    def persons(self) -> Ints | None:
        """The first original row, from 0, of the person that each published row is of, if that was kept."""
        return read_labels(self.path / PERSONS_FILE, 0) - 1 if self.holds(PERSONS_FILE) else None

    def providers(self) -> Ints | None:
        """The first original row, from 0, of the provider that each published row is from, if that was kept."""
        return read_labels(self.path / PROVIDERS_FILE, 0) - 1 if self.holds(PROVIDERS_FILE) else None

    def groups(self, n_original: int) -> Ints:
        """The group of each original row; negative where the file names none."""
        return read_labels(self.path / GROUPS_FILE, n_original)

    def published_groups(self) -> Ints:
        """The group of each published row."""
        return read_labels(self.path / PUBLISHED_GROUPS_FILE, 0)

    def lengths(self) -> Ints:
        """The length of the template of each published string."""
        return read_labels(self.path / LENGTHS_FILE, 0)

    def held_out(self, n_records: int) -> Ints | None:
        """The rows that were held out of the release, from 0; None where there are none."""
        if not self.holds(HELD_OUT_FILE):
            return None
        marks = read_labels(self.path / HELD_OUT_FILE, n_records)
        if len(marks) > n_records:
            raise DataError(
                f"{self.path / HELD_OUT_FILE} names rows that the original does not have; give the original itself"
            )
        return np.flatnonzero(marks >= 0)

    def key(self) -> bytes | None:
        """The key of sketches, if it was kept."""
        return read_key(self.path / KEY_FILE) if self.holds(KEY_FILE) else None

    def neighbours(self) -> Codes | None:
        """The neighbours of each original record, if they were kept."""
        path = self.path / NEIGHBOURS_FILE
        if not path.is_file():
            return None
        try:
            found = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            raise DataError(f"{path} cannot be read; restore it from the release") from None
        if found.ndim != 2 or found.dtype != np.int32:
            raise DataError(f"{path} is not a list of neighbours; restore it from the release")
        return np.asarray(found)


def read_key(path: str | Path) -> bytes:
    """The key of a release, as `--keep key` kept it."""
    where = Path(path)
    if where.is_dir():
        where = where / KEY_FILE
    try:
        text = where.read_text(encoding="ascii").strip()
        key = bytes.fromhex(text)
    except FileNotFoundError:
        raise DataError(f"there is no key {where}; a release keeps it only where it is made with --keep key") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a key"
        raise DataError(f"{where} cannot be read as a key ({reason}); restore it from the release") from None
    if len(key) != KEY_BYTES:
        raise DataError(f"{where} is not a key of {KEY_BYTES} bytes; restore it from the release")
    return key


def read_labels(path: Path, n_rows: int) -> Ints:
    """The number that a file gives each row; negative where it names none."""
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


def _write(path: Path, header: str, rows: Numbers, numbers: Numbers) -> None:
    lines = (f"{row},{number}" for row, number in zip(rows.tolist(), numbers.tolist(), strict=True))
    path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
