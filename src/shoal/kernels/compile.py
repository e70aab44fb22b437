"""The decorator of all compiled loops: cached on disk where that is possible, and never a reason to fail."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numba

from shoal import lazy

F = TypeVar("F", bound=Callable[..., Any])


_BLAS = ("scipy.linalg", "scipy.linalg.cython_blas")


def _import_without_blas() -> None:
    """Import what numba looks for scipy in, without loading all of its algebra.

    Numba only wants to know whether it is there. A kernel that multiplies matrices, as none of ours does, loads it when
    it is compiled, as ever.
    """
    if any(name in sys.modules for name in _BLAS) or find_spec("scipy") is None:
        return
    sys.modules.update({name: ModuleType(name) for name in _BLAS})
    try:
        import_module("numba.np.arraymath")
    except ImportError:  # of another version of numba: then it is loaded later
        pass
    finally:
        for name in _BLAS:
            sys.modules.pop(name, None)


if lazy.is_alone:
    _import_without_blas()


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
