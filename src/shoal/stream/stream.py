"""`shoal.stream`: publish records while they come in."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from shoal.check.guarantee import Guarantee
from shoal.errors import DataError, NotVerified, PolicyError
from shoal.shown import Grid, Shown
from shoal.stream.journal import PERSONS, Journal, alone_with
from shoal.stream.pump import Delay, Pump, StreamCounts
from shoal.stream.sources import ByteSource, PipeSource, RecordSource, open_source
from shoal.stream.windows import Made, StreamWindows

if TYPE_CHECKING:
    from shoal.progress import Progress

DELAY = 1000
_COMMIT = 1 << 22


@dataclass(frozen=True, repr=False)
class Streamed(Shown):
    """What became of a stream."""

    records: dict[str, int]
    """How many came in, went out and were suppressed."""
    suppressed: dict[str, int]
    """How many were suppressed for which reason."""
    windows: int
    loss: dict[str, float]
    """What the protection cost, by name; of tables the normalized certainty penalty (NCP)."""
    guarantees: tuple[Guarantee, ...] = ()
    """Recomputed from what was published; none where it went to a pipe."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        guarantees = [g.to_dict() for g in self.guarantees]
        return {**vars(self), "guarantees": guarantees}

    def shown(self) -> list[str | Grid]:
        """A few lines."""
        told = self.records
        lines = [
            f"{told['out']:,} of {told['in']:,} records published in {self.windows:,} windows, "
            f"{told['suppressed']:,} suppressed."
        ]
        lines += [f"  {n:,} suppressed: {reason}" for reason, n in self.suppressed.items()]
        lines += [f"  {name} {value:.4f}" for name, value in list(self.loss.items())[:1]]
        lines += [f"  {'holds' if g.holds else 'FAILS'}  {g.sentence}" for g in self.guarantees]
        return list(lines)


class Stream:
    """A stream that was asked for: iterate over it, or save it; either once.

    Attributes
    ----------
    result : Streamed
        After the last record: what became of the stream.
    """

    def __init__(self, source: Any, kind: Any, policy: Any, delay: Delay, asked: dict[str, Any]) -> None:
        self._source, self._kind, self._policy, self._delay, self._asked = source, kind, policy, delay, asked
        self.result: Streamed | None = None

    def _windows(self) -> StreamWindows:
        found: StreamWindows = self._kind.windows(self._policy, seed=self._asked["seed"], key=self._asked["key"])
        self._delay.refuse(found.k)
        return found

    def _open(self) -> ByteSource:
        source = self._source
        if isinstance(source, ByteSource):
            return source
        if isinstance(source, str | Path):
            return open_source(Path(source), once=self._asked["once"])
        if hasattr(source, "fileno"):
            return PipeSource(source)
        lines = map(self._kind.stream_line, source)
        return RecordSource(lines, self._delay.records if self._delay.seconds is None else 1)

    def __iter__(self) -> Iterator[Any]:
        """Published records, as they come out: of tables dicts, of others what stands on a line."""
        windows = self._windows()
        source = self._open()
        pump = Pump(source, windows, self._delay, skip_bad=self._asked["skip_bad"])
        try:
            for done in pump:
                for made in done:
                    yield from self._kind.stream_records(made.data, windows)
        finally:
            source.close()
            self.result = _result(pump.counts, windows)

    def write(self, out: BinaryIO, progress: Progress | None = None) -> Streamed:
        """Write published records to a pipe, each window as soon as it is made."""
        windows = self._windows()
        source = self._open()
        pump = Pump(source, windows, self._delay, skip_bad=self._asked["skip_bad"])
        has_head = False
        try:
            for done in pump:
                data = b"".join(made.data for made in done)
                if data and not has_head:
                    data, has_head = windows.head() + data, True
                out.write(data)
                out.flush()
                if progress is not None:
                    progress("records", pump.counts.n_in, 0)
        finally:
            source.close()
        self.result = _result(pump.counts, windows)
        return self.result

    def save(self, out: str | Path, progress: Progress | None = None) -> Streamed:
        """Publish into a folder, `publish/` and `private/`; a folder that a killed run left is gone on with.

        At the end all that was published is checked and a manifest is written beside it.
        """
        windows, source = self._windows(), self._open()
        with closing(source), alone_with(Path(out), self._fingerprint()) as journal:
            return self._save(journal, source, windows, progress)

    def _save(
        self, journal: Journal, source: ByteSource, windows: StreamWindows, progress: Progress | None
    ) -> Streamed:
        counts, has_head = None, False
        if journal.remembered is not None:
            counts = StreamCounts.of(journal.remembered["counts"])
            windows.restore(journal.remembered["windows"])
            source.skip(counts.n_bytes, journal.remembered["mark"])
            has_head = journal.remembered["has_head"]
        pump = Pump(source, windows, self._delay, skip_bad=self._asked["skip_bad"], counts=counts)
        waiting: list[Made] = []

        def commit() -> None:
            nonlocal has_head
            data = b"".join(made.data for made in waiting)
            persons = b"".join(made.persons.astype("<i4").tobytes() for made in waiting if made.persons is not None)
            if data and not has_head:
                data, has_head = windows.head() + data, True
            state = {
                "counts": pump.counts.to_dict(),
                "windows": windows.state(),
                "mark": source.mark(pump.counts.n_bytes),
                "has_head": has_head,
            }
            journal.commit(data, persons, windows.file_name, state)
            waiting.clear()

        for done in pump:
            waiting += done
            if source.can_wait or sum(len(made.data) for made in waiting) >= _COMMIT:
                commit()
            if progress is not None:
                progress("records", pump.counts.n_in, 0)
        commit()
        self.result = self._end(journal, pump.counts, windows)
        return self.result

    def _fingerprint(self) -> str:
        """What has to be the same to go on: policy and delay."""
        told = f"{self._policy!r} {self._delay.records} {self._delay.seconds} {self._asked['skip_bad']}"
        return hashlib.sha256(told.encode()).hexdigest()

    def _end(self, journal: Journal, counts: StreamCounts, windows: StreamWindows) -> Streamed:
        """Check all that was published, say so beside it, and let the journal go."""
        from shoal.check.stream.folder import check_stream
        from shoal.report.stream import PAGE_FILE, render_stream_report
        from shoal.scratch import write_owned
        from shoal.stream.manifest import REPORT, stream_manifest, stream_report

        made = _result(counts, windows)
        if not counts.n_out:
            raise DataError(
                "nothing could be published: no window had a class of k persons; give more records, or a greater delay"
            )
        manifest = stream_manifest(made, windows, self._kind.name, self._delay, journal.publish)
        found = check_stream(journal.publish, manifest, journal.private / PERSONS)
        if found.fails or (found.unverified and not windows.is_released):
            failed = [*(g.sentence for g in found.guarantees if not g.holds), *found.findings, *found.unverified]
            raise NotVerified(
                f"the stream failed its own check, and no manifest was written: {failed[0]} This is a defect of Shoal; "
                "please report it"
            )
        result = Streamed(made.records, made.suppressed, made.windows, made.loss, found.guarantees)
        write_owned(
            journal.private / REPORT, stream_report(result, self._policy, manifest["checksums"]), overwrite=True
        )
        publish = str(manifest.get("method", {}).get("publish", ""))
        page = render_stream_report(result, self._delay, windows.attacker, found.unverified, publish)
        write_owned(journal.private / PAGE_FILE, page, overwrite=True)
        public = {**manifest, "guarantees": [_public(g) for g in found.guarantees]}
        journal.end(json.dumps(public, indent=2, ensure_ascii=False) + "\n")
        return result


