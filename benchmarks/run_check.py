"""The check of t-closeness of a CSV file, in a process of its own; prints what it took, as JSON.

Reading is not measured, as it is not for the peer; a check of a few rows goes before, so that nothing is compiled or
imported within the time.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from shoal.check.tables.verify import verify
from shoal.kinds.tables.kind import load
from shoal.models.t_closeness import TCloseness

sys.path.insert(0, str(Path(__file__).parent))
from memory import peak_mb


def main() -> None:
    """Read the task from the command line."""
    task: dict[str, Any] = json.loads(sys.argv[2])
    table = load(Path(sys.argv[1]))
    required = [TCloseness(t=0.5, distance="equal")]
    verify(table.take(range(300)), required, task["quasi"], [task["sensitive"]])
    start, work = perf_counter(), process_time()
    found = verify(table, required, task["quasi"], [task["sensitive"]])
    spent = {"seconds": perf_counter() - start, "cpu_seconds": process_time() - work}
    print(json.dumps({**spent, "achieved": float(found[0].achieved), "peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()
