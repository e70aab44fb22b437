"""Sketches of files that are not held in memory: sketched, sorted, written and checked record by record.

What the report measures, and attacks look at, are records drawn at random, with their sketches; numbers of records,
guarantees and the datasheet are of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Mask
from shoal.check.sparse.folder import asked_of
from shoal.check.sparse.in_blocks import SketchesFound, verify_in_blocks
from shoal.check.sparse.verify import SparseEvidence
from shoal.data.memory import bounded
from shoal.data.sparse.files import format_of, read_blocks
from shoal.data.sparse.records import Sparse, SparseSource
from shoal.data.sparse.sketch_store import sketch_store
from shoal.data.sparse.sketches import Sketches
from shoal.data.tables.unchanged import FileState, states_of, unchanged
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError
from shoal.kinds.sparse.findings import suppression_findings
from shoal.kinds.sparse.manifest import DATA_FILE
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.sparse.release import SparseRelease, key_of, none_left, suppressed_of
from shoal.progress import Progress
from shoal.secrets import write_rows
from shoal.sparse.anonymize import notes_of
from shoal.sparse.in_blocks import AVERAGED, ROUNDED, RecordCounts, changed_meanwhile, count_blocks, sketch_in_blocks
from shoal.stage import checked_file, refuse_failed

if TYPE_CHECKING:
    from shoal.check.guarantee import Guarantee

BYTES_AT_ONCE = 1 << 22
"""Bytes of text that are read at once, unless a record is longer."""
BYTES_BEFORE, BYTES_A_BYTE = 350_000_000, 50
"""What is loaded before any record is, with what is read at once; and what a byte of a text takes while it is read."""
BYTES_A_RECORD, BYTES_A_NAME = 160, 400
"""What is held of each record that is published as a pseudo-basket, and of each different item and class."""
N_DRAWN = 20_000
"""Records that are measured and attacked at most."""


@dataclass(frozen=True)
class UnheldRecords:
    """Sparse records of a file, which is read in blocks as often as it takes.

    Attributes
    ----------
    counted : RecordCounts
        What is known of all of them.
    """

    counted: RecordCounts
    _read: Callable[[], Iterator[Sparse]] = field(repr=False)
    _path: Path
    _state: tuple[FileState, ...] = field(repr=False)

    @classmethod
    def of(cls, source: Any, policy: SparsePolicy) -> UnheldRecords:
        """Count the records of a file.

        Raises
        ------
        PolicyError
            If it is no file that can be read in blocks, or its weights are real numbers.
        """
        if not isinstance(source, str | Path):
            raise PolicyError("a bound on memory is for files, and these records are in memory: leave memory out")
        asked = policy.input
        chosen = asked.format or format_of(source, asked.delimiter)
        if chosen not in ("baskets", "svmlight"):
            raise PolicyError(
                f"with a bound on memory only baskets, one a line, and SVMlight are read, and {source} is "
                f"{'a table' if chosen == 'column' else chosen}: leave memory out, or write its records in such lines"
            )
        if asked.column is not None or asked.class_column is not None or asked.header is not None or asked.person:
            raise PolicyError(
                "columns, persons and headers are of tables, which are read with all records in memory: leave memory "
                "out"
            )

        read = partial(
            read_blocks,
            source,
            format=chosen,
            delimiter=asked.delimiter,
            weights=asked.weights,
            n_bytes=BYTES_AT_ONCE,
            most=max(2 * BYTES_AT_ONCE, ((policy.n_bytes or 0) - BYTES_BEFORE) // BYTES_A_BYTE),
        )
        path = Path(source)
        state = states_of(path)
        with unchanged(path, state, _changed):
            reals = AVERAGED if policy.publish == "pseudo" else ROUNDED
            return cls(count_blocks(read(), partial(_refuse_many, policy), reals), read, path, state)

    def unchanged(self) -> AbstractContextManager[None]:
        """Refuse what was made in the block if the file is no longer the one that was counted."""
        return unchanged(self._path, self._state, _changed)

    @property
    def source(self) -> SparseSource:
        """Where they come from."""
        return self.counted.source

    def blocks(self) -> Iterator[Sparse]:
        """All records, from the first."""
        return self._read()

    def numbered(self) -> Iterator[Sparse]:
        """The same with items and classes by their numbers among all."""
        return map(self.counted.numbered, self.blocks())

    def __len__(self) -> int:
        return self.counted.whole.n_records

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Any:
        """Not of records that are not held.

        Raises
        ------
        PolicyError
            Always.
        """
        raise PolicyError("records are held out of those in memory: leave memory out, or hold none out")


@dataclass(frozen=True, kw_only=True, repr=False)
class UnheldSparseRelease(SparseRelease):
    """A release of which some sketches are held; the file that was checked has all."""

    _n_records: int
    _found: SketchesFound = field(repr=False)
    _rows: Ints = field(repr=False)
    _unheld: UnheldRecords = field(repr=False)

    @property
    def records(self) -> dict[str, int]:
        """All of them."""
        return {"in": self._n_records, "out": self._found.n, "suppressed": self._n_records - self._found.n}

    @property
    def sampled(self) -> str:
        """Some records, unless all are held."""
        if len(self.published) == self._found.n:
            return ""
        return (
            f"Measures and attacks used {len(self.published):,} of {self._found.n:,} records, drawn at random; among "
            "fewer records each stands out more than among all."
        )

    @cached_property
    def component_counts(self) -> Ints:
        """Of all sketches."""
        return np.repeat(list(self._found.counts), list(self._found.counts.values())).astype(np.int64)

    @property
    def classes(self) -> tuple[Codes | None, tuple[str, ...]]:
        """Of all sketches."""
        if self.published.labels is None:
            return None, ()
        sizes = list(self._found.classes.values())
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), tuple(self._found.classes)

    def _write_and_check(self) -> Any:
        raise NotVerified(
            "the sketches of this release are no longer there, so it cannot be written again; call shoal.anonymize "
            "again"
        )

    def check(self) -> tuple[Guarantee, ...]:
        """Recompute every guarantee from the file that was written."""
        file, key = self._checked_file(), self._evidence.key
        assert key is not None
        verify = partial(_verified, policy=self.policy, records=self._unheld, rows=self._rows, key=key)
        with self._unheld.unchanged():
            return checked_file(file.name, lambda path: file.put(path.parent), verify)[1][0]

    def _keep(self, folder: Path, keep: Any) -> None:
        super()._keep(folder, [name for name in keep if name != "rows"])
        if "rows" in keep:
            write_rows(folder, self._rows)


def release_unheld(
    original: UnheldRecords,
    policy: SparsePolicy,
    *,
    seed: int | None = None,
    key: bytes | None = None,
    progress: Progress | None = None,
) -> UnheldSparseRelease:
    """Sketch records of a file in blocks, write and check them; the parameters are those of `release_sparse`."""
    secret, notes = key_of(key, seed)
    counted, n_records = original.counted, len(original)
    drawn = _Drawn(np.random.default_rng(seed))
    made: list[Ints] = []

    def write(path: Path) -> None:
        with sketch_store() as store:
            look = drawn.look
            reasons = sketch_in_blocks(original.blocks, counted, policy, secret, store, look=look, progress=progress)
            suppressed = suppressed_of(reasons)
            if sum(suppressed.values()) == n_records:
                raise Infeasible(none_left(suppressed, policy))
            if progress is not None:
                progress("sorting sketches", 0, 0)
            made[:] = [reasons, store.write(path, has_classes=counted.has_classes)]

    def verify(path: Path) -> tuple[tuple[Guarantee, ...], SketchesFound]:
        if progress is not None:
            progress("checking the release", 0, 0)
        return _verified(path, policy=policy, records=original, rows=made[1], key=secret)

    with bounded(policy.n_bytes), original.unchanged():
        file, (guarantees, found) = checked_file(DATA_FILE, write, verify)
    reasons, rows = made
    some, sketches = drawn.of(rows)
    return UnheldSparseRelease(
        published=sketches,
        guarantees=guarantees,
        policy=policy,
        notes=(*notes, *notes_of(counted.whole, counted.typical, policy)),
        suppressed=suppressed_of(reasons),
        findings=suppression_findings(n_records, found.n, policy),
        neighbours=None,
        recall=None,
        _original=some,
        _evidence=SparseEvidence(some, np.arange(len(some)), secret),
        _file=file,
        _n_records=n_records,
        _found=found,
        _rows=rows,
        _unheld=original,
    )


def _verified(
    path: Path, *, policy: SparsePolicy, records: UnheldRecords, rows: Ints, key: bytes
) -> tuple[tuple[Guarantee, ...], SketchesFound]:
    """What the checker finds of a written file, or `NotVerified`."""
    asked = asked_of(policy, None, records.counted.n_filled)
    with bounded(policy.n_bytes):
        verdict, found = verify_in_blocks(path, asked, records.blocks, rows, key)
    refuse_failed(verdict)
    return verdict.guarantees, found


def _refuse_many(policy: SparsePolicy, n_records: int, n_names: int) -> None:
    """Refuse more records, or items and classes, than fit into the bound, before the others are read."""
    if policy.n_bytes is None or policy.publish != "pseudo":
        return
    of_records, of_names = BYTES_A_RECORD * n_records, BYTES_A_NAME * n_names
    if BYTES_BEFORE + of_records + of_names > policy.n_bytes:
        told, needed = f"{n_records:,} records take about {{}}, however few items they have,", of_records
        if of_names > of_records:
            told, needed = f"{n_names:,} different items and classes take about {{}}", of_names
        size = f"{(BYTES_BEFORE + needed) / 1e6:,.0f} MB"
        raise Infeasible(f"{told.format(size)} and memory is {policy.memory}: raise memory or leave it out")


def _changed(_: Path) -> DataError:
    return changed_meanwhile()


class _Drawn:
    """Some of the records that get a sketch, each equally likely, with it: those with the least random numbers."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._parts: list[tuple[Floats, Ints, Sparse, Sketches]] = []
        self._limit = 1.0

    def look(self, numbers: Ints, records: Sparse, sketches: Sketches) -> None:
        """Draw from some more records."""
        lots = self._rng.random(len(numbers))
        at = np.flatnonzero(lots <= self._limit)
        self._parts.append((lots[at], numbers[at], records.take(at), sketches.take(at)))
        if sum(len(part[0]) for part in self._parts) > 2 * N_DRAWN:
            self._cut()

    def _cut(self) -> None:
        lots = np.concatenate([part[0] for part in self._parts])
        if len(lots) > N_DRAWN:
            self._limit = float(np.partition(lots, N_DRAWN - 1)[N_DRAWN - 1])
            self._keep([part[0] <= self._limit for part in self._parts])

    def _keep(self, masks: Sequence[Mask]) -> None:
        chosen = [np.flatnonzero(mask) for mask in masks]
        self._parts = [
            (lots[at], numbers[at], records.take(at), sketches.take(at))
            for at, (lots, numbers, records, sketches) in zip(chosen, self._parts, strict=True)
        ]

    def of(self, rows: Ints) -> tuple[Sparse, Sketches]:
        """Those of the records with some numbers, and their sketches."""
        self._keep([np.isin(part[1], rows, assume_unique=True) for part in self._parts])
        self._cut()
        return _joined([part[2] for part in self._parts]), _joined_sketches([part[3] for part in self._parts])


def _joined(parts: Sequence[Sparse]) -> Sparse:
    """Records of the same items and classes behind each other."""
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate([p.sizes for p in parts]))])
    return replace(
        parts[0],
        starts=starts,
        items=np.concatenate([p.items for p in parts]),
        weights=np.concatenate([p.weights for p in parts]),
        labels=None if parts[0].labels is None else np.concatenate([p.labels for p in parts if p.labels is not None]),
    )


def _joined_sketches(parts: Sequence[Sketches]) -> Sketches:
    """Sketches of the same classes behind each other."""
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate([p.counts for p in parts]))])
    labels = None if parts[0].labels is None else np.concatenate([p.labels for p in parts if p.labels is not None])
    components = np.concatenate([p.components for p in parts])
    return replace(parts[0], starts=starts, components=components, labels=labels)
