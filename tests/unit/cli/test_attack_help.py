"""The tests of `cli/attack_help.py`."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from shoal.cli.app import shoal
from shoal.kind import kinds


@pytest.fixture(scope="module")
def shown() -> str:
    return " ".join(CliRunner().invoke(shoal, ["attack", "--help"]).output.split())


def test_every_attack_is_listed_by_the_kind_of_data(shown: str) -> None:
    for kind in kinds():
        section = shown.partition(f"Attacks on {kind.policy.plural}:")[2]
        for attack in kind.attacks:
            assert f"{attack.name} {attack.title}" in section
