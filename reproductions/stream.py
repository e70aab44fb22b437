"""What a delay costs, how fast a stream is, and what it survives: `python -m reproductions.stream [PART ...]`.

Parts are curve, speed, long, kills, visits, strings and baskets; what each finds is kept in `results/stream.json`, and
the page `docs/reproductions/stream.md` with its picture is written from all that is there. Every number is computed
here, but for those of the public CASTLE, which are quoted.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from shoal.stream.tables import TableWindows
from shoal.stream.windows import Window
from shoal.tables.partition.mondrian import Mondrian

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / ".." / "shared" / "data"
PAGE = ROOT / "docs" / "reproductions" / "stream.md"
PICTURE = PAGE.with_suffix(".svg")
RESULTS = ROOT / "reproductions" / "results" / "stream.json"
SIX = {0: "age", 2: "fnlwgt", 4: "education-num", 10: "capital-gain", 11: "capital-loss", 12: "hours-per-week"}
DELAYS = (500, 1000, 2000, 3000, 5000)
K, SEED = 10, 1
COPIES = 308  # of Adult, ten million records
CASTLE_NCP, CASTLE_SPEED, CASTLE_DELAY = 0.295, 80, 500  # of the public Python version, on 1,000 of these rows
Found = dict[str, Any]


def adult() -> np.ndarray[Any, np.dtype[np.float64]]:
    """The six numbers of Adult, in the order of the file."""
    with gzip.open(DATA / "adult" / "adult.data.gz", "rt") as file:
        rows = [line.split(", ") for line in file if line.strip()]
    return np.array([[float(row[i]) for i in SIX] for row in rows])


def as_csv(rows: np.ndarray[Any, Any]) -> bytes:
    """Rows of whole numbers as CSV without a header."""
    return "".join(",".join(str(int(v)) for v in row) + "\n" for row in rows).encode()


def policy(**more: Any) -> shoal.Policy:
    """Ask for the six numbers, and k = 10."""
    return shoal.Policy.of(quasi=list(SIX.values()), k=K, **more)


class Nowhere(io.RawIOBase):
    """Takes bytes and forgets them."""

    def write(self, data: Any) -> int:
        return len(data)


def streamed(path: Path, delay: int, **more: Any) -> float:
    """The NCP of what comes out."""
    made = shoal.stream(path, policy(**more), delay=delay, seed=SEED).write(Nowhere())  # type: ignore[arg-type]
    assert made.records["suppressed"] < K
    return made.loss["NCP"]


def mondrian_windows(rows: np.ndarray[Any, Any], delay: int) -> float:
    """The NCP of Mondrian on one window after the other, with exact ends."""
    extent, lost = np.ptp(rows, axis=0), 0.0
    n_whole = len(rows) if len(rows) % delay >= K else len(rows) // delay * delay
    for begin in range(0, n_whole, delay):
        window = rows[begin : begin + delay]
        labels = Mondrian(k=K).fit_predict(window)
        for group in range(labels.max() + 1):
            members = window[labels == group]
            lost += float((np.ptp(members, axis=0) / extent).mean() * len(members))
    return lost / n_whole


def curve(folder: Path) -> Found:
    """NCP by delay: labels as published, with exact ends, and windows of Mondrian."""
    rows = adult()
    path = folder / "adult.csv"
    path.write_bytes((",".join(SIX.values()) + "\n").encode() + as_csv(rows))
    return {
        "records": len(rows),
        "published": [streamed(path, delay) for delay in DELAYS],
        "exact": [streamed(path, delay, ends="exact") for delay in DELAYS],
        "mondrian": [mondrian_windows(rows, delay) for delay in DELAYS],
    }


def speed(folder: Path) -> Found:
    """Processor time of the steps of a stream, so that other work on the machine shows little."""
    text = as_csv(adult()[:32_000])
    lines = text.splitlines(keepends=True)
    found: Found = {}
    for delay in (500, 1000, 2000):
        steps = {"read": [], "group": [], "write": []}  # type: dict[str, list[float]]
        windows = TableWindows(policy(), SEED)
        windows.begin((",".join(SIX.values()) + "\n").encode())
        for begin in range(0, len(lines) // delay * delay, delay):
            window = Window(begin + 1, b"".join(lines[begin : begin + delay]), delay, delay)
            start = time.process_time()
            prepared = windows.prepare(window)
            read = time.process_time()
            worked = windows.work(prepared)
            grouped = time.process_time()
            windows.finish(worked)
            for name, seconds in zip(steps, (read - start, grouped - read, time.process_time() - grouped), strict=True):
                steps[name].append(seconds)
        # Medians of windows: the first ones compile, and a burst of other work is no cost of ours.
        path = folder / "adult.csv"
        path.write_bytes((",".join(SIX.values()) + "\n").encode() + text * 4)
        start = time.process_time()
        streamed(path, delay)
        steps["whole"] = [(time.process_time() - start) / 128_000 * delay]
        found[str(delay)] = {name: float(np.median(times)) / delay * 1e6 for name, times in steps.items()}
    return found


def long(folder: Path) -> Found:
    """Ten million records: largest memory of the process at some of them, and the check over all of the output."""
    text = as_csv(adult())
    path = folder / "long.csv"
    with path.open("wb") as file:
        file.write((",".join(SIX.values()) + "\n").encode())
        for _ in range(COPIES):
            file.write(text)
    memory: dict[int, float] = {}

    def note(_: str, n: int, __: int) -> None:
        if n // 1_000_000 not in memory:
            memory[n // 1_000_000] = _rss()

    start = time.process_time()
    made = shoal.stream(path, policy(), delay=1000, seed=SEED).save(folder / "long", note)
    seconds = time.process_time() - start
    return {
        "records": made.records["in"],
        "published": made.records["out"],
        "MB": memory,
        "MB at the end": _rss(),
        "seconds": seconds,
        "holds": [g.sentence for g in made.guarantees if g.holds],
        "NCP": made.loss["NCP"],
    }


def _rss() -> float:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024


def kills(folder: Path) -> Found:
    """Kill a stream 50 times with a signal that it cannot see, and go on each time; what is lost, and what is twice."""
    rows, n = adult(), 300_000
    path = folder / "in.csv"
    with path.open("w") as file:
        file.write(",".join([*SIX.values(), "number"]) + "\n")
        for i in range(n):
            file.write(",".join(str(int(v)) for v in rows[i % len(rows)]) + f",{i}\n")
    taken = {"singled_out": "numbers by which records are counted"}
    asked = shoal.Policy.of(quasi=list(SIX.values()), insensitive=["number"], k=K, accept=taken)
    out, rng, n_kills, n_starts = folder / "out", random.Random(SEED), 0, 0
    import shoal.stream.stream as home

    home._COMMIT = 1 << 16  # so that there are many commits to be killed in
    while True:
        n_starts += 1
        child = os.fork()  # so that not every start loads the package
        if not child:
            shoal.stream(path, asked, delay=1000).save(out)
            os._exit(0)
        if n_kills < 50:
            time.sleep(rng.uniform(0.02, 1.2))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if status == 0:
            break
        n_kills += 1
    with (out / "publish" / "data.csv").open() as file:
        seen = Counter(row["number"] for row in csv.DictReader(file))
    found = shoal.check(out / "publish", path)
    return {
        "kills": n_kills,
        "starts": n_starts,
        "records": n,
        "lost": n - len(seen),
        "twice": sum(count > 1 for count in seen.values()),
        "check": found.is_whole,
    }


def visits(folder: Path) -> Found:
    """Laboratory values of nafld2 in the order of their days, a person having many."""
    with gzip.open(DATA / "nafld" / "nafld2.csv.gz", "rt") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: (float(row["days"]), int(row["rownames"])))
    path = folder / "visits.csv"
    with path.open("w") as file:
        file.write("id,days,test,value\n")
        file.writelines(f"{row['id']},{row['days']},{row['test']},{row['value']}\n" for row in rows)
    columns = {"days": {"type": "continuous"}, "test": {"type": "nominal"}, "value": {"type": "continuous"}}
    asked = shoal.Policy.of(quasi=["days", "test", "value"], person="id", k=K, columns=columns)
    start = time.process_time()
    made = shoal.stream(path, asked, delay=1000, seed=SEED).save(folder / "visits")
    return {
        "records": made.records,
        "persons": len({row["id"] for row in rows}),
        "loss": made.loss,
        "holds": [g.sentence for g in made.guarantees if g.holds],
        "seconds": time.process_time() - start,
    }


def strings(folder: Path) -> Found:
    """Pseudo-strings of splice sites from windows, and from the whole: composition, pairs, copies, verbatim runs."""
    from shoal.check.strings.verbatim import verbatim
    from shoal.data.strings.strings import Strings
    from shoal.utility.strings.composition import compare_composition
    from shoal.utility.strings.k_mers import compare_k_mers

    with (DATA / "splice" / "splice.csv").open() as file:
        texts = [row["sequence"] for row in csv.DictReader(file)]
    random.Random(SEED).shuffle(texts)
    used, unseen = texts[:2400], texts[2400:]
    originals = Strings.of(used)

    def measured(made: list[str]) -> Found:
        runs = verbatim(Strings.of(made), originals, Strings.of([t for t in unseen if t not in set(used)]))
        return {
            "strings": len(made),
            "composition": compare_composition(originals, Strings.of(made)).difference,
            "pairs": compare_k_mers(originals, Strings.of(made)).total_variation,
            "triples": compare_k_mers(originals, Strings.of(made), 3).total_variation,
            "copies": sum(text in set(used) for text in made),
            "mean run": runs.published.mean,
            "longest run": runs.published.longest,
            "mean run of others": runs.control.mean,
        }

    whole = shoal.anonymize(used, shoal.StringPolicy.of(k=20), seed=SEED)
    asked = shoal.StringPolicy.of(k=20, format="lines")
    found = {"whole": measured(list(whole.data))}
    for delay in (400, 800, 1200):
        found[str(delay)] = measured(list(shoal.stream(used, asked, delay=delay, seed=SEED)))
    return found


def baskets(folder: Path) -> Found:
    """Pseudo-baskets of T10I4D100K from windows, and from the whole: how often items and pairs are held."""
    with gzip.open(DATA / "t10i4d100k" / "T10I4D100K.dat.gz", "rt") as file:
        rows = [line.split() for line in islice(file, 20_000)]
    asked = shoal.SparsePolicy.of(format="baskets", k=K)

    def measured(made: list[list[str]]) -> Found:
        counts = [Counter(item for row in records for item in set(row)) for records in (rows, made)]
        shares = [{item: c[item] / len(r) for item in counts[0]} for c, r in zip(counts, (rows, made), strict=True)]
        common = [item for item, n in counts[0].items() if n >= len(rows) // 100]
        error = float(np.mean([abs(shares[1][i] - shares[0][i]) / shares[0][i] for i in common]))
        return {"baskets": len(made), "items": len(common), "error": error}

    whole = shoal.anonymize(rows, shoal.SparsePolicy.of(k=K), seed=SEED)
    found = {"whole": measured([[whole.baskets.names[i] for i in row] for row in _rows(whole.baskets)])}
    for delay in (1000, 5000):
        found[str(delay)] = measured([line.split() for line in shoal.stream(rows, asked, delay=delay, seed=SEED)])
    return found


def _rows(baskets: Any) -> Iterator[list[int]]:
    for begin, end in zip(baskets.starts[:-1], baskets.starts[1:], strict=True):
        yield baskets.items[begin:end].tolist()


PARTS: dict[str, Callable[[Path], Found]] = {
    part.__name__: part for part in (curve, speed, long, kills, visits, strings, baskets)
}


def main(names: list[str]) -> None:
    """Run parts, keep what they find, and write the page."""
    for name in names or list(PARTS):
        folder = Path(tempfile.mkdtemp(prefix="shoal-stream-"))
        try:
            made = PARTS[name](folder)
        finally:
            shutil.rmtree(folder)
        print(name, json.dumps(made)[:300], flush=True)
        found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        RESULTS.write_text(json.dumps(found | {name: made}, indent=1) + "\n")
    found = json.loads(RESULTS.read_text())
    from reproductions.stream_page import draw, page

    PAGE.write_text(page(found), encoding="utf-8")
    if "curve" in found:
        draw(found["curve"], PICTURE)


if __name__ == "__main__":
    main(sys.argv[1:])
