"""Kill runs at random moments, and look at what they leave.

``python -m benchmarks.kill_large [TIMES] [ROWS]`` prints a paragraph, and writes it into ``docs/how-to/memory.md``, at
the place for so many rows. Each run is ``shoal anonymize`` with ``--memory`` on a table of so many rows, killed
(SIGKILL) when it has used as much processor time as is drawn evenly between none and that of a whole run, so that the
load of the machine does not matter (Linux). Then it is looked at what stands in the output's folder and in the
temporary one. At the end one run is let through, and it has to leave the bytes of the first, and no scratch.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from math import inf
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np

from benchmarks.child import ROOT
from benchmarks.large import drawn_from, write_large
from benchmarks.show import fill_part

PAGE = ROOT / "docs" / "how-to" / "memory.md"
SEED = 16
LOOK_SECONDS = 0.02


def main() -> None:
    """Read the numbers from the command line."""
    n_kills, n_rows = (int(given) for given in [*sys.argv[1:], *("30", "1_000_000")[len(sys.argv) - 1 :]])
    with tempfile.TemporaryDirectory() as name:
        told = killed(Path(name), n_kills, n_rows)
    print(told)
    fill_part(PAGE, f"kills of {n_rows}", told)


def killed(folder: Path, n_kills: int, n_rows: int) -> str:
    """A sentence or two about so many kills."""
    source = drawn_from()
    table, scratch, out = folder / "large.parquet", folder / "scratch", folder / "out"
    scratch.mkdir()
    write_large(n_rows, table, source)
    words = ["--quasi", ",".join(source.quasi), "--sensitive", source.sensitive, "-k", "10", "--memory", "2GB"]
    command = [
        str(Path(sys.executable).with_name("shoal")),
        "anonymize",
        str(table),
        *words,
        "--seed",
        "1",
        "-o",
        str(out),
    ]
    environment = {**os.environ, "TMPDIR": str(scratch)}

    def run(most_seconds: float) -> bool:
        """Whether it ended by itself."""
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                if process.wait(LOOK_SECONDS):
                    raise SystemExit(f"a run that nobody killed failed with the exit code {process.returncode}")
                return True
            except subprocess.TimeoutExpired:
                if cpu_seconds(process.pid) >= most_seconds:
                    process.kill()
                    process.wait()
                    return False

    before = getrusage(RUSAGE_CHILDREN)
    run(inf)
    used, whole = getrusage(RUSAGE_CHILDREN), checksums(out)
    length = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    seen: Counter[str] = Counter()
    for moment in np.random.default_rng(SEED).uniform(0, length, n_kills):
        remove(out)
        ended = run(moment)
        seen["ended"] += ended
        seen["scratch"] += any(scratch.iterdir())
        seen["beside"] += any(folder.glob(".out.*"))
        if out.exists():
            if checksums(out) != whole:
                raise SystemExit("a killed run left a release that is not whole")
            seen["whole"] += 1
    remove(out)
    run(inf)
    left = [path.name for path in folder.iterdir() if path.name not in ("large.parquet", "scratch", "out")]
    if checksums(out) != whole or any(scratch.iterdir()) or left:
        raise SystemExit("the run after all kills did not clean up, or wrote other bytes")
    return sentences(n_kills, n_rows, seen)


def cpu_seconds(process: int) -> float:
    """What a process that lives has used."""
    told = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, told[11:13])) / os.sysconf("SC_CLK_TCK")


def sentences(n_kills: int, n_rows: int, seen: Mapping[str, int]) -> str:
    """What was seen, in words."""
    n_whole = seen["whole"]
    return (
        f"Of {n_kills} runs on {n_rows:,} rows that were to be killed at random moments, {seen['ended']} had ended "
        f"before. After {n_whole} the whole release stood under the output's name, after {n_kills - n_whole} nothing, "
        "after none a part of one. Scratch of these runs or of earlier ones lay in the temporary folder after "
        f"{seen['scratch']}, and beside the output after {seen['beside']}. The run after them, which was let through, "
        "removed all of it and wrote the bytes of an undisturbed run."
    )


def checksums(out: Path) -> dict[str, str]:
    """Of all that would be given away."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted((out / "publish").iterdir())}


def remove(out: Path) -> None:
    """Take a release away."""
    for path in sorted(out.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    if out.exists():
        out.rmdir()


if __name__ == "__main__":
    main()
