"""Generalisation hierarchies: read, written, checked, and made for numbers, dates and codes.

The file form is ARX's: one row a value, its generalisations after it from fine to coarse, ``;`` between
them, no header, and the same root (mostly ``*``) at the end of every row::

    Bachelors;Undergraduate;Higher education;*
    11th;High School;Secondary education;*
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes
from shoal.data.tables.labels import range_label
from shoal.errors import DataError

ROOT = "*"
Rows = tuple[tuple[str, ...], ...]

# A category may be named in a message only if at least this many rows hold it.
NAMED_FROM = 5


@dataclass(frozen=True)
class Hierarchy:
    """A tree over the values of one attribute, all leaves at the same depth.

    Every instance is valid: building one from rows that are no tree raises `DataError`. A label may stand on
    several heights of one row (``White;White;*``); then the node merely stays itself.

    Parameters
    ----------
    rows : tuple of tuple of str
        One row a leaf: the leaf first, the root last, all of one length of at least 2. A row given twice
        counts once.

    Examples
    --------
    >>> tree = Hierarchy((("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")))
    >>> tree.height, tree.label("b", 1)
    (2, 'x')
    >>> tree.ancestors(["a", "b", "c"]).tolist()
    [[0, 0, 0], [1, 0, 0], [2, 1, 0]]
    """

    rows: Rows

    def __post_init__(self) -> None:
        rows = [tuple(row) for row in self.rows]
        fault = _first_fault(rows)
        if fault is not None:
            where = f"row {fault.row + 1} of the hierarchy" if rows else "the hierarchy"
            raise DataError(f"{where} {fault.what.format(other=f'row {fault.other + 1}')}")
        object.__setattr__(self, "rows", tuple(dict.fromkeys(rows)))

    @classmethod
    def read(cls, path: str | Path) -> Hierarchy:
        """Read a file of ARX's form (UTF-8, ``;`` between levels, no header)."""
        rows, lines = _read_rows(Path(path))
        fault = _first_fault(rows)
        if fault is not None:
            if not rows:
                raise DataError(f"the hierarchy file {path} {fault.what}")
            what = fault.what.format(other=f"line {lines[fault.other]}")
            raise DataError(f"{path}, line {lines[fault.row]}, {what}")
        return cls(tuple(rows))

    def write(self, path: str | Path) -> None:
        """Write the file that `read` reads back."""
        text = "".join(";".join(map(_quoted, row)) + "\n" for row in self.rows)
        refusal = f"the hierarchy cannot be written to {path}:"
        if "\0" in text:
            raise DataError(f"{refusal} a label contains a NUL character; remove it")
        try:
            Path(path).write_bytes(text.encode("utf-8"))
        except UnicodeEncodeError:
            raise DataError(f"{refusal} a label is not valid Unicode text; mend its encoding") from None
        except OSError as error:
            raise DataError(f"{refusal} {error.strerror or error}") from None

    @property
    def height(self) -> int:
        """Number of generalisation steps from a leaf to the root."""
        return len(self.rows[0]) - 1

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The leaf values in the order of the rows."""
        return tuple(row[0] for row in self.rows)

    def leaf_order(self) -> list[str]:
        """The leaves from left to right: below every node they are contiguous.

        Siblings stand in the order of their smallest leaf, numbers by size before text by letter, whatever
        the order of the rows.
        """
        return [self.leaves[i] for i in self._order]

    def nodes(self, height: int) -> list[str]:
        """The labels of a height from left to right: those that the numbers of `ancestors` stand for."""
        return list(dict.fromkeys(self.rows[i][height] for i in self._order))

    def label(self, leaf: str, height: int) -> str:
        """The generalisation of a leaf at a height; height 0 is the leaf itself."""
        if not 0 <= height <= self.height:
            raise DataError(f"the hierarchy has the heights 0 to {self.height}, not {height}")
        try:
            return self.rows[self._row_of[leaf]][height]
        except KeyError:
            raise DataError("the value is not in the hierarchy; add a row for it") from None

    def ancestors(self, values: Iterable[str]) -> Codes:
        """Number the node above each value at each height.

        Returns
        -------
        int32 array (n_values, height + 1)
            Entry (i, h) is the index of the node in ``nodes(h)``.
        """
        listed = list(values)
        try:
            rows = np.fromiter((self._row_of[v] for v in listed), dtype=np.intp, count=len(listed))
        except KeyError:
            self.require_all(listed, None)
            raise
        return self._ids[rows]

    def missing_from(self, values: Iterable[str]) -> list[str]:
        """The distinct values without a row here, in order of appearance."""
        return [v for v in dict.fromkeys(values) if v not in self._row_of]

    def require_all(
        self,
        values: Iterable[str],
        column: str | None,
        counts: Mapping[str, int] | Sequence[int] | None = None,
        where: str = "",
    ) -> None:
        """Refuse values that the hierarchy does not know.

        Parameters
        ----------
        values : iterable of str
            The distinct values of the column.
        column : str or None
            Its name, for the message.
        counts : mapping or sequence, optional
            How many rows hold each value. Only values of at least five rows are named, three at most; a rarer
            one could single out a person.
        where : str
            In which row the first of them stands, if that is known.
        """
        listed = list(values)
        absent = self.missing_from(listed)
        if not absent:
            return
        if counts is None:
            counts = {}
        elif not isinstance(counts, Mapping):
            counts = dict(zip(listed, counts, strict=True))
        known = [repr(v) for v in absent if counts.get(v, 0) >= NAMED_FROM][:3]
        among = f" (among them {', '.join(known)})" if known else ""
        of = f" of column {column!r}" if column is not None else ""
        of += f" (the first: {where})" if where else ""
        what, verb, each = ("value", "is", "it") if len(absent) == 1 else ("values", "are", "each")
        raise DataError(
            f"{len(absent)} {what}{of} {verb} not in the hierarchy{among}; add a row for {each} to its file"
        )

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {leaf: i for i, leaf in enumerate(self.leaves)}

    @cached_property
    def _order(self) -> list[int]:
        by_leaf = sorted(range(len(self.rows)), key=lambda i: _sort_key(self.leaves[i]))
        firsts = []
        for height in range(self.height + 1):
            first: dict[str, int] = {}
            for i in by_leaf:
                first.setdefault(self.rows[i][height], len(first))
            firsts.append(np.array([first[row[height]] for row in self.rows], dtype=np.int32))
        return [int(i) for i in np.lexsort(firsts)]

    @cached_property
    def _ids(self) -> Codes:
        ids = np.empty((len(self.rows), self.height + 1), dtype=np.int32)
        for height in range(self.height + 1):
            number = {label: i for i, label in enumerate(self.nodes(height))}
            ids[:, height] = [number[row[height]] for row in self.rows]
        return ids


class _Fault(NamedTuple):
    row: int
    what: str  # may speak of the row or line {other}
    other: int = 0


def _first_fault(rows: Sequence[tuple[str, ...]]) -> _Fault | None:
    """What keeps the rows from being a tree, without quoting a label."""
    if not rows:
        return _Fault(0, "has no rows; write one row for each value")
    width = len(rows[0])
    if width < 2:
        return _Fault(0, "has one level only; write the value and its generalisations with ';' between them")
    for i, row in enumerate(rows):
        if len(row) != width:
            return _Fault(i, f"has {len(row)} levels where {{other}} has {width}; give all rows as many")
        if "" in row:
            return _Fault(i, f"has an empty cell at level {row.index('') + 1}; repeat a neighbour's label there")
        if row[-1] != rows[0][-1]:
            return _Fault(i, "ends in another root than {other}; remove a header, end all rows in one root")
    return _crossing(rows) or _cycle(rows)


def _crossing(rows: Sequence[tuple[str, ...]]) -> _Fault | None:
    for height in range(len(rows[0]) - 1):
        seen: dict[str, int] = {}
        for i, row in enumerate(rows):
            j = seen.setdefault(row[height], i)
            if rows[j][height + 1] != row[height + 1]:
                what = f"puts its label of level {height + 1} under another parent than {{other}} does"
                return _Fault(i, f"{what}; give it one parent, or two different labels", j)
    return None


def _cycle(rows: Sequence[tuple[str, ...]]) -> _Fault | None:
    """Find a label above itself with others in between: strip childless labels until none is left."""
    parents: dict[str, dict[str, int]] = {}
    children: dict[str, int] = {}
    for i, row in enumerate(rows):
        for below, above in pairwise(row):
            if below != above and above not in parents.setdefault(below, {}):
                parents[below][above] = i
                children[above] = children.get(above, 0) + 1
    free = [label for label in parents if label not in children]
    while free:
        for above in parents.pop(free.pop(), {}):
            children[above] -= 1
            if not children[above]:
                free.append(above)
    # Left are the cycles and what is above them.
    left = [i for above in parents.values() for label, i in above.items() if label in parents]
    if not left:
        return None
    return _Fault(min(left), "makes the hierarchy cyclic: of two labels, each stands above the other; rename one")


def _read_rows(path: Path) -> tuple[list[tuple[str, ...]], list[int]]:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"there is no hierarchy file {path}; check its name and folder") from None
    except OSError as error:
        raise DataError(f"the hierarchy file {path} cannot be read: {error.strerror or error}") from None
    if b"\0" in raw:
        line = raw.count(b"\n", 0, raw.index(b"\0")) + 1
        raise DataError(f"{path}, line {line}, contains a NUL character; save the hierarchy as UTF-8 text")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}, line {line}, is not UTF-8; save the hierarchy as UTF-8 text") from None
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=";", strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                rows.append(tuple(row))
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error:
        raise DataError(
            f"{path}, line {line}, has a quotation mark that is not closed or not doubled; mend the quoting"
        ) from None
    if rows and all(len(row) == 1 for row in rows):
        for mark, name in ((",", "commas"), ("\t", "tabs"), ("|", "bars")):
            if all(mark in row[0] for row in rows):
                raise DataError(f"{path}, line {lines[0]}, has {name} between its levels; write ';' instead")
    return rows, lines


def _quoted(label: str) -> str:
    # A byte order mark at the very start would be taken for the file's own.
    if any(c in label for c in ';"\r\n') or label.startswith("\ufeff"):
        return '"' + label.replace('"', '""') + '"'
    return label


_NUMBER = re.compile(r"[\[(<>= ]*(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")


def _sort_key(label: str) -> tuple[int, float, str]:
    """Numbers and labels that begin with one by size, then text by letter."""
    try:
        number = float(label)
    except ValueError:
        start = _NUMBER.match(label)
        number = float(start[1]) if start else math.nan
    return (1, 0.0, label) if math.isnan(number) else (0, number, label)


def intervals(values: npt.NDArray[Any], labels: Sequence[str] | None = None, finest: int = 32) -> Hierarchy:
    """Nest equal-width intervals on round numbers: ``23; [20..25); [20..30); [20..40); *``.

    The finest width is 1, 2 or 5 times a power of ten; each further level doubles it. Levels that would merge
    nothing new are left out; with `finest` at 32 there are eight levels at most.

    Parameters
    ----------
    values : array of numbers
        nan is passed over; an infinite value has the root alone above it.
    labels : sequence of str, optional
        The spelling of each value; else the one a text file shows (``2.5``, ``2``, ``1e+300``).
    finest : int, default 32
        At most about this many intervals at the finest level.
    """
    values = np.asarray(values)
    if values.dtype.kind == "f":
        values = values + 0.0  # -0 is 0, as where a table is read
    if labels is None:
        labels = _spell_numbers(values)
    if values.dtype.kind == "b":
        values = values.astype(np.uint8)
    is_there = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), dtype=bool)
    kept = {label: i for i, label in enumerate(labels) if is_there[i]}
    spelled, points = list(kept), values[list(kept.values())]
    if not spelled:
        raise DataError("a hierarchy of intervals needs at least one number; the column has none")
    is_finite = np.isfinite(points)
    levels: list[list[str]] = []
    if is_finite.any():
        n_before = int(is_finite.sum())
        for groups, names in _interval_levels(points[is_finite], finest):
            n_groups = len(np.unique(groups))
            if n_groups == 1:
                break
            if n_groups < n_before:
                level = np.array(spelled, dtype=object)
                level[is_finite] = np.array(names, dtype=object)[groups]
                levels.append(level.tolist())
                n_before = n_groups
    return Hierarchy(tuple(zip(spelled, *levels, [ROOT] * len(spelled), strict=True)))


def _interval_levels(points: npt.NDArray[Any], finest: int) -> Iterator[tuple[npt.NDArray[np.intp], list[str]]]:
    """Yield, from fine to coarse, the interval of each point and the intervals' labels.

    The edges are exact decimals, and a point is compared with the number that the label shows, so that no
    label lies about a value by a rounding error.
    """
    low, high = Fraction(points.min().item()), Fraction(points.max().item())
    if points.dtype.kind == "f":
        # Below the spacing of floats, edges would fall together.
        least = 2 * Fraction(math.ulp(max(abs(low), abs(high))))
        if (points == np.floor(points)).all():
            least = max(least, Fraction(2))
    else:
        least = Fraction(2)
    width = round_up(max((high - low) / finest, least))
    for _ in range(math.ceil(math.log2(finest)) + 1):
        first, last = low // width, high // width
        # The float 1.9 lies a little below the edge 1.9, and its label must not say so.
        last += _to_float(width * (last + 1)) <= high
        edges = [width * i for i in range(first, last + 2)]
        if points.dtype.kind == "f":
            starts = np.array([_to_float(e) for e in edges[:-1]])
        else:
            limits = np.iinfo(points.dtype)
            starts = np.array([max(int(e), limits.min) for e in edges[:-1]], dtype=points.dtype)
        texts = [spell_edge(e) for e in edges]
        names = [range_label(a, b, is_open=True) for a, b in pairwise(texts)]
        yield np.searchsorted(starts, points, side="right") - 1, names
        width *= 2


def round_up(least: Fraction) -> Fraction:
    """The smallest 1, 2 or 5 times a power of ten that is not below `least`."""
    power = len(str(least.numerator)) - len(str(least.denominator)) - 1
    while True:
        for digit in (1, 2, 5):
            width = digit * Fraction(10) ** power
            if width >= least:
                return width
        power += 1


def _to_float(edge: Fraction) -> float:
    try:
        return float(edge)
    except OverflowError:
        return math.inf if edge > 0 else -math.inf


def spell_edge(edge: Fraction) -> str:
    shift = 0
    while (edge * 10**shift).denominator != 1:
        shift += 1
    exact = Decimal(int(edge * 10**shift)).scaleb(-shift)
    if exact == 0:
        return "0"
    size = abs(edge)
    if Fraction(1, 100_000) <= size < 10**15:
        text = format(exact, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    digits, exponent = f"{exact:e}".split("e")
    return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits}e{exponent}"


def _spell_numbers(values: npt.NDArray[Any]) -> list[str]:
    if values.dtype.kind == "b":
        return ["true" if v else "false" for v in values]
    if values.dtype.kind != "f":
        return [str(v) for v in values]
    is_plain = (np.abs(values) >= 1e-5) & (np.abs(values) < 1e15) | (values == 0)
    return [
        np.format_float_positional(v, trim="-") if plain else repr(float(v))
        for v, plain in zip(values, is_plain, strict=True)
    ]


def calendar(days: npt.NDArray[np.datetime64]) -> Hierarchy:
    """Generalise days: ``2020-03-05; 2020-03; 2020-Q1; 2020; 2020s; *``; moments to their day first."""
    days = np.asarray(days)
    moments = np.unique(days[~np.isnat(days)])
    if not len(moments):
        raise DataError("a calendar hierarchy needs at least one date; the column has none")
    day = moments.astype("datetime64[D]")
    if (day == moments).all():
        levels = [np.datetime_as_string(day).tolist()]
    else:
        texts = np.datetime_as_string(moments.astype("datetime64[us]")).tolist()
        leaves = [t.replace("T", " ").removesuffix(".000000") for t in texts]
        levels = [leaves, np.datetime_as_string(day).tolist()]
    months = day.astype("datetime64[M]")
    years = day.astype("datetime64[Y]")
    quarter = (months - years.astype("datetime64[M]")).astype(np.int64) // 3 + 1
    year_texts = np.datetime_as_string(years).tolist()
    decades = (years.astype(np.int64) + 1970) // 10 * 10
    levels.append(np.datetime_as_string(months).tolist())
    levels.append([f"{y}-Q{q}" for y, q in zip(year_texts, quarter, strict=True)])
    levels.append(year_texts)
    levels.append([f"{d}s" for d in decades])
    return Hierarchy(tuple(zip(*levels, [ROOT] * len(day), strict=True)))


def prefixes(codes: Iterable[str], most: int = 16) -> Hierarchy:
    """Strip codes from the right: ``48103; 4810*; 481**; 48***; 4****; *``.

    A code shorter than the longest keeps its own label until as many characters are left. Codes longer than
    `most` lose several characters a level.
    """
    distinct = list(dict.fromkeys(codes))
    if not distinct or "" in distinct:
        raise DataError("a hierarchy of prefixes needs codes of one character or more; mark empty ones as missing")
    width = max(map(len, distinct))
    step = -(-width // most)
    lengths = range(width - step, 0, -step)
    return Hierarchy(tuple((code, *(_prefix(code, n, width) for n in lengths), ROOT) for code in distinct))


def _prefix(code: str, length: int, width: int) -> str:
    # A code that is spelled like the root stays there, else the root would stand below its own child.
    if len(code) < length or code == ROOT:
        return code
    return code[:length] + "*" * (width - length)
