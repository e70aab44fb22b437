"""The folder of finished steps: whose it is, what is taken up from it, and when it goes."""

from __future__ import annotations

import copy
import errno
import os
import pickle
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from shoal.errors import DataError, Infeasible, NotVerified, PolicyError, ShoalError
from shoal.resume import StepFolder, refuse_same, what_is_kept
from shoal.scratch import NoRoom

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs locks on folders")

DEPENDS = {"source": "1", "policy": "2"}
SEED = 8125739


def open_folder(path: Path, seed: int | None = None, **depends: str) -> StepFolder:
    return StepFolder.open(path, {**DEPENDS, **depends}, seed)


def finish(steps: StepFolder, name: str = "table", text: str = "rows", *, by_seed: bool = False) -> None:
    with steps.finishing(name, by_seed=by_seed) as step:
        (step.path / "file").write_text(text)
        step.told["n_rows"] = 7  # type: ignore[index]


def left_by_a_killed_run(path: Path, seed: int | None = None, *, by_seed: bool = False) -> Path:
    steps = open_folder(path, seed)
    finish(steps, by_seed=by_seed)
    steps.work()
    steps.close()
    return path


def everything(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}


def test_a_step_is_taken_up_with_what_is_known_of_it(tmp_path: Path) -> None:
    kept = left_by_a_killed_run(tmp_path / "kept")
    assert {stat.S_IMODE(p.stat().st_mode) for p in (kept, *kept.iterdir()) if p.is_dir()} == {0o700}
    steps = open_folder(kept)
    found = steps.found("table")
    assert found is not None
    assert (found.told, (found.path / "file").read_text()) == ({"n_rows": 7}, "rows")
    assert steps.found("groups") is None
    assert (steps.names, steps.notes) == ({"table"}, [])
    assert not list(kept.glob("work-*")), "what was not finished is gone"
    steps.remove()
    assert not kept.exists()


def test_an_empty_folder_that_was_there_stays(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o755)
    left_by_a_killed_run(kept)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    open_folder(kept).remove()
    assert list(kept.iterdir()) == []


def test_a_folder_that_is_in_use_is_refused(tmp_path: Path) -> None:
    steps = open_folder(tmp_path / "kept")
    with pytest.raises(ShoalError, match="another run works with this folder"):
        open_folder(tmp_path / "kept")
    steps.close()
    open_folder(tmp_path / "kept").remove()


def make_link(path: Path) -> None:
    path.with_name("elsewhere").mkdir()
    path.symlink_to("elsewhere")


def put_beside(path: Path) -> None:
    left_by_a_killed_run(path)
    (path / "thesis.txt").write_text("mine")


def put_alone(path: Path) -> None:
    (path / "step-table").mkdir(parents=True)
    (path / "step-table" / "file").write_text("mine")


def link_inside(path: Path) -> None:
    left_by_a_killed_run(path)
    path.with_name("precious").mkdir()
    (path / "step-groups").symlink_to("../precious")


def put_a_head_of_others(path: Path) -> None:
    path.mkdir(mode=0o700)
    (path / "run.json").write_text('{"experiment": "months of work"}')
    (path / "work-00000000").mkdir()


def put_a_folder_for_a_head(path: Path) -> None:
    (path / "run.json").mkdir(parents=True)
    path.chmod(0o700)


def spoil_the_head(path: Path) -> None:
    (left_by_a_killed_run(path) / "run.json").write_text("[]")


def show_others(path: Path) -> None:
    left_by_a_killed_run(path).chmod(0o750)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (make_link, "is a link, or no folder"),
        (lambda path: path.write_text("mine"), "is a link, or no folder"),
        (put_beside, "holds something that no run left"),
        (put_alone, "holds something that no run left"),
        (link_inside, "holds something that no run left"),
        (put_a_head_of_others, "holds something that no run left"),
        (put_a_folder_for_a_head, "holds something that no run left"),
        (spoil_the_head, "holds something that no run left"),
        (show_others, "others may look into it"),
    ],
)
def test_what_is_not_ours_is_refused_and_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], object], why: str
) -> None:
    make(tmp_path / "kept")
    before = everything(tmp_path)
    with pytest.raises(ShoalError, match=why):
        open_folder(tmp_path / "kept")
    assert everything(tmp_path) == before


def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kept").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(ShoalError, match="belongs to another user"):
        open_folder(tmp_path / "kept")


def test_where_nothing_can_be_made_or_locked_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ShoalError, match="cannot be made: No such file"):
        open_folder(tmp_path / "missing" / "kept")
    import fcntl

    def unlockable(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unlockable)
    with pytest.raises(ShoalError, match="no folder can be locked there"):
        open_folder(tmp_path / "kept")


