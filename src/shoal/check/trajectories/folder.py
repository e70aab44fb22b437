"""Check a published folder of trajectories that may have been edited: from its files, or with the original too."""

from __future__ import annotations

from shoal.check.folder import FolderCheck, PublishedFolder, false_claims, not_compared
from shoal.check.trajectories.verify import TrajectoryAsked, TrajectoryEvidence, verify_boxes
from shoal.check.verdict import Verdict
from shoal.data.published_file import plain_file
from shoal.data.trajectories.boxes import COLUMNS, TrajectoryBoxes, read_boxes
from shoal.data.trajectories.geojson import GEOJSON, geojson_of
from shoal.data.trajectories.trajectories import Trajectories
from shoal.errors import DataError
from shoal.kinds.trajectories.manifest import TrajectoryManifest
from shoal.kinds.trajectories.policy import TrajectoryPolicy
from shoal.secrets import PrivateFolder
from shoal.told_counts import contradictions, may_be


def check_trajectories(
    folder: PublishedFolder,
    manifest: TrajectoryManifest,
    original: Trajectories | None = None,
    policy: TrajectoryPolicy | None = None,
    private: PrivateFolder | None = None,
) -> FolderCheck:
    """Recompute every guarantee of published boxes; `private` is what was kept, if groups were."""
    published = published_boxes(folder, manifest)
    findings = [*folder.edits(manifest), *_other_map(folder, manifest, published)]
    groups = None if private is None or original is None else private.groups(len(original))
    evidence = TrajectoryEvidence(original, groups)
    asked = asked_of(policy or manifest.policy)
    verdict = verify_boxes(published, asked, evidence)
    findings += verdict.findings
    if len(published) != manifest.n_published:
        findings.append(f"there are {len(published):,} trajectories, the manifest says {manifest.n_published:,}")
    reasons = manifest.suppressed_because
    findings += contradictions(manifest.records, manifest.policy.k, reasons, "trajectories", counts_persons=True)
    if original is not None and not may_be(manifest.records["in"], len(original)):
        findings.append(
            f"the original has {len(original):,} trajectories, the manifest says {manifest.records['in']:,}"
        )
    most = (policy or manifest.policy).method.suppression
    n_left_out = 0 if original is None or asked.tau is not None else len(original.time) - manifest.points
    if original is not None and n_left_out > most * len(original.time):
        findings.append(
            f"of {len(original.time):,} points {manifest.points:,} are published, and {100 * most:g} % may be left out"
        )
    if int(published.points.sum()) != manifest.points:
        findings.append(f"the boxes hold {int(published.points.sum()):,} points, the manifest says {manifest.points:,}")
    claimed = asked_of(manifest.policy)
    held: Verdict = verdict if asked == claimed else verify_boxes(published, claimed, evidence)
    findings += false_claims(manifest, held.guarantees, held)
    return FolderCheck(
        verdict.guarantees, tuple(findings), original is not None, verdict.unverified, not_compared(manifest)
    )


def _other_map(folder: PublishedFolder, manifest: TrajectoryManifest, boxes: TrajectoryBoxes) -> list[str]:
    """Whether the file for viewers says anything else than the data."""
    path, wanted = folder.path / GEOJSON, geojson_of(boxes)
    try:
        is_same = plain_file(path).st_size == len(wanted) and path.read_bytes() == wanted
    except (OSError, DataError):  # told with the files that are missing or no files
        return []
    return [] if is_same or GEOJSON not in manifest.files else [f"{GEOJSON} does not say the same as {manifest.data}"]


def published_boxes(folder: PublishedFolder, manifest: TrajectoryManifest) -> TrajectoryBoxes:
    """The data that a manifest names."""
    path = folder.data_file(manifest, n_columns=len(COLUMNS) * 64)
    return read_boxes(path, manifest.policy.method.round_grid)


def asked_of(policy: TrajectoryPolicy) -> TrajectoryAsked:
    """What a policy holds published boxes to."""
    method = policy.method
    return TrajectoryAsked(policy.k, method.metres, method.minutes, method.tau, method.piece)
