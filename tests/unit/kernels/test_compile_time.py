"""Compiling is timed apart from what is compiled."""

from __future__ import annotations

from threading import Thread

import numpy as np

from shoal.kernels.compile import Kernel, interpreted
from shoal.kernels.compile_time import (
    is_compiling,
    seconds_compiled_here,
    seconds_compiling,
    when_compiling_changes,
)


def fresh() -> Kernel:
    """A kernel that is compiled anew in every run: numba keeps none that has no file."""
    return Kernel(eval("lambda numbers: 2.0 * numbers.sum()"))


def test_only_the_first_call_of_a_compiled_kernel_takes_compile_time() -> None:
    kernel, seen = fresh(), []
    before = seconds_compiling()
    with interpreted(True):
        assert kernel(np.ones(3)) == 6.0
    assert seconds_compiling() == before
    with when_compiling_changes(lambda: seen.append(is_compiling())):
        assert kernel(np.ones(3)) == 6.0
    after = seconds_compiling()
    assert after > before
    assert seen[:2] == [True, False]
    assert not is_compiling()
    assert kernel(np.ones(5)) == 10.0
    assert seconds_compiling() == after


def test_what_another_thread_compiles_is_not_counted_here() -> None:
    kernel, here, everywhere = fresh(), seconds_compiled_here(), seconds_compiling()
    other = Thread(target=kernel, args=(np.ones(3),))
    other.start()
    other.join()
    assert seconds_compiled_here() == here
    assert seconds_compiling() > everywhere
