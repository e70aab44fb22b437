"""The ledger of a release: what it, and those before it, published about each person. For the owner alone.

::

    private/ledger/
      ledger.json    what the releases have in common, and a seal over all of this
      key.txt        what persons are hashed with
      persons.npy    of each person a keyed hash, 16 bytes
      classes.npy    of each person and release the group that it stood in; -1 where it was not published
      cohorts.npy    of each person the group that it is carried over with, or its bucket
      values.npy     of each person a keyed hash of the sensitive value, 8 bytes
      labels-1.csv   of the first release the published labels of each group; and so on

The key stands beside what it keys: the seal shows damage and careless edits, and does not stop who has the folder.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints
from shoal.data.tables.parse import parse_numbers
from shoal.data.tables.persons import MOST_EXACT, person_codes
from shoal.data.tables.sense import plain_text
from shoal.data.tables.table import Column, Table
from shoal.errors import DataError, PolicyError
from shoal.secrets import KEY_BYTES, KEY_FILE, read_key, write_key

FOLDER = "ledger"
FILE = "ledger.json"
ARRAYS = ("persons", "classes", "cohorts", "values")
_VERSION = 1
_PERSON_BYTES, _VALUE_BYTES = 16, 8

Digests = npt.NDArray[np.void]
"""Keyed hashes, which sort and compare as bytes."""
Labels = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Ledger:
    """What releases 1 to n published about each person.

    Attributes
    ----------
    key : bytes
        What persons and values are hashed with.
    person : tuple of str
        The columns that name a person.
    k : int
        The fewest persons that all releases together leave as candidates.
    m : int
        The fewest sensitive values that they leave; 0 where none is protected.
    sensitive : str
        The sensitive column, or "".
    persons : void16 array (n_persons,)
    classes : int32 array (n_persons, n_releases)
        The group of each person in each release, from 0; -1 where it was not published.
    cohorts : int32 array (n_persons,)
        Whom a person is carried over with; of m-invariance its bucket.
    values : void8 array (n_persons,)
    signatures : tuple of tuples of str
        Of m-invariance the sensitive values of each bucket.
    labels : tuple of mappings
        Of each release the label of each group, by column.
    checksums : tuple of str
        Of each release the SHA-256 of the data file.
    spellings : mapping of str
        Of m-invariance how each sensitive value is published, in every release alike.
    """

    key: bytes
    person: tuple[str, ...]
    k: int
    persons: Digests = field(repr=False)
    classes: Codes = field(repr=False)
    cohorts: Codes = field(repr=False)
    values: Digests = field(repr=False)
    m: int = 0
    sensitive: str = ""
    signatures: tuple[tuple[str, ...], ...] = ()
    labels: tuple[Labels, ...] = field(default=(), repr=False)
    checksums: tuple[str, ...] = ()
    spellings: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def n_releases(self) -> int:
        """How many releases it tells of."""
        return int(self.classes.shape[1])

    def places(self, persons: Digests) -> Ints:
        """Where each of some persons stands in it; -1 where it knows none of that hash."""
        order = np.argsort(self.persons, kind="stable")
        found = np.searchsorted(self.persons[order], persons)
        found[found == len(order)] = 0
        place = order[found] if len(order) else np.zeros(len(persons), dtype=np.int64)
        is_known = self.persons[place] == persons if len(order) else np.zeros(len(persons), dtype=bool)
        return np.where(is_known, place, -1).astype(np.int64)

    def write(self, private: Path) -> None:
        """Write `private/ledger/`, the owner's alone."""
        folder = private / FOLDER
        folder.mkdir(mode=0o700)
        write_key(folder, self.key)
        for name in ARRAYS:
            np.save(folder / f"{name}.npy", _plain(getattr(self, name)), allow_pickle=False)
        for i, labels in enumerate(self.labels, start=1):
            (folder / f"labels-{i}.csv").write_text(_csv(labels), encoding="utf-8", newline="")
        told = self._told()
        told["seal"] = _seal(folder, self.key, told)
        (folder / FILE).write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        for path in folder.iterdir():
            path.chmod(0o600)

    def _told(self) -> dict[str, Any]:
        return {
            "version": _VERSION,
            "person": list(self.person),
            "k": self.k,
            "m": self.m,
            "sensitive": self.sensitive,
            "signatures": [list(s) for s in self.signatures],
            "spellings": dict(self.spellings),
            "checksums": list(self.checksums),
        }

    @classmethod
    def read(cls, path: str | Path) -> Ledger:
        """Read the ledger of a release, given its folder, its `private/` or the ledger itself.

        Raises
        ------
        DataError
            If there is none, or if it is not as it was written.
        """
        folder = _folder(Path(path))
        try:
            key = read_key(folder / KEY_FILE)
            told = json.loads((folder / FILE).read_text(encoding="utf-8"))
            seal = told.pop("seal")
            if not hmac.compare_digest(str(seal), _seal(folder, key, told)):
                raise ValueError
            arrays = {name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in ARRAYS}
            labels = tuple(_read_csv(folder / f"labels-{i}.csv") for i in range(1, len(told["checksums"]) + 1))
            return cls(
                key,
                tuple(told["person"]),
                int(told["k"]),
                arrays["persons"].view(f"V{_PERSON_BYTES}")[:, 0],
                arrays["classes"],
                arrays["cohorts"],
                arrays["values"].view(f"V{_VALUE_BYTES}")[:, 0],
                int(told["m"]),
                str(told["sensitive"]),
                tuple(tuple(s) for s in told["signatures"]),
                labels,
                tuple(told["checksums"]),
                dict(told["spellings"]),
            )
        except (DataError, OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError):
            raise DataError(
                f"{folder} is damaged or was changed after its release, and nothing can be promised on top of it; "
                "restore it from the release"
            ) from None


