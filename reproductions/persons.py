"""What a release by records hides of persons, and what counting persons costs: `python -m reproductions.persons`.

Three tables in which a person has several rows, released twice with the default method: by records, as before, and by
persons. Writes `docs/reproductions/persons.md`; every number is computed here.
"""

from __future__ import annotations

import tempfile
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from shoal.attack.tables.cells import attribute_of
from shoal.check.tables.classes import classes_of
from shoal.data.tables.files import read_table
from shoal.data.tables.persons import person_codes
from shoal.errors import ShoalError
from shoal.kinds.tables.policy import Method, partitions, publications
from shoal.tables.encoding import rank
from shoal.tables.information_loss import width_points

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / ".." / "shared" / "data"
PAGE = ROOT / "docs" / "reproductions" / "persons.md"
SCRATCH = Path(tempfile.gettempdir()) / "shoal-persons"
K, SEED = 5, 1

ABOUT = """# Persons, not rows

Written by `python -m reproductions.persons`. Each table is released with k = {k} and the default method, once by
records (the person's column dropped) and once by persons (`--person`). *Below {k}* are the classes of equal quasi-
identifiers that hold records of fewer than {k} different persons, *alone* those of one person. GCP is the share of
certainty lost. Seconds are of processor time, after compilation, reading and check included. *Unique histories*: the
share of persons whose published records, all taken together, are like nobody else's, for an attacker who knows all of
a person's records; `person_knowledge = "history"` brings it to none, at the GCP of the last column (with at most 2 %
of the records suppressed, so that persons of a group have equally many).

Where persons have several records, groups grow from different persons in blocks that the partition made, and records
are exchanged between them. That works harder than Mondrian alone, which is why counting persons can cost less than it
gains.
"""


@dataclass(frozen=True)
class Case:
    """A table, whose rows are of whom, and what is known of them."""

    name: str
    file: str
    person: str
    quasi: tuple[str, ...]
    sensitive: str


CASES = (
    Case(
        "RandHIE",
        "randhie/randhie.csv.gz",
        "zper",
        ("site", "female", "black", "xage", "educdec", "income"),
        "physlm",
    ),
    Case(
        "Diabetes 130",
        "diabetes130/diabetic_data.csv.gz",
        "patient_nbr",
        ("race", "gender", "age", "admission_type_id", "time_in_hospital"),
        "readmitted",
    ),
    Case(
        "sdcMicro's testdata, households",
        "sdcmicro_testdata/testdata.csv",
        "ori_hid",
        ("urbrur", "roof", "walls", "water", "electcon", "sex", "age"),
        "income",
    ),
)


@dataclass(frozen=True)
class Released:
    """What one release came to."""

    n_classes: int
    n_alone: int
    n_below: int
    gcp: float
    seconds: float
    unique_histories: float


def policy_of(case: Case, *, by_person: bool, **more: object) -> shoal.Policy:
    """Ask for k persons, or for k records."""
    whose = {"person": case.person} if by_person else {"identifying": [case.person]}
    return shoal.Policy.of(
        quasi=list(case.quasi),
        sensitive=[case.sensitive],
        others="identifying",
        k=K,
        singled_out=1.0,
        **whose,
        **more,
    )


def release(case: Case, policy: shoal.Policy) -> Released:
    """Release, and count the persons of each class of what is published."""
    start = time.process_time()
    made = shoal.anonymize(DATA / case.file, policy, seed=SEED)
    seconds = time.process_time() - start
    evidence = made._evidence
    persons = person_codes(made._original, [case.person])[evidence.rows]
    classes = classes_of(made.table, list(case.quasi))
    sizes, alike = classes.of_persons(persons).sizes, classes.of_histories(persons)
    gcp = next(loss.value for loss in made.utility.losses if loss.name == "GCP")
    unique = float((alike.sizes == 1).sum() / alike.n_members)
    return Released(classes.n_classes, int((sizes == 1).sum()), int((sizes < K).sum()), gcp, seconds, unique)


