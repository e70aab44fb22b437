"""The commands on pages for those who come from other tools are run as they stand there."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import shoal
from shoal.data.samples.clinic import clinic, diagnosis_hierarchy
from tests.e2e.command import RunHere
from tests.e2e.studio_browser import browser, needs_chromium, started

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("how-to/from-arx.md", "how-to/from-sdcmicro.md")


def commands(page: str) -> list[list[str]]:
    blocks = re.findall(r"```console\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    return [shlex.split(line) for line in lines]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_the_page_works(
    page: str, tmp_path: Path, run_here: RunHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    people = clinic(400)
    rows = zip(*people.values(), strict=True)
    lines = [",".join(people), *(",".join("" if cell is None else f"{cell}" for cell in row) for row in rows)]
    Path("people.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    diagnosis_hierarchy().write("diagnosis.csv")
    found = commands(page)
    assert len(found) >= 3
    for name, *words in found:
        assert name == "shoal"
        done = run_here(*words)
        assert done.code == 0, (words, done.stderr)


def test_text_files_and_pipes_as_the_page_on_files_reads_them(
    tmp_path: Path, run_here: RunHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + i % 40};{60 + i % 9},{i % 10};{'Łódź' if i % 2 else 'Kraków'}" for i in range(120)]
    Path("umfrage.csv").write_bytes("\n".join(["age;weight;city", *rows, ""]).encode("cp1250"))
    found = commands("how-to/files.md")
    own = [words for words in found if words[0] == "shoal" and "umfrage.csv" in words]
    assert len(own) == 2
    for _, *words in own:
        done = run_here(*words)
        assert done.code == 0, (words, done.stderr)
    assert 'decimal = ","' in Path("policy.toml").read_text(encoding="utf-8")
    assert "Łódź" in Path("out/publish/data.csv").read_text(encoding="utf-8")
    assert run_here("check", "out/publish", "--original", "umfrage.csv").code == 0
    piped = next(words for words in found if "|" in words)
    people = clinic(200)
    text = "\n".join([",".join(("age", "zip", "disease")), *map(",".join, _cells(people)), ""])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    done = run_here(*piped[piped.index("|") + 2 : piped.index(">")])
    assert done.code == 0, done.stderr
    assert len(done.stdout.splitlines()) == 201


def _cells(people: Mapping[str, Sequence[object]]) -> Iterator[tuple[str, ...]]:
    return zip(*(map(str, people[name]) for name in ("age", "zip", "diagnosis")), strict=True)


@needs_chromium
def test_reports_show_whole_tables_and_pictures_with_letters_that_can_be_read(tmp_path: Path) -> None:
    policy = shoal.Policy.of(identifying=["patient_id", "name"], sensitive=["diagnosis"], k=5, l=2, others="quasi")
    page_file = shoal.anonymize(clinic(300), policy, seed=1).save(tmp_path / "out") / "private" / "report.html"
    cut = "() => [...document.querySelectorAll('.pair .wide')].filter(e => e.scrollWidth > e.clientWidth).length"
    letters = "() => document.querySelector('.chart svg').getBoundingClientRect().width"
    with started() as chromium, browser(chromium) as window:
        page = window.new_page()
        page.goto(page_file.as_uri())
        for width in (1280, 400):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width
            assert page.evaluate(letters) >= 500  # drawn for 700: any narrower, and labels are a blur
            assert width == 400 or page.evaluate(cut) == 0  # ten attributes, two tables side by side
