"""What the reproductions of sketches found; each row is stored when it is measured, so a run can be broken off."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from reproductions.sparse_components import ALIKE, OTHERS, Other, score_components, score_other
from reproductions.sparse_components import NUMBERS as COMPONENTS
from reproductions.sparse_learning import Scored, Sizes, score_original, score_sketches
from reproductions.sparse_readings import DEFAULT, PRINTED, READINGS
from reproductions.sparse_sets import BINARY, COUNTS, TEXTS, TF_IDF
from reproductions.sparse_times import NON_ZEROS, NUMBERS, Timed, time_non_zeros, time_records
from reproductions.string_sets import ROOT

STORE = ROOT / "reproductions" / "results" / "sparse-sketches.json"
PARTS = ("texts", "baskets", "size", "delta", "dimensions", "components", "times")

KS = (2, 5, 10, 20, 40)
SIZE_KS = (2, 10)
DELTAS = (0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0)
DIMENSION_DELTAS = (0.2, 0.3, 0.4)
OTHERS_AT = 32  # components
DIMENSIONS = (1000, 1200, 1400, 1600, 1800, 2000)


@dataclass(frozen=True)
class Scale:
    """How large the sets are."""

    baskets: int = 200_000
    dimensions: int = 50_000
    texts: int | None = None
    tested: int = 2000
    clustered: int = 4000
    timed: int = 200_000
    numbers: tuple[int, ...] = NUMBERS
    ks: tuple[int, ...] = KS
    smaller: int = 50_000

    @property
    def sizes(self) -> Sizes:
        """For the learners."""
        return Sizes(None, self.tested, max(self.tested // 2, 1), self.clustered, max(self.ks))


QUICK = Scale(3000, 3000, 3000, 300, 600, 3000, (2000, 4000), (2, 10), 6000)


@dataclass(frozen=True)
class Findings:
    """All rows of all parts."""

    scored: tuple[Scored, ...]
    timed: tuple[Timed, ...]
    others: tuple[Other, ...]

    def original(self, name: str) -> Scored:
        """The records themselves."""
        return next(r for r in self.scored if r.name == name and r.reading == "original")

    def curve(self, name: str, reading: str) -> list[Scored]:
        """A set against k."""
        rows = [r for r in self.scored if (r.name, r.reading) == (name, reading) and r.k]
        return sorted(rows, key=lambda r: r.k)

    def by_delta(self, name: str, reading: str) -> list[Scored]:
        """A set against delta, without k-variance."""
        rows = [r for r in self.scored if (r.name, r.reading, r.k) == (name, reading, 0)]
        return sorted(rows, key=lambda r: r.delta)

    def alike(self, name: str) -> list[Scored]:
        """A set against the number of components, the same for all records."""
        rows = [r for r in self.scored if r.name == name and r.reading.startswith(ALIKE)]
        return sorted(rows, key=lambda r: r.median_components)

    def times(self, figure: int) -> list[Timed]:
        """One of the figures of times."""
        return sorted((r for r in self.timed if r.figure == figure), key=lambda r: r.x)


Job = tuple[str, Callable[[], Scored | Timed | Other]]


def basket_names(n: int) -> tuple[str, str]:
    """The two sets of baskets."""
    return f"C20.I4.D{short(n)}", f"C20.I6.D{short(n)}"


def dimension_name(n: int, n_items: int) -> str:
    """A set of another dimensionality."""
    return f"Q20.I6.D{short(n)}.G{n_items}"


def short(n: int) -> str:
    """200000 as 200K."""
    return f"{n // 1000}K" if n % 1000 == 0 else str(n)


def jobs(part: str, scale: Scale) -> Iterator[Job]:
    """What is to be measured for a part, each with a name of its own."""
    sizes = scale.sizes
    of_texts = Sizes(scale.texts, sizes.tested, sizes.held, sizes.clustered, sizes.most_k)

    def one(name: str, used: Sizes, reading: Any, k: int, delta: float) -> Job:
        return f"{name}; {reading.name}; {k}; {delta:g}", partial(score_sketches, name, reading, k, delta, used)

    def base(name: str, used: Sizes) -> Job:
        return f"{name}; original", partial(score_original, name, used)

    if part in ("texts", "baskets"):
        for name in TEXTS if part == "texts" else basket_names(scale.baskets):
            used = of_texts if part == "texts" else sizes
            yield base(name, used)
            # With tf-idf weights all have the most components that there are, in either reading.
            for reading in READINGS if name != TF_IDF else (PRINTED, DEFAULT):
                for k in scale.ks:
                    yield one(name, used, reading, k, reading.delta)
    elif part == "size":
        name = basket_names(scale.smaller)[0]
        yield base(name, sizes)
        for k in SIZE_KS:
            yield one(name, sizes, PRINTED, k, PRINTED.delta)
    elif part == "delta":
        for delta in DELTAS:
            for reading in (PRINTED, DEFAULT):
                yield one(COUNTS, of_texts, reading, 0, delta)
    elif part == "dimensions":
        for n_items in DIMENSIONS:
            name = dimension_name(scale.dimensions, n_items)
            yield base(name, sizes)
            for delta in DIMENSION_DELTAS:
                yield one(name, sizes, PRINTED, 0, delta)
            yield one(name, sizes, DEFAULT, 0, DEFAULT.delta)
    elif part == "components":
        for name, used in ((dimension_name(scale.dimensions, 1000), sizes), (BINARY, of_texts)):
            for n in COMPONENTS:
                yield f"{name}; {ALIKE}; {n}", partial(score_components, name, n, used)
                if n == OTHERS_AT:
                    for kind in OTHERS:
                        yield f"{name}; {kind}; {n}", partial(score_other, name, kind, n, used)
    else:
        for x in NON_ZEROS:
            yield f"13; {x}", partial(time_non_zeros, x, scale.timed)
        for n in scale.numbers:
            yield f"14; {n}", partial(time_records, n, max(scale.numbers))


def compute(part: str, scale: Scale, store: Path, again: bool, tell: Callable[[str], None]) -> None:
    """Measure what is not stored yet of a part, or all of it again."""
    for name, job in jobs(part, scale):
        if name in _read(store) and not again:
            continue
        start, work = time.perf_counter(), time.process_time()
        row = job()
        stored = _read(store)
        stored[name] = {"kind": type(row).__name__} | asdict(row)
        store.parent.mkdir(parents=True, exist_ok=True)
        store.write_text(json.dumps(stored, indent=0) + "\n", encoding="utf-8")
        tell(f"{name}: {time.perf_counter() - start:.1f} s, {time.process_time() - work:.1f} s of processor time")


def load(store: Path, scale: Scale) -> Findings:
    """What is stored of the jobs of this scale; those that are missing are named."""
    stored = _read(store)
    wanted = dict.fromkeys(name for part in PARTS for name, _ in jobs(part, scale))
    missing = [name for name in wanted if name not in stored]
    if missing:
        raise SystemExit(f"{len(missing)} numbers are not measured yet, such as {missing[0]!r}; name no part to do so")
    rows = [stored[name] for name in wanted]
    return Findings(tuple(_rows(rows, Scored)), tuple(_rows(rows, Timed)), tuple(_rows(rows, Other)))


def _rows(rows: list[dict[str, Any]], kind: type) -> Iterator[Any]:
    for row in rows:
        if row["kind"] == kind.__name__:
            yield kind(**{name: value for name, value in row.items() if name != "kind"})


def _read(store: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    return found
