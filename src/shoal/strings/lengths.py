"""Segments of strings whose lengths are alike: HomogenizeLength.

A segment holds at least k strings, the longest at most (1 + eps) times as long as the shortest. Strings that fit into
no segment are suppressed. `greedy` is the paper's Fig. 1: from the shortest string on, every range takes all that it
can, and a shortest string without k - 1 companions is left out. `optimal` is the dynamic programme that section 4.5
asks for: it suppresses as few strings as possible, in linear time after the sort.

References
----------
C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and Knowledge
Discovery 16(3), 2008, Definition 2.1, Fig. 1 and section 4.5.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes
from shoal.errors import PolicyError
from shoal.kernels.strings.lengths import greedy_runs, optimal_runs

Homogenize = Literal["optimal", "greedy"]
LENGTH_ROUNDING = 1e-9  # 1.1 * 10 is a little more than 11, and 1.15 * 20 a little less than 23


def homogenize_lengths(
    lengths: npt.NDArray[np.integer[Any]], k: int, eps: float, method: Homogenize = "optimal"
) -> Codes:
    """Number the segment of each string, shortest segment first; -1 where the string is suppressed.

    Parameters
    ----------
    lengths : int array (n_strings,)
        In any order. Among equal lengths the earlier row counts as the shorter, so the caller puts the rows into an
        order that depends on their content only.
    k : int
        Fewest strings of a segment.
    eps : float
        How much longer the longest string of a segment may be than its shortest, as a share of it.
    method : {"optimal", "greedy"}

    Examples
    --------
    >>> homogenize_lengths(np.array([9, 1, 10, 50]), k=2, eps=0.5).tolist()
    [0, -1, 0, -1]
    """
    if method not in ("optimal", "greedy"):
        raise PolicyError(f"homogenize = {method!r} is not known; the choices are 'optimal', 'greedy'")
    order = np.argsort(lengths, kind="stable")
    ascending = lengths[order].astype(np.int64)
    limits = np.floor((1.0 + eps) * ascending + LENGTH_ROUNDING).astype(np.int64)
    runs = optimal_runs if method == "optimal" else greedy_runs
    out = np.empty(len(lengths), np.int32)
    out[order] = runs(ascending, limits, k)
    return out
