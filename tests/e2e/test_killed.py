"""Killed at any moment, a run leaves a whole release or none, and the next run clears away its stage."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.command import call_here, leftovers, run_command, start_command, write

N_KILLS = 25
ARGUMENTS = (
    "anonymize",
    "many.csv",
    "--quasi",
    "age,zip,sex",
    "--sensitive",
    "disease",
    "-k",
    "5",
    "-l",
    "2",
    "-o",
    "out",
)


def table(n_rows: int, draw: random.Random) -> str:
    rows = (
        f"{draw.randint(17, 90)},{draw.randint(10000, 10999)},{draw.choice('mf')},{draw.choice('abcd')},note {i}"
        for i in range(n_rows)
    )
    return "\n".join(["age,zip,sex,disease,note", *rows, ""])


@pytest.mark.slow
def test_kills_at_many_moments(tmp_path: Path) -> None:
    draw = random.Random(20)
    write(tmp_path / "many.csv", table(40_000, draw))
    out = tmp_path / "out"
    durations = []
    for _ in range(3):  # the first one may compile
        began = time.monotonic()
        assert run_command(*ARGUMENTS, cwd=tmp_path).code == 0
        durations.append(time.monotonic() - began)
        shutil.rmtree(out)
    whole = min(durations[1:])

    n_released = n_stages = 0
    for i in range(N_KILLS):
        # Half of the kills anywhere, half in the last part, where files are written; every fifth as soon as there is one.
        moment = whole * (draw.uniform(0.02, 1.02) if i % 2 else draw.uniform(0.6, 1.05))
        before = set(leftovers(tmp_path))
        began = time.monotonic()
        process = start_command(*ARGUMENTS, cwd=tmp_path)
        while i % 5 == 0 and process.poll() is None:
            if set(leftovers(tmp_path)) - before:
                process.kill()
            time.sleep(0.001)
        try:
            process.communicate(timeout=moment)
            if process.returncode == 0:
                whole = min(whole, time.monotonic() - began)  # the machine was busier before
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        n_stages += bool(set(leftovers(tmp_path)) - before)
        if out.exists():
            checked = call_here("check", "out/publish", "--original", "many.csv", cwd=tmp_path)
            assert checked.code == 0, checked.stdout + checked.stderr
            assert (out / "private" / "report.html").stat().st_size > 0
            n_released += 1
            shutil.rmtree(out)

    assert n_released < N_KILLS
    assert n_stages > 0, "some kills must fall into the writing, else nothing was tried"
    assert run_command(*ARGUMENTS, cwd=tmp_path).code == 0
    assert leftovers(tmp_path) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["many.csv", "out"]
    print(f"{whole:.2f} s a run; {n_stages} of {N_KILLS} kills left a stage, {n_released} came after the release")
