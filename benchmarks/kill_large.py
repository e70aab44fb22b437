"""Kill runs at random moments, and look at what they leave.

``python -m benchmarks.kill_large [TIMES] [ROWS] [--resume]`` prints a paragraph, and writes it into
``docs/benchmarks-memory.md``, at the place for so many rows. Each run is ``shoal anonymize`` with ``--memory`` on a
table of so many rows, killed (SIGKILL) when it has used as much processor time as is drawn evenly between none and that
of a whole run, so that the load of the machine does not matter (Linux). Then it is looked at what stands in the
output's folder and in the temporary one. At the end one run is let through, and it has to leave the bytes of the first,
and no scratch. With ``--resume`` finished steps are kept, and after each kill a run is let through that goes on from
them.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np

from benchmarks.large import drawn_from, write_large
from benchmarks.show import MEMORY_PAGE, fill_part

SEED = 16
LOOK_SECONDS = 0.02


def main() -> None:
    """Read the numbers from the command line."""
    words = [word for word in sys.argv[1:] if word != "--resume"]
    n_kills, n_rows = (int(given) for given in [*words, *("30", "1_000_000")[len(words) :]])
    is_resumed = len(words) + 1 < len(sys.argv)
    with tempfile.TemporaryDirectory() as name:
        told = (resumed if is_resumed else killed)(Path(name), n_kills, n_rows)
    print(told)
    fill_part(MEMORY_PAGE, f"{'resumed after ' if is_resumed else ''}kills of {n_rows}", told)


@dataclass
class Runs:
    """Runs of one command, whose scratch lies in a folder of its own beside what they make.

    Attributes
    ----------
    folder : Path
        Holds the table, the scratch and the output.
    command : list of str
    """

    folder: Path
    command: list[str]

    @property
    def out(self) -> Path:
        """Where the release stands in the end."""
        return self.folder / "out"

    @property
    def kept(self) -> Path:
        """Where finished steps are kept, if they are."""
        return self.folder / "kept"

    @property
    def scratch(self) -> Path:
        """The temporary folder."""
        return self.folder / "scratch"

    def run(self, most_seconds: float = inf, *more: str, until: Path | None = None) -> tuple[bool, float]:
        """Whether a run ended by itself, and the processor time that it used.

        It is killed when it has used so much of that, or when something is there.
        """
        self.scratch.mkdir(exist_ok=True)
        command = [str(Path(sys.executable).with_name("shoal")), "anonymize", *self.command, "-o", str(self.out), *more]
        environment, before = {**os.environ, "TMPDIR": str(self.scratch)}, _used()
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                if process.wait(LOOK_SECONDS):
                    raise SystemExit(f"a run that nobody killed failed with the exit code {process.returncode}")
                return True, _used() - before
            except subprocess.TimeoutExpired:
                is_there = until is not None and until.exists()
                if is_there or (most_seconds < inf and cpu_seconds(process.pid) >= most_seconds):
                    process.kill()
                    process.wait()
                    return False, _used() - before


def _used() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def of_large(folder: Path, n_rows: int) -> Runs:
    """Runs on a table of so many rows, which is drawn."""
    source, table = drawn_from(), folder / "large.parquet"
    write_large(n_rows, table, source)
    words = ["--quasi", ",".join(source.quasi), "--sensitive", source.sensitive, "-k", "10", "--memory", "2GB"]
    return Runs(folder, [str(table), *words, "--seed", "1"])


def killed(folder: Path, n_kills: int, n_rows: int) -> str:
    """A sentence or two about so many kills."""
    runs = of_large(folder, n_rows)
    out, scratch = runs.out, runs.scratch
    _, length = runs.run()
    whole = checksums(out)
    seen: Counter[str] = Counter()
    for moment in np.random.default_rng(SEED).uniform(0, length, n_kills):
        remove(out)
        ended, _ = runs.run(moment)
        seen["ended"] += ended
        seen["scratch"] += any(scratch.iterdir())
        seen["beside"] += any(folder.glob(".out.*"))
        if out.exists():
            if checksums(out) != whole:
                raise SystemExit("a killed run left a release that is not whole")
            seen["whole"] += 1
    remove(out)
    runs.run()
    refuse_leftovers(runs, whole)
    return sentences(n_kills, n_rows, seen)


def resumed(folder: Path, n_kills: int, n_rows: int) -> str:
    """The same about runs that go on where they were killed, each until it ends."""
    runs = of_large(folder, n_rows)
    going_on = ("--resume", str(runs.kept))
    _, plain = runs.run()
    whole = checksums(runs.out)
    remove(runs.out)
    _, length = runs.run(inf, *going_on)
    refuse_leftovers(runs, whole)
    seen: Counter[str] = Counter()
    after: dict[bool, list[float]] = {True: [], False: []}
    for moment in np.random.default_rng(SEED).uniform(0, length, n_kills):
        remove(runs.out)
        ended, _ = runs.run(moment, *going_on)
        if ended or runs.out.exists():
            seen["ended"] += 1
            remove(runs.kept)
            continue
        is_kept = any(runs.kept.glob("step-*"))
        after[is_kept].append(runs.run(inf, *going_on)[1])
        refuse_leftovers(runs, whole)
    return resumed_sentences(n_kills, n_rows, seen["ended"], plain, length, after)


def resumed_sentences(
    n_kills: int, n_rows: int, n_ended: int, plain: float, length: float, after: Mapping[bool, Sequence[float]]
) -> str:
    """What was seen, in words."""
    means = {
        is_kept: f"which took {np.mean(times):.2f} s on average" if times else "which never was so"
        for is_kept, times in after.items()
    }
    return (
        f"A run on {n_rows:,} rows takes {plain:.2f} s of processor time, with its report, and {length:.2f} s with "
        f"`--resume`. Of {n_kills} that were to be killed at random moments, {n_ended} had ended before. "
        f"{len(after[True])} left finished steps: the next run went on from there, {means[True]}; after the other "
        f"{len(after[False])} it started over, {means[False]}. Each wrote the bytes of an undisturbed run, and left "
        "neither scratch nor the folder of its steps."
    )


def refuse_leftovers(runs: Runs, whole: Mapping[str, str]) -> None:
    """End where a run that was let through left more than a release of the right bytes."""
    left = [path.name for path in runs.folder.iterdir() if path.name not in ("large.parquet", "scratch", "out")]
    if checksums(runs.out) != whole or any(runs.scratch.iterdir()) or left:
        raise SystemExit("the run after a kill did not clean up, or wrote other bytes")


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
