"""The tests of `check/slices/boxes.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.slices.boxes import Boxes, CheckedBoxes, bin_of, span_masks


@pytest.mark.parametrize("n_values", [3, 63, 64, 500])
def test_masks_leave_out_nothing(n_values):
    rng = np.random.default_rng(n_values)
    low, high = np.sort(rng.integers(n_values + 1, size=(2, 200)), axis=0)
    masks = span_masks(low, high, n_values)
    for a, b, mask in zip(low, high, masks, strict=True):
        bits = np.uint64(1) << bin_of(np.arange(n_values + 1), n_values)
        inside = (bits & mask) != 0
        assert inside[a : b + 1].all()
        if n_values < 64:
            assert inside.sum() == b - a + 1
    assert (span_masks(np.array([2]), np.array([1]), n_values) == 0).all()


@pytest.mark.parametrize("n_boxes", [1, 3, 5, 40, 1000])
def test_the_index_finds_what_a_loop_finds(n_boxes):
    rng = np.random.default_rng(n_boxes)
    low = rng.integers(0, 30, size=(3, n_boxes))
    high = low + rng.integers(-1, 12, size=(3, n_boxes))
    points = rng.integers(0, 40, size=(3, 50))
    wide = np.where(rng.random((3, 50)) < 0.1, 40, points)

    def boxes(a, b):
        masks = np.array([span_masks(x, y, 45) for x, y in zip(a, b, strict=True)])
        return Boxes(a.astype(np.int32), b.astype(np.int32), masks)

    asked = boxes(np.where(wide == 40, 0, points), np.where(wide == 40, 45, points))
    found = {
        (int(q), int(b))
        for qs, bs in CheckedBoxes(boxes(low, high), asked).meets(asked)
        for q, b in zip(qs, bs, strict=True)
    }
    expected = {
        (q, b)
        for q in range(50)
        for b in range(n_boxes)
        if all(
            low[d, b] <= asked.high[d, q] and asked.low[d, q] <= high[d, b] and low[d, b] <= high[d, b]
            for d in range(3)
        )
    }
    assert found == expected
