"""Threads that work as whoever gives them the work does: with its bounds, and interpreting loops where it does."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")


class Threads(ThreadPoolExecutor):
    """A pool of threads to which context variables go along with each call; the standard one's have none of them."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Hand the call to a thread."""
        return super().submit(copy_context().run, fn, *args, **kwargs)
