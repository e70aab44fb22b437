"""Jobs for the tests of the engine, in a module of their own so that worker processes can import them."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np

from shoal.errors import Infeasible

HOME = os.getpid()


def draw(values: np.ndarray, seed: np.random.SeedSequence) -> np.ndarray:
    return values + np.random.default_rng(seed).normal(size=len(values))


def square(value: int, pause: float = 0.0) -> int:
    time.sleep(pause)
    return value * value


def refuse(value: int, pause: float = 0.0) -> int:
    time.sleep(pause)
    if value >= 3:
        raise Infeasible(f"block {value} cannot be done")
    return value


def interrupt(value: int) -> int:
    if value == 3:
        raise KeyboardInterrupt
    return value


def die_once(value: int, marker: str, how: str) -> int:
    """Kill the worker that comes first; later runs find the marker and live."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return value * value
    if how == "exit":
        os._exit(1)
    os.kill(os.getpid(), signal.SIGKILL)
    return -1


def die_away_from(home: int, shortage: bool) -> int:
    """Kill every worker; at home, run out of memory or not."""
    if os.getpid() != home:
        os._exit(1)
    if shortage:
        raise MemoryError
    return 1


def linger(folder: str) -> None:
    """Note the process, then stay for long."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(60)


def name_thread(_: int) -> str:
    return threading.current_thread().name


class Unpicklable(Exception):
    def __init__(self, first: int, second: int) -> None:
        super().__init__("does not survive a pickle")


def raise_unpicklable() -> None:
    raise Unpicklable(1, 2)
