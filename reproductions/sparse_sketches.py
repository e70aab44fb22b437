"""Section 4 of the paper on sketches of sparse records: `python -m reproductions.sparse_sketches [PART ...]`.

C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007: Figs 3 to
14, as printed, with the exact variance, and with the defaults. Measures what is not stored yet in
`reproductions/results` and writes `docs/reproductions/sparse-sketches.md` and its pictures. ``page`` measures nothing.
``--quick`` takes small sets, to see that everything runs, and writes into `build`.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from reproductions.sparse_findings import PARTS, QUICK, STORE, Scale, compute, load
from reproductions.string_sets import ROOT

FOLDER = ROOT / "docs" / "reproductions"
QUICK_FOLDER = ROOT / "build" / "sparse-sketches"


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(prog="python -m reproductions.sparse_sketches", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; or page; all if none is named")
    parser.add_argument("--quick", action="store_true", help="small sets; nothing in docs is changed")
    parser.add_argument("--again", action="store_true", help="measure anew what is stored")
    parser.add_argument("--no-page", action="store_true", help="only measure")
    parser.add_argument("--baskets", type=int, metavar="N", help="records of the sets C20.I4 and C20.I6")
    asked = parser.parse_args()
    unknown = [part for part in asked.parts if part not in {*PARTS, "page"}]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)} and page")
    scale, folder, store = Scale(), FOLDER, STORE
    if asked.quick:
        scale, folder, store = QUICK, QUICK_FOLDER, QUICK_FOLDER / "results.json"
    if asked.baskets:
        scale = replace(scale, baskets=asked.baskets)
    for part in asked.parts or PARTS:
        if part != "page":
            compute(part, scale, store, asked.again, lambda text: print(text, flush=True))
    if not asked.no_page:
        from reproductions.sparse_page import page
        from reproductions.sparse_pictures import draw_all

        found = load(store, scale)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "sparse-sketches.md").write_text(page(found, scale), encoding="utf-8")
        draw_all(found, scale, folder)
        print(f"written: {folder / 'sparse-sketches.md'}")


if __name__ == "__main__":
    main()
