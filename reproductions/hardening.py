"""What hardening makes of three policies: `python -m reproductions.hardening [SET ...] [RISK ...]`.

Adult (ARX's 30,162 records), 5,000 records of Diabetes 130-US and the demonstration's clinic, at a risk of 0.09 and of
0.05. Writes `docs/reproductions/hardening.md` from what is stored in `reproductions/results`, anew after every run, and
measures only what is not stored there, or was before labels or bounds changed; about a quarter of an hour of CPU time.
`page` measures nothing.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shoal.data.samples.clinic import clinic, diagnosis_hierarchy
from shoal.data.tables.files import read_table
from shoal.data.tables.frames import to_frame
from shoal.harden.harden import MOST_AGAIN, harden
from shoal.harden.result import Hardened
from shoal.kinds.tables.policy import Policy

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / ".." / "shared" / "data"
STORES = ROOT / "reproductions" / "results"
PAGE = ROOT / "docs" / "reproductions" / "hardening.md"
SCRATCH = Path(tempfile.gettempdir()) / "shoal-hardening"
RISKS = (0.09, 0.05)
SEED = 0
N_DIABETES = 5000
N_CLINIC = 3300
MEASURED_AS = 3
"""Raised when labels or bounds change, so that the page tells what was measured before."""


def adult() -> tuple[Any, Policy]:
    """Seven quasi-identifiers, the occupation sensitive, the salary class kept."""
    quasi = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
    policy = Policy.of(quasi=quasi, sensitive=["occupation"], insensitive=["salary-class"], k=5)
    return DATA / "adult" / "arx_adult.csv.gz", policy


def diabetes() -> tuple[Any, Policy]:
    """A sample of the encounters, with guessed roles."""
    table = read_table(DATA / "diabetes130" / "diabetic_data.csv.gz")
    rows = np.sort(np.random.default_rng(0).choice(table.n_rows, N_DIABETES, replace=False))
    return to_frame(table.take(rows).compact(), {}), Policy.of(k=5)


def demo() -> tuple[Any, Policy]:
    """The clinic and the policy of `shoal demo`."""
    quasi = ["cost", "smoker", "length_of_stay"]
    policy = Policy.of(sensitive=["diagnosis"], quasi=quasi, hierarchies={"diagnosis": diagnosis_hierarchy()}).changed(
        require=[{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 3, "sensitive": "diagnosis"}]
    )
    return clinic(N_CLINIC), policy


SETS: Mapping[str, tuple[str, Callable[[], tuple[Any, Policy]]]] = {
    "demo": ("Demonstration, 3,300 patients", demo),
    "adult": ("Adult, 30,162 records", adult),
    "diabetes": (f"Diabetes 130-US, {N_DIABETES:,} encounters", diabetes),
}


def told(found: Hardened, seconds: float) -> dict[str, Any]:
    """What the page shows of a run; sums alone."""

    def step(one: Any) -> dict[str, Any]:
        worst = one.worst
        return {
            "asked": one.asked,
            "loss": one.loss,
            "bound": one.bound,
            "worst": None if worst is None else worst.result.title,
            "attacks": {j.result.attack: j.bound for j in one.judged},
        }

    return {
        "reached": found.reached,
        "given": step(found.given),
        "chosen": step(found.chosen),
        "frontier": [{**step(s), "is_full": s.is_full} for s in found.frontier],
        "reasons": dict(found.candidate.reasons),
        "sentences": list(found.sentences),
        "repeats": MOST_AGAIN,
        "measured_as": MEASURED_AS,
        "releases": len(found.steps),
        "in_full": found.n_in_full,
        "cpu_seconds": round(seconds, 1),
    }


def measure(name: str, risk: float) -> dict[str, Any]:
    """One run, timed; one that was stopped goes on where it was, and its seconds count."""
    source, policy = SETS[name][1]()
    SCRATCH.mkdir(exist_ok=True)
    spent = SCRATCH / f"{name}-{risk:g}.seconds"
    before = float(spent.read_text()) if spent.exists() else 0.0
    began = time.process_time()

    def count(what: str, done: int, total: int) -> None:
        spent.write_text(str(before + time.process_time() - began))

    found = harden(source, policy, risk=risk, seed=SEED, folder=SCRATCH / f"{name}-{risk:g}", progress=count)
    return told(found, before + time.process_time() - began)


def words(asked: Mapping[str, Any]) -> str:
    """What a policy asks for."""
    roles: dict[str, list[str]] = {}
    for column, role in asked["roles"].items():
        roles.setdefault(role, []).append(column)
    named = {"quasi": "made quasi-identifying", "identifying": "left out"}
    shown = [f"{named.get(r, r)}: {', '.join(c) if len(c) <= 6 else f'{len(c)} columns'}" for r, c in roles.items()]
    required = [*asked["require"], *shown]
    return f"{asked['publish']} by {asked['partition']}, k = {asked['k']}" + "".join(f"; {w}" for w in required)


def page(stored: Mapping[str, Mapping[str, Any]]) -> str:
    """The page as Markdown, of what is there."""
    lines = [
        "# Hardening three policies",
        "",
        "Written by `python -m reproductions.hardening`. Each policy as it was given, and what `shoal harden` made of",
        "it ([Harden a policy](../how-to/harden.md)). The bound is the highest upper end of a 95 % interval of what",
        "an attack adds, over all attacks in full that ever succeeded; the loss is the certainty lost in an average",
        "cell of the columns that the given policy would publish. Seconds are CPU seconds of the whole search, with",
        "reading and compiling. What is stored in `reproductions/results` is not measured again.",
    ]
    for name, (title, _) in SETS.items():
        runs = stored.get(name, {})
        if not runs:
            continue
        lines += [
            "", f"## {title}", "",
            "| risk | policy | loss | bound | worst attack | releases tried, in full | CPU seconds |",
            "|---:|---|---:|---:|---|---:|---:|",
        ]  # fmt: skip
        given = next(iter(runs.values()))["given"]
        figures = f"{given['loss']:.3f} | {given['bound']:.3f} | {given['worst']}"
        lines.append(f"| as given | {words(given['asked'])} | {figures} | | |")
        for risk, run in runs.items():
            one = run["chosen"]
            what = "" if run["reached"] else "not reached; nearest: "
            lines.append(
                f"| {risk} | {what}{words(one['asked'])} | {one['loss']:.3f} | {one['bound']:.3f} | {one['worst']} | "
                f"{run['releases']}, {run['in_full']} | {run['cpu_seconds']:.0f} |"
            )
        old = [risk for risk, run in runs.items() if run.get("measured_as") != MEASURED_AS]
        if old:
            lines += [
                "",
                f"**To be measured again**, at {' and '.join(old)}: labels of ranges, or what an attack is said to",
                "add, are computed otherwise since.",
            ]
        for risk, run in runs.items():
            lines += ["", f"Why, at {risk}:", ""]
            lines += [f"- `{key}`: {why}" for key, why in list(run["reasons"].items())[:12]]
            more = len(run["reasons"]) - 12
            lines += [f"- and {more} more"] if more > 0 else []
            if not run["reached"]:
                lines += ["", *run["sentences"][:-1]]
        lines += ["", "The frontier of what was tried, by its bound (those not in full on fewer targets):", ""]
        lines += ["| risk | bound | loss | policy | in full |", "|---:|---:|---:|---|---|"]
        for risk, run in runs.items():
            for one in sorted(run["frontier"], key=lambda s: s["loss"]):
                full = "yes" if one["is_full"] else ""
                lines.append(f"| {risk} | {one['bound']:.2f} | {one['loss']:.3f} | {words(one['asked'])} | {full} |")
    return "\n".join([*lines, ""])


def read(name: str) -> dict[str, Any]:
    """What is stored of a set, by the risk."""
    path = STORES / f"hardening-{name}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def main() -> None:
    """Measure what is missing, and write the page after every run."""
    words_given = sys.argv[1:]
    risks = [risk for risk in RISKS if f"{risk:g}" in words_given] or RISKS
    names = [n for n in SETS if n in words_given] or ([] if "page" in words_given else list(SETS))
    for name, risk in [(n, r) for n in names for r in risks]:
        if read(name).get(f"{risk:g}", {}).get("measured_as") != MEASURED_AS:
            found = measure(name, risk)
            stored = dict(sorted((read(name) | {f"{risk:g}": found}).items(), reverse=True))
            (STORES / f"hardening-{name}.json").write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
            print(name, risk, found["sentences"][0], flush=True)
    PAGE.write_text(page({n: read(n) for n in SETS}), encoding="utf-8")


if __name__ == "__main__":
    main()
