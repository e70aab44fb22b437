"""Pseudo-baskets of 100,000 to a million baskets, k = 10: each size in a process of its own, and its check."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from time import perf_counter, process_time

from benchmarks.child import ROOT, ChildFailed, run_json
from benchmarks.harness import Case, Contestant, Outcome, Setting, growth
from benchmarks.memory import peak_mb
from shoal.check.sparse.baskets import BasketsAsked, BasketsEvidence, verify_baskets
from shoal.data.samples.quest import Quest, generate_baskets
from shoal.data.sparse.records import Sparse
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse.pseudo_baskets import pseudo_baskets

K = 10
SUPPORT = SparsePolicy().method.support


def baskets(n: int) -> Sparse:
    """T10.I4.D(n) of the paper's generator."""
    return generate_baskets(Quest.named("T10.I4.D1K", n_transactions=n), seed=0).sparse()


def cases(setting: Setting) -> Iterator[Case]:
    """One case: how CPU time grows with the number of baskets."""
    sizes = [400, 800, 1600] if setting.quick else [100_000, 300_000, 1_000_000]
    names = [f"{n:,} baskets" for n in sizes]

    def summary(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
        return growth(sizes, [outcomes[name].cpu_seconds for name in names])

    yield Case(
        "pseudo-baskets growth",
        "groups of near records, items dealt anew; k = 10, other defaults; growth is of CPU time",
        "T10.I4.D(x), made by the package's Quest generator",
        [in_child(name, n) for name, n in zip(names, sizes, strict=True)],
        summary,
    )


def in_child(name: str, n: int) -> Contestant:
    """One size in a process of its own, so that its memory can be told."""

    def measure(setting: Setting) -> Outcome:
        try:
            command = [sys.executable, "-m", "benchmarks.sparse.bench_baskets", str(n)]
            environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
            found = run_json(command, timeout=3600, environment=environment)
        except ChildFailed as failure:
            return Outcome(None, failure=str(failure))
        return Outcome(repeats=1, **found)

    return Contestant(name, measure)


def main(n: int) -> None:
    """Publish so many baskets and print what it took."""
    pseudo_baskets(baskets(400), K, seed=0)
    records = baskets(n)
    start, work = perf_counter(), process_time()
    made = pseudo_baskets(records, K, support=SUPPORT, seed=0)
    spent, worked, peak = perf_counter() - start, process_time() - work, peak_mb()
    work = process_time()
    evidence = BasketsEvidence(records, made.original_groups, made.groups)
    holds = verify_baskets(made.baskets, BasketsAsked(K, SUPPORT), evidence).holds
    numbers = {"CPU seconds of the check": process_time() - work, "all guarantees hold": float(holds)}
    print(json.dumps({"seconds": spent, "cpu_seconds": worked, "peak_mb": peak, "numbers": numbers}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
