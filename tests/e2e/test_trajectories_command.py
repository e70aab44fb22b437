"""Trajectories on the command line: every format there and back, and whatever is wrong with points, in one sentence."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import DATA, INFEASIBLE, POLICY, SECRET, Case, RunHere, assert_refused, write

N_PERSONS, N_POINTS = 12, 5
START = datetime(2024, 5, 6, 8, tzinfo=timezone.utc)
TRAJECTORIES = ("--kind", "trajectories")
Point = dict[str, Any]


def points() -> list[Point]:
    """Persons who walk side by side in two bunches, a point every five minutes."""
    return [
        {
            "person": f"{SECRET} {i}",
            "trip": f"t{i}",
            "time": (START + timedelta(minutes=5 * step, seconds=7 * i)).isoformat().replace("+00:00", "Z"),
            "lat": round(48 + (i % 2) * 0.05 + step * 0.002 + i * 1e-4, 6),
            "lon": round(9 + step * 0.003 - i * 1e-4, 6),
        }
        for i in range(N_PERSONS)
        for step in range(N_POINTS)
    ]


def as_csv(rows: list[Point], **changed: Callable[[int, Point], Any]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(row | {name: change(i, row) for name, change in changed.items()} for i, row in enumerate(rows))
    return text.getvalue()


def tracks(rows: list[Point]) -> Iterator[tuple[str, list[Point]]]:
    for person in dict.fromkeys(row["person"] for row in rows):
        yield person, [row for row in rows if row["person"] == person]


def as_gpx(rows: list[Point]) -> str:
    body = "".join(
        f"<trk><name>{person}</name><trkseg>"
        + "".join(f'<trkpt lat="{p["lat"]}" lon="{p["lon"]}"><time>{p["time"]}</time></trkpt>' for p in own)
        + "</trkseg></trk>"
        for person, own in tracks(rows)
    )
    return f'<?xml version="1.0"?><gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">{body}</gpx>'


def as_geojson(rows: list[Point]) -> str:
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "LineString", "coordinates": [[p["lon"], p["lat"]] for p in own]},
            "properties": {"person": person, "coordTimes": [p["time"] for p in own]},
        }
        for person, own in tracks(rows)
    ]
    return json.dumps({"type": "FeatureCollection", "features": features})


def seconds(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).replace(tzinfo=timezone.utc).timestamp()


def test_all_formats_give_the_same_boxes_and_every_point_lies_in_one(tmp_path: Path, run_here: RunHere) -> None:
    rows, published = points(), {}
    for name, text in (("a.csv", as_csv(rows)), ("b.gpx", as_gpx(rows)), ("c.geojson", as_geojson(rows))):
        write(tmp_path / name, text)
        out = f"out-{name}"
        options = (*TRAJECTORIES, "-k", "3", "--suppression", "0", "--metres", "20000")
        made = run_here("anonymize", name, *options, "--keep", "groups", "-o", out, cwd=tmp_path)
        assert (made.code, made.stderr) == (0, "")
        checked = run_here("check", out, "--original", name, "--private", f"{out}/private", cwd=tmp_path)
        assert checked.code == 0, checked.stdout + checked.stderr
        published[name] = (tmp_path / out / "publish" / "data.csv").read_text()
        told = "".join(p.read_text() for p in (tmp_path / out).rglob("*") if p.suffix in (".html", ".json", ".csv"))
        assert SECRET not in told + made.stdout
    assert len(set(published.values())) == 1
    boxes = json.loads((tmp_path / "out-b.gpx" / "publish" / "boxes.geojson").read_text())["features"]
    table = list(csv.DictReader(io.StringIO(published["a.csv"])))
    assert len(boxes) == len(table) > 0
    assert min(int(box["persons"]) for box in table) >= 3
    sides = [[min(c), max(c)] for box in boxes for c in zip(*box["geometry"]["coordinates"][0], strict=True)]
    shapes = list(zip(sides[::2], sides[1::2], strict=True))
    for row in rows:
        inside = [
            x[0] - 1e-9 <= row["lon"] <= x[1] + 1e-9
            and y[0] - 1e-9 <= row["lat"] <= y[1] + 1e-9
            and seconds(box["time_from"]) <= seconds(row["time"]) <= seconds(box["time_to"])
            for (x, y), box in zip(shapes, table, strict=True)
        ]
        assert any(inside), row


def given(text: str, *options: str, name: str = "points.csv", code: int = DATA, says: str) -> Any:
    def build(folder: Path) -> list[str | Path]:
        write(folder / name, text)
        return ["anonymize", name, *TRAJECTORIES, "-k", "3", *options, "-o", "out"]

    return pytest.param(Case(says, build, code, says), id=says)


ROWS = points()
BAD = [
    given(as_csv(ROWS, lat=lambda i, r: 95 if i == 3 else r["lat"]), says="latitude of 1 of the points"),
    given(as_csv(ROWS, lon=lambda i, r: 181 if i < 2 else r["lon"]), says="longitude of 2 of the points"),
    given(as_csv(ROWS, lat=lambda i, r: "" if i == 3 else r["lat"]), says="'lat' holds cells that are not numbers"),
    given(as_csv(ROWS, lat=lambda i, r: "north" if i == 3 else r["lat"]), says="not numbers; mend them"),
    given(as_csv(ROWS, time=lambda i, r: "" if i == 3 else r["time"]), says="no time is given for 1 of"),
    given(as_csv(ROWS, time=lambda i, r: "soon" if i == 3 else r["time"]), says="times|zone"),
    given(as_csv(ROWS, time=lambda i, r: r["time"].rstrip("Z") if i == 3 else r["time"]), says="name a time zone"),
    given(as_csv(ROWS, trip=lambda i, r: "t"), says="are of several persons"),
    given(as_csv(ROWS, person=lambda i, r: "" if i == 3 else r["person"]), says="is missing in 1 of 60 rows"),
    given(as_csv(ROWS).replace("lat,", "north,", 1), says="no column is known to hold the latitude"),
    given(as_csv(ROWS[:1]).split("\n")[0] + "\n", says="no rows|no points|empty"),
    given("", says="empty"),
    given(as_gpx(ROWS)[:-20], name="points.gpx", says="not whole XML"),
    given(as_geojson(ROWS).replace("coordTimes", "when"), name="points.json", says="no list of times"),
    given(as_csv(ROWS[: 2 * N_POINTS]), code=INFEASIBLE, says="there are 2 persons"),
    given(as_csv(ROWS), "--metres", "1", code=INFEASIBLE, says="allow larger ones"),
    given(as_csv(ROWS), "--metres", "0", code=POLICY, says="metres"),
    given(as_csv(ROWS), "--cell", "-1", code=POLICY, says="cell"),
    given(as_csv(ROWS), "--tau", "0", code=POLICY, says="tau"),
    given(as_csv(ROWS), "--latitude", "nord", code=DATA, says="nord"),
]


@pytest.mark.parametrize("case", BAD)
def test_points_that_cannot_be_end_in_one_sentence(case: Case, tmp_path: Path, run_here: RunHere) -> None:
    ended = run_here(*case.build(tmp_path), cwd=tmp_path)
    assert_refused(ended, case, tmp_path)
    assert not (tmp_path / "out").exists()


def moved(rows: list[Point], hours: float) -> list[Point]:
    zone = timezone(timedelta(hours=hours))
    return [
        row | {"time": datetime.fromisoformat(row["time"][:-1] + "+00:00").astimezone(zone).isoformat()} for row in rows
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (as_csv(ROWS[::-1]), "all were put in order"),
        (as_csv([*ROWS, ROWS[0]]), "given twice, with the same time and place: 1;"),
        (as_csv([*ROWS, ROWS[0] | {"lat": 48.0001}]), "with the time of another point of their trip: 1;"),
        (as_csv([row for i, row in enumerate(ROWS) if i // N_POINTS or not i % N_POINTS]), "trajectories of a single point: 1;"),
        (as_csv(ROWS, lat=lambda i, r: 48, lon=lambda i, r: 9), "all points are at one place"),
        (as_csv(ROWS, lon=lambda i, r: round((r["lon"] + 171) % 360 - 360 * (r["lon"] + 171 > 180), 6)), "meridian of 180"),
        (as_csv(moved(ROWS, -7)), "published in UTC"),
        (as_csv(ROWS, lat=lambda i, r: 49 if i == 2 else r["lat"]), "faster than 300 km/h"),
    ],
)  # fmt: skip
def test_odd_points_are_treated_as_told(text: str, says: str, tmp_path: Path, run_here: RunHere) -> None:
    write(tmp_path / "points.csv", text)
    options = (*TRAJECTORIES, "-k", "3", "--metres", "200000", "--suppression", "0.5", "--keep", "groups")
    made = run_here("anonymize", "points.csv", *options, "-o", "out", cwd=tmp_path)
    assert made.code == 0, made.stderr
    assert says in made.stdout
    check = ("check", "out", "--original", "points.csv", "--private", "out/private")
    assert run_here(*check, cwd=tmp_path).code == 0
