"""The tests of `secrets.py`: what is written is read back, and what was spoiled is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shoal.errors import DataError, PolicyError
from shoal.secrets import (
    GROUPS_FILE,
    HELD_OUT_FILE,
    KEY_FILE,
    NEIGHBOURS_FILE,
    PERSONS_FILE,
    ROWS_FILE,
    PrivateFolder,
    secrets_to_keep,
    write_groups,
    write_held_out,
    write_key,
    write_lengths,
    write_neighbours,
    write_persons,
    write_published_groups,
    write_rows,
)


def test_everything_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    folder = tmp_path / "private"
    groups = np.array([2, -1, 0, 0, -1], np.int32)
    write_rows(folder, np.array([4, 0, 2]))
    write_persons(folder, np.array([4, 0, 0]))
    write_groups(folder, groups)
    write_published_groups(folder, np.array([0, 2, 2]))
    write_lengths(folder, np.array([7, 9, 9]))
    write_held_out(folder, np.array([1, 3]))
    write_key(folder, bytes(range(32)))
    write_neighbours(folder, np.arange(6, dtype=np.int32).reshape(3, 2))
    for given in (tmp_path, folder, str(tmp_path)):  # a release's own folder is understood too
        private = PrivateFolder.at(given)
        assert private is not None
        assert private.rows().tolist() == [4, 0, 2]
        assert private.persons().tolist() == [4, 0, 0]
        assert private.groups(5).tolist() == groups.tolist()
        assert private.published_groups().tolist() == [0, 2, 2]
        assert private.lengths().tolist() == [7, 9, 9]
        assert private.held_out(5).tolist() == [1, 3]
        assert private.key() == bytes(range(32))
        assert private.neighbours().tolist() == [[0, 1], [2, 3], [4, 5]]


def test_what_was_not_kept_is_not_there(tmp_path: Path) -> None:
    private = PrivateFolder(tmp_path)
    assert PrivateFolder.at(None) is None
    assert private.rows() is private.persons() is private.key() is private.neighbours() is private.held_out(3) is None
    with pytest.raises(DataError, match=f"there is no .*{GROUPS_FILE}.*--keep groups"):
        private.groups(3)


def test_a_folder_of_nothing_but_held_out_records_holds_no_other_secret(tmp_path: Path) -> None:
    private = PrivateFolder(tmp_path)
    assert private.if_it_holds(ROWS_FILE) is private  # who reads it says what is missing
    write_held_out(tmp_path, np.array([0]))
    assert private.if_it_holds(ROWS_FILE) is None
    write_rows(tmp_path, np.array([0]))
    assert private.if_it_holds(ROWS_FILE) is private


def test_a_folder_that_lies_beside_need_hold_nothing(tmp_path: Path) -> None:
    private = PrivateFolder(tmp_path, is_given=False)
    assert private.if_it_holds(PERSONS_FILE) is None
    write_persons(tmp_path, np.array([0]))
    assert private.if_it_holds(ROWS_FILE) is None
    assert private.if_it_holds(ROWS_FILE, PERSONS_FILE) is private


@pytest.mark.parametrize(
    "text",
    ["", "a,b\n", "a,b\n1\n", "a,b\n0,1\n", "a,b\n1,-2\n", "a,b\n1,1\n1,2\n", "a,b\n9999999999,1\n", "a,b\nx,y\n"],
)
def test_a_spoiled_list_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / ROWS_FILE).write_text(text)
    with pytest.raises(DataError, match="restore it from the release"):
        PrivateFolder(tmp_path).rows()


def test_rows_that_the_original_does_not_have_are_refused(tmp_path: Path) -> None:
    write_held_out(tmp_path, np.array([7]))
    assert (tmp_path / HELD_OUT_FILE).read_text() == "original_row,held_out\n8,1\n"
    with pytest.raises(DataError, match="the original does not have"):
        PrivateFolder(tmp_path).held_out(5)


@pytest.mark.parametrize("text", ["", "abc", "00" * 31, "zz" * 32])
def test_a_spoiled_key_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    (tmp_path / KEY_FILE).write_text(text)
    with pytest.raises(DataError, match="restore it from the release") as refused:
        PrivateFolder(tmp_path).key()
    assert not text or text not in str(refused.value)


def test_spoiled_neighbours_are_refused(tmp_path: Path) -> None:
    (tmp_path / NEIGHBOURS_FILE).write_bytes(b"no array")
    with pytest.raises(DataError, match="cannot be read"):
        PrivateFolder(tmp_path).neighbours()
    np.save(tmp_path / NEIGHBOURS_FILE, np.zeros(3))
    with pytest.raises(DataError, match="not a list of neighbours"):
        PrivateFolder(tmp_path).neighbours()


def test_only_what_can_be_kept_is_kept() -> None:
    assert secrets_to_keep("rows", ("rows", "key")) == ["rows"]
    with pytest.raises(PolicyError, match=r"cannot keep 'row'; .*rows"):
        secrets_to_keep(["row"], ("rows", "key"))


def test_what_is_kept_unasked_is_kept_unless_nothing_is_wanted() -> None:
    kept = ("rows", "key", "persons")
    assert secrets_to_keep((), kept, ["persons"]) == ["persons"]
    assert secrets_to_keep("rows", kept, ["persons"]) == ["rows", "persons"]
    assert secrets_to_keep(["persons"], kept, ["persons"]) == ["persons"]
    assert secrets_to_keep("nothing", kept, ["persons"]) == []
    with pytest.raises(PolicyError, match="cannot keep 'nothing' and 'rows' both"):
        secrets_to_keep(["rows", "nothing"], kept)
