"""Read a sliced release back: one frame a slice, or plausible full records made of them.

One row of the file is no record: its slices were permuted inside the bucket, apart from each other. What belongs
together are the columns of one slice, and all that is known across slices is the bucket and, in a screened table, the
sensitive values that stand in every slice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.data.published_file import plain_file, read_json
from shoal.data.tables.dictionary import objects
from shoal.data.tables.labels import Label, calendar_span, read_label
from shoal.data.tables.parse import parse_dates, parse_numbers
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Column, Table
from shoal.data.tables.write import read_back
from shoal.errors import DataError

Frame = dict[str, npt.NDArray[Any]]


def read_slices(folder: str | Path) -> list[Frame]:
    """Read a published folder as one frame a slice.

    Parameters
    ----------
    folder : path
        The `publish/` folder of a bucketized, sliced or screened release.

    Returns
    -------
    list of dict
        For each slice its columns by the names of the attributes, the number of the bucket first: ready for
        ``pandas.DataFrame(frame)`` or ``polars.DataFrame(frame)``. Columns of plain numbers are numbers, others texts;
        None (nan among numbers) where a cell is missing.
    """
    folder = Path(folder)
    if not (folder / "manifest.json").exists() and (folder / "publish" / "manifest.json").exists():
        folder = folder / "publish"
    try:
        content = read_json(folder / "manifest.json")
    except (OSError, ValueError):
        raise DataError(f"{folder} has no manifest that can be read; give the publish/ folder of a release") from None
    described = content.get("layout") if isinstance(content, dict) else None
    if not isinstance(described, Mapping):
        raise DataError(f"{folder} holds no sliced table; read its data as it is")
    layout = Layout.from_dict(described)
    markers = [str(m) for m in content.get("missing_markers", [])]
    path = folder / Path(str(content.get("data", ""))).name
    if path.is_symlink() or path.exists():
        plain_file(path)
    return slice_frames(read_back(path, layout.names, markers=markers, delimiter=content.get("delimiter")), layout)


def slice_frames(table: Table, layout: Layout) -> list[Frame]:
    """A sliced table as one frame a slice; see `read_slices`."""
    for name in layout.names:
        _ = table[name]  # says what is not there
    bucket = _cells(table[layout.bucket])
    return [
        {layout.bucket: bucket} | {a: _cells(table[c]) for c, a in zip(s.columns, s.attributes, strict=True)}
        for s in layout.slices
    ]


def _cells(column: Column) -> npt.NDArray[Any]:
    if not column.is_text:
        return column.cells() if column.has_missing and column.values.dtype.kind != "f" else _plain(column)
    numbers = parse_numbers(column.values) if len(column.values) else None
    if numbers is None or any(str(v) != str(v).strip() or re.match(r"[+-]?0[0-9]", str(v)) for v in column.values):
        return column.cells()  # a code with a zero in front is no number
    whole = not column.has_missing and bool((numbers == np.floor(numbers)).all() and (np.abs(numbers) < 2**53).all())
    spread = np.append(numbers, np.nan)[np.minimum(column.codes, len(numbers))]
    return spread.astype(np.int64) if whole else spread


def _plain(column: Column) -> npt.NDArray[Any]:
    if column.values.dtype.kind == "f":
        return np.append(column.values, np.nan)[np.minimum(column.codes, len(column.values))]
    return np.asarray(column.values[column.codes])


def sample_records(source: str | Path | Sequence[Frame], seed: int | None = None, *, draw: bool = False) -> Frame:
    """Put slices together to full records, one of the many ways in which they could belong together.

    Inside each bucket the rows of the slices are matched at random; where several slices carry the same attributes
    (the sensitive ones of a screened table), only rows with the same values there. Every published row is used once,
    so that whatever holds inside a slice holds in the sample; what holds between slices is lost but for bucket and
    sensitive value. No record of the sample is meant to be a person's.

    Parameters
    ----------
    source : path, or what `read_slices` returns
    seed : int, optional
        For a sample that can be made again; the release's own seed is another and is not published.
    draw : bool
        Replace labels by values drawn uniformly from what they cover, as far as the file tells: ``[a..b]`` of numbers
        (whole ones between whole ends) and dates, ``{x, y}``; ``*`` and ``48***`` by values that the same column shows
        elsewhere, or not at all.

    Returns
    -------
    dict
        Columns by attribute, the bucket first.
    """
    frames = read_slices(source) if isinstance(source, str | Path) else [dict(f) for f in source]
    if not frames or any(len({len(c) for c in f.values()}) != 1 for f in frames):
        raise DataError("there are no slices, or their columns have different lengths; give what read_slices returns")
    rng = np.random.default_rng(seed)
    bucket_name = next(iter(frames[0]))
    names = [n for f in frames for n in f if n != bucket_name]
    shared = [n for n in dict.fromkeys(names) if names.count(n) > 1]
    carrying = [f for f in frames if all(n in f for n in shared)] if shared else []
    keys = _same_numbers([[f[bucket_name], *(f[n] for n in shared)] for f in carrying]) if shared else []
    buckets = _same_numbers([[f[bucket_name]] for f in frames])
    base_bucket = np.sort(buckets[0])
    sample: Frame = {bucket_name: np.sort(frames[0][bucket_name])}
    for place, frame in enumerate(frames):
        # The order inside a bucket is that of the shared values in all slices that have them, and random beyond that.
        at = next((i for i, f in enumerate(carrying) if f is frame), None)
        key = keys[at] if at is not None else buckets[place]
        order = np.lexsort((rng.random(len(key)), key, buckets[place]))
        wrong = len(order) != len(base_bucket) or not np.array_equal(buckets[place][order], base_bucket)
        if wrong or (at is not None and not np.array_equal(np.sort(keys[at]), np.sort(keys[0]))):
            raise DataError("the slices do not hold the same buckets or shared values; restore the file")
        for name, column in frame.items():
            if name not in sample:
                sample[name] = column[order]
    if draw:
        kept = {bucket_name, *shared}
        sample = {n: c if n in kept else _drawn(c, rng) for n, c in sample.items()}
    return sample


def _same_numbers(tables: Sequence[Sequence[npt.NDArray[Any]]]) -> list[Ints]:
    """The combinations of cells of several tables as one numbering, ascending with the first column."""
    lengths = np.cumsum([0] + [len(t[0]) for t in tables])
    key = np.zeros(lengths[-1], dtype=np.int64)
    for columns in zip(*tables, strict=True):
        cells = np.concatenate([np.asarray(c, dtype=object) for c in columns])
        if all(isinstance(c, int | np.integer) for c in cells):
            codes = np.unique(cells.astype(np.int64), return_inverse=True)[1]
        else:
            codes = np.unique(np.array([f"{type(c).__name__} {c}" for c in cells]), return_inverse=True)[1]
        key = np.unique(key * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)[1]
    return [key[a:b] for a, b in pairwise(lengths.tolist())]


def _drawn(column: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[Any]:
    if column.dtype != object:
        return column
    there = np.flatnonzero([c is not None for c in column])
    labels, of_cell = np.unique(objects(str(c) for c in column[there]), return_inverse=True)
    known = sorted({v for label in labels.tolist() for v in _members(label)})
    by_label = np.split(there[np.argsort(of_cell, kind="stable")], np.cumsum(np.bincount(of_cell))[:-1])
    out = column.copy()
    for label, cells in zip(labels.tolist(), by_label, strict=False):
        values = _values(label, len(cells), known, rng)
        if values is not None:
            out[cells] = values
    numbers = parse_numbers(out) if len(there) == len(out) else None
    if numbers is None:
        return np.asarray(out)
    return np.asarray(numbers.astype(np.int64) if bool((numbers == np.floor(numbers)).all()) else numbers)


def _members(label: str) -> list[str]:
    """The single values that a label shows."""
    read = read_label(label)
    is_shown = read.kind == "set" or (read.kind == "value" and not _is_prefix(read) and read.values != ("",))
    return list(read.values) if is_shown else []


def _is_prefix(read: Label) -> bool:
    """Whether it is the beginning of a code."""
    return read.kind == "value" and read.values[0].endswith("*")


def _values(label: str, n: int, known: Sequence[str], rng: np.random.Generator) -> list[Any] | None:
    read = read_label(label)
    if read.kind == "set":
        return list(rng.choice(read.values, n).tolist())
    if read.kind == "everything" or _is_prefix(read):
        stem = read.values[0].rstrip("*") if read.values else ""
        fitting = [v for v in known if v.startswith(stem)]
        return list(rng.choice(fitting, n).tolist()) if fitting else None
    if read.kind == "value":
        return None
    ends, is_open = np.array(read.values, dtype=object), read.is_open
    numbers = parse_numbers(ends)
    if numbers is not None:
        if all(re.fullmatch(r"[+-]?[0-9]+", str(e)) for e in ends):
            return [str(v) for v in rng.integers(int(numbers[0]), int(numbers[1]) + (not is_open), n)]
        return [repr(float(v)) for v in rng.uniform(numbers[0], numbers[1], n)]
    spans = [calendar_span(str(end)) for end in ends]
    if spans[0] is not None and spans[1] is not None:
        ends = np.array([spans[0][0], spans[1][1]]).astype("datetime64[us]")
    dates = parse_dates(ends)
    if dates is None:
        return None
    days = dates.values.astype("datetime64[D]").astype(np.int64)
    drawn = rng.integers(days[0], days[1] + (not is_open), n).astype("datetime64[D]")
    return [d.strftime(dates.form) for d in drawn.astype(object)]
