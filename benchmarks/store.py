"""Results on disk: one JSON file a run, with what is needed to read its numbers and nothing that names a host."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.harness import Result

FOLDER = Path(__file__).parent / "results"
LIBRARIES = ("numpy", "numba", "duckdb")


def machine() -> dict[str, Any]:
    """What the times depend on."""
    from shoal._version import __version__

    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "shoal": __version__,
        **{name: _version(name) for name in LIBRARIES},
    }


def load() -> float | None:
    """How many processes wanted to run in the last minute; None where the system does not say."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def as_run(results: Sequence[Result], load_before: float | None, quick: bool) -> dict[str, Any]:
    """A run as it is stored."""
    return {
        "date": datetime.date.today().isoformat(),
        "quick": quick,
        "machine": machine(),
        "load": [load_before, load()],
        "cases": [result.to_dict() for result in results],
    }


def write(run: dict[str, Any], name: str, folder: Path = FOLDER) -> Path:
    """Store a run under a name; it appears whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    beside = folder / f"{name}.json.tmp"
    beside.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(beside, path)
    return path


def read(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """A stored run."""
    found: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return found
