"""MDAV of anonypyx: the grouping alone, as ours is measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter, process_time

import pandas as pd
from anonypyx.microaggregation import MDAVGeneric

sys.path.insert(0, str(Path(__file__).parents[1]))
from memory import peak_mb

task = json.loads(sys.argv[2])
frame = pd.read_csv(sys.argv[1]).astype("float64")
method = MDAVGeneric(frame, list(frame.columns))

start, work = perf_counter(), process_time()
groups = method.partition(task["k"])
seconds, cpu_seconds = perf_counter() - start, process_time() - work

labels = pd.Series(-1, index=frame.index)
for group, rows in enumerate(groups):
    labels[rows] = group
print(json.dumps({"seconds": seconds, "cpu_seconds": cpu_seconds, "labels": labels.tolist(), "peak_mb": peak_mb()}))
