"""One release of a Parquet file, in a process of its own; prints seconds, CPU, peak memory and the bytes' checksum.

A release of a few rows goes before, so that nothing is compiled or imported within the time.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from time import perf_counter, process_time

import shoal

sys.path.insert(0, str(Path(__file__).parent))
from memory import peak_mb


def main() -> None:
    """Read the task from the command line."""
    path, task = Path(sys.argv[1]), json.loads(sys.argv[2])
    policy = shoal.Policy.of(quasi=task["quasi"], sensitive=[task["sensitive"]], k=task["k"], partition="mondrian")
    names = [*task["quasi"], task["sensitive"]]
    shoal.anonymize({name: [f"{i % 7}" for i in range(300)] for name in names}, policy)
    begun, work = perf_counter(), process_time()
    release = shoal.anonymize(path, policy.changed(memory=task["memory"]), seed=1)
    release.save(Path(task["out"]), report=False)
    found = {"seconds": perf_counter() - begun, "cpu_seconds": process_time() - work, "peak_mb": peak_mb()}
    files = sorted((Path(task["out"]) / "publish").iterdir())
    found["sha256"] = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
