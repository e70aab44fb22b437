"""Tables in slices in bounded memory, from Parquet files of millions of rows to checked folders.

``python -m benchmarks.bench_scale_buckets`` measures 1 and 10 million rows, and writes a table of
``docs/benchmarks-memory.md``; sizes may be named, and with ``--folder`` drawn files stay there. The smallest table is
also released from memory, which has to give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import show, store
from benchmarks.bench_scale_memory import MEMORY, K, measured_cases, released, sizes_and_folder
from benchmarks.harness import Case, Contestant, Outcome, Setting
from benchmarks.large import drawn_from

SIZES = (1_000_000, 10_000_000)
WAYS = ("bucketize", "slice")
T = 0.3


def cases(setting: Setting, sizes: Sequence[int] = SIZES, drawn: Path | None = None) -> Iterator[Case]:
    """Each way and size in a process of its own, and the smallest size in memory too."""
    source = drawn_from(is_clinic=setting.quick)
    sizes = [400] if setting.quick else sizes
    checksums: dict[str, str] = {}

    def name(way: str, n_rows: int, memory: str | None) -> str:
        return f"{n_rows:,} rows, {way}, {'held in memory' if memory is None else f'--memory {memory}'}"

    def run(way: str, n_rows: int, memory: str | None) -> Contestant:
        task = {"memory": memory, "asked": {"k": K, "t": T, "publish": way}}
        return released(name(way, n_rows, memory), source, n_rows, task, checksums, drawn)

    def summary(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
        pairs = [[checksums.get(name(way, sizes[0], memory)) for memory in (MEMORY, None)] for way in WAYS]
        return {"pairs with the same bytes": float(sum(one == other is not None for one, other in pairs))}

    yield Case(
        "scale, slices in bounded memory",
        f"shoal.anonymize and save without a report: k = {K}, t = {T:g}, {len(source.quasi)} quasi-identifiers, "
        "Parquet in and out, checked from the written file and the original",
        f"{source.origin}, drawn with replacement, 30 % of the cells drawn anew",
        [*(run(way, n, MEMORY) for way in WAYS for n in sizes), *(run(way, sizes[0], None) for way in WAYS)],
        summary,
    )


def main() -> None:
    """Measure the sizes that are named, store the run, and write it into the page."""
    sizes, folder = sizes_and_folder(__doc__, SIZES)
    run = measured_cases(cases, sizes, folder)
    store.write(run, "scale-buckets")
    show.print_run(run)
    show.fill_part(show.MEMORY_PAGE, "buckets", show.markdown(run))


if __name__ == "__main__":
    main()
