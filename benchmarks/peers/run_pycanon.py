"""One check of pycanon on a table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter, process_time

import pandas as pd
from pycanon import anonymity

sys.path.insert(0, str(Path(__file__).parents[1]))
from memory import peak_mb

task = json.loads(sys.argv[2])
frame = pd.read_csv(sys.argv[1])
check = getattr(anonymity, task["check"])
arguments = [task["quasi"]] + ([] if task["check"] == "k_anonymity" else [[task["sensitive"]]])

start, work = perf_counter(), process_time()
achieved = check(frame, *arguments)
seconds, cpu_seconds = perf_counter() - start, process_time() - work
print(json.dumps({"seconds": seconds, "cpu_seconds": cpu_seconds, "achieved": float(achieved), "peak_mb": peak_mb()}))
