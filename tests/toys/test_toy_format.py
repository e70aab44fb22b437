"""A file format is one file: this one is read, released, saved, checked and refused when it is edited."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import shoal
from shoal.data.tables.format import FORMATS

pytestmark = pytest.mark.unattacked


@pytest.fixture(autouse=True)
def bars() -> Iterator[None]:
    from tests.toys.formats.bars import Bars

    list(FORMATS)
    FORMATS.register(Bars())
    yield
    FORMATS.forget("bars")


def test_one_file_is_a_format(tmp_path: Path) -> None:
    path = tmp_path / "people.bars"
    path.write_text("%bars\nage|town|disease\n" + "".join(f"{20 + i % 8}|t{i % 2}|{'abc'[i % 3]}\n" for i in range(48)))
    policy = shoal.Policy.of(quasi=["age", "town"], sensitive=["disease"], k=4)
    release = shoal.anonymize(path, policy, seed=1)
    release.save(tmp_path / "out")
    data = tmp_path / "out" / "publish" / "data.bars"
    assert data.read_text().startswith("%bars\nage|town|disease\n")
    assert shoal.check(tmp_path / "out", path).findings == ()
    data.write_text(data.read_text().replace("|t0|", "|t1|", 1))
    assert shoal.check(tmp_path / "out", path).fails


def test_without_it_such_a_file_is_text(tmp_path: Path) -> None:
    from tests.toys.formats.bars import Bars

    FORMATS.forget("bars")
    path = tmp_path / "people.bars"
    path.write_text("%bars\nage|town\n1|a\n2|b\n")
    with pytest.raises(shoal.ShoalError):
        shoal.anonymize(path, shoal.Policy.of(quasi=["age"], k=2))
    FORMATS.register(Bars())


def test_one_file_is_a_format_of_strings(tmp_path: Path) -> None:
    from shoal.data.strings.format import FORMATS as STRING_FORMATS
    from tests.toys.formats.string_bars import StringBars

    list(STRING_FORMATS)
    STRING_FORMATS.register(StringBars())
    try:
        path = tmp_path / "clicks.txt"
        path.write_text("".join(f"|{i * 2654435761 % 2**32:032b}|\n" for i in range(1, 49)))
        release = shoal.anonymize(path, shoal.StringPolicy.of(k=4), seed=1)
        release.save(tmp_path / "out", keep=("groups",), report=False)
        assert (tmp_path / "out" / "publish" / "data.bars").read_text().startswith("|")
        assert shoal.check(tmp_path / "out", path).findings == ()
    finally:
        STRING_FORMATS.forget("bars")
