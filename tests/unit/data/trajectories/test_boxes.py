"""The tests of `data/trajectories/boxes.py`: what is written is read back, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shoal.data.tables.table import Source
from shoal.data.trajectories.boxes import TrajectoryBoxes, boxes_file_name, read_boxes, write_boxes
from shoal.data.trajectories.grid import Grid3D
from shoal.errors import DataError

GRID = Grid3D(0.001, 300)


def boxes(format: str = "csv") -> TrajectoryBoxes:
    sides = np.array([[37_500, 37_503, -122_004, -122_001, 4_000_000, 4_000_002]] * 3) + np.arange(3)[:, None]
    starts = np.array([0, 2, 3])
    return TrajectoryBoxes(
        sides, np.array([7, 0, 3]), starts, np.array([2, 3]), np.array([3, 3]), GRID, Source(format=format)
    )


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_boxes_are_read_back(tmp_path: Path, format: str) -> None:
    made = boxes(format)
    path = tmp_path / boxes_file_name(made)
    write_boxes(made, path)
    again = read_boxes(path, GRID)
    for name in ("sides", "points", "starts", "persons", "trips"):
        assert np.array_equal(getattr(again, name), getattr(made, name)), name
    assert (len(again), again.n_trajectories) == (6, 2)
    assert again.take(np.array([1])).points.tolist() == [3]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("37.5,", "37.5004,", "do not stand on the grid"),
        (",7\n", ",7.5\n", "not a count"),
        ("\n2,", "\n3,", "not numbered in order"),
        ("trajectory,", "person,", "does not have the columns"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    path = tmp_path / "data.csv"
    write_boxes(boxes(), path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(DataError, match=says):
        read_boxes(path, GRID)
