"""A release of sparse records as pseudo-baskets, and what was checked of them; see `shoal.release`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.arrays import Codes
from shoal.check.finding import Finding
from shoal.check.guarantee import Guarantee
from shoal.check.sparse.baskets import BasketsEvidence, verify_baskets
from shoal.check.sparse.folder import baskets_asked
from shoal.data.sparse.on_disk import RecordsOnDisk
from shoal.data.sparse.records import Sparse, SparseSource, WeightFacts
from shoal.data.sparse.written import RecordForm, compact, published_form, read_records, record_file_name, write_records
from shoal.errors import Infeasible, NotVerified
from shoal.held_out import HeldOut
from shoal.kinds.sparse.findings import learning_findings, suppression_findings
from shoal.kinds.sparse.manifest import BasketManifest
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.manifest import Manifest
from shoal.progress import Progress
from shoal.release import Pages, Release
from shoal.secrets import write_groups, write_published_groups
from shoal.sparse.pseudo_baskets import REASONS, TOGETHER, DealtAnew, PseudoBaskets, pseudo_baskets
from shoal.stage import CheckedFile, checked_file, refuse_failed
from shoal.told_counts import Count, public_reasons

if TYPE_CHECKING:
    from shoal.attack.sparse.case import BasketCase
    from shoal.kind import Run
    from shoal.utility.sparse.baskets import BasketUtility

TEXTS = ("text", "folder")
MANY_COPIES = 0.01  # of the records: then what is missing tells of short records


@dataclass(frozen=True)
class BasketFacts:
    """What is counted over all pseudo-baskets."""

    n_records: int
    n_items: int
    n_entries: int
    labels: Codes | None
    classes: tuple[str, ...]

    @classmethod
    def of(cls, baskets: Sparse) -> BasketFacts:
        """Of some that are held."""
        return cls(len(baskets), baskets.n_items, len(baskets.items), baskets.labels, baskets.classes)

    @classmethod
    def of_rows(cls, baskets: RecordsOnDisk) -> BasketFacts:
        """Of some in files."""
        n_entries = baskets.rows.rows.n_entries
        return cls(len(baskets), len(baskets.names), n_entries, baskets.rows.labels, baskets.classes)

    @property
    def mean_size(self) -> float:
        """How many items there are to one."""
        return self.n_entries / max(self.n_records, 1)


@dataclass(frozen=True, kw_only=True, repr=False)
class BasketRelease(Release[Sparse]):
    """What `anonymize` gives back for sparse records that are published as pseudo-baskets.

    Attributes
    ----------
    form : RecordForm
        How they stand in their file.
    n_groups : int
        Number of groups that items were dealt in.
    items : mapping
        How many items, and places of items, came in, and what became of those that are missing.
    """

    kind: ClassVar[str] = "sparse"
    noun: ClassVar[str] = "pseudo-baskets"
    keepable: ClassVar[tuple[str, ...]] = ("groups",)
    pages: ClassVar[Pages] = Pages.of("sparse", "basket_words", "basket_pages", "basket_pages")

    form: RecordForm
    n_groups: int
    items: Mapping[str, int]
    _evidence: BasketsEvidence = field(repr=False)
    _persons_left_out: Mapping[str, int] = field(default_factory=dict, repr=False)

    @property
    def told_counts(self) -> tuple[dict[str, Count], dict[str, Count]]:
        """As of other data; records of fewer than k persons, of whom each may have many, are not counted out."""
        return public_reasons(self.records, self.suppressed, self.least_told, self._persons_left_out)

    @property
    def baskets(self) -> Sparse:
        """What would be published, as it was read back from the bytes that would be written."""
        return self.published

    @property
    def data(self) -> Any:
        """The pseudo-baskets as the kind that came in: `Sparse`, a sparse array of scipy, or a list of lists."""
        if isinstance(self._like, list | tuple):
            names, bounds = self.baskets.names, self.baskets.starts.tolist()
            items = [names[i] for i in self.baskets.items.tolist()]
            return [items[low:high] for low, high in pairwise(bounds)]
        if self._like is None or isinstance(self._like, Sparse):
            return self.baskets
        return _in_columns(self.baskets, self._original)

    @property
    def facts(self) -> BasketFacts:
        """What the datasheet counts."""
        return BasketFacts.of(self.baskets)

    @property
    def suppressed_sentence(self) -> str:
        """What was suppressed and why, in plain words."""
        return suppressed_sentence(self.suppressed, self.records["in"], self.policy, self._counted)

    @property
    def items_sentence(self) -> str:
        """What is missing of the items."""
        told, n = self.items, self.items["places"]
        k = self.policy.k
        return (
            f"{told['rare_items']:,} of {told['items']:,} items were left out, as fewer than {k} {self._counted} hold "
            f"them: {100 * told['rare_places'] / max(n, 1):.1f} % of all places; "
            f"{100 * told['left_over'] / max(n, 1):.1f} % more found no room in a pool."
        )

    @property
    def _counted(self) -> str:
        return "records" if self._original.persons is None else "persons"

    @property
    def case(self) -> BasketCase:
        """What attacks work on; for the owner alone."""
        from shoal.attack.sparse.case import BasketCase

        return BasketCase(self.baskets, self._original, self._control)

    @cached_property
    def utility(self) -> BasketUtility:
        """What the protection cost; see `shoal.utility.sparse`."""
        from shoal.utility.sparse.baskets import measure_baskets

        return measure_baskets(self._original, self.baskets, make=self._make_again, control=self._control)

    def _make_again(self, records: Sparse) -> Sparse:
        """Pseudo-baskets of some of the records, under the same policy: to measure what they cost."""
        return make_baskets(records, self.policy, 0).baskets

    def _losses_found(self) -> tuple[Finding, ...]:
        return learning_findings(self.utility, self.policy)

    def _told(self) -> dict[str, Any]:
        return {"publish": "pseudo", "items": dict(self.items), "groups": self.n_groups}

    def _write_and_check(self) -> tuple[CheckedFile, tuple[Guarantee, ...]]:
        file, (_, guarantees) = _write_and_check(self.baskets, self.form, self.policy, self._evidence)
        return file, guarantees

    def _manifest(self, **told: Any) -> Manifest:
        return BasketManifest(
            **told,
            form=asdict(self.form),
            classes=self.baskets.labels is not None,
            input=self.policy.input.told(),
            require=tuple(r.model_dump() for r in self.policy.require),
            guarantees=BasketManifest.claims(self.guarantees),
            method=self.policy.told(),
            suppressed_because=self.told_counts[1],
        )

    def _keep(self, folder: Path, keep: Sequence[str]) -> None:
        if "groups" in keep:
            assert self._evidence.groups is not None
            assert self._evidence.original_groups is not None
            write_groups(folder, self._evidence.original_groups)
            write_published_groups(folder, self._evidence.groups)


def make_baskets(
    records: Sparse, policy: SparsePolicy, seed: int | None, progress: Progress | None = None
) -> PseudoBaskets:
    """Pseudo-baskets as a policy asks."""
    assert policy.k is not None
    method = policy.method
    assert method.together is not None
    return pseudo_baskets(
        records, policy.k, support=method.support, together=method.together, seed=seed, progress=progress
    )


def settled(policy: SparsePolicy, source: SparseSource) -> SparsePolicy:
    """The policy with a number where the data decides: words of one topic are no unit, so texts have none."""
    if policy.method.together is not None:
        return policy
    return policy.changed(together=1 if source.format in TEXTS else TOGETHER)


def release_baskets(
    original: Sparse, policy: SparsePolicy, run: Run, *, like: Any = None, held_out: HeldOut[Sparse] | None = None
) -> BasketRelease:
    """Deal items anew, write pseudo-baskets to a file of no name, and check what is read back from it.

    Raises
    ------
    Infeasible
        If there are fewer than k records that share items.
    NotVerified
        If the check does not confirm everything; then nothing is left of it.
    """
    seed, progress = run.seed, run.progress
    policy = settled(policy, original.source)
    made = make_baskets(original, policy, seed, progress)
    refuse_no_baskets(len(made.baskets))
    form = published_form(made.baskets)
    if progress is not None:
        progress("checking the release", 0, 0)
    groups = (made.original_groups.astype(np.int64), made.groups.astype(np.int64))
    evidence = BasketsEvidence(original, *groups)
    file, (published, guarantees) = _write_and_check(compact(made.baskets), form, policy, evidence)
    return BasketRelease(
        published=published,
        guarantees=guarantees,
        policy=policy,
        notes=(*original.source.notes, *_notes(original, made, seed)),
        suppressed=suppressed_of(made),
        findings=suppression_findings(len(original), len(published), policy),
        form=form,
        n_groups=int(made.original_groups.max()) + 1,
        items=items_told(original.n_occurring, made),
        _original=original,
        _evidence=evidence,
        _persons_left_out=_persons_left_out(original, made),
        _file=file,
        _like=like,
        _held_out=held_out,
    )


def refuse_no_baskets(n: int) -> None:
    """Refuse a release of nothing."""
    if not n:
        raise Infeasible("every pseudo-record is a copy of a record that fewer than k hold; lower k or add records")


def items_told(n_items: int, made: DealtAnew) -> dict[str, int]:
    """How many items, and places of items, came in, and what became of those that are missing."""
    return {
        "items": n_items,
        "places": made.n_entries,
        "rare_items": made.n_rare_items,
        "rare_places": made.n_rare_entries,
        "left_over": made.n_left_over,
        "joined": made.n_joined,
    }


def _notes(original: Sparse, made: PseudoBaskets, seed: int | None) -> list[str]:
    weights = WeightFacts(original.is_integral, original.is_binary, is_negative=False, total=0.0)
    n_persons = None if original.persons is None else len(np.unique(original.persons))
    return basket_notes(original.source, weights, len(original), made, seed, n_persons)


def basket_notes(
    source: SparseSource,
    weights: WeightFacts,
    n_records: int,
    made: DealtAnew,
    seed: int | None,
    n_persons: int | None = None,
) -> list[str]:
    """What the owner should know of a release."""
    notes = []
    if source.format in TEXTS:
        notes.append(
            "texts are published as bags of words, in no order and without stop words: nobody can read them as texts"
        )
    if n_persons is not None:
        notes.append(f"the records are of {n_persons:,} persons, who are counted in the place of records")
    if not weights.is_binary:
        notes.append(
            "the weight of an item is a mean over holders, without extremes; how it varies between them is lost"
        )
    if seed is not None:
        notes.append(
            "a seed was given: whoever knows it and most of the records can try how the others were dealt; leave the "
            "seed out for a release that is given away"
        )
    n_out = made.n_copies
    if n_out > MANY_COPIES * n_records:
        notes.append(
            f"{n_out:,} pseudo-records are missing, as they equalled a record that fewer than k hold and nothing could "
            "be swapped: they are short ones, which the release has too few of; raise nothing but the number of "
            "records, or lower k"
        )
    return notes


def suppressed_sentence(
    suppressed: Mapping[str, int], n_in: int, policy: SparsePolicy, counted: str = "records"
) -> str:
    """What was suppressed and why.

    >>> suppressed_sentence({"empty": 1, "copies": 3}, 500, SparsePolicy())
    '4 of 500 records were suppressed: 1 is empty; 3 have no pseudo-record in their place, as it stayed a copy of a \
record that fewer than 10 hold.'
    """
    if not suppressed:
        return f"No record was suppressed: there are as many pseudo-records as records, {n_in:,}."
    k = policy.k
    words = {
        "empty": ("is empty", "are empty"),
        "small_class": (f"is of a class of fewer than {k}", f"are of classes of fewer than {k}"),
        "rare_items": (
            f"has only items that fewer than {k} {counted} hold",
            f"have only items that fewer than {k} {counted} hold",
        ),
        "emptied": (
            "has no pseudo-record in its place, as no item was left for it",
            "have no pseudo-record in their place, as no item was left for it",
        ),
        "copies": (
            f"has no pseudo-record in its place, as it stayed a copy of a record that fewer than {k} hold",
            f"have no pseudo-record in their place, as it stayed a copy of a record that fewer than {k} hold",
        ),
    }
    told = "; ".join(f"{n:,} {words[name][n > 1]}" for name, n in suppressed.items())
    total = sum(suppressed.values())
    return f"{total:,} of {n_in:,} records {'was' if total == 1 else 'were'} suppressed: {told}."


def suppressed_of(made: DealtAnew) -> dict[str, int]:
    """How many records were left out, by the reason."""
    counts = dict(zip(REASONS, np.bincount(made.reasons, minlength=len(REASONS)).tolist(), strict=True))
    counts |= {"emptied": made.n_emptied, "copies": made.n_copies}
    return {name: n for name, n in counts.items() if n and name != "kept"}


def _persons_left_out(original: Sparse, made: PseudoBaskets) -> dict[str, int]:
    """Of how many persons the records are that were left out for each reason, where a person may have several."""
    if original.persons is None:
        return {}
    whose = {name: np.unique(original.persons[made.reasons == code]) for code, name in enumerate(REASONS)}
    return {name: len(persons) for name, persons in whose.items() if len(persons) and name != "kept"}


def _in_columns(baskets: Sparse, original: Sparse) -> Any:
    """As a sparse array with the columns of the original."""
    place = {name: i for i, name in enumerate(original.names)}
    columns = np.array([place[name] for name in baskets.names], np.int32)
    order = np.lexsort((columns[baskets.items], np.repeat(np.arange(len(baskets)), baskets.sizes)))
    items, weights = columns[baskets.items][order], baskets.weights[order]
    return replace(baskets, items=items, weights=weights, names=original.names).to_csr()


def _write_and_check(
    made: Sparse, form: RecordForm, policy: SparsePolicy, evidence: BasketsEvidence
) -> tuple[CheckedFile, tuple[Sparse, tuple[Guarantee, ...]]]:
    """Write pseudo-baskets, and run the checker on the file as any reader would see it."""

    def write(path: Path) -> None:
        write_records(made, path, form)

    def check(path: Path) -> tuple[Sparse, tuple[Guarantee, ...]]:
        written = read_records(path, form, has_classes=made.labels is not None)
        if not _is_same(written, made):
            raise NotVerified(
                "the written file does not read back as the pseudo-baskets that were made; nothing was published"
            )
        verdict = verify_baskets(written, baskets_asked(policy), evidence)
        refuse_failed(verdict)
        return replace(written, source=made.source), verdict.guarantees

    return checked_file(record_file_name(made, form), write, check)


def _is_same(one: Sparse, other: Sparse) -> bool:
    """Whether two sets of records agree in everything."""
    return (
        (one.names, one.classes) == (other.names, other.classes)
        and (one.labels is None) == (other.labels is None)
        and (one.labels is None or other.labels is None or np.array_equal(one.labels, other.labels))
        and all(np.array_equal(getattr(one, n), getattr(other, n)) for n in ("starts", "items", "weights"))
    )
