"""The page and the picture of `reproductions.stream`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproductions.stream import CASTLE_DELAY, CASTLE_NCP, CASTLE_SPEED, DELAYS, Found, K

ABOUT = """# Streams

Written by `python -m reproductions.stream`. Seconds are of processor time, as other work ran on the machine. How it is
done, and against whom it protects: [Publish records while they come in](../how-to/stream.md).
"""


def page(found: Found) -> str:
    """All parts that were run."""
    parts = [ABOUT, *(make(found[name]) for name, make in SECTIONS.items() if name in found)]
    return "\n".join(parts)


def _curve(found: Found) -> str:
    lines = [
        f"## What a delay costs\n\nAdult's six numbers, {found['records']:,} records in their order, k = {K}. "
        "NCP is the mean width of a label as a share of the column's range. *Published* is what comes out, with ends "
        "at round numbers; *exact ends* is the same with ends at values of members; *windows of Mondrian* are strict "
        "Mondrian on one window after the other, with exact ends.\n",
        "![NCP by delay](stream.svg)\n",
        "| delay | published | exact ends | windows of Mondrian, exact ends | CASTLE |",
        "|---:|---:|---:|---:|---:|",
    ]
    for i, delay in enumerate(DELAYS):
        castle = f"{CASTLE_NCP} (of its 1,000 rows)" if delay == CASTLE_DELAY else ""
        cells = [f"{found[name][i]:.3f}" for name in ("published", "exact", "mondrian")]
        lines.append(f"| {delay:,} | {' | '.join(cells)} | {castle} |")
    lines.append(
        f"\nCASTLE's are quoted figures of the public Python version: {CASTLE_SPEED} records a second, NCP "
        f"{CASTLE_NCP} at k = {K} and a delay of {CASTLE_DELAY}, on 1,000 of these rows; it was not run here.\n"
    )
    return "\n".join(lines)


def _speed(found: Found) -> str:
    lines = [
        "## Speed\n\nMicroseconds a record. Reading and writing are done by one thread while another groups, so the "
        "larger of both sides bounds what two cores do. *Whole* is all processor time of the command, from bytes to "
        "bytes, on both threads: what one core does by itself.\n",
        "| delay | read and encode | group | label and write | whole "
        "| records a second on one core | on two, at most |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for delay, steps in found.items():
        bound = 1e6 / max(steps["whole"] - steps["group"], steps["group"])
        cells = " | ".join(f"{steps[name]:.2f}" for name in ("read", "group", "write", "whole"))
        lines.append(f"| {int(delay):,} | {cells} | {round(1e6 / steps['whole'], -3):,.0f} | {round(bound, -3):,.0f} |")
    return "\n".join([*lines, ""])


def _long(found: Found) -> str:
    memory = [f"{found['MB'][n]:.0f}" for n in sorted(found["MB"], key=int)]
    return (
        f"## Many records\n\n{found['records']:,} records (Adult again and again), delay 1,000, into a folder "
        f"with journal and check: {found['published']:,} published, {found['seconds']:.0f} s in all. Memory of the "
        f"process in MB, at the start and after each million: {', '.join(memory)}; after the check of it all "
        f"{found['MB at the end']:.0f}. {' '.join(found['holds'])}\n"
    )


def _kills(found: Found) -> str:
    whole = "what it claims to be" if found["check"] else "NOT what it claims to be"
    return (
        f"## Kills\n\nA stream of {found['records']:,} numbered records, killed {found['kills']} times (SIGKILL, after "
        f"0.02 to 1.2 s) and gone on with each time: {found['lost']} records lost, {found['twice']} published twice. "
        f"`shoal check` with the original finds the folder {whole}.\n"
    )


def _visits(found: Found) -> str:
    records, loss = found["records"], found["loss"]
    columns = ", ".join(f"{name.removeprefix('NCP of ')} {share:.3f}" for name, share in loss.items() if name != "NCP")
    return (
        f"## Visits by day, by person\n\nnafld2 in the order of days: {records['in']:,} laboratory values of "
        f"{found['persons']:,} persons, delay 1,000, k = {K} persons. {records['out']:,} published, "
        f"{records['suppressed']:,} suppressed, NCP {loss['NCP']:.3f} ({columns}), {found['seconds']:.0f} s in all. "
        f"{' '.join(found['holds'])}\n"
    )


def _strings(found: Found) -> str:
    lines = [
        "## Strings\n\n2,400 splice sites in random order, k = 20, from the whole and from windows. Composition is the "
        "sum of differences of shares of symbols, pairs and triples are total variations, copies are pseudo-strings "
        "that equal any of the originals, runs are the longest that stand in an original.\n",
        "| delay | strings | composition | pairs | triples | copies | mean run | longest run |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, row in found.items():
        cells = [f"{row['strings']:,}", *(f"{row[n]:.4f}" for n in ("composition", "pairs", "triples"))]
        cells += [str(row["copies"]), f"{row['mean run']:.2f}", str(row["longest run"])]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    whole, windows = found["whole"], [row for name, row in found.items() if name != "whole"]
    more = {
        n: max(0.0, *(row[n] - whole[n] for row in windows)) for n in ("composition", "pairs", "triples", "mean run")
    }
    lines.append(
        f"\nThe margin: composition differs by at most {more['composition']:.4f} more than from the whole, pairs by "
        f"{more['pairs']:.4f}, triples by {more['triples']:.4f}; the mean run is at most {more['mean run']:.2f} "
        f"symbols longer (that of strings that took no part is {whole['mean run of others']:.2f}); there are at most "
        f"{max(row['copies'] for row in windows)} copies.\n"
    )
    return "\n".join(lines)


def _baskets(found: Found) -> str:
    lines = [
        f"## Baskets\n\n20,000 baskets of T10I4D100K, k = {K}, pseudo-baskets of the whole and of windows. Error: "
        "the mean relative one of how many baskets hold an item, over items that at least 1 % hold.\n",
        "| delay | baskets | items | error |",
        "|---|---:|---:|---:|",
    ]
    lines += [f"| {name} | {row['baskets']:,} | {row['items']} | {row['error']:.3f} |" for name, row in found.items()]
    return "\n".join([*lines, ""])


SECTIONS = {
    "curve": _curve,
    "speed": _speed,
    "long": _long,
    "kills": _kills,
    "visits": _visits,
    "strings": _strings,
    "baskets": _baskets,
}


def draw(found: Any, path: Path) -> None:
    """NCP over delays."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": "shoal", "svg.fonttype": "path", "font.size": 9})
    figure = Figure(figsize=(6.5, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(DELAYS, found["mondrian"], "s--", color="#888888", label="windows of Mondrian (exact ends)")
    axes.plot(DELAYS, found["published"], "o-", color="#1f5fa8", label="shoal stream, as published")
    axes.plot(DELAYS, found["exact"], "o:", color="#1f5fa8", label="shoal stream, exact ends")
    axes.plot([CASTLE_DELAY], [CASTLE_NCP], "x", color="#b03030", label="CASTLE (quoted, 1,000 rows)")
    axes.plot([500, 1000], [0.15, 0.12], "_", color="black", markersize=14, label="wanted")
    axes.set_xlabel("delay in records")
    axes.set_ylabel("NCP")
    axes.set_ylim(0, None)
    axes.legend(frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