def _public(guarantee: Guarantee) -> dict[str, Any]:
    return {n: v for n, v in guarantee.to_dict().items() if n != "worst"}


def _result(counts: StreamCounts, windows: StreamWindows) -> Streamed:
    n_suppressed = sum(counts.suppressed.values())
    records = {"in": counts.n_in, "out": counts.n_out, "suppressed": n_suppressed}
    return Streamed(records, dict(counts.suppressed), counts.n_windows, windows.loss(counts.n_out))


def stream(
    source: str | Path | BinaryIO | ByteSource | Iterable[Any],
    policy: Any = None,
    *,
    delay: int = DELAY,
    seconds: float | None = None,
    seed: int | None = None,
    key: bytes | None = None,
    once: bool = True,
    skip_bad: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> Stream:
    """Publish records while they come in, each after at most a delay, in a class of at least k persons.

    Parameters
    ----------
    source : iterable of records, path of a file or folder, or open pipe
        Records of a table are dicts; strings are str, or lists of tokens; sparse records are lists of items. A file
        holds CSV with a header, or JSON objects, one a line; strings and sparse records one a line.
    policy : policy, or path or dict of one
        As for `shoal.anonymize`. Of tables, what columns are that the policy does not say is told by the first window.
    delay : int
        A record comes out before more than so many have come in, itself included.
    seconds : float, optional
        And at most so many seconds later. From an iterable, the clock is looked at when a record comes.
    seed : int, optional
        Makes a stream repeatable; a secret.
    key : bytes, optional
        Of sketches: the key of another release.
    once : bool
        Of a folder: whether the stream ends with the files that are there, or waits for more.
    skip_bad : bool
        Whether records that cannot be read are passed over and counted, instead of ending the stream.
    clock : callable
        What tells the seconds.

    Returns
    -------
    Stream
        To iterate over, or to `save` into a folder.

    Examples
    --------
    >>> import shoal
    >>> people = ({"age": 20 + i % 40, "disease": "flu"} for i in range(100))
    >>> asked = shoal.Policy.of(quasi=["age"], sensitive=["disease"], k=5)
    >>> records = list(shoal.stream(people, asked, delay=50, seed=1))
    >>> len(records), sorted(records[0])
    (100, ['age', 'disease'])
    """
    from shoal.kind import default_kind, kind_of_policy, meant_policy

    policy = meant_policy(policy, default_kind()) if policy is not None else default_kind().policy()
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise PolicyError("the seed is not a whole number from 0 on; give one, or none")
    asked = {"seed": seed, "key": key, "once": once, "skip_bad": skip_bad}
    return Stream(source, kind_of_policy(policy), policy, Delay(delay, seconds, clock), asked)
