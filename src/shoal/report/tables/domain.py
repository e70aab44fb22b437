"""What the published table itself says about a column, with no cell of fewer than k records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Column
from shoal.utility.tables.cells import round_edges
from shoal.utility.tables.scale import positions_of

N_LABELS = 10
N_CELLS = 16
OTHER = "(other)"


@dataclass(frozen=True)
class Domain:
    """A published column in few cells.

    Attributes
    ----------
    n_values : int
        Distinct published values.
    missing : str
        How many records have none, in words; fewer than k are not counted out.
    labels, edges
        Labels of the cells, or the edges between them for numbers and dates; both empty where a picture would need a
        cell of fewer than k records.
    shares : tuple of float
        Of the records with a value.
    """

    n_values: int
    missing: str
    is_date: bool
    shares: tuple[float, ...]
    labels: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()


def domain_of(
    column: Column, attribute: Attribute, k: int, weights: npt.NDArray[np.integer[Any]] | None = None
) -> Domain:
    """Sum up a published column, of which a row may stand for several records.

    Numbers are counted between round edges and cells below k joined with their neighbours; of categories the largest
    are named and the rest is "(other)", which takes in the smallest named ones until it holds k itself.
    """
    counts = column.counts(weights)
    n_missing = int(counts[len(column.values) :].sum())
    counts = counts[: len(column.values)]
    used = counts > 0
    missing = "none" if not n_missing else f"{n_missing:,} records" if n_missing >= k else f"fewer than {k} records"
    is_date = attribute.type == "date"
    positions = positions_of(Column(column.name, column.codes[:0], column.values[used]), attribute.type)
    if positions is not None and len(positions):
        edges, masses = _cells(positions, counts[used], k)
        return Domain(int(used.sum()), missing, is_date, _shares(masses), edges=tuple(edges.tolist()))
    labels, masses = _largest(column, counts, k)
    return Domain(int(used.sum()), missing, is_date, _shares(masses), labels=tuple(labels))


def _largest(column: Column, counts: Ints, k: int) -> tuple[list[str], Ints]:
    order = np.argsort(-counts, kind="stable")
    n_shown = int(np.count_nonzero(counts[order[:N_LABELS]] >= k))
    rest = int(counts.sum() - counts[order[:n_shown]].sum())
    while n_shown and 0 < rest < k:
        n_shown -= 1
        rest += int(counts[order[n_shown]])
    if rest < k and not n_shown:
        return [], counts[:0]
    texts = Column(column.name, column.codes[:0], column.values[order[:n_shown]]).texts()
    masses = counts[order[:n_shown]]
    return ([*texts, OTHER], np.append(masses, rest)) if rest else (texts, masses)


def _cells(positions: Floats, counts: Ints, k: int) -> tuple[Floats, Ints]:
    edges = round_edges(float(positions.min()), float(positions.max()), N_CELLS)
    masses = np.histogram(np.clip(positions, edges[0], edges[-1]), edges, weights=counts)[0].astype(np.int64)
    kept = [float(edges[0])]
    merged: list[int] = []
    total = 0
    for edge, mass in zip(edges[1:], masses, strict=True):
        total += int(mass)
        if total >= k:
            kept.append(float(edge))
            merged.append(total)
            total = 0
    if total and merged:
        merged[-1] += total
    if merged:
        kept[-1] = float(edges[-1])
    elif total < k:
        return edges[:0], masses[:0]
    return np.array(kept), np.array(merged, dtype=np.int64)


def _shares(masses: Ints) -> tuple[float, ...]:
    total = int(masses.sum())
    return tuple(float(m / total) for m in masses) if total else ()
