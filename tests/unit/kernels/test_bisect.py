"""A value in a sorted array, beside NumPy's search."""

from bisect import bisect_left

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.bisect import first_not_below
from shoal.kernels.compile import interpreted

numbers = st.integers(0, 20)


@given(st.lists(numbers).map(sorted), numbers, st.data())
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.uint64])
def test_as_the_standard_library(dtype: type, ascending: list[int], value: int, data: st.DataObject) -> None:
    low = data.draw(st.integers(0, len(ascending)))
    high = data.draw(st.integers(low, len(ascending)))
    for is_small in (False, True):
        with interpreted(is_small):
            found = first_not_below(np.array(ascending, dtype), low, high, dtype(value))
        assert found == bisect_left(ascending, value, low, high)
