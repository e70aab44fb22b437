"""Parquet files of more distinct rows than fit into the memory that is given, to checked folders.

``python -m benchmarks.bench_scale_spill`` measures 3, 10 and 30 million rows, of which nearly all are distinct, and
writes a table of ``docs/benchmarks-memory.md``; sizes may be named, and with ``--folder`` drawn files stay there. The
smallest table is also released from memory, which has to give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import show, store
from benchmarks.bench_scale_memory import K, measured_cases, released, sizes_and_folder
from benchmarks.harness import Case, Contestant, Outcome, Setting, growth
from benchmarks.large import Drawn, drawn_from

MEMORY, HELD = "1GB", "4GB"
SIZES = (3_000_000, 10_000_000, 30_000_000)


def numbered(source: Drawn) -> Drawn:
    """The same rows with one more quasi-identifier, which all of them have different."""
    numbers = np.arange(len(next(iter(source.columns.values()))))
    return replace(source, columns={**source.columns, "number": numbers}, quasi=(*source.quasi, "number"))


def cases(setting: Setting, sizes: Sequence[int] = SIZES, drawn: Path | None = None) -> Iterator[Case]:
    """Each size in a process of its own."""
    source = numbered(drawn_from(is_clinic=setting.quick))
    sizes = [400] if setting.quick else sizes
    checksums: dict[str, str] = {}
    spilled = {n: f"{n:,} rows, --memory {MEMORY}" for n in sizes}
    held = f"{sizes[0]:,} rows, --memory {HELD}, which holds them"

    def run(name: str, n_rows: int, memory: str) -> Contestant:
        task = {"memory": memory, "asked": {"k": K}}
        return released(name, source, n_rows, task, checksums, drawn, stem="numbered")

    def summary(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
        found = growth(list(sizes), [outcomes[name].cpu_seconds or 0.0 for name in spilled.values()])
        same = checksums.get(spilled[sizes[0]], "") == checksums.get(held, "not made")
        return {**(found if len(sizes) > 1 else {}), "pairs with the same bytes": float(same)}

    yield Case(
        "scale, distinct rows in files",
        f"shoal.anonymize and save without a report: strict Mondrian, k = {K}, {len(source.quasi)} quasi-identifiers, "
        "Parquet in and out, checked from the written file",
        f"{source.origin}, drawn with replacement, 30 % of the cells drawn anew, with a number that all rows have "
        "different before",
        [*(run(name, n, MEMORY) for n, name in spilled.items()), run(held, sizes[0], HELD)],
        summary,
    )


def main() -> None:
    """Measure the sizes that are named, store the run, and write it into the page."""
    sizes, folder = sizes_and_folder(__doc__, SIZES)
    run = measured_cases(cases, sizes, folder)
    store.write(run, "scale-spill")
    show.print_run(run)
    show.fill_part(show.MEMORY_PAGE, "spilled", show.markdown(run))


if __name__ == "__main__":
    main()
