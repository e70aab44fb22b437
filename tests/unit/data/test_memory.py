"""What was said of memory holds where it was said, and innermost first."""

from __future__ import annotations

import pytest

from shoal.data.memory import bound, bounded


def test_a_bound_holds_inside_alone_and_none_leaves_it() -> None:
    assert bound() is None
    with bounded(600_000_000):
        with bounded(None):
            assert bound() == 600_000_000
        with bounded(500_000_000):
            assert bound() == 500_000_000
        assert bound() == 600_000_000
        with pytest.raises(KeyError), bounded(700_000_000):
            raise KeyError
        assert bound() == 600_000_000
    assert bound() is None
