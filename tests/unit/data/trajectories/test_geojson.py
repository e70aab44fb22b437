"""The tests of `data/trajectories/geojson.py`."""

from __future__ import annotations

import json

import numpy as np

from shoal.data.trajectories.boxes import COLUMNS, TrajectoryBoxes
from shoal.data.trajectories.geojson import geojson_of
from shoal.data.trajectories.grid import Grid3D


def test_every_box_is_a_rectangle_with_what_the_table_says() -> None:
    sides = np.array([[10, 12, -5, -4, 0, 1], [20, 20, 7, 9, 3, 3]])
    counts = np.array([2, 3])
    boxes = TrajectoryBoxes(sides, np.array([4, 5]), np.array([0, 1, 2]), counts, counts, Grid3D(0.001, 300))
    features = json.loads(geojson_of(boxes))["features"]
    assert len(features) == 2
    assert features[0]["geometry"]["coordinates"] == [
        [[-0.005, 0.01], [-0.003, 0.01], [-0.003, 0.013], [-0.005, 0.013], [-0.005, 0.01]]
    ]
    told = features[1]["properties"]
    assert set(told) == set(COLUMNS) - {"lat_from", "lat_to", "lon_from", "lon_to"}
    assert (told["trajectory"], told["persons"], told["points"]) == (2, 3, 5)
    assert (told["time_from"], told["time_to"]) == ("1970-01-01T00:15:00Z", "1970-01-01T00:20:00Z")
