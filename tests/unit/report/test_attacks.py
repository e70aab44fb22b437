"""The section on attacks: what it shows, how it gets into a report, and that the report survives."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from shoal.attack.attack import Attacked
from shoal.attack.result import AttackResult, Rate
from shoal.attack.run import attacks_of
from shoal.errors import DataError, ShoalError
from shoal.report import attacks
from shoal.report.attacks import BEGIN, END, attacks_section, put_into_report

HOSTILE = "<script>alert('x')</script>"


def result(name: str, main: Rate, control: Rate | None, sentence: str = "It got so much.") -> AttackResult:
    return AttackResult(name, f"title of {name}", "the release", main, control, Rate(1, 100), sentence)


WON = result("membership", Rate(90, 100), Rate(5, 100))
LOST = result("length", Rate(6, 100), Rate(5, 100))
FOUND: Attacked[object] = Attacked((WON, LOST), (("known-pairs", f"Nobody knows pairs {HOSTILE}."),))
PAGE = f"<h1>Report</h1>\n{BEGIN}\nthe old section\n{END}\n<p>behind</p>\n"


@pytest.fixture
def private(tmp_path: Path) -> Path:
    (tmp_path / "report.html").write_text(PAGE)
    return tmp_path


def test_it_tells_rates_remedies_and_what_was_not_run() -> None:
    text = str(attacks_section("sparse", FOUND))
    assert text.startswith(BEGIN)
    assert text.endswith(END)
    assert "1 of 2 attacks got more from the release than without it: title of membership." in text
    known = {a.name: a for a in attacks_of("sparse")}
    assert f"What to do: {known['membership'].remedy}" in text
    assert f"Meant to stop it: {known['length'].stopped_by}" in text
    assert known["length"].remedy not in text
    assert f"Not run: {known['known-pairs'].title}" in text
    assert "90.0 % (82.6 to 94.5)" in text
    assert text.count("<svg") == 1


def test_what_an_attack_says_is_escaped() -> None:
    found: Attacked[object] = Attacked((result("length", Rate(1, 9), None, HOSTILE),), FOUND.skipped)
    text = str(attacks_section("sparse", found))
    assert HOSTILE not in text
    assert text.count("&lt;script&gt;") == 2


def test_without_results_it_says_how_to_get_some() -> None:
    assert "shoal attack" in attacks_section("table", None)
    nothing = str(attacks_section("sparse", Attacked((), FOUND.skipped)))
    assert "No attack could be run." in nothing
    assert "<svg" not in nothing


def test_an_attack_that_tried_nothing_is_shown_as_such() -> None:
    text = str(attacks_section("sparse", Attacked((result("length", Rate(0, 0), None),), ())))
    assert "not attempted" in text
    assert "nan" not in re.sub("<svg.*?</svg>", "", text, flags=re.DOTALL)


def test_the_section_replaces_the_old_one_and_nothing_else(private: Path) -> None:
    assert put_into_report(private, "sparse", FOUND) == private / "report.html"
    first = (private / "report.html").read_text()
    assert first.startswith(f"<h1>Report</h1>\n{BEGIN}")
    assert first.endswith(f"{END}\n<p>behind</p>\n")
    assert "the old section" not in first
    put_into_report(private, "sparse", FOUND)
    assert (private / "report.html").read_text() == first
    assert (private / "report.html").stat().st_mode & 0o077 == 0
    assert [p.name for p in private.iterdir()] == ["report.html"]


def test_a_release_folder_is_understood_too(private: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "private").mkdir(parents=True)
    (private / "report.html").rename(out / "private" / "report.html")
    assert put_into_report(out, "sparse", FOUND) == out / "private" / "report.html"


@pytest.mark.parametrize("page", [None, b"", b"<h1>Report</h1>", f"{END}{BEGIN}".encode(), b"\xff\xfe", BEGIN.encode()])
def test_what_is_no_report_is_refused_and_left(tmp_path: Path, page: bytes | None) -> None:
    path = tmp_path / "report.html"
    if page is not None:
        path.write_bytes(page)
    with pytest.raises(DataError, match=r"report\.html"):
        put_into_report(tmp_path, "sparse", FOUND)
    assert (path.read_bytes() if path.exists() else None) == page


def test_a_report_that_cannot_be_written_is_as_it_was(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ShoalError, match="No space left on device; it is as it was"):
        put_into_report(private, "sparse", FOUND)
    monkeypatch.undo()
    assert (private / "report.html").read_text() == PAGE
    assert [p.name for p in private.iterdir()] == ["report.html"]


def test_a_section_that_cannot_be_made_leaves_the_report(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError

    monkeypatch.setattr(attacks, "attacks_section", broken)
    with pytest.raises(KeyError):
        put_into_report(private, "sparse", FOUND)
    assert (private / "report.html").read_text() == PAGE
    assert [p.name for p in private.iterdir()] == ["report.html"]


def test_results_that_the_page_alone_tells_outlive_a_run_that_ends_between_its_files(
    private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_into_report(private, "sparse", FOUND)  # as a version did that kept no results beside the page
    write = put_into_report

    def end(*given: object, **more: object) -> Path:
        if (private / "attacks.json").exists():
            raise KeyboardInterrupt
        return write(*given, **more)

    monkeypatch.setattr(attacks, "put_into_report", end)
    with pytest.raises(KeyboardInterrupt):
        attacks.keep_in_report(private, "sparse", "c0ffee", Attacked((), ()), {"original": 9}, 0)
    monkeypatch.setattr(attacks, "put_into_report", write)
    attacks.keep_in_report(private, "sparse", "c0ffee", Attacked((), ()), {"original": 9}, 0)
    page = (private / "report.html").read_text()
    assert page.count("title of membership.") == 1
    assert "What attackers got in earlier runs" in page
