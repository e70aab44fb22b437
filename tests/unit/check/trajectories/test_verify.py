"""The tests of `check/trajectories/verify.py`: planted faults are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.check.trajectories.verify import TrajectoryAsked, TrajectoryEvidence, verify_boxes
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import Trajectories
from shoal.errors import DataError

GRID = Grid3D(0.001, 300)
ASKED = TrajectoryAsked(2, 1000, 60)
DATA = Trajectories.of(
    [37.5005, 37.5015, 37.5025, 37.5035, 37.9], [1.0005] * 5, [10, 400, 20, 700, 5], ["a", "a", "b", "b", "c"]
)
GROUPS = np.array([0, 0, -1])


def boxes() -> TrajectoryBoxes:
    sides = np.array([[37_500, 37_502, 1000, 1000, 0, 0], [37_501, 37_503, 1000, 1000, 1, 2]])
    return TrajectoryBoxes(sides, np.array([2, 2]), np.array([0, 2]), np.array([2]), np.array([2]), GRID)


def test_what_is_right_holds() -> None:
    verdict = verify_boxes(boxes(), ASKED, TrajectoryEvidence(DATA, GROUPS))
    assert verdict.holds, [g.sentence for g in verdict.guarantees]
    assert [g.achieved for g in verdict.guarantees if g.model != "box-size"] == [2, 2]
    alone = verify_boxes(boxes(), ASKED)
    assert len(alone.guarantees) == 2
    assert "needs the original" in alone.unverified[0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"persons": np.array([1])}, "shared by fewer than 2"),
        ({"persons": np.array([3]), "trips": np.array([3])}, "not as many as the file says"),
        ({"points": np.array([2, 3])}, "points are not as many as the file says"),
        ({"sides": boxes().sides + [[0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]}, "not the hull"),
        ({"sides": boxes().sides - [[0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]}, "not every member was in every box"),
        ({"sides": boxes().sides + [[0, 900, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]}, "pass the limits"),
        ({"sides": boxes().sides + [[0, 0, 0, 0, 0, 20], [0, 0, 0, 0, 0, 0]]}, "pass the limits"),
    ],
)
def test_planted_faults_are_found(change: dict[str, np.ndarray], says: str) -> None:
    verdict = verify_boxes(replace(boxes(), **change), ASKED, TrajectoryEvidence(DATA, GROUPS))
    assert not verdict.holds
    assert any(says in g.sentence for g in verdict.guarantees if not g.holds), [g.sentence for g in verdict.guarantees]


def test_a_piece_that_was_not_cut_is_found() -> None:
    for minutes, is_cut in ((20, True), (5, False)):
        asked = replace(ASKED, piece=minutes)
        cover = verify_boxes(boxes(), asked, TrajectoryEvidence(DATA, GROUPS)).guarantees[-1]
        assert cover.holds == is_cut
        assert ("goes on beyond a cut of the clock" in cover.sentence) != is_cut
        assert "nothing is promised" in verify_boxes(boxes(), asked).guarantees[0].sentence


def test_trips_of_one_person_count_once() -> None:
    same = replace(DATA, persons=np.array([0, 0, 1], np.int32))
    failed = [g for g in verify_boxes(boxes(), ASKED, TrajectoryEvidence(same, GROUPS)).guarantees if not g.holds]
    assert "fewer than 2 persons stand in the group" in failed[0].sentence


def test_equal_lists_may_be_of_the_same_persons() -> None:
    one = boxes()
    twice = TrajectoryBoxes(
        np.concatenate([one.sides] * 2),
        np.array([1] * 4),
        np.array([0, 2, 4]),
        np.array([1, 1]),
        np.array([1, 1]),
        GRID,
    )
    assert not verify_boxes(twice, ASKED).guarantees[0].holds
    moved = replace(twice, sides=twice.sides + np.array([0, 0, 0, 1])[:, None])
    assert not verify_boxes(moved, ASKED).guarantees[0].holds


def test_what_does_not_fit_is_told() -> None:
    told = verify_boxes(boxes(), ASKED, TrajectoryEvidence(DATA, np.array([0, 0]))).unverified
    assert "do not fit" in told[0]
    none = TrajectoryBoxes(np.zeros((0, 6), np.int64), *([np.zeros(0, np.int64)] * 4), GRID)
    with pytest.raises(DataError, match="nothing would be published"):
        verify_boxes(replace(none, starts=np.zeros(1, np.int64)), ASKED)


def test_without_groups_it_is_counted_who_was_in_all_boxes() -> None:
    assert verify_boxes(boxes(), ASKED, TrajectoryEvidence(DATA)).findings == ()
    same = replace(DATA, persons=np.array([0, 0, 1], np.int32))
    assert "tell of more persons" in verify_boxes(boxes(), ASKED, TrajectoryEvidence(same)).findings[0]
    # A planted path of one person, under the counts of two.
    sides = np.array([[37_500, 37_500, 1000, 1000, 0, 0], [37_501, 37_501, 1000, 1000, 1, 1]])
    planted = replace(boxes(), sides=sides)
    assert "tell of more persons" in verify_boxes(planted, ASKED, TrajectoryEvidence(DATA)).findings[0]
    elsewhere = replace(boxes(), sides=sides + [9000, 9000, 0, 0, 900, 900])
    assert "tell of more persons" in verify_boxes(elsewhere, ASKED, TrajectoryEvidence(DATA)).findings[0]
