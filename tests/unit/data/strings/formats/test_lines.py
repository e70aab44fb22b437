"""The tests of `data/strings/token_lines.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.data.strings.files import read_strings


def file(folder: Path, content: bytes | str, name: str = "x.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_lines_and_tokens(tmp_path: Path) -> None:
    lines = read_strings(file(tmp_path, "abc\r\n\r\nca\rß"), format="lines")
    assert lines.texts() == ["abc", "", "ca", "ß"]
    tokens = read_strings(file(tmp_path, "10 9  9\n\n 10\t7 \n"))
    assert tokens.source.format == "tokens"
    assert tokens.texts() == [["10", "9", "9"], [], ["10", "7"]]
    assert tokens.alphabet == ("10", "7", "9")
    cut = read_strings(file(tmp_path, "log in; buy ;;\n\nbuy\n;\n"), delimiter=";")
    assert cut.texts() == [["log in", "buy"], [], ["buy"], []]
    assert cut.source.notes == ("2 tokens of nothing were left out",)
    assert read_strings(file(tmp_path, "acg\nAC GT\n"), format="lines", alphabet="dna").texts() == ["ACG", "ACGT"]


def test_lines_of_many_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.data.whole_text._PIECE", 7)
    records = [[str(i), str(i * i), "x" * (i % 11)][: 2 + (i % 11 > 0)] for i in range(200)]
    path = file(tmp_path, "\n".join(" ".join(r) for r in records))
    assert read_strings(path, format="tokens").texts() == records
    comma = file(tmp_path, "\n".join(",".join(r) for r in records))
    assert read_strings(comma, delimiter=",").texts() == records
