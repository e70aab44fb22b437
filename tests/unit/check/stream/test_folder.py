"""The check of a stream finds what is wrong with it: by planting it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.check.stream import folder as home
from shoal.errors import DataError, PolicyError
from shoal.manifest import checksum


@pytest.fixture
def made(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    rows = zip(rng.integers(0, 40, 120), rng.integers(18, 90, 120), rng.integers(0, 6, 120), strict=True)
    (tmp_path / "people.csv").write_text("id,age,disease\n" + "".join(f"p{i},{a},d{d}\n" for i, a, d in rows))
    policy = shoal.Policy.of(quasi=["age"], sensitive=["disease"], person="id", k=4, l=2)
    shoal.stream(tmp_path / "people.csv", policy, delay=40, seed=1).save(tmp_path / "out")
    return tmp_path


def edit(made: Path, change: Callable[[list[str]], list[str]]) -> None:
    """Edit rows, and make the manifest fit."""
    path, manifest_path = made / "out/publish/data.csv", made / "out/publish/manifest.json"
    head, *rows = path.read_text().splitlines()
    rows = change(rows)
    path.write_text("\n".join([head, *rows]) + "\n")
    manifest = json.loads(manifest_path.read_text())
    manifest["checksums"]["data.csv"] = checksum(path)
    manifest["records"] = {"in": len(rows), "out": len(rows), "suppressed": 0}
    manifest_path.write_text(json.dumps(manifest))


def test_a_good_stream_is_whole_in_blocks_of_any_size(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for most in (1, 7, 1000):
        monkeypatch.setattr(home, "MOST_ROWS", most)
        found = shoal.check(made / "out", made / "people.csv")
        assert found.is_whole, found.findings
        assert [g.model for g in found.guarantees] == ["k-anonymity", "l-diversity"]
        assert found.guarantees[0].n_classes > 10


def test_without_the_list_of_persons_it_is_not_verified(made: Path) -> None:
    (made / "out/private/persons.bin").unlink()
    found = shoal.check(made / "out/publish")
    assert not found.holds
    assert not found.fails


def test_one_row_apart_from_its_class_is_found(made: Path) -> None:
    """It has the labels of a class of k, and is alone all the same for who saw when it came out."""
    edit(made, lambda rows: [*rows[1:], rows[0]])
    found = shoal.check(made / "out/publish")
    assert not found.guarantees[0].holds


def test_a_class_of_the_window_before_hides_nobody(made: Path) -> None:
    """The first row of the second window has the labels of the first window's last class."""
    edit(made, lambda rows: [f"{'18' if i <= 40 else '19'},{r.split(',')[1]}" for i, r in enumerate(rows)])
    for most in (7, 1000):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(home, "MOST_ROWS", most)
            found = shoal.check(made / "out")
        assert not found.guarantees[0].holds
        assert found.guarantees[0].achieved == 1


def test_a_class_of_one_disease_is_found(made: Path) -> None:
    first = (made / "out/publish/data.csv").read_text().splitlines()[1].split(",")[0]
    edit(made, lambda rows: [f"{first},d1" if r.startswith(f"{first},") else r for r in rows])
    assert not shoal.check(made / "out/publish").guarantees[1].holds


def test_records_of_one_person_are_no_class(made: Path) -> None:
    path = made / "out/private/persons.bin"
    persons = np.fromfile(path, "<i4")
    persons[:4] = 0
    persons.tofile(path)
    assert shoal.check(made / "out").fails


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda rows: [*rows[:1], *rows], "went out|list of persons"),
        (lambda rows: [f"{1000 + i // 60},d1" for i in range(len(rows))], "window 1"),
        (lambda rows: [*rows[40:80], *rows[:40], *rows[80:]], "window 1"),
    ],
)
def test_rows_of_other_records_or_other_windows_are_found(made: Path, change: Any, told: str) -> None:
    edit(made, change)
    found = shoal.check(made / "out", made / "people.csv")
    assert found.fails
    assert any(word in " ".join(found.findings) for word in told.split("|"))


def test_an_edited_file_is_told(made: Path) -> None:
    with (made / "out/publish/data.csv").open("a") as file:
        file.write("20,d1\n")
    assert "checksum" in " ".join(shoal.check(made / "out/publish").findings)


@pytest.mark.parametrize(
    "change",
    [
        {"require": []},
        {"delimiter": [","]},
        {"checksums": 3},
        {"missing": "x"},
        {"method": {}},
        {"stream": {"delay": {"records": 0}}},
        {"columns": {"age": {"type": "x", "role": "quasi"}}},
        {"columns": {}},
        {"records": {}},
        {"stream": 1},
        {"data": 3},
        {"require": [{"model": "x"}]},
    ],
)
def test_a_manifest_of_something_else_is_refused(made: Path, change: dict[str, Any]) -> None:
    path = made / "out/publish/manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(DataError, match="not the manifest of a stream"):
        shoal.check(made / "out/publish")


def test_it_is_held_to_its_manifest(made: Path) -> None:
    with pytest.raises(PolicyError, match="leave the policy out"):
        shoal.check(made / "out/publish", policy=shoal.Policy())
    with pytest.raises(PolicyError, match="give its path"):
        shoal.check(made / "out/publish", {"age": [1]})


def test_a_link_or_nothing_in_the_place_of_the_data_is_refused(made: Path) -> None:
    path = made / "out/publish/data.csv"
    path.rename(made / "elsewhere.csv")
    with pytest.raises(DataError):
        shoal.check(made / "out/publish")
    path.symlink_to(made / "elsewhere.csv")
    with pytest.raises(DataError):
        shoal.check(made / "out/publish")


def test_a_doubled_row_is_found_without_the_original_where_the_owner_kept_the_checksum(made: Path) -> None:
    edit(made, lambda rows: [rows[0], *rows])
    assert "data.csv is not what was published" in " ".join(shoal.check(made / "out").findings)
    assert "data.csv is not what was published" in " ".join(
        shoal.check(made / "out/publish", private=made / "out/private").findings
    )
    kept = made / "out/private/stream.json"
    kept.write_text("[1]")
    with pytest.raises(DataError, match=r"stream\.json cannot be read"):
        shoal.check(made / "out")
    kept.unlink()
    assert "data.csv is not" not in " ".join(shoal.check(made / "out").findings)
