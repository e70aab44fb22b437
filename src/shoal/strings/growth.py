"""Larger groups where groups of k would tell who is in the data.

Strings of one length are drawn column by column. Each column of a group of n tells, of every symbol but one that it
shows, a share that a member moves by 1 / n; over many columns that adds up (Homer et al., PLoS Genetics 4, 2008). The
sum over the columns of the symbols shown, less one, divided by n is small where members are alike, as mitochondrial
sequences are (0.1 to 0.5), and large where they have nothing in common but their length, as windows of DNA have (3.6
for splice sites at k = 20). Groups are doubled until it is at most `MOST_TOLD`, or one is left. The limit was chosen on
splice sites alone: see `shoal.strings.windows`.

**Guarantee**: none; that is what attacks measure.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.strings.groups import Plan, StringGrouping, whole_segment
from shoal.strings.templates import Templates

MOST_TOLD = 2.5


def told_by_columns(templates: Templates, grouping: StringGrouping, support: int) -> float:
    """How much columns of groups tell of a member, on average over the groups; 0 where lengths differ."""
    if len(templates.weights):
        return 0.0
    n_groups = grouping.n_groups
    sizes = np.bincount(grouping.labels, minlength=n_groups)
    group = np.repeat(grouping.labels.astype(np.int64), templates.length)
    cells, n_holders = np.unique(group * templates.n_features + templates.features, return_counts=True)
    shown = cells[n_holders >= support]
    position = np.searchsorted(templates.position_starts, shown % templates.n_features, side="right") - 1
    columns = np.unique(shown // templates.n_features * templates.length + position)
    beyond = np.bincount(shown // templates.n_features, minlength=n_groups) - np.bincount(
        columns // templates.length, minlength=n_groups
    )
    return float((beyond / sizes).mean())


def grow_groups(
    plan: Plan, grouping: StringGrouping, k: int, support: int, regroup: Callable[[Plan, int], StringGrouping]
) -> StringGrouping:
    """Double the size of groups as long as columns tell too much; `regroup` makes groups of at least a given size."""
    templates, blocks = plan
    size, smallest_block = k, min(map(len, blocks))
    while grouping.n_groups > 1 and told_by_columns(templates, grouping, support) > MOST_TOLD:
        size *= 2
        grouping = regroup(plan, size) if 2 * size <= smallest_block else whole_segment(templates)
    return grouping
