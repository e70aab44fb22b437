"""How many are unique in the population that a table is a sample of, estimated from the sizes of its classes.

Three estimators, and the rule of Dankar et al. that takes one of them by the sampling fraction: Pitman's model where at
most a tenth was sampled, else the lower of Zayatz and the slide negative binomial. All take the number of classes of
each size, so a table of any length costs as much as it has different sizes of classes. Where the columns have few
combinations, sizes of classes say little, and a log-linear model says more (`shoal.check.tables.log_linear`): it is
taken there.

An estimate is a figure for the report. No guarantee rests on it, and nothing is released because of it.

References
----------
F. K. Dankar, K. El Emam, A. Neisa, T. Roffey, "Estimating the re-identification risk of clinical data sets", BMC
Medical Informatics and Decision Making 12:66, 2012: the rule. N. Hoshino, "Applying Pitman's sampling formula to
microdata disclosure risk assessment", Journal of Official Statistics 17(4), 2001. L. Zayatz, "Estimation of the percent
of unique population elements on a microdata file using the sample", Bureau of the Census, 1991. G. Chen, S.
Keller-McNulty, "Estimation of identification disclosure risk in microdata", Journal of Official Statistics 14(1), 1998.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.check.tables.classes import classes_of
from shoal.check.tables.log_linear import log_linear_uniques
from shoal.data.tables.table import MARKERS, Table

FEW_SAMPLED = 0.1
"""Up to this share of the population Dankar's rule takes Pitman's model."""
_SMALL = 64


@dataclass(frozen=True)
class PopulationUniques:
    """How many records of a population stand alone, as a sample of it tells."""

    population: int
    """How many there are."""
    fraction: float
    """The share of them that is in the table."""
    uniques: float
    """How many of the population are estimated to stand alone."""
    model: str
    """By which estimator."""
    at_risk: float
    """How many records of the table are alone in the population too, by the same estimate."""
    journalist: float
    """The average chance, estimated, to pick the right one of the population for a record of the table."""

    @property
    def share(self) -> float:
        """The share of the population."""
        return self.uniques / self.population

    @property
    def sentence(self) -> str:
        """The estimate in plain words."""
        return (
            f"Of a population of {self.population:,} about {self.uniques:,.0f} ({100 * self.share:.2f} %) are "
            f"estimated to be unique by the quasi-identifiers of the original, {self.at_risk:,.0f} of them in this "
            f"table (estimated by {self.model} from a sample of {100 * self.fraction:.3g} %). Whoever does "
            f"not know who is in the table picks the right one with a chance of about {100 * self.journalist:.2g} % on "
            "average, before anything was done to it."
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "share": self.share, "sentence": self.sentence}


def class_counts(sizes: Ints) -> tuple[Ints, Ints]:
    """The different sizes of classes, and how many classes have each."""
    found, counts = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
    return found, counts.astype(np.int64)


def estimate_uniques(sizes: Ints, fraction: float, codes: Sequence[Ints] = ()) -> PopulationUniques:
    """Estimate by a log-linear model where the columns are given and have few combinations, else by Dankar's rule.

    Parameters
    ----------
    sizes : int64 array (n_classes,)
        How many records of the table share their quasi-identifiers, by class.
    fraction : float
        The share of the population that is in the table, over 0 and at most 1.
    codes : sequence of int64 arrays (n_rows,)
        The values of each quasi-identifier, numbered from 0.
    """
    sizes = np.asarray(sizes, dtype=np.int64)
    n, n_alone = int(sizes.sum()), int((sizes == 1).sum())
    population = max(n, round(n / fraction))
    if fraction >= 1 or not n_alone:
        model, uniques = "a count", float(n_alone)
    else:
        model, uniques = "a log-linear model", log_linear_uniques(codes, fraction) if codes else math.nan
        if not uniques > 0:
            model, uniques = dankar_rule(sizes, fraction)
    uniques = min(max(uniques, 0.0), float(population))
    at_risk = min(uniques * n / population, n_alone)
    return PopulationUniques(population, n / population, uniques, model, at_risk, _journalist(sizes, n / population))


def population_of(
    table: Table, quasi: Sequence[str], fraction: float, markers: Sequence[str] = MARKERS
) -> PopulationUniques:
    """Estimate for a table and its quasi-identifiers."""
    classes = classes_of(table, quasi, markers=markers)
    return estimate_uniques(classes.sizes, fraction, [column.codes.astype(np.int64) for column in classes.columns])


def expected_share(sizes: Ints, fraction: float) -> Floats:
    """The mean of one over the size of a class in the population, by its size in the sample.

    What the population has beyond the sample is taken to be negative binomial with ``f`` successes of chance
    ``fraction`` (Benedetti and Franconi 1998): the integral of ``(p s / (1 - (1 - p) s))^f / s`` for s from 0 to 1.
    """
    f = np.asarray(sizes, dtype=np.int64)
    nodes, weights = _gauss_legendre()
    # With w = (p s / (1 - (1 - p) s))^f the integrand is p / (p + (1 - p) w^(1/f)) / f, smooth where f is large.
    roots = nodes[None, :] ** (1 / f[:, None])
    mean = (fraction / (fraction + (1 - fraction) * roots) * weights).sum(axis=1) / f
    found: Floats = np.where(f <= _SMALL, _of_small(fraction)[np.minimum(f, _SMALL) - 1], mean)
    return found


def _of_small(fraction: float) -> Floats:
    """The same for sizes from 1 to `_SMALL`, by v = w^(1/f)."""
    if fraction > 0.5:
        nodes, weights = _gauss_legendre()
        powers = nodes[None, :] ** np.arange(_SMALL)[:, None]
        return np.asarray((powers * fraction / (fraction + (1 - fraction) * nodes) * weights).sum(axis=1))
    odds = fraction / (1 - fraction)
    found = [odds * math.log(1 / fraction)]
    for size in range(2, _SMALL + 1):  # the integral of v^(f-1) / (p + q v) by that of v^(f-2)
        found.append(odds * (1 / (size - 1) - found[-1]))
    return np.array(found)


@cache
def _gauss_legendre() -> tuple[Floats, Floats]:
    """Nodes and weights of an integral from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(80)
    return (nodes + 1) / 2, weights / 2


