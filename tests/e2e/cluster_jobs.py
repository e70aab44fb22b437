"""Jobs for the cluster test, in a module of their own so that the workers can import them."""

from __future__ import annotations

import os
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import Infeasible


def draw(values: np.ndarray, seed: np.random.SeedSequence) -> np.ndarray:
    return values + np.random.default_rng(seed).normal(size=len(values))


def tell_process(value: int, folder: str, pause: float, n_processes: int = 1) -> int:
    """Note the process, wait until as many have done so, then stay for a while."""
    (Path(folder) / str(os.getpid())).touch()
    while len(os.listdir(folder)) < n_processes:
        time.sleep(0.01)
    time.sleep(pause)
    return value * value


def refuse(value: int) -> int:
    raise Infeasible(f"block {value} cannot be done")


def die_away_from(home: int, value: int) -> int:
    if os.getpid() != home:
        os._exit(1)
    return value


def die_once(home: int, marker: str, module: str, name: str, *block: Any) -> Any:
    """End the worker that comes first to a job of Shoal's; later ones find the marker, and do it."""
    assert os.getpid() != home or Path(marker).exists(), "the job was given to no worker"
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        home_of_job = import_module(module)
        return getattr(home_of_job, f"{name}_itself", getattr(home_of_job, name))(*block)
    os._exit(1)
