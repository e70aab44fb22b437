"""Check a published folder of sparse records that may have been edited: from its files alone, or with the original."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Ints
from shoal.check.folder import FolderCheck, PublishedFolder, false_claims, false_counts, not_compared
from shoal.check.sparse.basket_guarantees import BasketsAsked
from shoal.check.sparse.baskets import BasketsEvidence, verify_baskets
from shoal.check.sparse.verify import SparseAsked, SparseEvidence, is_sorted, verify_sketches
from shoal.data.sparse.sketch_files import read_sketches
from shoal.data.sparse.written import read_records
from shoal.errors import DataError
from shoal.kinds.sparse.manifest import BasketManifest, SketchManifest, in_public
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.secrets import GROUPS_FILE, KEY_FILE, ROWS_FILE, PrivateFolder
from shoal.told_counts import Span

if TYPE_CHECKING:
    from typing import Literal

    from shoal.data.sparse.disassociated import Disassociated
    from shoal.data.sparse.records import Sparse
    from shoal.data.sparse.sketches import Sketches
    from shoal.kinds.sparse.manifest import KMManifest

MOST_EXACT = 250_000  # records up to which "auto" promises the nearest themselves
NEEDS_KEY = (
    "That every single number is what the signs make of its original, and nothing else, takes the key; the owner may "
    "have kept it (--private)."
)


def check_sparse(
    folder: PublishedFolder,
    manifest: SketchManifest,
    original: Sparse | None = None,
    policy: SparsePolicy | None = None,
    private: PrivateFolder | None = None,
) -> FolderCheck:
    """Recompute every guarantee of published sketches.

    Parameters
    ----------
    folder, manifest
        The folder, and what its manifest says.
    original : Sparse, optional
        All records as they came in.
    policy : SparsePolicy, optional
        What to require instead of what the manifest says. Without it the manifest is held to its own word: that it
        asks for enough is for the reader to see, or for a policy that came another way.
    private : PrivateFolder, optional
        What was kept, if rows or the key were.
    """
    published = published_sketches(folder, manifest)
    findings = folder.edits(manifest)
    if (published.labels is not None) != manifest.classes:
        findings.append("the manifest and the data do not agree on whether sketches have classes")
    if published.step != manifest.step:
        findings.append("the manifest and the data do not agree on the step of the components")
    if not is_sorted(published):
        findings.append("the sketches are not sorted by their content, so their order may tell where they come from")
    evidence = SparseEvidence(original) if private is None else read_evidence(private, original)
    received = manifest.records["in"]
    most = received.high if isinstance(received, Span) else received
    n_filled = most if original is None else int((original.sizes > 0).sum())
    asked = asked_of(policy or manifest.policy, manifest.neighbours, n_filled)
    verdict = verify_sketches(published, asked, evidence)
    findings += verdict.findings
    findings += false_counts_of_records(manifest, published, original, "sketches")
    guarantees, unverified = verdict.guarantees, verdict.unverified
    if original is not None and evidence.rows is not None and evidence.key is None:
        unverified = (*unverified, NEEDS_KEY)
    claimed = asked_of(manifest.policy, manifest.neighbours, n_filled)
    if asked != claimed:
        verdict = verify_sketches(published, claimed, evidence)
    recomputed = [in_public(g) for g in verdict.guarantees]
    findings += false_claims(manifest, recomputed, verdict, is_complete=not unverified)
    return FolderCheck(guarantees, tuple(findings), original is not None, unverified, not_compared(manifest))


def check_baskets(
    folder: PublishedFolder,
    manifest: BasketManifest,
    original: Sparse | None = None,
    policy: SparsePolicy | None = None,
    private: PrivateFolder | None = None,
) -> FolderCheck:
    """Recompute every guarantee of published pseudo-baskets; the parameters are those of `check_sparse`."""
    published = published_baskets(folder, manifest)
    findings = edits_of_records(folder, manifest, published, is_in_order=is_sorted_by_items(published))
    evidence = BasketsEvidence(original)
    if private is not None and private.holds(GROUPS_FILE):
        groups = private.groups(len(original) if original is not None else 0)
        evidence = BasketsEvidence(original, groups, private.published_groups())
    asked, claimed = baskets_asked(policy or manifest.policy), baskets_asked(manifest.policy)
    verdict = verify_baskets(published, asked, evidence)
    findings += verdict.findings
    counts_persons = bool(manifest.policy.input.person)
    findings += false_counts_of_records(manifest, published, original, "pseudo-baskets", counts_persons=counts_persons)
    held = verdict if asked == claimed else verify_baskets(published, claimed, evidence)
    findings += false_claims(manifest, held.guarantees, held, is_complete=not held.unverified)
    return FolderCheck(
        verdict.guarantees, tuple(findings), original is not None, verdict.unverified, not_compared(manifest)
    )


def false_counts_of_records(
    manifest: SketchManifest | BasketManifest | KMManifest,
    published: Sketches | Sparse | Disassociated,
    original: Sparse | None,
    noun: str,
    *,
    counts_persons: bool = False,
) -> list[str]:
    """What is wrong with the numbers of records that the manifest tells; `noun` is what published ones are called."""
    return false_counts(
        manifest,
        len(published),
        None if original is None else len(original),
        manifest.policy.least_told,
        manifest.suppressed_because,
        (noun, "records"),
        counts_persons=counts_persons,
    )


def edits_of_records(
    folder: PublishedFolder,
    manifest: BasketManifest | KMManifest,
    published: Sparse | Disassociated,
    *,
    is_in_order: bool,
) -> list[str]:
    """What shows that files were changed, that classes came or went, or that the order of records tells of them."""
    findings = folder.edits(manifest)
    if (published.labels is not None) != manifest.classes:
        findings.append("the manifest and the data do not agree on whether records have classes")
    if not is_in_order:
        findings.append("the records are not sorted by their items, so their order may tell where they come from")
    return findings


def published_baskets(folder: PublishedFolder, manifest: BasketManifest) -> Sparse:
    """The data that a manifest names."""
    return read_records(folder.data_file(manifest), manifest.records_form, has_classes=manifest.classes)


def baskets_asked(policy: SparsePolicy) -> BasketsAsked:
    """What a policy holds published pseudo-baskets to."""
    assert policy.k is not None
    return BasketsAsked(policy.k, policy.method.support)


def is_sorted_by_items(published: Sparse) -> bool:
    """Whether records ascend by their items, a shorter one before one that it begins."""
    order = np.arange(len(published))
    sizes = published.sizes
    width = int(sizes.max(initial=0))
    left = np.ones(max(len(order) - 1, 0), bool)  # neighbours that agree so far
    for j in range(width):
        if not left.any():
            break
        at = np.flatnonzero(left)
        one, other = (_item_at(published, sizes, rows, j) for rows in (at, at + 1))
        if (one > other).any():
            return False
        left[at[one != other]] = False
        left[at[(one == other) & (one < 0)]] = False
    return True


def _item_at(records: Sparse, sizes: Ints, rows: Ints, place: int) -> Ints:
    """The item of records at a place; -1 behind the last."""
    has = sizes[rows] > place
    found = np.full(len(rows), -1, np.int64)
    found[has] = records.items[records.starts[:-1][rows[has]] + place]
    return found


def published_sketches(folder: PublishedFolder, manifest: SketchManifest) -> Sketches:
    """The data that a manifest names."""
    return read_sketches(folder.data_file(manifest))


def asked_of(
    policy: SparsePolicy, neighbours: Literal["exact", "partition"] | None, n_filled: int | None = None
) -> SparseAsked:
    """What a policy holds published sketches to.

    How neighbours were found is the manifest's word; it counts only where the policy leaves it open, and of the number
    of records with items, if that is known, where "auto" does.
    """
    method, near = policy.method, policy.k_variance
    is_few = method.neighbours == "auto" and n_filled is not None and n_filled <= MOST_EXACT
    return SparseAsked(
        delta=policy.delta,
        k=None if near is None else near.k,
        threshold="sqrt" if near is None else near.threshold,
        variance="smaller" if near is None else near.variance,
        metric=method.metric,
        max_components=method.max_components,
        recovery_cap=method.recovery_cap,
        recovery_share=method.recovery_share,
        rare=method.rare,
        coarse_counts=method.coarse_counts,
        group_size=policy.k if method.unit == "group" else None,
        neighbours="exact" if neighbours is None or method.neighbours == "exact" or is_few else neighbours,
    )


def read_evidence(private: PrivateFolder, original: Sparse | None) -> SparseEvidence:
    """What a release kept in `private/`: rows, the key, groups, and neighbours that were not found exactly."""
    if not private.holds(ROWS_FILE, KEY_FILE):
        raise DataError(
            f"{private.path} has neither {ROWS_FILE} nor {KEY_FILE}; they are kept only where a release is made with "
            "--keep rows,key"
        )
    groups = private.groups(len(original)) if original is not None and private.holds(GROUPS_FILE) else None
    return SparseEvidence(original, private.rows(), private.key(), private.neighbours(), groups)
