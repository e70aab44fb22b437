"""What is averaged of rows in files is what is averaged of the same rows in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import shoal
from shoal.data.tables import room
from shoal.errors import NotVerified, PolicyError
from shoal.kinds.tables import spilled as releases
from shoal.kinds.tables.spilled import SpilledTableRelease
from shoal.tables import blocks
from shoal.tables.spilled import averages, ranges

pytestmark = pytest.mark.unattacked
QUASI = ["age", "income", "born", "tied"]


def columns_of(n_rows: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(20, 60, n_rows),
        "income": np.rint(np.exp(rng.normal(8, 1, n_rows))),
        "born": np.datetime64("1960-01-01", "us") + np.timedelta64(86_400_000_000, "us") * rng.integers(0, 900, n_rows),
        "tied": rng.integers(20, 60, n_rows),  # often with the very values of the ages
        "ill": np.array(["flu", "cold", "ulcer"], dtype=object)[rng.integers(0, 3, n_rows)],
    }


def put(path: Path, columns: dict[str, Any]) -> Path:
    with duckdb.connect() as database:
        database.register("columns", columns)
        database.execute(f"COPY (SELECT * FROM columns) TO '{path}' (FORMAT parquet)")
    return path


def policy_of(**asked: Any) -> shoal.Policy:
    asked = {"quasi": QUASI, "sensitive": ["ill"], "k": 4, "partition": "mdav", **asked}
    policy = shoal.Policy.of(**asked)
    return policy.model_copy(update={"method": policy.method.model_copy(update={"block_rows": 1000})})


def bounded(policy: shoal.Policy) -> shoal.Policy:
    return policy.model_copy(update={"memory": "1 GB"})


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few records in a block, and in whatever is read at once."""
    monkeypatch.setattr(blocks, "LARGER", 1)
    monkeypatch.setattr(averages, "LARGER", 1)
    monkeypatch.setattr(averages, "MOST_SORTED", 300)
    monkeypatch.setattr(ranges, "ROWS_AT_ONCE", 170)


@pytest.mark.parametrize("partition", ["mdav", "v-mdav"])
@pytest.mark.parametrize("n_rows", [300, 1500, 4000])
def test_the_bytes_are_those_of_all_records(tmp_path: Path, tiny: None, partition: str, n_rows: int) -> None:
    path, policy = put(tmp_path / "a.parquet", columns_of(n_rows)), policy_of(partition=partition)
    whole = shoal.anonymize(path, policy, seed=3)
    made = shoal.anonymize(path, bounded(policy), seed=3)
    assert isinstance(made, SpilledTableRelease)
    whole.save(tmp_path / "whole", report=False)
    made.save(tmp_path / "made", report=False)
    for file in (tmp_path / "whole" / "publish").iterdir():
        assert (tmp_path / "made" / "publish" / file.name).read_bytes() == file.read_bytes()
    assert (made.guarantees, made.findings) == (whole.guarantees, whole.findings)
    assert made.risk_before == whole.risk_before
    assert made.risk_after == whole.risk_after
    assert set(whole.notes) <= set(made.notes)  # with what the way loses on a sample
    assert made.check() == made.guarantees


def test_many_equal_records_are_parted_as_in_memory(tmp_path: Path, tiny: None) -> None:
    columns = columns_of(3000, 1)
    columns |= {"income": columns["age"] % 3 + 0.5, "tied": columns["age"] % 2 + 0.5}
    columns["born"] = np.full(3000, np.datetime64("1970-01-01", "us"))
    path, policy = put(tmp_path / "a.parquet", columns), policy_of()
    for release, out in ((shoal.anonymize(path, p, seed=5), tmp_path / n) for n, p in _both(policy)):
        release.save(out, report=False)
    assert (tmp_path / "made" / "publish" / "data.parquet").read_bytes() == (
        tmp_path / "whole" / "publish" / "data.parquet"
    ).read_bytes()


def _both(policy: shoal.Policy) -> list[tuple[str, shoal.Policy]]:
    return [("whole", policy), ("made", bounded(policy))]


def test_sensitive_values_decide_nothing(tmp_path: Path, tiny: None) -> None:
    columns = columns_of(2500, 2)
    columns |= {name: columns[name] % 5 + 0.5 for name in ("age", "income", "tied")}
    columns["born"] = np.full(2500, np.datetime64("1970-01-01", "us"))
    other = np.random.default_rng(9).permutation(columns["ill"])
    shown = []
    for name, ill in (("a", columns["ill"]), ("b", other)):
        path = put(tmp_path / f"{name}.parquet", {**columns, "ill": ill})
        shoal.anonymize(path, bounded(policy_of()), seed=4).save(tmp_path / name, report=False)
        told = ", ".join(QUASI)
        shown.append(
            duckdb.sql(
                f"SELECT {told}, count(*) FROM '{tmp_path / name}/publish/data.parquet' GROUP BY ALL ORDER BY ALL"
            )
        )
    assert shown[0].fetchall() == shown[1].fetchall()


