"""The pages of strings: what they hold, what they escape, what they never hold."""

from __future__ import annotations

import re

import numpy as np
import pytest

import shoal
from shoal.data.samples.proteins import protein_families
from shoal.data.strings.strings import Strings
from shoal.kinds.strings.policy import StringPolicy
from shoal.report.strings.datasheet import render_datasheet
from shoal.report.strings.report import render_string_report

EVIL = "<script>alert(1)</script>&\"'"


@pytest.fixture(scope="module")
def evil() -> tuple[shoal.StringRelease, Strings]:
    """Tokens and classes that try to get out of the page, and a rare token."""
    rng = np.random.default_rng(0)
    pages = np.array([EVIL, *(f"page{i}" for i in range(9))])
    rows = [[str(p) for p in rng.choice(pages, 12)] for _ in range(90)]
    rows[7].append("Zanzibar77")
    original = Strings.of(rows, [EVIL if i % 2 else "other" for i in range(90)])
    return shoal.anonymize(original, StringPolicy.of(k=10), seed=3), original


def test_pages_hold_no_script_and_fetch_nothing(evil: tuple[shoal.StringRelease, Strings]) -> None:
    release, _ = evil
    for page in (render_string_report(release), render_datasheet(release)):
        assert "<script" not in page
        assert "alert(1)" in page  # it is shown, escaped
        assert not re.search(r"(?:src|href)\s*=\s*[\"'](?!#|data:)", page)
        assert len(page) < 1_000_000


def test_no_rare_symbol_and_no_string_is_on_a_page(evil: tuple[shoal.StringRelease, Strings]) -> None:
    release, original = evil
    for page in (render_string_report(release), render_datasheet(release)):
        assert "Zanzibar77" not in page
        assert not any(" ".join(map(str, t)) in page for t in original.texts())


def test_the_report_shows_every_part() -> None:
    strings = protein_families(200, n_families=2, mean_length=20, unevenness=0.2, seed=2)
    page = render_string_report(shoal.anonymize(strings, StringPolicy.of(k=10)))
    for heading in (
        "What is guaranteed",
        "What was suppressed, and why",
        "What is not protected",
        "What stands verbatim in originals",
        "Composition before and after",
        "Lengths before and after",
        "Short runs and places",
        "Distances between groups",
        "Telling the classes apart",
        "How it was made",
    ):
        assert f">{heading}</h" in page, heading
    assert page.count("<svg") == 5