def both(case: Case) -> str:
    """A line of the first table: by records and by persons, and by history."""
    release(case, policy_of(case, by_person=True))  # compiles
    rows, persons = (release(case, policy_of(case, by_person=by)) for by in (False, True))
    asked = policy_of(case, by_person=True, person_knowledge="history", suppression=0.02)
    whole = release(case, asked)
    return (
        f"| {case.name} | {rows.n_classes:,} | {rows.n_alone:,} | {rows.n_below:,} | {rows.gcp:.4f} "
        f"| {rows.seconds:.1f} | {persons.n_classes:,} | {persons.n_alone} | {persons.n_below} | {persons.gcp:.4f} "
        f"| {persons.gcp / rows.gcp:.2f} | {persons.seconds:.1f} | {persons.unique_histories:.1%} "
        f"| {whole.gcp:.4f} |"
    )


def page(line: Callable[..., str] = lambda make, *asked: make(*asked)) -> str:
    """The whole page; `line` makes a line of a table, or finds it where it was made before."""
    lines = [
        ABOUT.format(k=K),
        f"| table | by records: classes | alone | below {K} | GCP | s | by persons: classes | alone | below {K} | GCP "
        "| ratio | s | unique histories | GCP by history |",
        "|---|" + "---:|" * 13,
    ]
    lines += [line(both, case) for case in CASES]
    lines += ["", *ways(line)]
    return "\n".join([*lines, ""])


MOST_OF_MDAV, MOST_RATIO = 100_000, 1.3
NEIGHBOURS = 128  # among which K - 1 other persons are, though some have many records
OF_MDAV = ("mdav", "v-mdav")
WAYS = f"""## Every way of publishing and of making groups

All publications, and all partitions that take several quasi-identifiers (`univariate` orders by one), k = {K}, once by
records and once by persons. *Groups* are the classes that look alike, the groups that pseudo-records were drawn from,
or the buckets, and *below {K}* those with records of fewer than {K} persons, counted here in the original. GCP is that
of an average record, and of an average person; *ratio* the first by persons over the first by records. Slices keep
quasi-identifiers as they are, so what they lose is what counts across slices get wrong (*counts*: the median error of
random ones, by records and by persons). A way is refused where the policy says that it cannot be. MDAV and V-MDAV take
too long for the {MOST_OF_MDAV:,} records and more of Diabetes 130, by records.
"""


def grouped(case: Case, more: dict[str, object], *, by_person: bool) -> tuple[int, int, dict[str, float], float]:
    """Groups, those of fewer than k persons, losses and seconds of one release."""
    start = time.process_time()
    made = shoal.anonymize(DATA / case.file, policy_of(case, by_person=by_person, **more), seed=SEED)
    seconds = time.process_time() - start
    persons = person_codes(made._original, [case.person])[made._rows]
    pairs = np.unique(np.column_stack([made._classes.ids, persons]), axis=0)
    sizes = np.bincount(pairs[:, 0])
    return len(sizes), int((sizes < K).sum()), {loss.name: loss.value for loss in made.utility.losses}, seconds


def way(case: Case, name: str, more: dict[str, object]) -> str:
    """A line of the second table."""
    try:
        rows, below, by_rows, _ = grouped(case, more, by_person=False)
        groups, none, losses, seconds = grouped(case, more, by_person=True)
    except ShoalError as error:
        return f"| {case.name} | {name} | refused: {error} |" + " |" * 9
    ratio = f"{losses['GCP'] / by_rows['GCP']:.2f}" if by_rows["GCP"] else "–"
    return (
        f"| {case.name} | {name} | {rows:,} | {below:,} | {by_rows['GCP']:.4f} | {groups:,} | {none} "
        f"| {losses['GCP']:.4f} | {ratio} | {losses['GCP-person']:.4f} "
        f"| {by_rows['query-error']:.1%}, {losses['query-error']:.1%} | {seconds:.1f} |"
    )


