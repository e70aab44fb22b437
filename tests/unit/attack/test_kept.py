"""Results of attacks merge: nothing that was found goes away because a later run had less to go by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shoal.attack.attack import Attacked
from shoal.attack.kept import FILE_NAME, KeptAttacks
from shoal.attack.result import AttackResult, Rate
from shoal.errors import DataError

ALL = {"original": 100, "others": 30, "rows": 100}
LESS = {"original": 100, "others": 30}
LEAST = {"original": 100}


def result(name: str, successes: int, attempts: int = 100, control: int | None = 5) -> AttackResult:
    others = None if control is None else Rate(control, 100)
    details = {"AUC": 0.5, "none": float("nan")}
    return AttackResult(name, f"title of {name}", "it", Rate(successes, attempts), others, None, "So much.", details)


def found(*results: AttackResult, skipped: tuple[tuple[str, str], ...] = ()) -> Attacked[object]:
    return Attacked(results, skipped)


WON, LOST = result("linkage", 90), result("linkage", 6)
NOTHING = KeptAttacks("c0ffee")


def successes(kept: KeptAttacks, name: str = "linkage") -> list[float]:
    return [f.result.main.successes for f in kept.findings if f.result.attack == name]


@pytest.mark.parametrize(
    ("first", "second", "stay"),
    [
        ((WON, ALL, 0), (WON, ALL, 0), [90]),  # the same again
        ((WON, ALL, 0), (LOST, ALL, 0), [90]),  # as many others, who must be others
        ((LOST, ALL, 0), (WON, ALL, 0), [90]),
        ((WON, LESS, 0), (LOST, ALL, 0), [6]),  # with more
        ((LOST, LEAST, 0), (WON, LESS, 0), [90]),
        ((WON, ALL, 0), (LOST, LESS, 0), [90]),  # with less, and rosier
        ((WON, ALL, 0), (result("linkage", 60, 1000), LESS, 0), [90, 60]),  # with less, of more attempts
        ((LOST, ALL, 0), (WON, LESS, 0), [6, 90]),  # with less, and worse
        ((WON, ALL, 0), (WON, LESS, 0), [90]),  # with less, and the same
        ((WON, ALL, 0), (LOST, ALL, 1), [90, 6]),  # another draw
        ((WON, LESS, 0), (LOST, {"original": 100, "others": 31}, 0), [90, 6]),  # others to compare with
        ((WON, ALL, 0), (LOST, {"original": 50, "others": 30, "rows": 100}, 0), [90, 6]),  # half of the original
        ((WON, ALL, None), (LOST, ALL, None), [90]),  # draws that cannot be repeated
        ((LOST, ALL, None), (WON, ALL, None), [90]),
    ],
)
def test_a_result_stays_until_one_of_the_same_or_more_means(
    first: tuple[AttackResult, dict[str, int], int | None],
    second: tuple[AttackResult, dict[str, int], int | None],
    stay: list[float],
) -> None:
    kept = NOTHING
    for one, granted, seed in (first, second):
        kept = kept.joined(found(one), granted, seed)
    assert successes(kept) == stay


def test_what_was_not_run_changes_no_result() -> None:
    kept = NOTHING.joined(found(WON, result("copies", 3), skipped=(("membership", "no others"),)), ALL, 0)
    later = kept.joined(found(skipped=(("linkage", "no rows"), ("copies", "no time"))), LESS, 0)
    assert later.findings == kept.findings
    assert later.skipped == (("membership", "no others"),)
    last = later.joined(found(result("membership", 50), skipped=(("other", "no second release"),)), ALL, 0)
    assert last.skipped == (("other", "no second release"),)
    assert len(last.findings) == 3


def test_several_results_of_an_attack_are_shown_with_their_conditions() -> None:
    kept = NOTHING.joined(found(result("copies", 1), LOST), ALL, 0).joined(found(WON), LEAST, 7)
    shown = kept.shown(["linkage", "copies"])
    assert [r.attack for r in shown.results] == ["linkage", "linkage", "copies"]
    first, second, third = (r.title for r in shown.results)
    assert first == ("title of linkage (100 originals, 30 others to compare with, the origin of each row; seed 0)")
    assert second == "title of linkage (100 originals; no others to compare with; seed 7)"
    assert third == "title of copies"


def test_what_is_kept_reads_back(tmp_path: Path) -> None:
    kept = NOTHING.joined(found(WON, result("copies", 0, 0, None), skipped=(("other", "why"),)), ALL, None)
    kept.write(tmp_path)
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600
    again = KeptAttacks.read(tmp_path)
    assert again is not None
    again.write(tmp_path / "..")
    assert (tmp_path / ".." / FILE_NAME).read_text() == (tmp_path / FILE_NAME).read_text()
    assert [f.result.risk for f in again.findings] == [f.result.risk for f in kept.findings]
    assert KeptAttacks.read(tmp_path / "nowhere") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"checksum": "x", "results": [{}], "not_run": []}', "[" * 9999])
def test_what_cannot_be_read_is_not_taken_for_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(DataError, match=r"attacks\.json cannot be read as results of attacks"):
        KeptAttacks.read(tmp_path)


def test_the_file_holds_no_more_than_results(tmp_path: Path) -> None:
    NOTHING.joined(found(WON), ALL, 0).write(tmp_path)
    told = json.loads((tmp_path / FILE_NAME).read_text())
    assert set(told) == {"shoal", "checksum", "results", "not_run"}
    assert told["results"][0]["granted"] == ALL
