"""The tests of `sparse/stream.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.errors import DataError, PolicyError
from shoal.sparse.content_order import published_order
from shoal.sparse.signs import new_key
from shoal.sparse.sketch import sketch_records
from shoal.sparse.stream import join_sketches, sketch_blocks
from tests.unit.sparse.random_records import draw

KEY = new_key(1)


def test_blocks_equal_the_whole():
    records = draw(kind="counts")
    counts = np.arange(60)
    whole = sketch_records(records, counts, KEY)
    parts = [records.take(np.arange(at, at + 20)) for at in (0, 20, 40)]
    # Blocks have items of their own.
    used = np.unique(parts[1].items)
    parts[1] = replace(
        parts[1],
        names=tuple(records.names[i] for i in used),
        items=np.searchsorted(used, parts[1].items).astype(np.int32),
    )
    taken = iter(np.split(counts, 3))
    made = list(sketch_blocks(iter(parts), lambda block: next(taken), KEY))
    assert np.concatenate([s.components for s in made]).tobytes() == whole.components.tobytes()


def test_blocks_of_reals_need_one_step():
    records = draw(kind="reals")
    with pytest.raises(PolicyError, match="one step"):
        next(sketch_blocks([records], lambda block: np.ones(60, np.int64), KEY))


def test_blocks_joined_are_what_all_records_at_once_give() -> None:
    records = draw(kind="counts").with_labels([f"c{i % 3}" for i in range(60)])
    counts = np.arange(60) % 5
    whole = sketch_records(records, counts, KEY)
    whole = whole.take(np.flatnonzero(counts))
    whole = whole.take(published_order(whole))
    parts = [np.arange(0, 7), np.arange(7, 40), np.arange(40, 60)]
    blocks = [records.take(rows) for rows in parts]
    numbers = iter([counts[rows] for rows in parts])
    joined = join_sketches(sketch_blocks(blocks, lambda _: next(numbers), KEY))
    assert joined.starts.tolist() == whole.starts.tolist()
    assert joined.components.tolist() == whole.components.tolist()
    assert [joined.classes[c] for c in joined.labels] == [whole.classes[c] for c in whole.labels]


def test_blocks_that_do_not_fit_are_not_joined() -> None:
    records = draw(kind="sets")
    one = sketch_records(records, np.full(60, 2), KEY)
    with pytest.raises(DataError, match="nothing to publish"):
        join_sketches([sketch_records(records, np.zeros(60, np.int64), KEY)])
    with pytest.raises(DataError, match="do not agree"):
        join_sketches([one, replace(one, step=2.0)])
