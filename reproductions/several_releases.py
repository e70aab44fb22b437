"""Five years of RandHIE as five releases of the same persons: `python -m reproductions.several_releases [PART ...]`.

Releases that are made one after the other beside such as are made as if there were no other, and what an attacker gets
who lays all five side by side; and how long a second release of a million persons takes. Writes
`docs/reproductions/several-releases.md`; every number is computed here. Parts can be measured one at a time (`carried`,
`invariant`, `growth`); `page` only writes it anew.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import shoal
from benchmarks.several_growth import CHANGE, SIZES, measured
from benchmarks.several_growth import QUASI as GROWN_QUASI
from benchmarks.several_growth import K as GROWN_K
from shoal.attack.tables.intersection import IntersectedCandidates, Intersection
from shoal.attack.tables.people import joint_keys
from shoal.check.releases.candidates import candidates_of
from shoal.check.tables.classes import classes_of

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / ".." / "shared" / "data" / "randhie" / "randhie.csv.gz"
PAGE = ROOT / "docs" / "reproductions" / "several-releases.md"
KEPT = Path(__file__).resolve().parent / "results" / "several-releases.json"
QUASI = ("site", "female", "black", "xage", "educdec", "income")
PERSON, SECRET, PANEL = "zper", "plan", "term"
YEARS, K, SEED = 5, 5, 11
ALL, SOME = 100_000, 300  # attacked of each year: everybody, or so many
MS = (2,)
PARTS = ("carried", "invariant", "growth")
ALONE = (1, 6)  # persons, where no panel is known
RESERVES = {"mondrian": (0, 1, 2), "local-recoding": (1, 2, 3)}  # persons, by partition; the first is the default

ABOUT = """# Five years of RandHIE as five releases

Written by `python -m reproductions.several_releases`. The RAND Health Insurance Experiment has a row for each
person and year: {rows} rows of {persons} persons, {sizes} in the years 1 to 5. Each year is one release;
known are site, sex, race, age, education and income, with k = {k}. Age grows by one a year, the rest stays.

*Below k*: persons of whom all releases together leave fewer than {k} candidates, in two ways. *By classes*
counts, over all {persons} persons, who stood in the same class in each release that the person is in (an
attacker who can tie rows of two releases together by anything). *By labels* is the attack
`intersection-candidates`: all whom the labels cover that cover the person, of some drawn in each year. *Below
m* is the attack `intersection`: persons of whom fewer than m values of the secret stay possible, of everybody
in each year, the years added up. *Loss* is GCP over all five releases, in which a record that is left out counts
1; the *ratio* is to independent releases by the same partition. Draws have a fixed seed.

The experiment enrolled families for three years or for five; two of three persons leave together after the
third. The file does not say who was enrolled for how long; the *panel* here is whether a person has a row
after year 3.
"""

CARRIED = """
## Without a sensitive requirement: groups carried over

{table}

Independent releases leave {exposed} persons fewer than {k} candidates. Carried groups leave none, and pay for
it where persons leave: of a group that shrinks below k all are left out, since nothing that this release
could do brings back the candidates who left. Without the panel, of year 4 most are. With it, groups of those
who stay are made from fewer persons from the first year on, and so are wider.

**Merging shrunken groups does not help.** Say that a person stood in group G of an earlier release, of which fewer
than k are in this one, and would now stand in a larger group H, merged from what is left of G and of others. Whoever
knows who is in which release lays both side by side and looks for those who are in G and in H. They were in G then
and are here now, so they are among the fewer than k who are left of G, whatever else is in H: wider labels would be
paid for, and nobody be added. Nor can another group, or a later release: only what was done when G was made helps,
larger groups or groups of persons who leave together. Where nobody knows who will leave, a larger reserve is what
there is: it leaves fewer persons out, and is wider from the first year on.

Carried groups are made once and stay, so persons are exchanged between new ones while that lowers the loss;
independent releases are by the partition as it is. Local recoding exchanges by itself: it loses less than
Mondrian, independent or carried, and there the ratio is worse, for its groups are hardly larger than asked for, so
that more of them shrink below k when somebody leaves.
"""

INVARIANT = """
## With a sensitive requirement: m-invariance

