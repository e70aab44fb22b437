"""Hierarchies: the file form, what is refused, the order of leaves, and the automatic makers."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import numpy as np
import pytest

from shoal.data.tables.hierarchy import Hierarchy, calendar, intervals, prefixes
from shoal.data.tables.table import spell
from shoal.errors import DataError

ANIMALS = (
    ("cat", "furry", "land", "*"),
    ("eel", "fish", "water", "*"),
    ("dog", "furry", "land", "*"),
    ("cod", "fish", "water", "*"),
    ("ant", "ant", "land", "*"),
)


def test_ancestors_are_equal_exactly_where_the_labels_are() -> None:
    tree = Hierarchy(ANIMALS)
    ids = tree.ancestors(["cod", "cat", "dog", "cat"])
    assert ids.dtype == np.int32
    assert ids.shape == (4, 4)
    assert ids[1].tolist() == ids[3].tolist()
    assert (ids[1] == ids[2]).tolist() == [False, True, True, True]
    assert (ids[0] == ids[1]).tolist() == [False, False, False, True]
    for height in range(4):
        assert [tree.nodes(height)[i] for i in ids[:, height]] == [
            tree.label(leaf, height) for leaf in ["cod", "cat", "dog", "cat"]
        ]


def test_leaves_of_a_node_are_contiguous_whatever_the_order_of_rows() -> None:
    expected = ["ant", "cat", "dog", "cod", "eel"]
    rows = list(ANIMALS)
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        assert Hierarchy(tuple(rows)).leaf_order() == expected


def test_numeric_leaves_are_ordered_by_size() -> None:
    rows = [(str(v), "old" if v > 50 else "young", "*") for v in (100, 9, 20, -3)]
    tree = Hierarchy(tuple(rows))
    assert tree.leaf_order() == ["-3", "9", "20", "100"]
    assert tree.nodes(1) == ["young", "old"]


def test_a_row_given_twice_counts_once() -> None:
    assert Hierarchy((("a", "*"), ("a", "*"))).rows == (("a", "*"),)


def test_pickles_and_compares() -> None:
    tree = Hierarchy(ANIMALS)
    tree.ancestors(["cat"])
    assert pickle.loads(pickle.dumps(tree)) == tree == Hierarchy(ANIMALS)
    assert hash(tree) == hash(Hierarchy(ANIMALS))


def test_written_file_reads_back_with_awkward_labels(tmp_path: Path) -> None:
    rows = (
        ("\ufeffbom", "semi;colon", "*"),
        ('quo"te', "two\nlines", "*"),
        ('"', "carriage\rreturn", "*"),
        (" spaced ", "ünïcödé 鱼", "*"),
    )
    Hierarchy(rows).write(tmp_path / "tree.csv")
    assert Hierarchy.read(tmp_path / "tree.csv").rows == rows


def test_reads_byte_order_mark_blank_lines_and_crlf(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_bytes(b"\xef\xbb\xbfa;x;*\r\n\r\nb;x;*\r\n")
    assert Hierarchy.read(tmp_path / "tree.csv").rows == (("a", "x", "*"), ("b", "x", "*"))


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        (b"a;x;*\nb;*\n", 2, "has 2 levels where line 1 has 3"),
        (b"a;x;*\nb;y;*\na;y;*\n", 3, "another parent than line 1"),
        (b"a;x;p;*\nb;x;q;*\n", 2, "puts its label of level 2 under another parent than line 1"),
        (b"a;x;*\nb;;*\n", 2, "empty cell at level 2"),
        (b"a;x;*\n;x;*\n", 2, "empty cell at level 1"),
        (b"value;group;all\na;x;*\n", 2, "another root than line 1"),
        (b"a;x;*\nx;a;*\n", 1, "cyclic"),
        (b"a;b;*\nb;c;*\nc;a;*\n", 1, "cyclic"),
        (b"a;b;a;*\n", 1, "cyclic"),
        (b"*;x;*\n", 1, "cyclic"),
        (b"a;x;*\nb\xe9;x;*\n", 2, "not UTF-8"),
        (b"a;x;*\nb;\0x;*\n", 2, "NUL"),
        (b'a;x;*\n"b;x;*\n', 2, "quotation mark"),
        (b'"a\nb";x;*\nc;*\n', 3, "has 2 levels"),
        (b"a,x,*\nb,x,*\n", 1, "commas between its levels"),
        (b"a\tx\t*\n", 1, "tabs between its levels"),
        (b"a\nb\n", 1, "one level only"),
    ],
)
def test_faulty_files_are_refused_with_file_and_line(tmp_path: Path, content: bytes, line: int, says: str) -> None:
    path = tmp_path / "tree.csv"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        Hierarchy.read(path)
    message = str(caught.value)
    assert f"{path}, line {line}," in message
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_empty_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tree.csv").write_bytes(content)
    with pytest.raises(DataError, match=r"tree\.csv has no rows"):
        Hierarchy.read(tmp_path / "tree.csv")


def test_files_that_cannot_be_opened_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no hierarchy file .*absent\.csv"):
        Hierarchy.read(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="cannot be read"):
        Hierarchy.read(tmp_path)
    with pytest.raises(DataError, match="cannot be written"):
        Hierarchy(ANIMALS).write(tmp_path / "no" / "such" / "folder.csv")
    with pytest.raises(DataError, match="NUL"):
        Hierarchy((("a\0", "*"),)).write(tmp_path / "nul.csv")
    with pytest.raises(DataError, match="Unicode"):
        Hierarchy((("a\ud800", "*"),)).write(tmp_path / "surrogate.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("rows", [(), (("a",),), (("a", "*"), ("b", "x", "*")), (("a", "x"), ("b", "y"))])
def test_no_invalid_instance_can_be_built(rows: tuple[tuple[str, ...], ...]) -> None:
    with pytest.raises(DataError, match="hierarchy"):
        Hierarchy(rows)


def test_unknown_values_are_counted_and_only_frequent_ones_named() -> None:
    tree = Hierarchy(ANIMALS)
    tree.require_all(["cat", "cod"], "pet")
    values = ["cat", "yak", "gnu"]
    assert tree.missing_from(values) == ["yak", "gnu"]
    with pytest.raises(DataError) as plain:
        tree.require_all(values, "pet")
    assert "2 values of column 'pet'" in str(plain.value)
    assert "yak" not in str(plain.value)
    with pytest.raises(DataError) as counted:
        tree.require_all(values, "pet", counts=[9, 5, 4])
    assert "'yak'" in str(counted.value)
    assert "gnu" not in str(counted.value)
    with pytest.raises(DataError, match="1 value is not"):
        tree.ancestors(["cat", "secret"])
    many = [f"v{i}" for i in range(9)]
    with pytest.raises(DataError, match=r"9 values .*'v0', 'v1', 'v2'\)"):
        tree.require_all(many, "pet", counts=dict.fromkeys(many, 100))


def test_label_refuses_unknown_heights_and_values() -> None:
    tree = Hierarchy(ANIMALS)
    for height in (-1, 4):
        with pytest.raises(DataError, match="heights 0 to 3"):
            tree.label("cat", height)
    with pytest.raises(DataError, match="not in the hierarchy"):
        tree.label("gnu", 0)


def test_arx_files_of_adult(shared_data: Path, tmp_path: Path) -> None:
    heights = {}
    for path in sorted((shared_data / "adult" / "hierarchies").glob("*.csv")):
        tree = Hierarchy.read(path)
        heights[path.stem.rsplit("_", 1)[1]] = (tree.height, len(tree.leaves))
        tree.write(tmp_path / path.name)
        assert (tmp_path / path.name).read_bytes().split() == path.read_bytes().split()
    assert heights["age"] == (4, 100)
    assert heights["education"] == (3, 16)
    assert heights["race"] == (1, 5)


def test_intervals_of_ages_are_round_and_nested() -> None:
    tree = intervals(np.arange(17, 91))
    assert tree.rows[tree.leaves.index("23")] == (
        "23",
        "[20..25)",
        "[20..30)",
        "[20..40)",
        "[0..40)",
        "[0..80)",
        "*",
    )
    assert tree.leaf_order() == [str(v) for v in range(17, 91)]


def test_intervals_place_a_value_by_the_number_that_the_label_shows() -> None:
    tree = intervals(np.arange(20) / 10)
    assert tree.label("0.3", 1) == "[0.2..0.4)"
    assert tree.label("0.6", 1) == "[0.6..0.8)"  # 0.6 / 0.2 is below 3
    for row in tree.rows:
        for label in row[1:-1]:
            low, high = label[1:-1].split("..")
            assert float(low) <= float(row[0]) < float(high)


@pytest.mark.parametrize(
    "values",
    [
        np.array([5.0]),
        np.array([0, 1]),
        np.array([-1e300, 3.0, 1e300]),
        np.array([-1.7e308, 1.7e308]),
        np.array([5e-324, 0.0, 1e-323]),
        np.array([1e16, 1e16 + 2, 1e16 + 64]),
        np.array([-(2**63), 0, 2**63 - 1]),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([np.inf, -np.inf, 1.0, 2.0, 9.0, np.nan]),
        np.array([True, False]),
    ],
)
def test_intervals_of_extreme_columns(values: np.ndarray) -> None:
    tree = intervals(values)
    there = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    tree.require_all(spell(there), "x")
    assert tree.height <= 7


def test_intervals_take_the_callers_spelling_and_refuse_nothing_but_nan() -> None:
    assert set(intervals(np.array([1.0, 2.0]), labels=["1,0", "2,0"]).leaves) == {"1,0", "2,0"}
    with pytest.raises(DataError, match="at least one number"):
        intervals(np.array([np.nan]))


def test_calendar_levels() -> None:
    tree = calendar(np.array(["2020-03-05", "1999-12-31", "NaT", "2020-03-05"], dtype="datetime64[D]"))
    assert tree.rows == (
        ("1999-12-31", "1999-12", "1999-Q4", "1999", "1990s", "*"),
        ("2020-03-05", "2020-03", "2020-Q1", "2020", "2020s", "*"),
    )
    with pytest.raises(DataError, match="at least one date"):
        calendar(np.array(["NaT"], dtype="datetime64[D]"))


def test_calendar_of_moments_is_spelled_like_the_table() -> None:
    moments = np.array(["2020-03-05T10:30", "2020-03-05T00:00"], dtype="datetime64[us]")
    tree = calendar(moments)
    tree.require_all(spell(moments), "when")
    assert tree.label("2020-03-05 10:30:00", 1) == "2020-03-05"


def test_prefixes_of_equal_and_unequal_length() -> None:
    assert prefixes(["48103"]).rows == (("48103", "4810*", "481**", "48***", "4****", "*"),)
    assert prefixes(["481", "48", "9"]).rows == (
        ("481", "48*", "4**", "*"),
        ("48", "48*", "4**", "*"),
        ("9", "9", "9**", "*"),
    )
    assert prefixes(["x" * 1000, "y"]).height <= 16
    for bad in ([], [""]):
        with pytest.raises(DataError, match="prefixes"):
            prefixes(bad)
