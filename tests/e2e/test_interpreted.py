"""Few records are worked on without compiling anything, and the release has the same bytes as if all were compiled."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.kernels.compile import interpreted
from shoal.kind import kind_named
from shoal.tables.partition.base import PARTITIONS
from shoal.tables.publish.base import PUBLICATIONS

DRAW = random.Random(5)


def people(n: int) -> dict[str, list[Any]]:
    return {
        "age": [DRAW.randint(18, 90) for _ in range(n)],
        "height": [round(DRAW.gauss(170, 9), 1) for _ in range(n)],
        "illness": [DRAW.choice(["flu", "cold", "gout", "none"]) for _ in range(n)],
    }


PEOPLE = people(80)
MANY = people(1500)
STRINGS = ["".join(DRAW.choice("ACGT" if i % 2 else "AACG") for _ in range(DRAW.randint(9, 12))) for i in range(60)]
BASKETS = [DRAW.sample([f"item {j}" for j in range(12)], DRAW.randint(2, 5)) for _ in range(80)]
TEXTS = [DRAW.sample([f"word {j}" for j in range(200)], 50) for _ in range(40)]


def table(**asked: Any) -> tuple[Any, Any]:
    return PEOPLE, shoal.Policy.of(quasi=["age", "height"], sensitive=["illness"], k=4, **asked)


CASES: dict[str, tuple[Any, Any]] = {
    **{name: table(partition=name) for name in PARTITIONS if name != "univariate"},
    "univariate": (
        {"age": PEOPLE["age"], "illness": PEOPLE["illness"]},
        shoal.Policy.of(quasi=["age"], sensitive=["illness"], k=4, partition="univariate"),
    ),
    **{name: table(publish=name, l=2) for name in PUBLICATIONS},
    **{
        f"many rows, {name}": (MANY, shoal.Policy.of(quasi=["age", "height"], sensitive=["illness"], k=5, **asked))
        for name, asked in {
            "mondrian": {"l": 2},
            "mondrian, t": {"t": 0.4},
            "full-domain": {"partition": "full-domain"},
            "datafly": {"partition": "datafly", "l": 2},
        }.items()
    },
    **{f"strings, {name}": (STRINGS, shoal.StringPolicy.of(k=5, generator=name)) for name in ("window", "template")},
    "pseudo-baskets": (BASKETS, shoal.SparsePolicy.of(k=4)),
    "sketches": (TEXTS, shoal.SparsePolicy.of(k=4, publish="sketch")),
}


def written(name: str, out: Path) -> tuple[dict[str, bytes], list[Any]]:
    data, policy = CASES[name]
    release = shoal.anonymize(data, policy, seed=3)
    release.save(out, report=False)
    return {p.name: p.read_bytes() for p in sorted((out / "publish").iterdir())}, release.attacked.results


@pytest.mark.parametrize("name", CASES)
def test_the_same_bytes_come_from_interpreted_and_from_compiled_loops(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, found_slowly = written(name, tmp_path / "interpreted")
    monkeypatch.setattr("shoal.kernels.compile.interpreted", lambda is_small: interpreted(False))
    fast, found = written(name, tmp_path / "compiled")
    assert slow == fast
    assert found_slowly == found


COMMAND = """
import sys
from shoal.cli.app import main
try:
    main()
except SystemExit as end:
    print(end.code, sorted({"numba", "llvmlite"} & set(sys.modules)))
"""


@pytest.mark.parametrize("columns", [PEOPLE, MANY], ids=["80 rows", "1,500 rows"])
def test_a_small_table_loads_no_compiler(columns: dict[str, list[Any]], tmp_path: Path) -> None:
    rows = zip(*columns.values(), strict=True)
    (tmp_path / "people.csv").write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows), ""]))
    asked = ["people.csv", "--quasi", "age,height", "--sensitive", "illness", "-k", "4", "-o", "out"]
    command = [sys.executable, "-c", COMMAND, "anonymize", *asked]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "asked", "is_small"),
    [
        (1_000, 40, {"partition": "v-mdav", "effort": "best", "person": "c1"}, True),
        (10_000, 5, {}, True),
        (10_000, 10, {"l": 2, "sensitive": ["c1"]}, True),
        (10_001, 5, {}, False),
        (5_000, 21, {}, False),
        (1_001, 5, {"partition": "mdav"}, False),
        (1_001, 5, {"publish": "condense"}, False),
        (1_001, 5, {"partition": "full-domain", "person": "c1"}, False),
    ],
)
def test_how_many_records_are_few(n_rows: int, n_columns: int, asked: dict[str, Any], is_small: bool) -> None:
    kind = kind_named("table")
    policy = shoal.Policy.of(quasi=["c0"], k=5, **asked)
    data = kind.load({f"c{i}": np.arange(n_rows) for i in range(n_columns)}, policy)
    assert kind.is_small(data, policy) is is_small
    assert kind.is_small(data) is (n_rows <= 1_000)  # for a profile or attacks alone
