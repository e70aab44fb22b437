"""Evaluators of anonymeter: a release, the originals and a control, each a CSV file.

The evaluators compile loops at their first call, so they are warmed up on a few records before they are timed. Several
tasks (`tasks`) are done one after another, so that this is paid for once; the answers are then listed under `found`.
The records that they draw come from numpy's and polars' common generators, which are seeded, so that two runs agree.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

sys.path.insert(0, str(Path(__file__).parents[1]))
from memory import peak_mb

warnings.simplefilter("ignore")
asked = json.loads(sys.argv[2])


def read(task: dict[str, Any]) -> dict[str, pd.DataFrame]:
    """The three tables; whole numbers and others are numbers alike."""
    paths = {"syn": task.get("published", sys.argv[1]), "ori": task["original"], "control": task["control"]}
    frames = {which: pd.read_csv(path)[task["columns"]] for which, path in paths.items()}
    for name in task["columns"]:
        if all(pd.api.types.is_numeric_dtype(frame[name]) for frame in frames.values()):
            for frame in frames.values():
                frame[name] = frame[name].astype(float)
    return frames


def evaluate(task: dict[str, Any], frames: dict[str, pd.DataFrame], n_attacks: int) -> Any:
    """Run one evaluator."""
    given: dict[str, Any] = {**frames, "n_attacks": n_attacks}
    if task["attack"] == "inference":
        secret = task["secret"]
        known = [n for n in task["columns"] if n != secret]
        is_number = pd.api.types.is_numeric_dtype(frames["ori"][secret])  # it does not guess, as it says it would
        return InferenceEvaluator(**given, aux_cols=known, secret=secret, regression=is_number).evaluate(n_jobs=2)
    if task["attack"] == "linkability":
        sides = (task["known"][0], task["known"][1])
        return LinkabilityEvaluator(**given, aux_cols=sides, n_neighbors=task["n_nearest"]).evaluate(n_jobs=2)
    several = task["attack"] == "singling-out"
    evaluator = SinglingOutEvaluator(**given, n_cols=task.get("n_columns", 1), seed=1)
    return evaluator.evaluate(mode="multivariate" if several else "univariate")


def answer(task: dict[str, Any]) -> dict[str, Any]:
    """Time one evaluator."""
    frames = read(task)
    evaluate(task, frames, 20)
    np.random.seed(1)  # noqa: NPY002 - the generator that pandas draws from
    pl.set_random_seed(1)
    start, work = perf_counter(), process_time()
    done = evaluate(task, frames, task["n_attacks"])
    seconds, cpu_seconds = perf_counter() - start, process_time() - work
    results = done.results()
    risk = results.risk()
    return {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "main": float(results.n_success),
        "control": float(results.n_control),
        "baseline": float(results.n_baseline),
        "risk": [risk.value, *risk.ci],
        "peak_mb": peak_mb(),
    }


print(json.dumps({"found": [answer(task) for task in asked["tasks"]]} if "tasks" in asked else answer(asked)))
