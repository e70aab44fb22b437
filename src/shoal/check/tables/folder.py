"""Check a published folder that may have been edited: from its files alone, or against the original too."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal._version import __version__
from shoal.check.claims import unread_entries, wrong_claims
from shoal.check.evidence import Evidence, keeps_groups, read_groups, read_rows
from shoal.check.guarantee import Guarantee
from shoal.check.tables.compare_rows import Compared, Tables, compare_kept
from shoal.check.tables.publication import check_of, needs_original, verify_publication
from shoal.check.verdict import Asked, Verdict
from shoal.data.published_file import plain_file, refuse_oversized
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.table import Table
from shoal.data.tables.write import read_back
from shoal.errors import DataError
from shoal.kinds.tables.manifest import DATASHEET, FILE_NAME, Manifest, checksum, read_content
from shoal.kinds.tables.policy import ColumnPolicy, Policy
from shoal.told_counts import contradictions, may_be, n_published, total

CompareDatasheet = Callable[[Path, Manifest, Table, Table | None], tuple[list[str], list[str]]]

MOST_DATASHEET = 16 << 20
MOST_STRANGERS = 20


@dataclass(frozen=True)
class FolderCheck:
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
    """

    guarantees: tuple[Guarantee, ...]
    findings: tuple[str, ...]
    compared: bool
    unverified: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()

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

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "holds": self.holds,
            "guarantees": [g.to_dict() for g in self.guarantees],
            "findings": list(self.findings),
            "unverified": list(self.unverified),
            "not_compared": list(self.not_compared),
            "compared_with_original": self.compared,
        }


def check_folder(
    folder: str | Path,
    original: Table | None = None,
    policy: Policy | None = None,
    private: str | Path | None = None,
    compare_datasheet: CompareDatasheet | None = None,
) -> FolderCheck:
    """Recompute every guarantee from a published folder.

    Parameters
    ----------
    folder : path
        The `publish/` folder (a release's own folder is understood too).
    original : Table, optional
        Adds the comparison of rows with records: their number, that labels cover the values that they stand for, and
        that the columns that were published as they are have the cells of the same record.
    policy : Policy, optional
        What to require instead of what the manifest says; it also says what quasi-identifying and sensitive columns
        there are, so that a manifest that forgets one is caught.
    private : path, optional
        The `private/` folder of the release, if something was kept: groups, for publications whose promise is about
        them, or rows, by which each row is compared with its own record.
    compare_datasheet : callable, optional
        Compares the datasheet with manifest and data; pages are made elsewhere, so the checker is given the function.
    """
    folder = published_folder(folder)
    manifest = Manifest.read(folder)
    markers = manifest.missing_markers if policy is None else policy.missing_markers
    table = published_table(folder, manifest, markers, None if original is None else original.n_rows)
    findings = edited_files(folder, manifest.checksums, manifest.data)
    findings += edited_manifest(folder, manifest.version, manifest.to_json())
    findings += _columns(table, manifest)
    meant = _meant(manifest)
    held = table.names if manifest.layout is None else list(meant)
    quasi = [n for n, a in meant.items() if a.role == "quasi" and n in held]
    sensitive = [n for n, a in meant.items() if a.role == "sensitive" and n in held]
    if policy is not None:
        findings += _forgotten(meant, policy)
        if set(policy.missing_markers) != set(manifest.missing_markers):
            findings.append("the manifest spells missing values otherwise than the policy does")
        findings += _looking(manifest, policy)
        quasi = _with_role(policy, held, "quasi", quasi)
        sensitive = _with_role(policy, held, "sensitive", sensitive)
    publication = _publication(manifest, policy, findings)
    evidence = Evidence(original)
    # Averages and slices can be checked without groups, though less of them; pseudo-records cannot.
    check = check_of(publication)
    if private is not None and check.uses_groups and (check.needs_groups or keeps_groups(Path(private))):
        evidence = read_groups(Path(private), original)
    attributes = _with_hierarchies(meant, original, policy)
    claimed = Asked(
        manifest.require,
        [n for n in held if n in meant and meant[n].role == "quasi"],
        [n for n in held if n in meant and meant[n].role == "sensitive"],
        manifest.missing,
        markers,
        meant if manifest.layout is None else attributes,
        manifest.layout,
        bool(manifest.method.get("jointly", False)),
        is_meaning_known=policy is not None,
    )
    asked = claimed
    if policy is not None:
        asked = replace(
            claimed,
            requirements=policy.require,
            quasi=quasi,
            sensitive=sensitive,
            missing=policy.missing,
            jointly=policy.method.jointly,
        )
    verdict = verify_publication(table, publication, asked, evidence)
    findings += verdict.findings
    findings += _claims(table, manifest, claimed, evidence, verdict if asked == claimed else None)
    if table.n_rows != manifest.records["out"]:
        findings.append(f"the data has {table.n_rows:,} rows, the manifest says {manifest.records['out']:,}")
    findings += contradictions(manifest.records, Policy(require=manifest.require).k, None, "rows")
    left = [*not_compared(manifest.version)]
    if compare_datasheet is not None and not findings:
        wrong, unseen = compare_datasheet(folder, manifest, table, original)
        findings += wrong
        left[-1:] = unseen
    left += verdict.not_compared
    if manifest.method.get("diversity") == "blind":
        left.append("whether groups were made without looking at sensitive values, which no data shows")
    if original is not None:
        findings += _counts(table, original, manifest)
        if policy is not None and original.n_rows - table.n_rows > int(policy.method.suppression * original.n_rows):
            findings.append("more records were left out than the policy allows")
        asked = replace(asked, attributes=attributes)
        compared = _compare(table, manifest, asked, publication, original, evidence, private)
        findings += compared.findings
        left += compared.not_compared
    return FolderCheck(verdict.guarantees, tuple(findings), original is not None, verdict.unverified, tuple(left))


