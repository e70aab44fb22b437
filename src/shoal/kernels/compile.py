"""The decorator of all compiled loops: cached on disk where that is possible, and never a reason to fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a kernel on its first call; it runs without the interpreter lock.

    Numba refuses to set up its cache, at import, where neither the package's folder nor a home can be written (a
    read-only install in a container). The kernel is then compiled anew in each process.
    """
    try:
        return cast(F, numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:
        return cast(F, numba.njit(nogil=True)(function))


def has_compiled() -> bool:
    """Whether kernels were compiled before and kept beside the package; if not, a first call takes some seconds."""
    return any(Path(__file__).parent.rglob("*.nbi"))
