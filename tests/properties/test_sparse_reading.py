"""Sparse records that a test writes are read back as they were, in every format; and bad bytes end in one sentence."""

from __future__ import annotations

import gzip
import re
import tempfile
from collections import Counter
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.sparse.files import looks_like_sparse, read_blocks, read_sparse
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketch_files import read_sketches, write_sketches
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError

ODD = st.characters(exclude_categories=["Cs"], exclude_characters="\0 \t\r\n\v\f")
NASTY = st.sampled_from(list("=+-@'\",;:#>\x1c\x85\u2028\ufeffaAbB01"))
ITEM = st.text(ODD | NASTY, min_size=1, max_size=4)
BASKETS = st.lists(st.lists(ITEM, max_size=6), min_size=1, max_size=8).filter(any)
WEIGHT = (
    st.integers(-(2**31), 2**31).map(float)
    | st.floats(2.0**-256, 2.0**31)
    | st.floats(-(2.0**31), -(2.0**-256))
    | st.just(-0.0)
)
VECTORS = st.lists(
    st.tuples(st.sampled_from(["1", "-1", "+1", "2.5", "a"]), st.dictionaries(st.integers(0, 10**18 - 1), WEIGHT)),
    min_size=1,
    max_size=8,
)


def dicts(records: Sparse) -> list[dict[str, float]]:
    pairs = [(records.names[i], w) for i, w in zip(records.items.tolist(), records.weights.tolist(), strict=True)]
    return [dict(pairs[a:b]) for a, b in pairwise(records.starts.tolist())]


def labels(records: Sparse) -> list[str]:
    assert records.labels is not None
    return [records.classes[code] for code in records.labels.tolist()]


def is_canonical(records: Sparse) -> bool:
    """What every function after reading relies on."""
    inner = np.diff(records.items.astype(np.int64)) > 0
    borders = records.starts[1:-1]
    inner[borders[(borders > 0) & (borders < len(records.items))] - 1] = True
    return bool(
        inner.all()
        and (records.weights != 0).all()
        and list(records.names) == sorted(set(records.names))
        and records.items.dtype == np.int32
        and records.weights.dtype in (np.int64, np.float64)
    )


def written(folder: str, content: bytes, packed: bool) -> Path:
    path = Path(folder) / "x"
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


@given(
    BASKETS,
    st.sampled_from([None, ",", "|", "\t"]),
    st.booleans(),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_baskets(listed: list[list[str]], delimiter: str | None, packed: bool, end: str, has_end: bool) -> None:
    baskets = [[i for i in (item.replace(delimiter or " ", "") for item in basket) if i] for basket in listed]
    if not any(baskets):
        baskets[0] = ["a"]
    text = end.join((delimiter or " ").join(basket) for basket in baskets)
    text += end if has_end or not baskets[-1] else ""
    data = text.encode()
    data = b"\xef\xbb\xbf" + data if data.startswith(b"\xef\xbb\xbf") else data
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, data, packed)
        once = read_sparse(path, format="baskets", delimiter=delimiter)
        counted = read_sparse(path, format="baskets", delimiter=delimiter, weights="counts")
        blocks = list(read_blocks(path, format="baskets", delimiter=delimiter, records=2))
    assert dicts(once) == [dict.fromkeys(b, 1) for b in baskets]
    assert dicts(counted) == [dict(Counter(b)) for b in baskets]
    assert list(chain.from_iterable(map(dicts, blocks))) == dicts(once)
    assert all(map(is_canonical, [once, counted, *blocks]))
    assert dicts(once) == dicts(Sparse.of(baskets))


@given(VECTORS, st.booleans(), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_svmlight(vectors: list[tuple[str, dict[int, float]]], packed: bool, random: object) -> None:
    lines = [
        f"{label} {' '.join(f'{i}:{w!r}' for i, w in vector.items())}{'# 1:1' if len(vector) % 2 else ''}\n"
        for label, vector in vectors
    ]
    expected = [{str(i): w for i, w in vector.items() if w != 0} for _, vector in vectors]
    order = list(range(len(lines)))
    random.shuffle(order)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, "".join(lines).encode(), packed)
        whole = read_sparse(path, format="svmlight")
        blocks = list(read_blocks(path, format="svmlight", records=3))
        permuted = read_sparse(written(folder, "".join(lines[i] for i in order).encode(), packed), format="svmlight")
    assert dicts(whole) == expected
    assert labels(whole) == [label for label, _ in vectors]
    assert is_canonical(whole)
    assert whole.is_integral is all(w == int(w) for record in expected for w in record.values())
    assert list(chain.from_iterable(map(dicts, blocks))) == expected
    # The order of rows changes nothing but the order of records.
    moved = whole.take(np.array(order))
    assert (permuted.names, permuted.classes) == (moved.names, moved.classes)
    for one, other in (
        (permuted.starts, moved.starts),
        (permuted.items, moved.items),
        (permuted.weights, moved.weights),
    ):
        assert one.tolist() == other.tolist()
    assert labels(permuted) == labels(moved)


