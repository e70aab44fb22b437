"""Condensation of strings that are in a file, the same as of strings that are held.

Strings are read twice, block by block: to count them, and to put their symbols into a file of codes, from which the
strings of each range of lengths are grouped by themselves. What is drawn from a class are counts of its symbols
(`shoal.strings.pool`), made part by part. What is held are some numbers for each string, such as its length, its group
and a fingerprint of it; the strings of one block or group; and tables of symbols by symbols, and by places.

**Guarantee**, **Not protected**: as of `shoal.strings.condense`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from shoal.arrays import Codes, Ints, Mask, Signs, Words
from shoal.data.ragged import distinct, runs_of_rows
from shoal.data.strings import on_disk
from shoal.data.strings.blocks import StringBlocks
from shoal.data.strings.on_disk import DiskWriter, StringsOnDisk
from shoal.data.strings.strings import StringSource
from shoal.engine.blocks import run_blocks
from shoal.engine.seeds import spawn_seeds
from shoal.errors import Infeasible
from shoal.kernels.strings.hash import BASES, fingerprints
from shoal.progress import Progress
from shoal.strings.condense import (
    Condensation,
    Segment,
    nearness,
    refuse_no_segments,
    segments_of,
    summary_of,
    too_few,
)
from shoal.strings.counts import StringCounts, changed_meanwhile
from shoal.strings.generate import Block, StringDrawing, copy_keys, reach_of
from shoal.strings.groups import Plan, StringGrouping, group_segments, order_members, split_by_nearness
from shoal.strings.growth import grow_groups, needed_share
from shoal.strings.pool import ClassSymbols, Part, count_class
from shoal.strings.rare_symbols import rows_by_label, without_few
from shoal.strings.statistics import GroupStatistics, SegmentStatistics
from shoal.strings.templates import convert_lengths
from shoal.strings.templates_on_disk import TemplatesOnDisk, templates_on_disk
from shoal.strings.windows import WindowSettings, find_rare

BYTES_A_SYMBOL = 200
"""What a symbol takes of strings that are grouped, or drawn from, together."""
BYTES_A_PAIR = 200
"""What a pair of symbols takes that some string has."""
CALLS_AT_ONCE = 8
_NO_TEMPLATES = convert_lengths(np.zeros(1, np.int32), np.arange(2))


@dataclass(frozen=True)
class SegmentOnDisk(SegmentStatistics):
    """The groups of a segment whose strings are in a file, group by group."""

    strings: StringsOnDisk | None = None
    template_length: int = 0

    @property
    def length(self) -> int:
        """That of the templates."""
        return self.template_length

    @property
    def lengths(self) -> Ints:
        """Those of the members, group by group."""
        assert self.strings is not None
        return self.strings.lengths

    def members(self, first: int, end: int) -> tuple[Codes, Ints]:
        """The strings of some groups, from one to before another."""
        assert self.strings is not None
        found = self.strings.part(int(self.group_starts[first]), int(self.group_starts[end]))
        return found.symbols, found.starts

    def runs(self) -> Iterator[tuple[int, int]]:
        """Groups from and to, in runs that can be read at once."""
        assert self.strings is not None
        return runs_of_rows(self.strings.starts[self.group_starts], on_disk.SYMBOLS_AT_ONCE)


@dataclass(frozen=True)
class DrawnOnDisk:
    """Pseudo-strings in a file, in the order in which they are published; see `PseudoStrings`."""

    strings: StringsOnDisk
    groups: Codes
    n_rejected: int
    n_dropped: int


class CondensationOnDisk:
    """What `Condensation` does, of strings in a file; what ends with an underscore is the same.

    Parameters
    ----------
    settings : Condensation
        How it is asked to be; of windows alone.
    counted : StringCounts
    n_bytes : int
        About how much memory may be used.
    """

    labels_: Codes
    suppressed_: Signs
    n_groups_: int
    nearness_: float
    segments_: tuple[Segment, ...]
    n_rare_symbols_: int
    n_rare_places_: int
    pseudo_: DrawnOnDisk

    def __init__(self, settings: Condensation, counted: StringCounts, n_bytes: int) -> None:
        settings.refuse_settings()
        self._how, self._counted = settings, counted
        self._most, self._most_pairs = n_bytes // BYTES_A_SYMBOL, n_bytes // BYTES_A_PAIR
        self._of_groups, self._of_strings = spawn_seeds(settings.checked_seed(), 2)
        self._refused = np.zeros(0, np.uint64)

    @property
    def is_tokens(self) -> bool:
        """Whether symbols are tokens."""
        return self._counted.is_tokens

    def fit_transform(
        self,
        read: Callable[[], StringBlocks],
        look: Callable[[StringsOnDisk, Codes | None], None],
        *,
        executor: Executor | None = None,
        progress: Progress | None = None,
        note: Callable[[str], None] | None = None,
    ) -> None:
        """Group the strings of a file and draw pseudo-strings.

        Parameters
        ----------
        read : callable
            The strings, from the first.
        look : callable
            Called with the strings as they came, in a file, and their classes, before they are grouped.
        executor, progress, note
            As of `Condensation`.
        """
        how, n = self._how, len(self._counted)
        if n < how.k:
            raise too_few(n, how.k)
        bare, originals = self._put(read(), look)
        whole, order = self._counted.lengths, self._counted.canonical_order
        lengths, labels = bare.lengths, self._counted.labels
        by_class = rows_by_label(None if labels is None else labels[order], n, len(self._counted.classes))
        reasons, parts = segments_of(whole[order], lengths[order], by_class, how.k, how.eps, how.homogenize)
        refuse_no_segments(parts, bare.n_symbols, int(whole.sum()), how.k, how.fewest_holders)
        self.suppressed_ = np.empty_like(reasons)
        self.suppressed_[order] = reasons
        rows = order[np.concatenate([own for _, own in parts])]  # of the file
        sizes, of_class = np.array([len(own) for _, own in parts], np.int64), [label for label, _ in parts]
        del order, by_class, parts, reasons
        sorted_bare = bare.in_order(rows)
        del bare
        self._group(sorted_bare, rows, sizes, of_class, originals, executor, progress, note)
        self._draw(executor, progress, note)

    def draw_without(
        self,
        refused: Words,
        *,
        executor: Executor | None = None,
        progress: Progress | None = None,
        note: Callable[[str], None] | None = None,
    ) -> None:
        """Draw again as before, but for strings of these fingerprints and those refused before."""
        self._refused = np.union1d(self._refused, refused)
        self._draw(executor, progress, note)

    def forget(self) -> None:
        """Let go of what only drawing again would need."""
        del self._statistics, self._pools
        self.pseudo_ = replace(self.pseudo_, groups=np.zeros(0, np.int32))

    def _put(
        self, blocks: StringBlocks, look: Callable[[StringsOnDisk, Codes | None], None]
    ) -> tuple[StringsOnDisk, Words]:
        """The strings without rare symbols in a file, and the fingerprints of originals."""
        counted, rare = self._counted, self._how.fewest_holders
        few = (counted.holders > 0) & (counted.holders < rare)
        told = (counted.alphabet, counted.is_tokens, counted.source)
        writer, of_whole = DiskWriter(*told), DiskWriter(*told)
        words: tuple[list[Words], list[Words]] = ([], [])
        n_places = n_strings = 0
        for block in blocks:
            strings = counted.numbered(block)
            if not np.array_equal(counted.lengths[n_strings : n_strings + len(strings)], strings.lengths):
                raise changed_meanwhile()
            n_strings += len(strings)
            keys = copy_keys(strings)
            of_whole.add(strings.symbols, strings.lengths)
            words[0].append(fingerprints(strings.symbols, strings.starts, keys, BASES[0]))
            if few.any():
                symbols, lengths, n = without_few(few, strings, 0, len(strings))
                n_places += n
                writer.add(symbols, lengths)
                starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
                words[1].append(fingerprints(symbols, starts, keys, BASES[0]))
        if n_strings != len(counted):
            raise changed_meanwhile()
        self.n_rare_symbols_, self.n_rare_places_ = int(few.sum()) if rare > 1 else 0, n_places
        whole = of_whole.done()
        look(whole, counted.labels)
        own = []
        for side in words if few.any() else words[:1]:
            found, n_holders = np.unique(np.concatenate(side), return_counts=True)
            own.append(found[n_holders < self._how.k])
        return writer.done() if few.any() else whole, distinct(np.concatenate(own))

    def _group(
        self,
        strings: StringsOnDisk,
        rows: Ints,
        sizes: Ints,
        of_class: Sequence[int],
        originals: Words,
        executor: Executor | None,
        progress: Progress | None,
        note: Callable[[str], None] | None,
    ) -> None:
        """Groups of each segment, whose strings stand one after another; `rows` are those of the file."""
        of_plans, of_groups = spawn_seeds(self._of_groups, 2)
        labels = np.full(len(self._counted), -1, np.int32)
        members = np.empty(len(rows), np.int64)
        n_groups = n_blocks = n_split = at = 0
        found = random = 0.0
        summaries: list[Segment] = []
        group_starts: list[Ints] = []
        for p, (size, label) in enumerate(zip(sizes.tolist(), of_class, strict=True)):
            segment = strings.slice(at, at + size)
            plan = self._planned(segment, spawn_seeds(of_plans, 1, p)[0])
            grouping = self._grouped(segment, plan, of_groups, (n_blocks, n_split), executor, progress, note)
            n_blocks += len(plan[1])
            n_split += len(plan[1]) > 1
            near = nearness(plan[0], grouping)
            found, random = found + near[0], random + near[1]
            labels[rows[at : at + size]] = grouping.labels + n_groups
            own, starts = order_members(grouping.labels, grouping.n_groups)
            members[at : at + size] = own + at
            summaries.append(summary_of(label, plan[0], grouping))
            group_starts.append(starts)
            n_groups += grouping.n_groups
            at += size
        self.labels_, self.n_groups_ = labels, n_groups
        self.nearness_ = found / random if random > 0 else 0.0
        self.segments_ = tuple(summaries)
        by_group = strings.in_order(members)
        ends = np.cumsum(sizes)
        segments = tuple(
            SegmentOnDisk(
                summary.label,
                _NO_TEMPLATES,
                starts,
                strings=by_group.slice(int(end - size), int(end)),
                template_length=summary.length,
            )
            for summary, starts, size, end in zip(summaries, group_starts, sizes, ends, strict=True)
        )
        counted = self._counted
        self._statistics = GroupStatistics(segments, counted.alphabet, counted.is_tokens, counted.classes, originals)
        self._pools = self._class_symbols(segments)

    def _planned(self, segment: StringsOnDisk, seed: np.random.SeedSequence) -> Plan:
        templates = templates_on_disk(segment, self._most)
        blocks = split_by_nearness(templates, max(self._how.block_strings, 2 * self._how.k), seed)
        return (templates.by_blocks(blocks) if isinstance(templates, TemplatesOnDisk) else templates), blocks

    def _grouped(
        self,
        segment: StringsOnDisk,
        plan: Plan,
        seed: np.random.SeedSequence,
        before: tuple[int, int],
        executor: Executor | None,
        progress: Progress | None,
        note: Callable[[str], None] | None,
    ) -> StringGrouping:
        how = self._how

        def shown(done: int, total: int) -> None:
            if progress is not None:
                progress("grouping strings", done, total)

        def group(plan: Plan, k: int, before: tuple[int, int] = (0, 0)) -> StringGrouping:
            return group_segments([plan], k, how.block_strings, seed, executor, shown, note, before)[0]

        def told(grouping: StringGrouping) -> float:
            rows, starts = order_members(grouping.labels, grouping.n_groups)
            by_group = segment.in_order(rows)
            largest = int(np.diff(by_group.starts[starts]).max())
            if largest > self._most:
                raise Infeasible(
                    f"a group grows to {largest:,} symbols, which do not fit into the bound: raise memory or leave it "
                    "out"
                )
            shares = [np.zeros(0)]
            for low, high in runs_of_rows(by_group.starts[starts], on_disk.SYMBOLS_AT_ONCE):
                own = by_group.part(int(starts[low]), int(starts[high]))
                own_starts = starts[low : high + 1] - starts[low]
                shares.append(
                    needed_share(own.symbols, own.starts, own_starts, how.support, how.window, len(own.alphabet))
                )
            return float(np.concatenate(shares).mean())

        return grow_groups(plan, group(plan, how.k, before), told, how.k, group)

    def _class_symbols(self, segments: Sequence[SegmentOnDisk]) -> dict[int, ClassSymbols]:
        """What each class gives, counted run by run of the groups."""
        how, n_symbols = self._how, len(self._counted.alphabet)
        settings = WindowSettings(how.window, how.support, how.order)
        pools = {}
        for label in {s.label for s in segments}:
            own = [s for s in segments if s.label == label]
            rare = DiskWriter(("", " "), True, StringSource())
            for segment in own:
                for first, end in segment.runs():
                    symbols, starts = segment.members(first, end)
                    groups = segment.group_starts[first : end + 1] - segment.group_starts[first]
                    is_rare = find_rare(symbols, starts, groups, settings, n_symbols)
                    rare.add(is_rare.astype(np.int32), np.array([len(is_rare)]))
            marks = rare.done()

            def parts(own: Sequence[SegmentOnDisk] = own, marks: StringsOnDisk = marks) -> Iterator[Part]:
                runs = ((segment, *run) for segment in own for run in segment.runs())
                for i, (segment, first, end) in enumerate(runs):
                    yield *segment.members(first, end), marks.part(i, i + 1).symbols.astype(np.bool_)

            pools[label] = count_class(
                parts,
                marks.n_symbols,
                n_symbols,
                max(how.support, how.fewest_holders),
                how.order,
                reach_of(settings),
                self._most_pairs,
            )
        return pools

    def _draw(self, executor: Executor | None, progress: Progress | None, note: Callable[[str], None] | None) -> None:
        how, counted = self._how, self._counted
        drawing = StringDrawing.of(
            self._statistics,
            self._pools,
            generator=how.generator,
            order=how.order,
            support=how.support,
            window=how.window,
            lengths=how.lengths,
            copies=how.copies,
            refused=self._refused,
            is_named=False,
            seed=self._of_strings,
        )
        writer = DiskWriter(counted.alphabet, counted.is_tokens, counted.source)
        kept: list[Mask] = [np.zeros(0, np.bool_)]
        n, n_rejected = int(self._statistics.sizes.sum()), 0
        calls = drawing.blocks()
        while some := list(islice(calls, CALLS_AT_ONCE)):
            found: list[Block] = run_blocks(drawing.work, some, executor, None, note)
            for symbols, is_kept, n_again, lengths in found:
                writer.add(symbols, lengths)
                kept.append(is_kept)
                n_rejected += n_again
            if progress is not None:
                progress("drawing pseudo-strings", sum(map(len, kept)), n)
        all_kept = np.concatenate(kept)
        rows = drawing.shuffled(all_kept)
        labels = drawing.labels[rows] if counted.classes else None
        made = replace(writer.done().in_order(rows), labels=labels, classes=counted.classes)
        self.pseudo_ = DrawnOnDisk(
            made.compact(),
            drawing.groups[rows],
            n_rejected,
            len(all_kept) - len(rows),
        )
