"""One check of pycanon on a table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter

import pandas as pd
from pycanon import anonymity

sys.path.insert(0, str(Path(__file__).parents[1]))
from memory import peak_mb

task = json.loads(sys.argv[2])
frame = pd.read_csv(sys.argv[1])
check = getattr(anonymity, task["check"])
arguments = [task["quasi"]] + ([] if task["check"] == "k_anonymity" else [[task["sensitive"]]])

start = perf_counter()
achieved = check(frame, *arguments)
seconds = perf_counter() - start
print(json.dumps({"seconds": seconds, "achieved": float(achieved), "peak_mb": peak_mb()}))