The secret is the insurance plan ({n_plans} values, the most frequent {top} %), and nothing else is published
beside the quasi-identifiers. *Diverse* are independent releases by Mondrian with distinct {m}-diversity,
*m-unique* independent ones by the method of m-invariance itself, in which each group holds every value of its
signature equally often: that is what the ratio is to.

{table}

Most of the loss is that of m-unique groups, and not of repeating them: equally frequent values have to be
looked for in fewer persons than just different ones. Counterfeits are needed where a bucket loses more
persons of one value than of another; where persons who leave together were put into buckets of their own,
most of them are not needed.
"""

GROWTH = """
## A million persons

Persons with {n_columns} quasi-identifiers, {change:.0f} % of whom are others in the second release, k = {k}. Processor
time of the second release from frames, with its check and without a report (`python -m benchmarks.several_growth`).

{table}
"""


@dataclass
class Made:
    """Five releases, made one way."""

    name: str
    releases: list[Any]
    loss: float
    n_left_out: int
    n_counterfeits: int

    @property
    def cases(self) -> list[Any]:
        """What attacks on them work on, with persons known by the same numbers."""
        cases = [release.case for release in self.releases]
        keys = joint_keys([case.original for case in cases], [PERSON])
        return [replace(case, known_as=key) for case, key in zip(cases, keys, strict=True)]


def years() -> list[pd.DataFrame]:
    """The table of each year."""
    table = pd.read_csv(DATA, dtype=str)
    last = table.groupby(PERSON)["year"].transform("max")
    table[PANEL] = np.where(last > "3", "five years", "three years")
    return [table[table["year"] == str(year)].reset_index(drop=True) for year in range(1, YEARS + 1)]


def make(name: str, tables: Sequence[pd.DataFrame], *, after: bool = True, **asked: Any) -> Made:
    """Release year after year; `after` says whether each knows of those before it."""
    policy = shoal.Policy.of(
        quasi=QUASI, person=PERSON, k=K, others="identifying", singled_out=1.0, suppression=0.95, **asked
    )
    made, lost, n_left_out, n_false, before = [], 0.0, 0, 0, None
    with tempfile.TemporaryDirectory() as folder:
        for i, table in enumerate(tables):
            release = shoal.anonymize(table, policy, seed=SEED, after=before)
            if after and policy.releases == "several":
                before = Path(folder) / str(i)
                before.mkdir()
                release._keep(before, ["ledger"])
            records = release.records
            gcp = next(loss.value for loss in release.utility.losses if loss.name == "GCP")
            lost += gcp * records["in"]  # which counts a record that is left out as 1
            n_left_out += records["suppressed"]
            n_false += records.get("counterfeits", 0)
            made.append(release)
    return Made(name, made, lost / sum(map(len, tables)), n_left_out, n_false)


def below_k(made: Made, n_attacks: int = SOME) -> tuple[int, int]:
    """Persons with fewer than k candidates: by classes, of all persons, and by labels, the years added up."""
    cases = made.cases
    n_persons = max(int(case.known_as.max()) for case in cases) + 1
    histories = np.full((n_persons, len(cases)), -1, dtype=np.int64)
    for i, (release, case) in enumerate(zip(made.releases, cases, strict=True)):
        own = np.flatnonzero(release._rows < case.original.n_rows)
        histories[case.known_as[release._rows[own]], i] = classes_of(release.table, list(QUASI)).ids[own]
    found = candidates_of(histories)
    attack = IntersectedCandidates(n_attacks=n_attacks)
    return int(((found > 0) & (found < K)).sum()), sum(int(r.main.successes) for r in _attacked(attack, cases))


def below_m(made: Made) -> int:
    """Persons of whom fewer than m secrets stay possible, the years added up."""
    attack = Intersection(n_attacks=ALL)
    return sum(round(r.details["fewer_values"] * r.main.attempts) for r in _attacked(attack, made.cases))


def _attacked(attack: Any, cases: Sequence[Any]) -> list[Any]:
    """The attack on those of each year, with all other years beside it."""
    rng = np.random.default_rng(SEED)
    return [attack.run(replace(case, others=tuple(c for c in cases if c is not case)), rng) for case in cases]


def carried(tables: Sequence[pd.DataFrame]) -> dict[str, Any]:
    """The rows of groups carried over, and how many persons independent releases expose."""
    several: Any = {"releases": "several"}
    rows, exposed = [], 0
    for partition, reserves in RESERVES.items():
        asked: Any = {"partition": partition}
        ways = [
            make("independent", tables, after=False, **asked),
            *(make(f"carried, reserve {r}", tables, reserve=r, **several, **asked) for r in ALONE),
            *(
                make(f"carried, by panel, reserve {r}", tables, reserve=r, panel=PANEL, **several, **asked)
                for r in reserves
            ),
        ]
        for made in ways:
            by_classes, by_labels = below_k(made)
            exposed = exposed or by_classes
            ratio = made.loss / ways[0].loss
            counts = f"{by_classes:,} | {by_labels:,} | {made.n_left_out:,}"
            rows.append(f"| {partition} | {made.name} | {counts} | {made.loss:.3f} | {ratio:.2f} |")
    return {"rows": rows, "exposed": exposed}


def invariant_rows(tables: Sequence[pd.DataFrame], m: int) -> list[str]:
    """The rows of one m."""
    asked: Any = {"sensitive": [SECRET], "l": m}
    several: Any = {"releases": "several", **asked}
    fresh = make("m-unique", tables, after=False, **several)
    ways = [
        make("diverse", tables, after=False, **asked),
        fresh,
        make("m-invariant", tables, **several),
        make("m-invariant, by panel", tables, panel=PANEL, **several),
    ]
    rows = []
    for made in ways:
        share = made.n_counterfeits / sum(map(len, tables))
        _, by_labels = below_k(made)
        counts = f"{below_m(made):,} | {by_labels:,} | {made.n_counterfeits:,} ({100 * share:.2f} %)"
        ratio = made.loss / fresh.loss
        rows.append(f"| {m} | {made.name} | {counts} | {made.n_left_out:,} | {made.loss:.3f} | {ratio:.2f} |")
    return rows


def measure(part: str, tables: Sequence[pd.DataFrame]) -> dict[str, Any]:
    """The figures of one part of the page."""
    if part == "growth":
        return {"rows": [f"| {n:,} | {way} | {seconds:.0f} |" for n, way, seconds, _ in measured(SIZES)]}
    if part == "carried":
        return carried(tables)
    return {"rows": [row for m in MS for row in invariant_rows(tables, m)]}


def page(known: dict[str, Any], tables: Sequence[pd.DataFrame]) -> str:
    """The page, from what was measured."""
    everybody = pd.concat(tables)
    sizes = [f"{len(t):,}" for t in tables]
    persons, rows = f"{everybody[PERSON].nunique():,}", f"{len(everybody):,}"
    shares = everybody[SECRET].value_counts(normalize=True)
    drawn = f"below k by labels, of {SOME * YEARS:,} drawn"
    of_carried = _table(
        ("partition", "releases", "below k by classes", drawn, "left out", "loss", "ratio"), known["carried"]["rows"]
    )
    of_invariant = _table(
        ("m", "releases", "below m", drawn, "counterfeits", "left out", "loss", "ratio"), known["invariant"]["rows"]
    )
    of_growth = _table(("persons", "way", "CPU, s"), known["growth"]["rows"])
    return "".join(
        [
            ABOUT.format(rows=rows, persons=persons, sizes=f"{', '.join(sizes[:-1])} and {sizes[-1]}", k=K),
            CARRIED.format(table=of_carried, exposed=f"{known['carried']['exposed']:,}", k=K),
            INVARIANT.format(table=of_invariant, n_plans=len(shares), top=f"{100 * shares.iloc[0]:.0f}", m="m"),
            GROWTH.format(table=of_growth, n_columns=len(GROWN_QUASI), change=100 * CHANGE, k=GROWN_K),
        ]
    )


def _table(headings: Sequence[str], rows: Sequence[str]) -> str:
    return "\n".join([f"| {' | '.join(headings)} |", "|" + "---|" * len(headings), *rows])


def main(parts: Sequence[str]) -> None:
    """Measure some parts, or all, keep their figures, and write the page from what is there."""
    tables = years()
    for part in parts or PARTS:
        made = {} if part == "page" else {part: measure(part, tables)}
        known = (json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}) | made
        KEPT.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    if not set(PARTS) - set(known):
        PAGE.write_text(page(known, tables), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
