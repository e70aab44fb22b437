"""The command line as a user starts it, in a process of its own; prints seconds and peak memory after its output."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter, process_time

START = perf_counter()


def main() -> None:
    """Run the command that the arguments say."""
    from shoal.cli.app import main as shoal

    sys.argv[0] = "shoal"
    try:
        shoal()
    except SystemExit as ended:
        if ended.code:
            raise
    sys.path.insert(0, str(Path(__file__).parent))
    from memory import peak_mb

    print(json.dumps({"seconds": perf_counter() - START, "cpu_seconds": process_time(), "peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()
