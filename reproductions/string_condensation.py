"""Section 5 of the paper on condensation of strings: `python -m reproductions.string_condensation [PART ...]`.

C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and Knowledge
Discovery 16(3), 2008: Figs 4 to 15 and Table 2, at the paper's setting and with the default support, and how much of
the pseudo-strings stands verbatim in originals. Measures everything (about ten minutes on two quiet cores), or the
named parts alone, and writes `docs/reproductions/string-condensation.md` and its pictures. ``page`` measures nothing
and writes the page from what is stored in `reproductions/results`.
"""

from __future__ import annotations

import argparse
import time

from reproductions.string_findings import PARTS, compute, load
from reproductions.string_page import page
from reproductions.string_pictures import draw_all
from reproductions.string_sets import ROOT

PAGE = ROOT / "docs" / "reproductions" / "string-condensation.md"


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(prog="python -m reproductions.string_condensation", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; or page; all if none is named")
    asked = parser.parse_args().parts or list(PARTS)
    unknown = [part for part in asked if part not in {*PARTS, "page"}]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)} and page")
    for part in asked:
        if part != "page":
            start, work = time.perf_counter(), time.process_time()
            compute(part)
            print(f"{part}: {time.perf_counter() - start:.0f} s, {time.process_time() - work:.0f} s of processor time")
    found = load()
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(found), encoding="utf-8")
    draw_all(found, PAGE.parent)


if __name__ == "__main__":
    main()
