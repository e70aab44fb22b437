"""The groups of records as a finished step of a run: what a run that is killed later need not find again.

Groups are kept by the rows of the original, as those are read, so that they hold in whatever order a secret puts these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shoal.arrays import Rows
from shoal.data.tables.spill import save_arrays
from shoal.errors import DataError
from shoal.resume import StepFolder
from shoal.tables.recoding import RecodedGroups

GROUPS = "groups"
"""The step."""


def kept_groups(
    steps: StepFolder | None, order: Rows, notes: list[str], make: Callable[[], RecodedGroups]
) -> RecodedGroups:
    """Groups that an earlier run made, or else those that are made now, which are kept.

    Parameters
    ----------
    order : intp array (n_rows,)
        The row of the original that each record is.
    notes : list of str
        Takes what there is to tell of how they were made.

    Raises
    ------
    DataError
        If what was kept are no groups of these records.
    """
    if steps is None:
        return make()
    found = steps.found(GROUPS)
    if found is None:
        n_notes, made = len(notes), make()
        with steps.finishing(GROUPS, by_seed=True) as step:
            told: Any = step.told
            told |= {"notes": notes[n_notes:], "levels": None if made.levels is None else [int(n) for n in made.levels]}
            save_arrays(step.path / "labels.npy", made.labels)
            save_arrays(step.path / "rows.npy", order[made.rows])
        return made
    labels, rows = np.load(found.path / "labels.npy"), np.load(found.path / "rows.npy")
    place = np.full(len(order), -1, dtype=np.intp)
    place[order] = np.arange(len(order))
    is_row = len(labels) == len(rows) == len(np.unique(rows)) and np.isin(rows, order).all()
    if not is_row or labels.dtype != np.int32 or (len(labels) and int(labels.min()) < 0):
        raise DataError(f"{steps.path}: the groups that are kept there are damaged, and were removed; try again")
    sorting = np.argsort(place[rows])
    told = found.told
    notes.extend(told["notes"])
    steps.notes.append("The groups were made by an earlier run that did not end, and were taken up from it.")
    levels = None if told["levels"] is None else tuple(told["levels"])
    return RecodedGroups(labels[sorting], place[rows][sorting], levels)
