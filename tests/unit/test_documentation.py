"""What is promised in prose is there, and what is there is documented."""

from __future__ import annotations

import doctest
import importlib
import json
import re
from pathlib import Path
from typing import Literal, get_args, get_origin

import click
import pytest

import shoal
from shoal.cli.app import shoal as command_line
from shoal.kind import kinds
from shoal.kinds.linked.policy import LinkedPolicy
from shoal.kinds.sparse.policy import KMAnonymity, KVariance, RhoUncertainty, SparseInput, SparseMethod, SparsePolicy
from shoal.kinds.strings.policy import StringInput, StringMethod, StringPolicy
from shoal.kinds.tables.policy import ColumnPolicy, Method, Policy
from shoal.models import registered

KINDS = {kind.name: kind.policy for kind in kinds()}

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
FILES = sorted(f for f in SOURCE.rglob("*.py") if ">>>" in f.read_text(encoding="utf-8"))
WITH_EXAMPLES = [".".join(f.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__") for f in FILES]


def test_readme_example_runs() -> None:
    found = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert found.attempted >= 6
    assert found.failed == 0


def test_ten_notebooks_run_and_what_they_show_is_small() -> None:
    page = ROOT / "docs" / "how-to" / "notebook.md"
    assert len(re.findall(r"^## \d+ ", page.read_text(encoding="utf-8"), re.MULTILINE)) == 10
    found = doctest.testfile(str(page), module_relative=False)
    assert found.attempted >= 25
    assert found.failed == 0


def test_pictures_of_the_gallery_are_small_and_do_nothing() -> None:
    pictures = sorted((ROOT / "docs" / "gallery").glob("*"))
    for path in pictures:
        text = path.read_text(encoding="utf-8")
        assert path.suffix == ".svg"
        assert len(text) < 40_000
        assert text.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
        assert not re.search(r"<script|<image|href|\son\w+=|var\(", text)
    for page, folder in (("README.md", "docs/gallery/"), ("docs/gallery.md", "gallery/")):
        shown = re.findall(rf"!\[[^]]+\]\({folder}(\S+)\)", (ROOT / page).read_text(encoding="utf-8"))
        assert shown
        assert set(shown) <= {path.name for path in pictures}


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


def test_every_link_of_a_page_has_words_and_leads_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts)]
    for page in pages:
        for words, address in re.findall(r"\[([^]]*)\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            assert words.strip(), (page, address)  # a reader of the sources would see nothing
            path = address.partition("#")[0]
            assert "://" in address or not path or (page.parent / path).exists(), (page, address)


def test_every_command_and_option_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    for name, command in command_line.commands.items():
        assert f"## `shoal {name}" in page
        for option in command.get_params(click.Context(command, help_option_names=["-h", "--help"])):
            if isinstance(option, click.Option):
                assert option.help, (name, option.name)
                for spelling in option.opts:
                    assert f"`{spelling}" in page, (name, spelling)
        assert "Example" in (command.help or ""), name


def test_every_policy_key_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "policy.md").read_text(encoding="utf-8")
    sparse = (SparsePolicy, SparseInput, SparseMethod, KVariance, KMAnonymity, RhoUncertainty)
    for model in (Policy, Method, ColumnPolicy, LinkedPolicy, StringPolicy, StringInput, StringMethod, *sparse):
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


def rows_of(text: str) -> dict[str, str]:
    """The rows of tables by the keys that their first two cells name."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return {key: row for row in reversed(rows) for key in re.findall(r"`(\w+)`", "".join(row.split("|")[1:3]))}


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_defaults_of_keys_are_documented_as_they_are(kind: str) -> None:
    page = (ROOT / "docs" / "reference" / "policy.md").read_text(encoding="utf-8")
    headings = r"\n## (?:Strings|Sparse records|Linked tables|Trajectories)\n"
    sections = dict(zip(KINDS, re.split(headings, page), strict=True))
    rows = rows_of(sections[kind]) if kind != "linked" else rows_of(sections["table"] + sections["linked"])
    policy = KINDS[kind]
    for name, option in policy.options().items():
        if name not in {argument.name for argument in policy.arguments}:
            types = [option.type, *get_args(option.type)]
            words = [word for inner in types if get_origin(inner) is Literal for word in get_args(inner)]
            assert [word for word in words if f"`{word}`" not in rows[name]] == [], name
            if option.default is not None:
                cells = [cell.strip(' `"') for cell in rows[name].split("|")]
                assert json.dumps(option.default).strip('"').removesuffix(".0") in cells, name


def test_every_public_name_is_there() -> None:
    for name in shoal.__all__:
        assert getattr(shoal, name) is not None
    assert set(dir(shoal)) == set(shoal.__all__)
    with pytest.raises(AttributeError, match="anonymise"):
        _ = shoal.anonymise