TOKENS = ["1", "-1", "1:1", "2:.5", "2:1.", "3:-0", "03:1e2", "2:4", "1:", ":1", "4:.", "4:e", "4:1e", "1:1:1"]
NOISE = ["1,2", "qid:7", "# 1:", "#", "\t", "\v", "x:1", "5:nan", "5:1e99", "5:1_0"]
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def slow_svmlight(lines: list[str]) -> list[tuple[str, dict[str, float]]] | int:
    """Line by line and token by token: the records, or a line, from 1, that is wrong."""
    records = []
    for number, line in enumerate(lines, 1):
        tokens = line.split("#")[0].split()
        if not tokens:
            continue
        if ":" in tokens[0] or "," in tokens[0]:
            return number
        record: dict[str, float] = {}
        for token in tokens[1:]:
            if token.startswith("qid:"):
                continue
            index, _, value = token.partition(":")
            if not (index.isdigit() and NUMBER.fullmatch(value) and abs(float(value)) <= 2**31):
                return number
            if str(int(index)) in record:
                return number
            record[str(int(index))] = float(value)
        records.append((tokens[0], {i: w for i, w in record.items() if w != 0}))
    return records


@given(st.lists(st.lists(st.sampled_from(TOKENS[:8]) | st.sampled_from(TOKENS + NOISE), max_size=4), max_size=6))
@settings(max_examples=300, deadline=None)
def test_svmlight_is_read_as_a_slow_reader_does(listed: list[list[str]]) -> None:
    lines = [" ".join(["1", *tokens]) if len(tokens) < 4 else " ".join(tokens) for tokens in listed]
    expected = slow_svmlight(lines)
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, "\n".join(lines).encode(), False)
        if isinstance(expected, int) or not expected:
            with pytest.raises(DataError) as caught:
                read_sparse(path, format="svmlight")
            if isinstance(expected, int) and isinstance(slow_svmlight(lines[expected:]), list):
                assert f"x, line {expected}: " in str(caught.value)
            return
        made = read_sparse(path, format="svmlight")
    assert list(zip(labels(made), dicts(made), strict=True)) == expected


@given(st.lists(st.dictionaries(ITEM, WEIGHT, max_size=5), max_size=6))
@settings(max_examples=80, deadline=None)
def test_mappings_and_matrices(records: list[dict[str, float]]) -> None:
    made = Sparse.of(records)
    assert dicts(made) == [{i: w for i, w in record.items() if w != 0} for record in records]
    assert is_canonical(made)
    again = Sparse.from_csr(made.to_csr(), names=made.names)
    assert dicts(again) == dicts(made)
    assert again.names == made.names


@given(st.binary(max_size=60) | st.text(st.sampled_from("1:. #\n-e,q"), max_size=40).map(str.encode))
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_read_or_refused_with_one_sentence(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, data, False)
        assert looks_like_sparse(path) in (None, "svmlight")
        for format in ("baskets", "svmlight", None):
            message = ""
            try:
                whole = read_sparse(path, format=format)
            except DataError as error:
                message = str(error)
            if message:
                assert "\n" not in message
                if format is not None and "Windows" not in message:
                    with pytest.raises(DataError):
                        list(read_blocks(path, format=format, records=2))
                continue
            assert is_canonical(whole)
            if format is not None and not whole.source.notes:
                blocks = list(read_blocks(path, format=format, records=2))
                assert list(chain.from_iterable(map(dicts, blocks))) == dicts(whole)


@given(
    st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5), max_size=8),
    st.none() | st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), min_size=8, max_size=8),
    st.booleans(),
)
@settings(max_examples=12, deadline=None)
def test_sketches(lists: list[list[int]], names: list[str] | None, real: bool) -> None:
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array([len(x) for x in lists], np.int64))])
    whole = np.array(list(chain.from_iterable(lists)), np.int64)
    classes = None if names is None else sorted(set(names[: len(lists)]))
    made = Sketches(
        starts,
        whole * 2.0**-40 if real else whole,
        2.0**-40 if real else 1.0,
        None if classes is None else np.array([classes.index(n) for n in (names or [])[: len(lists)]], np.int32),
        () if classes is None else tuple(classes),
    )
    with tempfile.TemporaryDirectory() as folder:
        write_sketches(made, Path(folder) / "x")
        read = read_sketches(Path(folder) / "x")
    assert read.starts.tolist() == made.starts.tolist()
    assert read.components.tolist() == made.components.tolist()
    assert read.components.dtype == made.components.dtype
    assert (read.step, read.classes) == (made.step, made.classes)
    assert (read.labels is None) is (made.labels is None)
    if read.labels is not None and made.labels is not None:
        assert read.labels.tolist() == made.labels.tolist()
