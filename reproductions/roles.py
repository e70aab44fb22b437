"""`profile`'s policy, unedited, on tables that it has not seen: `python -m reproductions.roles`.

Two more sections of the page are written by `python -m reproductions.role_findings`, and stay as they are here.

Every table of `../shared/data` with all its rows, and the six of `reproductions.role_tables`. For each: profile,
release with the policy that was written, a fifth of the records held out; what each column got and why, what was
found, and what the singling-out attack adds to guessing at people who are not in the release. Writes
`docs/reproductions/roles.md`; every number is computed here. With names of tables, those alone are run, and printed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from reproductions.role_findings import PAGE, kept_sections
from reproductions.role_tables import made_tables
from shoal.attack.tables.singling_out import SinglingOut
from shoal.data.tables.persons import person_codes
from shoal.errors import ShoalError
from shoal.held_out import hold_out
from shoal.kinds.tables.kind import load
from shoal.kinds.tables.policy import Policy
from shoal.kinds.tables.profile import Profile, profile_table
from shoal.report.verdict import LIMIT

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / ".." / "shared" / "data"
FILES = {
    "adult": "adult/arx_adult.csv.gz",
    "adult.data": "adult/adult.data.gz",
    "census": "census/census.csv",
    "tarragona": "tarragona/tarragona.csv",
    "testdata": "sdcmicro_testdata/testdata.csv",
    "francdat": "sdcmicro_testdata/francdat.csv",
    "diabetes130": "diabetes130/diabetic_data.csv.gz",
    "randhie": "randhie/randhie.csv.gz",
    "nafld1": "nafld/nafld1.csv.gz",
    "nafld2": "nafld/nafld2.csv.gz",
    "nafld3": "nafld/nafld3.csv.gz",
    "fertility": "fertility/fertility.csv.gz",
    "sf_cabs": "sf_cabs/cabs_20080608.parquet",
    "promoters": "promoters/promoters.csv",
    "splice": "splice/splice.csv",
    "newsgroups20": "newsgroups20/20news_bydate.csv.gz",
    "kddcup99": "kddcup99_10pct/kddcup.data_10_percent.csv.gz",
}
HEADLESS = ("kddcup99", "adult.data")
HELD_OUT, SEED = 0.2, 1
ABOUT = """
Written by `python -m reproductions.roles`. Each table was profiled, and released with the policy that `shoal profile`
wrote, unedited, after a fifth of its records were held out; k = 5, Mondrian. Where a column repeats as keys of persons
do, the policy names it as the *person*: persons are counted then, and held out with all of their records. *Singled out*
is the share of the records, or persons, that columns published as they are tell from all others, alone, in pairs and
triples, or with the labels (the limit is 5 %). The attack makes up to 2,000 different descriptions (*tries*) out of the
release that fit one published record, or the fewest; where it can make few, its upper end says little. *Members* is how
many of them fit exactly one record that the release was made from, *others* how many would fit one of as many that it
was not made from, and *added* the difference over what is left, with its upper end at 95 %. GCP is the share of
certainty lost. CPU seconds are of profile and release, beside other work. Tables under 100 records are not attacked:
too few can be held out.
"""


@dataclass(frozen=True)
class Outcome:
    """What became of one table."""

    name: str
    n_rows: int
    profile: Profile
    refused: str = ""
    singled_out: float = 0.0
    tries: int = 0
    members: float | None = None
    others: float | None = None
    added: float | None = None
    added_at_most: float | None = None
    gcp: float = 0.0
    cpu_seconds: float = 0.0


def outcome(name: str, source: Any, most: int | None = None) -> Outcome:
    """Profile a table, release it by the policy that was written, and attack it."""
    table = load(source, header="none" if name in HEADLESS else None)
    if most is not None and table.n_rows > most:
        rows = np.random.default_rng(SEED).choice(table.n_rows, most, replace=False)
        table = table.take(np.sort(rows)).compact()
    held, person = None, profile_table(table).person
    if table.n_rows >= 100:  # of a person all records or none
        table, held = hold_out(table, HELD_OUT, SEED, person_codes(table, [person]) if person else None)
    start = time.process_time()
    found = profile_table(table)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.toml"
        path.write_text(found.to_toml(), encoding="utf-8")
        policy = Policy.read(path)
    try:
        release = shoal.anonymize(table, policy, seed=SEED, control=None if held is None else held.records)
    except ShoalError as error:
        return Outcome(name, table.n_rows, found, refused=str(error))
    seconds = time.process_time() - start
    assert not any(f.is_above for f in release.findings)
    share = max((f.share for f in release.findings if f.name == "singled_out"), default=0.0)
    gcp = next(loss.value for loss in release.utility.losses if loss.name == "GCP")
    told = Outcome(name, table.n_rows, found, singled_out=share, gcp=gcp, cpu_seconds=seconds)
    if held is None:
        return told
    attacked = SinglingOut().run(release.case, np.random.default_rng(SEED))
    assert attacked.control is not None
    risk = attacked.risk
    values = (int(attacked.main.attempts), attacked.main.value, attacked.control.value, risk.value, risk.high)
    names = ("tries", "members", "others", "added", "added_at_most")
    return Outcome(**{**vars(told), **dict(zip(names, values, strict=True))})


def sources() -> Iterator[tuple[str, Any]]:
    """Every table by its name."""
    yield from made_tables().items()
    for name, path in FILES.items():
        if (DATA / path).exists():
            yield name, DATA / path


def page(found: Iterable[Outcome], most: int | None = None) -> str:
    """The page; of so many records of each table at most."""
    outcomes = list(found)
    about = ABOUT if most is None else f"{ABOUT} Of tables with more than {most:,} records so many were drawn."
    lines = ["# Roles that fail closed", "", *textwrap.wrap(" ".join(about.split()), 120), ""]
    lines += [
        "| table | records | person | dropped | quasi | kept | singled out | tries | members | others | "
        "added, at most | GCP | CPU |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for o in outcomes:
        roles = [c.attribute.role for c in o.profile.columns]
        counts = [str(roles.count(r)) for r in ("identifying", "quasi", "insensitive")]  # type: ignore[arg-type]
        said = (
            [f"refused: {o.refused}"] if o.refused else [_percent(o.singled_out), f"{o.tries:,}", _percent(o.members)]
        )
        if not o.refused:
            added = "–" if o.added is None else f"{_percent(o.added)}, {_percent(o.added_at_most)}"
            said += [_percent(o.others), added, f"{o.gcp:.2f}", f"{o.cpu_seconds:.1f}"]
        person = "" if o.profile.person is None else f"`{_cell(o.profile.person)}`"
        lines.append(f"| {o.name} | {o.n_rows:,} | {person} | {' | '.join(counts)} | {' | '.join(said)} |")
    lines += ["", *textwrap.wrap(told(outcomes), 120), "", *kept_sections()]
    for o in outcomes:
        lines += ["", f"## {o.name}", "", "| column | role | alone | why |", "|---|---|---:|---|"]
        for c in o.profile.columns:
            a = c.attribute
            lines.append(f"| `{_cell(a.name)}` | {a.role} | {_percent(c.singled_out)} | {_cell(a.why)} |")
    return "\n".join(lines) + "\n"


def told(outcomes: Iterable[Outcome]) -> str:
    """What the table comes to, in words."""
    found = list(outcomes)
    refused = [o.name for o in found if o.refused]
    attacked = [o for o in found if o.added is not None]
    above = [o for o in attacked if (o.added_at_most or 0.0) > LIMIT]
    text = (
        f"Of {len(found)} tables {len(refused) or 'none'} {'was' if len(refused) < 2 else 'were'} refused"
        f"{' (' + ', '.join(refused) + ')' if refused else ''}, and none was released with a finding above its limit. "
        f"Singling out adds at most {_percent(max((o.added or 0.0 for o in attacked), default=0.0))}; the upper end of "
        f"its interval is at most 5 % for {len(attacked) - len(above)} of {len(attacked)} tables"
    )
    few = [f"{o.name} (0 of {o.tries:,} tries were right)" for o in above if not o.members]
    more = [f"{o.name} ({_percent(o.members)} of {o.tries:,} tries were right)" for o in above if o.members]
    return f"{text}, and above it for {', '.join([*few, *more])}." if above else f"{text}."


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> None:
    """Compute everything and write the page."""
    parser = argparse.ArgumentParser(prog="python -m reproductions.roles", description=__doc__)
    parser.add_argument("tables", nargs="*", help="names of tables, to be printed alone")
    parser.add_argument("--most", type=int, help="so many records of each at most")
    asked = parser.parse_args()
    found = []
    for name, source in sources():
        if not asked.tables or name in asked.tables:
            found.append(outcome(name, source, asked.most))
            print(f"{name}: {found[-1].refused or found[-1].added_at_most}", file=sys.stderr, flush=True)
    if asked.tables:
        print(page(found, asked.most))
    else:
        PAGE.write_text(page(found, asked.most), encoding="utf-8")


if __name__ == "__main__":
    main()
