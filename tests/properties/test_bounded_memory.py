"""Releases in bounded memory, checks, attacks and sweeps are those of held tables: bytes, claims, rates and sentences."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.check.tables import compare_rows
from shoal.data.tables import parquet
from shoal.errors import ShoalError
from shoal.tables.spilled import cuts, make

pytestmark = pytest.mark.unattacked

Cells = dict[str, Any]


@st.composite
def tables(draw: st.DrawFn) -> Cells:
    """Columns with ties and gaps, and persons who have one record each, or some of them several."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(20, 150))
    n_persons = draw(st.sampled_from([n_rows, n_rows, n_rows // 2 + 1, max(5, n_rows // 5)]))
    ids = rng.permutation(n_rows) if n_persons == n_rows else rng.integers(0, n_persons, n_rows)
    spelled = draw(st.sampled_from(["number", "p{}", "{:04d}"]))
    gaps = draw(st.sampled_from([0.0, 0.2]))
    return {
        "id": ids if spelled == "number" else np.array([spelled.format(i) for i in ids], dtype=object),
        "age": rng.integers(0, draw(st.sampled_from([2, 12, 60])), n_rows),
        "town": np.where(rng.random(n_rows) < gaps, None, rng.choice(np.array(["a", "b", "c"], dtype=object), n_rows)),
        "ill": rng.choice(np.array(["flu", "cold", "ulcer", "gout"], dtype=object), n_rows),
        "ward": rng.integers(0, 3, n_rows) / 2,
    }


@st.composite
def policies(draw: st.DrawFn) -> shoal.Policy:
    """What can be made from distinct rows."""
    partition = draw(st.sampled_from(["mondrian", "local-recoding", "full-domain", "datafly"]))
    models: list[Cells] = [{}, {"l": 2}, {"t": 0.5}, {"require": [{"model": "l-diversity", "l": 2, "kind": "entropy"}]}]
    models += [{"require": [{"model": "alpha-k", "alpha": 0.8, "k": 3}]}]
    models += [{"require": [{"model": "beta-likeness", "beta": 2}]}]
    asked = draw(st.sampled_from(models))
    is_counted = draw(st.booleans())
    return shoal.Policy.of(
        quasi=["age", "town"],
        sensitive=["ill"],
        insensitive=["ward"] if draw(st.booleans()) else [],
        others="identifying",
        k=draw(st.integers(2, 5)),
        partition=partition,
        suppression=draw(st.sampled_from([0.0, 0.2, 0.6])),
        missing=draw(st.sampled_from(["value", "any"])),
        accept={"singled_out": "invented"},
        **({"person": "id"} if is_counted else {}),
        **asked,
    )


def put(path: Path, columns: Cells) -> Path:
    with duckdb.connect() as database:
        database.register("columns", columns)
        database.execute(f"COPY (SELECT * FROM columns) TO '{path}' (FORMAT {path.suffix[1:]})")
    return path


def made(path: Path, policy: shoal.Policy, out: Path) -> Any:
    """The checksums and claims of a release, or why there is none."""
    shutil.rmtree(out, ignore_errors=True)
    try:
        release = shoal.anonymize(path, policy, seed=7)
    except ShoalError as error:
        return type(error), str(error)
    release.save(out, report=False)
    files = sorted((out / "publish").iterdir())
    told = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    return told, release.records, release.guarantees, release.findings, release.told_counts


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), policies(), st.sampled_from(["parquet", "csv"]))
def test_a_release_is_that_of_a_held_table(columns: Cells, policy: shoal.Policy, form: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = put(Path(folder) / f"people.{form}", columns)
        held = made(path, policy, Path(folder) / "held")
        assert made(path, policy.changed(memory="1GB"), Path(folder) / "bounded") == held


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), policies(), st.sampled_from([20, 40]), st.sampled_from([1, 1 << 21]))
def test_a_release_of_rows_in_files_is_that_of_a_held_table(
    columns: Cells, policy: shoal.Policy, block_rows: int, cells: int
) -> None:
    policy = policy.changed(partition="mondrian")
    with tempfile.TemporaryDirectory() as folder:
        path = put(Path(folder) / "people.parquet", columns)
        held = made(path, policy, Path(folder) / "held")
        spills = patch.object(parquet, "does_fit", lambda *_: False)
        small = patch.object(make, "MOST_BLOCK_ROWS", block_rows)
        with spills, small, patch.object(cuts, "MOST_CELLS", cells):
            found = made(path, policy.changed(memory="1GB"), Path(folder) / "spilled")
        if "cannot be cut" not in str(found):
            assert found == held


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), policies(), st.randoms(use_true_random=False), st.booleans())
def test_a_check_finds_what_it_finds_of_a_held_folder(columns: Cells, policy: shoal.Policy, random, is_told) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, out = put(Path(folder) / "people.csv", columns), Path(folder) / "out"
        if isinstance(made(path, policy.changed(memory="1GB"), out)[0], type):
            return
        data = out / "publish" / "data.csv"
        head, *lines = data.read_text().splitlines()
        place, other = random.randrange(len(lines)), random.randrange(len(lines))
        cells, others = lines[place].split(","), lines[other].split(",")
        at = random.randrange(len(cells))
        swapped = [
            ",".join([*cells[:at], others[at], *cells[at + 1 :]]),
            ",".join([*others[:at], cells[at], *others[at + 1 :]]),
        ]
        versions = [
            lines,
            [line if i not in (place, other) else swapped[i == other] for i, line in enumerate(lines)],
            [line for i, line in enumerate(lines) if i != place],
            [*lines, lines[place]],
            [line if i != place else ",".join([*cells[:at], "zzz", *cells[at + 1 :]]) for i, line in enumerate(lines)],
        ]
        for version in versions:
            data.write_text("\n".join([head, *version]) + "\n")
            for given in ({}, {"original": path}):
                asked = {**given, "policy": policy if is_told else None}
                held = shoal.check(out / "publish", **asked)
                with patch.object(compare_rows, "AT_ONCE", 16):
                    bounded = shoal.check(out / "publish", **asked, memory="1GB")
                assert bounded.to_dict() == held.to_dict()


