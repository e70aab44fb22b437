"""One release from a CSV file to a folder, in a process of its own; prints seconds by stage and peak memory.

A release of a few rows goes before, so that nothing is compiled or imported within the time.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from itertools import islice, pairwise
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

import shoal
from shoal.kinds.tables import kind as reading
from shoal.kinds.tables import release as saving

sys.path.insert(0, str(Path(__file__).parent))
from memory import peak_mb

TOLD = {"grouping records": "group", "publishing groups": "publish", "writing and checking the release": "write"}
AFTER = (
    (reading, "load", "order"),
    (saving, "write_table", "check the file"),
    (saving.TableRelease, "_manifest", "report"),
)


class Stages:
    """When each stage began; a stage ends where the next begins."""

    def __init__(self) -> None:
        self.marks = [("read", perf_counter())]

    def enter(self, stage: str) -> None:
        """Begin a stage, unless it is the one that runs."""
        if self.marks[-1][0] != stage:
            self.marks.append((stage, perf_counter()))

    def after(self, step: Callable[..., Any], stage: str) -> Callable[..., Any]:
        """The same step, and a stage that begins when it is done."""

        def timed_step(*given: Any, **named: Any) -> Any:
            result = step(*given, **named)
            self.enter(stage)
            return result

        return timed_step

    def seconds(self) -> dict[str, float]:
        """How long each stage took."""
        return {stage: end - start for (stage, start), (_, end) in pairwise(self.marks)}


def release(path: Path, task: dict[str, Any], out: Path) -> dict[str, float]:
    """Seconds of each stage."""
    policy = shoal.Policy.of(quasi=task["quasi"], sensitive=[task["sensitive"]], k=task["k"], partition="mondrian")
    stages = Stages()
    with ExitStack() as patches:
        for module, name, stage in AFTER:
            patches.enter_context(patch.object(module, name, stages.after(getattr(module, name), stage)))
        made = shoal.anonymize(
            path, policy, progress=lambda what, *_: stages.enter(TOLD[what]) if what in TOLD else None
        )
        stages.enter("save")
        made.save(out)
    stages.enter("end")
    return stages.seconds()


def main() -> None:
    """Read the task from the command line."""
    path, task = Path(sys.argv[1]), json.loads(sys.argv[2])
    few = path.with_suffix(".few.csv")
    with open(path, encoding="utf-8") as lines:
        few.write_text("".join(islice(lines, 301)), encoding="utf-8")
    release(few, task, Path(task["out"] + "-few"))
    work = process_time()
    stages = release(path, task, Path(task["out"]))
    print(
        json.dumps(
            {
                "seconds": sum(stages.values()),
                "cpu_seconds": process_time() - work,
                "stages": stages,
                "peak_mb": peak_mb(),
            }
        )
    )


if __name__ == "__main__":
    main()
