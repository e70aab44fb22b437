"""Made genomes: one ancestor, clades that differ from it in some places, and what each genome has of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

N_CLADES, OF_CLADE, OF_ONE, N_GAPS = 10, 40, 12, 2
LONGEST_GAP = 9


def genomes(n: int = 300, length: int = 30_000, seed: int = 0, *, is_aligned: bool = True) -> list[str]:
    """Some genomes, about as alike as those of a virus within a year; with signs for what is missing if aligned."""
    rng = np.random.default_rng(seed)
    ancestor = rng.integers(0, 4, length)

    def mutated(genome: npt.NDArray[np.int64], places: int) -> npt.NDArray[np.int64]:
        found = genome.copy()
        at = rng.choice(length, places, replace=False)
        found[at] = (found[at] + rng.integers(1, 4, places)) % 4
        return found

    clades = [mutated(ancestor, OF_CLADE) for _ in range(N_CLADES)]
    made = []
    for i in range(n):
        genome = mutated(clades[i % N_CLADES], OF_ONE)
        kept = np.ones(length, bool)
        for start in rng.integers(0, length, rng.integers(0, N_GAPS + 1)):
            kept[start : start + rng.integers(1, LONGEST_GAP + 1)] = False
        genome = np.where(kept, genome, 4) if is_aligned else genome[kept]
        made.append(np.frombuffer(b"ACGT-", np.uint8)[genome].tobytes().decode())
    return made


def write_fasta(path: Path, strings: list[str]) -> None:
    """One genome a record."""
    path.write_text("".join(f">g{i}\n{text}\n" for i, text in enumerate(strings)), encoding="utf-8")


if __name__ == "__main__":
    write_fasta(Path(sys.argv[1]), genomes(*map(int, sys.argv[2:])))
