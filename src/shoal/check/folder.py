"""Check a published folder that may have been edited: from its files alone, or against the original too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.check.guarantee import Guarantee
from shoal.check.verify import verify
from shoal.data.table import Column, Table
from shoal.data.write import read_back
from shoal.errors import DataError
from shoal.manifest import FILE_NAME, Manifest, checksum
from shoal.policy import Policy


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
    """

    guarantees: tuple[Guarantee, ...]
    findings: tuple[str, ...]
    compared: bool

    @property
    def holds(self) -> bool:
        """Whether the folder is what it claims to be."""
        return not self.findings and all(g.holds for g in self.guarantees)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "holds": self.holds,
            "guarantees": [g.to_dict() for g in self.guarantees],
            "findings": list(self.findings),
            "compared_with_original": self.compared,
        }


def check_folder(folder: str | Path, original: Table | None = None, policy: Policy | None = None) -> FolderCheck:
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
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(f"there is no folder {folder}; give the publish/ folder of a release")
    if not (folder / FILE_NAME).exists() and (folder / "publish" / FILE_NAME).exists():
        folder = folder / "publish"
    manifest = Manifest.read(folder)
    path = folder / manifest.data
    if not path.is_file():
        raise DataError(f"{folder} has no {manifest.data}, which its manifest names; restore it from the release")
    markers = manifest.missing_markers if policy is None else policy.missing_markers
    table = read_back(path, manifest.attributes, markers=markers, delimiter=manifest.delimiter)
    findings = _edited(folder, manifest)
    findings += _columns(table, manifest)
    quasi = [n for n in manifest.names("quasi") if n in table.columns]
    sensitive = [n for n in manifest.names("sensitive") if n in table.columns]
    if policy is not None:
        findings += _forgotten(manifest, policy)
        if set(policy.missing_markers) != set(manifest.missing_markers):
            findings.append("the manifest spells missing values otherwise than the policy does")
        quasi = _with_role(policy, table, "quasi", quasi)
        sensitive = _with_role(policy, table, "sensitive", sensitive)
    guarantees = verify(
        table,
        policy.require if policy is not None else manifest.require,
        quasi,
        sensitive,
        missing=policy.missing if policy is not None else manifest.missing,
        markers=markers,
        attributes=manifest.attributes,
    )
    if table.n_rows != manifest.records["out"]:
        findings.append(f"the data has {table.n_rows:,} rows, the manifest says {manifest.records['out']:,}")
    if original is not None:
        findings += _compare(table, original, manifest)
    return FolderCheck(guarantees, tuple(findings), original is not None)


def _edited(folder: Path, manifest: Manifest) -> list[str]:
    findings = []
    for name, expected in manifest.checksums.items():
        path = folder / name
        if Path(name).name != name or not path.is_file():
            findings.append(f"{name} is in the manifest but not in the folder")
        elif checksum(path) != expected:
            findings.append(f"{name} was changed after the release: its checksum differs from the manifest's")
    known = {*manifest.checksums, FILE_NAME}
    findings += [
        f"{p.name} is in the folder but not part of the release"
        for p in sorted(folder.iterdir())
        if p.name not in known
    ]
    if manifest.data not in manifest.checksums:
        findings.append(f"the manifest has no checksum of {manifest.data}")
    return findings


def _columns(table: Table, manifest: Manifest) -> list[str]:
    unknown = [n for n in table.names if n not in manifest.attributes]
    absent = [n for n in manifest.attributes if n not in table.columns]
    findings = [f"the data has a column {n!r} that the manifest does not know" for n in unknown]
    return findings + [f"the data lacks the column {n!r} of the manifest" for n in absent]


def _forgotten(manifest: Manifest, policy: Policy) -> list[str]:
    findings = []
    for name, published in manifest.attributes.items():
        role = _role(policy, name)
        if role == "identifying":
            findings.append(f"the column {name!r} is identifying by the policy but was published")
        elif role is not None and role != published.role:
            findings.append(f"the column {name!r} is {role} by the policy but {published.role} by the manifest")
    return findings


def _with_role(policy: Policy, table: Table, role: str, names: Sequence[str]) -> list[str]:
    given = [n for n in table.names if _role(policy, n) == role]
    return [*names, *(n for n in given if n not in names)]


def _role(policy: Policy, name: str) -> str | None:
    """The role that a policy gives a column, by its name or as one of all others."""
    column = policy.columns.get(name) or policy.columns.get("*")
    return column.role if column is not None else None


def _compare(table: Table, original: Table, manifest: Manifest) -> list[str]:
    """Rows that do not add up, and columns published as they are whose cells are not the original's."""
    findings = []
    records = manifest.records
    if original.n_rows != records["in"]:
        findings.append(f"the original has {original.n_rows:,} rows, the manifest says {records['in']:,}")
    if table.n_rows + records["suppressed"] != original.n_rows:
        findings.append(
            f"{table.n_rows:,} published and {records['suppressed']:,} suppressed rows do not make "
            f"the original's {original.n_rows:,}"
        )
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
