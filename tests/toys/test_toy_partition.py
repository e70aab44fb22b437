"""A partition is one file that registers itself: a made-up one is released, saved and checked, and nothing else knows it.

A real one needs two files at most: itself in `tables/partition/`, and its compiled loop in `kernels/tables/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import shoal
from shoal.arrays import Codes
from shoal.cli.app import shoal as command_line
from shoal.tables.partition.base import PARTITIONS, GroupingTask, PartitionMethod

PEOPLE = {"age": list(range(20, 40)), "job": ["baker", "cook"] * 10, "disease": ["flu", "cold", "ulcer", "gout"] * 5}


# All that a partition is.


def labels(task: GroupingTask) -> Codes:
    """Groups of k in the order of the first quasi-identifier; what is left joins the last."""
    place = np.empty(len(task.ranked[0].ranks), dtype=np.int64)
    place[np.argsort(task.ranked[0].ranks, kind="stable")] = np.arange(len(place))
    return np.minimum(place // task.k, len(place) // task.k - 1).astype(np.int32)


TOY = PartitionMethod(
    name="toy-runs", help="runs of k along one column", reference="none", labels=labels, publication="aggregate"
)


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    PARTITIONS.register(TOY)
    yield
    PARTITIONS.forget(TOY.name)


def test_a_policy_that_names_it_is_released_saved_and_checked(tmp_path: Path) -> None:
    policy = shoal.Policy.of(quasi=["age", "job"], sensitive=["disease"], k=4, partition="toy-runs")
    release = shoal.anonymize(PEOPLE, policy, seed=1)
    assert sorted(set(release.data["age"])) == [21.5, 25.5, 29.5, 33.5, 37.5]
    release.save(tmp_path / "out")
    assert "runs of k along one column" in (tmp_path / "out" / "publish" / "datasheet.html").read_text(encoding="utf-8")
    assert shoal.check(tmp_path / "out", PEOPLE).holds
    data = next((tmp_path / "out" / "publish").glob("*.csv"))
    data.write_text(data.read_text(encoding="utf-8").replace("21.5", "21", 1), encoding="utf-8")
    assert shoal.check(tmp_path / "out", PEOPLE).fails


def test_policy_command_line_and_sweep_know_it() -> None:
    with pytest.raises(shoal.PolicyError, match="did you mean 'toy-runs'"):
        shoal.Policy.of(quasi=["age"], partition="toy-run")
    shown = CliRunner().invoke(command_line, ["anonymize", "--help"]).output
    assert "toy-runs" in shown
    found = shoal.sweep(
        PEOPLE, shoal.Policy.of(quasi=["age"], others="sensitive", k=2), partitions="toy-runs", k=[2, 4]
    )
    assert [cell.status for cell in found.cells] == ["holds", "holds"]
