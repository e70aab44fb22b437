"""Pseudo-records as a publication: the release, its folder, and what a broken method would not get past."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import shoal
import shoal.kinds.tables.kind
from shoal.data.tables.frames import from_frame
from shoal.data.tables.table import Column, encode_cells
from shoal.data.tables.write import write_table
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError
from shoal.tables.partition.base import PARTITIONS as REGISTERED
from shoal.tables.publish import condense as module

pytestmark = pytest.mark.unattacked

PARTITIONS = ("mondrian", "mdav", "v-mdav", "k-member", "nearest-neighbours", "curve", "local-recoding")


def people(n: int = 300, seed: int = 0) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    return {
        "name": [f"p{i}" for i in range(n)],
        "age": age.tolist(),
        "income": np.round(800 * age + rng.normal(0, 9000, n) + 30000, 2).tolist(),
        "sex": rng.choice(["m", "f"], n).tolist(),
        "born": [str(np.datetime64("2020-01-01") - 365 * int(a) - int(rng.integers(365))) for a in age],
        "disease": rng.choice(["a", "b", "c"], n).tolist(),
        "visits": rng.integers(0, 9, n).tolist(),
    }


def policy(**more) -> shoal.Policy:
    asked = {"k": 5, "publish": "condense", "identifying": ["name"], "insensitive": ["visits"], **more}
    return shoal.Policy.of(quasi=["age", "income", "sex", "born"], sensitive=["disease"], **asked)


@pytest.mark.parametrize("partition", PARTITIONS)
def test_every_grouping_can_be_condensed(partition: str) -> None:
    release = shoal.anonymize(people(120), policy(partition=partition), seed=1)
    assert [g.model for g in release.guarantees] == ["condensation", "no-copies"]
    assert all(g.holds for g in release.guarantees)
    assert release.records == {"in": 120, "out": 120, "suppressed": 0}
    assert np.bincount(release._groups).min() >= 5


@pytest.mark.parametrize("partition", [p.name for p in REGISTERED.values() if p.is_recoding])
def test_one_recoding_for_all_has_no_groups_to_condense(partition: str) -> None:
    with pytest.raises(PolicyError, match="leave publish"):
        policy(partition=partition)


def test_pseudo_records_have_no_place_in_the_original() -> None:
    with pytest.raises(PolicyError, match="leave order out"):
        policy(order="original")


def test_types_are_kept() -> None:
    release = shoal.anonymize(people(), policy(), seed=1)
    assert all(isinstance(v, int | np.integer) and v >= 0 for v in release.data["age"])
    assert all(round(float(v), 2) == v for v in release.data["income"])
    assert set(release.data["sex"]) == {"m", "f"}
    assert all(len(d) == 10 and d[4] == d[7] == "-" for d in release.data["born"])
    pandas = pytest.importorskip("pandas")
    frame = shoal.anonymize(pandas.DataFrame(people()), policy(), seed=1).data
    assert isinstance(frame, pandas.DataFrame)
    assert frame["age"].dtype == np.int64
    assert frame["income"].dtype == np.float64


def test_statistics_of_the_whole_are_kept() -> None:
    """Known answer: means and covariances within groups are kept in expectation, those between exactly."""
    rng = np.random.default_rng(3)
    n = 4000
    x = rng.multivariate_normal([0, 5, -3], [[1, 0.8, -0.3], [0.8, 2, 0.1], [-0.3, 0.1, 0.5]], n)
    frame = {name: x[:, j] for j, name in enumerate("abc")}
    release = shoal.anonymize(
        frame, shoal.Policy.of(quasi=list("abc"), k=20, publish="condense", partition="mdav"), seed=2
    )
    y = np.column_stack([release.data[name] for name in "abc"])
    deviation = x.std(axis=0)
    # The groups' own means are kept up to sqrt(variance inside / n), which is far below the deviation of the whole.
    assert np.abs((y.mean(axis=0) - x.mean(axis=0)) / deviation).max() < 4 / np.sqrt(n)
    change = (np.cov(y.T) - np.cov(x.T)) / np.outer(deviation, deviation)
    assert np.abs(change).max() < 0.03
    assert release.utility["IL5"] < 0.02
    # Averages keep the means too, but shrink the variances: the bound above tells the two apart.
    means = shoal.anonymize(frame, shoal.Policy.of(quasi=list("abc"), k=20, publish="aggregate", partition="mdav"))
    z = np.column_stack([means.data[name] for name in "abc"])
    assert np.abs((np.cov(z.T) - np.cov(x.T)) / np.outer(deviation, deviation)).max() > 0.03


def test_other_columns_stay_together_and_in_their_group_but_not_beside_their_own_record() -> None:
    n = 2000
    rng = np.random.default_rng(5)
    age = rng.normal(50, 15, n)
    frame = {"age": age, "twin": age.round(6), "code": [f"c{i % 97}" for i in range(n)]}
    asked = shoal.Policy.of(
        quasi=["age"], sensitive=["twin"], insensitive=["code"], k=50, publish="condense", singled_out=1.0
    )
    release = shoal.anonymize(frame, asked, seed=4)
    rows, groups = release._rows, release._groups
    beside = Counter(zip(frame["twin"], frame["code"], strict=True))
    assert Counter(zip(np.array(release.data["twin"]), release.data["code"], strict=True)) == beside
    # Inside a group what a record had says nothing about the pseudo-record beside it.
    drawn, twin = np.array(release.data["age"]), np.array(release.data["twin"])
    assert np.corrcoef(drawn, twin)[0, 1] > 0.99  # between groups it says much
    assert twin == pytest.approx(age[rows], abs=1e-5)
    for g in range(groups.max() + 1):
        for values in (drawn, twin):
            inside = values[groups == g]
            values[groups == g] = (inside - inside.mean()) / inside.std()
    assert abs((drawn * twin).mean()) < 4 / np.sqrt(n)


def test_the_same_seed_gives_the_same_and_none_gives_another() -> None:
    frame = people()
    one, two, three, four, five = (
        shoal.anonymize(frame, policy(), seed=s).data["income"] for s in (1, 1, 2, None, None)
    )
    assert one == two
    assert one != three
    assert four != five


def test_groups_that_allow_only_copies_are_joined() -> None:
    frame = {"age": [30, 31] * 5 + [50, 50, 52, 52, 55, 55, 57, 58, 59, 60], "sex": ["m"] * 10 + ["f"] * 10}
    asked = shoal.Policy.of(quasi=["age", "sex"], k=10, publish="condense", partition="mdav")
    release = shoal.anonymize(frame, asked, seed=1)  # 30 and 31 alone: five of each, fewer than ten
    assert len(set(release._groups)) == 1
    assert "joined" in release.notes[-1]
    with pytest.raises(Infeasible, match="nothing but copies"):
        shoal.anonymize({"w": list("aabbb")}, shoal.Policy.of(quasi=["w"], k=4, publish="condense"))


def test_diversity_is_required_of_groups() -> None:
    release = shoal.anonymize(people(), policy(l=3, t=0.4), seed=1)
    assert [g.model for g in release.guarantees] == ["condensation", "no-copies", "l-diversity", "t-closeness"]
    disease = np.array(release.data["disease"])
    assert min(len(set(disease[release._groups == g])) for g in set(release._groups)) >= 3


def test_utility_compares_no_cell_with_another() -> None:
    release = shoal.anonymize(people(), policy(), seed=1)
    names = {found.name for found in release.utility.losses}
    assert {"GCP", "C_avg", "IL2", "IL3", "IL4", "IL5", "query-error"} <= names
    assert not names & {"IL1", "IL-mean", "SSE/SST", "DM", "distortion", "ILoss"}
    assert release.utility["IL5"] < 0.1
    assert release.query_error(n_queries=200).median_error < 0.5
    assert release.risk_after.prosecutor_highest <= 1 / 5


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release with its groups, and the file that it was made from."""
    folder = tmp_path_factory.mktemp("condensed")
    write_table(from_frame(people()), folder / "people.csv")
    shoal.anonymize(folder / "people.csv", policy(l=2), seed=1).save(folder / "out", keep=["groups"])
    return folder


