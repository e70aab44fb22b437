"""One release from a CSV file to a folder, in a process of its own; prints seconds by stage and peak memory.

A release of a few rows goes before, so that nothing is compiled or imported within the time.
"""

from __future__ import annotations

import json
import sys
from itertools import islice, pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import shoal
from shoal import api

sys.path.insert(0, str(Path(__file__).parent))
from memory import peak_mb

STAGES = {"grouping records": "group", "publishing groups": "publish", "checking the release": "check"}


def release(path: Path, task: dict[str, Any], out: Path) -> dict[str, float]:
    """Seconds of each stage."""
    policy = shoal.Policy.of(quasi=task["quasi"], sensitive=[task["sensitive"]], k=task["k"], partition="mondrian")
    marks = [("read", perf_counter())]

    def enter(stage: str) -> None:
        if marks[-1][0] != stage:
            marks.append((stage, perf_counter()))

    def load(*asked: Any) -> Any:
        table = read(*asked)
        enter("order")
        return table

    read, api.load = api.load, load
    try:
        made = shoal.anonymize(path, policy, progress=lambda what, *_: enter(STAGES[what]) if what in STAGES else None)
    finally:
        api.load = read
    enter("write")
    made.save(out)
    enter("end")
    return {stage: end - start for (stage, start), (_, end) in pairwise(marks)}


def main() -> None:
    """Read the task from the command line."""
    path, task = Path(sys.argv[1]), json.loads(sys.argv[2])
    few = path.with_suffix(".few.csv")
    with open(path, encoding="utf-8") as lines:
        few.write_text("".join(islice(lines, 301)), encoding="utf-8")
    release(few, task, Path(task["out"] + "-few"))
    stages = release(path, task, Path(task["out"]))
    print(json.dumps({"seconds": sum(stages.values()), "stages": stages, "peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()
