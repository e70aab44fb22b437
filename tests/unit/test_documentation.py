"""What is promised in prose is there, and what is there is documented."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import click
import pytest

import shoal
from shoal.cli.app import shoal as command_line
from shoal.kinds.sparse.policy import KVariance, SparseInput, SparseMethod, SparsePolicy
from shoal.kinds.strings.policy import StringInput, StringMethod, StringPolicy
from shoal.kinds.tables.policy import MODELS, ColumnPolicy, Method, Policy

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
FILES = sorted(f for f in SOURCE.rglob("*.py") if ">>>" in f.read_text(encoding="utf-8"))
WITH_EXAMPLES = [".".join(f.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__") for f in FILES]


def test_readme_example_runs() -> None:
    found = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert found.attempted >= 6
    assert found.failed == 0


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_docstring_examples_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted
    assert found.failed == 0


def test_every_file_of_tests_that_a_page_names_is_there() -> None:
    pages = [p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts]
    named = {name for p in pages for name in re.findall(r"tests/[a-z_/]+\.py", p.read_text(encoding="utf-8"))}
    assert len(named) > 10
    assert {name for name in named if not (ROOT / name).is_file()} == set()


def test_every_command_and_option_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    for name, command in command_line.commands.items():
        assert f"## `shoal {name}" in page
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, (name, option.name)
                for spelling in option.opts:
                    assert f"`{spelling}" in page, (name, spelling)
        assert "Example" in (command.help or ""), name


def test_every_policy_key_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "policy.md").read_text(encoding="utf-8")
    sparse = (SparsePolicy, SparseInput, SparseMethod, KVariance)
    for model in (Policy, Method, ColumnPolicy, StringPolicy, StringInput, StringMethod, *sparse):
        for key in model.model_fields:
            assert f"`{key}`" in page or f"`[{key}" in page or f"`[[{key}" in page, key
    for model in MODELS:
        assert f"`{model}`" in page


def test_every_public_name_is_there() -> None:
    for name in shoal.__all__:
        assert getattr(shoal, name) is not None
    assert set(dir(shoal)) == set(shoal.__all__)
    with pytest.raises(AttributeError, match="anonymise"):
        _ = shoal.anonymise
