"""Larger groups where groups of k would tell who is in the data.

Symbols are drawn window by window. Each window of a group of n tells, of every symbol but one that it shows, a share
that a member moves by 1 / n; over many windows that adds up (Homer et al., PLoS Genetics 4, 2008; Sankararaman et al.,
Nature Genetics 41, 2009: what can be told grows with the number of such shares divided by n). They are few where
members are alike, as mitochondrial sequences are, and many where they have nothing in common but their length, as
windows of DNA have, or not even that. Groups are made larger until they have two or four members for each share
(`shoal.strings.windows`), or one is left; there windows are made wider.

**Guarantee**: none; that is what attacks measure.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.data.strings.strings import take_strings
from shoal.strings.groups import Plan, StringGrouping, order_members, whole_segment
from shoal.strings.windows import bins_of_lengths, count_needed


def told_by_groups(
    symbols: Codes, starts: Ints, grouping: StringGrouping, support: int, window: float, n_symbols: int
) -> float:
    """How many members groups need for what they tell beside those that they have, on average; 1 is the most."""
    members, group_starts = order_members(grouping.labels, grouping.n_groups)
    own, own_starts = take_strings(symbols, starts, members)
    return float(needed_share(own, own_starts, group_starts, support, window, n_symbols).mean())


def needed_share(
    symbols: Codes, starts: Ints, group_starts: Ints, support: int, window: float, n_symbols: int
) -> Floats:
    """How many members each group needs beside those that it has; the members stand group by group."""
    n_bins, reaches = bins_of_lengths(np.diff(starts), group_starts, window)
    needed, _ = count_needed(symbols, starts, group_starts, n_bins, reaches, support, n_symbols)
    return np.asarray(needed / (np.diff(group_starts) * (2 * reaches + 1)))


def grow_groups(
    plan: Plan,
    grouping: StringGrouping,
    told: Callable[[StringGrouping], float],
    k: int,
    regroup: Callable[[Plan, int], StringGrouping],
) -> StringGrouping:
    """Make groups larger as long as windows tell too much.

    Parameters
    ----------
    plan, grouping : Plan, StringGrouping
        A segment and its groups of at least k.
    told : callable
        How much groups tell, beside what they may.
    regroup : callable
        Makes groups of at least a given size.
    """
    templates, blocks = plan
    size, smallest_block = k, min(map(len, blocks))
    while grouping.n_groups > 1 and (much := told(grouping)) > 1.0:
        size *= 1 << int(np.ceil(np.log2(much)))
        grouping = regroup(plan, size) if 2 * size <= smallest_block else whole_segment(templates)
    return grouping
