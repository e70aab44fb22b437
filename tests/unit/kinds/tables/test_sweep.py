"""Sweeps over more than method and k: what is tried, what is measured, what is proposed, what is reused."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pytest

import shoal
from shoal.data.tables import room
from shoal.kinds.tables import large
from shoal.kinds.tables.policy import Policy
from shoal.kinds.tables.sweep import SHOWN, TableCell, TableTrials, grid, meets
from shoal.report.sweep import as_text, columns_of, line_of, render_sweep, shown, table_rows, verdict
from shoal.sweep.sweep import Sweep

RNG = np.random.default_rng(3)
N = 120
AGE = RNG.integers(20, 70, N)
PEOPLE: dict[str, Any] = {
    "age": AGE,
    "zip": [f"{10000 + 37 * int(z)}" for z in RNG.integers(0, 11, N)],
    "disease": [("flu", "cold", "gout", "ulcer")[i] for i in RNG.integers(0, 4, N)],
    "sick": [("no", "yes")[int(a + e > 45)] for a, e in zip(AGE, RNG.normal(0, 6, N), strict=True)],
    "cost": 10.0 * AGE + RNG.normal(0, 20, N),
}
ROLES = Policy.of(quasi=["age", "zip"], sensitive=["disease"], insensitive=["sick", "cost"], k=3, singled_out=1.0)


def settings(policy: Policy, methods: list[str], k: list[int], **asked: Any) -> list[dict[str, Any]]:
    return [{**a.settings, "k": a.k} for a in grid(policy, methods, k, asked)]


def test_the_grid_is_every_combination_and_the_policy_fills_the_rest() -> None:
    found = settings(ROLES.changed(l=2), ["mdav"], [5, 2], suppression=[0.1, 0], publish=["aggregate", "generalise"])
    assert [(s["publish"], s["suppression"], s["k"]) for s in found] == [
        (publish, share, k) for publish in ("aggregate", "generalise") for share in (0.1, 0) for k in (2, 5)
    ]
    assert {(s["l"], s["t"], s["effort"]) for s in found} == {(2, None, "fast")}
    assert [s["l"] for s in settings(ROLES, ["mdav"], [2], l=[2, 3])] == [2, 3]
    assert [s["t"] for s in settings(ROLES, ["mdav"], [2], t=0.4)] == [0.4]


def test_what_one_recoding_cannot_have_is_left_out_for_it() -> None:
    both = settings(ROLES, ["mdav", "datafly"], [5], publish=["generalise", "aggregate"], effort=["fast", "balanced"])
    assert len([s for s in both if s["partition"] == "mdav"]) == 4
    assert [(s["publish"], s["effort"]) for s in both if s["partition"] == "datafly"] == [("generalise", "fast")]
    with pytest.raises(shoal.PolicyError, match="one recoding"):
        grid(ROLES, ["datafly"], [5], {"publish": "aggregate"})


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"l": []}, "no l was given"),
        ({"l": [0.5]}, "greater than 1"),
        ({"t": [2]}, "less than or equal to 1"),
        ({"suppression": [1.5]}, "less than 1"),
        ({"effort": ["bset"]}, "did you mean 'best'"),
        ({"measures": []}, "no measure was named"),
        ({"measures": ["gcp"]}, "did you mean 'GCP'"),
        ({"measures": ["CM"]}, "needs a column to predict"),
        ({"measures": ["AUC"]}, "needs a column to predict"),
    ],
)
def test_what_is_not_understood_is_refused(asked: dict[str, Any], says: str) -> None:
    with pytest.raises(shoal.PolicyError, match=says):
        shoal.sweep(PEOPLE, ROLES, **asked)


def test_a_cell_is_the_release_that_its_options_make() -> None:
    policy = ROLES.changed(suppression=0.3)
    found = shoal.sweep(
        PEOPLE, policy, k=[3], partitions=["mondrian"], l=[2, 4], suppression=[0, 0.1], publish=["aggregate"]
    )
    assert found.varied == ("suppression", "l")
    assert found.proposed is not None
    assert found.proposed.loss("GCP") == min(c.gcp for c in found.cells)
    given = dict(zip(found.options[::2], found.options[1::2], strict=True))
    assert set(given) == {"--method", "--publish", "--suppression", "-l"}
    release = shoal.anonymize(
        PEOPLE,
        policy.changed(
            partition=given["--method"],
            publish=given["--publish"],
            suppression=float(given["--suppression"]),
            l=float(given["-l"]),
        ),
    )
    assert release.utility["GCP"] == found.proposed.gcp
    assert release.utility["query-error"] == found.proposed.losses["query-error"]


@pytest.mark.parametrize(
    ("required", "asked", "is_enough"),
    [
        ({"l": 3}, {"l": 3}, True),
        ({"l": 3}, {"l": 4}, True),
        ({"l": 3}, {"l": 2}, False),
        ({"t": 0.3}, {"t": 0.2}, True),
        ({"t": 0.3}, {"t": 0.4}, False),
        ({}, {"l": 2, "t": 0.9}, True),
        ({"require": [{"model": "l-diversity", "l": 2, "kind": "entropy"}]}, {"l": 5}, False),
        ({"require": [{"model": "l-diversity", "l": 2, "kind": "entropy"}]}, {}, True),
        ({"require": [{"model": "l-diversity", "l": 2, "sensitive": "disease"}]}, {"l": 2}, True),
        ({"require": [{"model": "alpha-k", "k": 3, "alpha": 0.5}]}, {}, True),
        ({"require": [{"model": "beta-likeness", "beta": 1}]}, {}, True),
    ],
)
def test_what_requires_less_than_the_policy_is_not_proposed(
    required: dict[str, Any], asked: dict[str, Any], is_enough: bool
) -> None:
    policy = ROLES.changed(**required)
    (cell,) = grid(policy, ["mondrian"], [max(3, policy.k)], asked)
    assert meets(policy, cell.policy) == is_enough


def test_the_first_measure_decides() -> None:
    common: dict[str, Any] = {
        "partition": "mdav", "publish": "aggregate", "group_size": 3, "status": "holds", "sentence": "", "n_in": N,
        "n_out": N, "seconds": 0.1, "risk_highest": 0.2,
    }  # fmt: skip
    cells = (
        TableCell(**common, k=3, risk_average=0.2, losses={"GCP": 0.1, "IL": 9.0}, association_change=0.3),
        TableCell(**common, k=5, risk_average=0.1, losses={"GCP": 0.2, "IL": 3.0}, association_change=0.3),
        TableCell(**common, k=9, risk_average=0.1, losses={"GCP": 0.2, "IL": None}, association_change=0.1),
    )
    by_gcp = Sweep("data", N, 3, cells, None, measures=("GCP",))
    assert by_gcp.frontier == cells
    by_il = replace(by_gcp, measures=("IL", "GCP"))
    assert by_il.measured == cells[:2]
    assert by_il.frontier == (cells[1],)
    assert replace(by_gcp, measures=("associations",)).frontier == (cells[2],)
    assert "1 of the releases below have no IL" in render_sweep(by_il)
    none = replace(by_gcp, measures=("SSE/SST",))
    assert none.frontier == ()
    assert "has the measure SSE/SST" in verdict(none)
    assert "<figure" not in render_sweep(none)


def test_the_proposal_has_least_of_the_first_measure() -> None:
    found = shoal.sweep(PEOPLE, ROLES, k=[3, 6], measures=["query-error", "GCP"])
    assert found.proposed is not None
    assert found.proposed.losses["query-error"] == min(c.losses["query-error"] for c in found.cells)
    assert "query-error" in verdict(found)
    assert columns_of(found)[-3:] == ("query-error", "GCP", "seconds")
    assert "median error of counts" in render_sweep(found)
    assert found.to_dict()["measure"] == "query-error"


def test_slices_are_not_proposed_beside_labels() -> None:
    policy = ROLES.changed(l=2)
    found = shoal.sweep(PEOPLE, policy, k=[3], partitions=["mondrian"], publish=["bucketize", "generalise"])
    assert [c.status for c in found.cells] == ["holds", "holds"]
    assert found.cells[0].gcp < found.cells[1].gcp
    assert found.proposed == found.cells[1]
    alone = shoal.sweep(PEOPLE, policy, k=[3], partitions=["mondrian"], publish="bucketize")
    assert alone.proposed == alone.cells[0]
    with pytest.raises(shoal.PolicyError, match="a published row is not a record"):
        shoal.sweep(PEOPLE, policy, partitions=["mondrian"], publish="bucketize", target="sick")


def test_what_varies_has_a_column_and_a_line() -> None:
    found = shoal.sweep(PEOPLE, ROLES, k=[3, 500], partitions=["mondrian"], l=[2, 3], suppression=[0, 0.05])
    assert columns_of(found)[:4] == ("method", "may leave out", "l", "k")
    assert [row[1:4] for row in table_rows(found)][:3] == [("0 %", "2", "3"), ("0 %", "2", "500"), ("0 %", "3", "3")]
    assert line_of(found, found.cells[0]) == "mondrian, leaving out ≤ 0 %, l = 2"
    page = render_sweep(found)
    assert page.count("mondrian, leaving out ≤ 5 %, l = 3 k = 3: risk") == 1
    assert any("with k = 500" in line for line in as_text(found))
    plain = shoal.sweep(PEOPLE, ROLES, k=[3], partitions=["mdav", "mondrian"])
    assert plain.varied == (), "that each method publishes in its own way is no variation"
    assert tuple(n for n in columns_of(plain) if n in SHOWN) == SHOWN[:-1]
    assert "<th>query-error</th>" in plain._repr_html_()


def test_a_target_is_predicted_in_every_cell(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="the comparison of learning needs scikit-learn")
    asked: dict[str, Any] = {"k": [3, 100], "partitions": ["mondrian"], "target": "sick"}
    found = shoal.sweep(PEOPLE, ROLES, folder=tmp_path, measures=["AUC", "CM"], **asked)
    near, far = found.cells
    assert near.scores["AUC"] is not None
    assert near.scores["AUC"] > 0.7
    assert near.scores_before == far.scores_before
    assert near.loss("AUC") == near.scores_before["AUC"] - near.scores["AUC"]
    assert far.losses["CM"] > near.losses["CM"]
    assert shown(near, "AUC") == f"{near.scores['AUC']:.3f}"
    assert found.options[-2:] == ("--target", "sick")
    assert any("Trained on as many originals" in line for line in as_text(found))
    page = (tmp_path / "sweep.html").read_text(encoding="utf-8")
    assert "AUC lost" in page
    with (tmp_path / "sweep.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert float(rows[0]["AUC_release"]) == near.scores["AUC"]
    assert float(rows[0]["AUC_originals"]) == near.scores_before["AUC"]
    again = shoal.sweep(PEOPLE, ROLES, folder=tmp_path, measures=["GCP"], **asked)
    assert again.n_reused == 2, "what is shown is not what is measured"
    assert shoal.sweep(PEOPLE, ROLES, folder=tmp_path, **{**asked, "target": None}).n_reused == 0
    default = shoal.sweep(PEOPLE, ROLES, folder=tmp_path, **asked)
    assert {"CM", "accuracy", "AUC"} <= set(default.measures)
    with pytest.raises(shoal.PolicyError, match="has no measure 'CM'; it has R2"):
        shoal.sweep(PEOPLE, ROLES, target="cost", measures=["CM"])


def written(path: Path) -> Path:
    """The same people often, so that rows stand for several."""
    cells = {n: [str(v) for v in values] for n, values in PEOPLE.items() if n != "cost"}
    lines = list(zip(*cells.values(), strict=True))
    path.write_text("\n".join(map(",".join, [tuple(cells), *lines, *lines[::2], *lines[::3]])) + "\n")
    return path


def as_parquet(path: Path) -> Path:
    """The same beside it."""
    made = path.with_suffix(".parquet")
    with duckdb.connect() as database:
        database.execute(f"COPY (FROM '{path}') TO '{made}'")
    return made


BOUNDED = Policy.of(quasi=["age", "zip"], sensitive=["disease"], others="insensitive", k=3, singled_out=1.0)


def rounded(told: Any) -> Any:
    """What a cell says, without the last digits of sums in another order, and without the time."""
    if isinstance(told, dict):
        return {n: rounded(v) for n, v in told.items() if n != "seconds"}
    if isinstance(told, list | tuple):
        return [rounded(v) for v in told]
    return float(f"{told:.9g}") if isinstance(told, float) else told


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_in_bounded_memory_cells_are_those_of_all_records(tmp_path: Path, form: str) -> None:
    path = written(tmp_path / "people.csv")
    if form == "parquet":
        path = as_parquet(path)
    asked: dict[str, Any] = {
        "k": [3, 6, 500],
        "methods": ["mondrian", "full-domain", "datafly"],
        "suppression": [0, 0.1],
    }
    held = shoal.sweep(path, BOUNDED, **asked)
    with patch("shoal.kinds.tables.large.read_table", wraps=large.read_table) as reading:
        bounded = shoal.sweep(path, BOUNDED.changed(memory="1GB"), **asked)
    assert reading.call_count == 1
    assert bounded.cells[0].n_in == bounded.n_rows == held.n_rows == 220
    told, expected = bounded.to_dict(), held.to_dict()
    assert rounded(told) == rounded(expected)
    assert {c.status for c in bounded.cells} == {"holds", "infeasible"}
    assert bounded.options == held.options


def test_in_bounded_memory_other_methods_are_tried_by_default(tmp_path: Path) -> None:
    path, policy = written(tmp_path / "people.csv"), BOUNDED.changed(memory="1GB")
    assert {c.partition for c in shoal.sweep(path, policy, k=3).cells} == {"mondrian", "full-domain"}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"methods": "mdav"}, "method = mdav needs all records in memory: leave memory out"),
        ({"methods": ["mondrian", "k-member"]}, "method = k-member needs all records"),
        ({"publish": "aggregate"}, "publish = aggregate needs all records"),
        ({"effort": "best"}, "effort = best needs all records"),
        ({"target": "sick"}, "target needs all records"),
        ({"workers": 3}, "3 releases at once share 1GB, which leaves less than 500 MB to each"),
    ],
)
def test_in_bounded_memory_what_needs_all_records_is_refused(tmp_path: Path, asked: dict[str, Any], why: str) -> None:
    with pytest.raises(shoal.PolicyError, match=why):
        shoal.sweep(written(tmp_path / "people.csv"), BOUNDED.changed(memory="1GB"), k=3, **asked)


def test_in_bounded_memory_bad_sources_are_refused(tmp_path: Path) -> None:
    path, policy = written(tmp_path / "people.csv"), BOUNDED.changed(memory="1GB")
    with pytest.raises(shoal.PolicyError, match="a bound on memory is for files"):
        shoal.sweep(PEOPLE, policy, k=3)
    with pytest.raises(shoal.PolicyError, match="'disease' has no role"):
        shoal.sweep(path, Policy.of(quasi=["age", "zip"], memory="1GB"), k=3)
    with pytest.raises(shoal.DataError, match="no such file"):
        shoal.sweep(tmp_path / "absent.parquet", policy, k=3)
    with patch.object(room, "ROW_BYTES", 10**9), pytest.raises(shoal.DataError, match=r"too many for 0\.5 GB"):
        shoal.sweep(path, policy, k=3, workers=2)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_in_bounded_memory_rows_that_do_not_fit_are_refused(tmp_path: Path, form: str) -> None:
    path = written(tmp_path / "people.csv")
    if form == "parquet":
        path = as_parquet(path)
    too_many = pytest.raises(shoal.DataError, match=rf"people\.{form}: .* rows are distinct, too many for 1 GB")
    with patch.object(room, "ROW_BYTES", 10**9), too_many:
        shoal.sweep(path, BOUNDED.changed(memory="1GB"), k=3, folder=tmp_path / "sweep")
    assert not (tmp_path / "sweep").exists()


def test_in_bounded_memory_a_finished_cell_is_not_made_again(tmp_path: Path) -> None:
    path, out = written(tmp_path / "people.csv"), tmp_path / "sweep"
    first = shoal.sweep(path, BOUNDED.changed(memory="1GB"), k=[3, 6], folder=out)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *sorted(lines[1:])]) + "\n")
    again = shoal.sweep(path, BOUNDED.changed(memory="2GB"), k=[3, 6], folder=out, workers=2)
    assert (again.n_reused, again.cells) == (4, first.cells)
    path.write_text("\n".join([*lines, lines[1]]) + "\n")
    assert shoal.sweep(path, BOUNDED.changed(memory="1GB"), k=[3, 6], folder=out).n_reused == 0


def test_new_parameters_make_new_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    measured = TableTrials.measured

    def counted(trials: Any, policy: Policy) -> dict[str, Any]:
        made.append(1)
        return measured(trials, policy)

    monkeypatch.setattr(TableTrials, "measured", counted)

    def n_made(**asked: Any) -> int:
        made.clear()
        shoal.sweep(PEOPLE, ROLES, **{"k": [3], "partitions": ["mondrian"], "folder": tmp_path, **asked})
        return len(made)

    assert n_made() == 1
    assert n_made(suppression=[0, 0.1]) == 1
    assert n_made(l=[2, 3]) == 2
    assert n_made(t=[0.5, 0.9]) == 2
    assert n_made(effort=["fast", "balanced"]) == 1
    assert n_made(publish=["generalise", "aggregate"]) == 2, "named or not, a publication is part of the policy"
    assert n_made(l=[2, 3], t=None, suppression=[0.0]) == 0
