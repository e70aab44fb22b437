"""Groups of strings, recomputed: how many, of which class, how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.arrays import Ints, Mask

ROUNDING = 1e-9  # 1.15 * 20 is a little less than 23


@dataclass(frozen=True)
class StringGroups:
    """All groups that an original or a published string is in, numbered anew from 0 on.

    Attributes
    ----------
    published, original : int64 arrays
        The group of each string; -1 where an original was suppressed. Published strings that are in none share one.
    sizes : int64 array (n_groups,)
        How many originals each has that are not empty.
    classes : int64 array (n_groups,)
        The class of its originals, -1 where they are of several or there are none.
    has_several_classes, has_uneven_lengths, has_too_many, has_odd_lengths : bool arrays (n_groups,)
        What is wrong with it.
    template_lengths : int64 array (n_groups,), optional
        The length of its templates; None if it is not known.
    has_length : bool array (n_groups,)
        Whether its strings can be told apart by position at all: it has members and a length.
    """

    published: Ints
    original: Ints
    sizes: Ints
    classes: Ints
    has_several_classes: Mask
    has_uneven_lengths: Mask
    has_too_many: Mask
    has_odd_lengths: Mask
    template_lengths: Ints | None
    has_length: Mask


def group_strings(
    published: Ints,
    published_groups: Ints,
    shown_labels: Ints | None,
    original: Ints,
    original_groups: Ints,
    labels: Ints,
    eps: float,
    lengths: Literal["template", "spread"],
    template_lengths: Ints | None,
    n_longer: int = 0,
) -> StringGroups:
    """Bring groups together and look at each.

    Parameters
    ----------
    published, original : int64 arrays
        The lengths of the strings, of originals without rare symbols.
    published_groups, original_groups : int64 arrays
        The group of each; negative where it has none.
    shown_labels : int64 array, optional
        The classes of published strings; None if they are not published.
    labels : int64 array
        Those of the originals.
    eps, lengths, template_lengths
        As in `shoal.check.strings.verify`.
    n_longer : int
        By how many symbols a published string may be longer than the longest of its group, if lengths are spread and
        those of its class differ.
    """
    # An original without symbols gives nothing to its group, so it does not count in it.
    member_of = np.where(original > 0, original_groups, -1)
    names = np.unique(np.concatenate([np.maximum(published_groups, -1), member_of[member_of >= 0]]))
    group = np.searchsorted(names, np.maximum(published_groups, -1))
    member = np.where(member_of >= 0, np.searchsorted(names, member_of), -1)
    n_groups = len(names)
    rows = np.flatnonzero(member >= 0)
    sizes = np.bincount(member[rows], minlength=n_groups)
    low_class, high_class = _range(labels[rows], member[rows], n_groups)
    shortest, longest = _range(original[rows], member[rows], n_groups)
    least, most = _range(published, group, n_groups)
    has_members = sizes > 0
    is_drawn = np.bincount(group, minlength=n_groups) > 0
    several = has_members & (low_class != high_class)
    classes = np.where(has_members & ~several, low_class, -1)
    if shown_labels is not None:
        low, high = _range(shown_labels, group, n_groups)
        several |= has_members & is_drawn & ((low != classes) | (high != classes))
    known = template_lengths
    if known is not None:
        inside = (names >= 0) & (names < len(known))
        L = np.where(inside, known[np.where(inside, names, 0)] if len(known) else 0, 0)
    elif lengths == "template":
        L = np.where(is_drawn, least, 0)
    else:
        L = None
    odd = np.zeros(n_groups, bool)
    if lengths == "template":
        odd = is_drawn & (least != most)
    else:
        lowest, highest = (values[np.maximum(classes, 0)] for values in _range(original[rows], labels[rows]))
        odd = is_drawn & has_members & ((least < shortest) | (most > longest + n_longer * (lowest < highest)))
    has_length = has_members.copy()
    if L is not None:
        # L lies within the lengths of the segment, and those differ by the factor 1 + eps at most.
        odd |= is_drawn & has_members & ((_reach(shortest, eps) < L) | (_reach(L, eps) < longest))
        if lengths == "template":
            odd |= is_drawn & (least != L)
        has_length &= (L > 0) & ~((lengths == "template") & (least != most))
        has_length &= ~odd  # a wrong length could be of any size
    return StringGroups(
        published=group,
        original=member,
        sizes=sizes,
        classes=classes,
        has_several_classes=several,
        has_uneven_lengths=has_members & (longest > _reach(shortest, eps)),
        has_too_many=np.bincount(group, minlength=n_groups) > sizes,
        has_odd_lengths=odd,
        template_lengths=L,
        has_length=has_length,
    )


def _reach(lengths: Ints, eps: float) -> Ints:
    """The greatest length that is alike."""
    return np.asarray(np.floor((1.0 + eps) * lengths + ROUNDING), dtype=np.int64)


def _range(values: Ints, groups: Ints, n_groups: int | None = None) -> tuple[Ints, Ints]:
    """The least and the greatest value of each group; 0 and 0 where it has none."""
    n_groups = int(groups.max(initial=0)) + 1 if n_groups is None else n_groups
    order = np.lexsort((values, groups))
    ordered = groups[order]
    low, high = np.zeros(n_groups, np.int64), np.zeros(n_groups, np.int64)
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    last = np.append(first, len(ordered))[1:] - 1
    low[ordered[first]] = values[order[first]]
    high[ordered[first]] = values[order[last]]
    return low, high
