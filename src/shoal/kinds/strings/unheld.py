"""Pseudo-strings of files that are not held in memory: grouped, drawn, written and checked through files of no name.

What the report measures, and attacks look at, are whole groups drawn at random, with their pseudo-strings; numbers of
strings, guarantees and the datasheet are of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints, Mask
from shoal.check.guarantee import Guarantee
from shoal.check.strings.folder import asked_of
from shoal.check.strings.in_blocks import OriginalsOnDisk, find_near, put_originals, put_published, verify_on_disk
from shoal.check.strings.verify import StringEvidence
from shoal.data.strings.blocks import BYTES_AT_ONCE, StringBlocks
from shoal.data.strings.files import blocks_back, string_blocks, write_strings_on_disk
from shoal.data.strings.format import FORMATS
from shoal.data.strings.on_disk import StringsOnDisk
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.tables.unchanged import FileState, states_of, unchanged
from shoal.errors import DataError, Infeasible, NotVerified, PolicyError
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.strings.release import (
    N_ROUNDS,
    PublishedFacts,
    StringRelease,
    condensation_of,
    notes_of,
    template_lengths,
)
from shoal.kinds.strings.suppression import refuse_none, refuse_suppressed, suppressed_of
from shoal.progress import Progress
from shoal.secrets import write_groups, write_lengths, write_published_groups
from shoal.stage import checked_file, refuse_failed
from shoal.strings.counts import StringCounts, changed_meanwhile, count_strings
from shoal.strings.generate import fingerprint_originals
from shoal.strings.homology import refuse_unaligned
from shoal.strings.in_blocks import CondensationOnDisk
from shoal.strings.statistics import GroupStatistics

N_DRAWN = 20_000
"""Strings that are measured and attacked, as whole groups of them."""
BYTES_BEFORE, BYTES_A_STRING = 350_000_000, 300
"""What is loaded before any string is, with what is read at once; and what is held of each string, however long."""
BYTES_A_NAME, BYTES_A_BYTE = 400, 50
"""What is held of each different symbol and class; and what a byte of a text that is read at once takes."""


@dataclass(frozen=True)
class UnheldStrings:
    """Strings of a file, which is read in blocks as often as it takes.

    Attributes
    ----------
    blocks : StringBlocks
    counted : StringCounts
        What is known of all of them.
    """

    blocks: StringBlocks
    counted: StringCounts
    _state: tuple[FileState, ...] = field(repr=False)

    @classmethod
    def of(cls, source: Any, policy: StringPolicy) -> UnheldStrings:
        """Count the strings of a file.

        Raises
        ------
        PolicyError
            If it is no file that can be read in blocks.
        Infeasible
            If what is held of each string does not fit into the bound.
        """
        if not isinstance(source, str | Path):
            raise PolicyError("a bound on memory is for files, and these strings are in memory: leave memory out")
        found = string_blocks(source, **policy.input.model_dump())
        if policy.n_bytes is not None:
            room = (policy.n_bytes - BYTES_BEFORE) // BYTES_A_BYTE
            found = replace(found, most=max(2 * BYTES_AT_ONCE, room))
        state = states_of(found.path)
        with unchanged(found.path, state, _changed):
            blocks = found.settled()
            counted = count_strings(blocks, partial(_refuse_many, policy))
        return cls(blocks, counted, state)

    def unchanged(self) -> AbstractContextManager[None]:
        """Refuse what was made in the block if the file is no longer the one that was counted."""
        return unchanged(self.blocks.path, self._state, _changed)

    def __len__(self) -> int:
        return len(self.counted)

    @property
    def n_symbols(self) -> int:
        """Those of all strings."""
        return int(self.counted.lengths.sum())

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Any:
        """Not of strings that are not held.

        Raises
        ------
        PolicyError
            Always.
        """
        raise PolicyError("strings are held out of those in memory: leave memory out, or hold none out")


@dataclass(frozen=True)
class UnheldEvidence:
    """Whose group each string is in, of all strings."""

    original_groups: Codes
    published_groups: Codes
    template_lengths: Ints


@dataclass(frozen=True, kw_only=True, repr=False)
class UnheldStringRelease(StringRelease):
    """A release of which some strings are held; the file that was checked has all."""

    _unheld: UnheldStrings = field(repr=False)
    _facts: PublishedFacts = field(repr=False)
    _all_groups: UnheldEvidence = field(repr=False)

    @property
    def records(self) -> dict[str, int]:
        """All of them."""
        n_in, n_out = len(self._unheld), len(self._facts.lengths)
        return {"in": n_in, "out": n_out, "suppressed": n_in - n_out}

    @property
    def sampled(self) -> str:
        """Some groups, unless all are held."""
        if len(self.published) == len(self._facts.lengths):
            return ""
        return (
            f"Measures and attacks used {len(self.published):,} of {len(self._facts.lengths):,} strings, in whole "
            "groups drawn at random, and the originals of these groups; among fewer strings each stands out more than "
            "among all, and what a string shares with originals of other groups is not seen."
        )

    @property
    def facts(self) -> PublishedFacts:
        """Of all strings."""
        return self._facts

    @property
    def original_lengths(self) -> npt.NDArray[np.int64]:
        """Those of all originals; for the owner alone."""
        return self._unheld.counted.lengths

    def _write_and_check(self) -> Any:
        raise NotVerified(
            "the pseudo-strings of this release are no longer there, so it cannot be written again; call "
            "shoal.anonymize again"
        )

    def check(self) -> tuple[Guarantee, ...]:
        """Recompute every guarantee from the file that was written."""
        file, policy = self._checked_file(), self.policy

        def verify(path: Path) -> tuple[Guarantee, ...]:
            originals = put_originals(lambda: self._unheld.blocks, policy.rare, policy.k)
            return _verified(path, self._facts.source, policy, originals, self._all_groups)

        with self._unheld.unchanged():
            return checked_file(file.name, lambda path: file.put(path.parent), verify)[1]

    def _refuse(self, keep: Sequence[str]) -> None:
        if "statistics" in keep:
            raise PolicyError(
                "the statistics of groups hold all strings, and these are not in memory: leave memory out, or keep "
                "the groups alone"
            )

    def _keep(self, folder: Path, keep: Sequence[str]) -> None:
        if "groups" in keep:
            write_groups(folder, self._all_groups.original_groups)
            write_published_groups(folder, self._all_groups.published_groups)
            write_lengths(folder, self._all_groups.template_lengths[self._all_groups.published_groups])


def release_unheld(
    original: UnheldStrings,
    policy: StringPolicy,
    *,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> UnheldStringRelease:
    """Condense the strings of a file, write and check them; the parameters are those of `release_strings`."""
    notes = list(original.counted.source.notes)
    source = replace(original.counted.source, name="data", notes=())
    work = _Work(replace(original, counted=replace(original.counted, source=source)), policy, seed, executor, progress)
    work.note = notes.append
    with original.unchanged():
        file, guarantees = checked_file(FORMATS[source.format].file_name(source), work.write, work.verify)
    published, some, evidence = work.sample()
    condensed = work.condensation
    return UnheldStringRelease(
        published=published,
        guarantees=guarantees,
        policy=policy,
        notes=(*notes, *notes_of(condensed, policy, is_tokens=condensed.is_tokens, is_named=False)),
        suppressed=work.suppressed,
        n_groups=condensed.n_groups_,
        n_rejected=condensed.pseudo_.n_rejected,
        _original=some,
        _evidence=evidence,
        _reasons=condensed.suppressed_,
        _statistics=GroupStatistics((), ()),
        _file=file,
        _unheld=original,
        _facts=PublishedFacts.of(work.made),
        _all_groups=work.evidence,
    )


class _Work:
    """One release in the making."""

    made: StringsOnDisk
    evidence: UnheldEvidence
    suppressed: dict[str, int]
    note: Callable[[str], None]

    def __init__(
        self,
        original: UnheldStrings,
        policy: StringPolicy,
        seed: int | None,
        executor: Executor | None,
        progress: Progress | None,
    ) -> None:
        self._original, self._policy, self._seed = original, policy, seed
        self._executor, self._progress = executor, progress
        assert policy.n_bytes is not None
        self.condensation = CondensationOnDisk(condensation_of(policy, seed), original.counted, policy.n_bytes)

    def write(self, path: Path) -> None:
        """Draw pseudo-strings and write them."""
        condensation, policy, counted = self.condensation, self._policy, self._original.counted
        self._show("grouping strings")
        condensation.fit_transform(
            lambda: self._original.blocks, self._look, executor=self._executor, progress=self._progress, note=self.note
        )
        self._originals = put_originals(lambda: self._original.blocks, policy.rare, policy.k)
        self.made, groups, n_near = self._without_few_near_copies()
        refuse_none(len(self.made))
        self.suppressed = suppressed_of(condensation.suppressed_, condensation.pseudo_.n_dropped + n_near)
        refuse_suppressed(self.suppressed, len(counted), policy)
        self.evidence = UnheldEvidence(condensation.labels_, groups, template_lengths(condensation.segments_))
        condensation.forget()
        write_strings_on_disk(self.made, path)

    def verify(self, path: Path) -> tuple[Guarantee, ...]:
        """Check what was written."""
        self._show("checking the release")
        source = self.made.source
        if not _is_same(blocks_back(path, source), self.made):
            raise NotVerified(
                "the written file does not read back as the strings that were made; nothing was published"
            )
        return _verified(path, source, self._policy, self._originals, self.evidence)

    def sample(self) -> tuple[Strings, Strings, StringEvidence]:
        """Pseudo-strings of some whole groups, the originals of these, and whose group each is in."""
        whole, groups = self._whole, self.evidence
        drawn = _drawn_groups(groups.original_groups, self.condensation.n_groups_, np.random.default_rng(self._seed))
        if drawn.all():
            rows = np.arange(len(whole))
        else:
            rows = np.flatnonzero((groups.original_groups >= 0) & drawn[np.maximum(groups.original_groups, 0)])
        published_rows = np.flatnonzero(drawn[groups.published_groups])
        number = (np.cumsum(drawn) - 1).astype(np.int64)
        own = groups.original_groups[rows]
        original = replace(whole.take(rows), source=self.made.source)
        return (
            self.made.take(published_rows).compact(),
            original,
            StringEvidence(
                original,
                np.where(own >= 0, number[np.maximum(own, 0)], -1),
                number[groups.published_groups[published_rows]],
                groups.template_lengths[drawn],
            ),
        )

    def _show(self, what: str) -> None:
        if self._progress is not None:
            self._progress(what, 0, 0)

    def _look(self, whole: StringsOnDisk, labels: Codes | None) -> None:
        if self._policy.method.unaligned == "refuse":
            refuse_unaligned(whole, labels)
        self._whole = replace(whole, labels=labels, classes=self._original.counted.classes)

    def _without_few_near_copies(self) -> tuple[StringsOnDisk, Codes, int]:
        """As of strings that are held: see `shoal.kinds.strings.release`."""
        condensation = self.condensation
        is_near = self._few_near(condensation.pseudo_.strings)
        for _ in range(N_ROUNDS):
            if not is_near.any():
                break
            refused = fingerprint_originals(condensation.pseudo_.strings.take(np.flatnonzero(is_near)))
            condensation.draw_without(refused, executor=self._executor, progress=self._progress, note=self.note)
            is_near = self._few_near(condensation.pseudo_.strings)
        pseudo = condensation.pseudo_
        if not is_near.any():
            return pseudo.strings, pseudo.groups, 0
        rows = np.flatnonzero(~is_near)
        return pseudo.strings.in_order(rows).compact(), pseudo.groups[rows], int(is_near.sum())

    def _few_near(self, strings: StringsOnDisk) -> Mask:
        none = np.zeros(len(strings), bool)
        if self._policy.method.copies == "allow" or not len(strings):
            return none
        self._show("looking for near copies")
        assert self._policy.n_bytes is not None
        published = put_published(partial(_parts, strings), self._originals)
        is_near = find_near(published, self._originals, self._policy.n_bytes)
        return is_near if is_near.sum() < self._policy.k else none


def _refuse_many(policy: StringPolicy, n_strings: int, n_names: int) -> None:
    """Refuse more strings, or symbols and classes, than fit into the bound, before the others are read."""
    if policy.n_bytes is None:
        return
    of_strings, of_names = BYTES_A_STRING * n_strings, BYTES_A_NAME * n_names
    if BYTES_BEFORE + of_strings + of_names > policy.n_bytes:
        told, needed = f"{n_strings:,} strings take about {{}}, however short they are,", of_strings
        if of_names > of_strings:
            told, needed = f"{n_names:,} different symbols and classes take about {{}}", of_names
        size = f"{(BYTES_BEFORE + needed) / 1e6:,.0f} MB"
        raise Infeasible(f"{told.format(size)} and memory is {policy.memory}: raise memory or leave it out")


def _changed(_: Path) -> DataError:
    return changed_meanwhile()


def _parts(strings: StringsOnDisk) -> Iterator[Strings]:
    return (strings.part(low, high) for low, high in strings.runs())


def _drawn_groups(original_groups: Codes, n_groups: int, rng: np.random.Generator) -> Mask:
    """Which groups are looked at: as many, in random order, as have about `N_DRAWN` originals."""
    sizes = np.bincount(original_groups[original_groups >= 0], minlength=n_groups)
    order = rng.permutation(n_groups)
    before = np.cumsum(sizes[order]) - sizes[order]
    drawn = np.zeros(n_groups, bool)
    drawn[order[before + sizes[order] <= max(N_DRAWN, int(sizes[order[0]]))]] = True
    return drawn


def _verified(
    path: Path,
    source: StringSource,
    policy: StringPolicy,
    originals: OriginalsOnDisk,
    evidence: UnheldEvidence,
) -> tuple[Guarantee, ...]:
    """What the checker finds of a written file, or `NotVerified`."""
    assert policy.n_bytes is not None
    published = put_published(lambda: blocks_back(path, source), originals)
    verdict = verify_on_disk(
        published,
        asked_of(policy),
        originals,
        evidence.published_groups,
        evidence.original_groups,
        evidence.template_lengths,
        policy.n_bytes,
    )
    refuse_failed(verdict)
    return verdict.guarantees


def _is_same(blocks: StringBlocks, made: StringsOnDisk) -> bool:
    """Whether a file reads back as the strings that were made."""
    place = {symbol: code for code, symbol in enumerate(made.alphabet)}
    class_place = {name: label for label, name in enumerate(made.classes)}
    at = 0
    for block in blocks:
        if at + len(block) > len(made) or block.is_tokens is not made.is_tokens:
            return False
        part = made.part(at, at + len(block))
        at += len(block)
        codes = np.array([place.get(symbol, -1) for symbol in block.alphabet], np.int32)
        symbols = codes[block.symbols] if len(codes) else block.symbols
        if not (np.array_equal(part.starts, block.starts) and np.array_equal(part.symbols, symbols)):
            return False
        if (part.labels is None) != (block.labels is None):
            return False
        if part.labels is not None and block.labels is not None:
            labels = np.array([class_place.get(name, -1) for name in block.classes], np.int32)
            if not np.array_equal(labels[block.labels], part.labels):
                return False
    return at == len(made)
