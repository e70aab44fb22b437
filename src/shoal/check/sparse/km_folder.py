"""Check a published folder of k^m-anonymous records that may have been edited: its files alone are enough."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.check.folder import FolderCheck, PublishedFolder, false_claims, not_compared
from shoal.check.sparse.folder import edits_of_records, false_counts_of_records, is_sorted_by_items
from shoal.check.sparse.km import KMAsked, KMEvidence, verify_km
from shoal.data.sparse.disassociated import Disassociated, read_disassociated
from shoal.data.sparse.records import Sparse, assemble
from shoal.data.sparse.written import read_records

if TYPE_CHECKING:
    from shoal.kinds.sparse.manifest import KMManifest
    from shoal.kinds.sparse.policy import SparsePolicy

NOT_TRACED = "which original each published record is of"


def check_km(
    folder: PublishedFolder, manifest: KMManifest, original: Sparse | None = None, policy: SparsePolicy | None = None
) -> FolderCheck:
    """Recompute every guarantee of k^m-anonymous records; the parameters are those of `check_sparse`."""
    published = published_km(folder, manifest)
    findings = edits_of_records(folder, manifest, published, is_in_order=is_in_order(published))
    if original is not None:
        original = one_a_person(original)
    evidence = KMEvidence(None if original is None else as_published(original, manifest.labels))
    asked = km_asked(policy or manifest.policy, manifest.labels)
    claimed = km_asked(manifest.policy, manifest.labels)
    verdict = verify_km(published, asked, evidence)
    findings += verdict.findings
    findings += false_counts_of_records(manifest, published, original, "published records")
    held = verdict if asked == claimed else verify_km(published, claimed, evidence)
    findings += false_claims(manifest, held.guarantees, held, is_complete=True)
    loose = (*not_compared(manifest), *([] if original is None else [NOT_TRACED]))
    return FolderCheck(verdict.guarantees, tuple(findings), original is not None, verdict.unverified, loose)


def one_a_person(original: Sparse) -> Sparse:
    """Each person's records, of a class, as one: a sum of rows, in which what is not 0 counts as 1."""
    if original.persons is None:
        return original
    from scipy.sparse import csr_array

    classes = np.zeros(len(original), np.int64) if original.labels is None else original.labels.astype(np.int64)
    order = np.lexsort((original.persons, classes))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(classes[order]) != 0) | (np.diff(original.persons[order]) != 0)
    owner = np.cumsum(is_first) - 1
    shape = (len(original), original.n_items)
    held = csr_array((np.ones(len(original.items)), original.items, original.starts), shape=shape)
    member = csr_array((np.ones(len(order)), (owner, order)), shape=(int(is_first.sum()), len(original)))
    joined = (member @ held).tocsr()
    joined.sort_indices()
    return replace(
        original,
        starts=joined.indptr.astype(np.int64),
        items=joined.indices.astype(np.int32),
        weights=np.ones(joined.nnz, np.int64),
        labels=None if original.labels is None else original.labels[order[is_first]],
        persons=None,
    )


def published_km(folder: PublishedFolder, manifest: KMManifest) -> Sparse | Disassociated:
    """The data that a manifest names."""
    form, path = manifest.records_form, folder.data_file(manifest)
    if manifest.policy.publish == "disassociate":
        return read_disassociated(path, form.delimiter, has_classes=manifest.classes)
    return read_records(path, form, has_classes=manifest.classes)


def km_asked(policy: SparsePolicy, labels: dict[str, str]) -> KMAsked:
    """What a policy holds published records to.

    Of generalised items those labels are sensitive that stand for any sensitive item: how many of those who hold such a
    label hold that item cannot be seen, and all of them may.
    """
    assert policy.k is not None
    assert policy.m is not None
    rho = policy.rho_uncertainty
    if rho is None:
        return KMAsked(policy.k, policy.m)
    sensitive = set(rho.sensitive)
    if labels:
        sensitive = {labels[item] for item in sensitive if item in labels}
    return KMAsked(policy.k, policy.m, rho.rho, tuple(sorted(sensitive)))


def as_published(records: Sparse, labels: dict[str, str]) -> Sparse:
    """Records with the label of each item in its place, where items are generalised; an item without one is nothing."""
    if not labels:
        return records
    names = sorted(set(labels.values()))
    place = {name: i for i, name in enumerate(names)}
    codes = np.array([place.get(labels.get(name, ""), -1) for name in records.names], np.int64)[records.items]
    rows = np.repeat(np.arange(len(records)), records.sizes)[codes >= 0]
    starts = np.searchsorted(rows, np.arange(len(records) + 1)).astype(np.int64)
    made = assemble(starts, codes[codes >= 0], names, source=records.source)
    return replace(made, labels=records.labels, classes=records.classes)


def is_in_order(published: Sparse | Disassociated) -> bool:
    """Whether nothing but content tells in which order records, or the subrecords of a chunk, stand."""
    if not isinstance(published, Disassociated):
        return is_sorted_by_items(published)
    chunks = np.repeat(np.arange(len(published.firsts)), np.diff(published.chunk_starts))
    # An item of a later chunk is greater than all before, so that one comparison does for all chunks.
    width = max(len(published.names), 1)
    sizes = np.diff(published.starts)
    items = np.repeat(chunks, sizes) * width + published.items
    inside = np.ones(len(items), np.bool_)
    inside[published.starts[:-1]] = False
    ascending = bool((np.diff(items)[inside[1:]] > 0).all())
    lines = Sparse(published.starts, items, np.ones(len(items), np.int64), ())
    return ascending and is_sorted_by_items(lines)
