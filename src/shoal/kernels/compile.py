"""The decorator of all compiled loops: cached on disk where that is possible, and never a reason to fail.

To compile the loops of one method takes longer than to interpret them on some hundred records. So a loop is compiled
when it is first called, and inside `interpreted` it is not compiled at all: it is then the Python function that it was
written as, and numba is not even imported. Both ways give the same numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, update_wrapper
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, TypeVar, cast

import numpy as np

from shoal import lazy
from shoal.kernels.compile_time import watch_compiler

F = TypeVar("F", bound=Callable[..., Any])


_OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}  # nobody calls a kernel from C
_KEPT: dict[str, Any] = {"cache": True}
_INNER: dict[str, Any] = {"no_cpython_wrapper": True}
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


_is_interpreted: ContextVar[bool | None] = ContextVar("is_interpreted", default=None)


@contextmanager
def interpreted(is_small: bool) -> Iterator[None]:
    """Interpret kernels that are called in here, instead of compiling them, if the data is small.

    Who makes many releases, or has millions of steps to do, says that it is not: what is called in there cannot say
    otherwise. Apart from that only the data may decide, never what was compiled before: the same data then always goes
    the same way. Compiled loops let whole numbers wrap around in silence, and infinities cancel (the bounds of an empty
    box), so interpreted ones do not warn of it.
    """
    is_small = is_small and _is_interpreted.get() is not False
    before = _is_interpreted.set(is_small)
    try:
        with np.errstate(over="ignore" if is_small else None, invalid="ignore" if is_small else None):
            yield
    finally:
        _is_interpreted.reset(before)


def is_interpreting() -> bool:
    """Whether kernels that are called now are interpreted."""
    return bool(_is_interpreted.get())


class Kernel:
    """A loop over arrays, compiled on its first call; it then runs without the interpreter lock.

    Other kernels may call it, whichever way they run themselves.
    """

    __name__: str
    __module__: str

    def __init__(self, function: Callable[..., Any], twin: Callable[..., Any] | None = None) -> None:
        self.py_func = function
        self._interpreted = twin or function
        update_wrapper(self, function)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Run it."""
        return (self._interpreted if _is_interpreted.get() else self._compiled)(*args, **options)

    @cached_property
    def _compiled(self) -> Any:
        """What numba makes of it.

        Numba refuses to set up its cache where neither the package's folder nor a home can be written (a read-only
        install in a container). The kernel is then compiled anew in each process.
        """
        if lazy.is_alone:
            _import_without_blas()
        import numba

        watch_compiler()
        try:
            return numba.njit(**_OPTIONS, **_KEPT)(self.py_func)
        except RuntimeError:
            return numba.njit(**_OPTIONS)(self.py_func)

    @cached_property
    def _inner(self) -> Any:
        """What numba makes of it for other kernels, in two thirds of the time: without ways in from Python and from C.

        Not kept on disk, where it would be taken for what can be called; the kernel that calls it is kept whole.
        """
        import numba

        return numba.njit(**_OPTIONS, **_INNER)(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for where a compiled kernel calls it."""
        return (self._compiled if "_compiled" in vars(self) else self._inner)._numba_type_

    def __reduce__(self) -> str:
        """Pickled by its name, like the function that it was written as."""
        return self.__name__


def compiled(function: F) -> F:
    """Make a kernel of a function."""
    return cast(F, Kernel(function))


def compiled_beside(twin: F) -> Callable[[F], F]:
    """Make a kernel of a function, which is the given one where kernels are interpreted."""
    return lambda function: cast(F, Kernel(function, twin))


def compiled_by_element(function: F) -> F:
    """Make a kernel of a function that only reads and writes single elements of the arrays that it is given.

    Where kernels are interpreted it gets them as views whose elements are Python's own numbers: numpy's are several
    times as slow. It must not divide by zero, which Python's own numbers refuse.
    """

    def by_element(*args: Any, **options: Any) -> Any:
        return function(*(a.data if isinstance(a, np.ndarray) else a for a in args), **options)

    return cast(F, Kernel(function, by_element))
