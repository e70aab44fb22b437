"""Kernels are compiled also where nothing can be kept, and interpreted where there is little to do."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numba
import numpy as np
import pytest

from shoal.kernels.compile import Kernel, compiled, compiled_by_element, interpreted


def add(a: int, b: int) -> int:
    return a + b


@compiled
def turned(word: np.uint64) -> np.uint64:
    """Wraps around."""
    return word * np.uint64(0x9E3779B97F4A7C15)


@compiled
def turned_often(word: np.uint64, n: int) -> np.uint64:
    """A kernel that calls another."""
    for _ in range(n):
        word = turned(word) ^ (word >> np.uint64(7))
    return word


def test_without_a_place_for_the_cache_kernels_still_run(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = numba.njit
    honest(add)(2, 3)  # loads what numba itself compiles

    def njit(**options: bool):
        if options.get("cache"):
            raise RuntimeError("cannot cache function")
        return honest(**options)

    monkeypatch.setattr(numba, "njit", njit)
    kernel = compiled(add)
    assert kernel(2, 3) == 5
    assert kernel.py_func is add  # type: ignore[attr-defined]


def test_interpreted_and_compiled_kernels_agree_and_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with interpreted(True):
            slow = turned_often(np.uint64(12345), 20)
        assert turned_often(np.uint64(12345), 20) == slow


def test_only_small_work_is_interpreted() -> None:
    kernel = Kernel(lambda: sys._getframe().f_back.f_code.co_name)  # type: ignore[union-attr]
    with interpreted(True):
        assert kernel() == "__call__"
        assert "_compiled" not in vars(kernel)
        with interpreted(False):
            assert turned(np.uint64(1)) == 0x9E3779B97F4A7C15
        assert kernel() == "__call__"
    assert "_compiled" not in vars(kernel)
    with interpreted(False), interpreted(True):  # who has much to do is not overruled
        assert turned(np.uint64(1)) == 0x9E3779B97F4A7C15
        with interpreted(True):
            turned_often(np.uint64(1), 2)
    assert "_compiled" in vars(turned_often)


@compiled_by_element
def halve(values, times: int) -> float:
    total = 0.0
    for _ in range(times):
        for i in range(len(values)):
            for j in range(values.shape[1]):
                values[i, j] /= 2.0
                total += values[i, j]
    return total


def test_elements_are_pythons_own_numbers_where_they_are_interpreted() -> None:
    values, others = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    with interpreted(True):
        total = halve(values, 3)
    assert type(total) is float
    assert total == halve(others, 3)
    assert values.tolist() == others.tolist()


def test_a_kernel_is_pickled_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(turned_often)) is turned_often


COMMAND = """
import sys
from shoal import lazy
lazy.is_alone = True
from shoal.kernels.tables.curve import curve_order
print("numba" in sys.modules)
import numpy as np
curve_order(np.arange(6.0).reshape(3, 2), np.eye(2), 0.0)
print(sorted(name for name in sys.modules if name.startswith("scipy.linalg")))
import scipy.linalg.cython_blas
print(scipy.linalg.cython_blas.__file__ is not None)
"""


def test_a_command_does_not_load_scipy_with_its_first_kernel_and_can_later() -> None:
    pytest.importorskip("scipy")
    done = subprocess.run([sys.executable, "-c", COMMAND], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["False", "[]", "True", ""]
