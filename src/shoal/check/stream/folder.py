"""Recompute what a stream promises, from all that it published, however long it is.

A class is what comes out together: rows that follow each other with the same published quasi-identifiers, and in one
window, where it is known how far windows go: nothing was suppressed, and no clock closed them. Each has to hold by
itself what is required, since who sees the order of the output tells one from another with the same labels. Where
persons count, the list that the owner keeps says whose each row is.

With the original, records are compared window by window: the rows of a window have to be those that came in with it,
covered by their labels, so that no record waited longer than it may. Where records were suppressed, or left by the
clock, windows cannot be found again, and it is said that nothing was compared.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from shoal.arrays import Ints
from shoal.check.folder import FolderCheck, PublishedFolder
from shoal.check.guarantee import Guarantee, count
from shoal.check.stream.lines import check_lines
from shoal.check.stream.rows import Row, blocks, read_rows
from shoal.check.tables.classes import Classes
from shoal.check.tables.compare_rows import ComparedTables, compare_kept, compare_labels
from shoal.check.tables.models import check_of
from shoal.check.tables.verify import verify, worse
from shoal.data.published_file import plain_file
from shoal.data.tables.attribute import ROLES, TYPES, Attribute
from shoal.data.tables.header import numbered_names
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.table import MARKERS, Column, Table, encode_cells
from shoal.errors import DataError, PolicyError
from shoal.kinds.tables.policy import ColumnPolicy, Policy
from shoal.manifest import FILE_NAME, checksum
from shoal.models import Requirement
from shoal.secrets import PrivateFolder
from shoal.told_counts import read_count

MOST_ROWS = 100_000
PERSONS_FILE = "persons.bin"
KEPT_FILE = "stream.json"
DELIMITERS = ",;\t|"
_REQUIRE: TypeAdapter[tuple[Requirement, ...]] = TypeAdapter(tuple[Requirement, ...])
_MOST_NAMED = 5


def check_stream(
    publish: Path, manifest: Mapping[str, Any], persons: Path | None = None, original: Path | None = None
) -> FolderCheck:
    """Recompute the guarantees of a stream.

    Parameters
    ----------
    publish : Path
        The folder with the data.
    manifest : mapping
        What is told of it.
    persons : Path, optional
        Whose each published row is, as the owner keeps it.
    original : Path, optional
        What came in, as a file.
    """
    if "of_windows" in manifest:
        return check_lines(publish, manifest, original)
    try:
        told = _Told(publish, manifest)
        findings = told.edits()
    except (KeyError, TypeError, ValueError, AttributeError, ValidationError, PolicyError):
        raise DataError(f"{publish / FILE_NAME} is not the manifest of a stream; restore it from the release") from None
    except OSError as error:
        raise DataError(f"{publish} cannot be read ({error.strerror or error}); restore it from the release") from None
    found: dict[int, list[Guarantee]] = {}
    n_rows = 0
    whose = told.read_persons(persons)
    for rows in blocks(told.rows(), told.quasi, MOST_ROWS):
        first = n_rows
        part = None if whose is None else whose[n_rows : n_rows + len(rows)]
        if part is not None and len(part) < len(rows):
            part = np.zeros(len(rows), dtype=np.int64)  # it is told below that nobody knows whose they are
        n_rows += len(rows)
        for i, guarantee in enumerate(told.verify(rows, part, first)):
            found.setdefault(i, []).append(guarantee)
    if told.n_out != n_rows:
        findings.append(f"there are {n_rows:,} rows, the manifest says {told.n_out:,}")
    if not found:
        findings.append("nothing was published")
    unverified = []
    if told.person and whose is None:
        unverified.append(
            "How many persons a class has cannot be seen in the published rows, so records were counted; to count "
            "persons, give the list of persons that the owner keeps (--private)."
        )
    if whose is not None and len(whose) != n_rows:
        findings.append("the list of persons is not of these rows")
    not_compared: tuple[str, ...] = ()
    if original is not None:
        more, not_compared = told.compare(original)
        findings += more
    return FolderCheck(
        tuple(_joined(parts, low_is_worse=told.are_low[i]) for i, parts in found.items()),
        tuple(findings),
        compared=original is not None and not not_compared,
        unverified=tuple(unverified),
        not_compared=not_compared,
    )


def check_stream_folder(
    folder: PublishedFolder, original: Any, policy: Any, private: PrivateFolder | None
) -> FolderCheck:
    """The same of a folder at a path; who gives the release's own folder, or the original, is its owner."""
    if policy is not None:
        raise PolicyError("a stream is held to what its manifest requires; leave the policy out")
    if original is not None and not isinstance(original, str | Path):
        raise PolicyError("a stream is compared with the file that came in; give its path")
    secrets = private or folder.private(original)
    persons = None if secrets is None else secrets.path / PERSONS_FILE
    found = check_stream(folder.path, folder.content, persons, None if original is None else Path(original))
    return found if secrets is None else replace(found, findings=(*found.findings, *_edited(folder.path, secrets.path)))


