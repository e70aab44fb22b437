"""A benchmark is a case: one task, one set of data, several contestants, and the ratios of their times.

A file ``bench_<name>.py`` anywhere below this folder is found by its name. It has a one-line docstring and a
function ``cases(setting)`` that yields `Case` objects; the first contestant of a case is ours, and rivals are
measured against it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

Numbers = Mapping[str, float]

LONG_CALLS = (5, 3.0)  # so many repeats, but no further one once they took so many seconds together
SHORT_CALLS = (25, 0.5)  # more of those that are soon over: another process' burst would shift a median of five


@dataclass(frozen=True)
class Setting:
    """How a run is made.

    Attributes
    ----------
    folder : Path
        For temporary files; removed after the run.
    quick : bool
        Tiny generated data, one repeat: shows that everything runs, and measures nothing.
    with_peers : bool
        Whether other packages are run too.
    """

    folder: Path
    quick: bool = False
    with_peers: bool = True

    def rows(self, n_rows: int) -> int:
        """So many rows, or few in a quick run."""
        return min(n_rows, 400) if self.quick else n_rows


@dataclass(frozen=True)
class Outcome:
    """What one contestant did.

    Attributes
    ----------
    seconds : float or None
        Median of the repeats after a warm-up; None where there was a failure.
    best_seconds : float or None
        The shortest repeat.
    cpu_seconds : float or None
        Median processor time of the repeats, all threads together: what other processes do shows less in it.
    first_seconds : float or None
        The warm-up, with what is compiled or loaded on the first call.
    peak_mb : float or None
        Largest memory of the process, where it had one of its own.
    numbers : mapping
        Quality beside the time, and whatever else is worth a look.
    failure : str or None
        Why there is no time.
    """

    seconds: float | None
    best_seconds: float | None = None
    cpu_seconds: float | None = None
    first_seconds: float | None = None
    repeats: int = 0
    peak_mb: float | None = None
    numbers: Numbers = field(default_factory=dict)
    failure: str | None = None


@dataclass(frozen=True)
class Contestant:
    """Something that does the task of a case.

    Attributes
    ----------
    is_rival : bool
        Whether a ratio to the first contestant is wanted.
    is_peer : bool
        Whether it is another package, left out by ``--no-peers``.
    at_least : float or None
        The ratio that we want to reach.
    at_most : float or None
        The seconds that we want to stay below.
    """

    name: str
    measure: Callable[[Setting], Outcome]
    is_rival: bool = False
    is_peer: bool = False
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True)
class Case:
    """One task on one set of data."""

    name: str
    task: str
    data: str
    contestants: Sequence[Contestant]
    summary: Callable[[Mapping[str, Outcome]], Numbers] | None = None


@dataclass(frozen=True)
class Result:
    """The outcomes of a case, by contestant, and the ratios of rivals."""

    case: Case
    outcomes: Mapping[str, Outcome]
    ratios: Mapping[str, float]
    cpu_ratios: Mapping[str, float]
    summary: Numbers

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        goals = {c.name: c for c in self.case.contestants}
        return {
            "name": self.case.name,
            "task": self.case.task,
            "data": self.case.data,
            "contestants": [
                {"name": name, **{k: v for k, v in vars(outcome).items() if v not in (None, {}, 0)}}
                | ({"ratio": self.ratios[name]} if name in self.ratios else {})
                | ({"cpu_ratio": self.cpu_ratios[name]} if name in self.cpu_ratios else {})
                | ({"at_least": goals[name].at_least} if goals[name].at_least else {})
                | ({"at_most": goals[name].at_most} if goals[name].at_most else {})
                for name, outcome in self.outcomes.items()
            ],
            "summary": dict(self.summary),
        }


def timed(
    name: str,
    call: Callable[[], Any],
    *,
    numbers: Callable[[Any], Numbers] | None = None,
    warm_up: Callable[[], Any] | None = None,
    is_rival: bool = False,
    at_least: float | None = None,
    at_most: float | None = None,
    in_process: bool = True,
) -> Contestant:
    """A contestant in this process: one warm-up, then the median of several calls.

    Parameters
    ----------
    call : callable
        What is timed; its last result is given to `numbers`.
    numbers : callable, optional
        Quality of the result, computed outside the time.
    warm_up : callable, optional
        What is called first in place of `call`, where that is long.
    in_process : bool
        Whether the work is done here, so that its processor time can be told.
    """

    def measure(setting: Setting) -> Outcome:
        start = perf_counter()
        (warm_up or call)()
        first = perf_counter() - start
        spent: list[float] = []
        worked: list[float] = []
        result = None
        while not spent or (not setting.quick and _goes_on(spent)):
            start, work = perf_counter(), process_time()
            result = call()
            spent.append(perf_counter() - start)
            worked.append(process_time() - work)
        return Outcome(
            seconds=statistics.median(spent),
            best_seconds=min(spent),
            cpu_seconds=statistics.median(worked) if in_process else None,
            first_seconds=first,
            repeats=len(spent),
            numbers=numbers(result) if numbers else {},
        )

    return Contestant(name, measure, is_rival=is_rival, at_least=at_least, at_most=at_most)


def _goes_on(spent: Sequence[float]) -> bool:
    return any(len(spent) < most and sum(spent) < enough for most, enough in (LONG_CALLS, SHORT_CALLS))


def run_case(case: Case, setting: Setting, tell: Callable[[str], None] = lambda _: None) -> Result:
    """Measure the contestants one after the other."""
    outcomes: dict[str, Outcome] = {}
    for contestant in case.contestants:
        if contestant.is_peer and not setting.with_peers:
            continue
        tell(f"{case.name}: {contestant.name} ...")
        outcomes[contestant.name] = contestant.measure(setting)
    return Result(
        case,
        outcomes,
        ratios(case, {name: outcome.seconds for name, outcome in outcomes.items()}),
        ratios(case, {name: outcome.cpu_seconds for name, outcome in outcomes.items()}),
        case.summary(outcomes) if case.summary else {},
    )


def ratios(case: Case, seconds: Mapping[str, float | None]) -> dict[str, float]:
    """How many times as long as ours each rival took; none where either has no time."""
    ours = seconds[case.contestants[0].name]
    rivals = {c.name: seconds.get(c.name) for c in case.contestants if c.is_rival}
    return {name: theirs / ours for name, theirs in rivals.items() if ours and theirs is not None}


def growth(sizes: Sequence[int], seconds: Sequence[float | None]) -> dict[str, float]:
    """Exponents b of ``time = a * rows ** b``, one for each step between sizes that were both measured.

    >>> growth([10, 100, 1000], [1.0, 10.0, 1000.0])
    {'growth 10 to 100': 1.0, 'growth 100 to 1,000': 2.0}
    """
    steps = zip(sizes, sizes[1:], seconds, seconds[1:], strict=False)
    return {f"growth {m:,} to {n:,}": round(log(t / s) / log(n / m), 2) for m, n, s, t in steps if s and t}
