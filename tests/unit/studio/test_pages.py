"""Files that pages load, and that what they show is text."""

from __future__ import annotations

import hashlib
import json

import pytest

from shoal.studio.pages import HTMX, HTMX_CONFIG, HTMX_SHA256, STATIC, render, static_file


def test_the_vendored_file_is_the_one_that_was_looked_at_and_has_its_licence() -> None:
    assert hashlib.sha256((STATIC / HTMX).read_bytes()).hexdigest() == HTMX_SHA256
    assert "Permission to use, copy, modify" in (STATIC / "htmx-LICENSE.txt").read_text(encoding="utf-8")
    assert json.loads(HTMX_CONFIG)["allowEval"] is False


@pytest.mark.parametrize("name", ["../pages.py", "..", "", "none.js", "studio.py", "/etc/passwd", "page.html"])
def test_no_other_file_is_given_out(name: str) -> None:
    assert static_file(name) is None


def test_ours_are() -> None:
    for name in ("page.css", "studio.css", "studio.js", HTMX):
        found = static_file(name)
        assert found is not None
        assert found[0]


def test_what_is_shown_is_text() -> None:
    page = render("plain.html", sentence="<script>alert(1)</script>", title='"><img src=x onerror=alert(1)>')
    assert "<script>alert" not in page
    assert "<img" not in page
