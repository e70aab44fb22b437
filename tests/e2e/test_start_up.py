"""What is loaded at the start: the heavy packages only when there is work for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.e2e.command import environment

HEAVY = ("numpy", "numba", "duckdb", "pydantic", "jinja2", "narwhals", "pandas", "distributed")

LOADED = "import sys; print(' '.join(sorted({m.partition('.')[0] for m in sys.modules})))"


def loaded_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True, timeout=600
    )
    return set(done.stdout.splitlines()[-1].split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = loaded_after(f"import shoal; {LOADED}")
    assert "shoal" in loaded
    assert loaded & {*HEAVY, "rich", "click"} == set()


POLICIES = {"numpy", "pydantic"}
"""What the policies load, from whose keys the options of a command are made."""


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (["--help"], set()),
        (["--version"], set()),
        (["demo", "--help"], set()),
        (["anonymize", "--help"], POLICIES),
        (["check", "--help"], POLICIES),
    ],
)
def test_help_loads_nothing_heavy(arguments: list[str], needed: set[str]) -> None:
    code = (
        f"import sys; sys.argv = ['shoal', *{arguments!r}]\n"
        "from shoal.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
    )
    loaded = loaded_after(code + LOADED)
    assert "click" in loaded
    assert loaded & {*HEAVY, "rich"} == needed


def test_the_public_names_are_there_when_asked_for() -> None:
    import shoal

    for name in shoal.__all__:
        assert getattr(shoal, name) is not None
    assert set(shoal.__all__) <= set(dir(shoal))
    assert "pydantic" in loaded_after(f"import shoal; shoal.Policy; {LOADED}")


def test_the_command_line_starts_without_its_script() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "shoal", "--version"], env=environment(), capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stdout.split()[0]) == (0, "shoal")
