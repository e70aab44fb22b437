"""SVMlight (libsvm) files: a label a line, then an index and a value for each attribute that is not zero.

``label index:value index:value ... # comment``. An attribute is named by its index, and its index is nothing but a
name: it may be 0, and the order within a line is free. Lines without a label, of blanks or a comment, are no records.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from shoal.arrays import Bytes, Floats, Ints
from shoal.data.sparse.records import UNUSABLE, Sparse, SparseSource, assemble, usable_weights
from shoal.data.strings.alphabets import WHITE
from shoal.data.whole_text import WholeText
from shoal.errors import DataError

_NUMBER = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_LINE = re.compile(
    rb"\s*%b(?:,%b)*(?:\s+qid:\S*)?(?:\s+[0-9]+:%b)*\s*(?:#.*)?" % (_NUMBER, _NUMBER, _NUMBER), re.DOTALL
)
_COMMENT = re.compile(rb"#[^\n]*")
_QUERY = re.compile(rb"(?<=[ \t\v\f])qid:[^ \t\v\f\n]*")
_PLAIN = re.compile(_NUMBER)
_MOST_DIGITS = 18
_IS_WHITE = np.isin(np.arange(256), list(WHITE))
_SPACE, _COLON, _NEWLINE, _ZERO = ord(" "), ord(":"), ord("\n"), ord("0")


@dataclass(frozen=True)
class _Entries:
    """The records of a piece of the file, in order."""

    sizes: Ints
    indices: Ints
    values: Floats
    labels: list[bytes]
    n_queries: int


def looks_like_svmlight(lines: Sequence[bytes]) -> bool:
    """Whether all lines are as they should be, and one has an attribute at least."""
    told = [line for line in lines if line.strip() and not line.lstrip().startswith(b"#")]
    return any(b":" in line for line in told) and all(_LINE.fullmatch(line) for line in told)


def read_svmlight(text: WholeText, source: SparseSource, first_line: int = 1) -> Sparse:
    """Read one record a line, with its label as a class; the values are the weights.

    Query numbers (``qid``) are left out with a note.

    Parameters
    ----------
    first_line : int
        The number of the first line, for messages.

    Raises
    ------
    DataError
        With the line that has no label, several of them, a token that is not ``index:value``, the same index twice or
        a value that is no usable number.
    """
    parts: list[_Entries] = []
    for piece in text.pieces():
        parts.append(_parse(text.path, piece, first_line))
        first_line += piece.count(b"\n")
    sizes = np.concatenate([p.sizes for p in parts])
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    codes, indices = _distinct(np.concatenate([p.indices for p in parts]))
    values = np.concatenate([p.values for p in parts])
    notes = list(source.notes)
    n_queries = sum(p.n_queries for p in parts)
    if n_queries:
        notes.append(f"{n_queries} query numbers (qid) were left out")
    labels = [label.decode() for p in parts for label in p.labels]
    notes += notes_of_classes(len(set(labels)), len(labels))
    made = assemble(starts, codes, [str(i) for i in indices.tolist()], values, source=source)
    return replace(made.with_labels(labels), source=replace(source, notes=tuple(notes)))


def notes_of_classes(n_classes: int, n_records: int) -> tuple[str, ...]:
    """What is noted where labels seem to be no classes."""
    if n_classes <= max(20, n_records // 2):
        return ()
    return ("most labels differ, as if they were measurements: each of them is a class",)


def _parse(path: Path, piece: bytes, first_line: int) -> _Entries:
    if b"#" in piece:
        piece = _COMMENT.sub(b"", piece)
    n_queries = 0
    if b"qid:" in piece:
        piece, n_queries = _QUERY.subn(b"", piece)
    data = np.frombuffer(piece, np.uint8)

    def refuse(position: int, what: str) -> DataError:
        line = first_line + piece.count(b"\n", 0, position)
        return DataError(f"{path}, line {line}: {what}")

    is_white = _IS_WHITE[data]
    before = np.concatenate([[True], is_white[:-1]])  # a piece ends with a line end, so with white
    begins, ends = np.flatnonzero(~is_white & before), np.flatnonzero(is_white & ~before)
    lines = np.searchsorted(np.flatnonzero(data == _NEWLINE), begins)
    is_label = np.concatenate([[True], lines[1:] != lines[:-1]])[: len(begins)]
    labels = _tokens(data, begins[is_label], ends[is_label])
    for mark, what in (
        (b":", "does not begin with a label; write label index:value index:value ..."),
        (b",", "has more than one label; give one label a record"),
    ):
        wrong = next((i for i, label in enumerate(labels) if mark in label), None) if mark in b"".join(labels) else None
        if wrong is not None:
            raise refuse(int(begins[is_label][wrong]), what)
    sizes = np.diff(np.append(np.flatnonzero(is_label), len(begins))) - 1
    begins, ends = begins[~is_label], ends[~is_label]
    # As long as every token before has one colon, the next colon is that of this token; one more is in its value.
    middles = np.append(np.flatnonzero(data == _COLON), np.full(len(begins), len(data)))[: len(begins)]
    is_pair = (middles > begins) & (middles + 1 < ends)
    widths = np.where(is_pair, middles - begins, 0)
    is_pair &= widths <= _MOST_DIGITS
    indices = np.zeros(len(begins), np.int64)
    for place in range(min(int(widths.max(initial=0)), _MOST_DIGITS)):
        digits = data[np.minimum(begins + place, len(data) - 1)] - np.uint8(_ZERO)  # others wrap to 10 and more
        is_pair &= (digits < 10) | (place >= widths)
        indices = np.where(place < widths, indices * 10 + digits, indices)
    n_pairs = len(begins) if is_pair.all() else int(np.argmin(is_pair))
    values, n_read = _floats(_tokens(data, middles[:n_pairs] + 1, ends[:n_pairs]))
    if n_read < len(begins):
        what = "holds a token that is not index:value with two plain numbers; mend it, or name another format"
        raise refuse(int(begins[n_read]), what)
    usable = usable_weights(values)
    if not usable.all():
        raise refuse(int(begins[np.argmin(usable)]), f"a value is {UNUSABLE}")
    twice = _first_twice(np.repeat(np.arange(len(sizes)), sizes), indices)
    if twice is not None:
        raise refuse(int(begins[twice]), "holds the same index twice; join the two")
    return _Entries(sizes, indices, values, labels, n_queries)


def _tokens(data: Bytes, begins: Ints, ends: Ints) -> list[bytes]:
    """Pieces of the text that are not empty and hold no white space, cut out all at once."""
    edges = np.zeros(len(data) + 1, np.int8)
    edges[begins] = 1
    edges[ends] -= 1
    return np.where(np.cumsum(edges[:-1], dtype=np.int8) > 0, data, _SPACE).astype(np.uint8).tobytes().split()


def _floats(tokens: list[bytes]) -> tuple[Floats, int]:
    """The numbers, and how many come before one that is none."""
    try:
        # Python's own reader would also take underscores, nan and infinity.
        if b"".join(tokens).translate(None, b"0123456789+-.eE"):
            raise ValueError
        return np.fromiter(map(float, tokens), np.float64, len(tokens)), len(tokens)
    except ValueError:
        return np.zeros(len(tokens)), next(i for i, token in enumerate(tokens) if not _PLAIN.fullmatch(token))


def _first_twice(owners: Ints, indices: Ints) -> int | None:
    """The first entry whose index stands before it in the same record."""
    if not ((owners[1:] == owners[:-1]) & (indices[1:] <= indices[:-1])).any():
        return None
    order = np.lexsort((indices, owners))
    again = np.flatnonzero((np.diff(owners[order]) == 0) & (np.diff(indices[order]) == 0))
    return int(order[again + 1].min()) if len(again) else None


def _distinct(indices: Ints) -> tuple[Ints, Ints]:
    """A code for each index, and the distinct indices in ascending order."""
    top = int(indices.max(initial=-1)) + 1
    if top > 4 * len(indices) + (1 << 16):
        found, codes = np.unique(indices, return_inverse=True)
        return codes, found
    used = np.zeros(top, dtype=bool)
    used[indices] = True
    return (np.cumsum(used) - 1)[indices], np.flatnonzero(used)
