"""From bytes that come in to windows that go out: buffers that are bounded, and a thread that works ahead."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.errors import DataError, PolicyError
from shoal.stream.sources import ByteSource
from shoal.stream.text import RecordBuffer
from shoal.stream.windows import BadRecord, Made, StreamWindows, Window

MOST_AT_WORK = 3
"""StreamWindows that are read but not published yet; with the one that is filled, all that is in memory."""
UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Delay:
    """How long a record may wait.

    Attributes
    ----------
    records : int
        Until so many records have come in, itself included.
    seconds : float, optional
        Until so many seconds have passed, if that is earlier.
    clock : callable
        What tells the seconds.
    """

    records: int = 1000
    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic

    def refuse(self, k: int) -> None:
        """Refuse a delay in which no class can come together."""
        if isinstance(self.records, bool) or not isinstance(self.records, int) or self.records < k:
            raise PolicyError(
                f"the delay is {self.records} records, and a class takes {k}; give {k} or more, such as {100 * k}"
            )
        if self.seconds is not None and not 0 < self.seconds < float("inf"):
            raise PolicyError(f"the delay is {self.seconds:g} seconds; give more than 0")


@dataclass
class StreamCounts:
    """What went through."""

    n_in: int = 0
    n_out: int = 0
    n_windows: int = 0
    n_bytes: int = 0
    suppressed: Counter[str] = field(default_factory=Counter)

    def add(self, made: Made, n_bytes: int) -> None:
        """Count a window."""
        self.n_in += made.n_in
        self.n_out += made.n_out
        self.n_windows += 1
        self.n_bytes += n_bytes
        self.suppressed.update(made.suppressed)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**vars(self), "suppressed": dict(self.suppressed)}

    @classmethod
    def of(cls, told: dict[str, Any]) -> StreamCounts:
        """From what `to_dict` gave."""
        return cls(**{**told, "suppressed": Counter(told["suppressed"])})


class Pump:
    """Cut a stream into windows and publish them in their order.

    Iterating gives what to publish: all windows that are done before more is waited for. What is given was counted.
    """

    def __init__(
        self,
        source: ByteSource,
        windows: StreamWindows,
        delay: Delay,
        *,
        skip_bad: bool = False,
        counts: StreamCounts | None = None,
    ) -> None:
        delay.refuse(windows.k)
        self.source, self.windows, self.delay, self.skip_bad = source, windows, delay, skip_bad
        self.counts = counts or StreamCounts()
        self._is_begun = counts is not None
        self._buffer = RecordBuffer(is_quoted=windows.is_quoted)
        self._n_ahead = MOST_AT_WORK if delay.seconds is None else 1
        self._first = self.counts.n_in + 1
        self._arrived: deque[list[float]] = deque()  # numbers of records, and when they came
        self._at_work: deque[tuple[Window, int, int, Future[Any]]] = deque()

    def __iter__(self) -> Iterator[list[Made]]:
        with ExitStack() as stack:
            crew = stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="shoal-stream"))
            stack.callback(lambda: [job.cancel() for *_, job in self._at_work])
            while True:
                if self.source.can_wait and self._at_work:
                    yield [self._finish() for _ in range(len(self._at_work))]
                piece = self.source.more(self._wait())
                if piece is None:
                    break
                self._take_in(piece)
                while self._is_begun and self._buffer.n_ready >= self.delay.records:
                    self._submit(crew, self.delay.records, self.delay.records)
                    if len(self._at_work) >= self._n_ahead:
                        yield [self._finish()]
                if self._is_due():
                    self._submit(crew, self._buffer.n_ready, self._n_due())
                    yield [self._finish()]
            while self._at_work:
                yield [self._finish()]
            self._close()
            while self._buffer.n_ready:
                n = min(self._buffer.n_ready, self.delay.records)
                self._submit(crew, n, n)
                yield [self._finish()]

    def _close(self) -> None:
        self._buffer.close()
        if not self._is_begun and self._buffer.n_ready:
            self._begin()
        if not self._is_begun:
            raise DataError("nothing came in, not even a header; give records")

    def _take_in(self, piece: bytes) -> None:
        before = self._buffer.n_ready
        self._buffer.feed(piece)
        if not self._is_begun and self._buffer.n_ready:
            self._begin()
            before = 0
        if self.delay.seconds is not None and self._buffer.n_ready > before:
            self._arrived.append([self._buffer.n_ready - before, self.delay.clock()])

    def _begin(self) -> None:
        """Read the header, and everything after it as the header says."""
        text = self._buffer.take(self._buffer.n_ready)
        rest = self._buffer.rest()
        line = text[: text.index(b"\n") + 1]
        n_head = self.windows.begin(line)
        self.counts.n_bytes += n_head
        self.source.header = line[:n_head]
        self._buffer = RecordBuffer(is_quoted=self.windows.is_quoted)
        self._buffer.feed(text[n_head:] + rest)
        self._is_begun = True

    def _wait(self) -> float | None:
        """For how long nothing has to go out."""
        if self.delay.seconds is None or not self._arrived:
            return None
        return max(0.0, self._arrived[0][1] + self.delay.seconds - self.delay.clock())

    def _is_due(self) -> bool:
        return self._wait() == 0.0 and self._buffer.n_ready > 0

    def _n_due(self) -> int:
        assert self.delay.seconds is not None
        now = self.delay.clock()
        return int(sum(n for n, when in self._arrived if when + self.delay.seconds <= now))

    def _submit(self, crew: ThreadPoolExecutor, n: int, n_due: int) -> None:
        text = self._buffer.take(n)
        window, prepared = self._prepared(Window(self._first, text, n, n_due))
        self._first += n
        job = crew.submit(self._worked, prepared)
        self._at_work.append((window, n, len(text), job))

    def _worked(self, prepared: Any) -> Any:
        return None if prepared is None else self.windows.work(prepared)

    def _prepared(self, window: Window) -> tuple[Window, Any]:
        """Read a window, without records that cannot be read if they are to be passed over."""
        while True:
            try:
                return window, self.windows.prepare(window)
            except BadRecord as error:
                if not self.skip_bad:
                    raise
                window = without(window, error.number - window.first, is_quoted=self.windows.is_quoted)
                if not window.n_records:
                    return window, None

    def _finish(self) -> Made:
        window, n, n_bytes, job = self._at_work.popleft()
        worked = job.result()
        made = Made(b"", 0, 0) if worked is None else self.windows.finish(worked)
        if n > window.n_records:
            made.suppressed[UNREADABLE] = n - window.n_records
            made.n_in += n - window.n_records
        if made.n_in < n:  # the last of them may wait for others
            kept = RecordBuffer(is_quoted=self.windows.is_quoted)
            kept.feed(window.text)
            n_bytes = len(kept.take(made.n_in))
            self._buffer.put_back(window.text[n_bytes:])
            self._first -= n - made.n_in
        self._forget(made.n_in)
        self.counts.add(made, n_bytes)
        return made

    def _forget(self, n: int) -> None:
        """Records went out: when they came does not matter any more."""
        while n > 0 and self._arrived:
            part = min(n, int(self._arrived[0][0]))
            self._arrived[0][0] -= part
            n -= part
            if not self._arrived[0][0]:
                self._arrived.popleft()


def without(window: Window, place: int, *, is_quoted: bool) -> Window:
    """A window without one of its records."""
    records = RecordBuffer(is_quoted=is_quoted)
    records.feed(window.text)
    before = records.take(place)
    records.take(1)
    after = records.take(records.n_ready)
    n = window.n_records - 1
    return replace(window, text=before + after, n_records=n, n_due=n)
