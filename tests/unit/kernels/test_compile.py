"""Kernels are compiled also where nothing can be kept."""

from __future__ import annotations

import numba
import pytest

from shoal.kernels.compile import compiled


def add(a: int, b: int) -> int:
    return a + b


def test_without_a_place_for_the_cache_kernels_still_run(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = numba.njit

    def njit(**options: bool):
        if options.get("cache"):
            raise RuntimeError("cannot cache function")
        return honest(**options)

    monkeypatch.setattr(numba, "njit", njit)
    kernel = compiled(add)
    assert kernel(2, 3) == 5
    assert kernel.py_func is add  # type: ignore[attr-defined]
