"""Recode: every value gets its label at one level of the hierarchy, the same for all records.

P. Samarati, "Protecting respondents' identities in microdata release", IEEE TKDE 13(6), 2001.

**Guarantee.** Records of one class are published alike, and truly. **Not protected.** Without a hierarchy, the exact
ends of an interval, and those of ordered categories, are values of published records; the sensitive values inside a
class.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.data.tables.hierarchy import ROOT, Hierarchy
from shoal.data.tables.labels import range_label, value_label
from shoal.data.tables.round_ends import Spread, rounded_labels
from shoal.data.tables.table import Column, count_codes
from shoal.errors import DataError
from shoal.tables.encoding import Ranked
from shoal.tables.partition.full_domain import as_tree


def recode(
    source: Column,
    ranked: Ranked,
    level: int,
    hierarchy: Hierarchy | None,
    *,
    ends: str = "exact",
    weights: Codes | None = None,
) -> Column:
    """Replace every value by its label at a level.

    Without a hierarchy, the levels are those of `as_tree`: plain categories below ``*``, numbers and ordered categories
    in intervals, spelled ``[17..25]`` after the least and the greatest value that the given records have in them, which
    for numbers and dates are rounded outward (`shoal.data.tables.round_ends`) unless asked for exactly. At level 0,
    numbers stay numbers. A missing value stays missing below the root, in one spelling.

    Parameters
    ----------
    source : Column
        The column of the records to be published; drop suppressed records first, else the ends of intervals and the
        dictionary tell of them.
    ranked : Ranked
        The same column of the same records, with the ranks of all.
    level : int
        0 for the values to the height of the hierarchy for the root.
    hierarchy : Hierarchy or None
        The one that the ranks were made with.
    ends : {"rounded", "exact"}
        Where intervals of numbers and dates end.
    weights : int32 array (n_rows,), optional
        How many records each row stands for: where rounded ends lie depends on how frequent values are.
    """
    tree = as_tree(ranked)
    assert tree.ancestors is not None
    height = tree.ancestors.shape[1] - 1
    if not 0 <= level <= height:
        raise DataError(f"column {source.name!r} has the levels 0 to {height}, not {level}; choose one of these")
    if ranked.kind == "tree" and hierarchy is None:
        raise DataError(f"the taxonomy of {source.name!r} is missing; give its hierarchy")
    if level == 0 and not source.is_text:
        return _plain(source)
    root = ROOT if hierarchy is None else hierarchy.rows[0][-1]
    used = np.unique(ranked.ranks)
    is_missing = np.isnan(tree.positions[used])
    stays_missing = is_missing & (level < height)
    n_records = count_codes(ranked.ranks, weights, ranked.n_values)[used[~is_missing]]
    nodes = tree.ancestors[used[~is_missing], level]
    texts = _labels(ranked, used[~is_missing], nodes, n_records, level, height, hierarchy, ends)
    values = sorted({*texts, *([root] if (is_missing & ~stays_missing).any() else [])})
    place = {text: i for i, text in enumerate(values)}
    of_rank = np.empty(tree.n_values, dtype=np.int32)
    of_rank[used[~is_missing]] = [place[text] for text in texts]
    of_rank[used[is_missing]] = place.get(root, 0) if level == height else len(values)
    markers = source.markers[:1] if stays_missing.any() else ()
    return Column(source.name, of_rank[ranked.ranks], np.array(values, dtype=object), markers)


def _plain(source: Column) -> Column:
    """The column itself, without values that no record has, and with one spelling of a missing value."""
    missing = source.missing
    used, codes = np.unique(source.codes[~missing], return_inverse=True)
    of_row = np.full(len(source.codes), len(used), dtype=np.int32)
    of_row[~missing] = codes
    return Column(source.name, of_row, source.values[used], source.markers[:1] if missing.any() else ())


def _labels(
    ranked: Ranked,
    ranks: Codes,
    nodes: Codes,
    n_records: Ints,
    level: int,
    height: int,
    hierarchy: Hierarchy | None,
    ends: str,
) -> list[str]:
    """The label of each rank, which so many records have; ranks ascend, so those of a node are neighbours."""
    assert ranked.labels is not None, "only columns of a table are recoded"
    spelled: list[Any] = list(ranked.labels[ranks])
    if hierarchy is not None:
        return [hierarchy.label(text, level) for text in spelled]
    if level == 0:
        return [value_label(text) for text in spelled]
    if level == height:
        return [ROOT] * len(spelled)
    _, first, of_rank, counts = np.unique(nodes, return_index=True, return_inverse=True, return_counts=True)
    rounded = None
    if ends == "rounded" and ranked.kind == "number":
        n_alike = np.add.reduceat(n_records, first)
        rounded = rounded_labels(ranked.labels[ranks], Spread(first, first + counts - 1, counts, n_alike, n_records))
    if rounded is not None:
        return [rounded[i] for i in of_rank]
    names = [range_label(spelled[i], spelled[i + n - 1]) for i, n in zip(first, counts, strict=True)]
    return [names[i] for i in of_rank]
