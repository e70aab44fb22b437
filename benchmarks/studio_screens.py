"""`python -m benchmarks.studio_screens [ROWS [N_MADE]]`: how long each screen of the studio takes on a large table.

The table is read once, as when it is opened, and a release is made of it, or of a smaller table where that is asked for
(what the pages show of a release is as large); then every screen is asked for three times, and the longest answer
counts. A change of the policy is timed too, from the form to the page that follows. All times are processor time of
all threads, as others may work on the machine. `docs/how-to/studio.md` then has the table.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.child import ROOT
from benchmarks.show import fill_part
from shoal.data.samples.clinic import clinic
from shoal.data.tables.frames import from_frame
from shoal.data.tables.write import write_table
from shoal.studio.jobs import begin
from shoal.studio.session import LOOKED
from shoal.studio.words import SCREENS
from tests.unit.studio.client import Client, at_once

KEPT = Path(__file__).parent / "results" / "studio_screens.json"
PAGE = ROOT / "docs" / "how-to" / "studio.md"


def timed(work: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    """Processor seconds of some work, and what it gives."""
    began = time.process_time()
    found = work(*given)
    return time.process_time() - began, found


def measure(n_rows: int, n_made: int) -> dict[str, Any]:
    """Seconds of each screen, and of what goes before."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        write_table(from_frame(clinic(n_rows)), top / "clinic.csv")
        client = Client(top)
        reading, _ = timed(client.post, "/open", {"place": "clinic.csv"})
        session = client.session("clinic-1")
        assert session.kept(LOOKED)["n_records"] == n_rows
        print(f"read in {reading:.1f} s", flush=True)
        if n_made < n_rows:
            write_table(from_frame(clinic(n_made)), top / "clinic.csv")
        making, job = timed(begin, session, "make", {}, at_once)
        made = job.state
        print(f"{made} in {making:.1f} s", flush=True)
        screens = {}
        for screen in SCREENS:
            times = []
            for _ in range(3):
                seconds, page = timed(client.get, f"/clinic-1/{screen}")
                assert page.status == 200
                times.append(seconds)
            screens[screen] = round(max(times), 3)
        form = {"require/0:k-anonymity/k": "7", "step": str(session.last)}
        change, _ = timed(client.post, "/clinic-1/requirements", form)
    return {
        "rows": n_rows,
        "made of": n_made,
        "first reading": round(reading, 1),
        "making": round(making, 1),
        "made": made,
        "screens": screens,
        "change": round(change, 3),
    }


def table(found: dict[str, Any]) -> str:
    """The measurements as the page shows them."""
    lines = ["| screen | seconds |", "|---|---|"]
    lines += [f"| {SCREENS[name]} | {seconds:.2f} |" for name, seconds in found["screens"].items()]
    lines.append(f"| a change, and the page that follows | {found['change']:.2f} |")
    return (
        f"{found['rows']:,} rows, and a release made of {found['made of']:,}. The first reading took "
        f"{found['first reading']:.0f} s and the release {found['making']:.0f} s, with its check and the attacks; both "
        "go on in a process of their own. Processor seconds, the longest of three answers:\n\n" + "\n".join(lines)
    )


if __name__ == "__main__":
    asked = [int(word) for word in sys.argv[1:]] or [1_000_000]
    found = measure(asked[0], asked[-1])
    KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    fill_part(PAGE, "results", table(found))
    print(json.dumps(found, indent=1))
