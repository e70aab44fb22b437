"""The section on attacks: what it shows, how it gets into a report, and that the report survives."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.attack.attack import Attacked
from shoal.attack.result import AttackResult, Rate
from shoal.errors import DataError, ShoalError
from shoal.kind import kind_named
from shoal.report import content
from shoal.report.attacks import (
    attacks_in_words,
    attacks_section,
    keep_in_report,
    note_on_page,
    refuse_foreign,
    verdict,
)
from shoal.report.content import ReportContent, draw_page, write_report
from shoal.report.tables.context import ReportContext
from shoal.report.tables.report import render_report, report_content
from shoal.secrets import PrivateFolder

HOSTILE = "<script>alert('x')</script>"


def result(name: str, main: Rate, control: Rate | None, sentence: str = "It got so much.") -> AttackResult:
    return AttackResult(name, f"title of {name}", "the release", main, control, Rate(1, 100), sentence)


WON = result("membership", Rate(90, 100), Rate(5, 100))
LOST = result("length", Rate(6, 100), Rate(5, 100))
FOUND: Attacked[object] = Attacked((WON, LOST), (("known-pairs", f"Nobody knows pairs {HOSTILE}."),))


@pytest.fixture
def private(tmp_path: Path, make_release: Callable[..., tuple[ReportContext, object]]) -> Path:
    folder = tmp_path / "private"
    folder.mkdir()
    write_report(folder, report_content(make_release()[0]))
    return folder


def keep(private: Path, found: Attacked[object] = FOUND) -> Path | None:
    return keep_in_report(PrivateFolder.at(private), "c0ffee", found, {"original": 9}, 0)


def test_it_tells_rates_remedies_and_what_was_not_run() -> None:
    text = str(attacks_section("sparse", FOUND))
    assert text.lstrip().startswith("<section")
    assert text.rstrip().endswith("</section>")
    assert "1 of 2 attacks achieved more with the release than without it: title of membership." in text
    known = {a.name: a for a in kind_named("sparse").attacks}
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
    assert "actually run" not in nothing
    assert "<svg" not in nothing


def test_what_a_release_of_its_make_says_of_an_attack_goes_before_what_is_said_of_all() -> None:
    found: Attacked[object] = Attacked(
        (replace(WON, remedy="sell no more of it"), replace(LOST, stopped_by="luck")), ()
    )
    for drawn in (attacks_section, attacks_in_words):
        text = str(drawn("sparse", found))
        assert "What to do: sell no more of it" in text
        assert "Meant to stop it: luck" in text


def test_an_attack_that_tried_nothing_is_shown_as_such() -> None:
    text = str(attacks_section("sparse", Attacked((result("length", Rate(0, 0), None),), ())))
    assert "not attempted" in text
    assert "nan" not in re.sub("<svg.*?</svg>", "", text, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("results", "says"),
    [
        ((), "No attack could be run."),
        ((LOST,), "The one attack achieved no more"),
        ((WON, LOST), "1 of 2 attacks achieved more"),
    ],
)
def test_one_sentence_on_all(results: tuple[AttackResult, ...], says: str) -> None:
    assert verdict(results).startswith(says)


def test_the_page_is_drawn_from_the_file_that_is_kept(
    private: Path, make_release: Callable[..., tuple[ReportContext, object]]
) -> None:
    page = (private / "report.html").read_text()
    assert page == render_report(make_release()[0])
    told = json.loads((private / "report.json").read_text())
    assert draw_page(ReportContent.from_dict(told), None) == page
    assert ReportContent.from_dict(told).to_dict() == told
    assert sorted(p.name for p in private.iterdir()) == ["report.html", "report.json"]
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o600 for p in private.iterdir())


def test_attacks_are_drawn_into_a_new_page_and_change_nothing_but_the_verdict(private: Path) -> None:
    before, kept = (private / "report.html").read_text(), (private / "report.json").read_bytes()
    assert keep(private) == private / "report.html"
    after = (private / "report.html").read_text()
    assert "title of membership" in after.lower()
    (head, old), (same_head, new) = (page.split("<h2>What attackers got</h2>") for page in (before, after))
    (title, _, guaranteed), (same_title, worst, same_guaranteed) = (
        re.split("<dt>Worst</dt>|</dl>", h, maxsplit=2) for h in (head, same_head)
    )
    assert title.replace("verdict amber", "verdict green") == same_title.replace("verdict amber", "verdict green")
    assert guaranteed == same_guaranteed
    assert "Title of membership: it got so much. What to do:" in worst
    old, new = old.partition("</section>")[2], new.partition("</section>")[2]
    words = re.search("<section>\n<h2>Every attack in words</h2>.*?</section>\n", new, re.DOTALL)
    assert words is not None
    assert "It got so much." in words[0]
    assert new.replace(words[0], "").split() == old.split()
    assert (private / "report.json").read_bytes() == kept
    keep(private)
    assert (private / "report.html").read_text() == after
    assert stat.S_IMODE((private / "report.html").stat().st_mode) == 0o600


def test_an_edited_page_is_drawn_anew(private: Path) -> None:
    keep(private)
    page = (private / "report.html").read_text()
    (private / "report.html").write_text("something else")
    keep(private, Attacked((), ()))
    assert (private / "report.html").read_text() == page
    assert note_on_page(PrivateFolder(private)) == ""


def test_a_release_folder_is_understood_too(private: Path) -> None:
    assert keep(private.parent) == private / "report.html"


def test_results_are_kept_where_no_report_is(tmp_path: Path) -> None:
    """As of a release that was saved without a report, or by a version that kept no report.json."""
    (tmp_path / "report.html").write_text("an old page")
    refuse_foreign(PrivateFolder(tmp_path), "c0ffee")
    assert keep(tmp_path) is None
    assert (tmp_path / "report.html").read_text() == "an old page"
    assert len(json.loads((tmp_path / "attacks.json").read_text())["results"]) == 2
    assert "no page shows them, for there is no report.json" in note_on_page(PrivateFolder(tmp_path))


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[]", b'{"shoal": "1", "kind": "shoes", "report": {}}'])
def test_what_is_no_content_is_refused_and_left(private: Path, text: bytes) -> None:
    (private / "report.json").write_bytes(text)
    page = (private / "report.html").read_bytes()
    with pytest.raises(DataError, match=r"report\.json"):
        refuse_foreign(PrivateFolder(private), "c0ffee")
    with pytest.raises(DataError, match=r"report\.json"):
        keep(private)
    assert (private / "report.html").read_bytes() == page


@pytest.mark.parametrize("name", ["absent", "publish"])
def test_what_is_no_private_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "publish").mkdir()
    (tmp_path / "publish" / "manifest.json").write_text("{}")
    with pytest.raises(DataError, match="private"):
        refuse_foreign(PrivateFolder(tmp_path / name), "c0ffee")


def test_a_report_that_cannot_be_written_is_as_it_was(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (private / "report.html").read_text()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(content, "write_owned", full)
    with pytest.raises(ShoalError, match="No space left on device; it is as it was"):
        keep(private)
    assert (private / "report.html").read_text() == page


def test_a_page_that_cannot_be_drawn_leaves_the_report(private: Path) -> None:
    page = (private / "report.html").read_text()
    (private / "report.json").write_text(json.dumps({"shoal": "9", "kind": "table", "report": {"sizes": 3}}))
    with pytest.raises(DataError, match="the page is as it was"):
        keep(private)
    assert (private / "report.html").read_text() == page
