"""Pseudo-baskets of a file that is read in blocks are, to the byte, those of records in memory; the rest is refused."""

from __future__ import annotations

import gzip
import os
import pickle
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.check.sparse import baskets_in_blocks
from shoal.data import ragged, ragged_rows
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError, ShoalError
from shoal.kernels.compile import interpreted
from shoal.kinds.sparse import unheld, unheld_baskets
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse import deal_units, mean_weights, near_groups
from tests.unit.kinds.sparse.test_unheld import made, small_blocks

pytestmark = pytest.mark.unattacked


def put(path: Path, n: int = 600, seed: int = 0, n_items: int = 40, n_labels: int = 3) -> Path:
    """Baskets of some patterns with noise, or SVMlight with counts and classes, by the name."""
    rng = np.random.default_rng(seed)
    patterns = [rng.choice(n_items, 4, replace=False) for _ in range(8)]
    lines = []
    for _ in range(n):
        drawn = {*patterns[rng.integers(8)][: rng.integers(0, 5)].tolist(), *rng.integers(0, n_items, 3).tolist()}
        items = sorted(i + 1 for i in drawn if rng.random() < 0.9)
        if ".svm" in path.suffixes:
            weights = rng.integers(1, 6, len(items)) if seed % 2 else np.ones(len(items), int)
            lines.append(
                " ".join([str(rng.integers(n_labels)), *(f"{i}:{w}" for i, w in zip(items, weights, strict=True))])
            )
        else:
            lines.append(" ".join(map(str, [*items, *items[: seed % 3]])))
    text = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def in_small_parts(n_entries: int) -> ExitStack:
    """Rows are looked at, put in order and dealt so many entries at a time, and few are parted at once."""
    stack = ExitStack()
    for where, name, value in (
        (ragged, "ENTRIES_AT_ONCE", n_entries),
        (ragged_rows, "ENTRIES_OF_A_RANGE", 2 * n_entries),
        (deal_units, "UNITS_AT_ONCE", n_entries),
        (mean_weights, "ENTRIES_OF_A_RUN", n_entries),
        (baskets_in_blocks, "ENTRIES_AT_ONCE", n_entries),
    ):
        stack.enter_context(patch.object(where, name, value))
    return stack


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from([".dat", ".svm", ".svm.gz", ".dat.gz"]),
    st.sampled_from([20, 90, 400]),
    st.integers(0, 99),
    st.integers(2, 9),
    st.sampled_from([2, 3]),
    st.sampled_from([2, 16]),
    st.sampled_from([5, 60, 1 << 20]),
)
def test_the_bytes_are_those_of_records_in_memory(
    suffix: str, n: int, seed: int, k: int, support: int, together: int, at_once: int
) -> None:
    weights = "counts" if seed % 5 else "binary"
    asked = {"k": k, "support": support, "together": together, "suppression": 0.9, "weights": weights}
    policy = SparsePolicy.of(publish="pseudo", **asked)
    with tempfile.TemporaryDirectory() as folder, patch.object(near_groups, "LEAF", 30):
        path = put(Path(folder) / f"records{suffix}", n, seed)
        held = made(path, policy, Path(folder) / "held")
        with in_small_parts(at_once), small_blocks(20 * at_once):
            assert made(path, policy.changed(memory="1GB"), Path(folder) / "bounded") == held


def test_many_records_are_parted_in_files(tmp_path: Path) -> None:
    policy = SparsePolicy.of(publish="pseudo", k=5)
    for seed, name in ((2, "records.dat"), (3, "records.svm")):
        path = put(tmp_path / name, 9000, seed)
        held = made(path, policy, tmp_path / f"held{seed}")
        with patch.object(unheld_baskets, "BYTES_AN_ENTRY", 60_000), in_small_parts(5000):
            assert made(path, policy.changed(memory="1GB"), tmp_path / f"bounded{seed}") == held
