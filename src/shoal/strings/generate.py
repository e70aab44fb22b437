"""Pseudo-strings from group statistics, with support and back-off.

Each group gives as many pseudo-strings as it has members. A symbol is drawn after the last s-1 symbols (the first
ones after fewer) by the conditional probability of Eq. (4). We depart from the paper where that copies:

- **Support.** A context is used only if at least `support` members carry it, that is, have some share, however small,
  of every symbol of it at its position. Otherwise a shorter context is tried, down to none: then the symbol comes
  from the position's marginal. ``support=1`` is the paper. A symbol that only one member has at a position may still
  be drawn: it tells that some string of the group has this one symbol about there, and the next draw, whose context
  that one member alone carries, falls back to the marginal and leaves it. What must not be shown at all, symbols that
  few strings have anywhere, is taken out before groups are made (`shoal.strings.condense`).
- **Copies.** ``copies="redraw"`` draws a pseudo-string again that equals an original of any class which fewer than k
  rows hold, and leaves it out after `N_TRIES` draws. ``"allow"`` is the paper. Where strings have so little variety
  that draws often equal originals either tells who is in the data: see below.
- **Lengths.** ``"template"`` gives every string of a segment the segment's length L, as the paper does. ``"spread"``
  draws lengths from between those of the group and takes symbols from the template at even distances.

- **Windows.** ``generator="window"``, the default of `shoal.strings.Condensation`, draws from the members' strings and
  not from their templates: see `shoal.strings.windows`. ``"markov"`` leaves the groups out of it. What follows is about
  ``"template"``, the papers' way.

**Guarantee**: every symbol was drawn after a context that at least `support` members of a group of at least k carry,
or after none; and, unless copies are allowed, no pseudo-string equals an original that fewer than k rows hold.

**Not protected**: shorter fragments. Runs of a member's symbols occur, by chance and because members are alike. Whether
a string is in the data: drawing copies again leaves holes where members are, allowing them leaves echoes.

Why 3 is the least for templates
--------------------------------
Longest run of a pseudo-string that stands in some original, mean / 95th percentile / maximum, at k = 20 and eps = 1.5,
beside the same for originals that were held out and are no copies of others (1,000 yeast proteins; 2,190 splice sites;
10,000 baskets of about 20 of 1,000 items; 2,560 baskets of exactly 20; one seed, one split)::

    order  support   yeast            splice          baskets         equal baskets
        held out     18.0 / 17 / 1610 15.2 / 39 / 59  3.5 /  5 /  9   3.0 /  4 /  6
      2      1        7.5 / 10 /   16 11.7 / 14 / 24  6.0 / 11 / 22  12.7 / 19 / 19
      2      2        7.1 /  9 /   14 11.7 / 14 / 24  3.1 /  5 / 10   3.0 /  5 / 11
      2      3        6.9 /  9 /   14 11.7 / 14 / 24  2.7 /  4 /  7   2.6 /  4 /  8
      2      5        6.6 /  8 /   15 11.6 / 14 / 24  2.6 /  4 /  7   2.4 /  4 /  6
      4      1       14.1 / 27 /  180 21.6 / 34 / 58  6.2 / 10 / 22  16.2 / 19 / 19
      4      3        7.3 / 13 /   17 13.9 / 26 / 41  2.8 /  4 /  8   2.6 /  4 /  7

At 3, mean and 95th percentile are at or below those of held-out originals on all four, at orders 2 to 4; at 2 they are
not for equal baskets. The choice was made on these very data. Its price on the proteins is a composition that differs
by 2.3 % in sum instead of 0.7 %. Leaving out symbols that one member alone has at a position would take away 71 % of
what the equal baskets' groups hold, and 12 % of the proteins'.

Why copies are drawn again by default
-------------------------------------
On strings that occur once, the area under the curve of the better attack on membership (`holes` where copies are drawn
again, `echoes` where they are allowed), and the share of members whose string is published as it is, half of each set
held out::

                        redraw          allow
    haplotypes, k = 20  0.68      0 %   0.53   10 %
    haplotypes, k = 5   0.80      0 %   0.63   24 %
    mtDNA,      k = 20  0.56      0 %   0.54    7 %
    mtDNA,      k = 5   0.77      0 %   0.66   16 %
    yeast               0.50      0 %   0.50    0 %

Allowing copies tells less of membership, drawing them again gives nobody's string away. A string that is published
whole cannot be taken back, and larger groups make holes fewer; so the default is the latter, and a release of which
many draws were copies says what that tells.

References
----------
C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and Knowledge
Discovery 16(3), 2008, sections 4.3 and 4.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from shoal.arrays import Codes, Ints, Mask, Words
from shoal.data.ragged import distinct
from shoal.data.strings.strings import Strings, StringSource, symbol_keys, take_strings
from shoal.engine.blocks import run_blocks
from shoal.engine.seeds import spawn_seeds
from shoal.errors import PolicyError
from shoal.kernels.strings.generate import generate_strings
from shoal.kernels.strings.hash import BASES, Unwanted, fingerprints
from shoal.strings.pool import REACH, ClassSymbols, make_pool
from shoal.strings.statistics import GroupStatistics, SegmentStatistics
from shoal.strings.templates import Templates
from shoal.strings.windows import WindowSettings, find_rare, generate_window_block, join

Lengths = Literal["template", "spread"]
Copies = Literal["redraw", "allow"]
Generator = Literal["window", "template", "markov"]

Block = tuple[Codes, Mask, int, Ints]

GAPS = ("-", ".")
N_TRIES = 20
N_LONGER = 3  # symbols by which a draw that equals an original may be longer than it was to be
JOB_SYMBOLS = 2_000_000  # about half a second of drawing


@dataclass(frozen=True)
class PseudoStrings:
    """What was generated, in random order.

    Attributes
    ----------
    strings : Strings
        The pseudo-strings, with their classes; its alphabet holds only symbols that they have.
    groups : int32 array (n_strings,)
        The group that each was drawn from. Private.
    n_rejected : int
        How many draws equalled an original, or a string that was refused, and were made again.
    n_dropped : int
        How many pseudo-strings were left out because every draw did.
    """

    strings: Strings
    groups: Codes
    n_rejected: int
    n_dropped: int


def fingerprint_originals(strings: Strings, bare: Strings | None = None, k: int = 0) -> Words:
    """Fingerprints of strings, ascending, by which `generate` knows copies; they depend on content alone.

    Gaps are passed over. Two different strings have the same fingerprint once in 2^64 times; then one draw more is
    rejected.

    Parameters
    ----------
    strings : Strings
    bare : Strings, optional
        The same without rare symbols: a copy but for those is a copy.
    k : int
        A string that at least so many of the strings equal, or of those without rare symbols, is left out there, since
        it is nobody's own; 0 leaves out none.
    """
    own = []
    for side in (strings, bare if bare is not None else strings):
        words = fingerprints(side.symbols, side.starts, copy_keys(side), BASES[0])
        found, n_holders = np.unique(words, return_counts=True)
        own.append(found[(n_holders < k) | (k < 1)])
    return distinct(np.concatenate(own))


def copy_keys(strings: Strings | GroupStatistics) -> Words:
    """The keys of symbols by which copies are known: 0 for the gap signs of an alignment, where symbols are letters."""
    keys = symbol_keys(strings.alphabet)
    if not strings.is_tokens:
        keys[[symbol in GAPS for symbol in strings.alphabet]] = 0
    return keys


def generate(
    statistics: GroupStatistics,
    *,
    generator: Generator = "template",
    order: int = 2,
    support: int = 3,
    window: float = 0.05,
    lengths: Lengths = "template",
    copies: Copies = "redraw",
    refused: Words | None = None,
    is_named: bool = False,
    rare: int = 1,
    seed: int | np.random.SeedSequence | None = None,
    source: StringSource | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
    note: Callable[[str], None] | None = None,
) -> PseudoStrings:
    """Generate pseudo-strings, as many a group as it has members.

    Parameters
    ----------
    statistics : GroupStatistics
        The groups and the fingerprints of the originals.
    generator : {"window", "template", "markov"}
        How symbols are drawn: from windows of the members' strings (`shoal.strings.windows`), as in the papers from
        their templates, or from the strings of the class alone.
    order : int
        Order s of the statistics: a symbol depends on the s-1 before it.
    support : int
        How many members must carry a context.
    window : float
        Share of a string to either side of a place.
    lengths : {"template", "spread"}
    copies : {"redraw", "allow"}
        Whether a draw that equals an original is made again.
    refused : uint64 array, optional
        Fingerprints of other strings that are drawn again; see `fingerprint_originals`.
    is_named : bool
        Whether places have names, as variants have: see `shoal.strings.windows`.
    rare : int
        How many strings of the class, and at least `support`, must have a pair of symbols that is drawn from the class.
    seed : int, SeedSequence or None
        None takes the operating system's entropy. The result does not depend on the executor.
    """
    refuse_settings(order, support, lengths, copies, generator, window)
    drawing = StringDrawing.of(
        statistics,
        {} if generator == "template" else pools_of(statistics, generator, order, support, window, is_named, rare),
        generator=generator,
        order=order,
        support=support,
        window=window,
        lengths=lengths,
        copies=copies,
        refused=refused,
        is_named=is_named,
        seed=seed,
    )
    found: list[Block] = run_blocks(drawing.work, drawing.blocks(), executor, progress, note)
    drawing.pools.clear()
    is_kept = np.concatenate([np.zeros(0, bool), *(f[1] for f in found)])
    starts = np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *(f[3] for f in found)]))])
    starts = starts.astype(np.int64)
    n_rejected = sum(f[2] for f in found)
    symbols = np.concatenate([np.zeros(0, np.int32), *(f[0] for f in found)])
    found.clear()
    groups, labels = drawing.groups, drawing.labels
    rows = drawing.shuffled(is_kept)
    kept, kept_starts = take_strings(symbols, starts, rows)
    del symbols
    strings = Strings(
        kept,
        kept_starts,
        statistics.alphabet,
        statistics.is_tokens,
        labels[rows] if statistics.classes else None,
        statistics.classes,
        source or StringSource(),
    ).compact()
    return PseudoStrings(strings, groups[rows], n_rejected, len(is_kept) - len(rows))


@dataclass(frozen=True)
class StringDrawing:
    """What is to be drawn: for each run of groups one call, which any worker can make.

    Attributes
    ----------
    statistics : GroupStatistics
    pools : dict of int to ClassSymbols
        What each class gives.
    states : list of uint64 array
        Of each segment the state of the random numbers of each group.
    out_lengths : list of int64 array
        Of each segment the length of each pseudo-string.
    """

    statistics: GroupStatistics
    pools: dict[int, ClassSymbols]
    states: list[Words]
    out_lengths: list[Ints]
    settings: WindowSettings
    unwanted: Unwanted
    is_by_template: bool
    _of_order: np.random.SeedSequence
    _n_longer: dict[int, int]

    @classmethod
    def of(
        cls,
        statistics: GroupStatistics,
        pools: dict[int, ClassSymbols],
        *,
        generator: Generator,
        order: int,
        support: int,
        window: float,
        lengths: Lengths,
        copies: Copies,
        refused: Words | None,
        is_named: bool,
        seed: int | np.random.SeedSequence | None,
    ) -> StringDrawing:
        """As `generate` is asked to; `pools` are those of `pools_of`, of templates none."""
        words = [
            found for found in (statistics.originals if copies == "redraw" else None, refused) if found is not None
        ]
        drawn_again = distinct(np.concatenate([np.zeros(0, np.uint64), *words]))
        of_groups, of_lengths, of_order = spawn_seeds(seed, 3)
        segments = statistics.segments
        several = _of_several_lengths(segments) if lengths == "spread" else set()
        return cls(
            statistics,
            pools,
            [
                np.maximum(s.generate_state(segment.n_groups, np.uint64), np.uint64(1))
                for segment, s in zip(segments, spawn_seeds(of_groups, len(segments)), strict=True)
            ],
            [
                _draw_lengths(segment, lengths, s)
                for segment, s in zip(segments, spawn_seeds(of_lengths, len(segments)), strict=True)
            ],
            WindowSettings(window, support, order, by_group=generator == "window", is_named=is_named),
            Unwanted(drawn_again, copy_keys(statistics), BASES[0]),
            generator == "template",
            of_order,
            dict.fromkeys(several, N_LONGER),
        )

    @property
    def work(self) -> Callable[..., Block]:
        """What is called with each block."""
        return generate_block if self.is_by_template else generate_window_block

    def blocks(self) -> Iterator[tuple[object, ...]]:
        """The arguments of each call."""
        for segment, state, sizes in zip(self.statistics.segments, self.states, self.out_lengths, strict=True):
            starts = segment.group_starts
            for first, last in _job_bounds(segment):
                rows = np.arange(starts[first], starts[last])
                drawn = (starts[first : last + 1] - starts[first], sizes[rows], state[first:last])
                if self.is_by_template:
                    how = (self.settings.order, self.settings.support)
                    yield segment.templates.take(rows), *drawn, how, self.unwanted
                else:
                    own = self.settings._replace(n_longer=self._n_longer.get(segment.label, 0))
                    members = segment.members(first, last)
                    yield *members, *drawn, own, self.pools[segment.label], N_TRIES, self.unwanted

    @property
    def groups(self) -> Codes:
        """The group of each pseudo-string, in the order in which they are drawn."""
        return np.repeat(np.arange(self.statistics.n_groups, dtype=np.int32), self.statistics.sizes)

    @property
    def labels(self) -> Codes:
        """The class of each."""
        segments = self.statistics.segments
        return np.repeat(
            np.array([s.label for s in segments], dtype=np.int32), [int(s.group_starts[-1]) for s in segments]
        )

    def shuffled(self, is_kept: Mask) -> Ints:
        """Those that are kept, in random order."""
        return np.random.default_rng(self._of_order).permutation(np.flatnonzero(is_kept))


def generate_block(
    templates: Templates,
    group_starts: Ints,
    sizes: Ints,
    state: Words,
    settings: tuple[int, int],
    unwanted: Unwanted,
) -> Block:
    """Generate the pseudo-strings of some groups: their symbols, which are kept, rejected draws, lengths."""
    order, support = settings
    out_starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    out = np.empty(out_starts[-1], np.int32)
    is_kept = np.empty(len(sizes), np.bool_)
    n_rejected = generate_strings(
        templates.starts,
        templates.features,
        templates.weights,
        templates.feature_symbols,
        templates.position_starts,
        group_starts,
        order,
        support,
        N_TRIES,
        unwanted,
        state.copy(),
        out_starts,
        out,
        is_kept,
    )
    return out, is_kept, int(n_rejected), sizes


def pools_of(
    statistics: GroupStatistics,
    generator: Generator,
    order: int,
    support: int,
    window: float,
    is_named: bool,
    rare: int,
) -> dict[int, ClassSymbols]:
    """What the strings of each class give."""
    if any(len(s.starts) - 1 != len(s.templates) for s in statistics.segments):
        raise PolicyError('these statistics hold no strings; draw with generator = "template"')
    settings = WindowSettings(window, support, order, by_group=generator == "window", is_named=is_named)
    n_symbols = len(statistics.alphabet)
    pools = {}
    for label in {s.label for s in statistics.segments}:
        segments = [s for s in statistics.segments if s.label == label]
        is_rare = [
            find_rare(s.symbols, s.starts, s.group_starts, settings, n_symbols)
            if settings.by_group
            else np.zeros(len(s.symbols), np.bool_)
            for s in segments
        ]
        joined = join([(s.symbols, s.starts) for s in segments])
        fewest = max(support, rare)
        pools[label] = make_pool(*joined, np.concatenate(is_rare), n_symbols, fewest, order, reach_of(settings))
    return pools


def reach_of(settings: WindowSettings) -> int:
    """How many places before a symbol one is looked for that it is drawn after; a chain knows the one before alone."""
    return REACH if settings.by_group else 1


def _of_several_lengths(segments: Sequence[SegmentStatistics]) -> set[int]:
    """The classes whose strings are not all of one length, as aligned ones are."""
    lengths = [(s.label, int(n)) for s in segments for n in np.unique(s.lengths)]
    return {label for label, n in lengths if any(other == label and m != n for other, m in lengths)}


def refuse_settings(
    order: int, support: int, lengths: str, copies: str, generator: str = "template", window: float = 0.05
) -> None:
    """Refuse what cannot be generated by."""
    for name, value, meaning in (
        ("order", order, "how many symbols the statistics look at together"),
        ("support", support, "how many members must carry a context"),
    ):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise PolicyError(f"{name} must be a whole number of at least 1, not {value!r}; it says {meaning}")
    if lengths not in ("template", "spread"):
        raise PolicyError(f"lengths = {lengths!r} is not known; the choices are 'template', 'spread'")
    if copies not in ("redraw", "allow"):
        raise PolicyError(f"copies = {copies!r} is not known; the choices are 'redraw', 'allow'")
    if generator not in get_args(Generator):
        raise PolicyError(f"generator = {generator!r} is not known; the choices are 'window', 'template', 'markov'")
    if isinstance(window, bool) or not isinstance(window, int | float | np.number) or not 0 < window <= 0.5:
        raise PolicyError(f"window = {window!r} is not possible; give a share of a string up to 0.5, such as 0.05")


def _draw_lengths(segment: SegmentStatistics, lengths: Lengths, seed: np.random.SeedSequence) -> Ints:
    """The length of each pseudo-string of a segment.

    A spread length lies between two neighbours in the sorted lengths of the group, so the lengths of the group
    are kept as a distribution, and none is picked for itself.
    """
    starts = segment.group_starts
    n = int(starts[-1])
    if lengths == "template":
        return np.full(n, segment.length, np.int64)
    group = np.repeat(np.arange(segment.n_groups), np.diff(starts))
    ascending = segment.lengths[np.lexsort((segment.lengths, group))]
    place = np.random.default_rng(seed).random(n) * (np.diff(starts)[group] - 1)
    below = np.floor(place).astype(np.int64)
    low = ascending[starts[:-1][group] + below]
    high = ascending[np.minimum(starts[:-1][group] + below + 1, starts[1:][group] - 1)]
    return np.asarray(np.maximum(np.rint(low + (place - below) * (high - low)), 1), dtype=np.int64)


def _job_bounds(segment: SegmentStatistics) -> Iterator[tuple[int, int]]:
    """Cut the groups of a segment into runs of about equal work."""
    n = int(segment.group_starts[-1])
    n_jobs = -(-n * segment.length // JOB_SYMBOLS)
    cuts = np.searchsorted(segment.group_starts, np.linspace(0, n, n_jobs + 1))
    bounds = np.unique(cuts)
    return zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
