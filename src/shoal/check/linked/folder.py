"""Check a published folder of linked tables, which may have been edited: from its files, or with the originals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.arrays import Ints
from shoal.check.finding import SINGLED_OUT
from shoal.check.folder import FolderCheck, PublishedFolder, false_claims, false_counts, not_compared
from shoal.check.linked.joint import WrittenTable, join_files
from shoal.check.linked.verify import LinkedAsked, compare_linked, measure_linked, verify_linked
from shoal.check.tables.folder import with_hierarchies
from shoal.check.tables.shift import dates_beside
from shoal.data.linked.linked import Linked
from shoal.data.published_file import refuse_oversized
from shoal.data.tables.table import Table
from shoal.data.tables.write import is_text, read_back
from shoal.errors import DataError
from shoal.kinds.linked.manifest import LinkedManifest, PublishedTable
from shoal.kinds.linked.policy import LinkedPolicy
from shoal.models.k_anonymity import KAnonymity
from shoal.secrets import PrivateFolder

if TYPE_CHECKING:
    from shoal.kinds.tables.policy import Policy


def rows_file(place: int) -> str:
    """The file of `private/` with the original rows of a table, by its place among them.

    >>> rows_file(0)
    'rows-1.csv'
    """
    return f"rows-{place + 1}.csv"


def check_linked(
    folder: PublishedFolder,
    manifest: LinkedManifest,
    original: Linked | None = None,
    policy: LinkedPolicy | None = None,
    private: PrivateFolder | None = None,
) -> FolderCheck:
    """Recompute every guarantee of published tables, over their join; see `check_tables` for what is given."""
    markers = manifest.missing_markers if policy is None else policy.missing_markers
    tables = linked_tables(folder, manifest, markers)
    findings = folder.edits(manifest)
    for name, part in manifest.tables.items():
        findings += _columns(name, tables[name], part, manifest.link)
        for n in dates_beside(part.attributes, part.shifted, manifest.shift_days is not None):
            findings.append(f"the dates of {n!r} of {name!r} are published as they are, beside others that were moved")
    if findings and any(manifest.link not in table.columns for table in tables.values()):
        return FolderCheck((), tuple(findings), original is not None)
    asked = LinkedAsked(
        manifest.link,
        manifest.require,
        {
            n: {c: a for c, a in part.attributes.items() if c in tables[n].columns}
            for n, part in manifest.tables.items()
        },
        {n: [c for c in part.shifted if c in tables[n].columns] for n, part in manifest.tables.items()},
        manifest.shift_days or 0,
        manifest.missing,
        markers,
        manifest.limits.get(SINGLED_OUT, 1.0),
        manifest.accepted or {},
    )
    claimed = asked
    if policy is not None:
        findings += _otherwise(manifest, policy, tables)
        asked = _by_policy(asked, policy, tables)
    written = {
        name: WrittenTable(
            folder.path / part.data,
            part.delimiter if is_text(part.data) else None,
            tables[name],
            [n for n in tables[name].names if n in part.columns and asked.attributes[name][n].role == "quasi"],
        )
        for name, part in manifest.tables.items()
    }
    joined = join_files(written, manifest.link, asked.missing, markers)
    verdict = verify_linked(tables, joined, asked)
    findings += verdict.findings
    measured = measure_linked(tables, joined, asked) if not verdict.findings else ()
    findings += [f.sentence for f in measured if f.is_serious]
    promised = verdict if asked == claimed else verify_linked(tables, joined, claimed)
    findings += false_claims(manifest, promised.guarantees, promised)
    n_original = None if original is None else len(original)
    findings += false_counts(manifest, len(joined.classes), n_original, manifest.k, None, ("persons", "persons"))
    left = list(not_compared(manifest))
    if original is not None and not findings:
        meant = {
            name: with_hierarchies(asked.attributes[name], original.tables[name], policies.get(name))
            for policies in [_policies(policy, original)]
            for name in tables
        }
        rows = _rows(private, tables)
        compared = compare_linked(
            tables, original, rows, replace(asked, attributes=meant), is_meaning_known=policy is not None
        )
        findings += compared.findings
        left += compared.not_compared
    return FolderCheck(
        verdict.guarantees, tuple(findings), original is not None, verdict.unverified, tuple(left), measured
    )


def linked_tables(
    folder: PublishedFolder, manifest: LinkedManifest, markers: tuple[str, ...] | None = None
) -> dict[str, Table]:
    """The data that a manifest names, by table, if they are plain files of sizes that so many rows may have."""
    spelled = manifest.missing_markers if markers is None else markers
    return {name: _table(folder.path, part, manifest, spelled) for name, part in manifest.tables.items()}


def _table(folder: Path, part: PublishedTable, manifest: LinkedManifest, markers: tuple[str, ...]) -> Table:
    path = folder / part.data
    try:
        refuse_oversized(path, part.rows, len(part.columns) + 1)
    except FileNotFoundError:
        raise DataError(f"{folder} has no {part.data}, which its manifest names; restore it from the release") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); restore it from the release") from None
    return read_back(path, [manifest.link, *part.columns], markers=markers, delimiter=part.delimiter)


def _columns(name: str, table: Table, part: PublishedTable, link: str) -> list[str]:
    unknown = [n for n in table.names if n != link and n not in part.columns]
    absent = [n for n in (link, *part.columns) if n not in table.columns]
    findings = [f"{name!r} has a column {n!r} that the manifest does not know" for n in unknown]
    findings += [f"{name!r} lacks the column {n!r} of the manifest" for n in absent]
    if table.n_rows != part.rows:
        findings.append(f"{name!r} has {table.n_rows:,} rows, the manifest says {part.rows:,}")
    return findings


def _otherwise(manifest: LinkedManifest, policy: LinkedPolicy, tables: Mapping[str, Table]) -> list[str]:
    """What the manifest says otherwise than the policy."""
    findings = []
    if policy.link != manifest.link:
        findings.append("the manifest says another link than the policy")
    if set(policy.missing_markers) != set(manifest.missing_markers):
        findings.append("the manifest spells missing values otherwise than the policy does")
    if any(part.shifted for part in manifest.tables.values()) and manifest.shift_days != policy.shift_days:
        findings.append("the manifest says another number of days by which dates were moved than the policy")
    for name, own in _given(policy, tables).items():
        for column, told in manifest.tables[name].columns.items():
            given = own.columns.get(column) or own.columns.get("*")
            if given is not None and given.role is not None and given.role != told.role:
                findings.append(
                    f"the column {column!r} of {name!r} is {given.role} by the policy but {told.role} by the manifest"
                )
        if set(own.shifted) != set(manifest.tables[name].shifted):
            findings.append(f"the days of other columns of {name!r} were moved than the policy says")
    return findings


def _given(policy: LinkedPolicy, tables: Mapping[str, Table]) -> dict[str, Policy]:
    """What a policy asks of each table that is there."""
    held = {n for table in tables.values() for n in table.names}
    known = {n: c for n, c in policy.columns.items() if n == "*" or n in held}
    parts = {n: p for n, p in policy.tables.items() if n in tables}
    asked: tuple[Any, ...] = tuple(r for r in policy.require if r.column is None) or (KAnonymity(k=policy.k),)
    return policy.model_copy(update={"columns": known, "tables": parts, "require": asked}).of_tables(tables)


def _by_policy(asked: LinkedAsked, policy: LinkedPolicy, tables: Mapping[str, Table]) -> LinkedAsked:
    """What the policy requires, whatever the manifest says."""
    meant = {}
    for name, own in _given(policy, tables).items():
        roles = {n: c.role for n in asked.attributes[name] if (c := own.columns.get(n) or own.columns.get("*"))}
        meant[name] = {n: replace(a, role=roles.get(n) or a.role) for n, a in asked.attributes[name].items()}
    return replace(
        asked,
        requirements=policy.require,
        attributes=meant,
        missing=policy.missing,
        limit=policy.limits.singled_out,
        accepted=policy.accept,
    )


def _policies(policy: LinkedPolicy | None, original: Linked) -> Mapping[str, Policy]:
    return {} if policy is None else policy.of_tables(original.tables)


def _rows(private: PrivateFolder | None, tables: Mapping[str, Table]) -> dict[str, Ints] | None:
    if private is None:
        return None
    found = {name: private.rows(rows_file(i)) for i, name in enumerate(tables)}
    kept = {name: rows for name, rows in found.items() if rows is not None}
    return kept if len(kept) == len(tables) else None
