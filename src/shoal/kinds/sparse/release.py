"""A release of sparse records as sketches, and what was checked of them; see `shoal.release`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.check.guarantee import Guarantee
from shoal.check.sparse.edges import LEAST_RECALL
from shoal.check.sparse.folder import asked_of
from shoal.check.sparse.verify import SparseEvidence, is_sorted, verify_sketches
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketch_files import read_sketches, write_sketches
from shoal.data.sparse.sketches import Sketches
from shoal.errors import Infeasible, NotVerified
from shoal.held_out import HeldOut
from shoal.kinds.sparse.findings import suppression_findings
from shoal.kinds.sparse.manifest import DATA_FILE, SketchManifest
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.manifest import Manifest
from shoal.progress import Progress
from shoal.release import Pages, Release
from shoal.secrets import write_groups, write_key, write_neighbours, write_rows
from shoal.sparse.anonymize import REASONS, anonymize_sparse
from shoal.sparse.group_sketches import GroupSketches, anonymize_groups, of_sums
from shoal.sparse.signs import new_key
from shoal.stage import CheckedFile, checked_file, refuse_failed

if TYPE_CHECKING:
    from shoal.attack.sparse.case import SparseCase
    from shoal.utility.sparse.measure import SparseUtility


@dataclass(frozen=True, kw_only=True, repr=False)
class SparseRelease(Release[Sketches]):
    """What `anonymize` gives back for sparse records. Nothing is on disk before `save`.

    Attributes
    ----------
    neighbours : {"exact", "partition"}, optional
        How neighbours were found, where the guarantee is about them.
    recall : float, optional
        Of neighbours that were not found exactly: the share of the true ones that were, on a sample.
    """

    kind: ClassVar[str] = "sparse"
    noun: ClassVar[str] = "sketches"
    keepable: ClassVar[tuple[str, ...]] = ("rows", "key")
    pages: ClassVar[Pages] = Pages.of("sparse")

    neighbours: Literal["exact", "partition"] | None
    recall: float | None
    _evidence: SparseEvidence = field(repr=False)
    _grouped: GroupSketches | None = field(default=None, repr=False)

    @property
    def n_groups(self) -> int | None:
        """How many groups are published, where a sketch is of a group."""
        return None if self._grouped is None else len(self._grouped.once)

    @property
    def sketches(self) -> Sketches:
        """What would be published, as it was read back from the bytes that would be written."""
        return self.published

    @property
    def component_counts(self) -> Ints:
        """The number of components of each sketch."""
        return self.sketches.counts

    @property
    def classes(self) -> tuple[Codes | None, tuple[str, ...]]:
        """The class of each sketch, and what classes are called."""
        return self.sketches.labels, self.sketches.classes

    @property
    def least_told(self) -> int:
        """The least number of records that is counted out in public."""
        return int(self.policy.least_told)

    @property
    def suppressed_sentence(self) -> str:
        """What was suppressed and why, in plain words."""
        return suppressed_sentence(self.suppressed, self.records["in"], self.policy)

    @property
    def case(self) -> SparseCase:
        """What attacks work on; for the owner alone, as it holds the key."""
        from shoal.attack.sparse.case import SparseCase

        secrets = (self._evidence.rows, self._evidence.key)
        return SparseCase(self.sketches, self._original, self._control, *secrets, unit=self.policy.method.unit)

    @cached_property
    def utility(self) -> SparseUtility:
        """What the protection cost; see `shoal.utility.sparse`."""
        from shoal.utility.sparse.measure import measure_sketches

        if self._grouped is not None:  # against the sums, each once
            grouped = self._grouped
            return measure_sketches(grouped.summed.sums, grouped.once, grouped.once_of, make=self._make_again)
        assert self._evidence.rows is not None
        return measure_sketches(self._original, self.sketches, self._evidence.rows, make=self._make_again)

    def _make_again(self, records: Sparse) -> tuple[Sketches, np.ndarray[tuple[int], np.dtype[np.int64]]]:
        """Sketches of other records, or of some of these, under the same policy and key: to measure what they cost."""
        assert self._evidence.key is not None
        policy = self.policy if self._grouped is None else of_sums(self.policy)
        made = anonymize_sparse(records, policy, self._evidence.key)
        return made.sketches, made.rows

    def _told(self) -> dict[str, Any]:
        return {"neighbours": self.neighbours, "recall": self.recall}

    def _write_and_check(self) -> tuple[CheckedFile, tuple[Guarantee, ...]]:
        file, (_, guarantees) = _write_and_check(self.sketches, self.policy, self.neighbours, self._evidence)
        return file, guarantees

    def _manifest(self, **told: Any) -> Manifest:
        has_classes = self.sketches.labels is not None
        return SketchManifest(
            **told,
            columns=SketchManifest.columns_of(has_classes=has_classes),
            step=self.sketches.step,
            classes=has_classes,
            input=self.policy.input.told(),
            require=tuple(r.model_dump() for r in self.policy.require),
            guarantees=SketchManifest.claims(self.guarantees),
            method=self.policy.told(),
            suppressed_because=self.told_counts[1],
            neighbours=self.neighbours,
        )

    def _keep(self, folder: Path, keep: Sequence[str]) -> None:
        evidence = self._evidence
        if "rows" in keep:
            assert evidence.rows is not None
            write_rows(folder, evidence.rows)
            if evidence.neighbours is not None:
                write_neighbours(folder, evidence.neighbours)
            if evidence.groups is not None:
                write_groups(folder, evidence.groups)
        if "key" in keep:
            assert evidence.key is not None
            write_key(folder, evidence.key)


def release_sparse(
    original: Sparse,
    policy: SparsePolicy,
    *,
    seed: int | None = None,
    key: bytes | None = None,
    progress: Progress | None = None,
    held_out: HeldOut[Sparse] | None = None,
) -> SparseRelease:
    """Sketch records, write them to a file of no name, and check what is read back from it.

    Parameters
    ----------
    key : bytes, optional
        The key of another release, to be comparable with it; else a new one, from the seed if there is one.

    Raises
    ------
    Infeasible
        If no record can be published under the policy.
    NotVerified
        If the check does not confirm everything; then nothing is left of it.
    """
    secret, notes_on_key = key_of(key, seed)
    notes = [*original.source.notes, *notes_on_key]
    if progress is not None:
        progress("sketching", 0, 0)
    grouped = None
    if policy.method.unit == "group":
        grouped = anonymize_groups(original, policy, secret, seed=seed, progress=progress)
        made = grouped.made
    else:
        made = anonymize_sparse(original, policy, secret, progress=progress)
    if made.neighbours is not None and made.neighbours.recall is not None and made.neighbours.recall < LEAST_RECALL:
        raise Infeasible(
            f"a search in parts of the data finds {100 * made.neighbours.recall:.0f} % of the nearest records only, "
            "too few to promise anything about them; ask for neighbours = 'exact', or for delta-anonymity alone"
        )
    suppressed = suppressed_of(np.bincount(made.reasons, minlength=len(REASONS)))
    if not len(made.sketches):
        raise Infeasible(none_left(suppressed, policy))
    if progress is not None:
        progress("checking the release", 0, 0)
    how = None if made.neighbours is None else made.neighbours.how
    evidence = SparseEvidence(
        original,
        made.rows,
        secret,
        None if made.neighbours is None else made.neighbours.indices,
        None if grouped is None else grouped.summed.groups,
    )
    file, (published, guarantees) = _write_and_check(made.sketches, policy, how, evidence)
    return SparseRelease(
        published=published,
        guarantees=guarantees,
        policy=policy,
        notes=(*notes, *made.notes),
        suppressed=suppressed,
        findings=suppression_findings(len(original), len(published), policy),
        neighbours=how,
        recall=None if made.neighbours is None else made.neighbours.recall,
        _original=original,
        _evidence=evidence,
        _grouped=grouped,
        _file=file,
        _held_out=held_out,
    )


def key_of(key: bytes | None, seed: int | None) -> tuple[bytes, list[str]]:
    """The key of a release: the one that is given, or a new one, from the seed if there is one; and what to note."""
    if key is not None:
        return key, [
            "the key is that of another release: whoever learns a record and its sketch in one of them learns about "
            "the signs of both, and a record that is in both has the same components in both"
        ]
    if seed is None:
        return new_key(None), []
    # On T20.I4, with popularities from other records, 5,000 seeds take 3 s to try: the mean of all sketches
    # correlates by 0.997 with what the right one expects, by 0.85 with the next.
    return new_key(seed), [
        "the key comes from the seed: whoever tries seeds finds it, and then has the key; leave the seed out for "
        "a release that is given away"
    ]


def suppressed_sentence(suppressed: Mapping[str, int], n_in: int, policy: SparsePolicy) -> str:
    """What was suppressed and why.

    >>> suppressed_sentence({"empty": 1, "too_short": 3}, 500, SparsePolicy())
    '4 of 500 records were suppressed: 1 is empty; 3 have too few items for even one component.'
    """
    if not suppressed:
        return f"No record was suppressed: all {n_in:,} have a sketch."
    total = sum(suppressed.values())
    verb = "records was" if total == 1 else "records were"
    return f"{total:,} of {n_in:,} {verb} suppressed: {_reasons(suppressed, policy)}."


def _reasons(suppressed: Mapping[str, int], policy: SparsePolicy) -> str:
    words = {
        "empty": ("is empty", "are empty"),
        "small_class": (
            f"is of a class of fewer than {policy.method.rare}",
            f"are of classes of fewer than {policy.method.rare}",
        ),
        "too_short": ("has too few items for even one component", "have too few items for even one component"),
        "too_distinct": ("is too far from its neighbours", "are too far from their neighbours"),
        "rare_items": (
            f"has only items that fewer than {policy.k} records hold",
            f"have only items that fewer than {policy.k} records hold",
        ),
    }
    return "; ".join(f"{n:,} {words[name][n > 1]}" for name, n in suppressed.items())


def none_left(suppressed: Mapping[str, int], policy: SparsePolicy) -> str:
    """That nothing is left, why, and what to do about the reason that most records share."""
    cap = ", or give records of more items: the recovery cap leaves none to short or common ones"
    remedies = {
        "empty": "give records with items",
        "small_class": "lower rare, or leave out the classes",
        "too_short": f"lower delta{cap * policy.method.recovery_cap}",
        "too_distinct": "lower k, or add records like them",
        "rare_items": "lower k, or add records",
    }
    worst = max(suppressed, key=lambda name: suppressed[name])
    return f"no record can be published: {_reasons(suppressed, policy)}. To publish some, {remedies[worst]}"


def suppressed_of(counts: Ints) -> dict[str, int]:
    """How many records have no sketch, by the reason, from how many there are of each of `REASONS`."""
    return {name: n for name, n in zip(REASONS, counts.tolist(), strict=True) if n and name != "kept"}


def _write_and_check(
    made: Sketches,
    policy: SparsePolicy,
    neighbours: Literal["exact", "partition"] | None,
    evidence: SparseEvidence,
) -> tuple[CheckedFile, tuple[Sketches, tuple[Guarantee, ...]]]:
    """Write sketches, and run the checker on the file as any reader would see it."""
    assert evidence.original is not None
    n_filled = int((evidence.original.sizes > 0).sum())

    def write(path: Path) -> None:
        write_sketches(made, path)

    def check(path: Path) -> tuple[Sketches, tuple[Guarantee, ...]]:
        written = read_sketches(path)
        if not _is_same(written, made) or not is_sorted(written):
            raise NotVerified(
                "the written file does not read back as the sketches that were made; nothing was published"
            )
        verdict = verify_sketches(written, asked_of(policy, neighbours, n_filled), evidence)
        refuse_failed(verdict)
        return written, verdict.guarantees

    return checked_file(DATA_FILE, write, check)


def _is_same(one: Sketches, other: Sketches) -> bool:
    """Whether two sets of sketches agree in everything, classes by their names."""
    return (
        one.step == other.step
        and one.is_integral == other.is_integral
        and np.array_equal(one.starts, other.starts)
        and np.array_equal(one.components, other.components)
        and _class_names(one) == _class_names(other)
    )


def _class_names(sketches: Sketches) -> list[str] | None:
    return None if sketches.labels is None else [sketches.classes[c] for c in sketches.labels.tolist()]
