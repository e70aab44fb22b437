"""The tests of `data/trajectories/files.py`: CSV, GPX and GeoJSON tell the same."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from shoal.data.trajectories.files import looks_like_tracks, read_trajectories
from shoal.errors import DataError

POINTS = [
    (37.5, -122.25, "2008-06-08T10:00:00Z", "a", "p"),
    (37.75, -122.5, "2008-06-08T10:05:00Z", "a", "p"),
    (37.5, -122.0, "2008-06-08T11:00:00Z", "b", "q"),
]


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def table(folder: Path) -> Path:
    rows = [",".join(map(str, point)) for point in POINTS]
    return write(folder, "points.csv", "\n".join(["lat,lon,time,trip,user", *rows, ""]))


def gpx(folder: Path) -> Path:
    tracks = []
    for trip, person in (("a", "p"), ("b", "q")):
        points = "".join(
            f'<trkpt lat="{y}" lon="{x}"><time>{t}</time></trkpt>' for y, x, t, of, _ in POINTS if of == trip
        )
        tracks.append(f"<trk><name>{person}</name><trkseg>{points}</trkseg></trk>")
    head = '<?xml version="1.0"?><gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">'
    return write(folder, "points.gpx", head + "".join(tracks) + "</gpx>")


def geojson(folder: Path, *, lines: bool) -> Path:
    features = []
    if lines:
        for trip, person in (("a", "p"), ("b", "q")):
            own = [p for p in POINTS if p[3] == trip]
            shape = {"type": "LineString", "coordinates": [[p[1], p[0]] for p in own]}
            told = {"user": person, "coordTimes": [p[2] for p in own]}
            features.append({"type": "Feature", "geometry": shape, "properties": told})
    else:
        for y, x, t, trip, person in POINTS:
            point = {"type": "Point", "coordinates": [x, y]}
            told = {"time": t, "trip": trip, "user_id": person}
            features.append({"type": "Feature", "geometry": point, "properties": told})
    return write(folder, "points.geojson", json.dumps({"type": "FeatureCollection", "features": features}))


def test_all_formats_tell_the_same(tmp_path: Path) -> None:
    first = read_trajectories(table(tmp_path))
    assert not looks_like_tracks(tmp_path / "points.csv")
    assert not looks_like_tracks(tmp_path / "nothing")
    others = [gpx(tmp_path)]
    assert all(looks_like_tracks(path) for path in others)
    for made in (
        read_trajectories(gpx(tmp_path)),
        read_trajectories(geojson(tmp_path, lines=True)),
        read_trajectories(geojson(tmp_path, lines=False)),
    ):
        for name in ("latitude", "longitude", "time", "starts", "persons"):
            assert np.array_equal(getattr(made, name), getattr(first, name)), name


def test_a_person_is_one_trajectory_if_asked(tmp_path: Path) -> None:
    path = write(tmp_path, "p.csv", "lat,lon,time,trip,user\n1,1,0,a,p\n1,1,60,b,p\n1,1,0,c,q\n")
    assert len(read_trajectories(path)) == 3
    assert len(read_trajectories(path, unit="person")) == 2
    alone = write(tmp_path, "t.csv", "lat,lon,time,trip\n1,1,0,a\n1,1,60,b\n")
    assert read_trajectories(alone).n_persons == 2
    with pytest.raises(DataError, match="name it with --person, or ask for --unit trip"):
        read_trajectories(alone, unit="person")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.gpx", "<gpx><trk><trkpt lat='1'></trkpt></trk></gpx>", "no latitude or longitude"),
        ("a.gpx", "<gpx><trk>", "not whole XML"),
        ("a.gpx", "<!DOCTYPE x [<!ENTITY a 'b'>]><gpx></gpx>", "declares entities"),
        ("a.gpx", "<gpx></gpx>", "holds no points"),
        ("a.gpx", "<gpx><trk><trkpt lat='1' lon='2'/></trk></gpx>", "no time is given for 1 of"),
        ("a.json", '{"type": "FeatureCollection", "features": 3}', "not GeoJSON"),
        (
            "a.json",
            '{"type": "Feature", "properties": {}, "geometry": {"type": "LineString", "coordinates": [[1, 2]]}}',
            "no list of times",
        ),
        (
            "a.json",
            '{"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": [1, 2]}}',
            "does not say whose it is",
        ),
    ],
)
def test_what_holds_no_tracks_is_refused(tmp_path: Path, name: str, text: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_trajectories(write(tmp_path, name, text))


def test_two_spellings_of_a_person_are_one(tmp_path: Path) -> None:
    rows = [f"37.5,1,{60 * i},{i},{name}" for i, name in enumerate(["A1", "a1 ", "\u00e1", "A\u0301", "b"])]
    path = write(tmp_path, "points.csv", "\n".join(["lat,lon,time,trip,user", *rows, ""]))
    made = read_trajectories(path)
    assert (len(made), made.n_persons) == (5, 3)
    assert len(read_trajectories(path, unit="person")) == 3


def test_it_is_noted_where_nothing_says_whose_a_trip_is(tmp_path: Path) -> None:
    path = write(tmp_path, "points.csv", "lat,lon,time,trip\n37.5,1,60,a\n37.5,1,60,b\n37.5,1,60,B \n")
    made = read_trajectories(path)
    assert (len(made), made.n_persons) == (3, 2)
    assert any("k counts trips" in note for note in made.source.notes)
    assert any("tracks of one name" in note for note in read_trajectories(gpx(tmp_path)).source.notes)
    assert not any("whose" in note for note in read_trajectories(table(tmp_path)).source.notes)
    line = {"type": "LineString", "coordinates": [[1, 37.5], [1, 37.6]]}
    told = {"type": "Feature", "geometry": line, "properties": {"coordTimes": ["2008-06-08T10:00:00Z"] * 2}}
    lines = write(tmp_path, "lines.geojson", json.dumps({"type": "FeatureCollection", "features": [told, told]}))
    made = read_trajectories(lines)
    assert (len(made), made.n_persons) == (2, 2)
    assert any("k counts trips" in note for note in made.source.notes)
