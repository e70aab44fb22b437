"""Condensation of strings: from lengths to groups to pseudo-strings.

Each class is condensed on its own. Within it: symbols that fewer than `rare` strings hold are taken out, lengths are
made alike (`shoal.strings.lengths`), strings become templates (`shoal.strings.templates`), templates become groups
(`shoal.strings.groups`), and groups give pseudo-strings (`shoal.strings.generate`).

Rare symbols are not in the papers, which have proteins in mind, whose alphabet is public. A symbol may be a token,
though: a page, a product, a place. One that a single string holds names its owner wherever it stands, and a group of
k does not hide it, since the group's marginals hold it too. So it is not shown.

Rows are first put into an order that depends on their content alone, so the result does not depend on how they came.

References
----------
C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and Knowledge
Discovery 16(3), 2008.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Codes, Ints, Signs
from shoal.data.strings.strings import Strings, symbol_keys, take_strings
from shoal.engine.blocks import run_blocks
from shoal.engine.executors import open_executor
from shoal.engine.seeds import spawn_seeds
from shoal.errors import DataError, Infeasible, PolicyError
from shoal.estimator import Estimator
from shoal.kernels.strings.hash import BASES, fingerprints
from shoal.progress import Progress
from shoal.strings.generate import (
    Copies,
    Generator,
    Lengths,
    PseudoStrings,
    fingerprint_originals,
    generate,
    refuse_settings,
)
from shoal.strings.groups import (
    BLOCK_STRINGS,
    Plan,
    StringGrouping,
    group_segments,
    objective_of,
    order_members,
    plan_segment,
    whole_segment,
)
from shoal.strings.growth import grow_groups, told_by_groups
from shoal.strings.lengths import Homogenize, homogenize_lengths
from shoal.strings.rare_symbols import rows_by_class, without_rare_symbols
from shoal.strings.statistics import GroupStatistics, SegmentStatistics
from shoal.strings.templates import Templates, TemplatesOnDemand

SUPPRESSED_BECAUSE = ("kept", "empty", "rare symbols only", "class of fewer than k", "length")
_EMPTY, _RARE, _CLASS, _LENGTH = 1, 2, 3, 4


@dataclass(frozen=True)
class Segment:
    """One segment of one class, in numbers; private, since it tells original lengths.

    Attributes
    ----------
    label : int
        Index of the class.
    n_strings, n_groups : int
        How many strings and groups it has.
    shortest, longest : int
        The range of the lengths (without rare symbols).
    length : int
        The length L of its templates.
    objective : float
        Mean distance of a template to its centroid, Eq. (3), between 0 and 2 L.
    n_blocks : int
        Into how many blocks it was split before grouping.
    split_cost : float or None
        Estimated growth of the objective by the split, as a share; None if it was not split.
    """

    label: int
    n_strings: int
    n_groups: int
    shortest: int
    longest: int
    length: int
    objective: float
    n_blocks: int
    split_cost: float | None


class Condensation(Estimator):
    """Condense strings in scikit-learn's manner: `fit` makes groups, `fit_transform` also pseudo-strings.

    There is no `transform`, on purpose: mapping new strings onto old groups guarantees nothing.

    Parameters
    ----------
    k : int, default 20
        Fewest strings of a group.
    eps : float, default 1.5
        How much longer the longest string of a segment may be than its shortest, as a share of it.
    generator : {"window", "template", "markov"}, default "window"
        How symbols are drawn: from windows of the members' own strings (`shoal.strings.windows`), from their templates
        as in the papers, or from all strings of the class after the symbol before (a Markov chain, to compare with).
    order : int, default 2
        Order of the statistics: a symbol depends on ``order - 1`` before it.
    support : int, default 5
        How many members of a group must carry a context for it to be used; 1 is the paper. 5 was chosen by
        measurement: see `shoal.strings.windows`.
    window : float, default 0.05
        Share of a string to either side of a place from which its symbols are drawn.
    lengths : {"template", "spread"}, default "spread"
        One length a segment, as in the paper, or lengths spread over those of each group.
    seed : int, optional
        None takes the operating system's entropy. A seed is a secret: who has it and a guess of the data can test the
        guess.
    homogenize : {"optimal", "greedy"}, default "optimal"
        Suppress as few strings for their lengths as possible, or as the paper's Fig. 1 does.
    rare : int, optional
        Symbols that fewer strings of the class hold are never shown: tokens are taken out first, characters replaced
        by the one before them; and what is drawn from the class follows only what so many strings have it after. None
        means k, but 1 (all are shown) where ``support`` is 1: that is the paper.
    block_strings : int
        Segments of more strings are split by nearness before they are grouped.
    workers : int, optional
        Threads to use; None takes all cores. The result does not depend on it.
    copies : {"redraw", "allow"}, default "redraw"
        Whether a pseudo-string that equals an original which fewer than k rows hold is drawn again, or stands.

    Attributes
    ----------
    labels_ : int32 array (n_strings,)
        The group of each string, -1 where it was suppressed. Secret.
    suppressed_ : int8 array (n_strings,)
        Why each string was suppressed, an index into `SUPPRESSED_BECAUSE`; 0 where it was not.
    n_suppressed_ : int
        How many were.
    n_groups_ : int
        Number of groups.
    objective_ : float
        Mean distance of a template to its centroid, Eq. (3), over all segments.
    relative_objective_ : float
        The same as a share of the largest possible distance, 2 L.
    nearness_ : float
        The objective beside that of groups of the same sizes made at random; 0 where no segment has several groups.
    segments_ : tuple of Segment
        The segments of each class.
    n_rare_symbols_, n_rare_places_ : int
        How many symbols were taken out of a class as rare, and from how many places.
    statistics_ : GroupStatistics
        The group statistics, to be sampled again. Private.
    pseudo_ : PseudoStrings
        After `fit_transform`: what was generated, with the group of each (private) and the copies rejected.

    Notes
    -----
    **Guarantee**: every pseudo-string was drawn from a group of at least k strings of its class, each symbol after a
    context that at least `support` of them carry, or after none (or else from its class: `shoal.strings.windows`);
    every symbol is held by at least `rare` strings of the class; and none equals an original that fewer than k rows
    hold, unless copies are allowed. **Not protected**: fragments that a pseudo-string
    shares with an original, which grow with the order; what all members of a group have in common; whether a string is
    in the data, which in data of little variety both the absence of copies and their presence tell; and nothing here
    is differential privacy.

    Examples
    --------
    >>> strings = [a + b + c for a in "AB" for b in "CD" for c in "EFGHIJ"]
    >>> condensed = Condensation(k=4, rare=1, seed=1, workers=1).fit_transform(strings)
    >>> set(condensed) & set(strings)
    set()
    """

    labels_: Codes
    suppressed_: Signs
    n_suppressed_: int
    n_groups_: int
    objective_: float
    relative_objective_: float
    nearness_: float
    segments_: tuple[Segment, ...]
    n_rare_symbols_: int
    n_rare_places_: int
    statistics_: GroupStatistics
    pseudo_: PseudoStrings

    secret = frozenset({"seed"})

    def __init__(
        self,
        k: int = 20,
        eps: float = 1.5,
        order: int = 2,
        support: int = 5,
        lengths: Lengths = "spread",
        seed: int | None = None,
        homogenize: Homogenize = "optimal",
        rare: int | None = None,
        block_strings: int = BLOCK_STRINGS,
        workers: int | None = None,
        copies: Copies = "redraw",
        generator: Generator = "window",
        window: float = 0.05,
    ) -> None:
        self.k = k
        self.eps = eps
        self.order = order
        self.support = support
        self.lengths = lengths
        self.seed = seed
        self.homogenize = homogenize
        self.rare = rare
        self.block_strings = block_strings
        self.workers = workers
        self.copies = copies
        self.generator = generator
        self.window = window

    def fit(
        self,
        X: Any,
        y: Sequence[str] | None = None,
        *,
        executor: Executor | None = None,
        progress: Progress | None = None,
        note: Callable[[str], None] | None = None,
    ) -> Condensation:
        """Group strings: `Strings`, a list of str, or a list of lists of tokens.

        Parameters
        ----------
        X : Strings, list of str, or list of lists of str
        y : sequence of str, optional
            The class of each string; else that of `Strings`, or one class for all.
        executor : Executor, optional
            Where blocks run, instead of on threads of this machine.
        progress : callable, optional
            Called with what is done, how many blocks are done, and their number.
        note : callable, optional
            Receives one sentence if workers were lost.
        """
        self._fit(X, y, spawn_seeds(self.checked_seed(), 2)[0], executor, progress, note)
        return self

    def fit_transform(
        self,
        X: Any,
        y: Sequence[str] | None = None,
        *,
        executor: Executor | None = None,
        progress: Progress | None = None,
        note: Callable[[str], None] | None = None,
    ) -> Any:
        """Group strings and return pseudo-strings of the same kind as came in, in random order.

        Their classes, where there are any, are in ``pseudo_.strings``.
        """
        of_groups, self._of_strings = spawn_seeds(self.checked_seed(), 2)
        self._fit(X, y, of_groups, executor, progress, note)
        self._refused = np.zeros(0, np.uint64)
        self._draw(X, executor, progress, note)
        return self.pseudo_.strings if isinstance(X, Strings) else self.pseudo_.strings.texts()

    def draw_without(
        self,
        refused: Strings,
        *,
        executor: Executor | None = None,
        progress: Progress | None = None,
        note: Callable[[str], None] | None = None,
    ) -> Strings:
        """Draw again after `fit_transform`, as then, but for these strings and those refused before.

        Other strings stay as they were drawn, but for those of the same group.
        """
        self._refused = np.union1d(self._refused, fingerprint_originals(refused))
        self._draw(self.pseudo_.strings, executor, progress, note)
        return self.pseudo_.strings

    def _draw(
        self,
        X: Any,
        executor: Executor | None,
        progress: Progress | None,
        note: Callable[[str], None] | None,
    ) -> None:
        with self._executor(executor) as crew:
            self.pseudo_ = generate(
                self.statistics_,
                generator=self.generator,
                order=self.order,
                support=self.support,
                window=self.window,
                lengths=self.lengths,
                copies=self.copies,
                refused=self._refused,
                is_named=isinstance(X, Strings) and bool(X.source.sites),
                rare=self.fewest_holders,
                seed=self._of_strings,
                source=X.source if isinstance(X, Strings) else None,
                executor=crew,
                progress=_shown(progress, "drawing pseudo-strings"),
                note=note,
            )

    def _executor(self, executor: Executor | None) -> Any:
        if executor is not None:
            return nullcontext(executor)
        return open_executor(self.workers if self.workers is not None else os.cpu_count() or 1)

    def checked_seed(self) -> int | np.random.SeedSequence | None:
        """The seed, if it is one; else entropy of the operating system."""
        seed = self.seed
        if seed is None:
            return np.random.SeedSequence()  # one draw of entropy for both steps
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise PolicyError("the seed is not a whole number; give one from 0 on, or none")
        return int(seed)

    @property
    def fewest_holders(self) -> int:
        """`rare`, with its default."""
        return self.rare if self.rare is not None else (1 if self.support == 1 else self.k)

    def refuse_settings(self) -> None:
        """Refuse what cannot be grouped or drawn by."""
        for name, value in (("k", self.k), ("rare", self.rare), ("block_strings", self.block_strings)):
            least = 1 if name == "rare" else 2
            if name == "rare" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise PolicyError(f"{name} must be a whole number of at least {least}, not {value!r}")
        if isinstance(self.eps, bool) or not isinstance(self.eps, int | float | np.number):
            raise PolicyError(f"eps must be a number, not {self.eps!r}; 1.5 lets lengths differ by a factor of 2.5")
        if not 0 <= self.eps < 1e6:
            raise PolicyError(f"eps = {self.eps!r} is not possible; give 0 (equal lengths only) or more, such as 1.5")
        refuse_settings(self.order, self.support, self.lengths, self.copies, self.generator, self.window)

    def _fit(
        self,
        X: Any,
        y: Sequence[str] | None,
        seed: np.random.SeedSequence,
        executor: Executor | None,
        progress: Progress | None,
        note: Callable[[str], None] | None,
    ) -> None:
        self.refuse_settings()
        strings = _as_strings(X, y)
        if len(strings) < self.k:
            raise too_few(len(strings), self.k)
        rare = self.fewest_holders
        sorted_rows = canonical_order(strings)
        ordered = strings.take(sorted_rows)
        bare, n_rare_symbols, n_rare_places = without_rare_symbols(ordered, rare)
        originals = fingerprint_originals(ordered, bare, self.k)
        reasons, parts = segments_of(
            ordered.lengths, bare.lengths, rows_by_class(bare), self.k, self.eps, self.homogenize
        )
        del ordered
        refuse_no_segments(parts, len(bare.symbols), len(strings.symbols), self.k, rare)
        of_plans, of_groups = spawn_seeds(seed, 2)
        with self._executor(executor) as crew:
            plans: list[Plan] = run_blocks(
                plan_segment,
                (
                    (*take_strings(bare.symbols, bare.starts, rows), max(self.block_strings, 2 * self.k), s)
                    for (_, rows), s in zip(parts, spawn_seeds(of_plans, len(parts)), strict=True)
                ),
                crew,
                note=note,
            )
            groupings = self._group(bare, [rows for _, rows in parts], plans, of_groups, crew, progress, note)

        found, random = 0.0, 0.0
        for (templates, _), grouping in zip(plans, groupings, strict=True):
            near = nearness(templates, grouping)
            found, random = found + near[0], random + near[1]
        self.nearness_ = found / random if random > 0 else 0.0
        labels = np.full(len(strings), -1, np.int32)
        segments, statistics = [], []
        n_groups, at = 0, 0
        # All members' strings in one array, of which a segment has its part; those of a class stand together.
        symbols = np.empty(sum(int(bare.lengths[rows].sum()) for _, rows in parts), np.int32)
        for (label, rows), grouping in zip(parts, groupings, strict=True):
            templates, _ = plans.pop(0)
            labels[rows] = grouping.labels + n_groups
            n_groups += grouping.n_groups
            members, group_starts = order_members(grouping.labels, grouping.n_groups)
            own, starts = take_strings(bare.symbols, bare.starts, rows[members])
            symbols[at : at + len(own)] = own
            own, at = symbols[at : at + len(own)], at + len(own)
            by_group = (
                templates.take(members) if isinstance(templates, Templates) else templates.of_strings(own, starts)
            )
            statistics.append(SegmentStatistics(label, by_group, group_starts, own, starts))
            segments.append(summary_of(label, templates, grouping))
        self.labels_ = np.empty_like(labels)
        self.labels_[sorted_rows] = labels
        self.suppressed_ = np.empty_like(reasons)
        self.suppressed_[sorted_rows] = reasons
        self.n_suppressed_ = int((reasons > 0).sum())
        self.n_groups_ = n_groups
        self.segments_ = tuple(segments)
        n_grouped = sum(s.n_strings for s in segments)
        self.objective_ = sum(s.objective * s.n_strings for s in segments) / n_grouped
        self.relative_objective_ = sum(s.objective * s.n_strings / (2 * s.length) for s in segments) / n_grouped
        self.n_rare_symbols_, self.n_rare_places_ = n_rare_symbols, n_rare_places
        self.statistics_ = GroupStatistics(
            tuple(statistics), strings.alphabet, strings.is_tokens, strings.classes, originals
        )

    def _group(
        self,
        bare: Strings,
        parts: list[Ints],
        plans: list[Plan],
        seed: np.random.SeedSequence,
        executor: Executor | None,
        progress: Progress | None,
        note: Callable[[str], None] | None,
    ) -> list[StringGrouping]:
        """Groups of at least k of each segment, or larger ones where those would tell too much; for a chain one."""
        if self.generator == "markov":
            return [whole_segment(templates) for templates, _ in plans]
        shown = _shown(progress, "grouping strings")

        def group(some: list[Plan], k: int) -> list[StringGrouping]:
            return group_segments(some, k, self.block_strings, seed, executor, shown, note)

        found = group(plans, self.k)
        if self.generator == "template":
            return found

        def grown(rows: Ints, plan: Plan, grouping: StringGrouping) -> StringGrouping:
            symbols, starts = take_strings(bare.symbols, bare.starts, rows)

            def told(grouping: StringGrouping) -> float:
                return told_by_groups(symbols, starts, grouping, self.support, self.window, len(bare.alphabet))

            return grow_groups(plan, grouping, told, self.k, lambda plan, size: group([plan], size)[0])

        return [grown(*segment) for segment in zip(parts, plans, found, strict=True)]


def too_few(n_strings: int, k: int) -> Infeasible:
    """That there is no group, in words."""
    told = "is 1 string" if n_strings == 1 else f"are {n_strings:,} strings"
    return Infeasible(f"there {told}, fewer than k = {k:,}; lower k or add strings")


def canonical_order(strings: Strings) -> Ints:
    """Rows by class, length and content (as two fingerprints), so that only equal strings can change places."""
    keys = symbol_keys(strings.alphabet)
    words = [fingerprints(strings.symbols, strings.starts, keys, basis) for basis in BASES]
    labels = np.zeros(len(strings), np.int32) if strings.labels is None else strings.labels
    return np.lexsort((words[1], words[0], strings.lengths, labels)).astype(np.int64)


def _shown(progress: Progress | None, what: str) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda done, total: progress(what, done, total)


def _as_strings(X: Any, y: Sequence[str] | None) -> Strings:
    if isinstance(X, Strings):
        return X if y is None else X.with_labels(y)
    if isinstance(X, str) or not hasattr(X, "__iter__"):
        raise DataError("give strings as a list of text, a list of lists of tokens, or Strings")
    return Strings.of(X, y)


def refuse_no_segments(parts: Sequence[tuple[int, Ints]], n_bare: int, n_whole: int, k: int, rare: int) -> None:
    """Refuse strings of which none has enough like it; the numbers are of symbols without rare ones and with these.

    Raises
    ------
    Infeasible
    """
    if not parts and not n_bare:
        raise Infeasible(
            f"no symbol is held by {rare} strings of a class, so nothing can be shown; lower k or rare"
            if n_whole
            else "all strings are empty; there is nothing to condense"
        )
    if not parts:
        raise Infeasible(
            f"no {k} strings of a class have lengths alike, so all would be suppressed; raise eps or lower k"
        )


def segments_of(
    whole: Ints, lengths: Ints, by_class: Sequence[tuple[int, Ints]], k: int, eps: float, homogenize: Homogenize
) -> tuple[Signs, list[tuple[int, Ints]]]:
    """Why each string is suppressed, and the class and rows of each segment; `whole` are lengths with rare symbols."""
    reasons = np.zeros(len(lengths), np.int8)
    reasons[lengths == 0] = _RARE
    reasons[whole == 0] = _EMPTY
    parts: list[tuple[int, Ints]] = []
    for label, everyone in by_class:
        rows = everyone[lengths[everyone] > 0]
        if len(rows) < k:
            # A class that is too small has rare symbols only, but that is not what is wrong with it.
            is_small = (whole[everyone] > 0).sum() < k
            reasons[everyone[whole[everyone] > 0] if is_small else rows] = _CLASS
            continue
        segments = homogenize_lengths(lengths[rows], k, eps, homogenize)
        reasons[rows[segments < 0]] = _LENGTH
        parts += [(label, rows[segments == s]) for s in range(int(segments.max()) + 1)]
    return reasons, parts


def nearness(templates: Templates | TemplatesOnDemand, grouping: StringGrouping) -> tuple[float, float]:
    """The objective of a segment for its strings and lengths, and that of groups of the same sizes made at random.

    Nothing of a segment of one group or of several blocks.
    """
    if grouping.n_groups == 1 or grouping.n_blocks > 1:
        return 0.0, 0.0
    share, n = templates.length, len(templates)
    shuffled = np.random.default_rng(0).permutation(grouping.labels)
    return grouping.objective / share * n, objective_of(templates.whole(), shuffled) / share * n


def summary_of(label: int, templates: Templates | TemplatesOnDemand, grouping: StringGrouping) -> Segment:
    """A segment in numbers."""
    return Segment(
        label,
        len(templates),
        grouping.n_groups,
        int(templates.lengths.min()),
        int(templates.lengths.max()),
        templates.length,
        grouping.objective,
        grouping.n_blocks,
        grouping.split_cost,
    )
