"""Read trajectories: tables of points (CSV, Parquet), GPX tracks, GeoJSON of points or lines."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from shoal.data.sniff import Look, look
from shoal.data.tables.files import read_table
from shoal.data.tables.persons import person_codes
from shoal.data.tables.table import Source, Table, encode_cells
from shoal.data.trajectories.columns import NAMES, Wanted, find_columns, names_in, numbers_in, parse_times, times_in
from shoal.data.trajectories.trajectories import Trajectories
from shoal.data.whole_text import load_text
from shoal.errors import DataError

Unit = Literal["trip", "person"]
NOBODY_NAMED = (
    "nothing says whose a trip is, so each counts as that of another person: if a person may have several, k counts "
    "trips and not persons; name the column that says whose (--person)"
)
TRACKS_OF_PERSONS = (
    "tracks of one name count as one person's, and others each as another's: name tracks by their persons before, or "
    "give a table with a column that says whose each is"
)
TIMES_OF_A_LINE = ("coordTimes", "times", "timestamps")


def looks_like_tracks(path: str | os.PathLike[str]) -> bool:
    """Whether a file surely holds trajectories: GPX, or GeoJSON."""
    try:
        return _format_of(look(path)) is not None
    except DataError:
        return False


def _format_of(seen: Look) -> str | None:
    start = seen.sample[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<") and b"<gpx" in start:
        return "gpx"
    is_json = start.startswith(b"{") and (b'"FeatureCollection"' in start or b'"Feature"' in start)
    return "geojson" if is_json else None


def read_trajectories(
    path: str | os.PathLike[str], *, unit: Unit = "trip", header: str | None = None, wanted: Wanted | None = None
) -> Trajectories:
    """Read a file, whose format is told by its content.

    Parameters
    ----------
    unit : {"trip", "person"}
        What one trajectory is: a trip, or all points of a person.
    header, wanted
        Of tables: whether the first line names the columns, and which of them mean what.

    Raises
    ------
    DataError
        If it is not there, or does not hold points with times.
    """
    where = Path(path)
    known = _format_of(look(where))
    if known is None:
        return points_in(read_table(where, header=header), unit=unit, wanted=wanted)
    text = load_text(where)
    rows = list(_gpx_points(where, text.data) if known == "gpx" else _geojson_points(where, text.data))
    if not rows:
        raise DataError(f"{where}: holds no points with times; give tracks, not routes or places alone")
    lat, lon, times, trips, persons = (list(column) for column in zip(*rows, strict=True))
    if any(time is None for time in times):
        raise DataError(
            f"{where}: no time is given for {sum(t is None for t in times):,} of the points; leave them out"
        )
    seconds, notes = parse_times([str(time) for time in times])
    if known == "gpx" or any(person is None for person in persons):
        notes = (*notes, TRACKS_OF_PERSONS if known == "gpx" else NOBODY_NAMED)
    named = [trip if person is None else person for trip, person in zip(trips, persons, strict=True)]
    persons = person_codes(Table.of([encode_cells("person", np.array(named, object))]), ["person"]).tolist()
    source = Source(name="data", format="csv", notes=notes)
    return Trajectories.of(lat, lon, seconds, persons if unit == "person" else trips, persons, source=source)


def points_in(table: Table, *, unit: Unit = "trip", wanted: Wanted | None = None) -> Trajectories:
    """The trajectories of a table of points, a row each; see `read_trajectories`."""
    found = find_columns(table.names, wanted or Wanted())
    lat, lon = (numbers_in(table[found[name]]) for name in ("latitude", "longitude"))
    seconds, notes = times_in(table[found["time"]])
    person = person_codes(table, [found["person"]]) if "person" in found else None
    if unit == "person" and person is None:
        raise DataError("no column says whose a point is; name it with --person, or ask for --unit trip")
    trip = person if unit == "person" or "trip" not in found else names_in(table, found["trip"])
    if person is None:
        person, notes = person_codes(table, [found["trip"]]), (*notes, NOBODY_NAMED)
    described = replace(table.source, name="data", notes=(*table.source.notes, *notes))
    assert trip is not None  # else no column was found
    return Trajectories.of(lat, lon, seconds, trip, person, source=described)


Point = tuple[float, float, Any, str, str | None]


def _gpx_points(path: Path, data: bytes) -> Iterator[Point]:
    """The points of all tracks; tracks of one name are of one person, others each of another one."""
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise DataError(f"{path}: declares entities, which GPX files do not need; export it again")
    from xml.etree import ElementTree  # read by few, and not loaded by all

    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise DataError(f"{path}: is not whole XML (line {error.position[0]:,}); export it again") from None
    for i, track in enumerate(root.iterfind(f".//{_any('trk')}")):
        name = track.findtext(_any("name")) or f"track {i}"
        for point in track.iterfind(f".//{_any('trkpt')}"):
            try:
                place = float(point.attrib["lat"]), float(point.attrib["lon"])
            except (KeyError, ValueError):
                raise DataError(f"{path}: a point has no latitude or longitude; export it again") from None
            yield *place, point.findtext(_any("time")), str(i), name


def _any(tag: str) -> str:
    return f"{{*}}{tag}"


def _geojson_points(path: Path, data: bytes) -> Iterator[Point]:
    """Points with the time in their properties, or lines with a list of times."""
    try:
        content = json.loads(data)
        features = content["features"] if content["type"] == "FeatureCollection" else [content]
        for i, feature in enumerate(features):
            told = feature.get("properties") or {}
            plain = {"".join(c for c in str(n).casefold() if c.isalpha()): v for n, v in told.items()}
            person, trip, time = (
                next((plain[word] for word in NAMES[name] if word in plain), None)
                for name in ("person", "trip", "time")
            )
            shape = feature["geometry"]
            if shape["type"] == "Point":
                if person is None and trip is None:
                    raise DataError(f"{path}: a point does not say whose it is; give it a property person or trip")
                lon, lat = shape["coordinates"][:2]
                yield (
                    float(lat),
                    float(lon),
                    time,
                    str(person if trip is None else trip),
                    None if person is None else str(person),
                )
            elif shape["type"] == "LineString":
                times = next((told[name] for name in TIMES_OF_A_LINE if name in told), None)
                if times is None or len(times) != len(shape["coordinates"]):
                    raise DataError(f"{path}: a line has no list of times (coordTimes), one a point; add it")
                for (lon, lat, *_), when in zip(shape["coordinates"], times, strict=True):
                    yield float(lat), float(lon), when, str(i), None if person is None else str(person)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(f"{path}: is not GeoJSON of points or lines; export it again") from None
