"""The commands on pages for those who come from other tools are run as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from shoal.data.samples.clinic import clinic, diagnosis_hierarchy
from tests.e2e.command import RunHere

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
