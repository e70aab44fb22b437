"""Long strings, from file to folder: what a release of genomes costs, stage by stage, and beside another working tree.

Run as ``python -m benchmarks.strings.long_strings [N LENGTH] [--beside SOURCE] [--unaligned]``; SOURCE is the `src` of
another tree, such as one of an earlier commit, whose CPU time is printed as a ratio to ours. Genomes are aligned; those
that are not would be refused, and are taken as they are if that is asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from time import process_time

from benchmarks.child import ROOT, run_json
from benchmarks.memory import peak_mb
from benchmarks.strings.genomes import genomes, write_fasta

K = 20


def measure(path: Path) -> dict[str, float]:
    """CPU seconds of each stage, the interpreter's start in the first, and the most memory."""
    import shoal

    release = shoal.anonymize(path, shoal.StringPolicy.of(k=K, unaligned="accept"), seed=1)
    made = process_time()
    _ = release.attacked
    attacked = process_time()
    with tempfile.TemporaryDirectory() as folder:
        release.save(Path(folder) / "out")
    total = process_time()
    return {
        "make and check": made,
        "attacks": attacked - made,
        "report": total - attacked,
        "all": total,
        "peak MB": peak_mb(),
    }


def in_tree(source: Path, path: Path) -> dict[str, float]:
    """The same in a process of its own, with the package of a tree."""
    places = os.pathsep.join(map(str, (source, ROOT)))
    command = [sys.executable, "-m", "benchmarks.strings.long_strings", "--file", str(path)]
    found: dict[str, float] = run_json(command, environment={**os.environ, "PYTHONPATH": places})
    return found


def main() -> None:
    """Make genomes, release them, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", nargs="*", type=int, default=[300, 30_000])
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--unaligned", action="store_true")
    parser.add_argument("--file", type=Path)
    asked = parser.parse_args()
    if asked.file is not None:
        print(json.dumps(measure(asked.file)))
        return
    n, length = asked.size
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "genomes.fasta"
        write_fasta(path, genomes(n, length, is_aligned=not asked.unaligned))
        ours = in_tree(ROOT / "src", path)
        theirs = None if asked.beside is None else in_tree(asked.beside, path)
    print(f"{n:,} strings of about {length:,} symbols, {'not ' * asked.unaligned}aligned, k = {K}; CPU seconds")
    for name, spent in ours.items():
        beside = "" if theirs is None else f"  there {theirs[name]:8.1f}  ratio {theirs[name] / max(spent, 1e-9):6.2f}"
        print(f"{name:16} {spent:8.1f}{beside}")


if __name__ == "__main__":
    main()
