"""Check a published folder that may have been edited: from its files alone, or against the original too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.check.evidence import Evidence, read_groups
from shoal.check.guarantee import Guarantee
from shoal.check.publication import needs_original, uses_groups, verify_publication
from shoal.check.verdict import Asked
from shoal.data.attribute import Attribute
from shoal.data.meaning import attributes_of
from shoal.data.table import Column, Table
from shoal.data.write import read_back
from shoal.errors import DataError
from shoal.manifest import FILE_NAME, Manifest, checksum
from shoal.policy import ColumnPolicy, Policy
from shoal.told_counts import contradictions, may_be, total


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
    """

    guarantees: tuple[Guarantee, ...]
    findings: tuple[str, ...]
    compared: bool
    unverified: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether something is wrong, whatever else could not be verified."""
        return bool(self.findings) or not all(g.holds for g in self.guarantees)

    @property
    def holds(self) -> bool:
        """Whether the folder is what it claims to be; not known to be so is not so."""
        return not self.fails and not self.unverified

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "holds": self.holds,
            "guarantees": [g.to_dict() for g in self.guarantees],
            "findings": list(self.findings),
            "unverified": list(self.unverified),
            "compared_with_original": self.compared,
        }


def check_folder(
    folder: str | Path,
    original: Table | None = None,
    policy: Policy | None = None,
    private: str | Path | None = None,
) -> FolderCheck:
    """Recompute every guarantee from a published folder.

    Parameters
    ----------
    folder : path
        The `publish/` folder (a release's own folder is understood too).
    original : Table, optional
        Adds the comparison of row counts and of the columns that were published as they are.
    policy : Policy, optional
        What to require instead of what the manifest says; it also says what quasi-identifying and sensitive columns
        there are, so that a manifest that forgets one is caught.
    private : path, optional
        The `private/` folder of the release, if the groups were kept: for publications whose promise is about them.
    """
    folder = published_folder(folder)
    manifest = Manifest.read(folder)
    path = folder / manifest.data
    if not path.is_file():
        raise DataError(f"{folder} has no {manifest.data}, which its manifest names; restore it from the release")
    markers = manifest.missing_markers if policy is None else policy.missing_markers
    table = read_back(path, manifest.attributes, markers=markers, delimiter=manifest.delimiter)
    findings = edited_files(folder, manifest.checksums, manifest.data)
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
    if private is not None and uses_groups(publication):
        evidence = read_groups(Path(private), original)
    asked = Asked(
        policy.require if policy is not None else manifest.require,
        quasi,
        sensitive,
        policy.missing if policy is not None else manifest.missing,
        markers,
        meant if manifest.layout is None else _with_hierarchies(meant, original, policy),
        manifest.layout,
        policy.method.jointly if policy is not None else bool(manifest.method.get("jointly", False)),
        is_meaning_known=policy is not None,
    )
    verdict = verify_publication(table, publication, asked, evidence)
    findings += verdict.findings
    if table.n_rows != manifest.records["out"]:
        findings.append(f"the data has {table.n_rows:,} rows, the manifest says {manifest.records['out']:,}")
    findings += contradictions(manifest.records, Policy(require=manifest.require).k, None, "rows")
    if original is not None:
        findings += _compare(table, original, manifest)
    return FolderCheck(verdict.guarantees, tuple(findings), original is not None, verdict.unverified)


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
    """What differs from the files that a manifest lists."""
    findings = []
    for name, expected in checksums.items():
        path = folder / name
        if Path(name).name != name or not path.is_file():
            findings.append(f"{name} is in the manifest but not in the folder")
        elif checksum(path) != expected:
            findings.append(f"{name} was changed after the release: its checksum differs from the manifest's")
    known = {*checksums, FILE_NAME}
    findings += [
        f"{p.name} is in the folder but not part of the release"
        for p in sorted(folder.iterdir())
        if p.name not in known
    ]
    if data not in checksums:
        findings.append(f"the manifest has no checksum of {data}")
    return findings


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


def _compare(table: Table, original: Table, manifest: Manifest) -> list[str]:
    """Rows that do not add up, and columns published as they are whose cells are not the original's."""
    findings = []
    records = manifest.records
    if not may_be(records["in"], original.n_rows):
        findings.append(f"the original has {original.n_rows:,} rows, the manifest says {records['in']:,}")
    if not may_be(total([table.n_rows, records["suppressed"]]), original.n_rows):
        findings.append(
            f"{table.n_rows:,} published and {records['suppressed']:,} suppressed rows do not make "
            f"the original's {original.n_rows:,}"
        )
    if manifest.layout is not None:  # what stands in slices is compared bucket by bucket
        return findings
    for name, attribute in manifest.attributes.items():
        if attribute.role == "quasi" or name not in table.columns:
            continue
        if name not in original.columns:
            findings.append(f"the column {name!r} is not in the original")
        elif not _is_part_of(table[name], original[name]):
            findings.append(f"the column {name!r} holds cells that the original does not have, or more of them")
    return findings


def _is_part_of(published: Column, original: Column) -> bool:
    """Whether every cell text occurs in the published column at most as often as in the original."""

    def tally(column: Column) -> dict[str, int]:
        total: dict[str, int] = {}
        for text, count in zip(column.texts(), column.counts(), strict=True):
            total[text] = total.get(text, 0) + int(count)
        return total

    have = tally(original)
    return all(count <= have.get(text, 0) for text, count in tally(published).items())
