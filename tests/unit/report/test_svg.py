"""Pictures that stand inside a page."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from shoal.report.svg import clean
from shoal.report.tables import pictures

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x>',
    "]]><b>",
    "a -- b",
    "$x^2$",
    "\x00\x0b\u202e",
    "1.23456",
    ' id="z"',
    "#010101",
]


def texts(svg: str) -> list[str]:
    return [t.text or "" for t in ET.fromstring(svg).iter() if t.tag.endswith("text")]


def test_labels_are_escaped_and_unchanged() -> None:
    svg = pictures.bars(HOSTILE, [0.1] * 9, [0.2] * 9, alt='a "picture" of <things>')
    root = ET.fromstring(svg.replace("xlink:href", "href"))
    assert root.attrib["aria-label"] == 'a "picture" of <things>'
    assert root.attrib["role"] == "img"
    shown = texts(svg)
    for label in HOSTILE:
        assert clean(label, 19) in shown
