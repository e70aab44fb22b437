"""Millions of strings and of baskets from a file to a checked folder: processor time and peak memory.

    python -m benchmarks.many_records [--docs] [--folder FOLDER] [--memory SIZE] [sizes]

Each is ``shoal anonymize FILE -o OUT --no-report`` in a process of its own, which starts no other. By default 1 and 5
million; wanted is a peak below 4 GB for 5 million. With ``--memory`` they are also released under that bound, which
writes the same bytes or is told. With ``--folder`` the drawn files stay there, and are not drawn
again. With ``--docs`` the table is written into ``docs/benchmarks.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks import show, store
from benchmarks.child import ChildFailed, run_json
from benchmarks.harness import Case, Contestant, Outcome, Setting, growth, run_case
from shoal.data.ragged import runs_of_rows
from shoal.data.samples.quest import Quest, generate_baskets

SIZES = (1_000_000, 5_000_000)
SCRIPT = Path(__file__).parent / "run_command.py"
RELEASES = {
    "strings": ("T20.I4.D1K", ("--kind", "strings", "--format", "tokens", "-k", "20")),
    "baskets": ("T10.I4.D1K", ("--kind", "sparse", "--format", "baskets", "-k", "10")),
}


def write_baskets(name: str, n: int, path: Path) -> None:
    """So many baskets of the package's generator, one a line."""
    baskets = generate_baskets(Quest.named(name, n_transactions=n), seed=0)
    names = np.array([str(i) for i in range(baskets.n_items)], dtype=object)
    with path.open("w", encoding="ascii") as file:
        for low, high in runs_of_rows(baskets.starts):
            bounds = (baskets.starts[low : high + 1] - baskets.starts[low]).tolist()
            items = names[baskets.items[baskets.starts[low] : baskets.starts[high]]].tolist()
            file.writelines(" ".join(items[a:b]) + "\n" for a, b in pairwise(bounds))


def cases(sizes: Sequence[int], drawn: Path | None, memory: str | None = None) -> list[Case]:
    """A case for strings and one for baskets."""

    bounds: list[tuple[str, tuple[str, ...]]] = [("", ())]
    if memory is not None:
        bounds.append((f", --memory {memory}", ("--memory", memory)))

    def case(kind: str) -> Case:
        name, options = RELEASES[kind]
        names = [f"{n:,} {kind}" for n in sizes]

        def summary(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
            spent = [outcomes[n].cpu_seconds for n in names]
            return growth(list(sizes), spent) if len(sizes) > 1 and None not in spent else {}

        return Case(
            f"many {kind}",
            f"shoal anonymize {' '.join(options)} --no-report, checked from the written file; growth is of CPU time",
            f"{name.partition('.D')[0]}, made by the package's Quest generator",
            [
                released(label + told, kind, n, drawn, more)
                for label, n in zip(names, sizes, strict=True)
                for told, more in bounds
            ],
            summary,
        )

    return [case(kind) for kind in RELEASES]


def released(label: str, kind: str, n: int, drawn: Path | None, more: tuple[str, ...] = ()) -> Contestant:
    """The whole job on a file, which is drawn before unless it is there."""

    def measure(setting: Setting) -> Outcome:
        name, options = RELEASES[kind]
        path = (drawn or setting.folder) / f"{kind}-{n}.dat"
        if not path.exists():
            write_baskets(name, n, path)
        out = setting.folder / f"out-{kind}-{n}{'-bounded' if more else ''}"
        command = [
            sys.executable,
            SCRIPT,
            "anonymize",
            path,
            "-o",
            out,
            "--seed",
            "1",
            "--no-report",
            "-q",
            *options,
            *more,
        ]
        try:
            found = run_json(command, timeout=6 * 3600)
        except ChildFailed as failed:
            return Outcome(None, failure=str(failed))
        held = setting.folder / f"out-{kind}-{n}"
        if more and (held / "publish").exists() and hashes(held) != hashes(out):
            return Outcome(None, failure="the bytes are not those of records that are held")
        return Outcome(repeats=1, **found)

    return Contestant(label, measure)


def hashes(out: Path) -> dict[str, str]:
    """Of all that is published, by name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (out / "publish").iterdir()}


def main() -> None:
    """Measure, print, and write the page if that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sizes", nargs="*", type=int, help="numbers of records")
    parser.add_argument("--folder", type=Path, help="where drawn files stay; by default they are removed")
    parser.add_argument("--memory", help="a bound under which records are released once more, such as 2GB")
    parser.add_argument("--docs", action="store_true", help="put the table into docs/benchmarks.md")
    asked = parser.parse_args()
    load_before = store.load()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        setting = Setting(Path(folder))
        results = [
            run_case(case, setting, lambda text: print(text, file=sys.stderr))
            for case in cases(asked.sizes or SIZES, asked.folder, asked.memory)
        ]
    run = store.as_run(results, load_before, False)
    show.print_run(run)
    if asked.docs:
        store.write(run, "many-records")
        show.fill_page(run, block="many")


if __name__ == "__main__":
    main()
