"""The demonstration: the main job, from file and policy to release, on data that is made here."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from shoal.api import anonymize
from shoal.data.samples.clinic import clinic, diagnosis_hierarchy
from shoal.data.samples.proteins import protein_families
from shoal.data.samples.quest import Quest, generate_baskets
from shoal.data.strings.files import write_strings
from shoal.data.tables.frames import from_frame
from shoal.data.tables.write import write_table
from shoal.kinds.sparse.baskets import BasketRelease
from shoal.kinds.sparse.km import KMRelease
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.sparse.release import SparseRelease
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.strings.release import StringRelease
from shoal.kinds.tables.policy import Policy
from shoal.kinds.tables.release import TableRelease
from shoal.scratch import scratch_folder
from shoal.stage import refuse_occupied, staged

POLICY = """\
# What the demonstration asks for. Change it and run
#     shoal anonymize clinic.csv -p policy.toml -o somewhere/
kind = "table"
missing = "value"

[columns]
diagnosis = { role = "sensitive", hierarchy = "diagnosis.csv" }
cost      = { role = "quasi" }   # kept as it is, it would single out nearly everybody
smoker    = { role = "quasi" }   # others may know it
length_of_stay = { role = "quasi" }

[[require]]
model = "k-anonymity"
k = 5

[[require]]
model = "l-diversity"
l = 3
kind = "distinct"
sensitive = "diagnosis"

[method]
partition = "mondrian"
publish = "generalise"
"""


STRING_POLICY = """\
# What the demonstration asks for. Change it and run
#     shoal anonymize proteins.fasta -p policy.toml -o somewhere/
kind = "strings"

[input]
label = 'family=(.+)'   # each family is condensed on its own

[[require]]
model = "k-anonymity"
k = 20
"""
BASKET_POLICY = """\
# What the demonstration asks for. Change it and run
#     shoal anonymize baskets.dat -p policy.toml -o somewhere/
kind = "sparse"

[input]
format = "baskets"

[[require]]
model = "k-anonymity"
k = 10

[method]
publish = "pseudo"   # "sketch" gives a few numbers for each basket instead
"""
N_PROTEINS = 600
N_BASKETS = 2000
STRINGS_FOLDER = "strings"
BASKETS_FOLDER = "baskets"


@dataclass(frozen=True)
class Demo:
    """What the demonstration made: a release of a table, one of strings, and one of baskets."""

    table: TableRelease
    strings: StringRelease
    baskets: SparseRelease | BasketRelease | KMRelease


def run_demo(out: Path, n_rows: int, progress: Callable[[str, int, int], None]) -> Demo:
    """Invent a clinic, proteins and baskets, protect them, and save releases and inputs, whole or not at all.

    Of each a tenth more is invented, which the releases are not made from: attacks are compared on it.
    """
    refuse_occupied(out)
    with scratch_folder() as scratch:
        inputs = {name: scratch / name for name in ("table", STRINGS_FOLDER, BASKETS_FOLDER)}
        for folder in inputs.values():
            folder.mkdir()
        _invent_clinic(inputs["table"], n_rows)
        _invent_proteins(inputs[STRINGS_FOLDER])
        _invent_baskets(inputs[BASKETS_FOLDER])
        made = Demo(
            anonymize(
                inputs["table"] / "clinic.csv",
                Policy.read(inputs["table"] / "policy.toml"),
                control=inputs["table"] / "unseen.csv",
                progress=progress,
            ),
            anonymize(
                inputs[STRINGS_FOLDER] / "proteins.fasta",
                StringPolicy.read(inputs[STRINGS_FOLDER] / "policy.toml"),
                control=inputs[STRINGS_FOLDER] / "unseen.fasta",
                progress=progress,
            ),
            anonymize(
                inputs[BASKETS_FOLDER] / "baskets.dat",
                SparsePolicy.read(inputs[BASKETS_FOLDER] / "policy.toml"),
                control=inputs[BASKETS_FOLDER] / "unseen.dat",
                progress=progress,
            ),
        )
        progress("attacking and writing the releases", 0, 0)
        with staged(out) as stage:
            made.table.save(stage / "table")
            for part in ("publish", "private"):
                (stage / "table" / part).rename(stage / part)
            (stage / "table").rmdir()
            shutil.copytree(inputs["table"], stage / "input")
            made.strings.save(stage / STRINGS_FOLDER)
            made.baskets.save(stage / BASKETS_FOLDER, keep="groups")
            for name in (STRINGS_FOLDER, BASKETS_FOLDER):
                shutil.copytree(inputs[name], stage / name / "input")
    return made


def _invent_clinic(folder: Path, n_rows: int) -> None:
    patients = from_frame(clinic(n_rows + n_rows // 10))
    write_table(patients.take(np.arange(n_rows)), folder / "clinic.csv")
    write_table(patients.take(np.arange(n_rows, patients.n_rows)), folder / "unseen.csv")
    diagnosis_hierarchy().write(folder / "diagnosis.csv")
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")


def _invent_proteins(folder: Path) -> None:
    made = protein_families(N_PROTEINS + N_PROTEINS // 10, n_families=4, mean_length=120.0, unevenness=0.5, seed=1)
    assert made.labels is not None
    records = [
        f">P{i:05d} family={made.classes[c]}\n{s}\n"
        for i, (c, s) in enumerate(zip(made.labels.tolist(), made.texts(), strict=True), start=1)
    ]
    (folder / "proteins.fasta").write_text("".join(records[:N_PROTEINS]), encoding="utf-8")
    (folder / "unseen.fasta").write_text("".join(records[N_PROTEINS:]), encoding="utf-8")
    (folder / "policy.toml").write_text(STRING_POLICY, encoding="utf-8")


def _invent_baskets(folder: Path) -> None:
    quest = replace(Quest.named("T20.I4.D1"), n_transactions=N_BASKETS + N_BASKETS // 10)
    made = generate_baskets(quest, seed=1).strings()
    write_strings(made.take(np.arange(N_BASKETS)), folder / "baskets.dat")
    write_strings(made.take(np.arange(N_BASKETS, len(made))), folder / "unseen.dat")
    (folder / "policy.toml").write_text(BASKET_POLICY, encoding="utf-8")