@pytest.fixture
def saved(made, tmp_path):
    """Its copy, to be spoiled."""
    shutil.copytree(made / "out", tmp_path / "out")
    return tmp_path / "out", made / "people.csv"


def test_a_folder_is_verified_as_far_as_there_is_evidence(saved) -> None:
    out, source = saved
    alone = shoal.check(out / "publish")
    assert (alone.holds, alone.fails, alone.guarantees) == (False, False, ())
    assert any("--original" in s for s in alone.unverified)
    beside = shoal.check(out / "publish", source)
    assert [g.model for g in beside.guarantees] == ["no-copies"]
    assert (beside.holds, beside.fails) == (False, False)
    whole = shoal.check(out / "publish", source, private=out / "private")
    assert [g.model for g in whole.guarantees] == ["condensation", "no-copies", "l-diversity"]
    assert whole.holds
    assert shoal.check(out, source, policy(l=2), private=out).holds
    assert not shoal.check(out, source, policy(l=2, k=40), private=out).holds
    other = shoal.check(out, source, policy(publish="generalise"), private=out)
    assert any("publish" in f for f in other.findings)
    assert not next(g for g in other.guarantees if g.model == "k-anonymity").holds


def edited(out, name: str, row: int, text: str) -> None:
    path = out / "publish" / "data.csv"
    table = shoal.kinds.tables.kind.load(path)
    column = table[name]
    cells = [column.texts()[c] for c in column.codes]
    cells[row] = text
    objects = np.empty(len(cells), dtype=object)
    objects[:] = cells
    write_table(table.with_columns({name: encode_cells(name, objects)}), path)


