"""How long `import shoal` and `shoal --help` take, beside an interpreter that does nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.harness import Case, Contestant, Setting, timed

HELP = "import sys; sys.argv = ['shoal', '--help']; from shoal.cli.app import main; main()"


def cases(setting: Setting) -> Iterator[Case]:
    """One case, each call a process."""
    yield Case(
        "start",
        "from the shell to the first answer",
        "none",
        [
            started("shoal --help", HELP, at_most=0.3),
            started("import shoal", "import shoal", at_most=0.3),
            started("python -c pass", "pass"),
        ],
    )


def started(name: str, code: str, at_most: float | None = None) -> Contestant:
    """A process that runs a line of Python."""
    return timed(
        name,
        lambda: subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL),
        at_most=at_most,
        in_process=False,
    )
