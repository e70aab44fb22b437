"""The frontier of risk and utility: each cell is what `anonymize` would give, and a finished one is not made twice."""

from __future__ import annotations

import csv
import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.kinds.tables.policy import Policy
from shoal.kinds.tables.sweep import TableCell, TableTrials
from shoal.report.sweep import as_text
from shoal.sweep.sweep import Sweep
from tests.unit.sweep.people import PEOPLE, ROLES, SECRET


def cell(risk: float, gcp: float, **changes: Any) -> TableCell:
    made = TableCell(
        partition="mdav", publish="aggregate", k=5, group_size=5, status="holds", sentence="", n_in=40, n_out=40,
        seconds=0.1, risk_highest=risk, risk_average=risk, losses={"GCP": gcp}, association_change=0.0,
    )  # fmt: skip
    return replace(made, **changes)


def timeless(found: Sweep) -> list[TableCell]:
    return [replace(c, seconds=0.0) for c in found.cells]


@pytest.fixture
def n_made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one for each release that is made."""
    made: list[int] = []
    measured = TableTrials.measured

    def counted(trials: Any, policy: Policy) -> dict[str, Any]:
        made.append(policy.k)
        return measured(trials, policy)

    monkeypatch.setattr(TableTrials, "measured", counted)
    return made


@pytest.mark.parametrize("publish", [None, "generalise"])
def test_a_cell_is_the_release_that_it_stands_for(publish: str | None) -> None:
    found = shoal.sweep(PEOPLE, ROLES, k=[2, 6], partitions=["mdav", "mondrian"], publish=publish)
    assert [(c.partition, c.k) for c in found.cells] == [("mdav", 2), ("mdav", 6), ("mondrian", 2), ("mondrian", 6)]
    for c in found.cells:
        release = shoal.anonymize(PEOPLE, ROLES.changed(k=c.k, partition=c.partition, publish=publish))
        assert c.losses == {found.name: found.value for found in release.utility.losses}
        assert c.risk_average == release.risk_after.prosecutor_average
        assert c.risk_highest == release.risk_after.prosecutor_highest
        assert c.association_change == release.utility.correlation.mean_change
        assert c.publish == (publish or release.policy.method.publication)
        assert c.n_suppressed == 0
        assert [(g["model"], g["required"], g["holds"]) for g in c.guarantees] == [("k-anonymity", {"k": c.k}, True)]


def test_the_frontier_is_what_nothing_beats() -> None:
    cells = (
        cell(0.1, 0.9),
        cell(0.2, 0.5),
        cell(0.2, 0.6),
        cell(0.3, 0.5),
        cell(0.5, 0.1),
        cell(0.5, 0.1, k=7),
        cell(0.01, 0.01, status="infeasible"),
    )
    found = Sweep("data", 40, 5, cells, None, measures=("GCP",))
    assert found.frontier == (cells[0], cells[1], cells[4], cells[5])


def test_suppression_and_all_requirements_count() -> None:
    policy = ROLES.changed(l=2, suppression=0.4)
    found = shoal.sweep(PEOPLE, policy, k=[2], partitions="full-domain")
    (only,) = found.cells
    assert only.n_in - only.n_out == only.n_suppressed
    assert {g["model"] for g in only.guarantees} == {"k-anonymity", "l-diversity"}


def test_k_replaces_every_k_of_the_policy() -> None:
    policy = ROLES.changed(require=[{"model": "alpha-k", "alpha": 0.9, "k": 10}])
    found = shoal.sweep(PEOPLE, policy, k=[2, 10], partitions=["mondrian"])
    assert [c.group_size for c in found.cells] == [2, 10]
    assert found.proposed == found.cells[1]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"partitions": ["mdva"]}, "no method 'mdva'; did you mean 'mdav'"),
        ({"partitions": []}, "no method was named"),
        ({"k": [1]}, "k = 1 cannot be tried"),
        ({"k": [2.5]}, "k = 2.5 cannot be tried"),
        ({"k": [True]}, "cannot be tried"),
        ({"k": []}, "no k was given"),
        ({"publish": "agregate"}, "did you mean 'aggregate'"),
        ({"publish": "aggregate", "partitions": ["datafly"]}, "one recoding"),
        ({"workers": 0}, "workers = 0"),
    ],
)
def test_what_is_not_understood_is_refused(asked: dict[str, Any], says: str) -> None:
    with pytest.raises(shoal.PolicyError, match=says):
        shoal.sweep(PEOPLE, ROLES, **asked)


def test_a_policy_that_suits_no_cell_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    policy = Policy.of(others="insensitive", k=2)
    with pytest.raises(shoal.PolicyError, match="no column is quasi-identifying"):
        shoal.sweep(PEOPLE, policy, folder=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("policy", "asked"),
    [
        (ROLES, {"partitions": ["mdav", "mondrian"]}),
        (ROLES, {"partitions": ["mdav"], "k": [7]}),
        (ROLES, {"partitions": ["mdav"], "publish": "generalise"}),
        (ROLES.changed(effort="balanced", publish="aggregate"), {"partitions": ["datafly"]}),
    ],
)
def test_the_proposed_options_make_the_proposed_release(policy: Policy, asked: dict[str, Any]) -> None:
    found = shoal.sweep(PEOPLE, policy, **{"k": [2, 3, 5], **asked})
    assert found.proposed is not None
    assert found.proposed.gcp == min(c.gcp for c in found.cells if c.holds and c.k >= 3)
    given = dict(zip(found.options[::2], found.options[1::2], strict=True))
    names = {"--method": "partition", "-k": "k", "--publish": "publish", "--effort": "effort"}
    changes: dict[str, Any] = {names[o]: int(v) if o == "-k" else v for o, v in given.items()}
    release = shoal.anonymize(PEOPLE, policy.changed(**changes))
    assert release.utility["GCP"] == found.proposed.gcp
    assert release.policy.method.publication == found.proposed.publish


def test_an_interrupted_sweep_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_made: list[int]) -> None:
    out = tmp_path / "out"
    counted = TableTrials.measured

    def tire(trials: Any, policy: Policy) -> dict[str, Any]:
        if len(n_made) == 2:
            raise KeyboardInterrupt
        return counted(trials, policy)

    with monkeypatch.context() as patched:
        patched.setattr(TableTrials, "measured", tire)
        with pytest.raises(KeyboardInterrupt):
            shoal.sweep(PEOPLE, ROLES, k=[2, 3, 5], partitions=["mondrian"], folder=out)
    assert len(list((out / "cells").iterdir())) == 2
    assert not (out / "sweep.html").exists()
    found = shoal.sweep(PEOPLE, ROLES, k=[2, 3, 5], partitions=["mondrian"], folder=out)
    assert (n_made, found.n_reused) == ([2, 3, 5], 2)
    assert timeless(found) == timeless(shoal.sweep(PEOPLE, ROLES, k=[2, 3, 5], partitions=["mondrian"]))
    assert "2 taken from an earlier run" in as_text(found)[0]


def test_another_table_or_policy_reuses_nothing(tmp_path: Path, n_made: list[int]) -> None:
    leaves = sorted(set(PEOPLE["city"]))
    tree = tmp_path / "city.csv"
    tree.write_text("".join(f"{c};*\n" for c in leaves))
    policy = ROLES.changed(hierarchies={"city": str(tree)})
    out = tmp_path / "out"

    def again(source: Any = PEOPLE, policy: Policy = policy, **asked: Any) -> int:
        before = len(n_made)
        shoal.sweep(source, policy, **{"k": [3], "partitions": ["mondrian"], "folder": out, **asked})
        return len(n_made) - before

    assert again() == 1
    assert again() == 0
    assert again(policy=policy.changed(k=9)) == 0, "k is the cell's"
    assert again({**PEOPLE, "age": [*PEOPLE["age"][:-1], 99]}) == 1
    assert again({**PEOPLE, "age": PEOPLE["age"][::-1]}) == 1
    assert again(policy=policy.changed(missing="any")) == 1
    assert again(policy=policy.changed(l=2)) == 1
    assert again(policy=policy.changed(suppression=0.1)) == 1
    assert again(policy=policy.changed(insensitive=["disease"])) == 1
    assert again(publish="aggregate") == 1
    tree.write_text("".join(f"{c};{'A' if c < 'B' else 'other'};*\n" for c in leaves))
    assert again() == 1, "the file has the same name and other content"
    assert again() == 0


def test_a_spoiled_cell_is_made_again(tmp_path: Path, n_made: list[int]) -> None:
    for content in ("", "{}", '{"partition": 3}', "[]", "\x00"):
        shoal.sweep(PEOPLE, ROLES, k=[3], partitions=["mdav"], folder=tmp_path)
        (stored,) = (tmp_path / "cells").iterdir()
        stored.write_text(content)
    (tmp_path / "cells" / ".half.json.shoal-0123abcd").write_text("{")
    shoal.sweep(PEOPLE, ROLES, k=[3], partitions=["mdav"], folder=tmp_path)
    assert len(n_made) == 6
    assert len(list((tmp_path / "cells").iterdir())) == 1


def test_a_method_that_does_not_suit_is_not_stored(tmp_path: Path) -> None:
    shoal.sweep(PEOPLE, ROLES, k=[3, 99], partitions=["univariate", "mondrian"], folder=tmp_path)
    stored = [json.loads(p.read_text())["status"] for p in (tmp_path / "cells").iterdir()]
    assert sorted(stored) == ["holds", "infeasible", "infeasible"]


def test_files_are_the_owners_and_hold_no_record(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    found = shoal.sweep(PEOPLE, ROLES, k=[3, 5, 99], partitions=["mdav", "mondrian"], folder=out)
    assert sorted(p.name for p in out.iterdir()) == ["cells", "sweep.csv", "sweep.html", "sweep.json"]
    for path in (out, *out.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    for path in (p for p in out.rglob("*") if p.is_file()):
        text = path.read_text(encoding="utf-8")
        assert not any(word in text for word in (SECRET, "person 1", "Bath", "10037", '"worst"', '"seed"')), path
    told = json.loads((out / "sweep.json").read_text())
    assert told == json.loads(json.dumps(found.to_dict()))
    with (out / "sweep.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["method"], int(r["k"]), r["result"]) for r in rows] == [
        (c.partition, c.k, c.status) for c in found.cells
    ]
    assert [r["frontier"] == "true" for r in rows] == [c["frontier"] for c in told["cells"]]
    assert float(rows[0]["GCP"]) == found.cells[0].gcp
    assert rows[2]["GCP"] == rows[2]["suppressed"] == ""
    assert "lower k" in rows[2]["why"]


@pytest.mark.parametrize("kind", ["file", "other", "link"])
def test_a_folder_of_something_else_is_refused_before_any_work(tmp_path: Path, n_made: list[int], kind: str) -> None:
    out = tmp_path / "out"
    if kind == "file":
        out.write_text("mine")
    elif kind == "link":
        out.symlink_to(tmp_path / "nowhere")
    else:
        out.mkdir()
        (out / "thesis.txt").write_text("mine")
    with pytest.raises(shoal.ShoalError, match="choose another output folder"):
        shoal.sweep(PEOPLE, ROLES, folder=out)
    assert n_made == []


def test_progress_counts_cells() -> None:
    seen: list[tuple[str, int, int]] = []
    shoal.sweep(PEOPLE, ROLES, k=[2, 3], partitions=["mondrian"], progress=lambda *step: seen.append(step))
    assert seen == [("trying methods", i, 2) for i in range(3)]
