"""`python -m benchmarks.studio_screens [ROWS [N_MADE]]`: how long each screen of the studio takes on a large table.

The table is read once, as when it is opened, and a release is made of it, or of a smaller table where that is asked for
(what the pages show of a release is as large); then every screen is asked for three times, and the longest answer
counts. A change of the policy is timed too, from the form to the page that follows.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from shoal.data.samples.clinic import clinic
from shoal.data.tables.frames import from_frame
from shoal.data.tables.write import write_table
from shoal.studio.jobs import begin
from shoal.studio.session import LOOKED
from shoal.studio.words import SCREENS
from tests.unit.studio.client import Client, at_once

PAGE = Path(__file__).parent / "results" / "studio_screens.json"


def measure(n_rows: int, n_made: int) -> dict[str, object]:
    """Seconds of each screen, and of what goes before, which is processor time."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        write_table(from_frame(clinic(n_rows)), top / "clinic.csv")
        client = Client(top)
        began = time.process_time()
        client.post("/open", {"place": "clinic.csv"})
        reading = time.process_time() - began
        session = client.session("clinic-1")
        assert session.kept(LOOKED)["n_records"] == n_rows
        if n_made < n_rows:
            write_table(from_frame(clinic(n_made)), top / "clinic.csv")
        began = time.process_time()
        made = begin(session, "make", {}, at_once).state
        making = time.process_time() - began
        screens = {}
        for screen in SCREENS:
            times = []
            for _ in range(3):
                began = time.perf_counter()
                assert client.get(f"/clinic-1/{screen}").status == 200
                times.append(time.perf_counter() - began)
            screens[screen] = round(max(times), 3)
        began = time.perf_counter()
        client.post("/clinic-1/requirements", {"require/0:k-anonymity/k": "7", "step": str(session.last)})
        change = time.perf_counter() - began
    return {
        "rows": n_rows,
        "made of": n_made,
        "first reading": round(reading, 1),
        "making": round(making, 1),
        "made": made,
        "screens": screens,
        "change": round(change, 3),
    }


if __name__ == "__main__":
    asked = [int(word) for word in sys.argv[1:]] or [1_000_000]
    found = measure(asked[0], asked[-1])
    PAGE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))
