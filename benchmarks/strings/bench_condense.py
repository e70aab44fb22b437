"""Condensation of baskets, k = 20: up to a million strings, and the passes beside plain NumPy ones."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.child import ROOT, ChildFailed, run_json
from benchmarks.harness import Case, Contestant, Outcome, Setting, growth, timed
from benchmarks.memory import peak_mb
from shoal.data.samples.quest import Quest, generate_baskets, labelled_baskets
from shoal.data.strings.strings import Strings, take_strings
from shoal.kernels.strings.groups import SparseTemplates, pass_around
from shoal.strings import Condensation
from shoal.strings.groups import NO_GROUPS, order_members
from shoal.strings.lengths import homogenize_lengths
from shoal.strings.templates import Templates, convert_lengths

K = 20
ABOUT = "made by the package's Quest generator"
Labels = npt.NDArray[np.int32]


def baskets(n: int, seed: int = 0) -> Strings:
    """T20.I4.D(n) of the paper's generator: items in ascending order, a token each."""
    return generate_baskets(Quest.named("T20.I4.D1K", n_transactions=n), seed=seed).strings()


def two_classes(n: int) -> Strings:
    """V20.I4.D(n): two pools, the pool being the class."""
    return labelled_baskets(f"V20.I4.D{n // 1000}K" if n >= 1000 else "V20.I4.D1K", seed=1)


def condense(strings: Strings) -> Condensation:
    """Ours, with all defaults."""
    estimator = Condensation(K, seed=1)
    estimator.fit_transform(strings)
    return estimator


def quality(estimator: Condensation) -> dict[str, float]:
    """What is worth a look beside the time."""
    costs = [s.split_cost for s in estimator.segments_ if s.split_cost is not None]
    return {
        "objective, share of the largest": estimator.relative_objective_,
        "suppressed": estimator.n_suppressed_,
        "dropped": estimator.pseudo_.n_dropped,
        "largest cost of splitting": max(costs, default=0.0),
    }


def cases(setting: Setting) -> Iterator[Case]:
    """Two classes of 50,000; 10,000 to a million; the passes alone."""
    strings = two_classes(setting.rows(100_000))
    few = baskets(400)
    yield Case(
        "condensation",
        f"fit_transform with defaults, k = {K}",
        f"V20.I4.D{len(strings):,}, two classes, {ABOUT}",
        [timed("shoal", lambda: condense(strings), numbers=quality, warm_up=lambda: condense(few), at_most=60.0)],
    )
    sizes = [400, 800, 1600] if setting.quick else [10_000, 30_000, 100_000, 300_000, 1_000_000]
    names = [f"{n:,} strings" for n in sizes]

    def summary(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
        return growth(sizes, [outcomes[name].seconds for name in names])

    yield Case(
        "condensation growth",
        f"fit_transform with defaults, k = {K}, each size in a process of its own",
        f"T20.I4.D(x), {ABOUT}",
        [in_child(name, n) for name, n in zip(names, sizes, strict=True)],
        summary,
    )
    templates = one_segment(baskets(setting.rows(10_000)))
    yield Case(
        "condensation passes",
        f"a pass around templates and one around centroids, k = {K}",
        f"{len(templates):,} templates of length {templates.length}, {ABOUT}",
        [
            timed("shoal", partial(our_passes, templates)),
            timed("plain NumPy", partial(plain_passes, templates), is_rival=True, at_least=3),
        ],
    )


def in_child(name: str, n: int) -> Contestant:
    """One size in a process of its own, so that its memory can be told."""

    def measure(setting: Setting) -> Outcome:
        try:
            command = [sys.executable, "-m", "benchmarks.strings.bench_condense", str(n)]
            found = run_json(command, environment=_environment())
        except ChildFailed as failure:
            return Outcome(None, failure=str(failure))
        return Outcome(repeats=1, **found)

    return Contestant(name, measure)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}


def one_segment(strings: Strings) -> Templates:
    """The templates of the largest segment."""
    segments = homogenize_lengths(strings.lengths, K, 1.5)
    rows = np.flatnonzero(segments == np.bincount(segments[segments >= 0]).argmax())
    return convert_lengths(*take_strings(strings.symbols, strings.starts, rows))


def our_passes(templates: Templates) -> Labels:
    """Two passes by the kernels."""
    arrays = SparseTemplates(templates.starts, templates.features, templates.weights, templates.n_features)
    n_groups = len(templates) // K
    labels = pass_around(arrays, K, np.random.default_rng(0).permutation(len(templates)), *NO_GROUPS)
    members, starts = order_members(np.where(labels < 0, n_groups - 1, labels), n_groups)
    return pass_around(arrays, K, NO_GROUPS[0], members, starts)


def plain_passes(templates: Templates) -> Labels:
    """The same with NumPy on the same sparse rows, the way one would write it first."""
    owner = np.repeat(np.arange(len(templates)), np.diff(templates.starts))
    n_groups = len(templates) // K

    def one_pass(centre_of: Any) -> Labels:
        labels = np.full(len(templates), -1, np.int32)
        is_left = np.ones(len(templates), bool)
        for label in range(n_groups):
            entries = is_left[owner]
            common = np.minimum(templates.weights[entries], centre_of(label, is_left)[templates.features[entries]])
            similarity = np.bincount(owner[entries], common, minlength=len(templates))
            similarity[~is_left] = -1.0
            taken = np.argsort(-similarity, kind="stable")[:K]
            labels[taken] = label
            is_left[taken] = False
        return labels

    def centre(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        part = templates.take(rows)
        return np.bincount(part.features, part.weights, minlength=templates.n_features) / len(rows)

    order = np.random.default_rng(0).permutation(len(templates))
    labels = one_pass(lambda _, is_left: centre(order[is_left[order]][:1]))
    members, starts = order_members(np.where(labels < 0, n_groups - 1, labels), n_groups)
    return one_pass(lambda label, _: centre(members[starts[label] : starts[label + 1]]))


def main(n: int) -> None:
    """Condense so many strings and print what it took."""
    condense(baskets(400))
    strings = baskets(n)
    start, work = perf_counter(), process_time()
    estimator = condense(strings)
    spent, worked = perf_counter() - start, process_time() - work
    print(json.dumps({"seconds": spent, "cpu_seconds": worked, "peak_mb": peak_mb(), "numbers": quality(estimator)}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
