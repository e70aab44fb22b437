"""A published folder that may have been edited, of whatever kind: its files, its manifest, and what a check says of it.

What is compared of the data itself is for `check/tables`, `check/strings` and `check/sparse`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal._version import __version__
from shoal.check.claims import unread_entries, wrong_claims
from shoal.check.finding import Finding
from shoal.check.guarantee import Guarantee
from shoal.check.verdict import Verdict
from shoal.data.published_file import plain_file, refuse_oversized
from shoal.errors import DataError
from shoal.manifest import DATASHEET, FILE_NAME, Manifest, checksum, read_content
from shoal.metadata.files import metadata_files
from shoal.secrets import PrivateFolder
from shoal.shown import Grid, Shown
from shoal.told_counts import Count, contradictions, may_be

MOST_DATASHEET = 16 << 20
MOST_STRANGERS = 20


@dataclass(frozen=True, repr=False)
class FolderCheck(Shown):
    """What the check of a folder found.

    Attributes
    ----------
    guarantees : tuple of Guarantee
        Recomputed from the data file, whatever the manifest claims.
    findings : tuple of str
        Everything else that is wrong, a sentence each.
    compared : bool
        Whether the original was there to compare with.
    unverified : tuple of str
        What is promised but could not be recomputed, a sentence each that says what is needed for it.
    not_compared : tuple of str
        What else the folder holds or says that was not compared with anything, a phrase each; nothing is promised of it
        that was not recomputed.
    measured : tuple of Finding
        What was measured on the data and no guarantee forbids; what is serious of it is among the findings.
    """

    guarantees: tuple[Guarantee, ...]
    findings: tuple[str, ...]
    compared: bool
    unverified: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()
    measured: tuple[Finding, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether something is wrong, whatever else could not be verified."""
        return bool(self.findings) or not all(g.holds for g in self.guarantees)

    @property
    def holds(self) -> bool:
        """Whether all that is promised was recomputed and holds, and nothing that was compared is wrong."""
        return not self.fails and not self.unverified

    @property
    def is_whole(self) -> bool:
        """Whether it holds and nothing in the folder was left uncompared: it is what it claims to be."""
        return self.holds and self.compared and not self.not_compared

    def shown(self) -> list[str | Grid]:
        """A line for each thing that was recomputed or compared, or was not; the last says no more than that."""
        accepted = [m for m in self.measured if m.is_above and m.accepted is not None]
        lines = [
            *(f"  {'holds' if g.holds else 'FAILS'}  {g.sentence}" for g in self.guarantees),
            *(f"  FAILS  {finding}" for finding in self.findings),
            *(f"  accepted  {m.sentence} The reason given: {m.accepted}" for m in accepted),
            *(f"  not verified  {sentence}" for sentence in self.unverified),
            *(f"  not compared  {what}" for what in self.not_compared),
        ]
        if not self.compared:
            lines.append(
                "  not compared  any row with the record that it stands for; give the original with --original"
            )
        # A folder may be hostile: nothing that it holds begins a line of its own.
        return [*(line.replace("\n", "\\n") for line in lines), self._conclusion]

    @property
    def _conclusion(self) -> str:
        if self.fails:
            return "The folder is NOT what it claims to be."
        if not self.holds:
            return "Nothing is wrong with what was checked, but not all that the folder claims could be verified."
        if not self.is_whole:
            return "All guarantees hold, and all that was compared is right; not everything was compared."
        return "The folder is what it claims to be."

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "holds": self.holds,
            "guarantees": [g.to_dict() for g in self.guarantees],
            "findings": list(self.findings),
            "unverified": list(self.unverified),
            "not_compared": list(self.not_compared),
            "measured": [f.to_dict() for f in self.measured],
            "compared_with_original": self.compared,
        }


