"""One recoding for all by the command line, with diversity and suppression at once: 830 rows, five hierarchies."""

from __future__ import annotations

import csv
import gzip
import random
from collections import defaultdict
from pathlib import Path

import pytest

import shoal
from tests.e2e.command import RunHere, write

pytestmark = pytest.mark.unattacked

SHARES = ("0", "0.02", "0.05", "0.3")
ADULT_QUASI = ("sex", "age", "race", "marital-status", "education")


def policy(hierarchies: dict[str, str], sensitive: str) -> str:
    columns = [f'"{n}" = {{ role = "quasi", type = "nominal", hierarchy = "{h}" }}' for n, h in hierarchies.items()]
    return "\n".join(
        [
            'kind = "table"',
            "[columns]",
            '"*" = { role = "identifying" }',
            *columns,
            f'"{sensitive}" = {{ role = "sensitive", type = "nominal" }}',
        ]
    )


def generated(folder: Path) -> Path:
    """Five attributes under trees, in which a rare sensitive value goes with few combinations."""
    chance = random.Random(830)
    height = {"sex": 1, "age": 6, "region": 4, "status": 2, "school": 4}
    size = {"sex": 2, "age": 64, "region": 16, "status": 6, "school": 14}
    for name in size:
        levels = [
            [f"{name}{i}", *(f"{name}{i >> h}-{h}" for h in range(1, height[name])), "*"] for i in range(size[name])
        ]
        (folder / f"{name}.csv").write_text("".join(";".join(row) + "\n" for row in levels))
    rows = []
    for _ in range(830):
        cells = {n: min(int(chance.expovariate(3 / s)), s - 1) for n, s in size.items()}
        ill = chance.random() < (0.4 if cells["age"] > 20 and cells["sex"] else 0.02)
        rows.append([*(f"{n}{i}" for n, i in cells.items()), "ill" if ill else "well"])
    write(folder / "policy.toml", policy({n: f"{n}.csv" for n in size}, "health"))
    return write(folder / "people.csv", "\n".join(",".join(r) for r in [[*size, "health"], *rows]) + "\n")


def adult(folder: Path, shared_data: Path) -> Path:
    with gzip.open(shared_data / "adult" / "arx_adult.csv.gz", "rt") as lines:
        header, *rows = lines.read().splitlines()
    folder_of = shared_data / "adult" / "hierarchies"
    trees = {n: str(folder_of / f"adult_hierarchy_{n}.csv") for n in ADULT_QUASI}
    write(folder / "policy.toml", policy(trees, "salary-class"))
    return write(folder / "people.csv", "\n".join([header, *random.Random(1).sample(rows, 830)]) + "\n")


def refuse_broken_promises(rows: list[tuple[str, ...]], share: str) -> None:
    """k = 5 and l = 2 recomputed from what is published, the sensitive value last."""
    classes = defaultdict(list)
    for *quasi, value in rows:
        classes[tuple(quasi)].append(value)
    assert min(len(values) for values in classes.values()) >= 5
    assert min(len(set(values)) for values in classes.values()) >= 2
    assert 830 - len(rows) <= float(share) * 830


@pytest.mark.parametrize("method", ["full-domain", "datafly"])
@pytest.mark.parametrize("kind", ["generated", "adult"])
def test_more_suppression_never_makes_a_table_infeasible(
    tmp_path: Path, kind: str, method: str, request: pytest.FixtureRequest
) -> None:
    data = generated(tmp_path) if kind == "generated" else adult(tmp_path, request.getfixturevalue("shared_data"))
    asked = shoal.read_policy(tmp_path / "policy.toml")
    losses = []
    for share in SHARES:
        release = shoal.anonymize(data, asked.changed(k=5, l=2, partition=method, suppression=float(share)))
        refuse_broken_promises(list(zip(*release.data.values(), strict=True)), share)
        losses.append(release.utility["GCP"])
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("method", ["full-domain", "datafly"])
def test_the_command_honours_diversity_and_suppression_together(tmp_path: Path, method: str, run_here: RunHere) -> None:
    asked = ["-p", "policy.toml", "-k", "5", "-l", "2", "--method", method, "--suppression", "0.05", "-o", "out"]
    ended = run_here("anonymize", generated(tmp_path), *asked, cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    with (tmp_path / "out" / "publish" / "data.csv").open(newline="") as lines:
        refuse_broken_promises([tuple(row) for row in csv.reader(lines)][1:], "0.05")
