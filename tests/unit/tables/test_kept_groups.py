"""Groups that are kept as a step hold in whatever order records are put again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shoal.errors import DataError
from shoal.resume import StepFolder
from shoal.tables.kept_groups import GROUPS, kept_groups
from shoal.tables.recoding import RecodedGroups

ORDER = np.array([4, 2, 0, 3, 1])
MADE = RecodedGroups(np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 3, 4]), (1, 2))


def by_row(found: RecodedGroups, order: np.ndarray) -> dict[int, int]:
    return dict(zip(order[found.rows].tolist(), found.labels.tolist(), strict=True))


def opened(path: Path) -> StepFolder:
    return StepFolder.open(path / "kept", {})


def never() -> RecodedGroups:
    raise AssertionError("they are made already")


def test_groups_are_those_of_the_same_records(tmp_path: Path) -> None:
    notes = ["before"]

    def make() -> RecodedGroups:
        notes.append("made")
        return MADE

    steps = opened(tmp_path)
    assert kept_groups(steps, ORDER, notes, make) is MADE
    steps.close()
    for order in (ORDER, np.array([0, 1, 2, 3, 4]), ORDER[::-1]):
        steps, told = opened(tmp_path), ["first"]
        found = kept_groups(steps, order, told, never)
        assert by_row(found, order) == by_row(MADE, ORDER) == {4: 0, 2: 0, 3: 1, 1: 1}
        assert (np.diff(found.rows) > 0).all()
        assert (found.levels, told) == ((1, 2), ["first", "made"])
        assert "groups were made by an earlier run" in steps.notes[0]
        steps.close()
    assert np.array_equal(kept_groups(opened(tmp_path), ORDER, [], never).rows, MADE.rows)


def test_without_a_folder_they_are_made() -> None:
    assert kept_groups(None, ORDER, [], lambda: MADE) is MADE


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("rows", np.array([4, 2, 3, 7])),
        ("rows", np.array([4, 2, 3, 3])),
        ("rows", np.array([4, 2, 3])),
        ("labels", np.array([0, 0, -1, 1], np.int32)),
        ("labels", np.array([0, 0, 1, 1])),
    ],
)
def test_what_are_no_groups_is_refused(tmp_path: Path, name: str, array: np.ndarray) -> None:
    steps = opened(tmp_path)
    kept_groups(steps, ORDER, [], lambda: MADE)
    found = steps.found(GROUPS)
    assert found is not None
    np.save(found.path / f"{name}.npy", array)
    with pytest.raises(DataError, match="are damaged"):
        kept_groups(steps, ORDER, [], never)