@dataclass(frozen=True)
class PublishedFolder:
    """The `publish/` folder of a release, with what its manifest holds, which is read once."""

    path: Path
    content: Any
    is_release: bool = False
    """Whether the release's own folder was given, with `private/` beside it."""

    @classmethod
    def open(cls, path: str | Path) -> PublishedFolder:
        """The folder at a path, where a release's own folder is understood too."""
        folder = Path(path)
        if not folder.is_dir():
            raise DataError(f"there is no folder {folder}; give the publish/ folder of a release")
        is_release = not (folder / FILE_NAME).exists() and (folder / "publish" / FILE_NAME).exists()
        if is_release:
            folder = folder / "publish"
        return cls(folder, read_content(folder), is_release)

    def private(self, original: Any) -> PrivateFolder | None:
        """What lies beside it: for whoever gave the release's own folder, or has the original, and so is the owner."""
        beside = self.path.absolute().parent / "private"
        is_owner = self.is_release or (original is not None and self.path.absolute().name == "publish")
        return PrivateFolder(beside, is_given=False) if is_owner and beside.is_dir() else None

    @property
    def kind(self) -> str:
        """What kind of data the manifest says that it holds; "" where it says nothing."""
        kind = self.content.get("kind") if isinstance(self.content, dict) else None
        return kind if isinstance(kind, str) else ""

    def data_file(self, manifest: Manifest, n_most: int | None = None, n_columns: int = 0) -> Path:
        """The path of the data, if it can be read without harm; see `refuse_oversized`.

        Parameters
        ----------
        n_most : int, optional
            No more records than these are believed in.
        """
        n_records = manifest.n_published if n_most is None else min(n_most, manifest.n_published)
        path = self.path / manifest.data
        try:
            refuse_oversized(path, n_records, n_columns)
        except FileNotFoundError:
            raise DataError(
                f"{self.path} has no {manifest.data}, which its manifest names; restore it from the release"
            ) from None
        except OSError as error:
            raise DataError(f"{path} cannot be read ({error.strerror}); restore it from the release") from None
        return path

    def edits(self, manifest: Manifest) -> list[str]:
        """What differs from the files that a release has (data, datasheet and manifest), and from its manifest."""
        ours = (*manifest.files, DATASHEET, *manifest.metadata)
        findings = [finding for name in ours for finding in self._edits_of(name, manifest)]
        findings += self._false_metadata(manifest) if not findings else []
        strangers = [n for n in manifest.checksums if n not in ours]
        findings += [f"the manifest lists {n}, which is not a file of a release" for n in strangers[:MOST_STRANGERS]]
        with os.scandir(self.path) as entries:
            strangers = sorted(e.name for e in entries if e.name not in (*ours, FILE_NAME))
        findings += [f"{n} is in the folder but not part of the release" for n in strangers[:MOST_STRANGERS]]
        if len(strangers) > MOST_STRANGERS:
            more = len(strangers) - MOST_STRANGERS
            findings.append(f"{more:,} more files are in the folder but not part of the release")
        if manifest.is_of_this_version:
            findings += unread_entries(self.content, manifest.content())
        return findings

    def _false_metadata(self, manifest: Manifest) -> list[str]:
        """Files for machines that do not say what the manifest says; another version may word them otherwise."""
        if not manifest.metadata or not manifest.is_of_this_version:
            return []
        said = metadata_files(manifest)
        if manifest.metadata != tuple(said):
            return ["the manifest lists some of the files for machines, and a release has all of them or none"]
        return [
            f"{name} does not say what the manifest says"
            for name in manifest.metadata
            if (self.path / name).read_bytes() != said[name].encode()
        ]

    def _edits_of(self, name: str, manifest: Manifest) -> list[str]:
        path, told = self.path / name, manifest.checksums
        try:
            size = plain_file(path).st_size
            if name not in told:
                return [f"the manifest has no checksum of {name}"]
            if name not in manifest.files and size > MOST_DATASHEET:
                return [f"{name} is larger than a release makes it"]
            if checksum(path) != told[name]:
                return [f"{name} was changed after the release: its checksum differs from the manifest's"]
        except DataError as error:
            return [str(error)]
        except OSError:
            return [f"{name} is part of a release but not in the folder"]
        return []


def not_compared(manifest: Manifest) -> tuple[str, ...]:
    """What is compared with nothing in a folder of any kind."""
    words = f"the words of the manifest, which another version than {__version__} wrote"
    return (*([] if manifest.is_of_this_version else [words]), f"the words and pictures of {DATASHEET}")


def false_claims(
    manifest: Manifest, recomputed: Sequence[Guarantee], verdict: Verdict, *, is_complete: bool = True
) -> list[str]:
    """What is wrong with the guarantees of the manifest, held against what it says itself to require."""
    return wrong_claims(
        manifest.guarantees,
        recomputed,
        is_complete=is_complete and not verdict.unverified,
        are_words_known=manifest.is_of_this_version,
    )


def false_counts(
    manifest: Manifest,
    n_published: int,
    n_original: int | None,
    k: int,
    reasons: dict[str, Count] | None,
    nouns: tuple[str, str],
    *,
    counts_persons: bool = False,
) -> list[str]:
    """Numbers of records that do not add up; the nouns are what is published, and what came in.

    Where reasons for suppression are not told, they are None.
    """
    published, came = nouns
    findings = []
    if n_published != manifest.records["out"]:
        findings.append(f"there are {n_published:,} {published}, the manifest says {manifest.records['out']:,}")
    findings += contradictions(manifest.records, k, reasons, came, counts_persons=counts_persons)
    if n_original is not None and not may_be(manifest.records["in"], n_original):
        findings.append(f"the original has {n_original:,} {came}, the manifest says {manifest.records['in']:,}")
    return findings
