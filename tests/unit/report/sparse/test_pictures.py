"""The tests of `report/sparse/pictures.py`."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from shoal.report.sparse import pictures


@pytest.mark.parametrize("counts", [[5], [5, 5, 6], [1, 100_000], list(range(1, 90))])
def test_pictures_of_any_numbers_of_components(counts: list[int]) -> None:
    given = np.array(counts, dtype=np.int64)
    told = pictures.components_picture(given, "components")
    assert sum(told["shares"]) == pytest.approx(1)
    assert ET.fromstring(pictures.components(given, "components")) is not None


@pytest.mark.parametrize("true", [[0.0], [0.0, 0.0], [0.5, -2.0, 7.0], list(np.linspace(0, 9, 500))])
def test_every_product_is_a_point(true: list[float]) -> None:
    svg = pictures.product_scatter(true, [t + 1 for t in true], [0.5] * len(true), "products")
    assert svg.count("<circle") == len(true)
    assert "nan" not in svg
