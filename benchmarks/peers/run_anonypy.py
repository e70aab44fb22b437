"""Mondrian of anonypy: the call of its README, with the groups that it made on the way."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import anonypy
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
from memory import peak_mb

task = json.loads(sys.argv[2])
frame = pd.read_csv(sys.argv[1])
for name in frame.columns:
    if not pd.api.types.is_numeric_dtype(frame[name]):
        frame[name] = frame[name].astype("category")

preserver = anonypy.Preserver(frame, task["quasi"], task["sensitive"])
find_groups = preserver.modrian.partition
seen: list[Any] = []


def partition(*asked: Any) -> Any:
    """Remember the groups that the timed call makes."""
    seen.append(find_groups(*asked))
    return seen[-1]


preserver.modrian.partition = partition

start, work = perf_counter(), process_time()
preserver.anonymize_k_anonymity(k=task["k"])
seconds, cpu_seconds = perf_counter() - start, process_time() - work

labels = pd.Series(-1, index=frame.index)
for group, rows in enumerate(seen[-1]):
    labels[rows] = group
print(json.dumps({"seconds": seconds, "cpu_seconds": cpu_seconds, "labels": labels.tolist(), "peak_mb": peak_mb()}))
