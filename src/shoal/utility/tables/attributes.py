"""Every attribute before and after: its distribution, its moments, and how far the two lie apart."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats
from shoal.utility.tables.cells import round_edges, whole_edges
from shoal.utility.tables.reading import Ranges, Reading, ReadNumbers
from shoal.utility.tables.scale import Scale

N_BINS = 24
N_SHOWN = 12


@dataclass(frozen=True)
class AttributeComparison:
    """One attribute of the original and of the release.

    Attributes
    ----------
    kind : {"number", "date", "category"}
        Shares are of the cells between two ``edges`` (dates: days since 1970), or of the ``labels``.
    before, after : tuple of float
        Share of the records, of those with a value for numbers and dates; "(missing)" and "(other)" are
        labels of categories.
    distance : float
        Total variation distance over all values, shown or not: half the sum of absolute differences of
        shares.
    ncp : float or None
        Mean certainty penalty of a quasi-identifier's cells.
    """

    name: str
    type: str
    role: str
    kind: str
    before: tuple[float, ...]
    after: tuple[float, ...]
    distance: float
    missing_before: float
    missing_after: float
    edges: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    n_values: int = 0
    n_values_hidden: int = 0
    mean_before: float | None = None
    mean_after: float | None = None
    sd_before: float | None = None
    sd_after: float | None = None
    ncp: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {n: list(v) if isinstance(v, tuple) else v for n, v in asdict(self).items()}


def compare(scale: Scale, reading: Reading, k: int, ncp: float | None = None) -> AttributeComparison:
    """Compare an original attribute with the way its published column reads.

    A category is named only if at least k original records hold it; the rest is "(other)".
    """
    if isinstance(reading, ReadNumbers | Ranges):
        return _compare_numbers(scale, reading, ncp)
    return _compare_categories(scale, reading.masses(), k, ncp)


def total_variation(before: Floats, after: Floats) -> float:
    """Half the sum of absolute differences of two distributions; 0 where either is empty."""
    if not before.sum() or not after.sum():
        return 0.0
    return float(np.abs(before / before.sum() - after / after.sum()).sum() / 2)


def _compare_numbers(scale: Scale, reading: ReadNumbers | Ranges, ncp: float | None) -> AttributeComparison:
    assert scale.positions is not None
    counts, positions = scale.counts[:-1].astype(np.float64), scale.positions
    edges = (whole_edges if scale.is_whole else round_edges)(*scale.extremes, N_BINS)
    before = np.histogram(np.clip(positions, edges[0], edges[-1]), edges, weights=counts)[0]
    after = reading.masses(edges)
    n_before, n_missing = float(counts.sum()), float(scale.counts[-1])
    mean = float(np.dot(counts, positions) / n_before) if n_before else None
    sd = float(np.sqrt(np.dot(counts, (positions - mean) ** 2) / n_before)) if mean is not None else None
    mean_after, sd_after = reading.moments()
    return AttributeComparison(
        scale.name,
        scale.attribute.type,
        scale.attribute.role,
        kind="date" if scale.attribute.type == "date" else "number",
        before=_shares(before),
        after=_shares(after),
        distance=total_variation(np.append(before, n_missing), np.append(after, reading.n_missing)),
        missing_before=_share(n_missing, n_before + n_missing),
        missing_after=_share(reading.n_missing, float(after.sum()) + reading.n_missing),
        edges=tuple(float(e) for e in edges),
        n_values=int(np.count_nonzero(counts)),
        mean_before=mean,
        mean_after=_number(mean_after),
        sd_before=sd,
        sd_after=_number(sd_after),
        ncp=ncp,
    )


def _compare_categories(scale: Scale, after: Floats, k: int, ncp: float | None) -> AttributeComparison:
    before = scale.counts.astype(np.float64)
    distance, n_values = total_variation(before, after), int(np.count_nonzero(before[:-1]))
    missing = (_share(before[-1], before.sum()), _share(after[-1], after.sum()))
    texts, positions, before, after = _coarsened(scale, before, after)
    values = before[:-1]
    shown = np.argsort(-values, kind="stable")[:N_SHOWN]
    shown = shown[values[shown] >= k]
    if positions is not None:
        shown = shown[np.argsort(positions[shown], kind="stable")]
    labels = [texts[i] for i in shown]
    cells = [before[shown], after[shown]]
    n_hidden = int(np.count_nonzero(values)) - len(shown)
    if n_hidden > 0:
        labels.append("(other)")
        cells = [np.append(c, w[:-1].sum() - c.sum()) for c, w in zip(cells, (before, after), strict=True)]
    if before[-1] or after[-1]:
        labels.append("(missing)")
        cells = [np.append(c, w[-1]) for c, w in zip(cells, (before, after), strict=True)]
    return AttributeComparison(
        scale.name,
        scale.attribute.type,
        scale.attribute.role,
        kind="category",
        before=_shares(cells[0]),
        after=_shares(cells[1]),
        distance=distance,
        missing_before=missing[0],
        missing_after=missing[1],
        labels=tuple(labels),
        n_values=n_values,
        n_values_hidden=n_hidden,
        ncp=ncp,
    )


def _coarsened(scale: Scale, before: Floats, after: Floats) -> tuple[list[str], Floats | None, Floats, Floats]:
    """Texts, positions and masses of values, or of the lowest level of the hierarchy with few enough labels."""
    if scale.ancestors is None or np.count_nonzero(before[:-1]) <= N_SHOWN:
        return scale.texts, scale.positions, before, after
    assert scale.attribute.hierarchy is not None
    for height in range(1, scale.ancestors.shape[1] - 1):
        node = scale.ancestors[:, height]
        masses = [np.append(np.bincount(node, side[:-1]), side[-1]) for side in (before, after)]
        if np.count_nonzero(masses[0][:-1]) <= N_SHOWN:
            texts = scale.attribute.hierarchy.nodes(height)
            return texts, np.arange(len(texts), dtype=np.float64), masses[0], masses[1]
    return scale.texts, scale.positions, before, after


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


def _shares(masses: Floats) -> tuple[float, ...]:
    total = masses.sum()
    return tuple(float(max(m, 0.0) / total) if total else 0.0 for m in masses)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
