"""Runs in bounded memory that go on where an earlier one was killed: what they depend on, and what is taken up."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shoal._version import __version__
from shoal.data.memory import bounded
from shoal.data.tables.files import address_of, is_server
from shoal.data.tables.format import FORMATS
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.kept_table import IN_FILES, TABLE, keep_table, kept_table
from shoal.data.tables.parts import look_at
from shoal.data.tables.spill import kept_in
from shoal.data.tables.table import Table
from shoal.data.tables.unchanged import changed, states_of
from shoal.errors import DataError, PolicyError
from shoal.kind import Run
from shoal.kinds.tables.policy import Policy
from shoal.progress import Progress
from shoal.resume import FinishedStep, StepFolder

_SOURCE = "source, or one that was written to"
_UNREAD = {"context", "metadata"}
"""Keys of a policy that change no step."""


def open_steps(source: Any, policy: Policy, run: Run) -> StepFolder:
    """The folder in which a run is to leave what it has finished.

    Raises
    ------
    PolicyError
        If the run is none that can be taken up.
    ShoalError
        If the folder cannot be used.
    """
    assert run.resume is not None
    if policy.memory is None:
        raise PolicyError(
            "resume is for tables in bounded memory: ask for that too (--memory 2GB), or leave resume out"
        )
    if run.after is not None or policy.releases == "several":
        raise PolicyError("resume is for one release alone: leave resume out, or releases and what came before")
    if not isinstance(source, str | Path) or is_server(source):
        raise PolicyError("resume is for files, which can be found again as they were: leave resume out")
    where, _ = address_of(source)
    seen = look_at(where)
    if not next(format for format in FORMATS.values() if format.looks_like(seen)).stands_in_files:
        raise PolicyError(
            f"{where} is a database, in which more than its file may change: write the table to Parquet first, or "
            "leave resume out"
        )
    folder = Path(os.path.realpath(where))
    if folder.is_dir() and folder in (Path(os.path.realpath(run.resume)), *Path(os.path.realpath(run.resume)).parents):
        raise PolicyError(f"{run.resume} is in the folder that is read; name one elsewhere")
    depends = {
        _SOURCE: source_digest(source),
        "policy": policy_digest(policy),
        "version of Shoal": _digest([__version__, sys.byteorder]),
    }
    return StepFolder.open(run.resume, depends, run.seed, run.progress, are_whole)


def are_whole(steps: Mapping[str, FinishedStep]) -> bool:
    """Whether steps are enough to go on from: the table, and, where they lie in files, its rows in whatever order."""
    table = steps.get(TABLE)
    return table is not None and (table.told.get("rows") is None or not steps.keys().isdisjoint(IN_FILES))


def source_digest(source: str | Path) -> str:
    """What the system tells of the files of a source, and how they were named."""
    where, named = address_of(source)
    told = [[*state, os.stat(state.path).st_ctime_ns] for state in states_of(where)]
    return _digest([os.path.abspath(where), named, told])


def policy_digest(policy: Policy) -> str:
    """All of a policy that steps may depend on, with what stands in the files that it names."""
    columns = policy.columns.values()
    files = {c.hierarchy for c in columns if isinstance(c.hierarchy, str) and c.hierarchy != "auto"}
    return _digest([policy.model_dump(exclude=_UNREAD), {name: _content(Path(name)) for name in sorted(files)}])


def _content(path: Path) -> list[Any]:
    """What stands in a file, and when it was written: it is read again after this, and steps are made of that."""
    try:
        told = path.stat()
        return [hashlib.sha256(path.read_bytes()).hexdigest(), told.st_mtime_ns, told.st_ctime_ns]
    except OSError:  # whoever reads it says what is wrong with it
        return []


def _digest(told: Any) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=_plain).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Hierarchy):
        return ["hierarchy", value.rows]
    raise TypeError(f"no checksum is known of a {type(value).__name__}")


def table_of(
    steps: StepFolder, source: str | Path, policy: Policy, progress: Progress | None, load: Callable[[], Table]
) -> Table:
    """The distinct rows that an earlier run read, or else those that are read now, which are kept.

    Raises
    ------
    DataError
        If the source is written to meanwhile.
    """
    if (found := steps.found(TABLE)) is not None:
        if progress is not None:
            progress("taking up the distinct rows that an earlier run read", 0, 0)
        try:
            with bounded(policy.n_bytes):
                table = kept_table(found, steps)
        except (ValueError, KeyError, TypeError, OSError):
            raise DataError(
                f"{steps.path}: what an earlier run finished there is damaged, and was removed; the same command makes "
                "all anew"
            ) from None
        steps.notes.append("The distinct rows were read by an earlier run that did not end, and were taken up from it.")
        return table
    with kept_in(steps):
        table = load()
    if source_digest(source) != steps.depends[_SOURCE]:
        raise changed(Path(source))
    keep_table(steps, table)
    return table
