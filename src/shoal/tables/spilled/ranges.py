"""Records of a table that lies in files, in ranges along a space-filling curve: the blocks of the table in memory.

In memory, records are put in an order that their quasi-identifiers and a secret decide (`shoal.tables.record_order`),
and then cut into blocks of equal numbers along a Hilbert curve, where those in one cell of its grid stay in that order
(`shoal.tables.microaggregation.near_linear.curve_blocks`). Here the rows are sorted by their content, which puts those
with equal quasi-identifiers side by side. Each such run is spread to its records and permuted by the secret. As places
on the curve depend on the quasi-identifiers alone, and on the ends of the grid, the keys at which ranges end are found
by counting; then one more pass deals the records to their ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from shoal.arrays import Floats, Ints, Rows, Words
from shoal.data.memory import bound
from shoal.data.tables.room import TooManyDistinct
from shoal.data.tables.spill import ROWS_AT_ONCE, RowFile, Rows2D, SpillFolder, writing
from shoal.kernels.tables.curve import CurveGrid, turned_frames
from shoal.tables.record_order import SecretNumbers, within_runs

_DIGIT = 16  # bits of a key that are told apart in one pass


@dataclass(frozen=True)
class CurveRecords:
    """Rows in a file, sorted by content, with what is known of their runs of equal quasi-identifiers.

    Attributes
    ----------
    name : str
        Of the table.
    file : RowFile
        The rows.
    quasi : sequence of int
        The columns of the quasi-identifiers in the file.
    coordinates : callable
        The points of rows in standard units, which are the axes of the grid.
    """

    name: str
    file: RowFile
    quasi: Sequence[int]
    coordinates: Callable[[Rows2D], Floats]
    _sizes: dict[int, int] = field(default_factory=dict)
    _keys: Path | None = None

    @classmethod
    def of(
        cls, name: str, file: RowFile, quasi: Sequence[int], coordinates: Callable[[Rows2D], Floats], most: int
    ) -> CurveRecords:
        """Look at all rows of a table of some name: of one run no more than `most` records may be.

        Raises
        ------
        TooManyDistinct
            If more records are equal in all quasi-identifiers.
        """
        found = cls(name, file, quasi, coordinates, {}, file.path.with_suffix(".keys"))
        grid: CurveGrid | None = None
        for rows in file.runs():
            axes = coordinates(rows)
            grid = grid or CurveGrid(*turned_frames(axes.shape[1], 1)[0])
            grid.show(axes)
        assert grid is not None, "there are rows"
        assert found._keys is not None
        with writing(found._keys), found._keys.open("ab") as keys:
            for rows, opens in found._whole_runs(most):
                sizes = np.add.reduceat(rows[:, -1], np.flatnonzero(opens), dtype=np.int64)
                found._refuse_alike(int(sizes.max()), most)
                for size, times in zip(*(a.tolist() for a in np.unique(sizes, return_counts=True)), strict=True):
                    found._sizes[size] = found._sizes.get(size, 0) + times
                keys.write(grid.keys(coordinates(rows)).tobytes())
        return found

    @property
    def sizes(self) -> tuple[Ints, Ints]:
        """How many records are equal in all quasi-identifiers, ascending, and how often."""
        found = np.array(sorted(self._sizes.items()), dtype=np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    @property
    def n_records(self) -> int:
        """Of all rows."""
        return sum(size * times for size, times in self._sizes.items())

    def _whole_runs(self, most: int | None = None) -> Iterator[tuple[Rows2D, Rows]]:
        """Rows, those of a run together, and which of them open one."""
        rest = np.zeros((0, self.file.n_columns + 1), dtype=np.int32)
        for rows in self.file.runs():
            rows = np.concatenate([rest, rows])
            opens = np.ones(len(rows), dtype=bool)
            opens[1:] = (rows[1:, self.quasi] != rows[:-1, self.quasi]).any(axis=1)
            last = int(np.flatnonzero(opens)[-1])
            if most is not None:
                self._refuse_alike(int(rows[last:, -1].sum(dtype=np.int64)), most)
            if last:
                yield rows[:last], opens[:last]
            rest = rows[last:]
        yield rest, np.arange(len(rest)) == 0

    def in_secret_order(self, seed: int | None) -> Iterator[tuple[Rows2D, Words]]:
        """Records, one each, in the order of `shoal.tables.record_order.secret_order`, with their keys on the curve."""
        assert self._keys is not None
        n_bits = sum(times for size, times in self._sizes.items() if size > 1).bit_length()
        secret, n_rows, n_tied, n_runs = SecretNumbers(seed), 0, 0, 0
        for rows, opens in self._whole_runs():
            keys = np.fromfile(self._keys, np.uint64, len(rows), offset=8 * n_rows)
            n_rows += len(rows)
            starts = np.flatnonzero(opens)
            sizes = np.add.reduceat(rows[:, -1], starts, dtype=np.int64)
            for begin, end in _pieces(sizes):
                first, last = starts[begin], starts[end] if end < len(starts) else len(rows)
                order = np.repeat(np.arange(first, last), rows[first:last, -1])
                run = np.repeat(np.arange(end - begin), sizes[begin:end])
                places = np.flatnonzero(sizes[begin:end][run] > 1)
                if len(places):
                    tied = np.unique(run[places], return_inverse=True)[1].astype(np.uint64) + np.uint64(n_runs + 1)
                    numbers = secret.numbers(n_tied, n_tied + len(places))
                    order[places] = order[places[within_runs(tied, n_bits, numbers)]]
                    n_tied, n_runs = n_tied + len(places), int(tied[-1])
                found = rows[order]
                found[:, -1] = 1
                yield found, keys[order]

    def dealt(
        self, folder: SpillFolder, n_ranges: int, seed: int | None, look: Callable[[int, Rows2D], None] | None = None
    ) -> list[RowFile]:
        """The records of ranges of the curve, about equally many in each, in the order that the secret decides.

        `look` is shown them in that order, with the number of the first. The rows and their keys are removed.
        """
        cuts, before = self._cuts(n_ranges)
        stops = np.arange(1, n_ranges) * self.n_records // n_ranges
        ranges = [folder.new(self.file.n_columns) for _ in range(n_ranges)]
        seen = dict.fromkeys(cuts.tolist(), 0)
        done = 0
        for records, keys in self.in_secret_order(seed):
            number = np.searchsorted(cuts, keys, "left")
            for cut, n_seen in seen.items():
                here = np.flatnonzero(keys == np.uint64(cut))
                place = n_seen + np.arange(len(here))
                of_cut = np.flatnonzero(cuts == np.uint64(cut))
                number[here] += np.searchsorted(stops[of_cut] - before[of_cut], place, "right")
                seen[cut] += len(here)
            order = np.argsort(number, kind="stable")
            ends = np.searchsorted(number[order], np.arange(n_ranges + 1))
            for i, file in enumerate(ranges):
                if ends[i] < ends[i + 1]:
                    file.append(records[order[ends[i] : ends[i + 1]]])
            if look is not None:
                look(done, records)
            done += len(records)
        self.file.remove()
        assert self._keys is not None
        self._keys.unlink()
        return ranges

    def _cuts(self, n_ranges: int) -> tuple[Words, Ints]:
        """The key of the first record of every range but the first, and how many records have lower ones.

        Digit by digit, by counts of the keys that begin as those that are looked for.
        """
        wanted = np.arange(1, n_ranges) * self.n_records // n_ranges
        cuts, before = np.zeros(len(wanted), dtype=np.uint64), np.zeros(len(wanted), dtype=np.int64)
        for shift in range(64 - _DIGIT, -1, -_DIGIT) if n_ranges > 1 else ():
            known = np.unique(cuts)
            counts = np.zeros((len(known), 1 << _DIGIT), dtype=np.int64)
            for keys, weights in self._keys_and_weights():
                above = keys >> np.uint64(shift)
                place = np.searchsorted(known, above >> np.uint64(_DIGIT))
                place[place == len(known)] = 0
                fits = known[place] == above >> np.uint64(_DIGIT)
                digit = (above & np.uint64((1 << _DIGIT) - 1)).astype(np.int64)
                number = (place[fits] << _DIGIT) + digit[fits]
                counts += np.bincount(number, weights[fits], counts.size).astype(np.int64).reshape(counts.shape)
            up_to = np.cumsum(counts, axis=1)
            for j, begin in enumerate(np.searchsorted(known, cuts)):
                digit_of = int(np.searchsorted(up_to[begin], wanted[j] - before[j], "right"))
                before[j] += up_to[begin, digit_of - 1] if digit_of else 0
                cuts[j] = (cuts[j] << np.uint64(_DIGIT)) | np.uint64(digit_of)
        return cuts, before

    def _refuse_alike(self, n_records: int, most: int) -> None:
        if n_records > most:
            raise TooManyDistinct(
                Path(self.name), n_records, bound() or 0, "records are equal in all quasi-identifiers"
            )

    def _keys_and_weights(self) -> Iterator[tuple[Words, Ints]]:
        assert self._keys is not None
        begin = 0
        for rows in self.file.runs():
            yield np.fromfile(self._keys, np.uint64, len(rows), offset=8 * begin), rows[:, -1].astype(np.int64)
            begin += len(rows)


def _pieces(sizes: Ints) -> Iterator[tuple[int, int]]:
    """Runs that follow each other, of as many records together as are held at once, or one run."""
    ends, begin = np.cumsum(sizes), 0
    while begin < len(sizes):
        held = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, held + ROWS_AT_ONCE, "right")))
        yield begin, end
        begin = end
