"""``shoal`` as its command line starts it, but killed (SIGKILL) at a moment that does not depend on time.

``python -m tests.e2e.killed_at MOMENT HOW anonymize ...``, where MOMENT is a step that has just been finished, such as
``table``; with ``in:`` before it, it is written and does not have its name yet; ``saved`` is when the release stands and
nothing is removed yet, ``never`` is never. HOW is ``held``, or ``spilled``: as if no distinct row fitted into memory.

In the place of a kill, ``interrupt:`` before a moment sends what Ctrl-C does, ``wait:`` says so on standard error and
reads a line, and ``full:`` lets no file grow from there on.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shoal.cli.app import main
from shoal.data.tables import parquet
from shoal.resume import FinishedStep, StepFolder
from shoal.tables.spilled import averages, make

BLOCK_ROWS = 300
"""Rows of a block, of few enough that there are several."""


def kill() -> None:
    """At once, and without a chance to clear away."""
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt() -> None:
    """As Ctrl-C does."""
    os.kill(os.getpid(), signal.SIGINT)


def wait() -> None:
    """Until somebody says to go on."""
    print("waiting", file=sys.stderr, flush=True)
    sys.stdin.readline()


def fill_disk() -> None:
    """No file may grow any more."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


DO = {"interrupt": interrupt, "wait": wait, "full": fill_disk}


def killing_at(told: str) -> None:
    """Die when a step is finished, or another moment is there."""
    finish, remove = StepFolder.finishing, StepFolder.remove
    first, _, rest = told.partition(":")
    die, moment = (DO[first], rest) if first in DO else (kill, told)

    @contextmanager
    def finishing(self: StepFolder, name: str, **asked: Any) -> Iterator[FinishedStep]:
        with finish(self, name, **asked) as step:
            yield step
            if moment == f"in:{name}":
                die()
        if moment == name:
            die()

    def removing(self: StepFolder) -> None:
        if moment == "saved":
            die()
        remove(self)

    StepFolder.finishing, StepFolder.remove = finishing, removing  # type: ignore[method-assign]


def as_if_spilled() -> None:
    """No distinct row fits, and few rows make a block or a range."""
    parquet.does_fit = lambda *_: False
    make.MOST_BLOCK_ROWS = BLOCK_ROWS
    averages._records_that_fit = lambda *_: BLOCK_ROWS


if __name__ == "__main__":
    moment, how = sys.argv[1:3]
    del sys.argv[1:3]
    killing_at(moment)
    if how == "spilled":
        as_if_spilled()
    main()