def _journalist(sizes: Ints, fraction: float) -> float:
    found, counts = class_counts(sizes)
    return float((found * counts * expected_share(found, fraction)).sum() / (found * counts).sum())


def dankar_rule(sizes: Ints, fraction: float) -> tuple[str, float]:
    """The estimator that Dankar et al. take at this sampling fraction, and what it gives."""
    census = zayatz(sizes, fraction)
    if fraction <= FEW_SAMPLED:
        found = pitman(sizes, fraction) if (sizes == 2).any() else math.nan
        return ("Pitman's model", found) if found > 0 else ("Zayatz's model", census)
    slide = slide_negative_binomial(sizes, fraction)
    return ("the slide negative binomial", slide) if 0 < slide < census else ("Zayatz's model", census)


def zayatz(sizes: Ints, fraction: float) -> float:
    """Uniques by Zayatz: classes of the population are taken to be as large as those of the sample.

    Of sample uniques the share ``f_1 h(1) / sum f_j h(j)`` is unique in the population, where ``h(j)`` is the chance
    that one of a class of j is drawn (hypergeometric).
    """
    found, counts = class_counts(sizes)
    n = int((found * counts).sum())
    population = max(n, round(n / fraction))
    chance = counts * _one_drawn(found, n, population)
    alone = float(counts[found == 1].sum())
    return alone * float(chance[found == 1].sum() / chance.sum()) * population / n if alone else 0.0


def _one_drawn(sizes: Ints, n: int, population: int) -> Floats:
    """The chance that exactly one of a class is among n drawn without replacement."""
    from scipy.special import gammaln

    j, rest = sizes.astype(np.float64), population - sizes
    left = rest - (n - 1)  # those outside the class that are not drawn
    possible = left >= 0
    logs = (
        np.log(j)
        + gammaln(rest + 1.0)
        - gammaln(float(n))
        - gammaln(np.maximum(left, 0) + 1.0)
        - (gammaln(population + 1.0) - gammaln(n + 1.0) - gammaln(population - n + 1.0))
    )
    return np.where(possible, np.exp(np.minimum(logs, 0.0)), 0.0)


