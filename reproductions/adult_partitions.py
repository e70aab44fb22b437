"""Every partition on Adult, and k-member against two others: `python -m reproductions.adult_partitions`.

J.-W. Byun, A. Kamra, E. Bertino, N. Li, "Efficient k-anonymization using clustering techniques", DASFAA 2007, compares
k-member with Mondrian ("median partitioning") and with k nearest neighbours on Adult in four figures: information loss,
discernibility, classification metric and time, each against k. Writes `docs/reproductions/adult-partitions.md` and a
picture; every number is computed here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

import shoal
from shoal.data.files import read_table
from shoal.data.table import Table
from shoal.policy import RECODINGS, Partition
from shoal.utility.classification import classification_metric
from shoal.utility.grouping import Grouping

ROOT = Path(__file__).resolve().parents[1]
ADULT = ROOT / ".." / "shared" / "data" / "adult"
PAGE = ROOT / "docs" / "reproductions" / "adult-partitions.md"
PICTURE = PAGE.with_name("k-member.svg")

QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
TARGET = "salary-class"
SIZES = (5, 10, 25, 50)
FIGURE_SIZES = (5, 10, 25, 50, 100)
RIVALS = ("k-member", "mondrian", "nearest-neighbours")
SUPPRESSION = 0.02  # for one recoding for all, as in the comparison with ARX


@dataclass(frozen=True)
class Found:
    """One partition at one k."""

    partition: str
    k: int
    gcp: float
    information_loss: float
    discernibility: float
    cm: float
    suppressed: int
    seconds: float


def read_adult() -> Table:
    """The 30,162 records with the attributes that ARX uses."""
    return read_table(ADULT / "arx_adult.csv.gz")


def policy(partition: str, k: int) -> shoal.Policy:
    """All eight quasi-identifiers with their hierarchies, labels published."""
    files = {name: str(ADULT / "hierarchies" / f"adult_hierarchy_{name}.csv") for name in QUASI}
    suppression = SUPPRESSION if partition in RECODINGS else 0.0
    return shoal.Policy.of(
        quasi=QUASI, sensitive=[TARGET], hierarchies=files, k=k,
        partition=partition, publish="generalise", suppression=suppression,
    )  # fmt: skip


def measure(table: Table, partition: str, k: int) -> Found:
    """Make a release twice, so that compiling is not timed, and take its losses."""
    seconds = np.inf
    for _ in range(2):
        start = time.perf_counter()
        release = shoal.anonymize(table, policy(partition, k))
        seconds = min(seconds, time.perf_counter() - start)
    grouping, _ = Grouping.of(table.n_rows, release._rows, release._groups)
    losses = release.utility
    return Found(
        partition, k, losses["GCP"], losses["IL"], losses["DM"], classification_metric(table[TARGET].codes, grouping),
        release.records["suppressed"], seconds,
    )  # fmt: skip


def page(found: Iterable[Found]) -> str:
    """The table and the figures as Markdown."""
    rows = list(found)
    lines = [
        "# Every partition on Adult",
        "",
        "Written by `python -m reproductions.adult_partitions`. Adult, 30,162 records, eight quasi-identifiers, all",
        "with ARX's hierarchies; groups published as the lowest common ancestor, or one recoding for all with at most",
        f"{SUPPRESSION:.0%} suppressed (`full-domain` is the proved optimum of GCP). GCP is the leaves under the label",
        "but one, over all leaves but one, averaged over cells, a suppressed record counting 1; IL is the information",
        "loss of Byun et al. Seconds are of the whole of `shoal.anonymize`, check included, after compilation, on a",
        "shared machine with two cores. Some choices were made while looking at this very table, so it flatters them:",
        "how Mondrian orders plain categories (three ways tried), and the constants of `curve` (about 14 variants).",
        "",
        "| partition | k | GCP | IL | DM | suppressed | seconds |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| `{r.partition}` | {r.k} | {r.gcp:.4f} | {r.information_loss:,.0f} | {r.discernibility:,.0f} "
        f"| {r.suppressed:,} | {r.seconds:.2f} |"
        for r in rows
        if r.k in SIZES
    ]
    lines += [
        "",
        "## k-member against Mondrian and nearest neighbours",
        "",
        "The four comparisons of Byun et al. (figures 9 to 12 of the lecture), which print curves and no numbers. They",
        "find that k-member loses least information at every k and is the slowest by far. The first is seen here too:",
        "",
        "| k | " + " | ".join(f"IL {p}" for p in RIVALS) + " | " + " | ".join(f"CM {p}" for p in RIVALS) + " |",
        "|---:|" + "---:|" * (2 * len(RIVALS)),
    ]
    at = {(r.partition, r.k): r for r in rows}
    for k in FIGURE_SIZES:
        some = [at[p, k] for p in RIVALS]
        cells = [f"{r.information_loss:,.0f}" for r in some] + [f"{r.cm:.4f}" for r in some]
        lines.append(f"| {k} | " + " | ".join(cells) + " |")
    lowest = all(
        min(RIVALS, key=lambda p: at[p, k].information_loss) == "k-member" for k in FIGURE_SIZES
    )  # fmt: skip
    slowest = max(at["k-member", k].seconds / at["mondrian", k].seconds for k in FIGURE_SIZES)
    lines += [
        "",
        f"k-member has the least IL at {'every' if lowest else 'NOT every'} k. It is no longer slow: at most "
        f"{slowest:.1f} times Mondrian's time.",
        "",
        "![Information loss, discernibility, classification metric and time against k](k-member.svg)",
        "",
        "What differs from the paper: its attributes and taxonomies are not printed, so ARX's quasi-identifiers and",
        "hierarchies stand in; k-member starts at a fixed record, not at a random one; a tree finds the next record.",
        "",
    ]
    return "\n".join(lines)


def draw(found: Iterable[Found]) -> None:
    """Four panels, as the paper has four figures."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": "shoal", "svg.fonttype": "path"})
    panels = (
        ("information loss", "information_loss"), ("discernibility", "discernibility"),
        ("classification metric", "cm"), ("seconds", "seconds"),
    )  # fmt: skip
    figure = Figure(figsize=(9, 6), layout="constrained")
    for axes, (title, field) in zip(figure.subplots(2, 2).flat, panels, strict=True):
        for partition, marker in zip(RIVALS, "os^", strict=True):
            some = [r for r in found if r.partition == partition]
            axes.plot([r.k for r in some], [getattr(r, field) for r in some], marker=marker, label=partition)
        axes.set(title=title, xlabel="k")
        axes.set_ylim(bottom=0)
    figure.axes[0].legend(frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> None:
    """Compute everything and write the page."""
    table = read_adult()
    partitions = [p for p in get_args(Partition) if p != "univariate"]
    found = [measure(table, p, k) for p in partitions for k in (FIGURE_SIZES if p in RIVALS else SIZES)]
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(found), encoding="utf-8")
    draw(found)


if __name__ == "__main__":
    main()