def _edited(publish: Path, private: Path) -> list[str]:
    """Whether the data is another than the owner kept a checksum of, whatever its manifest says; old streams kept none.

    A row that was doubled in its class looks like one of a record more, and nothing else tells it without the original.
    """
    try:
        kept = dict(json.loads((private / KEPT_FILE).read_text(encoding="utf-8")).get("checksums", {}))
        changed = [name for name, sum_ in kept.items() if checksum(publish / Path(name).name) != sum_]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, AttributeError):
        raise DataError(f"{private / KEPT_FILE} cannot be read; restore it from the release") from None
    return [f"{name} is not what was published, by the checksum that its owner kept" for name in changed]


class _Told:
    """A manifest as it is read, and the rows that it is about."""

    def __init__(self, publish: Path, manifest: Mapping[str, Any]) -> None:
        self.publish, self.manifest = publish, manifest
        self.path = publish / Path(manifest["data"]).name
        self.columns = {str(n): Attribute(str(n), c["type"], c["role"]) for n, c in dict(manifest["columns"]).items()}
        self.names = list(self.columns)
        self.quasi = [j for j, n in enumerate(self.names) if self.columns[n].role == "quasi"]
        self.sensitive = [n for n in self.names if self.columns[n].role == "sensitive"]
        self.require = _REQUIRE.validate_python(manifest["require"])
        self.k = max(2, *(r.least_size for r in self.require))
        self.missing = manifest.get("missing", "value")
        self.markers = tuple(manifest.get("missing_markers", MARKERS))
        self.person = tuple(manifest.get("person") or ())
        self.n_out = int(manifest["records"]["out"])
        self.delay = int(manifest["stream"]["delay"]["records"])
        self.suppressed = read_count(manifest["records"]["suppressed"])
        self.seconds, self.delimiter = manifest["stream"]["delay"].get("seconds"), manifest.get("delimiter")
        self.publish_as = str(manifest["method"]["publish"])
        is_text = self.delimiter is None or (isinstance(self.delimiter, str) and self.delimiter in DELIMITERS)
        if not self.quasi or not self.require or self.delay < 1 or not is_text or self.missing not in ("value", "any"):
            raise ValueError
        if not {(a.type, a.role) for a in self.columns.values()} <= set(product(TYPES, ROLES)):
            raise ValueError
        about_values = [r for r in self.require if r.is_about_values()]
        named = [r for r in about_values for _ in ([r.column] if r.column is not None else self.sensitive)]
        self.are_low = [True, *(check_of(r).is_low_worse(r) for r in named)]

    def edits(self) -> list[str]:
        plain_file(self.path)
        if self.manifest["checksums"].get(self.path.name) != checksum(self.path):
            return [f"{self.path.name} was changed after the release: its checksum differs from the manifest's"]
        return []

    def rows(self) -> Iterator[Row]:
        has_header = self.manifest.get("header") != "none"
        return read_rows(self.path, self.names, self.delimiter, has_header=has_header)

    def read_persons(self, path: Path | None) -> Ints | None:
        if not self.person or path is None or not path.is_file() or not path.stat().st_size:
            return None
        return np.memmap(path, dtype="<i4", mode="r")

    @property
    def has_even_windows(self) -> bool:
        """Whether each window but the last has as many rows as the delay says."""
        return self.suppressed == 0 and self.seconds is None

    def verify(self, rows: Sequence[Row], persons: Ints | None, first: int = 0) -> list[Guarantee]:
        """The guarantees of a block of whole classes, of which `first` rows stand before."""
        ids = runs(rows, self.quasi, first, self.delay if self.has_even_windows else None)
        sizes = np.bincount(ids).astype(np.int64)
        classes = Classes((), ids, sizes, np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64))
        whose = None if persons is None else np.unique(np.asarray(persons), return_inverse=True)[1].astype(np.int64)
        found = [self._sizes(rows, classes if whose is None else classes.of_persons(whose))]
        about_values = [r for r in self.require if r.is_about_values()]
        if about_values:
            places = [(n, self.names.index(n)) for n in self.sensitive]
            table = Table.of(_column(n, [row[j] for row in rows], self.markers) for n, j in places)
            found += verify(
                table,
                about_values,
                [],
                self.sensitive,
                missing=self.missing,
                markers=self.markers,
                attributes={n: self.columns[n] for n in self.sensitive},
                classes=classes,
                persons=whose,
            )
        return found

    def _sizes(self, rows: Sequence[Row], classes: Classes) -> Guarantee:
        sizes = classes.sizes
        if self.missing == "any":
            hidden = [i for i, row in enumerate(rows) if any(row[j] in self.markers for j in self.quasi)]
            sizes = sizes.copy()
            sizes[classes.ids[hidden]] = 1  # what is missing may hide any value, and so hides nobody
        least, n_failing = int(sizes.min()), int((sizes < self.k).sum())
        return Guarantee.counted(
            model="k-anonymity",
            required={"k": self.k},
            achieved=float(least),
            n_classes=len(sizes),
            n_failing=n_failing,
            sentence=_k_sentence(least, self.k, classes.noun),
        )

    def compare(self, original: Path) -> tuple[list[str], tuple[str, ...]]:
        """What is wrong with the rows of some window, and why nothing was compared."""
        if not self.has_even_windows:
            why = "records were suppressed" if self.suppressed != 0 else "windows were cut by the clock"
            return [], (f"any row with the record that it stands for, as {why}",)
        if self.publish_as != "generalise":
            return [], ("averages with the values that they are of",)
        names, came = _original_rows(original, self.delimiter, self.manifest.get("header"))
        absent = [n for n in self.names if n not in names]
        if absent:
            return [f"the column {absent[0]!r} is not in the original"], ()
        rows, n_window = self.rows(), 0
        while True:
            had, shown = list(islice(came, self.delay)), list(islice(rows, self.delay))
            n_window += 1
            if len(had) != len(shown):
                return [f"window {n_window:,}: {len(had):,} records came in and {len(shown):,} rows went out"], ()
            if not had:
                return [], ()
            wrong = self._compare_window(shown, [[row[names.index(n)] for n in self.names] for row in had])
            if wrong:
                return [f"window {n_window:,}: {sentence}" for sentence in wrong[:_MOST_NAMED]], ()

    def _compare_window(self, shown: Sequence[Row], had: Sequence[Row]) -> list[str]:
        published, original = (
            Table.of(_column(n, [row[j] for row in rows], self.markers) for j, n in enumerate(self.names))
            for rows in (shown, had)
        )
        roles = {n: ColumnPolicy(role=a.role, type=a.type) for n, a in self.columns.items()}
        attributes = attributes_of(original, Policy(columns=roles, missing_markers=self.markers))
        quasi = tuple(self.names[j] for j in self.quasi)
        kept = tuple(n for n in self.names if n not in quasi)
        tables = ComparedTables(published, original, attributes, quasi, kept, self.markers, is_meaning_known=False)
        return [*(compare_kept(replace(tables, quasi=())) if kept else []), *compare_labels(tables).findings]