def not_compared(version: str) -> tuple[str, ...]:
    """What is compared with nothing in a folder of any kind."""
    words = f"the words of the manifest, which another version than {__version__} wrote"
    return (*([] if version == __version__ else [words]), f"the words and pictures of {DATASHEET}")


def published_table(
    folder: Path, manifest: Manifest, markers: Sequence[str] | None = None, n_most: int | None = None
) -> Table:
    """The data that a manifest names, if it is a plain file of a size that so many rows may have.

    Parameters
    ----------
    n_most : int, optional
        No more rows than these are believed in.
    """
    n_out = n_published(manifest.records)
    n_rows = n_out if n_most is None else min(n_most, n_out)
    path = data_file(folder, manifest.data, n_rows, len(manifest.attributes))
    spelled = manifest.missing_markers if markers is None else markers
    return read_back(path, manifest.attributes, markers=spelled, delimiter=manifest.delimiter)


def data_file(folder: Path, name: str, n_rows: int, n_columns: int = 0) -> Path:
    """The path of a release's data, if it can be read without harm; see `refuse_oversized`."""
    try:
        refuse_oversized(folder / name, n_rows, n_columns)
    except FileNotFoundError:
        raise DataError(f"{folder} has no {name}, which its manifest names; restore it from the release") from None
    except OSError as error:
        raise DataError(f"{folder / name} cannot be read ({error.strerror}); restore it from the release") from None
    return folder / name


def markers_of(folder: str | Path) -> tuple[str, ...]:
    """How the manifest of a published folder says that missing values are spelled: the original is to be read so."""
    return Manifest.read(published_folder(folder)).missing_markers


def header_of(folder: str | Path) -> str | None:
    """How the first line of the original was read, by the manifest of a published folder."""
    return Manifest.read(published_folder(folder)).header


def published_folder(folder: str | Path) -> Path:
    """The `publish/` folder, where a release's own folder is given too."""
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(f"there is no folder {folder}; give the publish/ folder of a release")
    if not (folder / FILE_NAME).exists() and (folder / "publish" / FILE_NAME).exists():
        return folder / "publish"
    return folder


def _meant(manifest: Manifest) -> dict[str, Attribute]:
    """What the columns of the original are, by their names there."""
    if manifest.layout is None:
        return dict(manifest.attributes)
    return {a: replace(manifest.attributes[c], name=a) for c, a in manifest.layout.attributes.items()}


def _with_hierarchies(
    meant: Mapping[str, Attribute], original: Table | None, policy: Policy | None
) -> Mapping[str, Attribute]:
    """The same, with the policy's orders and hierarchies and automatic ones: without them labels cannot be read."""
    if original is None or not all(n in original.columns for n in meant):
        return meant
    columns = {n: ColumnPolicy(role=a.role, type=a.type, order=a.order) for n, a in meant.items()}
    given = {n: c for n, c in policy.columns.items() if n in meant} if policy is not None else {}
    found = attributes_of(original.select(list(meant)), Policy(columns={**columns, **given}))
    return {
        n: replace(a, order=a.order or found[n].order, hierarchy=a.hierarchy or found[n].hierarchy)
        for n, a in meant.items()
    }


def _publication(manifest: Manifest, policy: Policy | None, findings: list[str]) -> str:
    """What the table is checked as: what the policy asks for, if there is one, else what the manifest says."""
    said = str(manifest.method.get("publish", ""))
    if policy is None or not (needs_original(said) or needs_original(policy.method.publication)):
        return said
    wanted = policy.method.publication
    if said != wanted:
        findings.append(f"the manifest says publish = {said!r}, the policy asks for {wanted!r}")
    return wanted


def _looking(manifest: Manifest, policy: Policy) -> list[str]:
    """Whether sensitive values decided more about groups than the policy allows."""
    said, wanted = str(manifest.method.get("diversity", "local")), policy.method.diversity
    if wanted != "blind" or said == wanted:
        return []
    return [f"the manifest says diversity = {said!r}, the policy asks for {wanted!r}"]


