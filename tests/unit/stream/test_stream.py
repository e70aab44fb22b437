"""The verb: records in, records out, a folder that is checked, and going on after a stop."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.data.tables.labels import read_label
from shoal.errors import DataError, PolicyError
from shoal.stream import journal as journal_home
from shoal.stream import stream as home


def people(n: int, seed: int = 1) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    return [
        {"id": f"p{i}", "age": int(a), "disease": f"d{d}"}
        for i, a, d in zip(rng.integers(0, 50, n), rng.integers(18, 90, n), rng.integers(0, 5, n), strict=True)
    ]


def asked(**more: Any) -> shoal.Policy:
    return shoal.Policy.of(quasi=["age"], sensitive=["disease"], identifying=["id"], **{"k": 4, **more})


def as_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("id,age,disease\n" + "".join(f"{r['id']},{r['age']},{r['disease']}\n" for r in rows))
    return path


def test_an_iterator_gives_what_comes_out_in_time() -> None:
    n_read = 0

    def source() -> Iterator[dict[str, Any]]:
        nonlocal n_read
        for row in people(95):
            n_read += 1
            yield row

    opened = shoal.stream(source(), asked(), delay=20, seed=1)
    for n_out, record in enumerate(opened):
        assert set(record) == {"age", "disease"}
        assert n_read - n_out <= 20
    assert opened.result is not None
    assert opened.result.records == {"in": 95, "out": 95, "suppressed": 0}
    assert 0 < opened.result.loss["NCP"] < 1


@pytest.mark.parametrize("place", [0, 7, 30])
@pytest.mark.parametrize("bad", ["unknown", "inf"])
def test_a_bad_record_of_any_window_can_be_passed_over_where_the_policy_says_the_type(place: int, bad: str) -> None:
    rows = people(40)
    rows[place]["age"] = bad
    policy = asked().changed(columns={"age": {"role": "quasi", "type": "continuous"}, "disease": {"role": "sensitive"}})
    opened = shoal.stream(rows, policy, delay=20, seed=1, skip_bad=True)
    assert len(list(opened)) == 39
    assert opened.result is not None
    assert opened.result.suppressed == {"unreadable": 1}
    with pytest.raises(DataError, match=f"record {place + 1}: column 'age' holds no finite number"):
        list(shoal.stream(rows, policy, delay=20, seed=1))


def test_a_clock_can_be_given() -> None:
    ticks = iter(range(10_000))
    opened = shoal.stream(people(40), asked(), delay=1000, seconds=30.0, seed=1, clock=lambda: float(next(ticks)))
    assert len(list(opened)) == 40
    assert opened.result is not None
    assert opened.result.windows > 1


def test_a_folder_is_checked_and_says_what_it_is(tmp_path: Path) -> None:
    source = as_csv(tmp_path / "people.csv", people(90))
    made = shoal.stream(source, asked(person="id", l=2), delay=30, seed=1).save(tmp_path / "out")
    assert [g.holds for g in made.guarantees] == [True, True]
    manifest = json.loads((tmp_path / "out/publish/manifest.json").read_text())
    assert manifest["stream"]["delay"] == {"records": 30, "seconds": None}
    assert manifest["records"] == {"in": 90, "out": 90, "suppressed": 0}
    assert sorted(p.name for p in (tmp_path / "out/private").iterdir()) == ["persons.bin", "report.html", "stream.json"]
    assert "p1" not in (tmp_path / "out/private/stream.json").read_text()
    found = shoal.check(tmp_path / "out", source)
    assert found.is_whole, found.findings
    assert "30 seconds" not in repr(made)


class Killed(Exception):
    pass


@pytest.mark.parametrize("at", [0, 1, 2, 5, 9])
def test_a_stream_goes_on_where_it_was_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    source = as_csv(tmp_path / "people.csv", people(200))
    whole = shoal.stream(source, asked(), delay=25, seed=1).save(tmp_path / "whole")
    left, real = [at], journal_home._append

    def append(path: Path, data: bytes) -> None:
        if not left[0]:
            raise Killed
        left[0] -= 1
        real(path, data)

    monkeypatch.setattr(home, "_COMMIT", 1)
    monkeypatch.setattr(journal_home, "_append", append)
    killed = False
    try:
        shoal.stream(source, asked(), delay=25, seed=1).save(tmp_path / "out")
    except Killed:
        killed = True
    assert killed == (at < 9)
    if killed:
        monkeypatch.setattr(journal_home, "_append", real)
        again = shoal.stream(source, asked(), delay=25, seed=99).save(tmp_path / "out")
        assert again.records == whole.records
        assert again.windows == whole.windows
    texts = [(tmp_path / f"{name}/publish/data.csv").read_text().splitlines() for name in ("whole", "out")]
    assert sorted(texts[0]) == sorted(texts[1])
    assert shoal.check(tmp_path / "out", source).is_whole


def test_a_stream_whose_last_line_has_no_end_goes_on_after_its_last_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = as_csv(tmp_path / "people.csv", people(60))
    source.write_bytes(source.read_bytes().removesuffix(b"\n"))

    def killed(*_: Any) -> Any:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(home.Stream, "_end", killed)
        with pytest.raises(Killed):
            shoal.stream(source, asked(), delay=25, seed=1).save(tmp_path / "out")
    assert shoal.stream(source, asked(), delay=25, seed=1).save(tmp_path / "out").records["out"] == 60
    assert {p.stat().st_mode & 0o777 for p in (tmp_path / "out/private").iterdir()} == {0o600}


def test_lines_go_to_a_pipe_under_one_header(tmp_path: Path) -> None:
    out = io.BytesIO()
    made = shoal.stream(as_csv(tmp_path / "people.csv", people(50)), asked(), delay=20, seed=1).write(out)
    lines = out.getvalue().decode().splitlines()
    assert (lines[0], len(lines), made.windows) == ("age,disease", 51, 3)


def test_averages_come_out_in_classes_too(tmp_path: Path) -> None:
    source = as_csv(tmp_path / "people.csv", people(60))
    made = shoal.stream(source, asked(publish="aggregate"), delay=30, seed=1).save(tmp_path / "out")
    assert [g.holds for g in made.guarantees] == [True]
    assert 0 < made.loss["IL"] < 0.5
    found = shoal.check(tmp_path / "out", source)
    assert found.holds
    assert not found.is_whole


def test_a_file_can_be_iterated_over_too(tmp_path: Path) -> None:
    rows = list(shoal.stream(as_csv(tmp_path / "people.csv", people(50)), asked(), delay=20, seed=1))
    assert len(rows) == 50
    assert {tuple(row) for row in rows} == {("age", "disease")}


def test_a_folder_of_files_is_one_stream(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    rows = people(60)
    for i in range(3):
        as_csv(tmp_path / f"in/{i}.csv", rows[20 * i : 20 * i + 20])
    whole = as_csv(tmp_path / "people.csv", rows)
    made = shoal.stream(tmp_path / "in", asked(), delay=25, seed=1).save(tmp_path / "out")
    assert made.records["out"] == 60
    assert shoal.check(tmp_path / "out", whole).is_whole


def test_a_record_in_the_place_of_the_header_is_not_quoted(tmp_path: Path) -> None:
    source = as_csv(tmp_path / "people.csv", people(20))
    source.write_text(source.read_text().split("\n", 1)[1])
    first = source.read_text().split(",")[0]
    with pytest.raises(PolicyError, match="does not name the column 'age'") as caught:
        list(shoal.stream(source, asked(), delay=10))
    assert repr(first) not in str(caught.value)


def test_nothing_that_could_be_published_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nothing could be published"):
        shoal.stream(as_csv(tmp_path / "people.csv", people(3)), asked(), delay=20).save(tmp_path / "out")


def test_what_is_no_question_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="the seed"):
        shoal.stream([], asked(), seed=-1)
    with pytest.raises(PolicyError, match="the delay is 3 records"):
        list(shoal.stream([], asked(), delay=3))
    with pytest.raises(PolicyError, match="a key is for sketches"):
        list(shoal.stream([], asked(), key=bytes(32)))
    with pytest.raises(DataError, match="has to be a dict"):
        list(shoal.stream(["text"], asked()))
    with pytest.raises(DataError, match="nothing came in"):
        list(shoal.stream([], asked()))


def test_what_became_of_it_is_shown() -> None:
    opened = shoal.stream(people(43), asked(), delay=20, seed=1)
    list(opened)
    assert opened.result is not None
    assert opened.result.suppressed == {"fewer than k persons in a window": 3}
    assert "40 of 43 records published in 3 windows, 3 suppressed." in repr(opened.result)


def covers(label: str, value: str) -> bool:
    """Whether a label says what may be true of a value, by a reading of its own."""
    told = read_label(label)
    if told.kind == "everything":
        return True
    if value in ("", "?"):
        return told.may_miss or label == ""
    if told.kind == "range":
        return float(told.values[0]) <= float(value) <= float(told.values[1])
    return value in told.values or (label != "" and told.kind == "value" and told.values[0] == value)


@pytest.mark.parametrize("seed", range(12))
def test_an_attacker_who_knows_everything_but_who_is_who_is_left_with_k_persons(seed: int) -> None:
    """The attacker has all quasi-identifiers, and sees after how many arrivals, and in which order, records come out.

    Rows that come out at once, one after the other, with the same labels are one class to him. Its candidates are the
    persons with a record that came in since the last time that something came out, and that the labels cover.
    """
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(30, 160)), int(rng.integers(2, 7))
    delay = int(rng.integers(k, 50))
    rows = [
        {
            "id": f"p{rng.integers(0, 60)}",
            "age": "?" if rng.random() < 0.05 else str(rng.integers(0, 40)),
            "job": rng.choice(["a", "b", "c, d", ""]),
            "disease": f"d{rng.integers(0, 4)}",
        }
        for _ in range(n)
    ]
    missing = ["value", "any"][seed % 2]
    types = {"age": {"type": "continuous"}, "job": {"type": "nominal"}}
    policy = shoal.Policy.of(
        quasi=["age", "job"], sensitive=["disease"], person="id", k=k, missing=missing, columns=types
    )
    n_came = 0

    def source() -> Iterator[dict[str, Any]]:
        nonlocal n_came
        for row in rows:
            n_came += 1
            yield row

    opened = shoal.stream(source(), policy, delay=delay, seed=seed)
    out = [(n_came, row) for row in opened]
    begin, times = 0, sorted({when for when, _ in out})
    for when in times:
        shown = [row for time, row in out if time == when]
        for labels, group in groupby(shown, key=lambda row: (row["age"], row["job"])):
            members = list(group)
            fits = [r for r in rows[begin:when] if covers(labels[0], r["age"]) and covers(labels[1], r["job"])]
            assert len({r["id"] for r in fits}) >= k
            assert len(members) >= k
            assert {m["disease"] for m in members} <= {r["disease"] for r in fits}
        begin = when - when % delay if when == n else when
    assert opened.result is not None
    assert opened.result.records["out"] == len(out)
    assert opened.result.records["suppressed"] == n - len(out)
