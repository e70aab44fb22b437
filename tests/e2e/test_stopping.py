"""The first Ctrl-C while groups are improved keeps the best so far; the second ends everything."""

from __future__ import annotations

import json
import os
import pty
import random
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.e2e.command import call_here, command_line, environment, write

PATIENCE = 600.0  # seconds for what takes a few on a quiet machine, compilation included
ARGUMENTS = (
    "anonymize", "many.csv", "--quasi", "a,b,c,d", "--others", "identifying", "-k", "5", "--method", "mdav",
    "--effort", "best", "--publish", "aggregate", "--seed", "1", "-o", "out",
)  # fmt: skip


class Screen:
    """A command with a terminal for its messages, and what it has shown there."""

    def __init__(self, folder: Path) -> None:
        draw = random.Random(3)
        rows = (",".join(f"{draw.gauss(0, 1):.4f}" for _ in range(4)) + f",note {i}" for i in range(3_000))
        write(folder / "many.csv", "\n".join(["a,b,c,d,note", *rows, ""]))
        self.end, side = pty.openpty()
        self.process = subprocess.Popen(
            command_line(ARGUMENTS), cwd=folder, env=environment(TERM="xterm", COLUMNS="160"),
            stdout=subprocess.PIPE, stderr=side, text=True,
        )  # fmt: skip
        os.close(side)
        self.shown = ""
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self.end, 65536)
            except OSError:  # the other side is closed
                return
            if not part:
                return
            self.shown += part.decode(errors="replace")

    def wait_for(self, text: str) -> None:
        end = time.monotonic() + PATIENCE
        while text not in self.shown:
            assert time.monotonic() < end, self.shown[-2000:]
            assert self.process.poll() is None, self.shown[-2000:]
            time.sleep(0.05)

    def finish(self) -> tuple[int, str]:
        try:
            stdout, _ = self.process.communicate(timeout=PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
        self.reader.join(timeout=PATIENCE)
        os.close(self.end)
        return self.process.returncode, stdout


@pytest.mark.slow
def test_the_first_interrupt_keeps_the_best_groups_so_far(tmp_path: Path) -> None:
    screen = Screen(tmp_path)
    screen.wait_for("improving groups")
    screen.wait_for("Ctrl-C: stop here")
    began = time.monotonic()
    screen.process.send_signal(signal.SIGINT)
    code, stdout = screen.finish()
    print(f"ended {time.monotonic() - began:.1f} s after the signal")
    assert code == 0, screen.shown[-2000:]
    assert "stopping in a moment, with the best groups so far" in screen.shown
    assert "was stopped" in stdout
    assert "the same seed need not give it again" in stdout
    checked = call_here("check", "out/publish", "--original", "many.csv", "--json", cwd=tmp_path)
    assert checked.code == 0, checked.stdout + checked.stderr
    assert json.loads(checked.stdout)["holds"] is True


@pytest.mark.slow
def test_the_second_interrupt_ends_everything(tmp_path: Path) -> None:
    for _ in range(5):
        screen = Screen(tmp_path)
        screen.wait_for("Ctrl-C: stop here")
        screen.process.send_signal(signal.SIGINT)
        screen.wait_for("stopping in a moment")
        screen.process.send_signal(signal.SIGINT)
        code, _ = screen.finish()
        if code != 0:
            break
        shutil.rmtree(tmp_path / "out")  # all was written before the second came: this machine is busy
    assert code == 130, screen.shown[-2000:]
    assert "interrupted; nothing was written" in screen.shown
    assert sorted(p.name for p in tmp_path.iterdir()) == ["many.csv"]
