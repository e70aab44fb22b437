"""Three real tables of one study, released so that they still join: `python -m reproductions.links`.

nafld1 to nafld3 (Allen et al., Hepatology 2018): persons, laboratory values and events, linked by `id`. Writes
`docs/reproductions/links.md`; every number is computed here, joins and intervals by pandas and not by Shoal.
"""

from __future__ import annotations

import contextlib
import gzip
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

import shoal
from shoal.check.tables.known_history import TiedRecords, share_found, tied_records
from shoal.data.linked.linked import Linked
from shoal.data.tables.frames import from_frame
from shoal.errors import ShoalError

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / ".." / "shared" / "data" / "nafld"
PAGE = ROOT / "docs" / "reproductions" / "links.md"
SEED = 1
TABLES = ("nafld1", "nafld2", "nafld3")

ABOUT = """# Linked tables

Written by `python -m reproductions.links`. nafld1 (17,549 persons), nafld2 (400,123 laboratory values) and nafld3
(34,340 events) of a population study, linked by `id`, as in
[Linked tables](../how-to/linked.md); k = 5, at most 365 days either way.
Seconds are of processor time, after compilation: reading, making, checking over the join of the written files,
measuring and writing, with the report. GCP is the share of certainty lost in an average quasi-identifying cell, where a
row that was left out counts as lost. *Join* is the share of published rows of nafld2 and nafld3 whose pseudonym is in
nafld1. *Intervals* is the share of persons whose days, in both tables, all moved by one number, at most 365. Whether
the key, or an original `id`, stands in a published file was looked for, and it does not.
"""

DROPPED, KNOWN, SECRET, MOVED = {"role": "identifying"}, {"role": "quasi"}, {"role": "sensitive"}, {"shift": "person"}
PERSONS = {
    **dict.fromkeys(("rownames", "case.id", "bmi"), DROPPED),
    **dict.fromkeys(("age", "male", "weight", "height", "futime"), KNOWN),
    "status": SECRET,
}
VALUES = {"rownames": DROPPED, "days": MOVED, "test": {"role": "insensitive"}, "value": SECRET}
MEANT: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "Dates moved, values sensitive": {
        "nafld1": PERSONS,
        "nafld2": VALUES,
        "nafld3": {"rownames": DROPPED, "days": MOVED, "event": SECRET},
    },
    "Events known too": {
        "nafld1": PERSONS,
        "nafld2": VALUES,
        "nafld3": {"rownames": DROPPED, "days": MOVED, "event": KNOWN},
    },
}
ACCEPT = {"known_history": "a reproduction", "singled_out": "a reproduction"}


@dataclass(frozen=True)
class Measured:
    """What one release came to."""

    seconds: float
    left_out: dict[str, float]
    n_persons_left_out: int
    gcp: float
    smallest: int
    joined: float
    exact: float
    findings: list[str]


def paths() -> dict[str, Path]:
    """The files."""
    return {name: DATA / f"{name}.csv.gz" for name in TABLES}


def measure(policy: Any) -> Measured:
    """Release, write, and look at what was written."""
    start = time.process_time()
    release: Any = shoal.anonymize(paths(), policy, seed=SEED)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        release.save(out, keep=["rows", "key"])
        seconds = time.process_time() - start
        frames = {n: pd.read_csv(out / "publish" / f"{n}.csv.gz", dtype={"id": str}) for n in TABLES}
        rows = {n: pd.read_csv(out / "private" / f"rows-{i + 1}.csv") for i, n in enumerate(TABLES)}
        key = (out / "private" / "key.txt").read_text().strip()
        for path in (out / "publish").iterdir():
            held = path.read_bytes()
            assert key.encode() not in (gzip.decompress(held) if path.suffix == ".gz" else held)
    originals = {n: pd.read_csv(path, dtype={"id": str}) for n, path in paths().items()}
    assert not any(set(frames[n]["id"]) & set(originals["nafld1"]["id"]) for n in TABLES)
    return Measured(
        seconds,
        {n: 1 - len(frames[n]) / len(originals[n]) for n in TABLES},
        release.records["suppressed"],
        release.utility.gcp,
        int(release.guarantees[0].achieved),
        joined(frames),
        exact(frames, originals, rows),
        [f.sentence for f in release.findings],
    )


def joined(frames: Mapping[str, pd.DataFrame]) -> float:
    """The share of rows of other tables whose person is in the main one."""
    others = pd.concat([frames[n]["id"] for n in TABLES[1:]])
    return float(others.isin(set(frames["nafld1"]["id"])).mean())