def edited_files(folder: Path, checksums: Mapping[str, str], data: str) -> list[str]:
    """What differs from the files that a release has: its data, the datasheet and the manifest."""
    findings = []
    for name in (data, DATASHEET):
        try:
            size = plain_file(folder / name).st_size
            if name not in checksums:
                findings.append(f"the manifest has no checksum of {name}")
            elif name == DATASHEET and size > MOST_DATASHEET:
                findings.append(f"{name} is larger than a release makes it")
            elif checksum(folder / name) != checksums[name]:
                findings.append(f"{name} was changed after the release: its checksum differs from the manifest's")
        except DataError as error:
            findings.append(str(error))
        except OSError:
            findings.append(f"{name} is part of a release but not in the folder")
    strangers = [n for n in checksums if n not in (data, DATASHEET)]
    findings += [f"the manifest lists {n}, which is no file of a release" for n in strangers[:MOST_STRANGERS]]
    with os.scandir(folder) as entries:
        strangers = sorted(e.name for e in entries if e.name not in (data, DATASHEET, FILE_NAME))
    findings += [f"{n} is in the folder but not part of the release" for n in strangers[:MOST_STRANGERS]]
    if len(strangers) > MOST_STRANGERS:
        findings.append(f"{len(strangers) - MOST_STRANGERS:,} more files are in the folder but not part of the release")
    return findings


def edited_manifest(folder: Path, version: str, text: str) -> list[str]:
    """What a manifest of this version holds beyond what was read of it, which would be `text`."""
    return unread_entries(read_content(folder), json.loads(text)) if version == __version__ else []


def _claims(table: Table, manifest: Manifest, claimed: Asked, evidence: Evidence, verdict: Verdict | None) -> list[str]:
    """What is wrong with the guarantees of the manifest, held against what it says itself to require."""
    if verdict is None:
        if not claimed.quasi:
            return ["the manifest names no quasi-identifier that the data has"]
        verdict = verify_publication(table, str(manifest.method.get("publish", "")), claimed, evidence)
    is_known = manifest.version == __version__
    return wrong_claims(
        manifest.guarantees, verdict.guarantees, is_complete=not verdict.unverified, are_words_known=is_known
    )


def _columns(table: Table, manifest: Manifest) -> list[str]:
    unknown = [n for n in table.names if n not in manifest.attributes]
    absent = [n for n in manifest.attributes if n not in table.columns]
    findings = [f"the data has a column {n!r} that the manifest does not know" for n in unknown]
    return findings + [f"the data lacks the column {n!r} of the manifest" for n in absent]


def _forgotten(meant: Mapping[str, Attribute], policy: Policy) -> list[str]:
    findings = []
    for name, published in meant.items():
        role = _role(policy, name)
        if role == "identifying":
            findings.append(f"the column {name!r} is identifying by the policy but was published")
        elif role is not None and role != published.role:
            findings.append(f"the column {name!r} is {role} by the policy but {published.role} by the manifest")
        column = policy.columns.get(name)
        if column is not None and column.type not in (None, published.type):  # by which distances are chosen
            findings.append(f"the column {name!r} is {column.type} by the policy but {published.type} by the manifest")
    return findings


def _with_role(policy: Policy, held: Sequence[str], role: str, names: Sequence[str]) -> list[str]:
    given = [n for n in held if _role(policy, n) == role]
    return [*names, *(n for n in given if n not in names)]


def _role(policy: Policy, name: str) -> str | None:
    """The role that a policy gives a column, by its name or as one of all others."""
    column = policy.columns.get(name) or policy.columns.get("*")
    return column.role if column is not None else None


def _counts(table: Table, original: Table, manifest: Manifest) -> list[str]:
    """Rows that do not add up."""
    findings = []
    n_in, n_suppressed = manifest.records["in"], manifest.records["suppressed"]
    if not may_be(n_in, original.n_rows):
        findings.append(f"the original has {original.n_rows:,} rows, the manifest says {n_in:,}")
    if not may_be(total([table.n_rows, n_suppressed]), original.n_rows):
        findings.append(
            f"{table.n_rows:,} published and {n_suppressed:,} suppressed rows do not make "
            f"the original's {original.n_rows:,}"
        )
    if table.n_rows > original.n_rows:
        findings.append(f"the data has {table.n_rows:,} rows, the original {original.n_rows:,}")
    return findings


def _compare(
    table: Table,
    manifest: Manifest,
    asked: Asked,
    publication: str,
    original: Table,
    evidence: Evidence,
    private: str | Path | None,
) -> Compared:
    """Compare the rows with the records that they stand for."""
    if manifest.layout is not None:  # what stands in slices is compared bucket by bucket
        return Compared()
    names = [n for n in manifest.attributes if n in table.columns]
    absent = [n for n in names if n not in original.columns]
    if absent:
        return Compared(tuple(f"the column {n!r} is not in the original" for n in absent))
    kept = tuple(n for n in names if n not in asked.quasi)
    quasi = tuple(n for n in names if n in asked.quasi)
    rows = None if private is None else read_rows(Path(private))
    tables = Tables(table, original, asked.attributes, quasi, kept, asked.markers, asked.is_meaning_known, rows)
    findings = [
        f"the column {n!r} holds cells that the original does not have, or more of them"
        for n in kept
        if compare_kept(replace(tables, kept=(n,)))
    ]
    if findings:
        return Compared(tuple(findings))
    return check_of(publication).compare(tables, evidence, manifest.method)
