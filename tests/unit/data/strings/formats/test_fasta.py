"""The tests of `data/strings/fasta.py`."""

from __future__ import annotations

from pathlib import Path

from shoal.data.strings.files import looks_like_strings, read_strings, string_file_name, write_strings


def file(folder: Path, content: bytes | str, name: str = "x.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_fasta_of_several_lines_comments_and_windows_line_ends(tmp_path: Path) -> None:
    text = "; an old comment\r\n>one first\r\nMKV\r\nLA G\r\n\r\n;inside\r\nW*\r\n>two\r\n>three\r\nmkx"
    strings = read_strings(file(tmp_path, text))
    assert strings.texts() == ["MKVLAGW*", "", "MKX"]
    assert strings.source.format == "fasta"
    assert strings.source.alphabet == "protein"
    assert strings.alphabet == tuple(sorted("ACDEFGHIKLMNPQRSTVWYBJOUXZ*-"))
    assert any("guessed: protein" in note for note in strings.source.notes)
    assert any("folded" in note for note in strings.source.notes)
    assert strings.labels is None


def test_the_class_comes_from_the_description(tmp_path: Path) -> None:
    path = file(tmp_path, ">sp|A1|X_YEAST\nMKV\n>sp|A2|Y_MOUSE\nMK\n>sp|A3|Z_YEAST\nM\n")
    strings = read_strings(path, label=r"_(\w+)$")
    assert strings.classes == ("MOUSE", "YEAST")
    assert strings.labels is not None
    assert strings.labels.tolist() == [1, 0, 1]


def test_written_fasta_has_neutral_names_and_its_class_is_read_back(tmp_path: Path) -> None:
    path = file(tmp_path, ">secret_1 HUMAN x\n" + "M" * 130 + "\n>secret_2 MOUSE\nMK\n>secret_3 HUMAN\n\n")
    strings = read_strings(path, label="(HUMAN|MOUSE)")
    out = tmp_path / string_file_name(strings)
    write_strings(strings, out)
    lines = out.read_text().splitlines()
    assert lines[0] == ">pseudo_000001 class=HUMAN"
    assert [len(line) for line in lines[1:4]] == [60, 60, 10]
    assert "secret" not in out.read_text()
    for again in (read_strings(out), read_strings(out, label="(HUMAN|MOUSE)"), read_strings(out, label="(never)")):
        assert again.texts() == strings.texts()
        assert again.classes == strings.classes
        assert again.labels is not None
        assert again.labels.tolist() == [0, 1, 0]


def test_a_long_first_line_does_not_hide_fasta(tmp_path: Path) -> None:
    assert looks_like_strings(file(tmp_path, ">a\n" + "ACGT" * 100_000 + "\n>b\nAC\n")) == "fasta"
