"""`profile`'s policy, unedited, on tables that it has not seen: `python -m reproductions.roles`.

Every table of `../shared/data` with all its rows, and the eight of `reproductions.role_tables`. For each: profile,
release with the policy that was written, a fifth of the records held out; what each column got and why, what was
found, and what the singling-out attack adds to guessing at people who are not in the release. Then the sections of
`reproductions.role_findings`. Every number is computed here, and stored table by table in
`reproductions/results/roles.json`, so that a run that was stopped goes on where it was. Writes
`docs/reproductions/roles.md` from what is stored, anew after every table. With names of tables (or `demonstration`,
`ends`), those are measured again; `all` measures all again; `page` measures nothing.
"""

from __future__ import annotations

import json
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from reproductions.role_findings import demonstration, ends, written_policy
from reproductions.role_tables import made_tables
from shoal.attack.tables.label_ends import LabelEnds
from shoal.attack.tables.singling_out import SinglingOut
from shoal.data.tables.persons import person_codes
from shoal.errors import ShoalError
from shoal.held_out import hold_out
from shoal.kinds.tables.kind import load
from shoal.kinds.tables.profile import profile_table
from shoal.report.points import listed
from shoal.report.verdict import LIMIT

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / ".." / "shared" / "data"
PAGE = ROOT / "docs" / "reproductions" / "roles.md"
STORE = ROOT / "reproductions" / "results" / "roles.json"
SECTIONS: dict[str, Callable[[], list[str]]] = {"demonstration": demonstration, "ends": ends}
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
was not made from, and *added* the difference over what is left, with its upper end at 95 %. *Ends* is what reading
values off the ends of ranges adds to guessing inside them, with its upper end. GCP is the share of certainty lost. CPU
seconds are of profile and release, with compilation where a process is the first to need it, beside other work. Tables
under 100 records are not attacked: too few can be held out.
"""


@dataclass(frozen=True)
class Outcome:
    """What became of one table; of each column name, role, the share that it singles out alone, and why."""

    name: str
    n_rows: int
    person: str | None
    columns: list[tuple[str, str, float | None, str]]
    refused: str = ""
    singled_out: float = 0.0
    tries: int = 0
    members: float | None = None
    others: float | None = None
    added: float | None = None
    added_at_most: float | None = None
    ends: float | None = None
    ends_at_most: float | None = None
    gcp: float = 0.0
    cpu_seconds: float = 0.0


def outcome(name: str, source: Any, most: int | None = None) -> Outcome:
    """Profile a table, or so many records of it, release it by the policy that was written, and attack it."""
    table = load(source, header="none" if name in HEADLESS else None)
    if most is not None and table.n_rows > most:
        rows = np.random.default_rng(SEED).choice(table.n_rows, most, replace=False)
        table = table.take(np.sort(rows)).compact()
    held, person = None, profile_table(table).person
    if table.n_rows >= 100:  # of a person all records or none
        table, held = hold_out(table, HELD_OUT, SEED, person_codes(table, [person]) if person else None)
    start = time.process_time()
    profile, policy = written_policy(table)
    given = [(c.attribute.name, c.attribute.role, c.singled_out, c.attribute.why) for c in profile.columns]
    told: dict[str, Any] = {"name": name, "n_rows": table.n_rows, "person": profile.person, "columns": given}
    try:
        release = shoal.anonymize(table, policy, seed=SEED, control=None if held is None else held.records)
    except ShoalError as error:
        return Outcome(**told, refused=str(error))
    told["cpu_seconds"] = time.process_time() - start
    assert not any(f.is_above for f in release.findings)
    told["singled_out"] = max((f.share for f in release.findings if f.name == "singled_out"), default=0.0)
    told["gcp"] = next(loss.value for loss in release.utility.losses if loss.name == "GCP")
    if held is None:
        return Outcome(**told)
    if LabelEnds().missing(release.case) is None:
        risk = LabelEnds().run(release.case, np.random.default_rng(SEED)).risk
        told |= {"ends": risk.value, "ends_at_most": risk.high}
    attacked = SinglingOut().run(release.case, np.random.default_rng(SEED))
    assert attacked.control is not None
    risk = attacked.risk
    told |= {"tries": int(attacked.main.attempts), "members": attacked.main.value, "others": attacked.control.value}
    return Outcome(**told, added=risk.value, added_at_most=risk.high)


def sources() -> Iterator[tuple[str, Any]]:
    """Every table by its name."""
    yield from made_tables().items()
    for name, path in FILES.items():
        if (DATA / path).exists():
            yield name, DATA / path


def page(outcomes: list[Outcome], sections: Iterable[list[str]]) -> str:
    """The page."""
    lines = ["# Roles that fail closed", "", *textwrap.wrap(" ".join(ABOUT.split()), 120), ""]
    lines += [
        "| table | records | person | dropped | quasi | kept | singled out | tries | members | others | "
        "added, at most | ends, at most | GCP | CPU |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for o in outcomes:
        roles = [role for _, role, _, _ in o.columns]
        counts = [str(roles.count(r)) for r in ("identifying", "quasi", "insensitive")]
        said = [f"refused: {o.refused}"]
        if not o.refused:
            said = [_percent(o.singled_out), f"{o.tries:,}", _percent(o.members), _percent(o.others)]
            said += [_both(o.added, o.added_at_most), _both(o.ends, o.ends_at_most)]
            said += [f"{o.gcp:.2f}", f"{o.cpu_seconds:.1f}"]
        person = "" if o.person is None else f"`{_cell(o.person)}`"
        lines.append(f"| {o.name} | {o.n_rows:,} | {person} | {' | '.join(counts)} | {' | '.join(said)} |")
    lines += ["", *textwrap.wrap(told(outcomes), 120), ""]
    for section in sections:
        lines += [*section, ""]
    for o in outcomes:
        lines += [f"## {o.name}", "", "| column | role | alone | why |", "|---|---|---:|---|"]
        lines += [f"| `{_cell(n)}` | {role} | {_percent(alone)} | {_cell(why)} |" for n, role, alone, why in o.columns]
        lines.append("")
    return "\n".join(lines)


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
    text += f", and above it for {', '.join([*few, *more])}." if above else "."
    with_ends = [o for o in attacked if o.ends_at_most is not None]
    telling = [f"{o.name} ({_both(o.ends, o.ends_at_most)})" for o in with_ends if (o.ends_at_most or 0.0) > LIMIT]
    text += f" Reading values off the ends of ranges, which {len(with_ends)} tables have, adds "
    return f"{text}{f'more than 5 % at most for {listed(telling)}' if telling else 'at most 5 % at its upper end'}."


def _both(share: float | None, at_most: float | None) -> str:
    return "–" if share is None else f"{_percent(share)}, {_percent(at_most)}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def read() -> dict[str, Any]:
    """What is stored, by the name of the table or section."""
    found: dict[str, Any] = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    return found


def main() -> None:
    """Measure what is missing or asked for, and write the page."""
    asked, there = sys.argv[1:], dict(sources())
    names = [n for n in (*there, *SECTIONS) if n in asked] or ([] if "page" in asked else [*there, *SECTIONS])
    for name in names:
        if not asked and name in read():
            continue
        made: Any = SECTIONS[name]() if name in SECTIONS else asdict(outcome(name, there[name]))
        STORE.write_text(json.dumps(read() | {name: made}, indent=1) + "\n", encoding="utf-8")
        print(name, flush=True)
        write_page()
    write_page()


def write_page() -> None:
    """From what is stored."""
    stored = read()
    outcomes = [Outcome(**stored[name]) for name in (*made_tables(), *FILES) if name in stored]
    PAGE.write_text(page(outcomes, [stored[n] for n in SECTIONS if n in stored]), encoding="utf-8")


if __name__ == "__main__":
    main()