@pytest.mark.parametrize(("name", "word"), [("source", "another source"), ("policy", "another policy")])
def test_steps_that_depend_on_something_else_are_removed(tmp_path: Path, name: str, word: str) -> None:
    kept = left_by_a_killed_run(tmp_path / "kept")
    steps = open_folder(kept, **{name: "other"})
    assert steps.names == set()
    assert [word in note for note in steps.notes] == [True]
    assert sorted(everything(kept)) == ["run.json"]
    steps.close()
    assert open_folder(kept, **{name: "other"}).notes == []


@pytest.mark.parametrize(("before", "now"), [(SEED, None), (None, SEED), (SEED, SEED + 1)])
def test_steps_of_another_seed_are_removed_if_it_matters(tmp_path: Path, before: int | None, now: int | None) -> None:
    kept = left_by_a_killed_run(tmp_path / "kept", before, by_seed=True)
    steps = open_folder(kept, now)
    assert steps.names == set()
    assert "another seed" in steps.notes[0]
    steps.remove()
    left_by_a_killed_run(kept, before)
    assert open_folder(kept, now).names == {"table"}


@pytest.mark.parametrize("seed", [SEED, None])
def test_steps_of_the_same_seed_are_taken_up_which_stands_nowhere(tmp_path: Path, seed: int | None) -> None:
    kept = left_by_a_killed_run(tmp_path / "kept", seed, by_seed=True)
    assert open_folder(kept, seed).names == {"table"}
    written = b"".join(everything(kept).values())
    for told in (str(SEED).encode(), f"{SEED:x}".encode(), SEED.to_bytes(4, "little"), SEED.to_bytes(4, "big")):
        assert told not in written


def change_a_byte(kept: Path) -> None:
    (kept / "step-table" / "file").write_text("rowt")


def lose_a_file(kept: Path) -> None:
    (kept / "step-table" / "file").unlink()


def add_a_file(kept: Path) -> None:
    (kept / "step-table" / "more").write_text("")


def add_a_folder(kept: Path) -> None:
    (kept / "step-table" / "more").mkdir()


def change_what_is_known(kept: Path) -> None:
    path = kept / "step-table" / "step.json"
    path.write_text(path.read_text().replace('"n_rows": 7', '"n_rows": 8'))


def cut_short(kept: Path) -> None:
    path = kept / "step-table" / "step.json"
    path.write_text(path.read_text()[:-9])


def empty_a_step(kept: Path) -> None:
    (kept / "step-groups").mkdir()


