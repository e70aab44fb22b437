"""A release of sparse records that is k^m-anonymous, and what was checked of it; see `shoal.release`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shoal.check.finding import Finding
from shoal.check.guarantee import Guarantee
from shoal.check.sparse.km import KMEvidence, verify_km
from shoal.check.sparse.km_folder import is_in_order, km_asked
from shoal.data.sparse.disassociated import Disassociated, read_disassociated, write_disassociated
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.written import (
    RecordForm,
    compact,
    fitting_delimiter,
    published_form,
    read_records,
    record_file_name,
    write_records,
)
from shoal.data.tables.hierarchy import Hierarchy
from shoal.errors import Infeasible, NotVerified, PolicyError, did_you_mean
from shoal.held_out import HeldOut
from shoal.kinds.sparse.findings import learning_findings, suppression_findings
from shoal.kinds.sparse.manifest import KMManifest
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.manifest import Manifest
from shoal.release import Pages, Release
from shoal.sparse.combinations import only_items
from shoal.sparse.content_order import canonical_order
from shoal.sparse.disassociate import disassociate
from shoal.sparse.km_generalise import generalise, generalised, specialised
from shoal.sparse.km_suppress import suppress
from shoal.sparse.rho_uncertainty import without_rules
from shoal.stage import CheckedFile, checked_file, refuse_failed

if TYPE_CHECKING:
    from shoal.attack.sparse.case import BasketCase
    from shoal.kind import Run
    from shoal.utility.sparse.baskets import BasketUtility

_NOUNS = {"disassociate": "disassociated records", "suppress": "records", "generalise": "generalised records"}


@dataclass(frozen=True)
class _Made:
    """What was made of records.

    Attributes
    ----------
    published : Sparse or Disassociated
    labels : mapping
        What each item of a hierarchy is published as; empty where items are not generalised.
    evidence : KMEvidence
        What it can be compared with; secret.
    """

    published: Sparse | Disassociated
    labels: dict[str, str]
    evidence: KMEvidence


@dataclass(frozen=True, kw_only=True, repr=False)
class KMRelease(Release[Sparse | Disassociated]):
    """What `anonymize` gives back for sparse records that are published k^m-anonymous.

    Attributes
    ----------
    form : RecordForm
        How they stand in their file.
    items : mapping
        How many items, and places of items, came in and went out.
    labels : mapping
        What each item of the hierarchy is published as; empty where items are not generalised.
    """

    kind: ClassVar[str] = "sparse"
    noun: ClassVar[str] = "records"
    keepable: ClassVar[tuple[str, ...]] = ()
    pages: ClassVar[Pages] = Pages.of("sparse", "km_words", "km_pages", "km_pages")

    form: RecordForm
    items: Mapping[str, int]
    labels: Mapping[str, str]
    _evidence: KMEvidence = field(repr=False)

    @cached_property
    def baskets(self) -> Sparse:
        """Records as a reader takes them: the published ones, or, of chunks and labels, one way they may have been."""
        return _as_baskets(self.published, dict(self.labels))

    @property
    def data(self) -> Any:
        """What is published as the kind that came in: lists for lists, else `Sparse`, or `Disassociated`."""
        if not isinstance(self._like, list | tuple) or isinstance(self.published, Disassociated):
            return self.published
        names, bounds = self.published.names, self.published.starts.tolist()
        items = [names[i] for i in self.published.items.tolist()]
        return [items[low:high] for low, high in pairwise(bounds)]

    @property
    def suppressed_sentence(self) -> str:
        """What was suppressed and why, in plain words."""
        if not self.suppressed:
            return f"No record was suppressed: all {self.records['in']:,} are there."
        words = {"empty": ("is empty", "are empty"), "emptied": ("has no item left", "have no item left")}
        told = "; ".join(f"{n:,} {words[name][n > 1]}" for name, n in self.suppressed.items())
        total = sum(self.suppressed.values())
        was = "records was" if total == 1 else "records were"
        return f"{total:,} of {self.records['in']:,} {was} suppressed: {told}."

    @property
    def items_sentence(self) -> str:
        """What is missing of the items."""
        told = self.items
        if self.labels:
            return f"{told['items']:,} items are published as {told['items_out']:,} labels."
        share = 100 * (1 - told["places_out"] / max(told["places"], 1))
        lost = told["items"] - told["items_out"]
        said = f"{lost:,} of {told['items']:,} items were left out everywhere"
        if isinstance(self.published, Disassociated):
            return f"{said}, as fewer than {self.policy.k} records hold them."
        return f"{said}, and {share:.1f} % of all places of items."

    def shown(self) -> list[str]:
        """How many records there are, and what was left out, for a terminal."""
        told = f"{self.records['out']:,} {_NOUNS[self.policy.publish]} published of {self.records['in']:,}"
        if isinstance(self.published, Disassociated):
            told += f", in {self.published.n_clusters:,} clusters"
        return [f"{told}.", f"  {self.suppressed_sentence}", f"  {self.items_sentence}"]

    @property
    def case(self) -> BasketCase:
        """What attacks work on; for the owner alone."""
        return km_case(self.published, self._original, self._control, dict(self.labels))

    @cached_property
    def utility(self) -> BasketUtility:
        """What the protection cost; see `shoal.utility.sparse`."""
        from shoal.utility.sparse.baskets import measure_baskets

        return measure_baskets(self._original, self.baskets, make=self._make_again, control=self._control)

    def _make_again(self, records: Sparse) -> Sparse:
        """The same of some of the records: to measure what it costs."""
        made = make_km(records, self.policy)
        return _as_baskets(made.published, made.labels)

    def _losses_found(self) -> tuple[Finding, ...]:
        return learning_findings(self.utility, self.policy)

    def _told(self) -> dict[str, Any]:
        return {"publish": self.policy.publish, "items": dict(self.items)}

    def _write_and_check(self) -> tuple[CheckedFile, tuple[Guarantee, ...]]:
        made = _Made(self.published, dict(self.labels), self._evidence)
        file, (_, guarantees) = _write_and_check(made, self.form, self._promised)
        return file, guarantees

    @property
    def _promised(self) -> SparsePolicy:
        return _told_policy(self.policy, self._original)

    def _manifest(self, **told: Any) -> Manifest:
        published_as: dict[str, list[str]] = {}
        for item, label in sorted(self.labels.items()):
            published_as.setdefault(label, []).append(item)
        return KMManifest(
            **told,
            form=asdict(self.form),
            classes=self.published.labels is not None,
            input=self.policy.input.told(),
            require=tuple(r.model_dump(mode="json") for r in self._promised.require),
            guarantees=KMManifest.claims(self.guarantees),
            method=self.policy.told(),
            suppressed_because=self.told_counts[1],
            published_as=published_as or None,
        )

    def _keep(self, folder: Path, keep: Sequence[str]) -> None:
        """There is nothing to keep: whoever has the file can check it."""


def km_case(
    published: Sparse | Disassociated, original: Sparse, control: Sparse | None, labels: dict[str, str]
) -> BasketCase:
    """What attacks work on: who knows items knows what they are published as; of chunks, one way records may be."""
    from shoal.attack.sparse.case import BasketCase

    original, control = original.joined(), None if control is None else control.joined()
    if labels:
        original = generalised(original, labels)
        control = None if control is None else generalised(control, labels)
    shown = _as_baskets(published, {})
    return BasketCase(shown, original, control, "km")


def _as_baskets(published: Sparse | Disassociated, labels: dict[str, str]) -> Sparse:
    rng = np.random.default_rng(0)
    if isinstance(published, Disassociated):
        return published.reconstructed(rng)
    return specialised(published, labels, rng) if labels else published


def make_km(records: Sparse, policy: SparsePolicy) -> _Made:
    """What a policy asks for."""
    k, m, labels = policy.k, policy.m, {}
    assert k is not None
    assert m is not None
    if policy.publish == "disassociate":
        cut = disassociate(records, k, m, policy.cluster_size)
        return _Made(cut.published, {}, KMEvidence(records, None, cut.clusters))
    original = records
    if policy.publish == "generalise":
        records = _of_large_classes(records, k)
        labels = generalise(records, k, m, _hierarchy(policy))
        original = generalised(original, labels)
        made = generalised(records, labels)
    else:
        made = only_items(records, suppress(records, k, m, scope=policy.method.scope))
    rho = policy.rho_uncertainty
    if rho is not None:
        _refuse_strangers(records, rho.sensitive)
        named = np.isin(np.array(made.names, object), km_asked(policy, labels).sensitive)
        made = only_items(made, without_rules(made, rho.rho, m, named))
    rows = np.flatnonzero(made.sizes > 0)
    rows = rows[canonical_order(made.take(rows))]
    return _Made(compact(made.take(rows)), labels, KMEvidence(original, rows))


def _of_large_classes(records: Sparse, k: int) -> Sparse:
    """The same without the items of records of classes that have fewer than k with any: no label would be of k."""
    if records.labels is None:
        return records
    filled = np.bincount(records.labels[records.sizes > 0], minlength=len(records.classes))
    is_large = np.repeat((filled >= k)[records.labels], records.sizes)
    return only_items(records, np.flatnonzero(is_large))


def _hierarchy(policy: SparsePolicy) -> Hierarchy:
    given = policy.method.item_hierarchy
    if given is None:
        raise PolicyError(
            'publish = "generalise" needs a hierarchy of the items; name its file in item_hierarchy, or ask for '
            'publish = "suppress"'
        )
    return given if isinstance(given, Hierarchy) else Hierarchy.read(given)


def _refuse_strangers(records: Sparse, sensitive: tuple[str, ...]) -> None:
    """Refuse a sensitive item that is none, which may be a slip of the pen."""
    known = set(records.names)
    stranger = next((name for name in sensitive if name not in known), None)
    if stranger is not None:
        raise PolicyError(f"no record holds the sensitive item {stranger!r}; {did_you_mean(stranger, sorted(known))}")


def _told_policy(policy: SparsePolicy, original: Sparse) -> SparsePolicy:
    """What is asked of items that k records hold, which is what is promised in public.

    A sensitive item of fewer is left out, and not named either: that it was asked about tells that some record holds
    it. Where no other is sensitive, no rule can lead to one, and there is nothing to promise.
    """
    rho = policy.rho_uncertainty
    if rho is None or policy.k is None:
        return policy
    common = {original.names[i] for i in np.flatnonzero(original.supports >= policy.k).tolist()}
    named = tuple(name for name in rho.sensitive if name in common)
    others = tuple(r for r in policy.require if r is not rho)
    require = (*others, rho.model_copy(update={"sensitive": named})) if named else others
    return policy.model_copy(update={"require": require})


def release_km(
    original: Sparse, policy: SparsePolicy, run: Run, *, like: Any = None, held_out: HeldOut[Sparse] | None = None
) -> KMRelease:
    """Make records k^m-anonymous, write them to a file of no name, and check what is read back from it.

    Raises
    ------
    Infeasible
        If nothing is left of the records.
    NotVerified
        If the check does not confirm everything; then nothing is left of it.
    """
    seed, progress = run.seed, run.progress
    notes = _notes(original, seed)
    original = original.joined()
    if progress is not None:
        progress("counting", 0, 0)
    made = make_km(original, policy)
    published = made.published
    if not len(published):
        raise Infeasible(
            f"nothing can be published: no item is held by k = {policy.k} records"
            f"{'' if original.labels is None else ' of a class'}, or none that may be shown; lower k or add records"
        )
    form = _form(original, published)
    if progress is not None:
        progress("checking the release", 0, 0)
    file, (read, guarantees) = _write_and_check(made, form, _told_policy(policy, original))
    n_empty = int((original.sizes == 0).sum())
    lost = {"empty": n_empty, "emptied": len(original) - n_empty - len(published)}
    return KMRelease(
        published=read,
        guarantees=guarantees,
        policy=policy,
        notes=(*original.source.notes, *notes),
        suppressed={name: n for name, n in lost.items() if n},
        findings=suppression_findings(len(original), len(published), policy),
        form=form,
        items={
            "items": original.n_occurring,
            "items_out": len(published.names),
            "places": len(original.items),
            "places_out": len(published.items),
        },
        labels=made.labels,
        _original=original,
        _evidence=made.evidence,
        _file=file,
        _like=like,
        _held_out=held_out,
    )


def _notes(original: Sparse, seed: int | None) -> list[str]:
    notes = []
    if original.source.format in ("text", "folder"):
        notes.append(
            "texts are published as bags of words, in no order and without stop words: nobody can read them as texts"
        )
    if original.persons is not None:
        n_persons, whose = len(np.unique(original.persons)), "" if original.labels is None else " of a class"
        notes.append(
            f"the {len(original):,} records are of {n_persons:,} persons, whose records{whose} were joined: a "
            "published record is of all that a person holds, and records are counted as persons"
        )
    if not original.is_binary:
        notes.append("weights of items were left out: they would tell records apart that hold the same items")
    if seed is not None:
        notes.append("a seed was given, and nothing here is drawn at random: the release is the same without it")
    return notes


def _form(original: Sparse, published: Sparse | Disassociated) -> RecordForm:
    if not isinstance(published, Disassociated):
        return published_form(published)
    names = (*published.names, *published.classes)
    delimiter = fitting_delimiter(names, original.source.delimiter, is_cell=False)
    return RecordForm("baskets", None if delimiter == " " else delimiter, gzip=original.source.gzip)


def _write_and_check(
    made: _Made, form: RecordForm, policy: SparsePolicy
) -> tuple[CheckedFile, tuple[Sparse | Disassociated, tuple[Guarantee, ...]]]:
    """Write records, and run the checker on the file as any reader would see it."""
    published = made.published

    def write(path: Path) -> None:
        if isinstance(published, Disassociated):
            write_disassociated(published, path, form.delimiter, packed=form.gzip)
        else:
            write_records(published, path, form)

    def check(path: Path) -> tuple[Sparse | Disassociated, tuple[Guarantee, ...]]:
        read: Sparse | Disassociated
        if isinstance(published, Disassociated):
            read = read_disassociated(path, form.delimiter, has_classes=published.labels is not None)
        else:
            read = read_records(path, form, has_classes=published.labels is not None)
        if not _is_same(read, published) or not is_in_order(read):
            raise NotVerified("the written file does not read back as what was made; nothing was published")
        verdict = verify_km(read, km_asked(policy, made.labels), made.evidence)
        refuse_failed(verdict)
        return replace(read, source=published.source), verdict.guarantees

    if isinstance(published, Disassociated):
        return checked_file(f"data.dat{'.gz' * form.gzip}", write, check)
    return checked_file(record_file_name(published, form), write, check)


def _is_same(one: Sparse | Disassociated, other: Sparse | Disassociated) -> bool:
    """Whether two agree in everything but where they come from."""
    names = [name for name in vars(one) if not name.startswith("_") and name != "source"]
    return type(one) is type(other) and all(_equal(getattr(one, n), getattr(other, n)) for n in names)


def _equal(one: Any, other: Any) -> bool:
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else bool(one == other)
