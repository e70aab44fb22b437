"""Two sections of the page on roles, which `python -m reproductions.roles` writes.

The demonstration's clinic by the policy that `profile` writes, under all attacks with records held out; and what the
ends of labels tell with exact and with rounded ends.
"""

from __future__ import annotations

import tempfile
import textwrap
from pathlib import Path

import numpy as np

import shoal
from shoal.attack.attack import run_attacks
from shoal.attack.tables.label_ends import LabelEnds
from shoal.data.samples.clinic import clinic
from shoal.data.tables.table import Table
from shoal.kind import kind_named
from shoal.kinds.tables.kind import load
from shoal.kinds.tables.policy import Policy
from shoal.kinds.tables.profile import Profile, profile_table

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / ".." / "shared" / "data"
WITH_NUMBERS = {
    "census": "census/census.csv",
    "tarragona": "tarragona/tarragona.csv",
    "testdata": "sdcmicro_testdata/testdata.csv",
    "adult": "adult/arx_adult.csv.gz",
    "nafld1": "nafld/nafld1.csv.gz",
    "randhie": "randhie/randhie.csv.gz",
}
N_CLINIC, HELD_OUT, SEED = 3000, 0.1, 1
DEMO = """## The demonstration, by the policy that `profile` writes

The clinic of `shoal demo` ({n:,} patients, a tenth held out), profiled and released unedited, and every attack that can
be run on it. *Added* is what an attack adds, with the ends of its 95 % interval; *admitted* what the guarantees of the
release tell beforehand: of 5 that look alike one may be linked right. Where guesses within the labels are right every
time, as of sets of categories, nothing can be added to them, and the interval ends at what could be left.
"""
ENDS = """## What the ends of ranges tell

Reading values off the ends of ranges: claims that a member of a class has the least and the greatest value that its
label covers. Profile's policy, with `ends = "exact"` and as it is, rounded outward. *Right* are the claims, *drawn* the
values drawn from those that labels cover, and *added* the difference over what is left, with its upper end at 95 %.
"""


def written_policy(table: Table) -> tuple[Profile, Policy]:
    """What `shoal profile` finds, and the policy that it writes, read back."""
    profile = profile_table(table)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "policy.toml"
        path.write_text(profile.to_toml(), encoding="utf-8")
        return profile, Policy.read(path)


def demonstration() -> list[str]:
    """What each attack adds."""
    table = load(clinic(N_CLINIC))
    release = shoal.anonymize(table, written_policy(table)[1], seed=SEED, hold_out=HELD_OUT)
    attacked = run_attacks(kind_named(release.kind).attacks, release.case, seed=SEED)
    lines = [DEMO.format(n=N_CLINIC), "| attack | added | from, to | admitted |", "|---|---:|---:|---:|"]
    for r in sorted(attacked.results, key=lambda r: -r.risk.value):
        risk = r.risk
        lines.append(f"| {r.title} | {risk.value:.3f} | {risk.low:.3f}, {risk.high:.3f} | {r.admitted:.2f} |")
    verdict = release.verdict
    return [*lines, "", *textwrap.wrap(f"The verdict is {verdict.level}: {verdict.worst}", 120)]


def ends() -> list[str]:
    """Claims that are right with exact and with rounded ends."""
    lines = [
        ENDS,
        "| table | exact: right | drawn | added, at most | rounded: right | drawn | added, at most |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    above: list[str] = []
    for name, path in WITH_NUMBERS.items():
        if not (DATA / path).exists():
            continue
        table = load(DATA / path)
        policy = written_policy(table)[1].changed(partition="mondrian", publish="generalise")
        cells = []
        for how in ("exact", "rounded"):
            release = shoal.anonymize(table, policy.changed(ends=how), seed=SEED)
            found = LabelEnds().run(release.case, np.random.default_rng(SEED))
            assert found.baseline is not None
            cells += [f"{100 * found.main.value:.1f} %", f"{100 * found.baseline.value:.1f} %"]
            cells += [f"{100 * found.risk.value:.1f} %, {100 * found.risk.high:.1f} %"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
        if found.risk.high > 0.05:
            above.append(f"{name} ({100 * found.risk.value:.1f} %, at most {100 * found.risk.high:.1f} %)")
    more = f"more than 5 % can be added for {', '.join(above)}" if above else "nowhere more than 5 % can be added"
    return [*lines, "", f"With rounded ends {more}."]