@pytest.mark.parametrize(
    "spoil",
    [
        change_a_byte,
        lose_a_file,
        add_a_file,
        add_a_folder,
        change_what_is_known,
        cut_short,
        empty_a_step,
    ],
)
def test_what_is_not_as_it_was_finished_is_not_used(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    kept = left_by_a_killed_run(tmp_path / "kept")
    spoil(kept)
    steps = open_folder(kept)
    assert steps.names == set()
    assert "it is damaged. All was made anew" in steps.notes[0]
    assert sorted(everything(kept)) == ["run.json"]


def test_steps_without_others_that_they_need_are_not_used(tmp_path: Path) -> None:
    kept = left_by_a_killed_run(tmp_path / "kept")
    steps = StepFolder.open(kept, DEPENDS, is_whole=lambda found: "rows" in found)
    assert (steps.names, "steps are missing" in steps.notes[0]) == (set(), True)


def refuse_half_way(path: Path) -> None:
    (path / "file").write_text("half")
    raise Infeasible("no")


def test_a_kill_while_a_step_is_removed_leaves_the_others_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    steps = open_folder(tmp_path / "kept")
    finish(steps, "table")
    finish(steps, "rows")
    monkeypatch.setattr(shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        steps.drop("rows")
    monkeypatch.undo()
    steps.close()
    steps = open_folder(tmp_path / "kept")
    assert (steps.names, steps.notes) == ({"table"}, [])
    assert sorted(os.listdir(steps.path)) == ["run.json", "step-table"]


def test_a_kill_before_anything_was_written_is_no_hindrance(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o700)
    (kept / ".run.json.shoal-0123abcd").write_text("{")
    steps = open_folder(kept)
    assert (steps.names, steps.notes, os.listdir(kept)) == (set(), [], ["run.json"])


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("is_there", [False, True])
def test_a_folder_that_could_not_be_begun_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, is_there: bool
) -> None:
    """The next run would take it for one that its owner made, and leave it there."""
    kept = tmp_path / "kept"
    if is_there:
        kept.mkdir()

    def full(*_: object) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises((ShoalError, KeyboardInterrupt)):
        open_folder(kept)
    monkeypatch.undo()
    assert kept.exists() == is_there
    assert everything(tmp_path) == {}
    open_folder(kept).remove()
    assert kept.exists() == is_there


def test_what_another_layout_says_is_not_read(tmp_path: Path) -> None:
    kept = left_by_a_killed_run(tmp_path / "kept")
    head = kept / "run.json"
    head.write_text(head.read_text().replace('"layout": 1', '"layout": 0'))
    steps = open_folder(kept)
    assert steps.names == set()
    assert "another version of Shoal wrote it" in steps.notes[0]


def test_a_step_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = open_folder(tmp_path / "kept")
    with pytest.raises(Infeasible), steps.finishing("table") as step:
        refuse_half_way(step.path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ShoalError, match=r"cannot be kept in .*No space left on device; make room there"):
        finish(steps)
    monkeypatch.undo()
    assert (steps.names, sorted(everything(steps.path))) == (set(), ["run.json"])
    assert os.listdir(steps.path) == ["run.json"]
    steps.remove()


@pytest.mark.parametrize("error", [ShoalError, NoRoom, KeyboardInterrupt, MemoryError, RuntimeError])
def test_what_is_finished_stays_where_another_run_may_end_better(tmp_path: Path, error: type[BaseException]) -> None:
    steps = open_folder(tmp_path / "kept")
    finish(steps)
    with pytest.raises(error) as caught, steps.kept():
        raise error("the disk is full")
    is_ours = isinstance(caught.value, ShoalError)
    assert ("goes on" in str(caught.value) and "removes them" in str(caught.value)) == is_ours
    assert what_is_kept(steps.path) == steps.told
    steps.close()
    assert open_folder(tmp_path / "kept").names == {"table"}


@pytest.mark.parametrize("error", [PolicyError, DataError, Infeasible, NotVerified])
def test_what_is_finished_goes_where_the_same_would_be_refused_again(tmp_path: Path, error: type[ShoalError]) -> None:
    steps = open_folder(tmp_path / "kept")
    finish(steps)
    with pytest.raises(error, match=r"^no$"), steps.kept():
        raise error("no")
    assert not steps.path.exists()
    assert what_is_kept(steps.path) is None


def test_nothing_stays_where_nothing_was_finished(tmp_path: Path) -> None:
    steps = open_folder(tmp_path / "kept")
    with pytest.raises(ShoalError, match=r"^the disk is full$"), steps.kept():
        raise ShoalError("the disk is full")
    assert not steps.path.exists()


def test_what_somebody_puts_into_it_is_not_removed(tmp_path: Path) -> None:
    steps = open_folder(tmp_path / "kept")
    finish(steps)
    (steps.path / "thesis.txt").write_text("mine")
    steps.remove()
    assert everything(tmp_path) == {"kept/thesis.txt": b"mine"}


def test_what_somebody_puts_into_it_while_it_is_looked_at_is_not_removed(tmp_path: Path) -> None:
    kept = left_by_a_killed_run(tmp_path / "kept")

    def is_whole(_: object) -> bool:
        (kept / "thesis.txt").write_text("mine")
        return False

    StepFolder.open(kept, DEPENDS, is_whole=is_whole).remove()
    assert everything(tmp_path) == {"kept/thesis.txt": b"mine"}


def test_the_folder_of_another_run_is_left_alone(tmp_path: Path) -> None:
    """One of the same name, made after this was removed: by ourselves, or by the owner while we had it."""
    import shutil

    done, robbed = open_folder(tmp_path / "done"), open_folder(tmp_path / "robbed")
    done.remove()
    shutil.rmtree(robbed.path)
    others = [open_folder(tmp_path / name) for name in ("done", "robbed")]
    for steps in others:
        finish(steps)
    before = everything(tmp_path)
    for steps in (done, robbed):
        steps.remove()
        with pytest.raises(NotVerified), steps.kept():
            raise NotVerified
    assert everything(tmp_path) == before


def test_what_cannot_be_removed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    def held(*_: object) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    steps = open_folder(tmp_path / "kept")
    finish(steps)
    monkeypatch.setattr(shutil, "rmtree", held)
    with pytest.raises(ShoalError, match="holds rows of the original and cannot be removed: Permission denied"):
        steps.remove()


def test_a_copy_has_no_folder(tmp_path: Path) -> None:
    steps = open_folder(tmp_path / "kept")
    assert copy.deepcopy(steps) is None
    assert pickle.loads(pickle.dumps(steps)) is None
    steps.remove()


@pytest.mark.parametrize(("out", "kept"), [("a", "a"), ("a", "a/b"), ("a/b", "a")])
def test_the_release_stands_elsewhere(tmp_path: Path, out: str, kept: str) -> None:
    with pytest.raises(PolicyError, match="cannot be the folder of the release"):
        refuse_same(tmp_path / out, tmp_path / kept)
    refuse_same(tmp_path / "one", tmp_path / "other")
