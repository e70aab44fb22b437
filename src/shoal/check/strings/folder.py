"""Check a published folder of strings that may have been edited: from its files alone, or with the original too."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from shoal._version import __version__
from shoal.check.claims import wrong_claims
from shoal.check.evidence import GROUPS_FILE, PUBLISHED_GROUPS_FILE, read_labels
from shoal.check.guarantee import Guarantee, count
from shoal.check.strings.near import NEAR_COPIES
from shoal.check.strings.verify import StringAsked, StringEvidence, verify_strings
from shoal.check.tables.folder import (
    FolderCheck,
    data_file,
    edited_files,
    edited_manifest,
    not_compared,
    published_folder,
)
from shoal.check.verdict import Verdict
from shoal.data.strings.alphabets import LEARNED
from shoal.data.strings.files import read_strings, read_strings_back
from shoal.data.strings.strings import Strings
from shoal.data.tables.files import read_table
from shoal.data.tables.write import unguarded
from shoal.data.whole_text import load_text
from shoal.errors import DataError, PolicyError
from shoal.kinds.strings.manifest import StringManifest
from shoal.kinds.strings.policy import StringPolicy
from shoal.told_counts import contradictions, may_be, n_published

LENGTHS_FILE = "template-lengths.csv"
NOT_STATED = (
    "The manifest does not say how many pseudo-strings nearly equal an original, so near copies that were put in later "
    "cannot be told from others; make the release anew."
)
_NEUTRAL = re.compile(rb">pseudo_(\d{6,})( class=.*)?")


def check_string_folder(
    folder: str | Path,
    original: Strings | None = None,
    policy: StringPolicy | None = None,
    private: str | Path | None = None,
) -> FolderCheck:
    """Recompute every guarantee from a published folder of strings.

    Parameters
    ----------
    folder : path
        The `publish/` folder (a release's own folder is understood too).
    original : Strings, optional
        All strings as they came in.
    policy : StringPolicy, optional
        What to require instead of what the manifest says.
    private : path, optional
        The `private/` folder of the release, if the groups were kept.
    """
    folder = published_folder(folder)
    manifest = StringManifest.read(folder)
    path = data_file(folder, manifest.data, n_published(manifest.records))
    published = read_strings_back(path, manifest.source)
    findings = edited_files(folder, manifest.checksums, manifest.data)
    findings += edited_manifest(folder, manifest.version, manifest.to_json())
    findings += _beside_strings(path, manifest)
    if (published.labels is not None) != manifest.has_classes:
        findings.append(
            "the strings have classes, of which the manifest does not know"
            if published.labels is not None
            else "the strings have no classes, and the manifest says that they do"
        )
    evidence = StringEvidence(original)
    if private is not None:
        evidence = read_string_groups(Path(private), original)
    asked = asked_of(policy or manifest.policy, manifest.near_copies)
    verdict = verify_strings(published, asked, evidence)
    unverified = verdict.unverified if manifest.near_copies is not None else (*verdict.unverified, NOT_STATED)
    findings += [*verdict.findings, *_counts(published, original, manifest)]
    findings += _claims(published, manifest, policy, evidence, verdict)
    return FolderCheck(
        _stated(verdict, manifest), tuple(findings), original is not None, unverified, not_compared(manifest.version)
    )


def _stated(verdict: Verdict, manifest: StringManifest) -> tuple[Guarantee, ...]:
    """What was recomputed, without what manifests of earlier versions do not state."""
    return tuple(g for g in verdict.guarantees if g.model != NEAR_COPIES or manifest.near_copies is not None)


def _claims(
    published: Strings,
    manifest: StringManifest,
    policy: StringPolicy | None,
    evidence: StringEvidence,
    verdict: Verdict,
) -> list[str]:
    """What is wrong with the guarantees of the manifest, held against what it says itself to require."""
    claimed = asked_of(manifest.policy, manifest.near_copies)
    if policy is not None and asked_of(policy, manifest.near_copies) != claimed:
        verdict = verify_strings(published, claimed, evidence)
    return wrong_claims(
        manifest.guarantees,
        _stated(verdict, manifest),
        is_complete=not verdict.unverified,
        are_words_known=manifest.version == __version__,
    )


def asked_of(policy: StringPolicy, near_copies: int | None = None) -> StringAsked:
    """What a policy holds published strings to, and how many near copies the manifest tells of."""
    method = policy.method
    return StringAsked(
        policy.k, method.eps, method.order, method.support, policy.rare, method.lengths, method.copies, near_copies
    )


def read_original(
    folder: str | Path,
    original: str | Path,
    policy: StringPolicy | None = None,
    label: str | None = None,
    header: str | None = None,
) -> Strings:
    """Read the original of a published folder as it was read for the release.

    The expression that finds classes in FASTA descriptions is in no manifest, so it is given here or by the policy.
    """
    source = StringManifest.read(published_folder(folder)).source
    expression = label if label is not None else policy.input.label if policy is not None else None
    if expression is not None and source.format != "fasta":
        raise PolicyError("an expression for the class is for FASTA descriptions, and these strings are not FASTA")
    return read_strings(
        original,
        format=source.format,
        label=expression,
        column=source.column,
        class_column=source.class_column,
        alphabet=(policy.input.alphabet if policy is not None else None) or source.alphabet or LEARNED,
        delimiter=source.delimiter,
        header=header if header is not None else source.header,
    )


def groups_files(evidence: StringEvidence) -> dict[str, str]:
    """The files that keep the groups in `private/`, by name; rows are counted from 1."""
    groups, original_groups, lengths = evidence.published_groups, evidence.original_groups, evidence.template_lengths
    assert groups is not None
    assert original_groups is not None
    assert lengths is not None
    original = (f"{i},{g}" for i, g in enumerate(original_groups.tolist(), start=1) if g >= 0)
    published = (f"{i},{g}" for i, g in enumerate(groups.tolist(), start=1))
    of_rows = (f"{i},{n}" for i, n in enumerate(lengths[groups].tolist(), start=1))
    return {
        GROUPS_FILE: "\n".join(["original_row,group", *original, ""]),
        PUBLISHED_GROUPS_FILE: "\n".join(["published_row,group", *published, ""]),
        LENGTHS_FILE: "\n".join(["published_row,length", *of_rows, ""]),
    }


def read_string_groups(private: Path, original: Strings | None) -> StringEvidence:
    """What `groups_files` kept in `private/`."""
    if private.joinpath("private", GROUPS_FILE).is_file():
        private = private / "private"
    groups = read_labels(private / PUBLISHED_GROUPS_FILE, 0)
    of_rows = read_labels(private / LENGTHS_FILE, 0)
    original_groups = read_labels(private / GROUPS_FILE, len(original) if original is not None else 0)
    # A group has a member, so there are no more groups than originals: a file cannot ask for any amount of memory.
    if len(of_rows) != len(groups) or groups.min() < 0 or groups.max() >= len(original_groups):
        raise DataError(f"{private / LENGTHS_FILE} does not fit {PUBLISHED_GROUPS_FILE}; restore both from the release")
    lengths = np.zeros(int(groups.max()) + 1, np.int64)
    lengths[groups] = of_rows
    return StringEvidence(original, original_groups, groups, lengths)


def _beside_strings(path: Path, manifest: StringManifest) -> list[str]:
    """Whatever the file holds besides strings and classes: descriptions, or columns."""
    if manifest.source.format == "fasta":
        lines = [line.rstrip(b"\r") for line in load_text(path).data.split(b"\n")]
        shown = (line for line in lines if line.startswith(b">"))
        named = sum(not _is_neutral(line, row) for row, line in enumerate(shown, start=1))
        named += sum(line.startswith(b";") for line in lines)
        return [f"{count(named, 'description')} in {manifest.data} cannot come from a release"] if named else []
    if manifest.source.format == "column":
        delimiter = manifest.source.table.delimiter if manifest.source.table is not None else None
        names = [unguarded(n) for n in read_table(path, markers=(), delimiter=delimiter, header="first").names]
        strangers = [n for n in names if n not in (manifest.source.column, manifest.source.class_column)]
        return [f"the data has a column {n!r} that the manifest does not know" for n in strangers]
    return []


def _is_neutral(line: bytes, row: int) -> bool:
    """Whether a description tells no more than the row, counted from 1, and a class."""
    match = _NEUTRAL.fullmatch(line)
    return match is not None and match[1].lstrip(b"0") == str(row).encode()


def _counts(published: Strings, original: Strings | None, manifest: StringManifest) -> list[str]:
    """Numbers that do not add up."""
    records = manifest.records
    findings = []
    if len(published) != records["out"]:
        findings.append(f"there are {len(published):,} strings, the manifest says {records['out']:,}")
    findings += contradictions(records, manifest.policy.k, manifest.suppressed, "strings")
    if original is not None and not may_be(records["in"], len(original)):
        findings.append(f"the original has {len(original):,} strings, the manifest says {records['in']:,}")
    return findings
