"""One recoding for all by anjana: the call of its README, with hierarchies in the form it reads."""

from __future__ import annotations

import csv
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from time import perf_counter, process_time

import pandas as pd
from anjana.anonymity import k_anonymity

sys.path.insert(0, str(Path(__file__).parents[1]))
from memory import peak_mb

task = json.loads(sys.argv[2])
frame = pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False)
hierarchies = {}
for name, path in task["hierarchies"].items():
    with open(path, newline="", encoding="utf-8") as file:
        levels = zip(*csv.reader(file, delimiter=";"), strict=True)
        hierarchies[name] = {level: pd.Series(labels) for level, labels in enumerate(levels)}

start, work = perf_counter(), process_time()
with redirect_stdout(sys.stderr):
    made = k_anonymity(frame, [], task["quasi"], task["k"], 100 * task["suppression"], hierarchies)
seconds, cpu_seconds = perf_counter() - start, process_time() - work

rows = made["index"] if "index" in made.columns else made.index  # once records were dropped, it numbers the rest anew
published = {name: [part.tolist() for part in pd.factorize(made[name])] for name in task["quasi"]}
print(
    json.dumps(
        {
            "seconds": seconds,
            "cpu_seconds": cpu_seconds,
            "rows": rows.tolist(),
            "published": published,
            "peak_mb": peak_mb(),
        }
    )
)
