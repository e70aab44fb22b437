"""Kernels are compiled also where nothing can be kept."""

from __future__ import annotations

import subprocess
import sys

import numba
import pytest

from shoal.kernels.compile import compiled


def add(a: int, b: int) -> int:
    return a + b


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


COMMAND = """
import sys
from shoal import lazy
lazy.is_alone = True
import shoal.kernels.compile
print(sorted(name for name in sys.modules if name.startswith("scipy.linalg")))
import scipy.linalg.cython_blas
print(scipy.linalg.cython_blas.__file__ is not None)
"""


def test_a_command_does_not_load_scipy_with_its_first_kernel_and_can_later() -> None:
    pytest.importorskip("scipy")
    done = subprocess.run([sys.executable, "-c", COMMAND], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["[]", "True", ""]
