"""Published boxes as GeoJSON, for viewers: the same as the data, a rectangle each."""

from __future__ import annotations

import json

from shoal.data.trajectories.boxes import COLUMNS, TrajectoryBoxes

GEOJSON = "boxes.geojson"
_PLAIN = (*COLUMNS[:3], *COLUMNS[7:])


def geojson_of(boxes: TrajectoryBoxes) -> bytes:
    """The file, one line a box; it depends on the boxes alone, so that it can be compared with what it must be.

    Longitudes go on beyond 180 where the data crosses that meridian. Times are in UTC.
    """
    columns = {name: values.tolist() for name, values in boxes.columns().items()}
    for name in ("time_from", "time_to"):
        columns[name] = [f"{time.isoformat()}Z" for time in columns[name]]
    lines = []
    for south, north, west, east, *told in zip(
        *(columns[name] for name in COLUMNS[3:7]), *(columns[name] for name in _PLAIN), strict=True
    ):
        ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
        shape = {"type": "Polygon", "coordinates": [ring]}
        told_by_name = dict(zip(_PLAIN, told, strict=True))
        lines.append(json.dumps({"type": "Feature", "geometry": shape, "properties": told_by_name}))
    return ('{"type": "FeatureCollection", "features": [\n' + ",\n".join(lines) + "\n]}\n").encode()
