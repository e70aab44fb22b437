"""What is counted block by block is what is counted of all strings."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from shoal.data.strings import blocks
from shoal.data.strings.files import read_strings, string_blocks
from shoal.errors import DataError
from shoal.kinds.strings.policy import StringInput
from shoal.strings.condense import canonical_order
from shoal.strings.counts import count_strings


def count(path: Path, n_bytes: int, **options: object) -> object:
    with patch.object(blocks, "BYTES_AT_ONCE", n_bytes):
        return count_strings(string_blocks(path, **StringInput(**options).model_dump()).settled())


@pytest.mark.parametrize("n_bytes", [10, 300, 1 << 20])
@pytest.mark.parametrize("kind", ["classes", "some classes", "plain", "tokens"])
def test_counts_are_those_of_all_strings(tmp_path: Path, kind: str, n_bytes: int) -> None:
    rng, lines = np.random.default_rng(1), []
    for i in range(90):
        letters = "".join(rng.choice(list("acGT"), rng.integers(0, 9)))
        if kind == "tokens":
            lines.append(
                ",".join(f"t{s}" for s in rng.integers(0, 9, rng.integers(0, 9))) + ",x" * (i % 3) + "," * (i % 2)
            )
        else:
            name = "" if kind == "plain" or (kind == "some classes" and i == 60) else f" class=c{i % 3}"
            lines.append(f">pseudo_{i:06d}{name}\n{letters}")
    path = tmp_path / "strings.txt"
    path.write_text("\n".join(lines) + "\n")
    options = {"format": "tokens", "delimiter": ","} if kind == "tokens" else {}
    counted, whole = count(path, n_bytes, **options), read_strings(path, **options)
    assert counted.source == whole.source
    assert counted.classes == whole.classes
    assert (counted.labels is None) == (whole.labels is None)
    assert whole.labels is None or counted.labels.tolist() == whole.labels.tolist()
    assert counted.lengths.tolist() == whole.lengths.tolist()
    assert counted.canonical_order.tolist() == canonical_order(whole).tolist()
    labels = np.zeros(90, int) if whole.labels is None else whole.labels
    for label in range(len(counted.holders)):
        rows = np.flatnonzero(labels == label)
        for symbol, n in zip(counted.alphabet, counted.holders[label], strict=True):
            assert n == sum(symbol in set(text) for text in whole.take(rows).texts())
    again = counted.numbered(whole)
    assert (again.texts(), again.classes) == (whole.texts(), whole.classes)


def test_a_symbol_that_was_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "strings.txt"
    path.write_text("a b\n")
    counted = count(path, 100, format="tokens")
    path.write_text("a c\n")
    with pytest.raises(DataError, match="changed while they were read"):
        counted.numbered(read_strings(path, format="tokens"))
