"""Baskets: one record a line, its items between blanks or a delimiter."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from shoal.data.sparse.records import Sparse, SparseSource, assemble
from shoal.data.strings.formats.lines import LINE_END, NOTHING, tokenize
from shoal.data.whole_text import WholeText


def read_baskets(text: WholeText, source: SparseSource, repeats: Literal["once", "sum"] = "once") -> Sparse:
    """Read one basket a line; a blank line is an empty basket.

    With a delimiter, blanks around an item are not part of it, and an item of nothing is left out with a note.

    Parameters
    ----------
    repeats : {"once", "sum"}
        Whether an item that a line repeats gets the weight 1 or its count.
    """
    codes, distinct = tokenize(text, source.delimiter)
    is_item = codes > NOTHING
    ends = np.flatnonzero(codes == LINE_END)
    begins = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
    sizes = np.add.reduceat(is_item, begins, dtype=np.int64)
    notes = list(source.notes)
    if source.delimiter is not None:
        # A line that holds one item of nothing is blank.
        n_nothing = int(np.add.reduceat(codes == NOTHING, begins, dtype=np.int64)[sizes > 0].sum())
        if n_nothing:
            notes.append(f"{n_nothing} items of nothing were left out")
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    names = [name.decode() for name in distinct[NOTHING + 1 :]]
    made = assemble(starts, codes[is_item] - (NOTHING + 1), names, repeats=repeats, source=source)
    n_repeated = int(starts[-1]) - (len(made.items) if repeats == "once" else int(starts[-1]))
    if n_repeated:
        notes.append(f"{n_repeated} repetitions of an item within a line were counted once")
    return replace(made, source=replace(source, notes=tuple(notes)))
