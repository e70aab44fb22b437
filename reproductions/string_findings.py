"""What the string reproductions found, part by part, and where it is stored between runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from reproductions.string_classes import NAMES, Scored, measure_classes
from reproductions.string_composition import Bars, Kept, measure_bars, measure_composition
from reproductions.string_leakage import Run, Whole, measure_runs, measure_whole, whole_sets
from reproductions.string_sets import BASKETS, DNA, PROTEINS, ROOT, TABLE_1, read_set
from reproductions.string_times import Timed, measure_times

STORE = ROOT / "reproductions" / "results" / "string-condensation.json"


@dataclass(frozen=True)
class Described:
    """A data set in numbers: lengths of what is condensed."""

    name: str
    about: str
    n_strings: int
    n_held_out: int
    mean: float
    deviation: float
    shortest: int
    longest: int


@dataclass(frozen=True)
class Findings:
    """All parts; each is a list of rows."""

    sets: Sequence[Described]
    bars: Sequence[Bars]
    composition: Sequence[Kept]
    classes: Sequence[Scored]
    times: Sequence[Timed]
    runs: Sequence[Run]
    whole: Sequence[Whole]


def describe(name: str) -> Described:
    """One set."""
    found = read_set(name)
    lengths = found.strings.lengths
    return Described(
        name, found.about, len(found.strings), len(found.held_out), float(lengths.mean()), float(lengths.std()),
        int(lengths.min()), int(lengths.max()),
    )  # fmt: skip


def _all_runs() -> Iterator[Run]:
    for name in (*PROTEINS, *DNA, *BASKETS):
        yield from measure_runs(name)


def _all_classes() -> Iterator[Scored]:
    for name in NAMES:
        yield from measure_classes(name)


PARTS: dict[str, tuple[type, Callable[[], Iterator[Any]]]] = {
    "sets": (Described, lambda: (describe(name) for name in (*PROTEINS, *DNA, *BASKETS))),
    "bars": (Bars, lambda: (measure_bars(name) for name in TABLE_1)),
    "composition": (Kept, lambda: measure_composition(PROTEINS, DNA)),
    "runs": (Run, _all_runs),
    "whole": (Whole, lambda: (measure_whole(name) for name in whole_sets())),
    "times": (Timed, measure_times),
    "classes": (Scored, _all_classes),
}


def compute(part: str) -> None:
    """Measure one part and store it; the others stay as they are."""
    rows = [asdict(row) for row in PARTS[part][1]()]
    stored = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    stored[part] = rows
    STORE.parent.mkdir(parents=True, exist_ok=True)
    STORE.write_text(json.dumps(stored, indent=0) + "\n", encoding="utf-8")


def load() -> Findings:
    """What is stored of all parts."""
    stored = json.loads(STORE.read_text(encoding="utf-8"))
    missing = [part for part in PARTS if part not in stored]
    if missing:
        raise SystemExit(f"not measured yet: {', '.join(missing)}; name them, or name no part to measure all")
    return Findings(**{part: [kind(**row) for row in stored[part]] for part, (kind, _) in PARTS.items()})
