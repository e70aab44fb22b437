"""Templates of groups of strings, recomputed: which members have which symbol at which position, as bits.

Position i (from 0 on) of a template of length L of a string of length n covers ``[i n / L, (i + 1) n / L)`` of it, and
each symbol has the share that it covers. A *feature* is a symbol at a position of a group. Its members are the bits of
a few 64-bit words, so that who carries a whole context is an AND of its features.

References
----------
C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and Knowledge
Discovery 16(3), 2008, section 3 and Fig. 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Words

BITS = 64


@dataclass(frozen=True)
class GroupTemplates:
    """Some groups; each has a run of positions, and each member a run of cells, one a position.

    Attributes
    ----------
    n_symbols : int
        Symbols are below it.
    sizes : int64 array (n_groups,)
        Members of each group.
    position_starts : int64 array (n_groups + 1,)
        Where the positions of each group begin, all groups counted in one row.
    member_starts : int64 array (n_groups,)
        The first member of each group, members being ordered by group.
    cell_starts : int64 array (n_members,)
        The first cell of each member.
    entry_starts : int64 array (n_cells + 1,)
        The entries of each cell: the symbols that it holds.
    entry_features : int64 array
        The feature of each entry.
    entry_shares : float64 array
        Its share; those of a cell add up to 1.
    feature_keys : int64 array (n_features,)
        Position (of all groups) times `n_symbols` plus symbol, ascending.
    members : uint64 array (n_features, n_words)
        Who has it, a bit for each member of the group.
    totals : float64 array (n_features,)
        The sum of its shares.
    """

    n_symbols: int
    sizes: Ints
    position_starts: Ints
    member_starts: Ints
    cell_starts: Ints
    entry_starts: Ints
    entry_features: Ints
    entry_shares: Floats
    feature_keys: Ints
    members: Words
    totals: Floats

    def find(self, positions: Ints, symbols: Ints) -> Ints:
        """The feature of each symbol at each position (of all groups); their number where no member has it."""
        keys = positions * self.n_symbols + symbols
        at = np.minimum(np.searchsorted(self.feature_keys, keys), len(self.feature_keys) - 1)
        return np.where((self.feature_keys[at] == keys) & (symbols < self.n_symbols), at, len(self.feature_keys))

    def everyone(self) -> Words:
        """The bits of all members of each group."""
        of_word = np.append(np.uint64(1) << np.arange(BITS, dtype=np.uint64), np.uint64(0)) - np.uint64(1)
        n_set = self.sizes[:, None] - np.arange(self.members.shape[1]) * BITS
        return np.asarray(of_word[np.clip(n_set, 0, BITS)])

    def shares(self, cells: Ints, features: Ints) -> Floats:
        """The share of a feature in a cell, 0 where the cell does not hold it."""
        n = len(self.totals) + 1
        keys = self._entry_keys
        wanted = cells * n + features
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, self.entry_shares[at], 0.0)

    @cached_property
    def _entry_keys(self) -> Ints:
        cells = np.repeat(np.arange(len(self.entry_starts) - 1), np.diff(self.entry_starts))
        return np.asarray(cells * (len(self.totals) + 1) + self.entry_features)


def make_templates(
    symbols: Codes, starts: Ints, groups: Ints, template_lengths: Ints, n_symbols: int
) -> GroupTemplates:
    """Recompute the templates of some groups.

    Parameters
    ----------
    symbols, starts
        The members' strings, none of them empty, ordered by group.
    groups : int64 array (n_members,)
        The group of each, numbered from 0 on without gaps.
    template_lengths : int64 array (n_groups,)
        The length L of each group.
    """
    own = np.diff(starts)
    sizes = np.bincount(groups, minlength=len(template_lengths)).astype(np.int64)
    member_starts = np.cumsum(sizes) - sizes
    length = template_lengths[groups]
    position_starts = np.concatenate([[0], np.cumsum(template_lengths)]).astype(np.int64)
    cell_starts = np.cumsum(length) - length
    n_cells = int(length.sum())
    member = np.repeat(np.arange(len(own)), length)
    position = np.arange(n_cells) - cell_starts[member]
    # In units of 1 / L of a symbol every bound is a whole number, so nothing is rounded.
    unit, begin = length[member], position * own[member]
    end = begin + own[member]
    first = begin // unit
    n_covered = -(-end // unit) - first
    cell = np.repeat(np.arange(n_cells), n_covered)
    place = first[cell] + np.arange(len(cell)) - np.repeat(np.cumsum(n_covered) - n_covered, n_covered)
    share = np.minimum((place + 1) * unit[cell], end[cell]) - np.maximum(place * unit[cell], begin[cell])
    key = cell * n_symbols + symbols[starts[member[cell]] + place]
    if len(key) > n_cells:
        order = np.argsort(key, kind="stable")
        heads = np.flatnonzero(np.diff(key[order], prepend=-1))
        key, share = key[order][heads], np.add.reduceat(share[order], heads)
        cell = key // n_symbols
    shares = share / own[member[cell]]
    of_feature = (position_starts[groups[member[cell]]] + position[cell]) * n_symbols + key % n_symbols
    order = np.argsort(of_feature, kind="stable")  # so members ascend within a feature
    is_new = np.diff(of_feature[order], prepend=-1) != 0
    feature = np.cumsum(is_new) - 1
    bit = (member - member_starts[groups[member]])[cell[order]]
    n_words = int(-(-sizes.max() // BITS))
    word = feature * n_words + bit // BITS
    heads = np.flatnonzero(np.diff(word, prepend=-1))
    n_features = int(feature[-1]) + 1
    members = np.zeros(n_features * n_words + n_words, np.uint64)  # one more, that nobody has
    members[word[heads]] = np.bitwise_or.reduceat(np.uint64(1) << (bit % BITS).astype(np.uint64), heads)
    entry_features = np.empty(len(order), np.int64)
    entry_features[order] = feature
    return GroupTemplates(
        n_symbols=n_symbols,
        sizes=sizes,
        position_starts=position_starts,
        member_starts=member_starts,
        cell_starts=cell_starts,
        entry_starts=np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=n_cells))]).astype(np.int64),
        entry_features=entry_features,
        entry_shares=shares,
        feature_keys=of_feature[order][is_new],
        members=members.reshape(n_features + 1, n_words),
        totals=np.add.reduceat(shares[order], np.flatnonzero(is_new)),
    )
