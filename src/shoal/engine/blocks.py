"""Run one job over many independent blocks: in order, a few at once, and in spite of lost workers."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterable, Sized
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from shoal.engine.executors import Crew, count_workers
from shoal.errors import ShoalError

R = TypeVar("R")
Block = tuple[Any, ...]

# How long nothing may come back before the executor is asked whether it still lives.
PATIENCE_SECONDS = 2.0


class WorkerTraceback(Exception):
    """Where in a worker an error arose; shown as the cause of the error itself."""

    def __str__(self) -> str:
        return "\n" + str(self.args[0])


@dataclass(frozen=True)
class _Outcome(Generic[R]):
    """What a job returned or raised; so what a future raises is the executor's fault, never the job's."""

    value: R | None = None
    error: Exception | None = None
    where: str = ""

    def unwrap(self) -> R:
        if self.error is None:
            return self.value  # type: ignore[return-value]  # None only where the job returned it
        if self.error.__traceback__ is None and self.error.__cause__ is None:
            self.error.__cause__ = WorkerTraceback(self.where)
        raise self.error


def _attempt(job: Callable[..., R], *block: Any) -> _Outcome[R]:
    try:
        return _Outcome(job(*block))
    except Exception as error:
        return _Outcome(error=error, where=traceback.format_exc())


def run_blocks(
    job: Callable[..., R],
    blocks: Iterable[Block],
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    note: Callable[[str], None] | None = None,
    in_flight: int | None = None,
) -> list[R]:
    """Call ``job(*block)`` for every block and return the results in the order of the blocks.

    The results, and the error if there is one, are those of a plain loop, whatever the executor: of several
    failing blocks the first one's error is raised, unchanged. If workers die, the blocks that they had are
    run here.

    Parameters
    ----------
    job : callable
        A function at the top level of a module (processes and clusters import it there) that leaves its
        arguments as they are. Random numbers come from a seed in the block: see `spawn_seeds`.
    blocks : iterable of tuple
        The arguments of each call. They are taken one by one, so that a generator of large blocks never has
        more than `in_flight` of them in memory.
    executor : Executor, optional
        None runs everything here, in this thread.
    progress : callable, optional
        Called in this thread with the number of blocks done and their total, or, where `blocks` has no
        length, the number taken so far.
    note : callable, optional
        Receives one sentence if workers were lost; else it is a `RuntimeWarning`.
    in_flight : int, optional
        How many blocks may be handed out at once; else two for each worker.

    Raises
    ------
    ShoalError
        Workers died, and the block does not fit into the memory here either.
    """
    run = _Run(job, len(blocks) if isinstance(blocks, Sized) else None, progress, note)
    source = enumerate(blocks)
    if executor is not None:
        limit = in_flight or 2 * count_workers(executor)
        try:
            run.spread(source, executor, limit)
        finally:
            for future in run.pending:
                future.cancel()
    for index, block in source:
        run.call_here(index, block)
    return [run.results[i] for i in range(len(run.results))]


class _Run(Generic[R]):
    """The state of one call of `run_blocks`."""

    def __init__(
        self,
        job: Callable[..., R],
        total: int | None,
        progress: Callable[[int, int], None] | None,
        note: Callable[[str], None] | None,
    ) -> None:
        self.job = job
        self.total = total
        self.progress = progress
        self.note = note
        self.results: dict[int, R] = {}
        self.pending: dict[Future[_Outcome[R]], tuple[int, Block]] = {}
        self.failed: tuple[int, _Outcome[R]] | None = None
        self.is_broken = False
        self.has_losses = False

    def spread(self, source: Iterable[tuple[int, Block]], executor: Executor, limit: int) -> None:
        """Hand out blocks and take in results until the source is empty or the executor broken."""
        remaining = iter(source)
        while True:
            while len(self.pending) < limit and not self.is_broken and self.failed is None:
                taken = next(remaining, None)
                if taken is None:
                    break
                self.hand_out(executor, *taken)
            if not self.pending:
                break
            done, _ = wait(self.pending, timeout=PATIENCE_SECONDS, return_when=FIRST_COMPLETED)
            if not done and isinstance(executor, Crew) and executor.is_lost():
                self.is_broken = True
                done = set(self.pending)
                for future in done:
                    future.cancel()
            for future in sorted(done, key=lambda f: self.pending[f][0]):
                self.take_in(future)
        if self.failed is not None:
            self.failed[1].unwrap()

    def hand_out(self, executor: Executor, index: int, block: Block) -> None:
        try:
            future = executor.submit(_attempt, self.job, *block)
        except Exception as error:  # of any kind: the job has not begun
            self.is_broken = True
            self.report_loss(error)
            self.call_here(index, block)
        else:
            self.pending[future] = (index, block)

    def take_in(self, future: Future[_Outcome[R]]) -> None:
        if future not in self.pending:
            return
        index, block = self.pending.pop(future)
        if self.failed is not None and index > self.failed[0]:
            return
        try:
            outcome = future.result(timeout=0)
        except Exception as error:  # of any kind: the job's own errors are in the outcome
            self.report_loss(error)
            outcome = self.attempt_here(block)
        if outcome.error is None:
            self.keep(index, outcome.unwrap())
            return
        # Blocks before this one may fail too, and theirs is the error that a plain loop would have raised.
        self.failed = (index, outcome)
        for later in [f for f, (i, _) in self.pending.items() if i > index]:
            later.cancel()
            del self.pending[later]

    def keep(self, index: int, value: R) -> None:
        self.results[index] = value
        if self.progress is not None:
            taken = len(self.results) + len(self.pending)
            self.progress(len(self.results), taken if self.total is None else self.total)

    def call_here(self, index: int, block: Block) -> None:
        if self.has_losses:
            self.keep(index, self.attempt_here(block).unwrap())
        else:
            self.keep(index, self.job(*block))

    def attempt_here(self, block: Block) -> _Outcome[R]:
        outcome = _attempt(self.job, *block)
        if isinstance(outcome.error, MemoryError):
            raise ShoalError(
                "a worker died, and its block does not fit into the memory here either; use fewer workers, "
                "smaller blocks or a machine with more memory"
            ) from None
        return outcome

    def report_loss(self, error: BaseException) -> None:
        if self.has_losses:
            return
        self.has_losses = True
        text = f"a worker gave no result ({type(error).__name__}); its blocks are run here, more slowly"
        if self.note is not None:
            self.note(text)
        else:
            warnings.warn(text, RuntimeWarning, stacklevel=4)
