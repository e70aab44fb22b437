"""Slow, obvious twins of the checks: loops over classes, and fractions."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np

from shoal.data.tables.table import Column, Table, encode_cells


def column(name, cells):
    """A column of plain cells: texts (None is missing) or numbers."""
    if all(c is None or isinstance(c, str) for c in cells):
        array = np.empty(len(cells), dtype=object)
        array[:] = cells
        return encode_cells(name, array)
    return encode_cells(name, np.array([np.nan if c is None else c for c in cells], dtype=np.float64))


def table(**columns) -> Table:
    """A table of plain lists."""
    return Table.of(c if isinstance(c, Column) else column(n, c) for n, c in columns.items())


def random_table(rng, n_rows=60, n_values=5, missing=0.0) -> Table:
    """Two quasi-identifiers and a sensitive column of skewed texts v0 < v1 < ... (None is missing)."""

    def cells(n, prefix):
        drawn = np.minimum(rng.geometric(0.4, n_rows) - 1, n - 1)
        return [None if rng.random() < missing else f"{prefix}{i}" for i in drawn]

    return table(a=cells(3, "a"), b=cells(3, "b"), s=cells(n_values, "v"))


def groups(t: Table, quasi, sensitive) -> dict[tuple, list]:
    """The sensitive cells of each combination of quasi-identifiers; None is a value like any other."""
    found: dict[tuple, list] = {}
    keys = zip(*(t[q].cells().tolist() for q in quasi), strict=True)
    for key, value in zip(keys, t[sensitive].cells().tolist(), strict=True):
        found.setdefault(key, []).append(value)
    return found


def shares(values) -> dict:
    """Share of each value as a fraction."""
    return {v: Fraction(c, len(values)) for v, c in Counter(values).items()}


def entropy(values) -> float:
    return math.exp(-sum(float(p) * math.log(p) for p in shares(values).values()))


def recursive(values, l):  # noqa: E741  the paper's name
    r = sorted(Counter(values).values(), reverse=True)
    return Fraction(r[0], sum(r[l - 1 :])) if r[l - 1 :] else math.inf


def equal(values, everything) -> Fraction:
    p, q = shares(values), shares(everything)
    return sum((abs(p.get(v, 0) - q[v]) for v in q), Fraction(0)) / 2


def ordered(values, everything, order) -> Fraction:
    p, q = shares(values), shares(everything)
    present = [v for v in order if v in q]
    total, ahead = Fraction(0), Fraction(0)
    for v in present:
        ahead += p.get(v, 0) - q[v]
        total += abs(ahead)
    return total / (len(present) - 1) if len(present) > 1 else Fraction(0)


def hierarchical(values, everything, rows) -> Fraction:
    """Recursion over a nested tree: returns the cost of moving mass, each node below its parent."""
    p, q = shares(values), shares(everything)
    height = len(rows[0]) - 1

    def visit(below, level):
        """Extra mass and cost of the subtree that holds the leaves of `below`."""
        if level == 0:
            return sum((p.get(r[0], 0) - q.get(r[0], 0) for r in below), Fraction(0)), Fraction(0)
        children: dict[str, list] = {}
        for r in below:
            children.setdefault(r[level - 1], []).append(r)
        results = [visit(c, level - 1) for c in children.values()]
        positive = sum((e for e, _ in results if e > 0), Fraction(0))
        negative = -sum((e for e, _ in results if e < 0), Fraction(0))
        cost = Fraction(level, height) * min(positive, negative) + sum((c for _, c in results), Fraction(0))
        return positive - negative, cost

    return visit(rows, height)[1]


def gain(values, everything) -> Fraction:
    p, q = shares(values), shares(everything)
    return max([Fraction(0), *((p[v] - q[v]) / q[v] for v in p)])


def enhanced_holds(values, everything, beta) -> bool:
    p, q = shares(values), shares(everything)
    return all(p[v] <= q[v] or (p[v] - q[v]) / q[v] <= min(beta, -math.log(q[v])) for v in p)


def fold(values) -> list:
    """Missing values become the most frequent known one."""
    known = [v for v in values if v is not None]
    if not known:
        return values
    top = Counter(known).most_common(1)[0][0]
    return [top if v is None else v for v in values]


def weighted(table: Table, seed: int = 0) -> tuple[Table, Table]:
    """The same table with rows that stand for several records, and with each of these."""
    weights = np.random.default_rng(seed).integers(1, 5, table.n_rows).astype(np.int32)
    return replace(table, weights=weights), table.take(np.repeat(np.arange(table.n_rows), weights))
