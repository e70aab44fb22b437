"""Where blocks run: in this thread, on threads or processes of this machine, or on a cluster."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Literal, TypeVar

from shoal._version import __version__
from shoal.engine.threads import Threads
from shoal.errors import MissingExtra, PolicyError, ShoalError

T = TypeVar("T")
Pool = Literal["threads", "processes"]

CONNECT_SECONDS = 10.0
LOST_SECONDS = 10.0


class Crew(Executor):
    """An executor that also knows how many blocks it works on at once and whether it can still finish them.

    Parameters
    ----------
    executor : Executor
        What does the work.
    n_workers : int
        How many blocks it works on at once.
    is_lost : callable, optional
        Asked when nothing has come back for a while: whether nothing ever will.
    """

    def __init__(self, executor: Executor, n_workers: int, is_lost: Callable[[], bool] | None = None) -> None:
        self.executor = executor
        self.n_workers = n_workers
        self.is_lost = is_lost or (lambda: False)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Hand the call to the executor."""
        return self.executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut the executor down."""
        if cancel_futures:
            self.executor.shutdown(wait=wait, cancel_futures=True)
        else:
            self.executor.shutdown(wait=wait)


@contextmanager
def open_executor(workers: int = 1, pool: Pool = "threads", cluster: str | None = None) -> Iterator[Executor | None]:
    """Open what `run_blocks` runs on, and leave nothing running behind it.

    Parameters
    ----------
    workers : int, default 1
        How many blocks at once on this machine; 1 needs no executor and gives None.
    pool : {"threads", "processes"}, default "threads"
        Compiled kernels run side by side on threads; Python code needs processes. These are started anew
        ("spawn"), since numba's threads do not survive a fork, so a script that uses them keeps its work
        under ``if __name__ == "__main__":``.
    cluster : str, optional
        Address of a dask.distributed scheduler, such as ``tcp://10.0.0.5:8786``; `workers` and `pool` then
        count for nothing. Scheduler and workers need the same version of Shoal as this machine. The blocks,
        which are original data, travel to them: give a ``tls://`` address wherever others share the network.
        Or of a Ray cluster, after ``ray:``; see `shoal.engine.on_ray`.

    Yields
    ------
    Executor or None
        None means: run here, in this thread.

    Notes
    -----
    An error or a keyboard interrupt inside the block cancels what has not begun. Processes are ended at once;
    threads finish the block that they are at, as a thread cannot be stopped.
    """
    kept, asked = _kept.get(), (workers, pool, cluster)
    if kept is None:
        with _opened(*asked) as executor:
            yield executor
        return
    if asked not in kept.opened:
        kept.opened[asked] = kept.stack.enter_context(_opened(*asked))
    yield kept.opened[asked]


@dataclass
class _Kept:
    """Executors that stay open after the block that needed them first."""

    stack: ExitStack
    opened: dict[tuple[int, Pool, str | None], Executor | None] = field(default_factory=dict)


_kept: ContextVar[_Kept | None] = ContextVar("kept", default=None)


@contextmanager
def executors_kept() -> Iterator[None]:
    """Open each executor once for all that is done in here, and close it at the end."""
    if _kept.get() is not None:
        yield
        return
    with ExitStack() as stack:
        before = _kept.set(_Kept(stack))
        try:
            yield
        finally:
            _kept.reset(before)


@contextmanager
def _opened(workers: int, pool: Pool, cluster: str | None) -> Iterator[Executor | None]:
    if workers < 1:
        raise PolicyError(f"workers = {workers} cannot work; give 1 or more")
    if cluster is not None:
        with _on_cluster(cluster) as crew:
            yield crew
    elif workers == 1:
        yield None
    elif pool == "threads":
        threads = Threads(workers, thread_name_prefix="shoal")
        try:
            yield Crew(threads, workers)
        finally:
            threads.shutdown(wait=True, cancel_futures=True)
    elif pool == "processes":
        with _on_processes(workers) as crew:
            yield crew
    else:
        raise PolicyError(f"there is no pool {pool!r}; the choices are 'threads', 'processes'")


class _CountedSpawn(SpawnContext):
    """The spawn start method, remembering what it started: a pool has no public way to end its processes."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[SpawnProcess] = []

    def Process(self, *args: Any, **kwargs: Any) -> SpawnProcess:  # type: ignore[override]  # a class there
        """Start one more worker."""
        process = SpawnProcess(*args, **kwargs)
        self.started.append(process)
        return process

    def end(self) -> None:
        """End all workers, at whatever they are."""
        for process in self.started:
            if process.is_alive():
                process.terminate()
        for process in self.started:
            process.join(timeout=5)
            if process.is_alive():
                process.kill()


