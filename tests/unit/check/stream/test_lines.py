"""Lines are counted, and copies told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shoal.check.stream.lines import check_lines
from shoal.errors import DataError
from shoal.manifest import checksum


def folder(tmp_path: Path, lines: list[str], **told: object) -> tuple[Path, dict[str, object]]:
    path = tmp_path / "data.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    manifest = {
        "data": "data.txt",
        "records": {"out": len(lines)},
        "require": [{"model": "k-anonymity", "k": 3}],
        "checksums": {"data.txt": checksum(path)},
        **told,
    }
    return tmp_path, json.loads(json.dumps(manifest))


def test_what_fits_is_not_wrong_and_not_verified(tmp_path: Path) -> None:
    found = check_lines(*folder(tmp_path, ["a", "b"]))
    assert (found.fails, found.holds) == (False, False)


def test_other_lines_are_found(tmp_path: Path) -> None:
    publish, manifest = folder(tmp_path, ["a", "b"], records={"out": 3})
    assert "there are 2 lines" in " ".join(check_lines(publish, manifest).findings)
    (publish / "data.txt").write_text("a\n")
    assert "checksum" in " ".join(check_lines(publish, manifest).findings)


def test_copies_that_fewer_than_k_hold_are_told(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("a\nb\nb\nb\nc\n")
    found = check_lines(*folder(tmp_path, ["a", "b", "a", "x"]), tmp_path / "in.txt")
    assert "2 that equal a record" in found.not_compared[0]


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    publish, manifest = folder(tmp_path, ["a"])
    with pytest.raises(DataError, match="not the manifest of a stream"):
        check_lines(publish, {"of_windows": []})
    (publish / "data.txt").unlink()
    with pytest.raises(DataError, match="cannot be read"):
        check_lines(publish, manifest)
