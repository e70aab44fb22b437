"""k-variance anonymity of baskets, k = 10: 200,000 records with and without the check, and up to a million."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from time import perf_counter, process_time

import numpy as np

from benchmarks.child import ROOT, ChildFailed, run_json
from benchmarks.harness import Case, Contestant, Outcome, Setting, growth, timed
from benchmarks.memory import peak_mb
from shoal.check.sparse.folder import asked_of
from shoal.check.sparse.verify import SparseEvidence, verify_sketches
from shoal.data.samples.quest import Quest, generate_baskets, labelled_records
from shoal.data.sparse.records import Sparse
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse.anonymize import AnonymizedSparse, anonymize_sparse

KEY = bytes(range(32))
POLICY = SparsePolicy.of(publish="sketch", k=10)
BY_PARTITION = SparsePolicy.of(publish="sketch", k=10, neighbours="partition")
ABOUT = "made by the package's Quest generator"


def baskets(n: int) -> Sparse:
    """T20.I6.D(n) of the paper's generator."""
    return generate_baskets(Quest.named("T20.I6.D1K", n_transactions=n), seed=0).sparse()


def two_classes(n: int) -> Sparse:
    """C20.I6.D(n): two pools, the pool being the class."""
    return labelled_records(f"C20.I6.D{n}", seed=1)


def checked(records: Sparse, made: AnonymizedSparse) -> bool:
    """Whether all guarantees hold, with everything that the owner has."""
    assert made.neighbours is not None
    evidence = SparseEvidence(records, made.rows, KEY, made.neighbours.indices)
    verdict = verify_sketches(made.sketches, asked_of(POLICY, made.neighbours.how), evidence)
    return all(g.holds for g in verdict.guarantees) and not (verdict.unverified or verdict.findings)


def quality(made: AnonymizedSparse) -> dict[str, float]:
    """What is worth a look beside the time."""
    assert made.neighbours is not None
    counts = made.counts[made.counts > 0]
    return {
        "median components": float(np.median(counts)) if len(counts) else 0.0,
        "suppressed": made.n_suppressed,
        "recall of neighbours": 1.0 if made.neighbours.recall is None else made.neighbours.recall,
    }


def cases(setting: Setting) -> Iterator[Case]:
    """Two classes of 100,000; 100,000 to a million with neighbours by partition."""
    records, few = two_classes(setting.rows(200_000)), two_classes(400)

    def both() -> bool:
        return checked(records, anonymize_sparse(records, POLICY, KEY))

    def warm_up() -> bool:
        return checked(few, anonymize_sparse(few, POLICY, KEY))

    yield Case(
        "k-variance",
        "exact neighbours, numbers of components, sketches; k = 10, other defaults",
        f"C20.I6.D{len(records):,}, two classes, {ABOUT}",
        [
            timed("shoal", lambda: anonymize_sparse(records, POLICY, KEY), numbers=quality, warm_up=warm_up),
            timed("with the check", both, numbers=lambda holds: {"all guarantees hold": float(holds)}, warm_up=warm_up),
        ],
    )
    sizes = [400, 800, 1600] if setting.quick else [100_000, 300_000, 1_000_000]
    names = [f"{n:,} records" for n in sizes]

    def summary(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
        return growth(sizes, [outcomes[name].seconds for name in names])

    yield Case(
        "k-variance growth",
        "the same with neighbours by partition, each size in a process of its own",
        f"T20.I6.D(x), {ABOUT}",
        [in_child(name, n) for name, n in zip(names, sizes, strict=True)],
        summary,
    )


def in_child(name: str, n: int) -> Contestant:
    """One size in a process of its own, so that its memory can be told."""

    def measure(setting: Setting) -> Outcome:
        try:
            command = [sys.executable, "-m", "benchmarks.sparse.bench_k_variance", str(n)]
            found = run_json(command, timeout=3600, environment=_environment())
        except ChildFailed as failure:
            return Outcome(None, failure=str(failure))
        return Outcome(repeats=1, **found)

    return Contestant(name, measure)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}


def main(n: int) -> None:
    """Sketch so many records and print what it took."""
    anonymize_sparse(baskets(400), BY_PARTITION, KEY)
    records = baskets(n)
    start, work = perf_counter(), process_time()
    made = anonymize_sparse(records, BY_PARTITION, KEY)
    spent, worked = perf_counter() - start, process_time() - work
    print(json.dumps({"seconds": spent, "cpu_seconds": worked, "peak_mb": peak_mb(), "numbers": quality(made)}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