def exact(
    frames: Mapping[str, pd.DataFrame], originals: Mapping[str, pd.DataFrame], rows: Mapping[str, pd.DataFrame]
) -> float:
    """The share of persons all of whose days moved by one number, within the window; 1 where none moved."""
    moves = []
    for name in TABLES[1:]:
        if "days" in frames[name] and pd.api.types.is_integer_dtype(frames[name]["days"]):
            before = originals[name].iloc[rows[name]["original_row"] - 1].reset_index(drop=True)
            moves.append(pd.DataFrame({"who": before["id"], "by": frames[name]["days"] - before["days"]}))
    if not moves:
        return 1.0
    by = pd.concat(moves).groupby("who")["by"].agg(["min", "max"])
    return float(((by["min"] == by["max"]) & (by["min"].abs() <= 365)).mean())


def told_apart(policy: Any) -> list[tuple[str, list[float]]]:
    """Of the first release, the share of persons that columns find over all rows of a person, by the window."""
    release: Any = shoal.anonymize(paths(), policy, seed=SEED)
    data = Linked.of({n: from_frame(frame) for n, frame in release.data.items()}, "id")
    tied: list[TiedRecords] = []
    for name, table in data.tables.items():
        attributes = {n: a for n, a in release.attributes[name].items() if n != "id"}
        moved = ("days",) if name != "nafld1" else ()
        tied.append(tied_records(table, attributes, data.persons[name], moved, prefix=f"{name}."))
    asked = {
        "how many rows there are in each table": (),
        "the days between laboratory values": ("nafld2.days",),
        "the days between events": ("nafld3.days",),
        "which tests were made": ("nafld2.test",),
        "all of these": ("nafld2.days", "nafld3.days", "nafld2.test"),
    }
    bare = [TiedRecords(t.persons, (), t.kept, t.moved) for t in tied]
    return [
        (words, [share_found(some, names, days) for some, days in ((bare, 365), (tied, 30), (tied, 365), (tied, 3650))])
        for words, names in asked.items()
    ]


def page() -> str:
    """All of it."""
    lines = [ABOUT]
    lines += [
        "| policy | seconds | nafld1 left out | nafld2 | nafld3 | persons left out | GCP | smallest group | join | "
        "intervals |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    policies = {
        name: shoal.LinkedPolicy.of(
            link="id", tables={n: {"columns": dict(c)} for n, c in meant.items()}, accept=ACCEPT, k=5, suppression=0.5
        )
        for name, meant in MEANT.items()
    }
    found = shoal.profile(paths(), shoal.LinkedPolicy(link="id"))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "policy.toml").write_text(found.to_toml())
        policies["As `shoal profile` wrote it, unedited"] = shoal.read_policy(Path(folder) / "policy.toml")
    first = next(iter(policies.values()))
    for policy in policies.values():  # compiles, also where so few rows are refused in the end
        with contextlib.suppress(ShoalError):
            shoal.anonymize({n: pd.read_csv(p).head(500) for n, p in paths().items()}, policy, seed=SEED)
    told = []
    for name, policy in policies.items():
        m = measure(policy)
        shares = " | ".join(f"{m.left_out[n]:.1%}" for n in TABLES)
        lines.append(
            f"| {name} | {m.seconds:.1f} | {shares} | {m.n_persons_left_out:,} | {m.gcp:.3f} | {m.smallest} | "
            f"{m.joined:.0%} | {m.exact:.0%} |"
        )
        told.append((name, m.findings))
    lines += [
        "",
        "In the first, others are taken to know age, sex, weight, height and the time of follow-up; days are moved;",
        "test is kept, and value, event and status are sensitive. In the second, others may know all events of a",
        "person too: then persons of a group have equally many, and events become sets. The third makes everything",
        "alike, as nothing is known of it, and leaves out what it takes: its labels say next to nothing of values.",
        "",
        "## What the rows of a person tell together",
        "",
        "The share of the persons that one finds who knows all of it about a person, of the first release. A pseudonym",
        "ties the rows together, so what is not made alike is a fingerprint: hence such a release is stopped unless",
        "the policy takes it with a reason. Days count by those between them, and by where they can have moved to",
        "within the window; moving them hides the calendar, and not the pattern.",
        "",
        "| who knows of all rows of a person | alone | with the labels, 30 days | 365 days | 3,650 days |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [f"| {words} | {' | '.join(f'{s:.1%}' for s in shares)} |" for words, shares in told_apart(first)]
    lines += ["", "## What the releases were found to show", ""]
    for name, sentences in told:
        lines += [f"{name}:", "", *(f"- {sentence}" for sentence in sentences), ""]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