def _folder(path: Path) -> Path:
    for folder in (path, path / FOLDER, path / "private" / FOLDER):
        if (folder / FILE).is_file():
            return folder
    raise DataError(
        f"there is no ledger in {path}, so it is not known what was published about whom; give the private/ folder of "
        "a release that was made with --keep ledger"
    )


def _plain(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Hashes as bytes, which a file of arrays can hold."""
    if array.dtype.kind != "V":
        return array
    return np.frombuffer(array.tobytes(), dtype=np.uint8).reshape(len(array), array.dtype.itemsize)


def _seal(folder: Path, key: bytes, told: Mapping[str, Any]) -> str:
    total = hmac.new(key, json.dumps(told, sort_keys=True).encode(), hashlib.sha256)
    names = [f"{name}.npy" for name in ARRAYS] + [f"labels-{i}.csv" for i in range(1, len(told["checksums"]) + 1)]
    for name in names:
        total.update(hashlib.sha256((folder / name).read_bytes()).digest())
    return total.hexdigest()


def _csv(labels: Labels) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(labels)
    rows.writerows(zip(*labels.values(), strict=True))
    return text.getvalue()


def _read_csv(path: Path) -> Labels:
    with path.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file, strict=True)
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def said(column: Column) -> list[str]:
    """What each value of a column says, spelled alike whatever other values stand beside it."""
    texts = column.texts()[: len(column.values)]
    plain = [plain_text(text) for text in texts]
    numbers = parse_numbers(np.array(plain, dtype=object)) if plain else None
    if numbers is None:
        numbers = np.array([_number(text) for text in plain])
    is_number = np.isfinite(numbers) & (np.abs(numbers) < MOST_EXACT)
    return [repr(float(n)) if exact else text for n, exact, text in zip(numbers, is_number, plain, strict=True)]


def _number(text: str) -> float:
    found = parse_numbers(np.array([text], dtype=object))
    return float("nan") if found is None else float(found[0])


def hash_persons(table: Table, person: Sequence[str], key: bytes) -> tuple[Digests, Ints]:
    """A keyed hash of each person of a table, and whose each row is.

    Raises
    ------
    PolicyError
        If no column says who a person is over several releases.
    """
    if not person:
        raise PolicyError(
            "several releases are of the same people, and nothing says who is who: name the column that does "
            '(--person id, or person = "id" in the policy)'
        )
    codes = person_codes(table, person)
    first = np.unique(codes, return_index=True)[1]
    cells = [np.array(said(table[n]), dtype=object)[table[n].codes[first]] for n in person]
    messages = ["".join(f"{len(t)}:{t}" for t in names).encode() for names in zip(*cells, strict=True)]
    digests, place = np.unique(hash_texts(messages, key, _PERSON_BYTES), return_inverse=True)
    return digests, place.astype(np.int64)[codes]


def hash_values(column: Column, key: bytes) -> Digests:
    """A keyed hash of each value of a column, missing ones last."""
    texts = [*said(column), *("\0missing" for _ in column.markers)]
    return hash_texts([text.encode() for text in texts], key, _VALUE_BYTES)


def hash_texts(messages: Sequence[bytes], key: bytes, n_bytes: int) -> Digests:
    """BLAKE2b of each message under a key of `KEY_BYTES`."""
    assert len(key) == KEY_BYTES
    made = b"".join(hashlib.blake2b(message, key=key, digest_size=n_bytes).digest() for message in messages)
    return np.frombuffer(made, dtype=f"V{n_bytes}")
