"""Runs that go on where an earlier one stopped: with the same source, policy and seed alone, and refused elsewhere."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.data.tables import parquet
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.spill import RowFile
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError, ShoalError
from shoal.kinds.tables import resumed
from shoal.kinds.tables.policy import Method, Policy
from shoal.kinds.tables.resumed import policy_digest, source_digest
from shoal.resume import FinishedStep, StepFolder
from shoal.tables.spilled import averages, make
from tests.unit.kinds.tables.test_large import ROLES, keys, published, put

pytestmark = [pytest.mark.unattacked, pytest.mark.skipif(sys.platform == "win32", reason="needs locks on folders")]

POLICY = shoal.Policy.of(**ROLES, insensitive=["ward"], memory="1 GB")


class Stopped(BaseException):
    """As a kill would, but for what a process does when it ends."""


@contextmanager
def stopped_after(step: str) -> Iterator[None]:
    """Let a run stop when a step is finished."""
    finish = StepFolder.finishing

    @contextmanager
    def finishing(self: StepFolder, name: str, **asked: Any) -> Iterator[FinishedStep]:
        with finish(self, name, **asked) as found:
            yield found
        if name == step:
            raise Stopped

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(StepFolder, "finishing", finishing)
        try:
            yield
        except Stopped:
            return
        pytest.fail("it ended before")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return put(tmp_path / "people.parquet", 400)


@pytest.fixture
def kept(tmp_path: Path, source: Path) -> Path:
    """What a run left behind."""
    with stopped_after("groups"):
        shoal.anonymize(source, POLICY, seed=3, resume=tmp_path / "kept")
    assert {p.name for p in (tmp_path / "kept").iterdir()} == {"run.json", "step-table", "step-groups"}
    return tmp_path / "kept"


def notes(release: Any) -> list[str]:
    return [note for note in release.notes if "earlier run" in note]


def others(release: Any) -> list[str]:
    """What is said of any release."""
    return [note for note in release.notes if "earlier run" not in note and "by that run" not in note]


def test_a_run_goes_on_and_says_so(tmp_path: Path, source: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = published(shoal.anonymize(source, POLICY, seed=3), tmp_path / "whole")
    monkeypatch.setattr(shoal.kinds.tables.large, "read_table", lambda *_, **__: pytest.fail("it is read already"))
    steps: list[str] = []
    release = shoal.anonymize(source, POLICY, seed=3, resume=kept, progress=lambda what, *_: steps.append(what))
    assert len(notes(release)) == 2
    assert "taking up the distinct rows that an earlier run read" in steps
    assert kept.exists(), "it goes when the release stands"
    with pytest.raises(ShoalError, match="another run works with this folder"):
        shoal.anonymize(source, POLICY, seed=3, resume=kept)
    assert published(release, tmp_path / "out") == whole
    assert not kept.exists()


@pytest.mark.parametrize(
    ("form", "asked"),
    [
        ("csv", {"insensitive": ["ward"], "l": 2}),
        ("parquet", {"others": "identifying", "partition": "local-recoding", "missing": "any"}),
        ("parquet", {"others": "identifying", "partition": "full-domain", "suppression": 0.5, "t": 0.4}),
        ("parquet", {"insensitive": ["ward"], "person": "id"}),
        ("csv", {"insensitive": ["ward"], "person": "id"}),
        ("parquet", {"others": "identifying", "person": "id", "person_knowledge": "history", "suppression": 0.3}),
    ],
)
@pytest.mark.parametrize(("step", "n_persons"), [("table", 250), ("groups", 400)])
def test_the_bytes_are_those_of_a_run_that_was_not_stopped(
    tmp_path: Path, form: str, asked: dict[str, Any], step: str, n_persons: int
) -> None:
    source = put(tmp_path / f"people.{form}", 400, ids=keys(400, n_persons, "P{:04d}"))
    roles = {name: given for name, given in ROLES.items() if name != "identifying" or "person" not in asked}
    policy = shoal.Policy.of(**roles, **asked, memory="1 GB")
    whole = shoal.anonymize(source, policy, seed=3)
    with stopped_after(step):
        shoal.anonymize(source, policy, seed=3, resume=tmp_path / "kept")
    release = shoal.anonymize(source, policy, seed=3, resume=tmp_path / "kept")
    assert others(release) == list(whole.notes)
    assert (release.guarantees, release.findings, release.records) == (whole.guarantees, whole.findings, whole.records)
    assert release.told_counts == whole.told_counts
    assert published(release, tmp_path / "out") == published(whole, tmp_path / "whole")


SPILLED = {"quasi": ["age", "job"], "sensitive": ["ill"]}
AVERAGED = {"quasi": ["age", "ward"], "partition": "mdav"}


@pytest.mark.parametrize(
    ("asked", "step", "block_rows", "seed"),
    [
        ({**SPILLED, "t": 0.4}, "rows", 60, 3),
        ({**SPILLED, "ends": "exact"}, "blocks", 60, 3),
        ({**SPILLED, "l": 2}, "groups-0", 2000, 3),
        ({**SPILLED, "person": "id"}, "groups-1", 60, 3),
        (SPILLED, "groups-1", 60, None),
        (AVERAGED, "rows", 60, 3),
        (AVERAGED, "ranges", 60, 3),
        (AVERAGED, "ranges", 2000, 3),
        (AVERAGED, "groups-0", 2000, 3),
        (AVERAGED, "groups-1", 60, None),
        ({**AVERAGED, "partition": "v-mdav"}, "groups-0", 60, 3),
    ],
)
def test_rows_in_files_go_on_too(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: dict[str, Any],
    step: str,
    block_rows: int,
    seed: int | None,
) -> None:
    monkeypatch.setattr(parquet, "does_fit", lambda *_: False)
    monkeypatch.setattr(make, "MOST_BLOCK_ROWS", block_rows)
    monkeypatch.setattr(averages, "_records_that_fit", lambda *_: block_rows)
    source = put(tmp_path / "people.parquet", 400)
    policy = shoal.Policy.of(**asked, others="identifying", k=4, accept=ROLES["accept"], memory="1 GB")
    with stopped_after(step):
        shoal.anonymize(source, policy, seed=seed, resume=tmp_path / "kept")
    release = shoal.anonymize(source, policy, seed=seed, resume=tmp_path / "kept")
    if seed is not None:
        whole = shoal.anonymize(source, policy, seed=seed)
        assert others(release) == list(whole.notes)
        assert (release.guarantees, release.findings) == (whole.guarantees, whole.findings)
        assert (release.risk_before, release.risk_after) == (whole.risk_before, whole.risk_after)
        assert published(release, tmp_path / "out") == published(whole, tmp_path / "whole")
    else:
        assert all(guarantee.holds for guarantee in release.check())
        release.save(tmp_path / "out", report=False)
    n_parts = [note for note in release.notes if "parts of the records were made by that run" in note]
    assert (len(notes(release)), len(n_parts)) == (1, step.startswith("groups"))
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    "changes",
    [{"k": 7}, {"missing": "any"}, {"memory": "2 GB"}, {"partition": "datafly"}, {"l": 2}, {"insensitive": ["job"]}],
)
def test_of_another_policy_nothing_is_taken_up(
    tmp_path: Path, source: Path, kept: Path, changes: dict[str, Any]
) -> None:
    policy = shoal.Policy.of(**{**ROLES, "quasi": ["age"], "insensitive": ["ward", "job"]}, memory="1 GB")
    policy = policy if "insensitive" in changes else POLICY.changed(**changes)
    whole = published(shoal.anonymize(source, policy, seed=3), tmp_path / "whole")
    release = shoal.anonymize(source, policy, seed=3, resume=kept)
    (note,) = notes(release)
    assert "depends on another policy. All was made anew" in note
    assert published(release, tmp_path / "out") == whole


def test_of_another_source_nothing_is_taken_up(tmp_path: Path, kept: Path) -> None:
    other = put(tmp_path / "others.parquet", 400, seed=1)
    whole = published(shoal.anonymize(other, POLICY, seed=3), tmp_path / "whole")
    release = shoal.anonymize(other, POLICY, seed=3, resume=kept)
    assert "another source" in notes(release)[0]
    assert published(release, tmp_path / "out") == whole


def test_of_a_source_that_was_changed_nothing_is_taken_up(tmp_path: Path, source: Path, kept: Path) -> None:
    """Even if it has its size and its times again."""
    told = source.stat()
    put(tmp_path / "others.parquet", 400, seed=1)
    content = (tmp_path / "others.parquet").read_bytes()
    source.write_bytes(content)
    os.utime(source, ns=(told.st_atime_ns, told.st_mtime_ns))
    whole = published(shoal.anonymize(source, POLICY, seed=3), tmp_path / "whole")
    release = shoal.anonymize(source, POLICY, seed=3, resume=kept)
    assert "another source" in notes(release)[0]
    assert published(release, tmp_path / "out") == whole


def test_of_another_seed_nothing_is_taken_up_that_depends_on_it(tmp_path: Path, source: Path, kept: Path) -> None:
    whole = published(shoal.anonymize(source, POLICY, seed=4), tmp_path / "whole")
    release = shoal.anonymize(source, POLICY, seed=4, resume=kept)
    assert "another seed" in notes(release)[0]
    assert published(release, tmp_path / "out") == whole


def test_of_another_version_nothing_is_taken_up(source: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resumed, "__version__", "0.0.1")
    release = shoal.anonymize(source, POLICY, seed=3, resume=kept)
    assert "another version of Shoal" in notes(release)[0]


def test_without_a_seed_a_run_goes_on_too(tmp_path: Path, source: Path) -> None:
    kept = tmp_path / "kept"
    with stopped_after("groups"):
        shoal.anonymize(source, POLICY, resume=kept)
    release = shoal.anonymize(source, POLICY, resume=kept)
    assert len(notes(release)) == 2
    release.save(tmp_path / "out", report=False)
    assert shoal.check(tmp_path / "out" / "publish", source).holds


def test_rows_that_were_changed_in_the_folder_are_not_published_unchecked(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even by somebody who makes the checksums fit: groups of one row each do not pass the check."""
    kept = tmp_path / "kept"
    with stopped_after("groups"):
        shoal.anonymize(source, POLICY, seed=3, resume=kept)
    path = kept / "step-groups" / "labels.npy"
    labels = np.arange(len(np.load(path)), dtype=np.int32)
    np.save(path, labels)
    assert "it is damaged" in notes(shoal.anonymize(source, POLICY, seed=3, resume=tmp_path / "kept"))[0]

    with stopped_after("groups"):
        shoal.anonymize(source, POLICY, seed=3, resume=tmp_path / "more")
    monkeypatch.setattr("shoal.resume._digest", lambda _: "fits")
    monkeypatch.setattr("shoal.manifest.checksum", lambda _: "fits")
    for step in (tmp_path / "more").glob("step-*/step.json"):
        content = json.loads(step.read_text())
        content["digest"] = "fits"
        content["files"] = {name: [size, "fits"] for name, (size, _) in content["files"].items()}
        step.write_text(json.dumps(content))
    np.save(tmp_path / "more" / "step-groups" / "labels.npy", labels)
    with pytest.raises(NotVerified, match=r"so nothing was written.* earlier run was removed"):
        shoal.anonymize(source, POLICY, seed=3, resume=tmp_path / "more")
    assert not (tmp_path / "more").exists()


