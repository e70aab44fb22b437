"""Nearest neighbours of sparse records, k = 10: beside sparse_dot_topn, of text, and of up to a million records."""

from __future__ import annotations

import csv
import gzip
import json
import os
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from benchmarks.child import ROOT, ChildFailed, run_json
from benchmarks.harness import Case, Contestant, Outcome, Setting, growth, timed
from benchmarks.memory import peak_mb
from benchmarks.peers import SPARSE_DOT_TOPN
from shoal.data.samples.quest import Quest, generate_baskets, labelled_baskets
from shoal.data.sparse.records import Sparse
from shoal.sparse.neighbours import Neighbours, nearest

K = 10
WORKERS = 2
ABOUT = "made by the package's Quest generator"
NEWS = ROOT.parent / "shared" / "data" / "newsgroups20" / "20news_bydate.csv.gz"


def sets(starts: np.ndarray, items: np.ndarray, n_items: int) -> Sparse:
    """Records of weights 1."""
    names = tuple(f"{i:07d}" for i in range(n_items))
    return Sparse(starts.astype(np.int64), items.astype(np.int32), np.ones(len(items), np.int64), names)


def two_classes(n: int) -> Sparse:
    """C20.I6.D(n) of the paper: two pools."""
    strings = labelled_baskets(f"V20.I6.D{n}", seed=1)
    return sets(strings.starts, strings.symbols, len(strings.alphabet))


def one_pool(n: int) -> Sparse:
    """T20.I6.D(n)."""
    made = generate_baskets(Quest.named("T20.I6.D1K", n_transactions=n), seed=3)
    return sets(made.starts, made.items, made.n_items)


def text() -> Sparse | None:
    """The words of the training posts of 20 newsgroups, where they are."""
    if not NEWS.is_file():
        return None
    from sklearn.feature_extraction.text import CountVectorizer  # type: ignore[import-untyped]  # it has no types

    csv.field_size_limit(1 << 30)
    with gzip.open(NEWS, "rt", encoding="utf-8", newline="") as lines:
        posts = [row["text"] for row in csv.DictReader(lines) if row["split"] == "train"]
    found = CountVectorizer(binary=True, stop_words="english").fit_transform(posts)
    found.sort_indices()
    return sets(found.indptr, found.indices, found.shape[1])


def stored(records: Sparse, folder: Path, name: str) -> Path:
    """The records as a file that the peer reads."""
    path = folder / f"{name}.npz"
    np.savez(path, starts=records.starts, items=records.items)
    return path


def quality(found: Neighbours) -> dict[str, float]:
    """What is worth a look beside the time."""
    finite = found.distances[np.isfinite(found.distances)]
    numbers = {"mean distance of the k-th": float(finite.mean()) if len(finite) else 0.0}
    return numbers if found.recall is None else {**numbers, "recall": found.recall}


def beside_peer(name: str, task: str, data: str, records: Sparse, setting: Setting, at_least: float = 1.0) -> Case:
    """Ours, and the peer in both precisions."""
    few = records.take(np.arange(min(300, len(records))))
    path = partial(stored, records, setting.folder, name.replace(" ", "_"))
    return Case(
        name,
        task,
        data,
        [
            timed(
                "shoal",
                lambda: nearest(records, K, how="exact", workers=WORKERS),
                numbers=quality,
                warm_up=lambda: nearest(few, K, workers=WORKERS),
                at_most=60.0,
            ),
            SPARSE_DOT_TOPN.contestant(path, at_least=at_least, k=K, threads=WORKERS, dtype="float32"),
        ],
    )


def cases(setting: Setting) -> Iterator[Case]:
    """50,000 and 200,000 baskets, text, and 100,000 to a million baskets."""
    task = f"exact, cosine, k = {K}, {WORKERS} threads"
    for n in (50_000, 200_000):
        records = two_classes(setting.rows(n))
        yield beside_peer(f"sparse neighbours {n:,}", task, f"V20.I6.D{len(records):,}, {ABOUT}", records, setting)
    words = None if setting.quick else text()
    if words is not None:
        about = f"20 newsgroups, {len(words):,} posts, {words.n_items:,} words"
        yield beside_peer("sparse neighbours of text", task, about, words, setting)
    sizes = [400, 800] if setting.quick else [100_000, 300_000, 1_000_000]
    names = [f"{n:,} records" for n in sizes]

    def summary(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
        by_wall = growth(sizes, [outcomes[name].seconds for name in names])
        by_work = growth(sizes, [outcomes[name].cpu_seconds for name in names])
        return {**by_wall, **{f"{step}, processor time": b for step, b in by_work.items()}}

    yield Case(
        "sparse neighbours growth",
        f"partition, cosine, k = {K}, {WORKERS} threads, each size in a process of its own",
        f"T20.I6.D(x), {ABOUT}",
        [in_child(name, n, at_most=180.0 if n == 1_000_000 else None) for name, n in zip(names, sizes, strict=True)],
        summary,
    )


def in_child(name: str, n: int, at_most: float | None) -> Contestant:
    """One size in a process of its own, so that its memory can be told."""

    def measure(setting: Setting) -> Outcome:
        try:
            environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
            command = [sys.executable, "-m", "benchmarks.sparse.bench_neighbours", str(n)]
            found = run_json(command, environment=environment)
        except ChildFailed as failure:
            return Outcome(None, failure=str(failure))
        return Outcome(repeats=1, **found)

    return Contestant(name, measure, at_most=at_most)


def main(n: int) -> None:
    """Find the neighbours of so many records and print what it took."""
    nearest(one_pool(400), K, how="partition", workers=WORKERS)
    records = one_pool(n)
    start, work = perf_counter(), process_time()
    found = nearest(records, K, how="partition", workers=WORKERS)
    spent, worked = perf_counter() - start, process_time() - work
    print(json.dumps({"seconds": spent, "cpu_seconds": worked, "peak_mb": peak_mb(), "numbers": quality(found)}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
