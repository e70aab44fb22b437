"""Pseudo-baskets of files that are not held in memory: grouped, dealt, written and checked through files of no name.

What the report measures, and attacks look at, are whole groups drawn at random, with their pseudo-baskets; numbers of
records, guarantees and the datasheet are of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import Codes, Mask
from shoal.check.guarantee import Guarantee
from shoal.check.sparse.baskets import BasketsEvidence
from shoal.check.sparse.baskets_in_blocks import verify_baskets_in_blocks
from shoal.check.sparse.folder import baskets_asked
from shoal.data.sparse.on_disk import RecordsOnDisk, put_records
from shoal.data.sparse.records import Sparse, WeightFacts
from shoal.data.sparse.written import (
    RecordForm,
    blocks_back,
    compact,
    form_for,
    line_file_name,
    write_records_on_disk,
)
from shoal.errors import NotVerified, PolicyError
from shoal.kinds.sparse.baskets import (
    BasketFacts,
    BasketRelease,
    basket_notes,
    items_told,
    refuse_no_baskets,
    settled,
    suppressed_of,
)
from shoal.kinds.sparse.findings import suppression_findings
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.sparse.unheld import BYTES_AT_ONCE, N_DRAWN, UnheldRecords
from shoal.secrets import write_groups, write_published_groups
from shoal.sparse.in_blocks import changed_meanwhile
from shoal.sparse.near_groups import LEAST_CLASSES
from shoal.sparse.pseudo_baskets import DealtAnew, deal_anew
from shoal.stage import checked_file, refuse_failed

if TYPE_CHECKING:
    from shoal.kind import Run

BYTES_AN_ENTRY = 200
"""Of the bound for each entry of records that are grouped, or dealt, together."""


@dataclass(frozen=True)
class UnheldGroups:
    """Whose group each record is in, of all records."""

    original: Codes
    published: Codes


@dataclass(frozen=True, kw_only=True, repr=False)
class UnheldBasketRelease(BasketRelease):
    """A release of which some pseudo-baskets are held; the file that was checked has all."""

    _unheld: UnheldRecords = field(repr=False)
    _facts: BasketFacts = field(repr=False)
    _all_groups: UnheldGroups = field(repr=False)

    @property
    def records(self) -> dict[str, int]:
        """All of them."""
        n_in, n_out = len(self._unheld), self._facts.n_records
        return {"in": n_in, "out": n_out, "suppressed": n_in - n_out}

    @property
    def sampled(self) -> str:
        """Some groups, unless all are held."""
        if len(self.published) == self._facts.n_records:
            return ""
        return (
            f"Measures and attacks used {len(self.published):,} of {self._facts.n_records:,} records, in whole groups "
            "drawn at random, and the originals of these groups; among fewer records each stands out more than among "
            "all, and what a record shares with originals of other groups is not seen."
        )

    @property
    def facts(self) -> BasketFacts:
        """Of all pseudo-baskets."""
        return self._facts

    def _write_and_check(self) -> Any:
        raise NotVerified(
            "the pseudo-baskets of this release are no longer there, so it cannot be written again; call "
            "shoal.anonymize again"
        )

    def check(self) -> tuple[Guarantee, ...]:
        """Recompute every guarantee from the file that was written."""
        file = self._checked_file()

        def verify(path: Path) -> tuple[Guarantee, ...]:
            return _verified(path, self.form, self.policy, self._unheld, self._all_groups)

        with self._unheld.unchanged():
            return checked_file(file.name, lambda path: file.put(path.parent), verify)[1]

    def _keep(self, folder: Path, keep: Sequence[str]) -> None:
        if "groups" in keep:
            write_groups(folder, self._all_groups.original)
            write_published_groups(folder, self._all_groups.published)


def release_unheld_baskets(original: UnheldRecords, policy: SparsePolicy, run: Run) -> UnheldBasketRelease:
    """Deal the items of records of a file anew, write and check them; see `release_baskets`."""
    policy = settled(policy, original.source)
    _refuse_pulls(original, policy)
    work = _Work(original, policy, run)
    with original.unchanged():
        file, guarantees = checked_file(line_file_name(work.form), work.write, work.verify)
    counted, dealt = original.counted, work.dealt
    published, some, evidence = work.sample()
    return UnheldBasketRelease(
        published=published,
        guarantees=guarantees,
        policy=policy,
        notes=(*counted.source.notes, *basket_notes(counted.source, counted.weights, len(original), dealt, run.seed)),
        suppressed=suppressed_of(dealt),
        findings=suppression_findings(len(original), len(work.made), policy),
        form=work.form,
        n_groups=work.n_groups,
        items=items_told(int((counted.whole.holders > 0).sum()), dealt),
        _original=some,
        _evidence=evidence,
        _file=file,
        _unheld=original,
        _facts=BasketFacts.of_rows(work.made),
        _all_groups=work.groups,
    )


def _refuse_pulls(original: UnheldRecords, policy: SparsePolicy) -> None:
    if policy.method.together == 1 and len(original.counted.classes) >= LEAST_CLASSES:
        raise PolicyError(
            "together = 1 groups records of three classes or more by how they are drawn to other classes, which needs "
            "all records in memory: leave memory out, or ask for together = 2 or more"
        )


class _Work:
    """One release in the making."""

    dealt: DealtAnew
    made: RecordsOnDisk
    groups: UnheldGroups
    n_groups: int

    def __init__(self, original: UnheldRecords, policy: SparsePolicy, run: Run) -> None:
        self._original, self._policy, self._run = original, policy, run
        counted = original.counted
        self.form = _form(counted.names, counted.classes, counted.weights, original)
        if self.form.format == "column":
            raise PolicyError(
                "some classes are not numbers that SVMlight could hold, so records would be published as a table, "
                "which needs all of them in memory: leave memory out, or rename the classes"
            )

    def write(self, path: Path) -> None:
        """Deal items anew, and write what is made."""
        policy, counted, run = self._policy, self._original.counted, self._run
        assert policy.k is not None
        assert policy.n_bytes is not None
        assert policy.method.together is not None
        source = replace(counted.source, notes=())
        rows = put_records(self._original.numbered(), len(counted.names), is_binary=counted.weights.is_binary)
        if len(rows) != len(self._original):
            raise changed_meanwhile()
        self._whole = RecordsOnDisk(rows, counted.names, counted.classes, source)
        dealt = deal_anew(
            rows,
            policy.k,
            support=policy.method.support,
            together=policy.method.together,
            seed=run.seed,
            progress=run.progress,
            room=policy.n_bytes // BYTES_AN_ENTRY,
        )
        refuse_no_baskets(len(dealt.rows))
        self.made = RecordsOnDisk(dealt.rows, counted.names, counted.classes, source).compact()
        self.groups = UnheldGroups(dealt.original_groups, dealt.groups)
        self.n_groups = int(dealt.original_groups.max()) + 1
        self.dealt = dealt
        self.form = _form(self.made.names, self.made.classes, self.made.weights, self._original)
        suppression_findings(len(rows), len(dealt.rows), policy)
        write_records_on_disk(self.made, path, self.form)

    def verify(self, path: Path) -> tuple[Guarantee, ...]:
        """Check what was written."""
        if self._run.progress is not None:
            self._run.progress("checking the release", 0, 0)
        if not _is_same(blocks_back(path, self.form, BYTES_AT_ONCE), self.made):
            raise NotVerified(
                "the written file does not read back as the pseudo-baskets that were made; nothing was published"
            )
        return _verified(path, self.form, self._policy, self._original, self.groups)

    def sample(self) -> tuple[Sparse, Sparse, BasketsEvidence]:
        """Pseudo-baskets of some whole groups, the originals of these, and whose group each is in."""
        drawn = _drawn_groups(self.groups.original, self.n_groups, np.random.default_rng(self._run.seed))
        rows = np.flatnonzero((self.groups.original >= 0) & drawn[np.maximum(self.groups.original, 0)])
        if drawn.all():
            rows = np.arange(len(self._whole))
        shown = np.flatnonzero(drawn[self.groups.published])
        number = np.append(np.cumsum(drawn) - 1, -1).astype(np.int64)  # the last is that of no group
        original = self._whole.take(rows)
        held = number[self.groups.original[rows]], number[self.groups.published[shown]]
        return compact(self.made.take(shown)), original, BasketsEvidence(original, *held)


def _form(
    names: tuple[str, ...], classes: tuple[str, ...], weights: WeightFacts, original: UnheldRecords
) -> RecordForm:
    return form_for(original.source, names, classes, weights, has_classes=original.counted.has_classes)


def _drawn_groups(original_groups: Codes, n_groups: int, rng: np.random.Generator) -> Mask:
    """Which groups are looked at: as many, in random order, as have about `N_DRAWN` originals."""
    sizes = np.bincount(original_groups[original_groups >= 0], minlength=n_groups)
    order = rng.permutation(n_groups)
    before = np.cumsum(sizes[order]) - sizes[order]
    drawn = np.zeros(n_groups, bool)
    drawn[order[before + sizes[order] <= max(N_DRAWN, int(sizes[order[0]]))]] = True
    return drawn


def _verified(
    path: Path, form: RecordForm, policy: SparsePolicy, records: UnheldRecords, groups: UnheldGroups
) -> tuple[Guarantee, ...]:
    """What the checker finds of a written file, or `NotVerified`."""
    assert policy.n_bytes is not None
    verdict = verify_baskets_in_blocks(
        lambda: blocks_back(path, form, BYTES_AT_ONCE),
        baskets_asked(policy),
        records.blocks,
        groups.original,
        groups.published,
        policy.n_bytes,
    )
    refuse_failed(verdict)
    return verdict.guarantees


def _is_same(blocks: Iterable[Sparse], made: RecordsOnDisk) -> bool:
    """Whether a file reads back as the records that were made."""
    place = {name: number for number, name in enumerate(made.names)}
    class_place = {name: label for label, name in enumerate(made.classes)}
    at = 0
    for block in blocks:
        if at + len(block) > len(made):
            return False
        part = made.part(at, at + len(block))
        at += len(block)
        items = np.array([place.get(name, -1) for name in block.names], np.int32)[block.items]
        labels = np.array([class_place.get(name, -1) for name in block.classes], np.int32)
        if part.labels is not None and (block.labels is None or not np.array_equal(labels[block.labels], part.labels)):
            return False
        pairs = ((part.starts, block.starts), (part.items, items), (part.weights, block.weights))
        if not all(np.array_equal(one, other) for one, other in pairs):
            return False
    return at == len(made)
