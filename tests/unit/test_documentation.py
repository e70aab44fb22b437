"""What is promised in prose is there, and what is there is documented."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path
from typing import get_args

import click
import pytest

import shoal
from shoal.cli.app import shoal as command_line
from shoal.kinds.sparse.policy import KVariance, SparseInput, SparseMethod, SparsePolicy
from shoal.kinds.strings.policy import StringInput, StringMethod, StringPolicy
from shoal.kinds.tables.policy import ColumnPolicy, Method, Policy
from shoal.models import registered

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(m.name for m in pkgutil.walk_packages(shoal.__path__, "shoal."))


def test_readme_example_runs() -> None:
    found = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert found.attempted >= 6
    assert found.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


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


def test_every_privacy_model_is_documented() -> None:
    keys = (ROOT / "docs" / "reference" / "policy.md").read_text(encoding="utf-8")
    guarantees = (ROOT / "docs" / "explanation" / "guarantees.md").read_text(encoding="utf-8")
    papers = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    for name, model in registered().items():
        (row,) = [line for line in keys.splitlines() if line.startswith(f"| `{name}` |")]
        for key, field in model.model_fields.items():
            assert key == "model" or f"`{key}`" in row
            for value in get_args(field.annotation) if key == "kind" else ():
                assert f"`{value}`" in row
        for guard in model.guards:
            assert f"| {guard.title} | {guard.stops} | {guard.leaves} |" in guarantees
        file = name.replace("-", "_")
        assert f"`models/{file}.py`, checked by `check/tables/{file}.py`" in papers


def test_every_public_name_is_there() -> None:
    for name in shoal.__all__:
        assert getattr(shoal, name) is not None
    assert set(dir(shoal)) == set(shoal.__all__)
    with pytest.raises(AttributeError, match="anonymise"):
        _ = shoal.anonymise
