"""Singling out, linkability and inference on a condensed Adult, against anonymeter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import NUMERIC, People, people, write_csv
from benchmarks.harness import Case, Setting, timed
from benchmarks.peers import ANONYMETER
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult
from shoal.attack.tables.case import TableCase
from shoal.attack.tables.inference import Inference
from shoal.attack.tables.linkability import Linkability
from shoal.attack.tables.singling_out import SinglingOut, UnivariateSinglingOut
from shoal.data.tables.table import Table, encode_cells
from shoal.kinds.tables.policy import Policy
from shoal.tables.anonymize import anonymize_table

COLUMNS = (
    "age",
    "education-num",
    "capital-gain",
    "hours-per-week",
    "fnlwgt",
    "workclass",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "salary-class",
)
SECRET = "occupation"
KNOWN = (
    ["age", "education-num", "fnlwgt", "sex"],
    ["capital-gain", "hours-per-week", "workclass", "marital-status", "occupation"],
)
N_RECORDS, N_ATTACKS, N_COLUMNS, N_NEAREST = 5000, 1000, 3, 5
AT_LEAST = 5.0


def halves(data: People, n_records: int) -> tuple[Table, Table]:
    """Records to be released, and as many that are not."""
    mixed = np.random.default_rng(5).permutation(data.n_rows)
    inside, outside = (data.take(mixed[i * n_records : (i + 1) * n_records]) for i in (0, 1))
    return _table(inside), _table(outside)


def _table(data: People) -> Table:
    return Table.of(encode_cells(name, cells) for name, cells in data.select(COLUMNS).items())


def condensed(original: Table, control: Table, k: int = 3) -> TableCase:
    """Pseudo-records, which have plain values in all columns: what anonymeter can read."""
    roles = {n: {"role": "sensitive" if n == SECRET else "quasi"} for n in COLUMNS}
    for name in NUMERIC:
        if name in roles:
            roles[name]["type"] = "continuous"
    policy = Policy.model_validate(
        {
            "columns": roles,
            "require": [{"model": "k-anonymity", "k": k}],
            "method": {"partition": "mdav", "publish": "condense"},
        }
    )
    made = anonymize_table(original, policy, seed=1)
    quasi = [n for n in COLUMNS if n != SECRET]
    return TableCase(made.table, original, control, quasi, [SECRET], made.attributes, "condense")


def contests(n_attacks: int) -> Iterator[tuple[str, Attack[TableCase], dict[str, Any]]]:
    """What both sides do: a name, our attack, and the task for anonymeter."""
    quasi = [n for n in COLUMNS if n != SECRET]
    every = {"columns": list(COLUMNS), "n_attacks": n_attacks}
    several = {**every, "attack": "singling-out", "n_columns": N_COLUMNS}
    yield "singling-out", SinglingOut(N_COLUMNS, n_attacks), several
    yield "singling-out univariate", UnivariateSinglingOut(n_attacks), {**every, "attack": "univariate"}
    both = {**every, "attack": "linkability", "columns": [*KNOWN[0], *KNOWN[1]], "known": KNOWN, "n_nearest": N_NEAREST}
    yield "linkability", Linkability(KNOWN, N_NEAREST, n_attacks), both
    guess = {**every, "attack": "inference", "secret": SECRET}
    yield "inference", Inference(quasi, [SECRET], votes=False, n_attacks=n_attacks), guess


def write_case(case: TableCase, folder: Path) -> dict[str, Path]:
    """The three tables as files."""
    tables = {"published": case.published, "original": case.original, "control": case.control}
    files = {}
    for name, table in tables.items():
        assert table is not None
        files[name] = write_csv({c: table[c].cells() for c in COLUMNS}, folder / f"attack-{name}.csv")
    return files


def cases(setting: Setting) -> Iterator[Case]:
    """A case for each attack; both sides begin with tables in memory."""
    data = people(setting.quick)
    n_records = min(N_RECORDS, data.n_rows // 2)
    case = condensed(*halves(data, n_records))
    n_attacks = 50 if setting.quick else N_ATTACKS
    files = {n: str(p) for n, p in write_case(case, setting.folder).items()}
    for name, attack, task in contests(n_attacks):

        def run(attack: Attack[TableCase] = attack) -> AttackResult:
            return attack.run(case, np.random.default_rng(1))

        def rates(result: AttackResult) -> dict[str, float]:
            assert result.control is not None
            return {"main": round(result.main.value, 4), "control": round(result.control.value, 4)}

        def theirs(found: dict[str, Any]) -> dict[str, float]:
            return {which: round(found[which] / n_attacks, 4) for which in ("main", "control")}

        yield Case(
            f"attack {name}",
            f"{name}, {n_attacks:,} attacks on {n_records:,} pseudo-records (k = 3), with a control of as many",
            data.about,
            [
                timed("shoal", run, numbers=rates),
                ANONYMETER.contestant(
                    lambda: Path(files["published"]),
                    numbers=theirs,
                    at_least=AT_LEAST,
                    original=files["original"],
                    control=files["control"],
                    **task,
                ),
            ],
        )