@pytest.mark.parametrize(
    ("changes", "error"),
    [({"k": 401}, Infeasible), ({"l": 9}, Infeasible), ({"quasi": ["height"]}, (DataError, PolicyError))],
)
def test_what_is_refused_leaves_nothing(tmp_path: Path, source: Path, changes: dict[str, Any], error: Any) -> None:
    with pytest.raises(error):
        shoal.anonymize(source, POLICY.changed(**changes), resume=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_a_source_that_is_written_to_meanwhile_is_refused(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = resumed.source_digest

    def touched(given: Path) -> str:
        if (tmp_path / "kept").exists():
            os.utime(source, (1, 1))
        return keep(given)

    monkeypatch.setattr(resumed, "source_digest", touched)
    with pytest.raises(DataError, match="it changed while it was read"):
        shoal.anonymize(source, POLICY, resume=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_where_it_means_nothing_it_is_refused_by_name(tmp_path: Path, source: Path) -> None:
    import duckdb

    database = tmp_path / "people.duckdb"
    with duckdb.connect(str(database)) as made:
        made.execute(f"CREATE TABLE people AS SELECT * FROM '{source}'")
    frame = {"age": [1, 2], "job": ["a", "b"], "ill": ["a", "b"]}
    held = POLICY.model_copy(update={"memory": None})
    for given, policy, more, why in [
        (source, held, {}, "resume is for tables in bounded memory"),
        (source, POLICY, {"hold_out": 0.2}, "resume is for a release alone"),
        (source, POLICY, {"control": source}, "resume is for a release alone"),
        (source, POLICY, {"after": tmp_path}, "resume is for one release alone"),
        (frame, POLICY, {}, "resume is for files"),
        (database, POLICY, {}, "is a database, in which more than its file may change"),
        (["ACGT"] * 30, None, {}, r"\(resume\) is for tables, which are read in bounded memory"),
    ]:
        with pytest.raises(PolicyError, match=why):
            shoal.anonymize(given, policy, resume=tmp_path / "kept", **more)
        assert not (tmp_path / "kept").exists()


def test_it_may_not_lie_in_the_folder_that_is_read_or_that_of_the_release(tmp_path: Path) -> None:
    (tmp_path / "people").mkdir()
    source = put(tmp_path / "people" / "a.parquet", 60)
    with pytest.raises(PolicyError, match="is in the folder that is read"):
        shoal.anonymize(source.parent, POLICY, resume=source.parent / "kept")
    release = shoal.anonymize(source, POLICY, resume=tmp_path / "kept")
    with pytest.raises(PolicyError, match="cannot be the folder of the release"):
        release.save(tmp_path / "kept" / "out")
    release.save(tmp_path / "out", report=False)
    assert not (tmp_path / "kept").exists()


def test_a_release_that_cannot_be_saved_may_be_made_again(tmp_path: Path, source: Path) -> None:
    release = shoal.anonymize(source, POLICY, seed=3, resume=tmp_path / "kept")
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(ShoalError, match=r"from where the same command goes on"):
        release.save(tmp_path / "out")
    assert (tmp_path / "kept" / "step-table").is_dir()
    release.save(tmp_path / "other", report=False)
    assert not (tmp_path / "kept").exists()


def test_a_disk_that_is_full_leaves_what_is_finished(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "does_fit", lambda *_: False)
    monkeypatch.setattr(make, "MOST_BLOCK_ROWS", 40)
    whole = published(shoal.anonymize(source, POLICY, seed=3), tmp_path / "whole")
    append, done = RowFile.append, [0]

    def full(self: RowFile, rows: np.ndarray) -> None:
        done[0] += 1
        if done[0] > 3:
            self.path = self.path.parent / "no" / "such"
        append(self, rows)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(RowFile, "append", full)
        with pytest.raises(ShoalError, match=r"cannot be written to .*goes on; it holds rows of the original"):
            shoal.anonymize(source, POLICY, seed=3, resume=tmp_path / "kept")
    assert {p.name for p in (tmp_path / "kept").iterdir()} == {"run.json", "step-table", "step-rows"}
    release = shoal.anonymize(source, POLICY, seed=3, resume=tmp_path / "kept")
    assert len(notes(release)) == 1
    assert published(release, tmp_path / "out") == whole


def test_all_of_a_policy_counts_but_what_changes_no_row(tmp_path: Path) -> None:
    told = Policy(memory="1 GB")
    changes: dict[str, Any] = {
        "header": "none",
        "missing": "any",
        "missing_markers": ("-",),
        "person": ("id",),
        "order": "original",
        "k": 7,
        "partition": "datafly",
        "ends": "exact",
        "suppression": 0.1,
        "block_rows": 2000,
        "strict": False,
        "delimiter": ";",
        "encoding": "latin-1",
        "decimal": ",",
        "quasi": ["age"],
        "others": "identifying",
    }
    found = {policy_digest(told)}
    for name, value in changes.items():
        try:
            changed = told.changed(**{name: value})
        except PolicyError:  # it does not go with a bound on memory
            changed = Policy().changed(**{name: value})
        found.add(policy_digest(changed))
    assert len(found) == len(changes) + 1
    assert policy_digest(told.changed(metadata=True)) == policy_digest(told)
    assert set(Method.model_fields) <= set(told.model_dump()["method"])


def test_what_stands_in_a_hierarchy_counts(tmp_path: Path) -> None:
    path = tmp_path / "zip.csv"
    named = shoal.Policy.of(quasi=["zip"], hierarchies={"zip": path})
    found = {policy_digest(named)}
    for text in ("1;*\n", "2;*\n"):
        path.write_text(text)
        found.add(policy_digest(named))
    for rows in ((("1", "*"),), (("2", "*"),)):
        found.add(policy_digest(shoal.Policy.of(quasi=["zip"], hierarchies={"zip": Hierarchy(rows)})))
    os.utime(path, ns=(0, 0))  # another one may have stood there while steps were made of it
    found.add(policy_digest(named))
    assert len(found) == 6


def test_how_a_source_is_named_counts(tmp_path: Path) -> None:
    source = put(tmp_path / "a.parquet", 20)
    (tmp_path / "link.parquet").symlink_to(source)
    assert source_digest(source) == source_digest(str(source)) != source_digest(tmp_path / "link.parquet")
    assert source_digest(tmp_path) != source_digest(tmp_path / "*.parquet")
