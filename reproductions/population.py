"""Uniques of a population estimated from samples of it, beside the truth: `docs/reproductions/population.md`.

python -m reproductions.population
"""

from __future__ import annotations

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
has too, by the same papers; ARX itself was not run."""
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


if __name__ == "__main__":
    (ROOT / "docs" / "reproductions" / "population.md").write_text(page(), encoding="utf-8")