def pitman(sizes: Ints, fraction: float) -> float:
    """Uniques by Pitman's sampling formula with parameters of greatest likelihood; nan where none is found.

    A part of a population that follows the formula follows it with the same parameters (Hoshino 2001, section 3), and
    ``N (theta + alpha)_{N-1} / (theta + 1)_{N-1}`` of N are expected to be alone.
    """
    from scipy.optimize import minimize
    from scipy.special import expit, gammaln

    found, counts = class_counts(sizes)
    n, n_classes = int((found * counts).sum()), int(counts.sum())
    several, times = found[found > 1].astype(np.float64), counts[found > 1].astype(np.float64)

    def parameters(x: Floats) -> tuple[float, float]:
        alpha = float(expit(x[0]))
        return math.exp(min(float(x[1]), 40.0)) - alpha, alpha  # theta > -alpha

    def loss(x: Floats) -> float:
        theta, alpha = parameters(x)
        if not 1e-9 < alpha < 1 - 1e-9:
            return math.inf
        ratio = theta / alpha
        up = (n_classes - 1) * math.log(alpha) + gammaln(ratio + n_classes) - gammaln(ratio + 1)
        down = gammaln(theta + n) - gammaln(theta + 1)
        inside = float((times * (gammaln(several - alpha) - gammaln(1 - alpha))).sum())
        return -float(up - down + inside)

    best: Any = None
    for start in ((0.0, math.log(n_classes + 1.0)), (-1.0, math.log(n / 10 + 1.0)), (1.0, 0.0)):
        ended = minimize(
            loss, np.array(start), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-7, "maxiter": 2000}
        )
        if math.isfinite(ended.fun) and (best is None or ended.fun < best.fun):
            best = ended
    if best is None:
        return math.nan
    theta, alpha = parameters(best.x)
    population = max(n, round(n / fraction))
    logs = gammaln(theta + alpha + population - 1) - gammaln(theta + alpha) - gammaln(theta + population)
    return population * math.exp(float(logs + gammaln(theta + 1)))


def slide_negative_binomial(sizes: Ints, fraction: float) -> float:
    """Uniques where classes of the population are of one more than a negative binomial number; nan where none fits.

    Its parameters are those by which as many classes, and as many of one record, are expected in the sample.
    """
    from scipy.optimize import least_squares
    from scipy.special import expit

    found, counts = class_counts(sizes)
    n, n_classes, alone = int((found * counts).sum()), int(counts.sum()), int(counts[found == 1].sum())
    population, missed = n / fraction, 1 - fraction

    def expected(x: Floats) -> tuple[float, float, float]:
        a, b = math.exp(min(max(float(x[0]), -40.0), 40.0)), float(expit(x[1]))
        n_all = population * b / (b + a * (1 - b))
        bottom = 1 - (1 - b) * missed
        none = math.exp(a * (math.log(b) - math.log(bottom))) if b > 0 else 0.0  # of those beyond the first
        classes = n_all * (1 - missed * none)
        ones = n_all * fraction * none * (1 + missed * a * (1 - b) / bottom)
        return classes, ones, n_all * math.exp(a * math.log(b)) if b > 0 else 0.0

    def misfit(x: Floats) -> list[float]:
        classes, ones, _ = expected(x)
        return [classes / n_classes - 1, ones / max(alone, 1) - 1]

    best: Any = None
    for start in ((-1.0, -3.0), (0.0, -5.0), (-3.0, -1.0), (-5.0, -6.0)):
        ended = least_squares(misfit, np.array(start), max_nfev=400)
        if best is None or ended.cost < best.cost:
            best = ended
    return expected(best.x)[2] if best is not None and best.cost < 1e-8 else math.nan
