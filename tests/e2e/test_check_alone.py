"""`shoal check` runs in a process that loads no method and no compiler: what is checked is checked by other code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.command import ROLES, RunHere, environment, people, text_of, write
from tests.e2e.sparse_samples import baskets, carts

# A partition and a publication register themselves in their own files, by which the datasheet of a table knows their
# names and words; what they do is imported when they are asked to do it.
NAMES_ALONE = re.compile(r"shoal\.tables(\.(encoding|groups)|\.(partition|publish)(\.[a-z_]+)?)?")
METHODS = ("shoal.tables", "shoal.strings", "shoal.sparse", "shoal.kernels", "numba")
CHECK = f"""
import sys
sys.argv = ["shoal", *sys.argv[1:]]
from shoal.cli.app import main
try:
    main()
except SystemExit as end:
    code = end.code
loaded = [m for m in sys.modules if (m + ".").startswith({tuple(f"{m}." for m in METHODS)!r})]
print("LOADED", *sorted(m for m in loaded if not m.startswith("numba.")))
sys.exit(code)
"""


def strings_file(folder: Path) -> Path:
    records = (f">p{i}\n{'ACDEFGHIKL'[i % 3 :]}{'MNPQ' * (3 + i % 2)}\n" for i in range(60))
    return write(folder / "proteins.fasta", "".join(records))


@pytest.mark.parametrize("kind", ["table", "strings", "sparse"])
def test_a_check_loads_no_method(tmp_path: Path, run_here: RunHere, kind: str) -> None:
    if kind == "table":
        source, asked = write(tmp_path / "people.csv", text_of(people(48))), [*ROLES, "-k", "3"]
    elif kind == "strings":
        source, asked = strings_file(tmp_path), ["-k", "10", "--kind", "strings", "--unaligned", "accept"]
    else:
        source, asked = (
            write(tmp_path / "carts.dat", baskets(carts())),
            ["-k", "5", "--kind", "sparse", "--publish", "sketch"],
        )
    made = run_here("anonymize", source, *asked, "-o", tmp_path / "out", "--seed", "1")
    assert made.code == 0, made.stderr
    done = subprocess.run(
        [sys.executable, "-c", CHECK, "check", str(tmp_path / "out")],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,
    )
    loaded = next(line for line in done.stdout.splitlines() if line.startswith("LOADED")).split()[1:]
    assert done.returncode in (0, 5), done.stderr
    assert [m for m in loaded if kind != "table" or not NAMES_ALONE.fullmatch(m)] == []