def _serve_the_parent() -> None:
    # A Ctrl-C reaches the whole process group; only the parent is to answer it, and it ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    """Workers of a parent that was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _on_processes(workers: int) -> Iterator[Crew]:
    context = _CountedSpawn()
    processes = ProcessPoolExecutor(workers, mp_context=context, initializer=_serve_the_parent)
    try:
        yield Crew(processes, workers)
    except BaseException:
        _drop_waiting(processes)
        context.end()
        raise
    finally:
        processes.shutdown(wait=True, cancel_futures=True)


def _drop_waiting(processes: ProcessPoolExecutor) -> None:
    """Make the pool forget cancelled calls: until Python 3.12 it stumbles over them when its processes end.

    It looks through its calls in order, so when it has come to one more call, it is through with the others.
    """
    try:
        last = processes.submit(int)
    except RuntimeError:  # broken already
        return
    processes.shutdown(wait=False, cancel_futures=True)
    until = time.monotonic() + 2
    while not (last.running() or last.done()) and time.monotonic() < until:
        time.sleep(0.01)


def own_version() -> str:
    """The version that a worker runs, asked there."""
    return __version__


def _on_cluster(address: str) -> AbstractContextManager[Crew]:
    if address.startswith("ray:"):
        from shoal.engine.on_ray import on_ray

        return on_ray(address)
    return _on_dask(address)


@contextmanager
def _on_dask(address: str) -> Iterator[Crew]:
    try:
        dask, distributed = import_module("dask"), import_module("distributed")
    except ImportError:
        raise MissingExtra(
            'running on a cluster needs dask.distributed; install it with: pip install "shoal[distributed]"'
        ) from None
    client = _connect(distributed, address)
    try:
        n_workers = _greet(distributed, client, address)
        # Blocks travel inside the task, which dask takes for a mistake above 10 MB.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            yield Crew(client.get_executor(pure=False), n_workers, _watch(client))
    finally:
        client.close(timeout=CONNECT_SECONDS)


def _connect(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception:  # each transport raises its own kind
        pass
    # The half-made client closes itself when it is collected. Left to chance, that can be in the thread of
    # the next client, which then waits for a lock that is held until the thread has started.
    gc.collect()
    raise ShoalError(f"the cluster at {address} does not answer; start `dask scheduler` there or check the address")


def _greet(distributed: Any, client: Any, address: str) -> int:
    """Wait for a worker, see that all run this version of Shoal, and count their threads."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except distributed.TimeoutError:  # a class of its own before Python 3.11
        raise ShoalError(f"the cluster at {address} has no workers; start some with `dask worker {address}`") from None
    try:
        versions = {client.run_on_scheduler(own_version), *client.run(own_version).values()}
    except Exception:  # whatever keeps a worker from importing the package
        raise ShoalError(
            f"the cluster at {address} cannot load Shoal; install version {__version__} on all its machines"
        ) from None
    if versions != {__version__}:
        others = ", ".join(sorted(versions - {__version__}))
        raise ShoalError(f"the cluster at {address} has Shoal {others}, this machine {__version__}; make them the same")
    return max(1, int(sum(client.nthreads().values())))


def _watch(client: Any) -> Callable[[], bool]:
    """Tell when a cluster has been without workers or scheduler for too long; dask would wait for ever."""
    trouble_since: float | None = None

    def is_lost() -> bool:
        nonlocal trouble_since
        try:
            is_well = client.status == "running" and bool(client.nthreads())
        except Exception:  # the scheduler does not answer, in whatever way
            is_well = False
        if is_well:
            trouble_since = None
            return False
        trouble_since = trouble_since or time.monotonic()
        return client.status == "closed" or time.monotonic() - trouble_since >= LOST_SECONDS

    return is_lost


def count_workers(executor: Executor) -> int:
    """How many blocks an executor works on at once; of one that does not say, the cores of this machine."""
    return executor.n_workers if isinstance(executor, Crew) else os.cpu_count() or 1
