"""Edges from records to their neighbours: how many common components each allows, and counts that all edges allow."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled

ANY = 2**31 - 1
_SAME = 1e-12  # of |x||y|: directions that do not differ
_SLACK = 1e-9


@compiled
def allowed_of(
    x: float, y: float, product: float, common: float, is_difference: bool, use_paper: bool, use_exact: bool
) -> int:
    """How many components two records may share.

    `x` and `y` are squared lengths, `product` is x.y and `common` the sum of x_i^2 y_i^2. The variance of one
    component's product is |x|^2|y|^2 - (x.y)^2 as the paper prints it, |x|^2|y|^2 + (x.y)^2 - 2 common exactly; of
    both, the smaller one.
    """
    longest = np.sqrt(x * y)
    near = abs(product)
    gap = longest - near
    if gap <= _SAME * longest:
        return ANY
    paper = gap * (longest + near)
    exact = x * y + product * product - 2.0 * common
    variance = paper if use_paper else exact
    if use_paper and use_exact:
        variance = min(paper, exact)
    ratio = variance / (gap * gap if is_difference else gap) * (1.0 - _SLACK)
    if ratio >= ANY:
        return ANY
    return int(ratio) if ratio >= 1.0 else 0


@compiled
def fill_allowed(
    starts: Ints,
    items: Codes,
    weights: Floats,
    squares: Floats,
    neighbours: Codes,
    n_items: int,
    begin: int,
    end: int,
    is_difference: bool,
    use_paper: bool,
    use_exact: bool,
    out: Codes,
) -> None:
    """`allowed_of` on the edges of rows `begin` to `end`; ANY where there is no neighbour (-1).

    The record is spread out over all items, so that a neighbour costs as many steps as it has items. Sums run over the
    common items in ascending order whichever of two records is spread out, so an edge and its reverse allow the same.
    """
    spread = np.zeros(n_items, np.float64)
    for row in range(begin, end):
        for t in range(starts[row], starts[row + 1]):
            spread[items[t]] = weights[t]
        for e in range(neighbours.shape[1]):
            other = neighbours[row, e]
            if other < 0:
                out[row, e] = ANY
                continue
            product, common = 0.0, 0.0
            for t in range(starts[other], starts[other + 1]):
                both = weights[t] * spread[items[t]]
                product += both
                common += both * both
            out[row, e] = allowed_of(squares[row], squares[other], product, common, is_difference, use_paper, use_exact)
        for t in range(starts[row], starts[row + 1]):
            spread[items[t]] = 0.0


@compiled
def settle_counts(neighbours: Codes, allowed: Codes, order: Ints, caps: Ints, counts: Ints) -> int:
    """One pass of Fig. 2: each record in turn gets the most that its own edges allow; returns the total change."""
    change = 0
    for row in order:
        most = caps[row]
        for e in range(neighbours.shape[1]):
            other = neighbours[row, e]
            # min(most, counts[other]) <= allowed holds by itself where the neighbour has no more than that.
            if other >= 0 and counts[other] > allowed[row, e]:
                most = min(most, np.int64(allowed[row, e]))
        change += abs(most - counts[row])
        counts[row] = most
    return change


@compiled
def lower_counts(neighbours: Codes, allowed: Codes, order: Ints, counts: Ints) -> int:
    """Visit every edge once; where it is violated, lower the smaller end, which costs least. Returns by how much.

    Counts only fall, so an edge that holds goes on holding: one visit is enough. Of equal ends the edge's own record is
    lowered.
    """
    lowered = 0
    for row in order:
        for e in range(neighbours.shape[1]):
            other = neighbours[row, e]
            if other < 0 or min(counts[row], counts[other]) <= allowed[row, e]:
                continue
            loser = other if counts[other] < counts[row] else row
            lowered += counts[loser] - allowed[row, e]
            counts[loser] = allowed[row, e]
    return lowered