def test_the_loss_and_the_groups(tmp_path: Path, tiny: None) -> None:
    columns = columns_of(3000, 3)
    path = put(tmp_path / "a.parquet", columns)
    release = shoal.anonymize(path, bounded(policy_of(k=5)), seed=1)
    behind, sample = release._behind, release.published
    assert release._original.n_records == 3000
    assert np.bincount(behind.groups).min() >= 5
    ages = release._original["age"]
    own = ages.values[ages.codes[behind.rows]]
    shown = sample["age"].values[sample["age"].codes[behind.published]]
    means = np.bincount(behind.groups, own) / np.bincount(behind.groups)
    assert shown == pytest.approx(means[behind.groups])


def test_a_wrong_average_is_not_published(tmp_path: Path, tiny: None, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "a.parquet", columns_of(2000))
    right = averages.group_means
    monkeypatch.setattr(averages, "group_means", lambda *asked: right(*asked) + 0.01)
    with pytest.raises(NotVerified, match="not the averages of their groups"):
        shoal.anonymize(path, bounded(policy_of()), seed=3)


def test_a_row_that_is_not_written_as_made_is_not_published(
    tmp_path: Path, tiny: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "a.parquet", columns_of(2000))
    right = releases.write_parquet_pieces

    def wrong(table: Any, pieces: Any, *asked: Any) -> None:
        def changed(rows: Any) -> Any:
            rows[rows[:, 0] == 1, 0] = 0  # one average becomes another
            return rows

        right(table, map(changed, pieces), *asked)

    monkeypatch.setattr(releases, "write_parquet_pieces", wrong)
    with pytest.raises(NotVerified, match="in more or fewer records"):
        shoal.anonymize(path, bounded(policy_of()), seed=3)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"effort": "balanced"}, "effort = balanced"),
        ({"l": 2}, "l-diversity of averages"),
        ({"partition": "curve"}, "method = curve"),
        ({"publish": "generalise"}, "method = mdav"),
        ({"restore_variance": True}, "restore_variance"),
    ],
)
def test_what_needs_all_records_is_refused_by_name(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(PolicyError, match=told):
        shoal.Policy.of(**{"quasi": QUASI, "sensitive": ["ill"], "partition": "mdav", "memory": "1 GB", **asked})


def test_other_values_and_files_are_refused_by_name(tmp_path: Path) -> None:
    columns = columns_of(300)
    path, policy = put(tmp_path / "a.parquet", columns), bounded(policy_of())
    with pytest.raises(PolicyError, match="'ill' is nominal"):
        shoal.anonymize(path, bounded(policy_of(quasi=[*QUASI, "ill"], sensitive=[])))
    missing = put(
        tmp_path / "b.parquet", {**columns, "income": np.where(columns["age"] > 50, np.nan, columns["income"])}
    )
    with pytest.raises(PolicyError, match="'income' has missing values"):
        shoal.anonymize(missing, policy)
    duckdb.sql(f"COPY (SELECT * FROM '{path}') TO '{tmp_path / 'a.csv'}'")
    with pytest.raises(PolicyError, match="from Parquet"):
        shoal.anonymize(tmp_path / "a.csv", policy)
    several = put(tmp_path / "c.parquet", {**columns, "who": np.arange(300) // 2})
    with pytest.raises(PolicyError, match="persons with several records"):
        shoal.anonymize(several, bounded(policy_of(person="who")))


def test_persons_of_one_record_each_are_counted(tmp_path: Path, tiny: None) -> None:
    path = put(tmp_path / "a.parquet", {**columns_of(1500), "who": np.arange(1500)})
    release = shoal.anonymize(path, bounded(policy_of(person="who")), seed=2)
    assert all(g.holds for g in release.guarantees)
    release.save(tmp_path / "out", report=False)
    assert "who" not in release.published.names


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, tiny: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    path = put(tmp_path / "a.parquet", columns_of(1500))
    shoal.anonymize(path, bounded(policy_of()), seed=3)
    with pytest.raises(PolicyError):
        shoal.anonymize(path, bounded(policy_of(quasi=[*QUASI, "ill"], sensitive=[])))
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("is_held", [True, False])
def test_a_folder_is_checked_alone(tmp_path: Path, tiny: None, monkeypatch: pytest.MonkeyPatch, is_held: bool) -> None:
    path = put(tmp_path / "a.parquet", columns_of(1500))
    shoal.anonymize(path, bounded(policy_of()), seed=3).save(tmp_path / "out", report=False)
    held = shoal.check(tmp_path / "out" / "publish")
    if not is_held:
        monkeypatch.setattr(room, "BASE_BYTES", 10**9 - 40_000)
    found = shoal.check(tmp_path / "out" / "publish", memory="1 GB")
    assert found.holds
    assert (found.guarantees, found.not_compared) == (held.guarantees, held.not_compared)
    assert any("which takes the original" in told for told in found.not_compared)
    with pytest.raises(PolicyError, match="in memory beside an original"):
        shoal.check(tmp_path / "out" / "publish", path, memory="1 GB")
