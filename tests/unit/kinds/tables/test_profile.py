"""The policy that `profile` writes, unedited, on tables that it has not seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from reproductions.role_tables import made_tables
from reproductions.roles import FILES, HEADLESS, outcome
from shoal.data.tables.frames import from_frame
from shoal.kinds.tables.policy import Policy
from shoal.kinds.tables.profile import profile_table

ROLES = ("identifying", "quasi", "sensitive", "insensitive")
DROPPED = {
    "english": {"mrn", "pat_nm", "contact"},
    "german": {"Patientennummer", "Nachname"},
    "french": {"prénom", "téléphone"},
    "spanish": {"apellidos", "correo"},
    "italian": {"cognome"},
    "dutch": {"bsn", "achternaam", "utilname"},
    "portuguese": {"CPF", "nascido em", "despesa"},
    "polish": {"PESEL", "imię i nazwisko"},
}


@pytest.mark.parametrize("language", DROPPED)
def test_tables_in_eight_languages_single_nobody_out(language: str) -> None:
    found = outcome(language, made_tables()[language], most=300)
    assert not found.refused
    assert found.singled_out <= 0.05
    assert found.added is not None
    assert found.added <= 0.05
    by_role = {role: {name for name, given, _, _ in found.columns if given == role} for role in ROLES}
    assert by_role["identifying"] == DROPPED[language]
    assert by_role["insensitive"] == ({"constante"} if language == "dutch" else set())
    assert not by_role["sensitive"]


@pytest.mark.parametrize("name", FILES)
def test_real_tables_single_nobody_out(shared_data: Path, name: str) -> None:
    path = shared_data / FILES[name]
    if not path.exists() or path.stat().st_size > 500_000:
        pytest.skip("a large one: python -m reproductions.roles")
    if name not in HEADLESS:  # those are refused until somebody says so
        found = outcome(name, path, most=300)
        assert found.refused or (found.singled_out <= 0.05 and (found.added or 0.0) <= 0.05)


def test_one_row_is_not_called_rows_and_many_columns_are_counted() -> None:
    assert shoal.profile({"age": [31]}, sweep=False).shown()[0] == "1 row, 1 column\n"
    rng = np.random.default_rng(2)
    few = {f"age{i}": rng.integers(0, 9, 40) for i in range(3)}
    many = {f"age{i}": rng.integers(0, 9, 40) for i in range(13)}
    assert "\nRisk in the table as it is, to someone who knows age0, age1 and age2:" in shoal.profile(few).shown()
    assert (
        "\nRisk in the table as it is, to someone who knows the 13 columns of the role quasi:"
        in shoal.profile(many).shown()
    )


def test_the_policy_says_what_was_measured_and_why(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    table: dict[str, Any] = {
        "kappa": [f"{v:.6f}" for v in rng.normal(size=60)],
        "grade": [str(v) for v in rng.integers(0, 3, 60)],
        "diagnosis": [("flu", "gout")[v] for v in rng.integers(0, 2, 60)],
        "site": ["Ayr"] * 60,
    }
    found = shoal.profile(table, sweep=False)
    written = found.to_toml()
    assert "# 'kappa' would single out 100 % of the records" in written
    assert "nothing says that others do not know it" in written
    assert "# These look sensitive: diagnosis." in written
    assert "all records agree in it; 0 % have a value of their own" in written
    assert "singled_out = 0.05" in written
    path = tmp_path / "policy.toml"
    path.write_text(written, encoding="utf-8")
    policy = Policy.read(path)
    assert {n: c.role for n, c in policy.columns.items()} == {
        "kappa": "quasi", "grade": "quasi", "diagnosis": "quasi", "site": "insensitive",
    }  # fmt: skip
    told = json.loads(json.dumps(found.to_dict()))
    assert told["together"] == {"columns": ["kappa"], "share": 1.0}
    assert [c["sensitive"] for c in told["columns"]] == [False, False, True, False]
    assert any("alone:" in line for line in found.shown() if isinstance(line, str))
    # With what looks sensitive kept under a requirement, nothing else has to be edited.
    kept = policy.changed(sensitive=["diagnosis"], l=2)
    assert shoal.anonymize(table, kept, seed=1).attributes["diagnosis"].role == "sensitive"


def test_few_columns_of_few_values_are_told_apart_from_the_limit() -> None:
    table = {"a": ["x", "y"] * 50, "b": ["u", "u", "v", "v"] * 25}
    found = shoal.profile(table, sweep=False)
    assert found.together is not None
    assert found.together.share == 0.0
    assert "with the labels of small groups it would be more" in found.to_toml()


def visits(n_persons: int) -> dict[str, Any]:
    """Two to four visits of each, town and year of birth the person's own; no name says that `zz` is a key."""
    rng = np.random.default_rng(2)
    who = np.repeat(np.arange(n_persons), rng.integers(2, 5, n_persons))
    return {
        "zz": [f"{7919 * (i + 1) % 100_003:05d}" for i in who],
        "town": rng.choice(list("abcdefgh"), n_persons)[who].tolist(),
        "born": rng.integers(1960, 1980, n_persons)[who].tolist(),
        "when": [f"2021-{m:02d}-11" for m in rng.integers(1, 13, len(who))],
    }


def test_a_key_that_repeats_is_proposed_as_the_person(tmp_path: Path) -> None:
    table = visits(120)
    found = shoal.profile(table)
    assert found.person == "zz"
    assert found.risk is not None
    assert found.risk.unit == "person"
    assert found.attributes["zz"].role == "identifying"
    assert found.to_dict()["person"] == "zz"
    assert any("the policy counts persons by it" in line for line in found.shown() if isinstance(line, str))
    path = tmp_path / "policy.toml"
    path.write_text(found.to_toml(), encoding="utf-8")
    policy = Policy.read(path)
    assert policy.person == ("zz",)
    release = shoal.anonymize(table, policy, seed=1)
    assert release.risk_after.unit == "person"
    assert release.risk_after.n_below_k == 0
    unnamed = shoal.anonymize(table, policy.changed(person=()), seed=1)
    assert unnamed.notes[0].startswith("Records were counted, not persons: 'zz' has 120 values in 369 rows")


def test_a_handful_of_persons_is_not_proposed(tmp_path: Path) -> None:
    assert shoal.profile(visits(15), sweep=False).person is None


def test_a_column_of_strings_is_told_as_such() -> None:
    letters = np.array(list("ACGT"))
    drawn = np.random.default_rng(5).integers(0, 4, size=(30, 57))
    table = from_frame({"class": ["a", "b"] * 15, "dna": ["".join(letters[row]) for row in drawn]})
    (note,) = [note for note in profile_table(table).notes if "looks like strings" in note]
    assert "over 4 letters" in note
    assert "--kind strings --column dna" in note


@pytest.mark.parametrize(("names", "n_notes"), [(("lat", "lon"), 1), (("x", "y"), 0), (("lat", "height"), 0)])
def test_points_of_trips_are_told_as_such(names: tuple[str, str], n_notes: int) -> None:
    places = {name: [50.0 + i / 7 for i in range(12)] for name in names}
    times = [f"2020-01-01 08:{i:02d}:00" for i in range(12)]
    table = from_frame({"user": ["a", "b"] * 6, "timestamp": times, **places})
    notes = [note for note in profile_table(table).notes if "--kind trajectories" in note]
    assert len(notes) == n_notes
