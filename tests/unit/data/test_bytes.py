"""The tests of `data/bytes.py`."""

from __future__ import annotations

import gzip
import hashlib
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.bytes import digests_kept, open_bytes
from shoal.errors import DataError


@given(content=st.binary(max_size=200), n_at_once=st.integers(1, 300), n_members=st.integers(0, 2))
def test_who_reads_to_the_end_leaves_the_checksum(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, n_at_once: int, n_members: int
) -> None:
    path = tmp_path_factory.mktemp("bytes") / "data"
    raw = gzip.compress(content) * n_members if n_members else content
    path.write_bytes(raw)
    with digests_kept() as digests, open_bytes(path, gzipped=n_members > 0) as stream:
        found = b""
        while piece := stream.read(n_at_once):
            found += piece
    assert found == content * max(1, n_members)
    assert digests == {path: hashlib.sha256(raw).hexdigest()}


def test_lines_and_text_are_read_as_of_any_file(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text("one\ntwo\n")
    with digests_kept() as digests, open_bytes(path, gzipped=False) as stream:
        assert list(io.TextIOWrapper(stream)) == ["one\n", "two\n"]
    assert list(digests) == [path]


def test_who_stops_before_the_end_leaves_none(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"x" * 100_000)
    with digests_kept() as digests, open_bytes(path, gzipped=False) as stream:
        stream.read(10)
    assert digests == {}


def test_outside_of_the_block_nothing_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"x")
    with digests_kept() as digests:
        pass
    with open_bytes(path, gzipped=False) as stream:
        assert stream.read() == b"x"
    assert digests == {}


@pytest.mark.parametrize(
    ("raw", "what"), [(gzip.compress(b"x" * 99)[:-9], "cut short"), (b"\x1f\x8b" + b"no" * 20, "damaged")]
)
def test_damage_is_told_in_a_sentence(tmp_path: Path, raw: bytes, what: str) -> None:
    path = tmp_path / "data"
    path.write_bytes(raw)
    with digests_kept(), pytest.raises(DataError, match=what), open_bytes(path, gzipped=True) as stream:
        stream.read()


def test_a_file_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"), open_bytes(tmp_path / "none", gzipped=False):
        pass
