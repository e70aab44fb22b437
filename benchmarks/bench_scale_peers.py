"""The largest table that ARX is said to hold, in a tenth of its memory; and every peer that installs, beside us.

``python -m benchmarks.bench_scale_peers`` measures both in one run and writes the table of ``docs/how-to/memory.md``.
With ``--folder`` the drawn files stay there, and are not drawn again.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.data import adult
from benchmarks.large import Drawn, drawn_from, write_large

DERIVED = {
    "person": "number",
    "name": "'Person ' || number",
    "email": "'p' || number || '@example.org'",
    "phone": "(number * 7919 + 12345) % 10000000000",
    "birth date": "DATE '1994-06-30' - CAST(age * 365 + number * 31 % 365 AS INTEGER)",
    "street": "'Street ' || (number * 104729 % 50021)",
    "net gain": '"capital-gain" - "capital-loss"',
    "weekly hours": "CASE WHEN \"hours-per-week\" < 35 THEN 'part' WHEN \"hours-per-week\" > 45 THEN 'over' ELSE 'full' END",
    "wave": "1 + number % 4",
    "mode": "CASE number * 7919 % 3 WHEN 0 THEN 'phone' WHEN 1 THEN 'visit' ELSE 'web' END",
}


def wide(new_share: float) -> Drawn:
    """All 15 columns of Adult and ten derived from them."""
    few = drawn_from()
    return Drawn("Adult", adult().columns, few.quasi, few.sensitive, DERIVED, new_share)


if __name__ == "__main__":
    n, share, path = int(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3])
    write_large(n, path, wide(share))
