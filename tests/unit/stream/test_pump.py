"""Windows out of bytes: sizes, clocks, bad records, and what is counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from shoal.errors import DataError, PolicyError
from shoal.stream.pump import Delay, Pump, StreamCounts, without
from shoal.stream.sources import ByteSource
from shoal.stream.windows import BadRecord, Made, StreamWindows, Window


class Echo(StreamWindows):
    """Publish what came in, window by window; fewer than k records are no class."""

    file_name = "data.txt"

    def __init__(self, k: int = 2) -> None:
        self.k = k
        self.seen: list[Window] = []

    def begin(self, line: bytes) -> int:
        return len(line) if line.startswith(b"#") else 0

    def head(self) -> bytes:
        return b""

    def prepare(self, window: Window) -> Window:
        for i, line in enumerate(window.text.splitlines()):
            if line == b"bad":
                raise BadRecord(window.first + i, "is bad")
        return window

    def work(self, prepared: Window) -> Window:
        return prepared

    def finish(self, worked: Window) -> Made:
        if worked.n_records < self.k:
            return Made(b"", worked.n_due, 0, {"few": worked.n_due})
        self.seen.append(worked)
        return Made(worked.text, worked.n_records, worked.n_records)

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        pass

    def told(self) -> dict[str, Any]:
        return {}


class Pieces(ByteSource):
    """Given pieces, and a clock that moves with each."""

    def __init__(self, *pieces: bytes, seconds: float = 0.0, can_wait: bool = True) -> None:
        self.pieces, self.seconds, self.now, self.can_wait = list(pieces), seconds, 0.0, can_wait

    def read(self, wait: float | None) -> bytes | None:
        self.now += self.seconds
        return self.pieces.pop(0) if self.pieces else None


def texts(pump: Pump) -> Iterator[bytes]:
    return (made.data for done in pump for made in done)


@pytest.mark.parametrize("can_wait", [True, False])
@pytest.mark.parametrize("cut", [1, 3, 5, 50])
def test_windows_are_full_and_the_last_is_what_is_left(cut: int, can_wait: bool) -> None:
    text = b"#head\n" + b"".join(f"{i}\n".encode() for i in range(11))
    pieces = [text[i : i + cut] for i in range(0, len(text), cut)]
    windows = Echo()
    pump = Pump(Pieces(*pieces, can_wait=can_wait), windows, Delay(4))
    assert list(texts(pump)) == [b"0\n1\n2\n3\n", b"4\n5\n6\n7\n", b"8\n9\n10\n"]
    assert [w.first for w in windows.seen] == [1, 5, 9]
    assert pump.counts.to_dict() == {
        "n_in": 11,
        "n_out": 11,
        "n_windows": 3,
        "n_bytes": len(text),
        "suppressed": {},
    }
    assert StreamCounts.of(pump.counts.to_dict()) == pump.counts


def test_no_record_waits_for_more_than_the_delay() -> None:
    pieces = [f"{i}\n".encode() for i in range(20)]
    source = Pieces(*pieces)
    n_out = 0
    for data in texts(Pump(source, Echo(), Delay(5))):
        n_out += data.count(b"\n")
        assert 20 - len(source.pieces) - n_out < 5


def test_what_is_left_and_no_class_is_suppressed_and_counted() -> None:
    pump = Pump(Pieces(b"1\n2\n3\n"), Echo(), Delay(2))
    assert list(texts(pump)) == [b"1\n2\n", b""]
    assert pump.counts.suppressed == {"few": 1}


def test_the_clock_closes_a_window() -> None:
    source = Pieces(*(f"{i}\n".encode() for i in range(6)), seconds=1.0)
    pump = Pump(source, Echo(), Delay(100, 2.0, lambda: source.now))
    assert list(texts(pump)) == [b"0\n1\n2\n", b"3\n4\n5\n"]


def test_who_may_still_wait_is_kept_where_there_is_no_class() -> None:
    source = Pieces(b"0\n", b"", b"1\n", b"2\n", b"3\n", b"4\n", seconds=1.0)
    pump = Pump(source, Echo(3), Delay(100, 2.0, lambda: source.now))
    assert list(texts(pump)) == [b"", b"1\n2\n3\n", b""]
    assert pump.counts.suppressed == {"few": 2}
    assert (pump.counts.n_in, pump.counts.n_bytes) == (5, 10)


def test_a_bad_record_ends_the_stream_or_is_passed_over() -> None:
    with pytest.raises(DataError, match="record 3: is bad"):
        list(texts(Pump(Pieces(b"1\n2\nbad\n4\n"), Echo(), Delay(4))))
    pump = Pump(Pieces(b"1\nbad\nbad\n4\nbad\nbad\nbad\nbad\n9\n9\n"), Echo(), Delay(4), skip_bad=True)
    assert list(texts(pump)) == [b"1\n4\n", b"", b"9\n9\n"]
    assert (pump.counts.n_in, pump.counts.n_out, pump.counts.suppressed["unreadable"]) == (10, 4, 6)


def test_nothing_at_all_is_told() -> None:
    with pytest.raises(DataError, match="nothing came in"):
        list(Pump(Pieces(), Echo(), Delay(4)))


@pytest.mark.parametrize("delay", [Delay(1), Delay(5, 0.0), Delay(5, -1.0), Delay(True), Delay(5, float("nan"))])
def test_a_delay_in_which_there_is_no_class_is_refused(delay: Delay) -> None:
    with pytest.raises(PolicyError, match="the delay is"):
        Pump(Pieces(), Echo(2), delay)


def test_a_window_without_a_record() -> None:
    window = without(Window(5, b'a\n"b\nc"\nd\n', 3, 2), 1, is_quoted=True)
    assert window == Window(5, b"a\nd\n", 2, 2)
