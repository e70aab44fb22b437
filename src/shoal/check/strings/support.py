"""Whether pseudo-strings can have been drawn from their groups, and whether contexts of few members were used.

A symbol is drawn after the longest context (up to order - 1 symbols before it) that at least `support` members carry,
from the members that carry it. So two things can be recomputed:

- **Possible.** Some member that carries that context has the symbol at the position. This is certain: a string that
  fails was not drawn from the group as promised.
- **Followed.** Taking less context into account than promised makes symbols impossible; taking more does not: what
  follows a context of one member is one of the group's symbols too. It shows in how often it happens. At each place,
  take the context one symbol longer than may be used; the chance that a fair draw is a symbol which its carriers have
  at this position is known. Over many places, a draw that follows such contexts more often than the sum of these
  chances is told by a test that a fair release fails once in 10^9 times.

The test: for S of n events with chances of mean p (each given what came before), ``exp(c S) / (1 + p (e^c - 1))^n`` has
a mean of at most 1 for every c > 0, so it exceeds x with probability 1/x at most (Ville); we take the best of a fixed
list of c and pay for their number. That a copy is drawn again leaves it valid, since a copy of a member follows its own
context at every place: without it S is smaller.

References
----------
J. Ville, "Etude critique de la notion de collectif", 1939. For the method see `shoal.check.strings.verify`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints, Mask, Words
from shoal.check.strings.templates import BITS, GroupTemplates, make_templates
from shoal.data.strings.strings import Strings, take_strings

FALSE_ALARM = 1e-9
BATCH_CELLS = 1_000_000  # positions of members and of pseudo-strings at once: some hundred MB
BATCH_WORDS = 50_000  # places times words at once; where members are all alike, 64 times as many pairs are looked at
_SLOPES = 2.0 ** np.arange(-9, 3)


@dataclass(frozen=True)
class Support:
    """What was found, for each published string.

    Attributes
    ----------
    is_possible : bool array (n_published,)
        Whether each symbol can have been drawn.
    n_places : int64 array (n_published,)
        Places where some member carries a context longer than may be used.
    followed : int64 array (n_published,)
        At how many of them the symbol is one that these members have.
    expected : float64 array (n_published,)
        At how many it would be on average.
    """

    is_possible: Mask
    n_places: Ints
    followed: Ints
    expected: Floats

    @property
    def is_suspect(self) -> Mask:
        """Strings that follow such contexts more often than chance explains."""
        limit = np.log(max(len(self.followed), 1) / (FALSE_ALARM / 2))
        return np.asarray(surprise(self.followed, self.expected, self.n_places) > limit)

    @property
    def is_suspect_whole(self) -> bool:
        """Whether all strings together do."""
        whole = surprise(*(x.sum(keepdims=True) for x in (self.followed, self.expected, self.n_places)))
        return bool(whole[0] > np.log(2 / FALSE_ALARM))


def surprise(followed: Ints, expected: Floats, n_places: Ints) -> Floats:
    """How far `followed` is above what is expected: x or more happens with probability exp(-x) at most."""
    p = np.minimum(expected / np.maximum(n_places, 1), 1.0)
    best = np.max([c * followed - n_places * np.log1p(p * np.expm1(c)) for c in _SLOPES], axis=0, initial=0.0)
    return np.asarray(best - np.log(len(_SLOPES)))


def recompute_support(
    published: Strings,
    groups: Ints,
    original: Strings,
    original_groups: Ints,
    template_lengths: Ints,
    order: int,
    support: int,
) -> Support:
    """Recompute the templates of all groups, and from them what each published string could have been drawn from.

    Parameters
    ----------
    published, original : Strings
        In the same codes; the original without rare symbols.
    groups, original_groups : int64 arrays
        The group of each, numbered from 0 on; negative where an original has none. Every published string's group
        has a member that is not empty, and a length.
    template_lengths : int64 array (n_groups,)
        The length L of each group.
    order, support : int
        What is promised.
    """
    n = len(published)
    result = Support(np.zeros(n, bool), np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n))
    members = np.flatnonzero((original_groups >= 0) & (original.lengths > 0))
    members = members[np.argsort(original_groups[members], kind="stable")]
    n_members = np.bincount(original_groups[members], minlength=len(template_lengths))
    n_drawn = np.bincount(groups, minlength=len(template_lengths))
    rows = np.argsort(groups, kind="stable")
    member_starts, row_starts = np.cumsum(n_members) - n_members, np.cumsum(n_drawn) - n_drawn
    cost = (n_members + n_drawn) * np.maximum(template_lengths, 1)
    for batch in _batches(np.flatnonzero(n_drawn > 0), n_members, cost):
        chosen = members[_runs(member_starts[batch], n_members[batch])]
        drawn = rows[_runs(row_starts[batch], n_drawn[batch])]
        local = np.zeros(len(template_lengths), np.int64)
        local[batch] = np.arange(len(batch))
        symbols, starts = take_strings(original.symbols, original.starts, chosen)
        templates = make_templates(
            symbols, starts, local[original_groups[chosen]], template_lengths[batch], len(original.alphabet)
        )
        walk = _walk(published.take(drawn), local[groups[drawn]], template_lengths[batch], templates)
        result.is_possible[drawn] = ~walk.is_torn
        for begin, end in _chunks(walk.string, templates.members.shape[1]):
            found = _judge(walk, begin, end, templates, order, support)
            impossible, tested, followed, expected = (
                np.bincount(walk.string[begin:end], weights=w, minlength=len(drawn)) for w in found
            )
            result.is_possible[drawn] &= impossible == 0
            result.n_places[drawn] += tested.astype(np.int64)
            result.followed[drawn] += followed.astype(np.int64)
            result.expected[drawn] += expected
    return result


@dataclass(frozen=True)
class _Walk:
    """Pseudo-strings as walks over the positions of their groups' templates, one after another.

    A pseudo-string that is longer than the template shows a position more than once, one that is shorter leaves some
    out. `known` counts the symbols that are known without a gap before each place.
    """

    string: Ints
    group: Ints
    position: Ints
    feature: Ints
    known: Ints
    is_torn: Mask  # strings that show two symbols for one position


def _walk(strings: Strings, groups: Ints, template_lengths: Ints, templates: GroupTemplates) -> _Walk:
    lengths = strings.lengths
    string = np.repeat(np.arange(len(strings)), lengths)
    within = np.arange(len(string)) - strings.starts[:-1][string]
    L = template_lengths[groups]
    position = (2 * within + 1) * L[string] // (2 * lengths[string])
    symbols = strings.symbols.astype(np.int64)
    same_string = np.diff(string, prepend=-1) == 0
    is_again = same_string & (np.diff(position, prepend=-1) == 0)
    torn = is_again & (np.diff(symbols, prepend=-1) != 0)
    is_torn = np.bincount(string[torn], minlength=len(strings)) > 0
    once = ~is_again
    string, position, symbols = string[once], position[once], symbols[once]
    joins = (np.diff(string, prepend=-1) == 0) & (np.diff(position, prepend=-1) == 1)
    places = np.arange(len(string))
    known = places - np.maximum.accumulate(np.where(joins, 0, places))
    group = groups[string]
    feature = templates.find(templates.position_starts[group] + position, symbols)
    return _Walk(string, group, position, feature, known, is_torn)


def _judge(
    walk: _Walk, begin: int, end: int, templates: GroupTemplates, order: int, support: int
) -> tuple[Mask, Mask, Mask, Floats]:
    """Of some places: which are impossible, which are tested, which follow, and with what chance."""
    at = np.arange(begin, end)
    group, position, known = walk.group[begin:end], walk.position[begin:end], walk.known[begin:end]
    used = templates.everyone()[group]
    longer = np.zeros_like(used)
    depth = np.zeros(end - begin, np.int64)
    is_open = np.ones(end - begin, bool)
    for back in range(1, order + 1):
        is_open &= known >= back
        some = np.flatnonzero(is_open)
        if not len(some):
            break
        carriers = used[some] & templates.members[walk.feature[at[some] - back]]
        is_used = _count(carriers) >= support if back < order else np.zeros(len(some), bool)
        used[some[is_used]] = carriers[is_used]
        depth[some[is_used]] = back
        stop = some[~is_used]
        longer[stop] = carriers[~is_used]
        is_open[stop] = False
    own = templates.members[walk.feature[begin:end]]
    is_impossible = np.asarray(~(used & own).any(axis=1))
    # A place whose context goes on before a gap is not tested: what was drawn there is not known.
    is_tested = np.asarray(longer.any(axis=1))
    has_followed = np.asarray(is_tested & (longer & own).any(axis=1))
    chance = np.zeros(end - begin)
    plain = np.flatnonzero(is_tested & (depth == 0))
    chance[plain] = _chance_of_any(templates, group[plain], position[plain], longer[plain])
    deep = np.flatnonzero(is_tested & (depth > 0))
    if len(deep):
        context = [walk.feature[at[deep] - np.minimum(b, depth[deep])] for b in range(1, order)]
        chance[deep] = _chance_after(
            templates, group[deep], position[deep], used[deep], longer[deep], depth[deep], context
        )
    return is_impossible, is_tested, has_followed, np.minimum(chance, 1.0)


def _chance_of_any(templates: GroupTemplates, group: Ints, position: Ints, carriers: Words) -> Floats:
    """The chance that a draw from the marginal of a position is a symbol which one of the carriers has there."""
    place, member = _set_bits(carriers)
    cell = templates.cell_starts[templates.member_starts[group[place]] + member] + position[place]
    n_entries = templates.entry_starts[cell + 1] - templates.entry_starts[cell]
    feature = templates.entry_features[_runs(templates.entry_starts[cell], n_entries)]
    place, member = np.repeat(place, n_entries), np.repeat(member, n_entries)
    # A symbol that several of them have counts once, for the first of them.
    shared = templates.members[feature] & carriers[place]
    word = (shared != 0).argmax(axis=1)
    lowest = shared[np.arange(len(shared)), word]
    lowest &= ~lowest + np.uint64(1)
    is_first = (word == member // BITS) & (lowest == np.uint64(1) << (member % BITS).astype(np.uint64))
    weights = np.where(is_first, templates.totals[feature] / templates.sizes[group[place]], 0.0)
    return np.bincount(place, weights=weights, minlength=len(group)).astype(np.float64, copy=False)


def _chance_after(
    templates: GroupTemplates,
    group: Ints,
    position: Ints,
    used: Words,
    longer: Words,
    depth: Ints,
    context: list[Ints],
) -> Floats:
    """The same for a draw after a context that the members in `used` carry; `context[b]` is b + 1 places before."""
    place, member = _set_bits(used)
    cell = templates.cell_starts[templates.member_starts[group[place]] + member] + position[place]
    weight = np.ones(len(place))
    for b, feature in enumerate(context, start=1):
        share = templates.shares(np.maximum(cell - b, 0), feature[place])
        weight *= np.where(depth[place] >= b, share, 1.0)
    total = np.bincount(place, weights=weight, minlength=len(group))
    n_entries = templates.entry_starts[cell + 1] - templates.entry_starts[cell]
    pick = np.repeat(np.arange(len(place)), n_entries)
    entry = _runs(templates.entry_starts[cell], n_entries)
    is_in = (templates.members[templates.entry_features[entry]] & longer[place[pick]]).any(axis=1)
    part = np.where(is_in, weight[pick] * templates.entry_shares[entry], 0.0)
    return np.asarray(np.bincount(place[pick], weights=part, minlength=len(group)) / total)


def _set_bits(words: Words) -> tuple[Ints, Ints]:
    """The row and the number of each bit that is set."""
    octets = np.ascontiguousarray(words.astype("<u8")).view(np.uint8).reshape(len(words), 8 * words.shape[1])
    row, octet = np.nonzero(octets)
    bits = np.unpackbits(octets[row, octet][:, None], axis=1, bitorder="little")
    at, bit = np.nonzero(bits)
    return row[at].astype(np.int64), octet[at] * 8 + bit


def _count(words: Words) -> Ints:
    octets = np.ascontiguousarray(words).view(np.uint8).reshape(len(words), 8 * words.shape[1])
    return np.asarray(_OCTET_BITS[octets].sum(axis=1, dtype=np.int64))


_OCTET_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.uint8)


def _runs(starts: Ints, sizes: Ints) -> Ints:
    """The numbers of several runs, one after another."""
    return np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))


def _batches(groups: Ints, n_members: Ints, cost: Ints) -> Iterator[Ints]:
    """Groups with about as many words of members each, in batches of bounded cost."""
    words = -(-n_members[groups] // BITS)
    order = groups[np.argsort(words, kind="stable")]
    parcel = np.cumsum(cost[order]) // BATCH_CELLS
    cuts = np.flatnonzero((np.diff(parcel) != 0) | (np.diff(np.sort(words)) != 0)) + 1
    return (part for part in np.split(order, cuts) if len(part))


def _chunks(string: Ints, n_words: int) -> Iterator[tuple[int, int]]:
    """Places in runs of bounded size."""
    step = max(BATCH_WORDS // n_words, 1)
    return ((begin, min(begin + step, len(string))) for begin in range(0, len(string), step))
