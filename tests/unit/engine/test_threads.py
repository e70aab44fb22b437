"""Context variables go along with each call, as they stand when it is handed over."""

from __future__ import annotations

from contextvars import ContextVar

from shoal.engine.threads import Threads
from shoal.kernels.compile import Kernel, interpreted

NUMBER: ContextVar[int] = ContextVar("number", default=0)


def test_a_call_sees_what_its_caller_sees() -> None:
    with Threads(2) as threads:
        before = threads.submit(NUMBER.get)
        token = NUMBER.set(7)
        during = [threads.submit(NUMBER.get), *map(threads.submit, [NUMBER.get] * 3)]
        NUMBER.reset(token)
        assert before.result() == 0
        assert [call.result() for call in during] == [7] * 4
        assert list(threads.map(lambda more: NUMBER.get() + more, [1, 2])) == [1, 2]


def test_loops_are_interpreted_on_threads_too() -> None:
    kernel = Kernel(lambda: "compiled", twin=lambda: "interpreted")
    with Threads(1) as threads, interpreted(True):
        assert threads.submit(kernel).result() == "interpreted"
