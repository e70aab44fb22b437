"""Windows of strings and sparse records: releases of their own, one key, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.errors import DataError, PolicyError
from shoal.stream.releases import NO_RELEASE


def strings(n: int, seed: int = 1) -> list[str]:
    rng = np.random.default_rng(seed)
    return ["".join(row) for row in rng.choice(list("ACGT"), (n, 12))]


def baskets(n: int, seed: int = 1) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [[f"i{j}" for j in rng.choice(30, 8, replace=False)] for _ in range(n)]


LINES = shoal.StringPolicy.of(format="lines", k=5)
PSEUDO = shoal.SparsePolicy.of(format="baskets", k=5)
SKETCH = shoal.SparsePolicy.of(format="baskets", publish="sketch", recovery_cap=False)


def test_pseudo_strings_come_out_window_by_window() -> None:
    originals = strings(60)
    opened = shoal.stream(originals, LINES, delay=30, seed=1)
    made = list(opened)
    assert opened.result is not None
    assert (len(made), opened.result.windows) == (60, 2)
    assert not set(made[:30]) & set(originals[:30])
    assert list(shoal.stream(originals, LINES, delay=30, seed=1)) == made


def test_a_window_is_the_release_of_its_records() -> None:
    """The same as `shoal.anonymize` gives for them with the seed of the window."""
    windows = shoal.stream(strings(30), LINES, delay=30, seed=1)._windows()
    from shoal.stream.windows import Window

    text = "".join(f"{s}\n" for s in strings(30)).encode()
    prepared = windows.prepare(Window(1, text, 30, 30))
    made = windows.finish(windows.work(prepared))
    release = shoal.anonymize(strings(30), shoal.StringPolicy.of(k=5), seed=prepared.seed)
    assert sorted(made.data.decode().split()) == sorted(release.data)


def test_baskets_and_their_folder(tmp_path: Path) -> None:
    made = shoal.stream(baskets(60), PSEUDO, delay=30, seed=1).save(tmp_path / "out")
    assert made.records == {"in": 60, "out": 60, "suppressed": 0}
    manifest = json.loads((tmp_path / "out/publish/manifest.json").read_text())
    assert {"model": "k-anonymity", "kind": "", "required": {"k": 5}, "windows": 2} in manifest["of_windows"]
    found = shoal.check(tmp_path / "out")
    assert not found.fails
    assert not found.holds


def test_sketches_of_all_windows_have_one_key() -> None:
    same = [f"i{j}" for j in range(8)]
    records = [*baskets(29), same, *baskets(29, 2), same]
    key = bytes(range(32))
    made = [json.loads(line)["sketch"] for line in shoal.stream(records, SKETCH, delay=30, seed=1, key=key)]
    whole = shoal.anonymize([same, *baskets(29)], SKETCH, seed=1, key=key).sketches
    first = {tuple(made_of[:1]) for made_of in made}
    assert all(made)
    assert {whole.components[a] for a in whole.starts[:-1]} <= {one[0] for one in first}


def test_a_state_comes_back() -> None:
    windows = shoal.stream([], SKETCH, seed=1)._windows()
    again = shoal.stream([], SKETCH, seed=2)._windows()
    again.restore(json.loads(json.dumps(windows.state())))
    assert again.state() == windows.state()


def test_a_window_of_too_few_is_suppressed_and_counted() -> None:
    opened = shoal.stream(strings(33), LINES, delay=30, seed=1)
    assert len(list(opened)) == 30
    assert opened.result is not None
    assert opened.result.suppressed == {NO_RELEASE: 3}


def test_what_is_not_one_a_line_is_refused() -> None:
    for policy in (shoal.StringPolicy.of(k=5), shoal.StringPolicy.of(k=5, format="fasta"), shoal.SparsePolicy.of(k=5)):
        with pytest.raises(PolicyError, match=r"input\.format has to be"):
            list(shoal.stream(strings(30), policy))
    with pytest.raises(PolicyError, match="counts combinations"):
        list(shoal.stream(baskets(30), shoal.SparsePolicy.of(format="baskets", publish="suppress")))
    with pytest.raises(PolicyError, match="a key is for sketches"):
        list(shoal.stream(baskets(30), PSEUDO, key=bytes(32)))
    with pytest.raises(PolicyError, match="a key is for sketches"):
        list(shoal.stream(strings(30), LINES, key=bytes(32)))
    with pytest.raises(PolicyError, match="no way is known"):
        list(shoal.stream([], shoal.TrajectoryPolicy()))


def test_a_bad_window_is_named_without_the_name_of_a_file() -> None:
    policy = shoal.StringPolicy.of(format="lines", k=5, alphabet="dna")
    with pytest.raises(DataError) as told:
        list(shoal.stream([*strings(40), "secret!"], policy, delay=30, seed=1))
    assert "begins with record 31" in str(told.value)
    assert "window.txt" not in str(told.value)
