"""Releases of a few records, made so that an attack must find what is known of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.attack.tables.case import TableCase
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Table, encode_cells


def texts(name, cells):
    return encode_cells(name, np.array(cells, dtype=object))


def screened(zips, swapped):
    """The printed table of screening in small: zip codes of the first slice tell the secret of one row."""
    layout = Layout.of([["zip", "s"], ["age", "s"]])
    original = Table.of(
        [
            encode_cells("age", np.array([21, 22, 31, 32])),
            texts("zip", ["40101", "40201", "40202", "40203"]),
            texts("s", ["low", "mid", "high", "top"]),
        ]
    )
    order = np.array(swapped)
    published = Table.of(
        [
            encode_cells("bucket", np.ones(4, dtype=np.int64)),
            texts("zip", zips).take(order),
            replace(original["s"], name="s@1").take(order),
            texts("age", ["[21..32]"] * 4),
            replace(original["s"], name="s@2"),
        ]
    )
    attributes = {
        "age": Attribute("age", "continuous", "quasi"),
        "zip": Attribute("zip", "prefix", "quasi"),
        "s": Attribute("s", "nominal", "sensitive"),
    }
    return TableCase(published, original, None, ["age", "zip"], ["s"], attributes, "screen", layout)


def grouped(secrets, **more):
    """Classes of three records, whose secrets are given."""
    n = len(secrets)
    labels = [f"[{3 * (i // 3)}..{3 * (i // 3) + 2}]" for i in range(n)]
    original = Table.of([encode_cells("q", np.arange(n)), encode_cells("s", np.array(secrets, **more))])
    attributes = {
        "q": Attribute("q", "continuous", "quasi"),
        "s": Attribute("s", "nominal" if more else "continuous", "sensitive"),
    }
    published = original.with_columns({"q": texts("q", labels)})
    return TableCase(published, original, None, ["q"], ["s"], attributes, rows=np.arange(n))