def runs(rows: Sequence[Row], quasi: Sequence[int], first: int = 0, window: int | None = None) -> Ints:
    """Number the classes of rows: those that follow each other with equal quasi-identifiers are one.

    Where a window is known to end after so many rows, a class ends too; `first` rows stand before these.

    >>> runs([["a", "1"], ["a", "2"], ["b", "1"], ["a", "1"]], [0]).tolist()
    [0, 0, 1, 2]
    >>> runs([["a"], ["a"], ["a"], ["a"]], [0], first=1, window=2).tolist()
    [0, 1, 1, 2]
    """
    keys = [tuple(row[j] for j in quasi) for row in rows]
    begins = np.fromiter((a != b for a, b in pairwise(keys)), bool, len(keys) - 1)
    if window is not None:
        begins |= np.arange(first + 1, first + len(rows)) % window == 0
    return np.concatenate([[0], np.cumsum(begins)]).astype(np.int64)


def _k_sentence(least: int, k: int, noun: str) -> str:
    among = count(least, noun) if noun == "record" else f"records of {count(least, noun)}"
    if least >= k:
        return f"Every record comes out among {among} or more that look the same (required: {k})."
    return f"k-anonymity fails: a record comes out among {among} that look the same (required: {k})."


def _joined(parts: Sequence[Guarantee], *, low_is_worse: bool) -> Guarantee:
    """What all blocks together reach."""
    joined = parts[0]
    for part in parts[1:]:
        joined = worse(joined, part, low_is_worse=low_is_worse)
    n_failing = sum(p.n_failing for p in parts)
    return replace(joined, n_classes=sum(p.n_classes for p in parts), n_failing=n_failing, worst=())


def _column(name: str, cells: Sequence[str], markers: Sequence[str]) -> Column:
    return encode_cells(name, np.array([None if c in markers else c for c in cells], dtype=object))


def _original_rows(path: Path, delimiter: str | None, header: str | None) -> tuple[list[str], Iterator[Row]]:
    """The columns of an original, and its rows."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline()
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{path} cannot be read; give the original as a file of CSV or JSON lines") from None
    if delimiter is None:
        try:
            names = list(json.loads(line))
        except (ValueError, TypeError):
            raise DataError(f"{path}, line 1: is no JSON object; give the original") from None
        return names, read_rows(path, names, None, has_header=False)
    cells = next(csv.reader([line], delimiter=delimiter), [])
    names = numbered_names(len(cells)) if header == "none" else [c.strip() for c in cells]
    rows = read_rows(path, cells, delimiter, has_header=header != "none")
    return names, rows
