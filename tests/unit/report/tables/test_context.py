"""The tests of `report/tables/context.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from shoal.report.tables.context import ReportContext

Make = Callable[..., Any]


def test_context_is_frozen(make_release: Make) -> None:
    context: ReportContext = make_release()[0]
    with pytest.raises(AttributeError):
        context.title = "other"  # type: ignore[misc]