def failing(out, source, private=True) -> list[str]:
    found = shoal.check(out / "publish", source, private=out / "private" if private else None)
    assert any("checksum" in f for f in found.findings)
    return [g.model for g in found.guarantees if not g.holds]


def test_a_copy_put_in_is_found_without_the_groups(saved) -> None:
    out, source = saved
    original = shoal.kinds.tables.kind.load(source)
    for name in ("age", "income", "sex", "born"):
        column = original[name]
        edited(out, name, 7, column.texts()[column.codes[11]])
    assert failing(out, source, private=False) == ["no-copies"]


@pytest.mark.parametrize(
    ("name", "text"), [("sex", "x"), ("age", "200"), ("income", "-99999"), ("age", "old"), ("sex", "")]
)
def test_a_cell_that_was_not_drawn_is_found_with_the_groups(saved, name: str, text: str) -> None:
    out, source = saved
    edited(out, name, 7, text)
    assert failing(out, source, private=False) == []
    assert failing(out, source) == ["condensation"]


def test_rows_and_groups_that_do_not_fit_are_found(saved) -> None:
    out, source = saved
    path = out / "publish" / "data.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[-1], ""]))
    found = shoal.check(out / "publish", source, private=out / "private")
    assert (found.fails, found.holds) == (True, False)
    assert any("another release" in s for s in found.unverified)
    for spoiled in ("original_row,group\n1,2\n1,3\n", "x\n", "original_row,group\n1,a\n", "original_row,group\n0,1\n"):
        (out / "private" / "groups.csv").chmod(0o600)
        (out / "private" / "groups.csv").write_text(spoiled)
        with pytest.raises(DataError, match=r"groups\.csv"):
            shoal.check(out / "publish", source, private=out / "private")
    (out / "private" / "published-groups.csv").unlink()
    with pytest.raises(DataError, match="--keep groups"):
        shoal.check(out / "publish", source, private=out / "private")


def test_nothing_published_tells_groups_or_seed(saved) -> None:
    out, _ = saved
    manifest = json.loads((out / "publish" / "manifest.json").read_text())
    assert manifest["method"]["publish"] == "condense"
    assert "seed" not in json.dumps(manifest)
    assert {p.name for p in (out / "publish").iterdir()} == {"data.csv", "datasheet.html", "manifest.json"}
    sheet = (out / "publish" / "datasheet.html").read_text()
    assert "pseudo-record" in sheet
    assert "All guarantees can be recomputed from the data" not in sheet
    report = (out / "private" / "report.html").read_text()
    for told in ("Near copies", "Means tell", "True values beside drawn ones", "Copies of originals"):
        assert told in report


def test_there_is_no_mapping_to_keep(tmp_path) -> None:
    with pytest.raises(PolicyError, match="stands for no record"):
        shoal.anonymize(people(), policy(), seed=1).save(tmp_path / "out", keep="mapping")
    assert not (tmp_path / "out").exists()


