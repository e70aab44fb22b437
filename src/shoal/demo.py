"""The demonstration: the main job, from file and policy to release, on a table and on strings that are made here."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from shoal.api import anonymize
from shoal.data.clinic import clinic, diagnosis_hierarchy
from shoal.data.frames import from_frame
from shoal.data.proteins import protein_families
from shoal.data.write import write_table
from shoal.policy import Policy
from shoal.release import Release
from shoal.release_folder import refuse_occupied, staged
from shoal.string_policy import StringPolicy
from shoal.string_release import StringRelease

POLICY = """\
# What the demonstration asks for. Change it and run
#     shoal anonymize clinic.csv -p policy.toml -o somewhere/
kind = "table"
missing = "value"

[columns]
diagnosis = { role = "sensitive", hierarchy = "diagnosis.csv" }
cost      = { role = "sensitive" }

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

[method]
eps = 1.5
order = 2
support = 3
"""
N_PROTEINS = 600
STRINGS_FOLDER = "strings"


@dataclass(frozen=True)
class Demo:
    """What the demonstration made: a release of a table, and one of strings."""

    table: Release
    strings: StringRelease


def run_demo(out: Path, n_rows: int, progress: Callable[[str, int, int], None]) -> Demo:
    """Invent a clinic and some proteins, protect them, and save releases and inputs, whole or not at all."""
    refuse_occupied(out)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "input"
        folder.mkdir()
        write_table(from_frame(clinic(n_rows)), folder / "clinic.csv")
        diagnosis_hierarchy().write(folder / "diagnosis.csv")
        (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
        release = anonymize(folder / "clinic.csv", Policy.read(folder / "policy.toml"), progress=progress)
        of_strings = Path(scratch) / "strings"
        of_strings.mkdir()
        (of_strings / "proteins.fasta").write_text(_proteins(), encoding="utf-8")
        (of_strings / "policy.toml").write_text(STRING_POLICY, encoding="utf-8")
        strings = anonymize(
            of_strings / "proteins.fasta", StringPolicy.read(of_strings / "policy.toml"), progress=progress
        )
        progress("writing the releases", 0, 0)
        with staged(out) as stage:
            release.save(stage / "table")
            for part in ("publish", "private"):
                (stage / "table" / part).rename(stage / part)
            (stage / "table").rmdir()
            shutil.copytree(folder, stage / "input")
            strings.save(stage / STRINGS_FOLDER)
            shutil.copytree(of_strings, stage / STRINGS_FOLDER / "input")
    return Demo(release, strings)


def _proteins() -> str:
    """Invented proteins as FASTA."""
    made = protein_families(N_PROTEINS, n_families=4, mean_length=120.0, unevenness=0.5, seed=1)
    assert made.labels is not None
    labels = made.labels.tolist()
    records = zip(labels, made.texts(), strict=True)
    return "".join(f">P{i:05d} family={made.classes[c]}\n{s}\n" for i, (c, s) in enumerate(records, start=1))
