"""The demonstration: the main job, from file and policy to release, on data that is made here."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.api import anonymize
from shoal.data.samples.clinic import clinic, diagnosis_hierarchy
from shoal.data.samples.proteins import protein_families
from shoal.data.samples.quest import Quest, generate_baskets
from shoal.data.samples.town import town
from shoal.data.strings.files import write_strings
from shoal.data.tables.frames import from_frame
from shoal.data.tables.write import write_table
from shoal.data.trajectories.trajectories import Trajectories
from shoal.progress import Progress
from shoal.release import Release
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
TOWN_POLICY = """\
# What the demonstration asks for. Change it and run
#     shoal anonymize trips.csv -p policy.toml -o somewhere/
kind = "trajectories"

[input]
person = "person"
trip = "trip"

[[require]]
model = "k-anonymity"
k = 5
"""
N_PATIENTS = 1000  # for so few nothing is compiled, nor for the proteins and trips
N_PROTEINS = 200
N_BASKETS = 2000
N_TRAVELLERS = 100


class DemoPart(NamedTuple):
    """One release of the demonstration.

    Attributes
    ----------
    title : str
    folder : str
        Where it goes within the demonstration's folder; that of the table is this folder itself.
    data, unseen : str
        The files of the input: what is protected, and others, which attacks are compared on.
    keep : tuple of str
        Secrets to keep, so that it can be checked in full.
    release : Release
    """

    title: str
    folder: str
    data: str
    unseen: str
    keep: tuple[str, ...]
    release: Release[Any]

    def place(self, out: Path) -> Path:
        """Its folder, given that of the demonstration."""
        return out / self.folder


class _Part(NamedTuple):
    """What a release of the demonstration is made from; the first six as of `DemoPart`."""

    title: str
    folder: str
    data: str
    unseen: str
    keep: tuple[str, ...]
    policy: str
    invent: Callable[[Path, int], None]

    def make(self, scratch: Path, n_rows: int, progress: Progress) -> DemoPart:
        """Invent the data, protect it and attack the release."""
        given = scratch / self.folder / "input"
        given.mkdir(parents=True)
        self.invent(given, n_rows)
        (given / "policy.toml").write_text(self.policy, encoding="utf-8")
        release = anonymize(given / self.data, given / "policy.toml", control=given / self.unseen, progress=progress)
        progress("attacking the release", 0, 0)
        assert release.verdict is not None  # which is looked up from here on
        return DemoPart(self.title, self.folder, self.data, self.unseen, self.keep, release)


def run_demo(
    out: Path,
    n_rows: int,
    progress_of: Callable[[], AbstractContextManager[Progress]],
    tell: Callable[[DemoPart], None],
) -> list[DemoPart]:
    """Invent a clinic, proteins, trips and baskets, protect them, and save all with the inputs, or nothing.

    Of each some more is invented, which the releases are not made from: attacks are compared on it. Each is told as
    soon as it is there, the table first.
    """
    refuse_occupied(out)
    parts = []
    with scratch_folder() as scratch:
        for one in _PARTS:
            with progress_of() as progress:
                parts.append(one.make(scratch, n_rows, progress))
            tell(parts[-1])
        with progress_of() as progress, staged(out) as stage:
            progress("writing the releases", 0, 0)
            for part in parts:
                made = stage / "made"
                part.release.save(made, part.keep)
                part.place(stage).mkdir(exist_ok=True)
                for inner in made.iterdir():
                    inner.rename(part.place(stage) / inner.name)
                made.rmdir()
                shutil.copytree(part.place(scratch) / "input", part.place(stage) / "input")
    return parts


def samples() -> dict[str, tuple[str, str, str | None, Callable[[Path], None]]]:
    """The invented data by name: what it is, its main file, what it is to be read as, and what writes it."""
    return {
        "table": ("A table of a clinic", "clinic.csv", None, lambda where: _invent_clinic(where, N_PATIENTS)),
        "strings": ("Proteins, as strings", "proteins.fasta", None, lambda where: _invent_proteins(where, 0)),
        "baskets": ("Baskets of items", "baskets.dat", "sparse", lambda where: _invent_baskets(where, 0)),
        "trips": ("Trips through a town", "trips.csv", "trajectories", lambda where: _invent_trips(where, 0)),
    }


def _invent_clinic(folder: Path, n_rows: int) -> None:
    patients = from_frame(clinic(n_rows + n_rows // 10))
    write_table(patients.take(np.arange(n_rows)), folder / "clinic.csv")
    write_table(patients.take(np.arange(n_rows, patients.n_rows)), folder / "unseen.csv")
    diagnosis_hierarchy().write(folder / "diagnosis.csv")


def _invent_proteins(folder: Path, _: int) -> None:
    made = protein_families(2 * N_PROTEINS, n_families=2, mean_length=30.0, unevenness=0.5, seed=1)
    assert made.labels is not None
    records = [
        f">P{i:05d} family={made.classes[c]}\n{s}\n"
        for i, (c, s) in enumerate(zip(made.labels.tolist(), made.texts(), strict=True), start=1)
    ]
    (folder / "proteins.fasta").write_text("".join(records[:N_PROTEINS]), encoding="utf-8")
    (folder / "unseen.fasta").write_text("".join(records[N_PROTEINS:]), encoding="utf-8")


def _invent_baskets(folder: Path, _: int) -> None:
    quest = replace(Quest.named("T20.I4.D1"), n_transactions=N_BASKETS + N_BASKETS // 10)
    made = generate_baskets(quest, seed=1).strings()
    write_strings(made.take(np.arange(N_BASKETS)), folder / "baskets.dat")
    write_strings(made.take(np.arange(N_BASKETS, len(made))), folder / "unseen.dat")


def _invent_trips(folder: Path, _: int) -> None:
    made = town(N_TRAVELLERS + N_TRAVELLERS // 10)
    is_inside = made.persons < N_TRAVELLERS
    write_points(made.take(np.flatnonzero(is_inside)), folder / "trips.csv")
    write_points(made.take(np.flatnonzero(~is_inside)), folder / "unseen.csv")


_PARTS = (
    _Part("A table", "", "clinic.csv", "unseen.csv", (), POLICY, _invent_clinic),
    _Part("Strings", "strings", "proteins.fasta", "unseen.fasta", (), STRING_POLICY, _invent_proteins),
    _Part("Trajectories", "trajectories", "trips.csv", "unseen.csv", ("groups",), TOWN_POLICY, _invent_trips),
    _Part("Baskets", "baskets", "baskets.dat", "unseen.dat", ("groups",), BASKET_POLICY, _invent_baskets),
)


def write_points(data: Trajectories, path: Path) -> None:
    """Write trajectories as a table of points, a row each."""
    owners = data.owners
    columns = {
        "person": data.persons[owners],
        "trip": owners,
        "time": [str(t) for t in data.time.astype("datetime64[s]")],
        "latitude": data.latitude,
        "longitude": data.longitude,
    }
    write_table(from_frame(columns), path)