DRAWN_FROM_ALL = ("singling-out-univariate", "inference", "membership", "homogeneity", "skewness", "similarity")


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), tables(), policies(), st.sampled_from(["parquet", "csv"]))
def test_attacks_that_try_everybody_get_what_they_get_of_a_held_folder(
    columns: Cells, others: Cells, policy: shoal.Policy, form: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, control = put(Path(folder) / f"people.{form}", columns), put(Path(folder) / f"others.{form}", others)
        out = Path(folder) / "out"
        if isinstance(made(path, policy, out)[0], type):
            return
        asked = {"names": DRAWN_FROM_ALL, "control": control}
        if policy.person and any(len(np.unique(table["id"])) < len(table["id"]) for table in (columns, others)):
            with pytest.raises(shoal.PolicyError, match="persons with several records are attacked with all records"):
                shoal.attack(out, path, **asked, memory="1GB")
            return
        held, bounded = (shoal.attack(out, path, **asked, memory=memory) for memory in (None, "1GB"))
        assert (bounded.skipped, bounded.sample) == (held.skipped, held.sample)
        for ours, theirs in zip(bounded.results, held.results, strict=True):
            assert (ours.attack, ours.main, ours.control) == (theirs.attack, theirs.main, theirs.control)
            assert (ours.sentence, ours.details) == (theirs.sentence, theirs.details)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), policies(), st.sampled_from(["parquet", "csv"]))
def test_a_sweep_finds_what_it_finds_of_a_held_table(columns: Cells, policy: shoal.Policy, form: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = put(Path(folder) / f"people.{form}", columns)
        asked: Cells = {"k": [2, 4], "methods": ["mondrian", "full-domain", "datafly"], "suppression": [0.0, 0.3]}
        found = []
        for memory in (None, "1GB"):
            try:
                found.append(shoal.sweep(path, policy.changed(memory=memory), **asked))
            except ShoalError as error:
                found.append((type(error), str(error)))
        held, bounded = found
        if isinstance(held, tuple):
            assert bounded == held
            return
        assert (bounded.n_rows, bounded.options) == (held.n_rows, held.options)
        for ours, theirs in zip(bounded.cells, held.cells, strict=True):
            same = ("partition", "k", "status", "sentence", "n_in", "n_out", "guarantees")
            assert [getattr(ours, n) for n in same] == [getattr(theirs, n) for n in same]
            assert ours.losses == pytest.approx({n: theirs.losses[n] for n in ours.losses}, nan_ok=True)
            assert {n for n in theirs.losses if n not in ours.losses} <= {"IL1", "IL2", "IL3", "IL4", "IL5", "IL-mean"}
            for name in ("risk_highest", "risk_average", "association_change"):
                assert getattr(ours, name) == pytest.approx(getattr(theirs, name))
