"""Windows of strings and sparse records: each is condensed, or sketched, as a release of its own, and checked as one.

The statistics of condensed groups are sums, so a group could take strings in for ever, and split when it has 2k
(Aggarwal and Yu). We let it end with its window instead: what is drawn from a group then comes out with all of the
group, at once, and every window is checked by the checker of its kind before a byte of it goes out. Sketches need
nothing but the key, which is one for the whole stream.

**Guarantee.** Every window is what `shoal.anonymize` promises of its records. **Not protected.** A pseudo-string is
compared with the originals of its window alone, so it may equal one of another window; and one who comes again in
several windows.

References
----------
C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and Knowledge
Discovery 16(3), 2008.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import DataError, Infeasible, PolicyError
from shoal.kernels.compile import interpreted
from shoal.kind import Kind, Run
from shoal.scratch import scratch_folder
from shoal.stream.windows import Made, StreamWindows, Window

NO_RELEASE = "a window that could not be released"
_READ, _WRITTEN = "window.txt", "release"


@dataclass
class _Prepared:
    window: Window
    seed: int
    release: Any = None
    data: bytes = b""


class ReleaseWindows(StreamWindows):
    """Publish windows, each as a release.

    Parameters
    ----------
    kind : Kind
        What the records are.
    policy : policy
        Which has to say in what format they stand on their lines, one record a line.
    formats : tuple of str
        Formats with one record a line.
    seed : int, optional
    key : bytes, optional
        Of sketches.
    lines : callable
        What is published of a release that was written to a path, one record a line; by default what stands there.
    """

    is_released = True

    def __init__(
        self,
        kind: Kind,
        policy: Any,
        formats: tuple[str, ...],
        seed: int | None = None,
        key: bytes | None = None,
        lines: Callable[[Any, Path], bytes] = lambda _, path: path.read_bytes(),
    ) -> None:
        if policy.input.format not in formats:
            raise PolicyError(
                f"a stream of {policy.plural} has one on each line, so input.format has to be "
                f"{' or '.join(map(repr, formats))}; say so in the policy"
            )
        if policy.input.person:
            raise PolicyError(
                f"persons of {policy.plural} are told by a column, and a stream has none; leave person out"
            )
        self.kind, self.policy, self.key, self._lines = kind, policy, key, lines
        self.k = int(policy.k or 2)
        self._entropy = np.random.SeedSequence(seed).entropy
        self._n_windows = 0
        self._guarantees: dict[str, dict[str, Any]] = {}

    @property
    def file_name(self) -> str:
        return "data.txt"

    def begin(self, line: bytes) -> int:
        return 0

    def head(self) -> bytes:
        return b""

    def prepare(self, window: Window) -> _Prepared:
        self._n_windows += 1
        own = np.random.SeedSequence(self._entropy, spawn_key=(self._n_windows,))
        return _Prepared(window, int(own.generate_state(1)[0]))

    def work(self, prepared: _Prepared) -> _Prepared:
        with scratch_folder() as folder:
            (folder / _READ).write_bytes(prepared.window.text)
            try:
                data = self.kind.load(folder / _READ, self.policy)
            except DataError as error:
                where = str(folder / _READ)
                first = prepared.window.first
                told = str(error).replace(where, f"the window that begins with record {first:,}")
                raise DataError(told) from None
            try:
                with interpreted(self.kind.is_small(data, self.policy)):
                    run = Run(seed=prepared.seed, key=self.key)
                    made = self.kind.release(data, self.policy, run, like=None, held_out=None)
            except Infeasible:
                return prepared
            (folder / _WRITTEN).mkdir()
            prepared.data = self._lines(made, made._checked_file().put(folder / _WRITTEN))
            prepared.release = made
        return prepared

    def finish(self, worked: _Prepared) -> Made:
        made, n = worked.release, worked.window.n_records
        if made is None:
            n = worked.window.n_due
            return Made(b"", n, 0, {NO_RELEASE: n})
        for guarantee in made.guarantees:
            self._note(guarantee)
        suppressed = {reason: count for reason, count in made.suppressed.items() if count}
        n_left = n - made.records["out"] - sum(suppressed.values())
        if n_left > 0:
            suppressed["empty, or drawn as a copy"] = n_left
        return Made(worked.data, n, made.records["out"], suppressed)

    def _note(self, guarantee: Any) -> None:
        """Count the windows in which a guarantee was found to hold; none goes out in which it does not."""
        told = guarantee.to_dict()
        name = f"{guarantee.model} {guarantee.kind} {guarantee.sensitive}"
        known = self._guarantees.setdefault(name, {n: told[n] for n in ("model", "kind", "required")} | {"windows": 0})
        known["windows"] += 1

    def state(self) -> dict[str, Any]:
        key = None if self.key is None else self.key.hex()
        told = self._guarantees
        return {"entropy": str(self._entropy), "windows": self._n_windows, "key": key, "guarantees": told}

    def restore(self, state: dict[str, Any]) -> None:
        self._entropy, self._n_windows = int(state["entropy"]), state["windows"]
        self.key = None if state["key"] is None else bytes.fromhex(state["key"])
        self._guarantees = state["guarantees"]

    def told(self) -> dict[str, Any]:
        return {
            "require": [r.model_dump(exclude_none=True) for r in self.policy.require],
            "method": self.policy.told(),
            "of_windows": list(self._guarantees.values()),
        }


def sketch_lines(release: Any, _: Path) -> bytes:
    """Sketches as JSON objects, one a line, as columns of a Parquet file would have them."""
    sketches = release.sketches
    if not sketches.is_integral:
        raise PolicyError("sketches of real weights stand on a grid that a stream does not know; take binary or counts")
    parts = np.split(sketches.components, sketches.starts[1:-1])
    rows: list[dict[str, Any]] = [{"sketch": part.tolist()} for part in parts]
    if sketches.labels is not None:
        for row, label in zip(rows, sketches.labels.tolist(), strict=True):
            row["label"] = sketches.classes[label]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
