"""The demonstration: the main job, from a file and a policy to a release, on a table that is made here."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from shoal.api import anonymize
from shoal.data.clinic import clinic, diagnosis_hierarchy
from shoal.data.frames import from_frame
from shoal.data.write import write_table
from shoal.policy import Policy
from shoal.release import Release
from shoal.release_folder import refuse_occupied

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


def run_demo(out: Path, n_rows: int, progress: Callable[[str, int, int], None]) -> Release:
    """Invent a clinic, protect it, and save release and input to a folder."""
    refuse_occupied(out)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "input"
        folder.mkdir()
        write_table(from_frame(clinic(n_rows)), folder / "clinic.csv")
        diagnosis_hierarchy().write(folder / "diagnosis.csv")
        (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
        release = anonymize(folder / "clinic.csv", Policy.read(folder / "policy.toml"), progress=progress)
        progress("writing the release", 0, 0)
        release.save(out)
        shutil.copytree(folder, out / "input")
    return release
