"""Check a published folder of sketches that may have been edited: from its files alone, or with the original too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from shoal._version import __version__
from shoal.check.claims import wrong_claims
from shoal.check.evidence import ROWS_FILE, read_labels, rows_text
from shoal.check.sparse.verify import SparseAsked, SparseEvidence, is_sorted, verify_sketches
from shoal.check.tables.folder import (
    FolderCheck,
    data_file,
    edited_files,
    edited_manifest,
    not_compared,
    published_folder,
)
from shoal.data.sparse.sketch_files import read_sketches
from shoal.errors import DataError
from shoal.kinds.sparse.manifest import SparseManifest, in_public
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.told_counts import Span, contradictions, may_be, n_published

if TYPE_CHECKING:
    from typing import Literal

    from shoal.data.sparse.records import Sparse
    from shoal.data.sparse.sketches import Sketches

NEIGHBOURS_FILE = "neighbours.npy"
KEY_FILE = "key.txt"
KEY_BYTES = 32
MOST_EXACT = 250_000  # records up to which "auto" promises the nearest themselves
NEEDS_KEY = (
    "That every single number is what the signs make of its original, and nothing else, takes the key; the owner may "
    "have kept it (--private)."
)


def check_sparse_folder(
    folder: str | Path,
    original: Sparse | None = None,
    policy: SparsePolicy | None = None,
    private: str | Path | None = None,
) -> FolderCheck:
    """Recompute every guarantee from a published folder of sketches.

    Parameters
    ----------
    folder : path
        The `publish/` folder (a release's own folder is understood too).
    original : Sparse, optional
        All records as they came in.
    policy : SparsePolicy, optional
        What to require instead of what the manifest says. Without it the manifest is held to its own word: that it
        asks for enough is for the reader to see, or for a policy that came another way.
    private : path, optional
        The `private/` folder of the release, if rows or the key were kept.
    """
    folder = published_folder(folder)
    manifest = SparseManifest.read(folder)
    published = published_sketches(folder, manifest)
    findings = edited_files(folder, manifest.checksums, manifest.data)
    findings += edited_manifest(folder, manifest.version, manifest.to_json())
    if (published.labels is not None) != manifest.has_classes:
        findings.append("the manifest and the data do not agree on whether sketches have classes")
    if published.step != manifest.step:
        findings.append("the manifest and the data do not agree on the step of the components")
    if not is_sorted(published):
        findings.append("the sketches are not sorted by their content, so their order may tell where they come from")
    evidence = SparseEvidence(original)
    if private is not None:
        evidence = read_secrets(Path(private), original)
    received = manifest.records["in"]
    most = received.high if isinstance(received, Span) else received
    n_filled = most if original is None else int((original.sizes > 0).sum())
    asked = asked_of(policy or manifest.policy, manifest.neighbours, n_filled)
    verdict = verify_sketches(published, asked, evidence)
    findings += [*verdict.findings, *_counts(published, original, manifest)]
    guarantees, unverified = verdict.guarantees, verdict.unverified
    if original is not None and evidence.rows is not None and evidence.key is None:
        unverified = (*unverified, NEEDS_KEY)
    claimed = asked_of(manifest.policy, manifest.neighbours, n_filled)
    if asked != claimed:
        verdict = verify_sketches(published, claimed, evidence)
    findings += wrong_claims(
        manifest.guarantees,
        [in_public(g) for g in verdict.guarantees],
        is_complete=not (unverified or verdict.unverified),
        are_words_known=manifest.version == __version__,
    )
    return FolderCheck(guarantees, tuple(findings), original is not None, unverified, not_compared(manifest.version))


def published_sketches(folder: Path, manifest: SparseManifest) -> Sketches:
    """The data that a manifest names."""
    return read_sketches(data_file(folder, manifest.data, n_published(manifest.records)))


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


def secret_files(evidence: SparseEvidence, keep: Sequence[str]) -> dict[str, str]:
    """The texts that keep secrets in `private/`, by name; rows are counted from 1."""
    files = {}
    if "rows" in keep:
        assert evidence.rows is not None
        files[ROWS_FILE] = rows_text(evidence.rows)
    if "key" in keep:
        assert evidence.key is not None
        files[KEY_FILE] = f"{evidence.key.hex()}\n"
    return files


def read_secrets(private: Path, original: Sparse | None) -> SparseEvidence:
    """What a release kept in `private/`: rows, the key, and neighbours that were not found exactly."""
    if (private / "private").is_dir():
        private = private / "private"
    has_rows, has_key = (private / ROWS_FILE).is_file(), (private / KEY_FILE).is_file()
    if not has_rows and not has_key:
        raise DataError(
            f"{private} has neither {ROWS_FILE} nor {KEY_FILE}; they are kept only where a release is made with "
            "--keep rows,key"
        )
    return SparseEvidence(
        original,
        rows=read_labels(private / ROWS_FILE, 0) - 1 if has_rows else None,
        key=read_key(private / KEY_FILE) if has_key else None,
        neighbours=_read_neighbours(private / NEIGHBOURS_FILE) if (private / NEIGHBOURS_FILE).is_file() else None,
    )


def read_key(path: str | Path) -> bytes:
    """The key of a release, as `--keep key` kept it."""
    where = Path(path)
    if where.is_dir():
        where = where / KEY_FILE
    try:
        text = where.read_text(encoding="ascii").strip()
        key = bytes.fromhex(text)
    except FileNotFoundError:
        raise DataError(f"there is no key {where}; a release keeps it only where it is made with --keep key") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a key"
        raise DataError(f"{where} cannot be read as a key ({reason}); restore it from the release") from None
    if len(key) != KEY_BYTES:
        raise DataError(f"{where} is not a key of {KEY_BYTES} bytes; restore it from the release")
    return key


def _read_neighbours(path: Path) -> npt.NDArray[np.int32]:
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        raise DataError(f"{path} cannot be read; restore it from the release") from None
    if found.ndim != 2 or found.dtype != np.int32:
        raise DataError(f"{path} is not a list of neighbours; restore it from the release")
    return np.asarray(found)


def _counts(published: Sketches, original: Sparse | None, manifest: SparseManifest) -> list[str]:
    """Numbers that do not add up."""
    records = manifest.records
    findings = []
    if len(published) != records["out"]:
        findings.append(f"there are {len(published):,} sketches, the manifest says {records['out']:,}")
    findings += contradictions(records, manifest.policy.least_told, manifest.suppressed, "records")
    if original is not None and not may_be(records["in"], len(original)):
        findings.append(f"the original has {len(original):,} records, the manifest says {records['in']:,}")
    return findings
