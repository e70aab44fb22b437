"""Check a published folder of strings that may have been edited: from its files alone, or with the original too."""

from __future__ import annotations

import numpy as np

from shoal.check.folder import FolderCheck, PublishedFolder, false_claims, false_counts, not_compared
from shoal.check.guarantee import Guarantee
from shoal.check.strings.near import NEAR_COPIES
from shoal.check.strings.verify import StringAsked, StringEvidence, verify_strings
from shoal.check.verdict import Verdict
from shoal.data.strings.files import read_strings_back
from shoal.data.strings.format import FORMATS
from shoal.data.strings.strings import Strings
from shoal.errors import DataError
from shoal.kinds.strings.manifest import StringManifest
from shoal.kinds.strings.policy import StringPolicy
from shoal.secrets import LENGTHS_FILE, PUBLISHED_GROUPS_FILE, PrivateFolder

NOT_STATED = (
    "The manifest does not say how many pseudo-strings nearly equal an original, so near copies that were put in later "
    "cannot be told from others; make the release anew."
)


def check_strings(
    folder: PublishedFolder,
    manifest: StringManifest,
    original: Strings | None = None,
    policy: StringPolicy | None = None,
    private: PrivateFolder | None = None,
) -> FolderCheck:
    """Recompute every guarantee of published strings; the parameters are those of `shoal.check.sparse.check_sparse`."""
    published = published_strings(folder, manifest)
    findings = [*folder.edits(manifest), *FORMATS[manifest.format].beside(folder.path / manifest.data, manifest.source)]
    if (published.labels is not None) != manifest.classes:
        findings.append(
            "the strings have classes, of which the manifest does not know"
            if published.labels is not None
            else "the strings have no classes, and the manifest says that they do"
        )
    if original is not None and published.source.sites != original.source.sites:
        findings.append("the variants listed are not those of the original that enough persons carry")
    evidence = StringEvidence(original) if private is None else read_string_groups(private, original)
    asked = asked_of(policy or manifest.policy, manifest.near_copies)
    verdict = verify_strings(published, asked, evidence)
    unverified = verdict.unverified if manifest.near_copies is not None else (*verdict.unverified, NOT_STATED)
    n_original = None if original is None else len(original)
    findings += verdict.findings
    findings += false_counts(
        manifest, len(published), n_original, manifest.policy.k, manifest.suppressed_because, ("strings", "strings")
    )
    claimed = asked_of(manifest.policy, manifest.near_copies)
    held = verdict if asked == claimed else verify_strings(published, claimed, evidence)
    findings += false_claims(manifest, _stated(held, manifest), held)
    return FolderCheck(
        _stated(verdict, manifest), tuple(findings), original is not None, unverified, not_compared(manifest)
    )


def published_strings(folder: PublishedFolder, manifest: StringManifest) -> Strings:
    """The data that a manifest names."""
    return read_strings_back(folder.data_file(manifest), manifest.source)


def _stated(verdict: Verdict, manifest: StringManifest) -> tuple[Guarantee, ...]:
    """What was recomputed, without what manifests of earlier versions do not state."""
    return tuple(g for g in verdict.guarantees if g.model != NEAR_COPIES or manifest.near_copies is not None)


def asked_of(policy: StringPolicy, near_copies: int | None = None) -> StringAsked:
    """What a policy holds published strings to, and how many near copies the manifest tells of."""
    of_method = {"eps", "order", "support", "lengths", "copies", "generator", "window"}
    how = policy.method.model_dump(include=of_method)
    return StringAsked(k=policy.k, rare=policy.rare, near_copies=near_copies, **how)


def read_string_groups(private: PrivateFolder, original: Strings | None) -> StringEvidence:
    """Who stood together, by the files of `private/`."""
    groups, of_rows = private.published_groups(), private.lengths()
    original_groups = private.groups(len(original) if original is not None else 0)
    # A group has a member, so there are no more groups than originals: a file cannot ask for any amount of memory.
    if len(of_rows) != len(groups) or groups.min() < 0 or groups.max() >= len(original_groups):
        raise DataError(
            f"{private.path / LENGTHS_FILE} does not fit {PUBLISHED_GROUPS_FILE}; restore both from the release"
        )
    lengths = np.zeros(int(groups.max()) + 1, np.int64)
    lengths[groups] = of_rows
    return StringEvidence(original, original_groups, groups, lengths)
