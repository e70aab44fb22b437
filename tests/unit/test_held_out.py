"""Records held out of a release: which, how many, and the file that remembers them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.data.sparse.records import Sparse
from shoal.data.strings.strings import Strings
from shoal.data.tables.frames import from_frame
from shoal.errors import DataError, PolicyError
from shoal.held_out import HeldOut, hold_out, split_rows
from shoal.secrets import HELD_OUT_FILE, PrivateFolder

N = 60
TABLE = from_frame({"age": [str(i) for i in range(N)]})
STRINGS = Strings.of([f"{i:03d}" for i in range(N)])
SPARSE = Sparse.of([[f"i{i}", "all"] for i in range(N)])


def contents(data: object) -> list[str]:
    """One distinct text a record, whatever its kind."""
    if isinstance(data, Strings):
        return data.texts()
    if isinstance(data, Sparse):
        return [data.names[max(data.items[a:b])] for a, b in zip(data.starts[:-1], data.starts[1:], strict=True)]
    column = data["age"]
    return [column.texts()[code] for code in column.codes]


@pytest.mark.parametrize("data", [TABLE, STRINGS, SPARSE], ids=["table", "strings", "sparse"])
def test_every_record_is_on_one_side_and_in_its_order(data) -> None:
    kept, out = hold_out(data, 0.25, seed=3)
    everyone = contents(data)
    assert len(out.rows) == 15
    assert contents(out.records) == [everyone[i] for i in out.rows]
    assert contents(kept) == [everyone[i] for i in range(N) if i not in set(out.rows.tolist())]
    assert sorted([*contents(kept), *contents(out.records)]) == sorted(everyone)


def test_a_seed_repeats_the_choice_and_no_seed_does_not() -> None:
    rows = [hold_out(SPARSE, 0.5, seed)[1].rows.tolist() for seed in (1, 1, 2)]
    assert rows[0] == rows[1] != rows[2]
    assert hold_out(SPARSE, 0.5, None)[1].rows.tolist() != hold_out(SPARSE, 0.5, None)[1].rows.tolist()


def test_records_are_chosen_alike() -> None:
    times = sum(np.bincount(hold_out(SPARSE, 0.5, seed)[1].rows, minlength=N) for seed in range(400))
    assert times.min() > 150
    assert times.max() < 250


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan"), float("inf")])
def test_a_share_lies_between_0_and_1(share: float) -> None:
    with pytest.raises(PolicyError, match="between 0 and 1"):
        hold_out(SPARSE, share, None)


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_both_sides_need_some(share: float) -> None:
    with pytest.raises(PolicyError, match="fewer than 10 on one side"):
        hold_out(SPARSE, share, None)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    _, out = hold_out(SPARSE, 0.3, seed=1)
    (tmp_path / "private").mkdir()
    out.keep(tmp_path / "private")
    for folder in (tmp_path, tmp_path / "private", str(tmp_path)):
        found = PrivateFolder.at(folder).held_out(N)
        assert found is not None
        assert np.array_equal(found, out.rows)
    kept, again = split_rows(SPARSE, found)
    assert len(kept) == 42
    assert contents(again.records) == contents(out.records)


def test_records_that_were_given_apart_leave_no_trace(tmp_path: Path) -> None:
    given = HeldOut(SPARSE)
    given.keep(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert given.counts == {}
    assert hold_out(SPARSE, 0.3, seed=1)[1].counts == {"held_out": 18}


def test_no_file_means_none(tmp_path: Path) -> None:
    assert PrivateFolder.at(None) is None
    assert PrivateFolder(tmp_path).held_out(N) is None


@pytest.mark.parametrize(
    "text", ["", "original_row,held_out\n", "x,y\na,b\n", "original_row,held_out\n0,1\n", "r\n1\n"]
)
def test_a_spoiled_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / HELD_OUT_FILE).write_text(text)
    with pytest.raises(DataError, match="held-out"):
        PrivateFolder(tmp_path).held_out(N)


def test_rows_that_the_original_does_not_have_are_refused(tmp_path: Path) -> None:
    (tmp_path / HELD_OUT_FILE).write_text(f"original_row,held_out\n{N + 1},1\n")
    with pytest.raises(DataError, match="does not have"):
        PrivateFolder(tmp_path).held_out(N)


@pytest.mark.parametrize("kind", ["table", "strings"])
@pytest.mark.parametrize("k", [5, 20])  # fewer than k held out are told as a range
def test_a_release_keeps_which_ones_and_is_checked_without_them(tmp_path: Path, kind: str, k: int) -> None:
    if kind == "table":
        data = {"age": [20 + i % 30 for i in range(N)], "disease": [("flu", "cold", "gout")[i % 3] for i in range(N)]}
        policy = shoal.Policy.of(quasi=["age"], sensitive=["disease"], k=k)
    else:
        rng = np.random.default_rng(0)
        data = ["".join(rng.choice(list("ACDEFG"), 20)) for _ in range(N)]
        policy = shoal.StringPolicy.of(k=k)
    out = shoal.anonymize(data, policy, seed=1, hold_out=0.25).save(
        tmp_path / "out", keep=["groups"] if kind == "strings" else []
    )
    assert (out / "private" / HELD_OUT_FILE).stat().st_mode & 0o077 == 0
    assert HELD_OUT_FILE not in {p.name for p in (out / "publish").iterdir()}
    with pytest.raises(PolicyError, match="held out"):
        shoal.check(out, data)
    assert not shoal.check(out, data, private=out / "private").fails


def test_of_a_person_all_records_are_held_out_or_none() -> None:
    persons = np.arange(N) % 25
    kept, out = hold_out(SPARSE, 0.4, 1, persons)
    assert out.rows is not None
    assert len(set(persons[out.rows].tolist())) == 10
    assert set(persons[out.rows].tolist()).isdisjoint(np.delete(persons, out.rows).tolist())
    assert len(kept) + len(out.records) == N
    with pytest.raises(PolicyError, match="persons leaves fewer than 10"):
        hold_out(SPARSE, 0.2, 1, persons)