def test_a_method_that_copies_gets_nothing_past_the_check(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(module, "without_copies", lambda drawn, *_: (None, np.zeros(len(drawn), dtype=bool)))
    dense = {"a": [str(i % 7) for i in range(60)], "b": [str(i % 8) for i in range(60)]}
    with pytest.raises(NotVerified, match="repeat"):
        shoal.anonymize(dense, shoal.Policy.of(quasi=["a", "b"], k=5, publish="condense"), seed=1)


def test_a_method_that_draws_too_far_gets_nothing_past_the_check(monkeypatch) -> None:
    factors = module._Boxes.factors
    monkeypatch.setattr(module._Boxes, "factors", lambda self, chosen: 1.2 * factors(self, chosen))
    with pytest.raises(NotVerified, match="cannot have been drawn"):
        shoal.anonymize(people(), policy(), seed=1)


def test_a_method_that_mixes_across_groups_gets_nothing_past_the_check(monkeypatch) -> None:
    monkeypatch.setattr("shoal.tables.pseudo_records.mixed", lambda groups, _: np.arange(len(groups.labels))[::-1])
    with pytest.raises(NotVerified, match="cannot have been drawn"):
        shoal.anonymize(people(), policy(), seed=1)


def test_a_file_that_reads_otherwise_is_not_published(tmp_path, monkeypatch) -> None:
    release = shoal.anonymize(people(), policy(), seed=1)
    column = release.table["sex"]
    spoiled = Column("sex", np.zeros_like(column.codes), np.array(["x", "y"], dtype=object))
    spoilt = replace(release, _file=None, published=release.table.with_columns({"sex": spoiled}))
    with pytest.raises(NotVerified):
        spoilt.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_codes_of_suppressed_records_are_no_stumbling_block() -> None:
    rng = np.random.default_rng(2)
    frame = {
        "zip": [f"48{i:03d}" for i in rng.integers(0, 40, 60)] + ["99999"] * 5,
        "weight": [*rng.normal(70, 9, 60).round(1).tolist(), 500.0, 501.0, 502.5, 503.0, 504.5],
        "disease": rng.choice(["a", "b", "c"], 60).tolist() + ["z"] * 5,
    }
    asked = shoal.Policy.of(
        quasi=["zip", "weight"],
        sensitive=["disease"],
        columns={"zip": {"type": "prefix"}},
        k=5,
        l=2,
        publish="condense",
        partition="mdav",
        suppression=0.2,
    )
    release = shoal.anonymize(frame, asked, seed=1)
    assert 0 < release.records["suppressed"] <= 13
    assert all(g.holds for g in release.guarantees)


def test_typed_files_keep_their_types(tmp_path) -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(7)
    frame = pandas.DataFrame(
        {
            "seen": pandas.to_datetime("2020-01-01") + pandas.to_timedelta(rng.integers(0, 900, 80), "D"),
            "at": pandas.to_datetime("2020-01-01") + pandas.to_timedelta(rng.integers(0, 10**8, 80), "s"),
            "weight": np.where(rng.random(80) < 0.1, np.nan, rng.normal(70, 9, 80)),
            "rooms": rng.integers(1, 9, 80),
            "disease": rng.choice(["a", "b"], 80),
        }
    )
    frame.to_parquet(tmp_path / "people.parquet")
    asked = shoal.Policy.of(quasi=["seen", "at", "weight", "rooms"], sensitive=["disease"], k=5, publish="condense")
    shoal.anonymize(tmp_path / "people.parquet", asked, seed=1).save(tmp_path / "out", keep=["groups"])
    found = shoal.check(tmp_path / "out", tmp_path / "people.parquet", private=tmp_path / "out")
    assert found.holds
    back = pandas.read_parquet(tmp_path / "out" / "publish" / "data.parquet")
    assert back["rooms"].dtype.kind == "i"
    assert back["weight"].isna().any()
    assert (pandas.to_datetime(back["seen"]) == pandas.to_datetime(back["seen"]).dt.normalize()).all()
    assert (pandas.to_datetime(back["at"]) != pandas.to_datetime(back["at"]).dt.normalize()).any()
