"""The tests of `report/trajectories/pictures.py`."""

from __future__ import annotations

from shoal.report.trajectories.pictures import heat_maps


def test_maps_are_drawn_side_by_side() -> None:
    cells = [(37.7, -122.4), (37.71, -122.4)]
    both = heat_maps(cells, [0.5, 0.5], [1.0, 0.0], 0.01, "two maps")
    one = heat_maps(cells, None, [1.0, 0.0], 0.01, "one map")
    assert ">before<" in both
    assert ">after<" in both
    assert ">before<" not in one
    assert 'aria-label="two maps"' in both
