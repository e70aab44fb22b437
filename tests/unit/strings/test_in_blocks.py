"""What strings in a file are condensed to is, in everything, what held ones are."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from shoal.data import ragged_rows
from shoal.data.strings import blocks, on_disk
from shoal.data.strings.blocks import StringBlocks
from shoal.data.strings.files import read_strings, string_blocks
from shoal.errors import DataError, Infeasible
from shoal.kinds.strings.policy import StringInput
from shoal.strings import in_blocks, templates
from shoal.strings.condense import Condensation
from shoal.strings.counts import count_strings
from shoal.strings.generate import fingerprint_originals
from shoal.strings.in_blocks import CondensationOnDisk


def put(path: Path, n: int = 700, seed: int = 0, n_symbols: int = 30) -> Path:
    """Sessions; every fifth of the classes of a FASTA file is small."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, n_symbols + 1)
    with path.open("w") as file:
        for i in range(n):
            items = rng.choice(n_symbols, int(rng.geometric(0.12)) - 1 + (i % 7 > 0), p=share / share.sum())
            if path.suffix == ".fasta":
                letters = "".join("ACDEFGHIKLMNPQRSTVWY"[int(s) % 20] for s in items)
                file.write(f">s{i} class={'small' if i % 99 == 0 else 'ab'[i % 2]}\n{letters}\n")
            else:
                file.write(" ".join(f"p{s}" for s in items) + "\n")
    return path


def read(path: Path) -> StringBlocks:
    options = {"label": "class=(.*)"} if path.suffix == ".fasta" else {"format": "tokens"}
    return string_blocks(path, **StringInput(**options).model_dump()).settled()


def whole(path: Path) -> Any:
    return read_strings(path, label="class=(.*)") if path.suffix == ".fasta" else read_strings(path, format="tokens")


@pytest.mark.parametrize("suffix", [".dat", ".fasta"])
@pytest.mark.parametrize("at_once", [60, 2000, 1 << 22])
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"lengths": "template", "order": 3},
        {"order": 1, "support": 1},
        {"homogenize": "greedy", "eps": 0.3},
        {"copies": "allow", "rare": 1},
        {"block_strings": 64, "support": 2},
    ],
)
def test_everything_is_that_of_held_strings(tmp_path: Path, suffix: str, at_once: int, asked: dict[str, Any]) -> None:
    path = put(tmp_path / f"strings{suffix}")
    how = {"k": 12, "seed": 3, "workers": 1} | asked
    held = Condensation(**how)
    held.fit_transform(whole(path))
    refused = held.pseudo_.strings.take(np.arange(5))
    again = [held.pseudo_, held.draw_without(refused) and held.pseudo_]
    with (
        patch.object(on_disk, "SYMBOLS_AT_ONCE", at_once),
        patch.object(ragged_rows, "ENTRIES_OF_A_RANGE", 2 * at_once),
        patch.object(blocks, "BYTES_AT_ONCE", 3000),
        patch.object(templates, "MANY_STRINGS", 100),
    ):
        found = read(path)
        counted = count_strings(found)
        assert counted.alphabet == whole(path).alphabet or suffix == ".fasta"
        assert (counted.classes, counted.source) == (whole(path).classes, whole(path).source)
        made = CondensationOnDisk(Condensation(**how), counted, 10**9)
        made.fit_transform(lambda: found, lambda *_: None)
        pseudo = [made.pseudo_]
        made.draw_without(fingerprint_originals(refused))
        pseudo.append(made.pseudo_)
        texts = [p.strings.take(np.arange(len(p.strings))) for p in pseudo]
    for name in ("labels_", "suppressed_"):
        assert np.array_equal(getattr(made, name), getattr(held, name))
    for name in ("n_groups_", "nearness_", "segments_", "n_rare_symbols_", "n_rare_places_"):
        assert getattr(made, name) == getattr(held, name), name
    for ours, theirs, some in zip(pseudo, again, texts, strict=True):
        assert some.texts() == theirs.strings.texts()
        assert (some.alphabet, some.classes) == (theirs.strings.alphabet, theirs.strings.classes)
        assert (some.labels is None) == (theirs.strings.labels is None)
        assert some.labels is None or np.array_equal(some.labels, theirs.strings.labels)
        assert np.array_equal(ours.groups, theirs.groups)
        assert (ours.n_rejected, ours.n_dropped) == (theirs.n_rejected, theirs.n_dropped)


def condense(path: Path, n_bytes: int = 10**9, at_once: int = 100, **asked: Any) -> None:
    found = read(path)
    with patch.object(on_disk, "SYMBOLS_AT_ONCE", at_once), patch.object(ragged_rows, "ENTRIES_OF_A_RANGE", at_once):
        condensation = CondensationOnDisk(Condensation(**{"k": 12, "seed": 1} | asked), count_strings(found), n_bytes)
        condensation.fit_transform(lambda: found, lambda *_: None)


def test_what_does_not_fit_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = put(tmp_path / "strings.dat")
    for n_bytes in (5_000, 20_000, 80_000):
        with pytest.raises(Infeasible, match="not fit into the bound: raise memory or leave it out"):
            condense(path, n_bytes)
    with (
        patch.object(in_blocks, "BYTES_A_PAIR", 10**6),
        pytest.raises(Infeasible, match="different pairs of symbols, which do not fit"),
    ):
        condense(put(tmp_path / "many.dat", n=900, n_symbols=300), rare=1)
    with pytest.raises(Infeasible, match="fewer than k = 5,000"):
        condense(path, k=5000)
    with pytest.raises(Infeasible, match="no symbol is held by 600 strings"):
        condense(path, rare=600)


def test_a_file_that_changes_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "strings.dat")
    found = read(path)
    condensation = CondensationOnDisk(Condensation(k=12), count_strings(found), 10**9)
    text = path.read_text()
    for other in (text + "p1\n", text[: len(text) // 2].rpartition("\n")[0], text.replace("p3", "q3")):
        path.write_text(other)
        with pytest.raises(DataError, match="changed while they were read"):
            condensation.fit_transform(lambda: found, lambda *_: None)
