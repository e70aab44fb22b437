"""The public datasheet: from the published table alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.data.tables.frames import from_frame
from shoal.data.tables.table import encode_cells
from shoal.data.tables.write import write_table
from shoal.report.tables.datasheet import render_datasheet
from tests.unit.tables.publish.slices.people import asked, people

Make = Callable[..., Any]
HOSTILE = ("<script>alert(1)</script>", '"><img src=x>')


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_data(self, data: str) -> None:
        self.words += data


def test_it_is_made_from_the_published_table_alone(make_release: Make) -> None:
    """Whatever was measured on the original can change without a trace in the datasheet."""
    context, table = make_release()
    blind = replace(context, utility=None, risk_before=None, notes=("a secret",))
    attributes = {n: replace(a, why="another reason") for n, a in context.attributes.items()}
    assert render_datasheet(context, table) == render_datasheet(replace(blind, attributes=attributes), table)


def test_original_extremes_and_records_are_absent(make_release: Make) -> None:
    context, table = make_release(publish="aggregate")
    text = render_datasheet(context, table)
    assert "113" not in text
    assert "unique-person" not in text
    assert "free text" not in text


def test_no_cell_of_fewer_than_k_records_is_named(make_release: Make) -> None:
    context, table = make_release()
    ill = np.array(["flu"] * 30 + ["cold"] * 6 + ["plague"] * 4, dtype=object)
    table = table.with_columns({"ill": encode_cells("ill", ill)})
    text = render_datasheet(context, table)
    assert "plague" not in text
    assert "cold" not in text  # it hides the plague
    assert "flu" in text


def test_it_says_what_was_done_and_how_to_use_it(make_release: Make) -> None:
    context, table = make_release(n_out=38, n_suppressed=2)
    words = " ".join(Tags(render_datasheet(context, table)).words.split())
    for part in (
        "Every record looks like at least 4 others.",
        "Mondrian",
        "Records suppressed",
        "replaced by a range that covers its group",
        "kept as it was",
        "How to use it",
        "What not to do",
        "Limits",
    ):
        assert part in words
    assert "Do not try to find persons" in words


@pytest.mark.parametrize("text", HOSTILE)
def test_what_comes_from_the_data_is_escaped(make_release: Make, text: str) -> None:
    context, table = make_release(sex=(text, text), title=text)
    written = render_datasheet(context, table)
    assert "<script" not in written
    assert "<img" not in written
    assert text[:12] in Tags(written).words  # a long label is cut


def test_it_is_small_has_a_policy_and_is_the_same_every_time(make_release: Make) -> None:
    context, table = make_release(n_columns=50)
    text = render_datasheet(context, table)
    assert len(text.encode()) < 1_000_000
    assert "default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;; img-src data:" in text
    assert text.count("<svg") <= 24
    assert "Pictures of 30 further columns are left out to keep this page small" in text
    assert text == render_datasheet(*make_release(n_columns=50))


def test_without_the_table_the_columns_are_only_named(make_release: Make) -> None:
    context, _ = make_release()
    tags = Tags(render_datasheet(context))
    assert "svg" not in tags.seen
    assert "age" in tags.words
    assert "person" not in [w.strip() for w in tags.words.split("\n")]


def test_the_datasheet_does_not_name_the_source(tmp_path) -> None:
    write_table(from_frame({"age": list("11112222")}), tmp_path / "ward_seven.csv")
    shoal.anonymize(tmp_path / "ward_seven.csv", shoal.Policy.of(quasi=["age"], k=2)).save(tmp_path / "out")
    assert all("ward_seven" not in p.read_text() for p in (tmp_path / "out" / "publish").iterdir())


def test_published_pages_say_of_k_what_holds(tmp_path: Path) -> None:
    for publish in ("bucketize", "screen"):
        shoal.anonymize(people(), asked(publish, l=2), seed=1).save(tmp_path / publish)
        page = (tmp_path / publish / "publish" / "datasheet.html").read_text()
        assert "finds at least k records that fit equally well" not in page
