"""What jobs do: the verbs of the Python API, and what pages show of their results, kept as plain files."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from shoal.data.sniff import one_look
from shoal.errors import PolicyError, ShoalError
from shoal.kernels.compile_time import is_compiling, when_compiling_changes
from shoal.kind import ColumnPlace, fitting_policy, kind_named
from shoal.shown import Grid, Shown
from shoal.studio.edit import as_content
from shoal.studio.jobs import JOBS, Job
from shoal.studio.session import LOOKED, Session
from shoal.studio.words import as_command

N_ROWS = 8
"""Records that are shown, before and after."""
MOST_VALUES = 20_000
"""Values of a column that its hierarchy is compared with."""
MADE, SWEPT, ATTACKED, PUBLISHED = "made.json", "swept.json", "attacked.json", "published.json"
OFFERED = "offered.json"
_BETWEEN_NOTES = 0.2  # seconds

Tell = Callable[[str, int, int], None]


def plain_shown(shown: list[str | Grid]) -> list[Any]:
    """Lines and tables for a page."""
    return [part if isinstance(part, str) else plain_grid(part) for part in shown]


def plain_grid(grid: Grid) -> dict[str, Any]:
    """A table for a page."""
    return {"headings": list(grid.headings), "rows": [list(row) for row in grid.rows], "right": list(grid.right)}


def look(session: Session, tell: Tell) -> None:
    """Read the source for the first time: what it seems to hold, and a policy to begin with."""
    from shoal.kernels.compile import interpreted

    tell("reading", 0, 0)
    stamp = session.stamp  # before it is read: what is written meanwhile is newer
    kind, policy = fitting_policy(session.source, session.policy)
    try:
        data = kind.load(session.source, policy)
    except ShoalError:
        with suppress(ShoalError):  # where no file can be read at all
            session.keep(OFFERED, kind.offered(session.source, policy))
        raise
    session.keep(OFFERED, kind.offered(data, policy))
    tell("looking at the records", 0, 0)
    with interpreted(kind.is_small(data)):
        found = kind.profile(data, policy, sweep=False, progress=tell)
    proposal = session.policy_of(found.to_toml())
    profile: dict[str, Any] = found.to_dict()
    told = {
        ColumnPlace(column["name"], table): column
        for table, part in {"": profile, **profile.get("tables", {})}.items()
        for column in part.get("columns", [])
        if "name" in column
    }
    tell("looking at columns", 0, 0)
    columns, adds = kind.columns_of(data), kind.told_apart_by(data, proposal)
    for i, look in enumerate(kind.hierarchies(data, policy, MOST_VALUES).values()):
        session.keep(
            f"hierarchies/values-{i}.json",
            {"values": look.values, "n_values": look.n_values, "bands": look.bands},
            is_durable=False,
        )
    is_first = session.kept(LOOKED) is None
    session.keep(
        LOOKED,
        {
            "n_records": len(data),
            "counted": "Persons" if "persons" in profile else "Records",
            "stamp": stamp,
            "holds": kind.policy.noun,
            "rows": [(name, plain_grid(grid)) for name, grid in kind.first_tables(data, N_ROWS).items()],
            "shown": plain_shown(found.shown()),
            "columns": [told.get(place, {}) for place in columns],
            "names": columns,
            "adds": [adds.get(place) for place in columns],
            "reasons": {_key_of(place): column.get("why", "") for place, column in told.items()},
            "risk": profile.get("risk"),
            "person": profile.get("person"),
            "proposal": found.to_toml(),
        },
    )
    if is_first:
        with session.alone():
            session.change(session.written(with_decisions(proposal, session.policy)), "guessed from the data")


def _key_of(place: ColumnPlace) -> str:
    """Where a policy file says something of a column."""
    return f"tables.{place.table}.columns.{place.name}" if place.table else f"columns.{place.name}"


def with_decisions(proposal: Any, policy: Any) -> Any:
    """A proposal with what was decided before it was found; that alone where both do not go together."""
    if type(policy) is not type(proposal):
        return proposal if policy == type(policy)() else policy
    content, before = as_content(proposal), as_content(type(policy)())
    for key, value in as_content(policy).items():
        if value == before[key]:
            continue
        if isinstance(value, dict) and isinstance(content[key], dict):
            content[key] |= {name: one for name, one in value.items() if before[key].get(name) != one}
        else:
            content[key] = value
    try:
        return type(policy)(**content)
    except PolicyError:
        return policy


def make(
    session: Session, tell: Tell, *, seed: int | None = None, hold_out: float | None = None, step: int = 0
) -> None:
    """Make a release, check it, measure and attack it, and keep it whole in the session."""
    from shoal.api import anonymize

    policy, stamp = _policy_at(session, step), session.stamp
    release = anonymize(session.source, policy, seed=seed, hold_out=hold_out, progress=tell)
    tell("attacking the release", 0, 0)
    _ = release.attacked
    tell("writing the release", 0, 0)
    kind = kind_named(release.kind)
    number = max((int(p.name.split("-")[0]) for p in (session.folder / "made").glob("[0-9]*")), default=0) + 1
    out = session.folder / "made" / str(number)
    release.save(out, command=as_command(session, seed, hold_out))
    shutil.rmtree(out.with_name(f"{number}-evidence"), ignore_errors=True)
    release.keep_evidence(out.with_name(f"{number}-evidence"))
    ahead, behind = kind.shown(release)
    verdict = release.judged()
    session.keep(
        MADE,
        {
            "number": number,
            "step": step,
            "stamp": stamp,
            "policy": session.step(step).text if step else session.text,
            "seeded": seed is not None,
            "held_out": hold_out,
            "records": release.records,
            "noun": release.noun,
            "suppressed": dict(release.suppressed),
            "verdict": {"level": verdict.level, "lines": [list(line) for line in verdict.lines]},
            "guarantees": [g.to_dict() for g in release.guarantees],
            "notes": list(release.notes),
            "lines": [line.strip() for line in (*ahead, *behind)],
            "pairs": [
                {
                    "table": name,
                    "before": plain_grid(before),
                    "after": plain_grid(after if after.rows else _first_lines(out / "publish")),
                    "is_paired": is_paired and bool(after.rows),
                }
                for name, (before, after, is_paired) in kind.paired_tables(release, N_ROWS).items()
            ],
        },
    )
    for other in (session.folder / "made").glob("[0-9]*"):
        if other.name.split("-")[0] != str(number):
            shutil.rmtree(other, ignore_errors=True)


def _policy_at(session: Session, step: int) -> Any:
    """What was asked for when the work was begun, whatever was changed since."""
    return session.policy_of(session.step(step).text) if step else session.policy


def _first_lines(publish: Path) -> Grid:
    """The first lines of what is published, where it has no other rows to show."""
    name = next((p for p in sorted(publish.glob("data*")) if p.suffix in (".csv", ".txt", ".dat", ".json")), None)
    if name is None:
        return Grid((), [])
    with name.open(encoding="utf-8", errors="replace") as file:
        lines = [line.rstrip("\n")[:400] for line, _ in zip(file, range(N_ROWS + 1), strict=False)]
    return Grid((name.name,), [(line,) for line in lines])


def sweep(session: Session, tell: Tell, *, step: int = 0, **how: Any) -> None:
    """Try methods and their parameters, and keep what each leaves of risk and costs."""
    from shoal.report.sweep import columns_of, line_of, table_rows, verdict, words_of
    from shoal.sweep.cell import finite
    from shoal.sweep.sweep import sweep as sweep_source

    policy = _policy_at(session, step)
    found = sweep_source(session.source, policy, progress=tell, folder=session.folder / "sweep", **how)
    frontier = found.frontier
    session.keep(
        SWEPT,
        {
            "step": step,
            "columns": list(columns_of(found)),
            "words": list(words_of(found)),
            "rows": [list(row) for row in table_rows(found)],
            "cells": [
                {
                    "k": c.k,
                    "settings": {n: getattr(c, n) for n in found.form.settings},
                    "holds": c.holds,
                    "frontier": c in frontier,
                    "proposed": c == found.proposed,
                    "sentence": c.sentence,
                    "risk": c.risk if c.holds else None,
                    "loss": finite(c.loss(found.measures[0])) if c.holds else None,
                    "told": f"{line_of(found, c)} with k = {c.k}",
                }
                for c in found.cells
            ],
            "verdict": verdict(found),
            "risk": found.form.risks[found.form.decisive()].axis or "risk",
            "loss": found.form.measures[found.measures[0]].axis or found.measures[0],
            "n_records": found.n_rows,
            "noun": found.noun,
            "note": found.note,
        },
    )


def attack(session: Session, tell: Tell, *, names: list[str] | None = None, control: list[str] | None = None) -> None:
    """Attack what was made, as others could."""
    from shoal.api import attack as attack_folder

    out, made = made_folder(session)
    found = attack_folder(
        out / "publish",
        session.source,
        None if control is None else _named_alike(session, control),
        out / "private",
        names=names or None,
        progress=tell,
    )
    session.keep(ATTACKED, {"made": made["number"], "shown": plain_shown(found.shown()), "results": found.to_dict()})


def _named_alike(session: Session, control: list[str]) -> Any:
    """Files to compare with, by the names of the tables that each is compared with."""
    source = session.source
    return dict(zip(source, map(Path, control), strict=True)) if isinstance(source, Mapping) else Path(control[0])


def publish(session: Session, tell: Tell, *, out: str, number: int | None = None) -> None:
    """Copy what was made to where it is wanted, and check the copy."""
    from shoal.api import check
    from shoal.stage import staged

    tell("writing the release", 0, 0)
    source, made = made_folder(session)
    if number not in (None, made["number"]):
        raise PolicyError("the release was made again meanwhile; look at it first, and write it then")
    target = Path(out)
    with staged(target) as stage:
        for part in ("publish", "private"):
            shutil.copytree(source / part, stage / part, copy_function=shutil.copy2)
            (stage / part).chmod((source / part).stat().st_mode & 0o777)
    tell("checking what was written", 0, 0)
    evidence = source.with_name(f"{source.name}-evidence")  # more than the folder keeps, which the check asks for
    found: Shown = check(target / "publish", session.source, None, evidence)
    session.keep(
        PUBLISHED,
        {
            "made": made["number"],
            "out": str(target),
            "holds": getattr(found, "holds", False),
            "shown": plain_shown(found.shown()),
        },
    )


def made_folder(session: Session) -> tuple[Path, dict[str, Any]]:
    """What was made last, and what is told of it."""
    made = session.kept(MADE)
    folder = session.folder / "made" / str((made or {}).get("number", ""))
    if made is None or not (folder / "publish").is_dir():
        raise PolicyError("no release was made yet; make one first")
    return folder, made


VERBS: Mapping[str, Callable[..., None]] = {
    "look": look,
    "make": make,
    "sweep": sweep,
    "attack": attack,
    "publish": publish,
}


def run_job(session: Session, job: Job) -> None:
    """Do what a job asks for, and say how it ended; an error is the sentence that the command line prints."""
    ask = job.read("ask.json") or {}
    verb, how = str(ask.get("verb")), dict(ask.get("how", {}))
    job.forget_seed()
    if verb in ("make", "sweep"):
        how["step"] = ask.get("step", 0)
    last, written_at = ("starting", 0, 0), 0.0

    def tell(what: str, done: int, total: int) -> None:
        nonlocal last, written_at
        now = time.monotonic()
        if what != last[0] or now - written_at > _BETWEEN_NOTES or done == total:
            written_at = now
            write(what, int(done), int(total))
        last = (what, int(done), int(total))

    def write(what: str, done: int, total: int) -> None:
        doing = f"{what} (compiling, on the first run only)" if is_compiling() else what
        job.write("progress.json", [doing, done, total])

    try:
        with one_look(), when_compiling_changes(lambda: write(*last)):
            VERBS[verb](session, tell, **how)
    except ShoalError as error:
        job.end("failed", str(error))
    except MemoryError:
        job.end("failed", "there is not enough memory for this data; nothing was written")
    except Exception as error:
        if os.environ.get("SHOAL_TRACEBACK"):
            import traceback

            (job.folder / "traceback.txt").write_text(traceback.format_exc(), encoding="utf-8")
        job.end("failed", f"this is a defect of Shoal ({type(error).__name__}); nothing was written. Please report it")
    else:
        job.end("done")


def main() -> None:
    """Work on a job of a session, both named by the arguments."""
    folder, number = sys.argv[1:]
    session = Session(Path(folder))
    run_job(session, Job(session.folder / JOBS / f"{int(number):06d}"))


if __name__ == "__main__":
    main()
