"""The layout of a table in slices."""

from __future__ import annotations

from shoal.data.tables.slices import Layout


def test_a_layout_reads_back_and_names_every_column_once() -> None:
    layout = Layout.of([["age", "disease"], ["zip", "disease"], ["job"]])
    assert Layout.from_dict(layout.to_dict()) == layout
    assert len(set(layout.names)) == len(layout.names)
    assert layout.bucket in layout.names
    for part in layout.slices:
        for attribute in part.attributes:
            assert layout.attributes[part.column_of(attribute)] == attribute
    assert set(layout.attributes.values()) == {"age", "disease", "zip", "job"}
