"""A heat map of all risks: methods down, attacks across, one panel a data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.attack_findings import Found
from shoal.kind import kind_named

KINDS = {
    "Adult": "table",
    "yeast": "strings",
    "haplotypes": "strings",
    "mtDNA": "strings",
    "T10I4D100K": "sparse",
    "20 newsgroups": "sparse",
}


def draw(found: Sequence[Found], path: Path) -> None:
    """Write the picture."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": "shoal", "svg.fonttype": "path", "font.size": 8})
    sets = {name: [f for f in found if f.data == name] for name in KINDS}
    heights = [len(rows) + 7 for rows in sets.values()]
    figure = Figure(figsize=(10, 0.21 * sum(heights)), layout="constrained")
    panels = figure.subplots(len(sets), 1, gridspec_kw={"height_ratios": heights})
    images = [_panel(axes, name, rows) for axes, (name, rows) in zip(panels, sets.items(), strict=True)]
    figure.colorbar(images[0], ax=list(panels), shrink=0.3, label="risk added", aspect=30)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _panel(axes: Any, name: str, rows: Sequence[Found]) -> Any:
    attacks = [a.name for a in kind_named(KINDS[name]).attacks]
    risks = np.full((len(rows), len(attacks)), np.nan)
    for i, found in enumerate(rows):
        for j, attack in enumerate(attacks):
            result = found.of(attack)
            if result is not None:
                risks[i, j] = result.risk.value
                weight = "bold" if result.succeeds else "normal"
                colour = "white" if result.risk.value > 0.6 else "black"
                axes.text(j, i, f"{result.risk.value:.2f}", ha="center", va="center", color=colour, weight=weight)
    image = axes.imshow(np.ma.masked_invalid(risks), vmin=0, vmax=1, cmap="Reds", aspect="auto")
    axes.set_facecolor("#e8e8e8")
    axes.set_title(f"{name} (bold: more than chance explains; grey: does not apply)", loc="left", fontsize=9)
    axes.set_xticks(range(len(attacks)), attacks, rotation=35, ha="right")
    axes.set_yticks(range(len(rows)), [f.method + ("" if f.k is None else f", k = {f.k}") for f in rows])
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    return image
