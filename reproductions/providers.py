"""What m-privacy costs: `python -m reproductions.providers`.

Adult by workclass and by country, and RandHIE by site, released for one provider and for coalitions of 1, 2 and 3
providers; what every coalition is left with is counted here again, by taking rows away. Then a million rows. Writes
`docs/reproductions/providers.md`; every number is computed here.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from shoal.data.tables.files import read_table
from shoal.data.tables.persons import person_codes, provider_codes
from shoal.data.tables.table import Table, row_keys
from shoal.errors import Infeasible

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / ".." / "shared" / "data"
PAGE = ROOT / "docs" / "reproductions" / "providers.md"
SCRATCH = Path(tempfile.gettempdir()) / "shoal-providers"
K, SEED, MILLION = 5, 1, 1_000_000

ABOUT = """# Rows from several providers

Written by `python -m reproductions.providers`. Each table is released with k = {k} by Mondrian and `generalise`, once
as if all rows were from one provider (m = 0, the provider's column dropped), and then so that what is required holds
without the rows of any m of them. *GCP* is the share of certainty lost, *ratio* that over the first line. *Left* is
the fewest records, or persons, that a class has without the rows of any coalition of m providers, counted here by
taking the rows of every coalition away in turn; of a release for one provider it says what a single provider (m = 1)
would be left with, and *exposed* how many classes would have fewer than k. Seconds are of processor time, reading and
check included, after compilation. t-closeness by country with m = 3, which is tried without each of 11,521 coalitions,
was left out.
"""


@dataclass(frozen=True)
class Case:
    """A table, from whom its rows are, and what is known of them."""

    name: str
    file: str
    provider: str
    quasi: tuple[str, ...]
    sensitive: str
    person: str = ""


ADULT = ("sex", "age", "race", "marital-status", "education")
CASES = (
    Case("Adult by workclass", "adult/arx_adult.csv.gz", "workclass", (*ADULT, "native-country"), "occupation"),
    Case("Adult by country", "adult/arx_adult.csv.gz", "native-country", (*ADULT, "workclass"), "occupation"),
    Case(
        "RandHIE by site", "randhie/randhie.csv.gz", "site", ("female", "black", "xage", "educdec", "income"), "physlm"
    ),
    Case(
        "RandHIE by site, persons",
        "randhie/randhie.csv.gz",
        "site",
        ("female", "black", "xage", "educdec", "income"),
        "physlm",
        "zper",
    ),
)
AT_A_MILLION = ((0, ""), (1, ""), (2, ""), (3, ""), (3, "distinct 3-diversity"), (3, "0.5-closeness"))
SKIPPED = ("Adult by country", "0.5-closeness", 3)
REQUIRED: dict[str, list[dict[str, Any]]] = {
    "": [],
    "distinct 3-diversity": [{"model": "l-diversity", "l": 3}],
    "0.5-closeness": [{"model": "t-closeness", "t": 0.5}],
}


def policy_of(case: Case, coalition: int, more: Iterable[dict[str, Any]] = (), k: int = K) -> shoal.Policy:
    """Ask for k records, or persons, without any coalition."""
    asked: dict[str, Any] = {"provider": case.provider, "coalition": coalition} if coalition else {}
    if case.person:
        asked["person"] = case.person
    return shoal.Policy.of(
        quasi=list(case.quasi),
        sensitive=[case.sensitive],
        others="identifying",
        require=[{"model": "k-anonymity", "k": k}, *more],
        singled_out=1.0,
        **asked,
    )


def least_left(case: Case, original: Table, made: shoal.TableRelease, coalition: int) -> tuple[int, int]:
    """The fewest that a class is left with, and how many classes with fewer than k: by every coalition in turn."""
    classes = row_keys([made.table[n] for n in case.quasi])
    rows = made._rows
    providers = provider_codes(original, [case.provider])[rows]
    persons = person_codes(original, [case.person])[rows] if case.person else np.arange(len(rows))
    n_classes, width, n_providers = int(classes.max()) + 1, int(persons.max()) + 1, int(providers.max()) + 1
    by_provider = np.bincount(classes * n_providers + providers, minlength=n_classes * n_providers)
    by_provider = by_provider.reshape(n_classes, n_providers)
    left = np.full(n_classes, len(rows))
    for members in combinations(range(n_providers), coalition):  # fewer leave no fewer
        if not case.person:
            left = np.minimum(left, by_provider.sum(axis=1) - by_provider[:, list(members)].sum(axis=1))
            continue
        rest = ~np.isin(providers, members)
        pairs = np.unique(classes[rest] * width + persons[rest])
        left = np.minimum(left, np.bincount(pairs // width, minlength=n_classes))
    return int(left.min()), int((left < K).sum())


def kept(made: Callable[..., str], *what: Any) -> str:
    """A line that an earlier run made, or that is made now: a run that was stopped goes on where it was."""
    SCRATCH.mkdir(exist_ok=True)
    path = SCRATCH / (" ".join([made.__name__, *map(str, what)]).replace("/", "-") + ".txt")
    if not path.exists():
        path.write_text(made(*what), encoding="utf-8")
    return path.read_text(encoding="utf-8")


def line(number: int, coalition: int, name: str) -> str:
    """A line of the table, its ratio left open."""
    case = CASES[number]
    original = read_table(DATA / case.file)
    start = time.process_time()
    try:
        made = shoal.anonymize(DATA / case.file, policy_of(case, coalition, REQUIRED[name]), seed=SEED)
    except Infeasible as error:
        return f"| {case.name} | {name} | {coalition} | refused: {error} | | | | | |"
    seconds = time.process_time() - start
    gcp = next(loss.value for loss in made.utility.losses if loss.name == "GCP")
    n_classes = int(row_keys([made.table[n] for n in case.quasi]).max()) + 1
    least, exposed = least_left(case, original, made, max(1, coalition))
    shown = f"| {case.name} | {name} | {coalition} | {n_classes:,} | {gcp:.4f} | RATIO | {least} | {exposed:,} "
    return f"{shown}| {seconds:.1f} |"


def many(original: Table, n_rows: int) -> dict[str, Any]:
    """Rows of a table drawn with replacement, three in ten cells drawn anew."""
    rng = np.random.default_rng(SEED)
    rows = rng.integers(0, original.n_rows, n_rows)
    drawn = {}
    for name, column in original.columns.items():
        codes = np.where(
            rng.random(n_rows) < 0.3, column.codes[rng.integers(0, original.n_rows, n_rows)], column.codes[rows]
        )
        drawn[name] = np.array([*column.texts()], dtype=object)[codes]
    return drawn


def million(coalition: int, name: str) -> str:
    """A line for a million rows."""
    case = CASES[0]
    frame = many(read_table(DATA / case.file), MILLION)
    start = time.process_time()
    made = shoal.anonymize(frame, policy_of(case, coalition, REQUIRED[name], 10), seed=SEED)
    seconds = time.process_time() - start
    return f"| {coalition} | {name} | {made.guarantees[0].n_classes:,} | {seconds:.1f} |"


def page() -> str:
    """The whole page."""
    head = "| table | besides | m | classes | GCP | ratio | left | exposed | s |"
    lines = [ABOUT.format(k=K), head, "|---|---|" + "---:|" * 7]
    for number, case in enumerate(CASES):
        for name in REQUIRED if not case.person else [""]:
            made = [kept(line, number, m, name) for m in range(4) if (case.name, name, m) != SKIPPED]
            losses = [float(row.split("|")[5]) for row in made if "RATIO" in row]
            ratios = ["", *(f"{loss / losses[0]:.1f}" for loss in losses[1:])]
            rows = iter(ratios)
            lines += [row.replace("RATIO", next(rows)) if "RATIO" in row else row for row in made]
    lines += [
        "",
        "## A million rows",
        "",
        "Adult drawn with replacement, three in ten cells drawn anew, by workclass, k = 10.",
        "",
        "| m | besides | classes | s |",
        "|---:|---|---:|---:|",
        *(kept(million, m, name) for m, name in AT_A_MILLION),
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