def ways(line: Callable[..., str]) -> list[str]:
    """Every publication of the default groups, and every other partition, on every table."""
    asked: list[tuple[str, dict[str, object]]] = [(name, {"publish": name}) for name in publications()]
    asked += [
        (f"generalise by {p.name}", {"partition": p.name, "publish": "generalise"})
        for p in partitions().values()
        if p.name not in (Method().partition, "univariate")
    ]
    made = [line(way, case, *each) for case in CASES for each in asked if not _takes_too_long(case, each[1])]
    return [
        WAYS,
        f"| table | way | by records: groups | below {K} | GCP | by persons: groups | below {K} | GCP | ratio "
        "| GCP of a person | counts | s |",
        "|---|---|" + "---:|" * 10,
        *made,
        "",
        *textwrap.wrap(summary(made), 120),
    ]


def summary(made: Sequence[str]) -> str:
    """What the second table comes to, in words."""
    rows = [[cell.strip() for cell in one.strip("| ").split("|")] for one in made if "refused" not in one]
    below = sum(int(row[6]) for row in rows)
    above = [f"{row[1]} of {row[0]} ({row[8]})" for row in rows if row[8] != "–" and float(row[8]) > MOST_RATIO]
    text = f"By persons {below or 'no'} groups of these {len(rows)} releases have fewer than {K} persons. "
    if not above:
        return f"{text}None loses more than {MOST_RATIO} times as much as by records."
    near = {case.name: distances(case) for case in CASES if any(case.name in one for one in above)}
    told = [f"{persons / records:.2f} times in {name}" for name, (records, persons) in near.items()]
    return (
        f"{text}More than {MOST_RATIO} times as much as by records is lost by {', '.join(above)}; by others less. By "
        "records these ways group what lies nearest, often of one person: they lose little by groups that hide "
        f"fewer than {K} persons, whose number stands there. Records of {K - 1} other persons are farther from a "
        f"record than {K - 1} other records are, on average {' and '.join(told)}, in the measure of what is lost: so "
        "groups of the nearest cost more where they hide persons. Growing groups from different persons, giving up "
        "costly ones and exchanging records between them is done for all of these partitions already."
    )


def distances(case: Case) -> tuple[float, float]:
    """How far the k - 1 nearest records are on average, and records of the k - 1 nearest other persons."""
    from scipy.spatial import cKDTree

    made = shoal.anonymize(DATA / case.file, policy_of(case, by_person=True, publish="generalise"), seed=SEED)
    cells = []
    for name in case.quasi:
        ranked = rank(made._original[name], attribute_of(made.case, name))
        points = width_points([ranked]).points[:, 0]
        is_one = points[:, None] == np.arange(ranked.n_values) if ranked.kind == "category" else points[:, None]
        cells.append(is_one / (2 * (ranked.n_values - 1)) if ranked.kind == "category" else is_one)
    places = np.column_stack(cells) / len(case.quasi)
    far, near = cKDTree(places).query(places, NEIGHBOURS, p=1)
    persons = person_codes(made._original, [case.person])
    whose = persons[near]
    is_new = np.array([~(whose[:, :i] == whose[:, [i]]).any(axis=1) for i in range(NEIGHBOURS)]).T
    is_new &= whose != persons[:, None]
    order = np.cumsum(is_new, axis=1)
    assert (order[:, -1] >= K - 1).all()
    return float(far[:, K - 1].mean()), float(np.where(order >= K - 1, far, np.inf).min(axis=1).mean())


def _takes_too_long(case: Case, more: dict[str, object]) -> bool:
    return more.get("partition") in OF_MDAV and read_table(DATA / case.file).n_rows > MOST_OF_MDAV


def kept_line(make: Callable[..., str], case: Case, name: str = "", *more: Any) -> str:
    """A line that an earlier run made, or that is made now: a run that was stopped goes on where it was."""
    SCRATCH.mkdir(exist_ok=True)
    path = SCRATCH / f"{make.__name__} {case.name} {name}.txt"
    if not path.exists():
        path.write_text(make(case, *([name, *more] if name else [])), encoding="utf-8")
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    PAGE.write_text(page(kept_line), encoding="utf-8")
