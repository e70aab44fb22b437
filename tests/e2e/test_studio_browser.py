"""The studio as a person sees it, in a browser: clicks, tabs, keyboards, small and large windows.

With SHOAL_PICTURES=1 the pictures of `docs/how-to/studio.md` are drawn anew.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from shoal.cli.studio import demo_samples
from shoal.studio.jobs import Job, start_process
from shoal.studio.session import Session
from shoal.studio.words import SCREENS
from tests.conftest import ROOT
from tests.e2e.studio_browser import browser, command, enter, needs_chromium, served, started
from tests.linked_samples import clinic, written
from tests.unit.studio.client import PEOPLE

pytestmark = [needs_chromium, pytest.mark.slow]
WIDTHS = (360, 768, 1280, 2560)
PICTURES = ROOT / "docs" / "how-to" / "studio"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with started() as found:
        yield found


@pytest.fixture
def samples(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    for name, n in (("N_PATIENTS", 400), ("N_PROTEINS", 120), ("N_BASKETS", 190), ("N_TRAVELLERS", 60)):
        monkeypatch.setattr(f"shoal.cli.demo.{name}", n)
    return demo_samples()


def test_from_nothing_to_a_checked_release_in_at_most_25_clicks(chromium: Any, tmp_path: Path) -> None:
    """The demonstration's table, with a process of its own for everything, and no typed word."""
    with command(tmp_path) as (process, address), browser(chromium) as window:
        person = enter(window, address)
        person.click("button", "A table of a clinic")
        person.sees("First rows")
        person.click("link", "Next: Columns")
        person.choose("diagnosis Role", "sensitive")
        person.sees("step 3")
        person.click("link", "Requirements")
        person.choose("Require also", "l-diversity")
        person.click("button", "Add")
        person.sees("l-diversity required|step 4")
        person.click("link", "Result")
        person.click("button", "Make the release")
        person.sees("What holds")
        person.click("link", "Release")
        person.click("button", "Write and check")
        person.sees("Written and checked")
        assert person.n_clicks <= 25
        (out,) = tmp_path.glob("*-release")
        assert (
            json.loads((out / "publish" / "manifest.json").read_text(encoding="utf-8"))["require"][1]["model"]
            == "l-diversity"
        )
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert process.stdout is not None
        said = process.stdout.read()
        assert "token" not in said
        assert "clinic" not in said


def test_the_same_of_other_kinds(chromium: Any, tmp_path: Path, samples: dict[str, Any]) -> None:
    with served(tmp_path, samples) as address, browser(chromium) as window:
        for sample in ("Proteins, as strings", "Baskets of items", "Trips through a town"):
            person = enter(window, address)
            person.click("button", sample)
            person.sees("First rows")
            for heading in ("Columns", "Context", "Hierarchies", "Requirements", "Sweep"):
                person.click("link", f"Next: {heading}")
            person.click("link", "Next: Result")
            person.click("button", "Make the release")
            person.sees("What holds")
            person.click("link", "Next: Attacks")
            person.click("link", "Next: Release")
            person.click("button", "Write and check")
            person.sees("Written and checked")
            person.click("link", "Next: History")
            person.sees("Every policy so far")
            assert person.n_clicks <= 25
            person.page.close()


def test_the_same_of_linked_tables(chromium: Any, tmp_path: Path) -> None:
    written(tmp_path, clinic(24))
    with served(tmp_path) as address, browser(chromium) as window:
        person = enter(window, address)
        for name in ("labs.csv", "patients.csv", "visits.csv"):
            person.click("checkbox", name)
        person.click("button", "Open")
        person.sees("it is not said what links them")
        person.choose("main table", "patients.csv")
        person.choose("link", "id")
        person.click("button", "Read again")
        person.sees("First rows")
        person.click("link", "Next: Columns")
        person.choose("labs value Role", "sensitive")
        person.sees("labs.value.role|step 4")
        person.click("link", "Result")
        person.click("button", "Make the release")
        person.sees("What holds")
        person.click("link", "Release")
        person.click("button", "Write and check")
        person.sees("Written and checked")
        assert person.n_clicks <= 25


def serious(page: Any) -> list[str]:
    """What axe finds on a page that is serious or worse."""
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found if one["impact"] in ("serious", "critical")
    ]


def test_every_screen_at_every_width_is_usable_and_has_no_serious_finding(
    chromium: Any, tmp_path: Path, samples: dict[str, Any]
) -> None:
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    with served(tmp_path, samples) as address, browser(chromium) as window:
        person = enter(window, address)
        page = person.page
        page.get_by_role("button", name="A table of a clinic").click()
        person.sees("First rows")
        at = page.url.rsplit("/", 1)[0]
        page.goto(f"{at}/hierarchies?column=2")
        page.get_by_role("button", name="Automatic bands").click()
        person.sees("It knows all")
        page.goto(f"{at}/sweep")
        page.get_by_label("k", exact=True).fill("5,10,20")
        page.get_by_role("button", name="Try them").click()
        page.locator("a.point").first.wait_for()
        page.goto(f"{at}/result")
        page.get_by_role("button", name="Make the release").click()
        person.sees("What holds")
        page.goto(f"{at}/release")
        page.get_by_role("button", name="Write and check").click()
        person.sees("Written and checked")
        for screen in ("", *SCREENS):
            page.emulate_media(color_scheme="light")
            page.goto(f"{at}/{screen}" if screen else "/".join(at.split("/")[:3]))
            page.evaluate(axe)
            assert serious(page) == [], screen
            if screen in ("columns", "sweep", "result", "history"):  # which have all colours between them
                page.emulate_media(color_scheme="dark")
                assert serious(page) == [], f"{screen}, dark"
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate("() => document.documentElement.scrollWidth") <= width, (screen, width)
        page.evaluate("() => document.querySelector('main').append(document.createElement('button'))")
        assert [found.split(":")[0] for found in serious(page)] == ["button-name"]  # what is planted is found
        if os.environ.get("SHOAL_PICTURES"):
            draw(page, at)


