"""Where two partitions of the same records differ: the smallest sets of records that are whole groups of both."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels.box_tree import Ints
from shoal.kernels.compile import compiled

Labels = npt.NDArray[np.int32]


@compiled
def join_groups(first: Labels, second: Labels, second_start: int, root: Ints) -> None:
    """Join each group of the first partition with all groups of the second that share a record with it.

    ``root`` begins as 0, 1, 2, ...; group g of the second partition is node ``second_start + g``. Each node ends with
    the smallest node that it is joined with.
    """
    for row in range(len(first)):
        a, b = np.int64(first[row]), second_start + np.int64(second[row])
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        root[max(a, b)] = min(a, b)
    for node in range(len(root)):
        root[node] = root[root[node]]  # roots are smaller than what hangs on them, so those are done
