"""Few records are worked on without compiling anything, and the release has the same bytes as if all were compiled."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.kernels.compile import interpreted
from shoal.tables.partition.base import PARTITIONS
from shoal.tables.publish.base import PUBLICATIONS

DRAW = random.Random(5)
PEOPLE = {
    "age": [DRAW.randint(18, 90) for _ in range(80)],
    "height": [round(DRAW.gauss(170, 9), 1) for _ in range(80)],
    "illness": [DRAW.choice(["flu", "cold", "gout", "none"]) for _ in range(80)],
}
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


def test_a_small_table_loads_no_compiler(tmp_path: Path) -> None:
    rows = zip(*PEOPLE.values(), strict=True)
    (tmp_path / "people.csv").write_text("\n".join([",".join(PEOPLE), *(",".join(map(str, row)) for row in rows), ""]))
    asked = ["people.csv", "--quasi", "age,height", "--sensitive", "illness", "-k", "4", "-o", "out"]
    command = [sys.executable, "-c", COMMAND, "anonymize", *asked]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"