def draw(page: Any, at: str) -> None:
    """The pictures of the documentation."""
    PICTURES.mkdir(exist_ok=True)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 600})
    for screen in ("columns", "sweep", "result"):
        page.goto(f"{at}/{screen}")
        page.screenshot(path=PICTURES / f"{screen}.png")
    page.emulate_media(color_scheme="dark")
    page.goto(f"{at}/release")
    page.screenshot(path=PICTURES / "release-dark.png")


def test_two_tabs_see_each_other_and_a_page_works_without_script(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    with served(tmp_path) as address:
        with browser(chromium) as window:
            first = enter(window, address)
            first.page.get_by_label("people.csv").check()
            first.click("button", "Open")
            first.sees("First rows")
            first.click("link", "Requirements")
            second = window.new_page()
            second.goto(first.page.url)
            second.get_by_label("k", exact=True).fill("7")
            second.get_by_label("k", exact=True).press("Tab")
            second.locator("aside").get_by_text("k = 7").wait_for()
            first.page.bring_to_front()
            first.page.locator("aside").get_by_text("k = 7").wait_for()
            first.choose("effort", "best")
            first.page.locator("aside").get_by_text('effort = "best"').wait_for()
            second.get_by_label("k", exact=True).fill("much")
            second.get_by_label("k", exact=True).press("Tab")
            second.get_by_role("alert").get_by_text("it must be a valid integer").wait_for()
            second.reload()
            assert second.get_by_label("k", exact=True).input_value() == "7"
            second.keyboard.press("Tab")
            assert second.evaluate("() => document.activeElement.textContent") == "Skip to the page"
        with browser(chromium, java_script_enabled=False) as window:
            page = enter(window, address).page
            page.goto(f"{'/'.join(address.split('/')[:3])}/people-1/columns")
            page.get_by_role("combobox", name="disease Role").select_option("sensitive")
            page.get_by_role("button", name="Save").first.click()
            page.locator("aside").get_by_text('disease = { role = "sensitive"').wait_for()


def test_what_is_typed_while_a_change_is_on_its_way_is_not_lost(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    with served(tmp_path) as address, browser(chromium) as window:
        person = enter(window, address)
        person.page.get_by_label("people.csv").check()
        person.click("button", "Open")
        person.sees("First rows")
        person.click("link", "Context")
        page, waiting = person.page, []
        page.route("**/context", lambda sent: waiting.append(sent) if not waiting else sent.continue_())
        page.get_by_label("title", exact=True).fill("A title")
        page.get_by_label("title", exact=True).press("Tab")
        while not waiting:
            page.wait_for_timeout(20)
        page.get_by_label("purpose", exact=True).fill("A purpose")  # and left, so that it is to be sent too
        page.get_by_label("contact", exact=True).press_sequentially("A cont")
        waiting[0].continue_()
        page.locator("aside").get_by_text('purpose = "A purpose"').wait_for()
        page.keyboard.press("Tab")
        page.locator("aside").get_by_text('contact = "A cont"').wait_for()
        assert page.get_by_label("title", exact=True).input_value() == "A title"


def test_work_goes_on_after_a_closed_tab_and_can_be_stopped(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")

    def start(session: Session, job: Job) -> None:
        """As a worker would, but without an end of its own."""
        import fcntl

        if job.verb != "make":
            start_process(session, job)
            return
        handle = os.open(job.folder / "lock", os.O_RDWR)
        fcntl.flock(handle, fcntl.LOCK_EX)
        asleep = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
        process = subprocess.Popen(asleep, pass_fds=(handle,), start_new_session=True)
        os.close(handle)
        job.write("pid", process.pid)
        job.write("progress.json", ["improving groups", 2, 9])

    with served(tmp_path, start=start) as address, browser(chromium) as window:
        person = enter(window, address)
        person.page.get_by_label("people.csv").check()
        person.click("button", "Open")
        person.sees("First rows")
        person.click("link", "Result")
        person.click("button", "Make the release")
        person.sees("improving groups, 2 of 9")
        person.page.close()
        again = window.new_page()
        again.goto(f"{'/'.join(address.split('/')[:3])}/people-1/result")
        again.get_by_text("improving groups, 2 of 9").wait_for()
        again.get_by_role("button", name="Stop").click()
        again.get_by_text("It was stopped; nothing was written.").wait_for()
        assert again.get_by_role("button", name="Make the release").is_enabled()


def test_a_server_that_is_killed_loses_nothing(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    with browser(chromium) as window:
        for k in (6, 7):
            with command(tmp_path) as (process, address):
                person = enter(window, address)
                if k == 6:
                    person.page.get_by_label("people.csv").check()
                    person.click("button", "Open")
                    person.sees("First rows")
                page = person.page
                page.goto(f"{'/'.join(address.split('/')[:3])}/people-1/requirements")
                page.get_by_label("k", exact=True).fill(str(k))
                page.get_by_label("k", exact=True).press("Tab")
                page.locator("aside").get_by_text(f"k = {k}").wait_for()
                page.close()
                process.kill()
                process.wait(60)
    session = Session(tmp_path / ".shoal-studio" / "people-1")
    assert [step.what for step in session.steps()][2:] == [f"k-anonymity.k = {k}" for k in (6, 7)]
