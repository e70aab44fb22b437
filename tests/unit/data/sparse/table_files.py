"""Tables with a column of items, as files."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def table(folder: Path, columns: dict[str, list[Any]], name: str = "x.csv") -> Path:
    path = folder / name
    if name.endswith(".parquet"):
        pq.write_table(pa.table(columns), path)
        return path
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path
