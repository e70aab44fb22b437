"""The pictures of the string reproductions, one for each group of figures of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproductions.string_classes import NAMES
from reproductions.string_composition import DEFAULT
from reproductions.string_findings import Findings
from reproductions.string_sets import PROTEINS

FIGURES = {"YST1": 4, "YST2": 5, "HS": 6, "MS": 7}
SUPPORTS = ((1, "support 1 (the paper)", "s--"), (DEFAULT, f"support {DEFAULT} (default)", "^-"))


def draw_all(found: Findings, folder: Path) -> None:
    """Write all pictures into a folder."""
    import matplotlib as mpl

    mpl.rcParams.update({"svg.hashsalt": "shoal", "svg.fonttype": "path", "font.size": 9})
    for name, draw in (
        ("composition", _bars),
        ("kept", _kept),
        ("classes", _classes),
        ("times", _times),
        ("runs", _runs),
    ):
        draw(found).savefig(folder / f"string-{name}.svg", metadata={"Date": None})


def _panels(rows: int, columns: int, width: float, height: float) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns).flat)


def _bars(found: Findings) -> Any:
    figure, panels = _panels(2, 2, 10, 6)
    for axes, (name, number) in zip(panels, FIGURES.items(), strict=True):
        bars = next(b for b in found.bars if b.name == name)
        for shift, label, shares in (
            (-0.27, "originals", bars.before),
            (0, SUPPORTS[0][1], bars.after),
            (0.27, SUPPORTS[1][1], bars.after_default),
        ):
            axes.bar([i + shift for i in range(len(shares))], shares, width=0.27, label=label)
        axes.set_xticks(range(len(bars.symbols)), bars.symbols)
        axes.set(title=f"{name} (Fig. {number})", ylabel="per cent")
    panels[0].legend(frameon=False)
    return figure


def _kept(found: Findings) -> Any:
    figure, panels = _panels(2, 2, 10, 6)
    for row, lengths in enumerate(("template", "spread")):
        for axes, field, title in (
            (panels[2 * row], "difference", f"CD, {lengths} lengths (Fig. 8)"),
            (panels[2 * row + 1], "kept", f"order kept, {lengths} lengths (Fig. 9)"),
        ):
            for colour, name in enumerate(PROTEINS):
                for support, label, style in SUPPORTS:
                    some = [
                        r
                        for r in found.composition
                        if (r.name, r.support, r.lengths, r.seed) == (name, support, lengths, 1)
                    ]
                    axes.plot(
                        [r.k for r in some],
                        [100 * getattr(r, field) for r in some],
                        style,
                        color=f"C{colour}",
                        label=f"{name}, {label}" if colour == 0 else (name if support == 1 else None),
                        markersize=4,
                    )
            axes.set(title=title, xlabel="k", ylabel="per cent")
            if field == "difference":
                axes.set_ylim(bottom=0)
            else:
                axes.set_ylim(70, 100)
                axes.axhline(90, color="grey", linewidth=0.8)
    panels[3].legend(frameon=False, fontsize=7, loc="lower right")
    return figure


def _classes(found: Findings) -> Any:
    figure, panels = _panels(2, 3, 11, 6)
    kinds = (("nearest", "nearest neighbour"), ("few", "the same, 1,000 training strings"), ("wav_rule", "WavRule"))
    numbers = {
        "V20.I6.D100K": ("Fig. 10", "not in the paper", "Fig. 12"),
        "V20.I4.D100K": ("Fig. 11", "not in the paper", "Fig. 13"),
    }
    for row, name in enumerate(reversed(NAMES)):
        original = next(r for r in found.classes if r.name == name and r.support == 0)
        for column, (field, title) in enumerate(kinds):
            axes = panels[3 * row + column]
            axes.axhline(getattr(original, field), color="grey", label="originals")
            for support, label, style in SUPPORTS:
                some = [r for r in found.classes if (r.name, r.support, r.order) == (name, support, 2)]
                axes.plot([r.k for r in some], [getattr(r, field) for r in some], style, label=label)
            axes.set_title(f"{name}, {title}\n({numbers[name][column]})", fontsize=8)
            axes.set(xlabel="k", ylabel="accuracy, per cent", ylim=(85, 101))
    panels[0].legend(frameon=False)
    return figure


def _times(found: Findings) -> Any:
    figure, panels = _panels(1, 2, 10, 3.5)
    for axes, number, unit, x, title in (
        (panels[0], 14, 1, "mean length", "T(x).I4 and .I6, 10,000 strings (Fig. 14)"),
        (panels[1], 15, 1000, "thousand strings", "T20.I4 and .I6 (Fig. 15)"),
    ):
        for itemset, marker in ((4, "o-"), (6, "s--")):
            some = [r for r in found.times if (r.figure, r.itemset) == (number, itemset)]
            axes.plot([r.x / unit for r in some], [r.cpu_seconds for r in some], marker, label=f"I{itemset}")
        axes.set(title=title, xlabel=x, ylabel="CPU seconds, both cores", ylim=(0, None), xlim=(0, None))
    panels[0].legend(frameon=False)
    return figure


def _runs(found: Findings) -> Any:
    names = list(dict.fromkeys(r.name for r in found.runs))
    figure, panels = _panels(2, (len(names) + 1) // 2, 13, 6)
    for axes in panels[len(names) :]:
        axes.set_axis_off()
    for axes, name in zip(panels, names, strict=False):
        control = next(r for r in found.runs if r.name == name and r.order == 0)
        axes.axhline(control.percentile_95, color="grey", label="held-out originals")
        for support in sorted({r.support for r in found.runs} - {0}):
            some = [r for r in found.runs if (r.name, r.support) == (name, support)]
            axes.plot([r.order for r in some], [r.percentile_95 for r in some], "o-", label=f"support {support}")
        top = max(r.percentile_95 for r in found.runs if r.name == name)
        axes.set(title=name, xlabel="order", xticks=[2, 3, 4], ylim=(0, 1.1 * top))
    panels[0].set_ylabel("95th percentile of the longest run")
    panels[0].legend(frameon=False, fontsize=7)
    return figure
