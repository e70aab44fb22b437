"""Blocks on a Ray cluster: an executor whose calls are Ray's tasks."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

from shoal._version import __version__
from shoal.engine.executors import CONNECT_SECONDS, Crew, own_version
from shoal.errors import MissingExtra, ShoalError

T = TypeVar("T")
SCHEME = "ray:"
LOCAL = "local"
_LOOPBACK = ("127.0.0.1", "::1")
_NO_PAGES: tuple[dict[str, Any], ...] = ({}, {"include_dashboard": False})
_QUIET: dict[str, Any] = {"log_to_driver": False, "configure_logging": False, "logging_level": "ERROR"}


class RayExecutor(Executor):
    """Calls as tasks of Ray, each of which is tried once: what a lost worker had is run anew by `run_blocks`."""

    def __init__(self, ray: Any) -> None:
        self._run = ray.remote(max_retries=0)(_call)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Make a task of a call."""
        future: Future[T] = self._run.remote(fn, args, kwargs).future()
        return future


def _call(fn: Callable[..., T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> T:
    return fn(*args, **kwargs)


@contextmanager
def on_ray(address: str) -> Iterator[Crew]:
    """Connect to a Ray cluster, see that it has this version of Shoal, and leave it when all is done.

    Parameters
    ----------
    address : str
        ``ray:10.0.0.5:6379``, where Ray's head node listens; ``ray://10.0.0.5:10001`` for its client server;
        ``ray:auto``, the cluster that this machine is part of; or ``ray:local``, workers of this machine, which are
        started, listen to nobody else, and are ended.

    Notes
    -----
    Ray reports how it is used to its makers unless it is told not to: it is told not to.
    """
    place = address.removeprefix(SCHEME)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if place == LOCAL:
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # Ray's name for listening to this machine alone
    try:
        ray = import_module("ray")
    except ImportError:
        raise MissingExtra(f'running on {address} needs Ray; install it with: pip install "shoal[ray]"') from None
    if ray.is_initialized():
        raise ShoalError("this process is connected to a Ray cluster already; call ray.shutdown() before")
    try:
        _knock(place)
        ray.init(address=address if place.startswith("//") else place, **_QUIET, **_NO_PAGES[place == LOCAL])
    except Exception:  # each way of not being there has its own kind
        ray.shutdown()
        raise ShoalError(
            f"the Ray cluster at {place} does not answer; start `ray start --head` there or check the address"
        ) from None
    try:
        if place == LOCAL and any(node["NodeManagerAddress"] not in _LOOPBACK for node in ray.nodes()):
            raise ShoalError("Ray would listen to other machines, as it was imported before; start Python anew")
        executor = RayExecutor(ray)
        _greet(executor, place)
        yield Crew(executor, max(1, int(ray.cluster_resources().get("CPU", 1))), lambda: not _is_alive(ray))
    finally:
        ray.shutdown()


def _knock(place: str) -> None:
    """See that somebody listens; Ray itself tries for minutes, and says so on and on."""
    host, between, port = place.removeprefix("//").rpartition(":")
    if between:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()


def _greet(executor: Executor, place: str) -> None:
    try:
        theirs = executor.submit(own_version).result()
    except Exception:  # whatever keeps a worker from importing the package
        raise ShoalError(
            f"the Ray cluster at {place} cannot load Shoal; install version {__version__} on all its machines"
        ) from None
    if theirs != __version__:
        raise ShoalError(
            f"the Ray cluster at {place} has Shoal {theirs}, this machine {__version__}; make them the same"
        )


def _is_alive(ray: Any) -> bool:
    try:
        return any(node["Alive"] for node in ray.nodes())
    except Exception:  # the head node is gone, in whatever way
        return False
