"""Records published while they come in, beside Mondrian on each window alone."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np

import shoal
from benchmarks.harness import Case, Setting, timed
from shoal.tables.partition.mondrian import Mondrian

DELAY, K, NAMES = 1000, 10, ("a", "b", "c", "d", "e", "f")


class _Nowhere(io.RawIOBase):
    def write(self, data: Any) -> int:
        return len(data)


def cases(setting: Setting) -> Iterator[Case]:
    """Six numbers, read from a file and written nowhere."""
    n_rows = setting.rows(100_000)
    rows = np.random.default_rng(1).gamma(2.0, 20.0, (n_rows, len(NAMES))).round()
    path = setting.folder / "stream.csv"
    text = "".join(",".join(str(int(v)) for v in row) + "\n" for row in rows)
    path.write_text(",".join(NAMES) + "\n" + text)
    policy = shoal.Policy.of(quasi=list(NAMES), k=K)

    def stream() -> None:
        shoal.stream(path, policy, delay=DELAY, seed=1).write(_Nowhere())  # type: ignore[arg-type]

    def mondrian() -> None:
        for begin in range(0, n_rows, DELAY):
            Mondrian(k=K).fit_predict(rows[begin : begin + DELAY])

    yield Case(
        "stream",
        f"six numbers, a delay of {DELAY:,}",
        f"{n_rows:,} records",
        [
            timed("shoal stream, from bytes to bytes", stream, at_most=n_rows / 200_000),
            timed("Mondrian on windows, arrays alone", mondrian),
        ],
    )
