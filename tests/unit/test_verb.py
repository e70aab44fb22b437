"""The tests of `verb.py`: six verbs, of which some are the names of rooms too."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import shoal
import shoal.api


@pytest.mark.parametrize("verb", ["profile", "anonymize", "check", "attack", "sweep", "harden"])
def test_every_verb_can_be_called_and_looked_up(verb: str) -> None:
    assert callable(getattr(shoal, verb))
    assert verb in shoal.__all__
    assert "header" in inspect.signature(shoal.check).parameters
    assert inspect.signature(shoal.attack) == inspect.signature(shoal.api.attack)


@pytest.mark.parametrize("verb", ["check", "attack", "sweep", "harden"])
def test_whatever_was_imported_before_it_stays_a_verb_and_a_room(verb: str) -> None:
    code = f"""
import importlib, pkgutil, shoal
room = importlib.import_module("shoal.{verb}")
for module in pkgutil.iter_modules(room.__path__):
    importlib.import_module("shoal.{verb}." + module.name)
assert shoal.{verb} is room
assert callable(shoal.{verb})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
