"""The tests of `data/strings/spmf.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.data.strings.files import looks_like_strings, read_strings, write_strings


def file(folder: Path, content: bytes | str, name: str = "x.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_spmf(tmp_path: Path) -> None:
    text = "@CONVERTED_FROM_TEXT\n@ITEM=1=apple\n# comment\n1 -1 3 2 -1 -2\n\n007 -1 -2\n-2\n"
    path = file(tmp_path, text)
    assert looks_like_strings(path) == "spmf"
    strings = read_strings(path)
    assert strings.texts() == [["1", "3", "2"], ["7"], []]
    assert strings.source.notes == (
        "the names of the items were not read; the symbols are their numbers",
        "1 itemsets have more than one item; each item became a symbol of its own",
    )
    write_strings(strings, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "1 -1 3 -1 2 -1 -2\n7 -1 -2\n-2\n"


@pytest.mark.parametrize(
    ("line", "n"),
    [("1 2 -1 -2", 1), ("1 -1 2 3 4 -1 -2", 1), ("1 2 -1 3 4 -1 5 -1 -2", 2), ("1 -1 2 -1 -2", 0), ("-2", 0)],
)
def test_spmf_counts_itemsets_of_several_items(tmp_path: Path, line: str, n: int) -> None:
    notes = read_strings(file(tmp_path, line), format="spmf").source.notes
    assert notes == ((f"{n} itemsets have more than one item; each item became a symbol of its own",) if n else ())
