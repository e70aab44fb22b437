"""Check a published folder of sketches that may have been edited: from its files alone, or with the original too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.check.folder import FolderCheck, PublishedFolder, false_claims, false_counts, not_compared
from shoal.check.sparse.verify import SparseAsked, SparseEvidence, is_sorted, verify_sketches
from shoal.data.sparse.sketch_files import read_sketches
from shoal.errors import DataError
from shoal.kinds.sparse.manifest import SparseManifest, in_public
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.secrets import KEY_FILE, ROWS_FILE, PrivateFolder
from shoal.told_counts import Span

if TYPE_CHECKING:
    from typing import Literal

    from shoal.data.sparse.records import Sparse
    from shoal.data.sparse.sketches import Sketches

MOST_EXACT = 250_000  # records up to which "auto" promises the nearest themselves
NEEDS_KEY = (
    "That every single number is what the signs make of its original, and nothing else, takes the key; the owner may "
    "have kept it (--private)."
)


def check_sparse(
    folder: PublishedFolder,
    manifest: SparseManifest,
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
    n_original, least = None if original is None else len(original), manifest.policy.least_told
    findings += verdict.findings
    findings += false_counts(
        manifest, len(published), n_original, least, manifest.suppressed_because, ("sketches", "records")
    )
    guarantees, unverified = verdict.guarantees, verdict.unverified
    if original is not None and evidence.rows is not None and evidence.key is None:
        unverified = (*unverified, NEEDS_KEY)
    claimed = asked_of(manifest.policy, manifest.neighbours, n_filled)
    if asked != claimed:
        verdict = verify_sketches(published, claimed, evidence)
    recomputed = [in_public(g) for g in verdict.guarantees]
    findings += false_claims(manifest, recomputed, verdict, is_complete=not unverified)
    return FolderCheck(guarantees, tuple(findings), original is not None, unverified, not_compared(manifest))


def published_sketches(folder: PublishedFolder, manifest: SparseManifest) -> Sketches:
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
        k=policy.k,
        threshold="sqrt" if near is None else near.threshold,
        variance="smaller" if near is None else near.variance,
        metric=method.metric,
        max_components=method.max_components,
        recovery_cap=method.recovery_cap,
        recovery_share=method.recovery_share,
        rare=method.rare,
        coarse_counts=method.coarse_counts,
        neighbours="exact" if neighbours is None or method.neighbours == "exact" or is_few else neighbours,
    )


def read_evidence(private: PrivateFolder, original: Sparse | None) -> SparseEvidence:
    """What a release kept in `private/`: rows, the key, and neighbours that were not found exactly."""
    if not private.holds(ROWS_FILE, KEY_FILE):
        raise DataError(
            f"{private.path} has neither {ROWS_FILE} nor {KEY_FILE}; they are kept only where a release is made with "
            "--keep rows,key"
        )
    return SparseEvidence(original, private.rows(), private.key(), private.neighbours())
