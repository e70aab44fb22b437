"""Files of variants for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def write_variants(path: Path, calls: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Phased genotypes (persons, 2, variants) as VCF; each variant has two alleles."""
    n, _, n_sites = calls.shape
    with open(path, "w") as file:
        file.write("##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT")
        file.write("".join(f"\tperson{i}" for i in range(n)) + "\n")
        for j in range(n_sites):
            genotypes = "\t".join(f"{int(a)}|{int(b)}" for a, b in calls[:, :, j])
            file.write(f"1\t{1000 + j}\t.\tA\tG\t50\tPASS\tAC={int(np.sum(calls[:, :, j]))}\tGT\t{genotypes}\n")
    return calls
