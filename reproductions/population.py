"""Uniques of a population estimated from samples of it, beside the truth: `docs/reproductions/population.md`.

python -m reproductions.population
python -m reproductions.population --modrisk sdcMicro/R/modRisk.R

The second measures sdcMicro's estimator alone, by the function's own source, with R, data.table and MASS.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd

from shoal.check.tables.log_linear import log_linear_uniques
from shoal.check.tables.population import (
    dankar_rule,
    estimate_uniques,
    pitman,
    slide_negative_binomial,
    zayatz,
)

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
FRACTIONS = (0.01, 0.05, 0.1, 0.25, 0.5)
N_SAMPLES = 11
ABOUT = f"""Made by `python -m reproductions.population`. Each table is taken for a population, and samples of it for
the data at hand. What is shown is the median, over {N_SAMPLES} samples, of the relative error of the estimated number
of records that are unique in the population. Pitman, Zayatz and SNB (the slide negative binomial) take the sizes of
classes; Dankar's rule takes one of the three by the sampling fraction; the log-linear model takes the columns, where
they have at most a million combinations (a dash where they have more), and the pairs of them that the search of Skinner
and Shlomo ends at. What `shoal` takes is the log-linear model where it can, else Dankar's rule, which sizes of classes
mislead where columns have few values: of Fertility it is far off. Pitman, Zayatz and SNB are the estimators that ARX
has too, by the same papers."""
PAGE = ROOT / "docs" / "reproductions" / "population.md"
BESIDE = "## Beside sdcMicro"
N_BESIDE, MOST_CELLS = 3, 1_000_000
ABOUT_SDCMICRO = f"""Made by `python -m reproductions.population --modrisk sdcMicro/R/modRisk.R`: the function `modRisk`
of sdcMicro, method `IPF` with all main effects, which estimates how many uniques of a sample are unique in the
population; over the sampling fraction, as above. The median of {N_BESIDE} samples; a dash where the columns have more
than a million combinations. The package itself is not in Debian, and neither CRAN nor Maven, where ARX is, could be
reached from the machine that measured this: so sdcMicro was run by the source of that function, less its checks of
arguments and the methods that are not asked for here, with R 4.2, and ARX was not run."""
ESTIMATORS = ("Pitman", "Zayatz", "SNB", "Dankar's rule", "log-linear", "Shoal")


def populations() -> dict[str, pd.DataFrame]:
    """Tables that are taken for populations, with their quasi-identifiers."""
    adult = pd.read_csv(DATA / "adult" / "arx_adult.csv.gz", sep=";").drop(columns="salary-class")
    fertility = pd.read_csv(DATA / "fertility" / "fertility.csv.gz").drop(columns="rownames")
    return {
        "Adult, 8 quasi-identifiers": adult,
        "Adult, 6 quasi-identifiers": adult.drop(columns=["workclass", "occupation"]),
        "Adult, 5 quasi-identifiers": adult.drop(columns=["workclass", "occupation", "native-country"]),
        "Fertility, 8 quasi-identifiers": fertility,
    }


def errors(table: pd.DataFrame, fraction: float) -> tuple[np.ndarray, str]:
    """Relative errors of the estimators on samples, a row each, and the model that Shoal takes."""
    columns = [pd.factorize(table[name])[0].astype(np.int64) for name in table]
    classes = table.groupby(list(table), sort=False).ngroup().to_numpy()
    truth = int((np.bincount(classes) == 1).sum())
    found, model = [], ""
    for seed in range(N_SAMPLES):
        rows = np.random.default_rng(seed).choice(len(table), round(len(table) * fraction), replace=False)
        sizes = np.bincount(classes[rows])
        sizes = sizes[sizes > 0].astype(np.int64)
        codes = [column[rows] for column in columns]
        ours = estimate_uniques(sizes, fraction, codes)
        model = ours.model
        by_classes = [estimate(sizes, fraction) for estimate in (pitman, zayatz, slide_negative_binomial)]
        found.append([*by_classes, dankar_rule(sizes, fraction)[1], log_linear_uniques(codes, fraction), ours.uniques])
    return np.array(found) / truth - 1, model


def page() -> str:
    """The page."""
    lines = ["# Uniques in a population, estimated from samples", "", *textwrap.wrap(ABOUT, 140), ""]
    reached = []
    for name, table in populations().items():
        counts = np.bincount(table.groupby(list(table), sort=False).ngroup().to_numpy())
        lines += [
            f"## {name}",
            "",
            f"{len(table):,} records, {len(counts):,} classes, {int((counts == 1).sum()):,} uniques.",
            "",
            f"| sample | {' | '.join(ESTIMATORS)} | taken |",
            f"|---|{'---|' * len(ESTIMATORS)}---|",
        ]
        for fraction in FRACTIONS:
            found, model = errors(table, fraction)
            told = ["–" if np.isnan(one).all() else f"{100 * np.nanmedian(one):+.1f} %" for one in found.T]
            lines.append(f"| {100 * fraction:g} % | {' | '.join(told)} | {model} |")
            if fraction == 0.1:
                reached.append((name, float(np.median(np.abs(found[:, -1])))))
        lines.append("")
    worst = max(error for _, error in reached)
    listed = "; ".join(f"{name} {100 * error:.1f} %" for name, error in reached)
    verdict = "below 10 % for all of them" if worst < 0.1 else "10 % or more for some of them"
    lines += [
        "## At samples of a tenth",
        "",
        f"The median of the absolute relative error of what `shoal` takes is {verdict}: {listed}.",
        "",
    ]
    return "\n".join(lines)


def beside_sdcmicro(modrisk: str) -> str:
    """What sdcMicro's own function estimates."""
    heads = [f"{100 * fraction:g} %" for fraction in FRACTIONS]
    lines = [BESIDE, "", *textwrap.wrap(ABOUT_SDCMICRO, 140), ""]
    lines += [f"| population | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    for name, table in populations().items():
        codes = pd.DataFrame({f"v{i}": pd.factorize(table[column])[0] for i, column in enumerate(table)})
        truth = int((codes.value_counts() == 1).sum())
        told = ["–"] * len(FRACTIONS)
        if np.prod([float(n) for n in codes.nunique()]) <= MOST_CELLS:
            found = [_by_sdcmicro(codes, f, modrisk) / truth - 1 for f in FRACTIONS]
            told = ["no number" if np.isnan(error) else f"{100 * error:+.1f} %" for error in found]
        lines.append(f"| {name} | {' | '.join(told)} |")
    return "\n".join([*lines, ""])


def _by_sdcmicro(codes: pd.DataFrame, fraction: float, modrisk: str) -> float:
    """The median of what it estimates, in the population."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for seed in range(N_BESIDE):
            rows = np.random.default_rng(seed).choice(len(codes), round(len(codes) * fraction), replace=False)
            files.append(Path(folder, f"{seed}.csv"))
            codes.iloc[rows].assign(weight=1 / fraction).to_csv(files[-1], index=False)
        script = Path(__file__).with_suffix(".R")
        ended = subprocess.run(["Rscript", script, modrisk, *files], capture_output=True, text=True, check=True)
    return float(np.median([float(line) for line in ended.stdout.split()])) / fraction


def main(arguments: list[str]) -> None:
    """Measure ours, or sdcMicro's; what is not measured stays on the page."""
    ours, _, theirs = PAGE.read_text(encoding="utf-8").partition(BESIDE)
    if arguments[:1] == ["--modrisk"]:
        PAGE.write_text(ours.rstrip("\n") + "\n\n" + beside_sdcmicro(arguments[1]), encoding="utf-8")
    else:
        PAGE.write_text(page() + (f"\n{BESIDE}{theirs}" if theirs else ""), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
