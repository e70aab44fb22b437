"""Every attack on every method: `python -m reproductions.attacks [--quick] [--again] [NAME ...]`.

Adult, yeast proteins, T10I4D100K and 20 newsgroups; groups of 5 and of 20; a tenth of the records held out as the
control. Writes `docs/reproductions/attacks.md` and its picture from what is stored in `reproductions/results`; what is
not there is measured first (about ten minutes of processor time for all). With ``--quick`` 2,000 records of each set
are taken, nothing is stored, and the page is printed. A NAME is a part of the names of releases to measure anew.
"""

from __future__ import annotations

import argparse
import time

from reproductions.attack_findings import Found, attack, load, save
from reproductions.attack_page import page
from reproductions.attack_picture import draw
from reproductions.attack_releases import all_releases
from reproductions.string_sets import ROOT

PAGE = ROOT / "docs" / "reproductions" / "attacks.md"
STORE = ROOT / "reproductions" / "results" / "attacks.json"
N_QUICK = 2000


def main() -> None:
    """Measure what is missing and write the page."""
    parser = argparse.ArgumentParser(prog="python -m reproductions.attacks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="measure releases anew whose names hold one of these")
    parser.add_argument("--quick", action="store_true", help="few records, and print the page")
    parser.add_argument("--again", action="store_true", help="measure all anew")
    asked = parser.parse_args()
    releases = list(all_releases())
    found = {} if asked.quick or asked.again else load(STORE)
    for made in releases:
        if made.key in found and not any(name in made.key for name in asked.names):
            continue
        start = time.perf_counter()
        found[made.key] = attack(made, N_QUICK if asked.quick else None)
        print(
            f"{made.key}: {time.perf_counter() - start:.0f} s, {found[made.key].cpu_seconds:.0f} s of processor time",
            flush=True,
        )
        if not asked.quick:
            save(found, STORE)
    rows: list[Found] = [found[made.key] for made in releases]
    if asked.quick:
        print(page(rows))
        return
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(rows), encoding="utf-8")
    draw(rows, PAGE.with_suffix(".svg"))


if __name__ == "__main__":
    main()
