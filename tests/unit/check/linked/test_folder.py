"""A published folder of linked tables, as it was written and after edits."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

import shoal
from shoal.errors import DataError, PolicyError
from shoal.manifest import checksum
from tests.linked_samples import clinic, policy, written

pytestmark = pytest.mark.unattacked


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Path], Path]:
    here = tmp_path_factory.mktemp("linked")
    paths = written(here, clinic())
    shoal.anonymize(paths, policy(), seed=2).save(here / "out", keep=["rows", "key"], report=False)
    return paths, here / "out"


@pytest.fixture
def folder(made, tmp_path: Path) -> Path:
    """A copy to be edited."""
    copy = tmp_path / "publish"
    copy.mkdir()
    for path in (made[1] / "publish").iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    return copy


def edit(folder: Path, name: str, change, **told) -> None:
    """Change a table and the checksum that the manifest tells."""
    path = folder / f"{name}.csv"
    frame = change(pd.read_csv(path, dtype=str, keep_default_na=False))
    frame.to_csv(path, index=False)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["checksums"][path.name] = checksum(path)
    manifest["tables"][name]["rows"] = len(frame)
    (folder / "manifest.json").write_text(json.dumps(manifest | told))


def test_a_folder_is_what_it_claims(made, tmp_path) -> None:
    paths, out = made
    alone = shoal.check(out)
    assert alone.holds
    assert "in all 3 tables together" in alone.guarantees[0].sentence
    whole = shoal.check(out, paths, private=out / "private")
    assert whole.holds
    assert whole.not_compared == ("the words and pictures of datasheet.html",)
    assert shoal.check(out, paths, policy(), out / "private").holds
    assert shoal.check(out, paths).not_compared == whole.not_compared  # what lies beside is used
    shutil.copytree(out / "publish", tmp_path / "given")
    assert any("one person" in phrase for phrase in shoal.check(tmp_path / "given", paths).not_compared)


def test_edits_are_found(folder) -> None:
    (folder / "labs.csv").write_text("id\n")
    with pytest.raises(DataError):
        shoal.check(folder)
    (folder / "labs.csv").unlink()
    with pytest.raises(DataError, match=r"has no labs\.csv"):
        shoal.check(folder)


def test_a_label_of_one_alone_is_found(folder) -> None:
    def narrow(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(ward=["only", *frame["ward"][1:]])

    edit(folder, "visits", narrow)
    found = shoal.check(folder)
    assert not found.guarantees[0].holds
    assert any("guarantee of k-anonymity is not what the data gives" in f for f in found.findings)


def test_a_person_who_is_gone_from_the_main_table_is_found(folder) -> None:
    edit(folder, "patients", lambda frame: frame.iloc[1:])
    found = shoal.check(folder)
    assert found.fails
    assert any("whose pseudonym is not in 'patients'" in f or "the manifest says 40" in f for f in found.findings)


def test_cells_and_days_are_compared_with_their_rows(made, folder) -> None:
    paths, out = made

    def turn(frame: pd.DataFrame) -> pd.DataFrame:
        first = {"low": "high", "high": "low"}[frame["value"][0]]
        return frame.assign(value=[first, *frame["value"][1:]])

    edit(folder, "labs", turn)
    assert shoal.check(folder).holds
    found = shoal.check(folder, paths, private=out / "private")
    assert any("In 'labs': 1 row with other cells" in f for f in found.findings)


def test_what_a_policy_says_otherwise_is_found(made) -> None:
    found = shoal.check(made[1], policy=policy(k=4))
    assert found.fails or found.guarantees[0].achieved >= 4
    roles = shoal.check(made[1], policy=policy(quasi=["age", "sex", "ward", "value"], sensitive=[]))
    assert any("'value' of 'labs' is quasi by the policy but sensitive" in f for f in roles.findings)
    link = shoal.check(made[1], policy=policy(shift_days=10))
    assert any("another number of days" in f for f in link.findings)
    silent = shoal.check(made[1], policy=policy().model_copy(update={"accept": {}}))
    assert any("tie together" in f for f in silent.findings)


def test_other_originals_are_refused(made) -> None:
    paths, out = made
    with pytest.raises(PolicyError, match="give their originals, in this order"):
        shoal.check(out, {n: paths[n] for n in ("patients", "visits", "labs")})
    with pytest.raises(PolicyError, match="the policy is for a table"):
        shoal.check(out, policy=shoal.Policy())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("link", "age"),
        ("tables", {}),
        ("shift_days", None),
        ("data", "labs.csv"),
        ("limits", {"nothing": 1}),
    ],
)
def test_a_manifest_that_contradicts_itself_is_refused(folder, key, value) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(DataError, match="is not the manifest of a Shoal release"):
        shoal.check(folder)


def test_a_stranger_in_the_folder_is_found(folder) -> None:
    (folder / "more.csv").write_text("a\n")
    assert "more.csv is in the folder but not part of the release" in shoal.check(folder).findings


@pytest.mark.parametrize("n_without", [1, 2])
def test_persons_who_are_left_out_are_counted_as_the_manifest_tells(tmp_path: Path, n_without: int) -> None:
    people = [f"m{i:02d}" for i in range(12)]
    visits = people[n_without:]  # nobody else has none, so those without a visit are left out
    frames = {
        "patients": pd.DataFrame({"id": people, "age": range(30, 42), "sex": ["f", "m"] * 6}),
        "visits": pd.DataFrame({"id": visits, "ward": ["a", "b"] * (len(visits) // 2) + ["a"] * (len(visits) % 2)}),
    }
    asked = shoal.LinkedPolicy.of(link="id", quasi=["age", "sex", "ward"], k=3, suppression=0.3)
    release = shoal.anonymize(frames, asked, seed=1)
    assert release.records["suppressed"] == n_without
    release.save(tmp_path / "out", report=False)
    assert not shoal.check(tmp_path / "out", frames, asked).findings
