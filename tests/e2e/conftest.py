"""The same command line within this process: the same `main`, without a second for each start."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from shoal.cli.app import main
from tests.e2e.command import Ended, RunHere


@pytest.fixture
def run_here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunHere:
    """Call `shoal` as `run_command` does, but here."""

    def run(*arguments: str | Path, cwd: Path | None = None) -> Ended:
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        capsys.readouterr()
        with monkeypatch.context() as patched:
            patched.setattr(sys, "argv", ["shoal", *map(str, arguments)])
            if cwd is not None:
                patched.chdir(cwd)
            try:
                main()
            except SystemExit as end:
                code = end.code
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)
        assert isinstance(code, int)
        shown = capsys.readouterr()
        return Ended(code, shown.out, shown.err)

    return run
