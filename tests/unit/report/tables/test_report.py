"""The owner's report: whole, safe, small, and silent about records."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.data.tables.attribute import Attribute
from shoal.report.tables.datasheet import render_datasheet
from shoal.report.tables.report import render_report

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x>',
    "' onload='alert(1)",
    "$\\frac{$ & co",
    "a\x00b\x1b[31m",
)
Make = Callable[..., Any]


class Page(HTMLParser):
    """Collects tags, attributes and text; knows which elements must be closed."""

    VOID = ("meta", "br", "img", "path", "use")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.unbalanced: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def safe(page: Page) -> None:
    assert not {"script", "img", "iframe", "object", "embed", "link", "form", "base"} & set(page.tags)
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert not [v for _, n, v in page.attributes if n == "src" or ("url(" in (v or "") and "#" not in (v or ""))]
    places = {v for _, n, v in page.attributes if n == "id"}
    assert {str(v) for _, n, v in page.attributes if n == "href"} <= {f"#{place}" for place in places}


def test_the_page_is_whole_and_has_its_policy(make_release: Make) -> None:
    page = Page(render_report(make_release()[0]))
    assert page.unbalanced == []
    assert page.open == []
    assert (
        "meta",
        "content",
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    ) in page.attributes
    safe(page)


def test_the_contents_list_every_section_before_the_appendix(make_release: Make) -> None:
    text = render_report(make_release()[0])
    listed = re.findall(r'<a href="#(\w+)">', text)
    body = text[text.index("<main") : text.index('id="appendix"')]
    assert listed == [*re.findall(r'<section id="(\w+)">', body), "appendix"]
    assert body.count("<section") == body.count("<section id=")


def test_pictures_have_no_ids_that_could_clash_and_a_text(make_release: Make) -> None:
    page = Page(render_report(make_release(n_columns=6)[0]))
    assert {t for t, n, _ in page.attributes if n == "id"} <= {"section", "h2"}
    places = [v for _, n, v in page.attributes if n == "id"]
    assert len(set(places)) == len(places)
    labels = [v for t, n, v in page.attributes if t == "svg" and n == "aria-label"]
    assert len(labels) == page.tags.count("svg") >= 8
    assert all(labels)


def test_every_guarantee_is_there(make_release: Make, make_guarantee: Make) -> None:
    both = (
        make_guarantee(),
        make_guarantee(
            "l-diversity",
            kind="entropy",
            sensitive="ill",
            required={"l": 2.0},
            achieved=2.41,
            sentence="Ill & well <stay> open.",
        ),
    )
    page = Page(render_report(make_release(guarantees=both)[0]))
    for g in both:
        assert g.sentence in page.text
    assert "k ≥ 5" in page.text
    assert "l = 2.41" in page.text
    assert "meets both guarantees required of it: 5-anonymity and entropy 2-diversity of ill." in page.text


def test_a_failed_guarantee_is_the_verdict(make_release: Make, make_guarantee: Make) -> None:
    context = make_release(guarantees=(make_guarantee(), make_guarantee(holds=False, required={"k": 9})))[0]
    page = Page(render_report(context))
    assert "This release does not meet 9-anonymity. It must not be published." in page.text
    assert "✗ fails" in page.text
    assert ("div", "class", "verdict red") in page.attributes


@pytest.mark.parametrize("text", HOSTILE)
def test_what_comes_from_the_data_is_escaped(make_release: Make, make_guarantee: Make, text: str) -> None:
    context, _ = make_release(sex=(text, "m"), title=text, notes=(text,))
    worst = replace(context.guarantees[0].worst[0], values={text: text})
    context = replace(
        context,
        guarantees=(make_guarantee(worst=(worst,), sentence=text, sensitive=text),),
        attributes={**context.attributes, text: Attribute(text, "nominal", "sensitive", why=text)},
        method={text: text},
        utility=replace(
            context.utility,
            attributes=tuple(replace(a, name=text) for a in context.utility.attributes),
            correlation=replace(context.utility.correlation, names=(text, text, text)),
        ),
    )
    written = render_report(context)
    page = Page(written)
    safe(page)
    assert page.unbalanced == []
    assert "<script" not in written
    assert "<img" not in written
    if text.isprintable():
        assert text in page.text


def test_records_are_not_in_the_report(make_release: Make) -> None:
    for publish in ("generalise", "aggregate"):
        text = render_report(make_release(publish=publish)[0])
        assert "unique-person" not in text
        assert "free text" not in text
        assert "seed" not in Page(text).text.replace("no seed", "")


def test_fifty_columns_stay_below_a_megabyte(make_release: Make) -> None:
    text = render_report(make_release(n_columns=50)[0])
    assert len(text.encode()) < 1_000_000
    page = Page(text)
    assert page.tags.count("svg") == 24  # class sizes, and 24 attributes less the one with too many values
    assert "30 further attributes are shown as numbers only" in page.text
    assert "extra 49" in page.text


def test_same_input_same_bytes(make_release: Make) -> None:
    assert render_report(make_release(n_columns=3)[0]) == render_report(make_release(n_columns=3)[0])


def test_headings_do_not_skip_a_level_and_tables_have_headers(make_release: Make) -> None:
    page = Page(render_report(make_release()[0]))
    levels = [int(t[1]) for t in page.tags if re.fullmatch(r"h[1-6]", t)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert page.tags.count("thead") == page.tags.count("table")
    headers = [v for t, n, v in page.attributes if t == "th" and n == "scope"]
    assert len(headers) == page.tags.count("th")


def test_a_page_without_measures_of_the_original(make_release: Make) -> None:
    page = Page(render_report(make_release(utility=None, risk_before=None, risk_after=None)[0]))
    assert page.unbalanced == []
    assert "svg" not in page.tags


def test_suppression_is_told(make_release: Make) -> None:
    assert "None. All 40 records" in Page(render_report(make_release()[0])).text
    text = Page(render_report(make_release(n_out=38, n_suppressed=2)[0])).text
    assert "2 of 40 records (5 %) were left out" in text


def test_importing_the_pages_imports_no_templates() -> None:
    code = "import sys, shoal.report.tables.report, shoal.report.tables.datasheet; print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("publish", ["generalise", "condense", "bucketize"])
def test_pages_speak_of_persons_where_persons_were_counted(publish) -> None:
    rng = np.random.default_rng(5)
    who = rng.integers(0, 40, 90)
    frame = pd.DataFrame({"who": who, "age": rng.integers(20, 60, 40)[who], "ill": rng.choice(list("abcdef"), 40)[who]})
    policy = shoal.Policy.of(quasi=["age"], sensitive=["ill"], person="who", k=3, publish=publish)
    release = shoal.anonymize(frame, policy, seed=1)
    facts = {name: told for name, _, told in release._report().shown["facts"]}
    if publish != "bucketize":
        assert facts["Smallest group"].startswith("persons, among")
    assert "Records that stand alone" not in facts
    page, sheet = render_report(release._context()), render_datasheet(release._context(is_public=True), release.table)
    if publish == "generalise":
        assert "of whom a record has quasi-identifiers that no other person has" in page
        assert "persons in the class" in page
    for text in (page, sheet):
        assert "at least 3 persons" in text
        assert "at least 3 records and meets" not in text
    assert "What is said of records can be recomputed" in sheet or publish != "generalise"
    assert "the owner alone knows whose each record is" in sheet or publish == "generalise"
