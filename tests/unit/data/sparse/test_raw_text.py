"""The tests of `data/sparse/raw_text.py`."""

from __future__ import annotations

import gzip
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from shoal.data.sparse.files import read_sparse
from shoal.data.sparse.records import Sparse
from shoal.errors import DataError, MissingExtra
from tests.unit.data.sparse.table_files import table


def dicts(records: Sparse) -> list[dict[str, float]]:
    ends = records.starts.tolist()
    pairs = [(records.names[i], w) for i, w in zip(records.items.tolist(), records.weights.tolist(), strict=True)]
    return [dict(pairs[a:b]) for a, b in pairwise(ends)]


def labels(records: Sparse) -> list[str]:
    assert records.labels is not None
    return [records.classes[code] for code in records.labels.tolist()]


POSTS = ["The cat sat on the Mat; the CAT slept.", "", "A dog, a cat: dogs!", "x"]


@pytest.mark.parametrize("name", ["x.csv.gz", "x.parquet"])
def test_raw_text_is_told_and_recorded(tmp_path: Path, name: str) -> None:
    path = table(tmp_path, {"text": POSTS, "group": list("abab")}, name)
    records = read_sparse(path, column="text", class_column="group")
    assert dicts(records) == [{"cat": 1, "mat": 1, "sat": 1, "slept": 1}, {}, {"cat": 1, "dog": 1, "dogs": 1}, {}]
    assert labels(records) == list("abab")
    assert records.is_binary
    source = records.source
    assert (source.format, source.column, source.class_column) == ("text", "text", "group")
    assert dict(source.reading) == {
        "vectoriser": "CountVectorizer",
        "weights": "binary",
        "stop_words": "english",
        "token_pattern": r"(?u)\b\w\w+\b",
        "lowercase": True,
        "ngrams": 1,
    }


def test_counts_ngrams_and_stop_words(tmp_path: Path) -> None:
    path = table(tmp_path, {"text": POSTS, "id": list("1234")})
    records = read_sparse(path, column="text", weights="counts", stop_words="none", ngrams=2)
    first = dicts(records)[0]
    assert first["the"] == 3
    assert first["cat"] == 2
    assert first["the cat"] == 2
    assert records.weights.dtype == np.int64


def test_tfidf_is_not_normalised(tmp_path: Path) -> None:
    path = table(tmp_path, {"text": POSTS, "id": list("1234")})
    records = read_sparse(path, column="text", weights="tfidf")
    idf = {"cat": np.log(5 / 3) + 1, "sat": np.log(5 / 2) + 1}
    first = dicts(records)[0]
    assert first["cat"] == pytest.approx(2 * idf["cat"])
    assert first["sat"] == pytest.approx(idf["sat"])
    assert records.squares[0] > 4
    assert records.source.reading["vectoriser"] == "TfidfVectorizer"


def test_texts_without_words_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"x\.csv: no text holds a word"):
        read_sparse(table(tmp_path, {"text": ["the", "a !"], "id": ["1", "2"]}), column="text")


def test_without_scikit_learn_the_message_has_the_install_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.feature_extraction.text", None)
    with pytest.raises(MissingExtra, match=r'pip install "shoal\[mining\]"'):
        read_sparse(table(tmp_path, {"text": POSTS, "id": list("1234")}), column="text")


def test_a_folder_of_texts(tmp_path: Path) -> None:
    folder = tmp_path / "posts"
    for name, content in {
        "pets/1.txt": b"cat dog",
        "pets/2.txt.gz": gzip.compress(b"dog dog"),
        "food/1": "käse".encode("cp1252"),
        "food/2": b" \n",
        "food/.hidden": b"\0",
        ".git/x": b"secret",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    records = read_sparse(folder)
    assert dicts(records) == [{"käse": 1}, {}, {"cat": 1, "dog": 1}, {"dog": 1}]
    assert labels(records) == ["food", "food", "pets", "pets"]
    assert (records.source.format, records.source.name) == ("folder", "posts")
    assert records.source.reading["vectoriser"] == "CountVectorizer"
    assert any("1 files: read as Windows-1252" in note for note in records.source.notes)
    assert any("1 files: blank" in note for note in records.source.notes)
    alone = read_sparse(folder / "pets")
    assert dicts(alone) == dicts(records)[2:]
    assert alone.labels is None


def test_folders_that_are_no_texts(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no files"):
        read_sparse(tmp_path)
    (tmp_path / "a").mkdir()
    with pytest.raises(DataError, match="holds no files"):
        read_sparse(tmp_path)
    (tmp_path / "a" / "1").write_bytes(b"cat\0")
    with pytest.raises(DataError, match="1, line 1: holds a NUL"):
        read_sparse(tmp_path)
    (tmp_path / "2").write_bytes(b"dog")
    with pytest.raises(DataError, match="both files and folders"):
        read_sparse(tmp_path)
    with pytest.raises(DataError, match="is a file; give the folder"):
        read_sparse(tmp_path / "2", format="folder")
    (tmp_path / "2").unlink()
    (tmp_path / "a" / "b").mkdir()
    with pytest.raises(DataError, match="folder inside the folder of a class"):
        read_sparse(tmp_path)
    with pytest.raises(DataError, match="is a folder; give one file"):
        read_sparse(tmp_path, format="baskets")


@pytest.mark.slow
def test_newsgroups(shared_data: Path) -> None:
    path = shared_data / "newsgroups20" / "20news_bydate.csv.gz"
    records = read_sparse(path, column="text", class_column="group")
    assert (len(records), len(records.classes)) == (18_846, 20)
    assert records.n_occurring == records.n_items > 100_000
    assert records.is_binary
    assert records.source.format == "text"
