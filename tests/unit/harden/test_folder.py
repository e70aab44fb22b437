"""A step is known by all that it follows from."""

from __future__ import annotations

from pathlib import Path

from shoal.harden.folder import HardenFolder, step_key
from shoal.harden.step import Step
from shoal.kinds.tables.policy import Policy

POLICY = Policy.of(quasi=["age"], k=5)


def test_a_finished_step_is_found_and_another_one_is_not(tmp_path: Path) -> None:
    folder = HardenFolder(tmp_path / "steps")
    folder.open()
    step = Step({"k": 5}, "costs more", "dear", loss=0.5)
    folder.keep("a", step)
    assert folder.find("a") == step
    assert folder.find("b") is None
    folder.place("c").write_text("[]")
    assert folder.find("c") is None


def test_every_part_makes_another_key() -> None:
    keys = [
        step_key("data", POLICY, [0, 1]),
        step_key("other", POLICY, [0, 1]),
        step_key("data", POLICY.changed(k=7), [0, 1]),
        step_key("data", POLICY.changed(insensitive=["age"]), [0, 1]),
        step_key("data", POLICY.changed(publish="aggregate"), [0, 1]),
        step_key("data", POLICY, [1, 1]),
        step_key("data", POLICY, [0, 2]),
    ]
    assert len(set(keys)) == len(keys)
    assert step_key("data", Policy.of(quasi=["age"], k=5), [0, 1]) == keys[0]
