"""The loader of sliced releases, and the sampler of plausible records."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from shoal.data.tables.read_slices import read_slices, sample_records, slice_frames
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Table, encode_cells
from shoal.data.tables.write import write_table
from shoal.errors import DataError

LAYOUT = Layout.of([["age", "pay"], ["zip", "job", "pay"]])
ROWS = [
    ("1", "[20..29]", "low", "48***", "{cook, nurse}", "high"),
    ("1", "[20..29]", "high", "48***", "{cook, nurse}", "low"),
    ("1", "30", "low", "04810", "cook", "low"),
    ("2", "[40..45]", "mid", "*", None, "low"),
    ("2", "[40..45]", "low", "04811", "clerk", "mid"),
]


def published():
    cells = np.empty((len(ROWS), 6), dtype=object)
    cells[:] = ROWS
    return Table.of(encode_cells(n, cells[:, i]) for i, n in enumerate(LAYOUT.names))


@pytest.fixture
def folder(tmp_path):
    write_table(published(), tmp_path / "data.csv")
    content = {"data": "data.csv", "delimiter": ",", "missing_markers": ["", "?"], "layout": LAYOUT.to_dict()}
    (tmp_path / "manifest.json").write_text(json.dumps(content), encoding="utf-8")
    return tmp_path


def test_one_frame_a_slice(folder):
    first, second = read_slices(folder)
    assert list(first) == ["bucket", "age", "pay"]
    assert list(second) == ["bucket", "zip", "job", "pay"]
    assert first["bucket"].tolist() == [1, 1, 1, 2, 2]
    assert second["zip"].tolist() == ["48***", "48***", "04810", "*", "04811"]
    assert second["job"][3] is None


def test_the_release_folder_itself_is_understood(folder, tmp_path):
    (tmp_path / "publish").mkdir()
    for name in ("data.csv", "manifest.json"):
        (tmp_path / name).rename(tmp_path / "publish" / name)
    assert len(read_slices(tmp_path)) == 2


def test_codes_with_a_zero_in_front_stay_texts():
    cells = {"bucket": ["1", "1"], "zip": ["04810", "48100"], "age": ["30", "31.5"]}
    table = Table.of(encode_cells(n, np.array(c, dtype=object)) for n, c in cells.items())
    (frame,) = slice_frames(table, Layout.of([["zip", "age"]]))
    assert frame["zip"].tolist() == ["04810", "48100"]
    assert frame["age"].tolist() == [30.0, 31.5]


def rows_of(frame, names):
    return Counter(zip(*(frame[n].tolist() for n in names), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_every_row_is_used_once_and_joined_on_what_is_shared(folder, seed):
    slices = read_slices(folder)
    sample = sample_records(slices, seed)
    assert list(sample) == ["bucket", "age", "pay", "zip", "job"]
    for frame in slices:
        assert rows_of(sample, list(frame)) == rows_of(frame, list(frame))


def test_a_seed_makes_the_same_sample_and_another_another(folder):
    slices = read_slices(folder)
    samples = [{k: v.tolist() for k, v in sample_records(slices, s).items()} for s in (1, 1, *range(2, 12))]
    assert samples[0] == {k: v.tolist() for k, v in sample_records(folder, 1).items()}
    assert samples[0] == samples[1]
    assert any(s != samples[0] for s in samples[2:])


def test_without_shared_columns_the_bucket_is_all_that_binds():
    rng = np.random.default_rng(0)
    bucket = np.repeat(np.arange(1, 4), 5)
    slices = [{"bucket": bucket, n: rng.integers(3, size=15)} for n in "ab"]
    met = Counter()
    for seed in range(200):
        sample = sample_records(slices, seed)
        for frame in slices:
            assert rows_of(sample, list(frame)) == rows_of(frame, list(frame))
        met[tuple(sample["b"].tolist())] += 1
    assert len(met) > 20


def test_labels_are_drawn_from_what_they_cover(folder):
    ages, jobs = set(), set()
    slices = read_slices(folder)
    for seed in range(300):
        sample = sample_records(slices, seed, draw=True)
        ages.update(sample["age"][sample["bucket"] == 1].tolist())
        jobs.update(sample["job"].tolist())
        assert set(sample["zip"].tolist()) <= {"48***", "04810", "04811"}  # no known code begins with 48
        assert rows_of(sample, ["bucket", "pay"]) == rows_of(slices[0], ["bucket", "pay"])
    assert ages == {*range(20, 30), 30}
    assert jobs == {"cook", "nurse", "clerk", None}


def test_ranges_of_fractions_and_dates_are_drawn_inside():
    frame = {
        "bucket": np.array([1, 1]),
        "x": np.array(["[0.5..1.5]", "[0.5..1.5]"], dtype=object),
        "day": np.array(["[2020-01-30..2020-02-02]", "2020-01-01"], dtype=object),
        "word": np.array(["[a..b]", "{p, q}"], dtype=object),
    }
    sample = sample_records([frame], 3, draw=True)
    assert all(0.5 <= x <= 1.5 for x in sample["x"])
    assert {"2020-01-30", "2020-01-31", "2020-02-01", "2020-02-02", "2020-01-01"} >= set(sample["day"].tolist())
    assert "[a..b]" in sample["word"].tolist()


def test_slices_that_do_not_fit_are_refused(folder):
    slices = read_slices(folder)
    slices[1]["pay"] = slices[1]["pay"][::-1].copy()
    with pytest.raises(DataError, match="same buckets or shared values"):
        sample_records(slices, 0)
    with pytest.raises(DataError, match="no slices"):
        sample_records([], 0)


def test_a_folder_without_slices_is_refused(tmp_path):
    with pytest.raises(DataError, match="no manifest"):
        read_slices(tmp_path)
    (tmp_path / "manifest.json").write_text('{"data": "data.csv"}', encoding="utf-8")
    with pytest.raises(DataError, match="no sliced table"):
        read_slices(tmp_path)
