"""Check a published folder that may have been edited: from its files alone, or against the original too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np

from shoal.arrays import Ints
from shoal.check.evidence import Evidence
from shoal.check.finding import KNOWN_HISTORY, SINGLED_OUT, Finding
from shoal.check.folder import FolderCheck, PublishedFolder, false_claims, not_compared
from shoal.check.tables.compare_parts import compare_parts, one_column
from shoal.check.tables.compare_rows import Compared, ComparedTables, compare_kept
from shoal.check.tables.form import compare_form, out_of_order
from shoal.check.tables.known_history import known_history, tied_records
from shoal.check.tables.parts import findings_in_parts
from shoal.check.tables.pseudonyms import apart, compare_pseudonyms
from shoal.check.tables.publication import PublishedRows, check_of, needs_original, verify_publication
from shoal.check.tables.published_data import published_in_parts, published_rows
from shoal.check.tables.roles import other_roles, with_role
from shoal.check.tables.shift import compare_shift, dates_beside
from shoal.check.tables.singled_out import findings_of, records_behind
from shoal.check.verdict import Asked, Verdict
from shoal.data.memory import bound
from shoal.data.tables.attribute import Attribute, Role
from shoal.data.tables.coded_rows import CodedRows, UnheldTable, coded_originals
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.persons import person_codes, provider_codes
from shoal.data.tables.room import TooManyDistinct
from shoal.data.tables.slices import SlicesApart
from shoal.data.tables.table import Columns, Table
from shoal.data.tables.write import read_back
from shoal.kinds.tables.manifest import TableManifest
from shoal.kinds.tables.policy import ColumnPolicy, Policy
from shoal.secrets import GROUPS_FILE, PERSONS_FILE, PUBLISHED_GROUPS_FILE, ROWS_FILE, PrivateFolder
from shoal.told_counts import contradictions, may_be, total

CELL_BYTES = 100
"""Of memory that a cell takes at most while rows are read one by one and written again."""
UNREAD = "the lists of rows and persons that the owner kept, as memory is bounded"
GROUPS_UNREAD = "the buckets of records that the owner kept, as memory is bounded"
"""What is not compared of what the owner kept: it names single records."""

CompareDatasheet = Callable[[Path, TableManifest, PublishedRows, Sequence[str] | None], tuple[list[str], list[str]]]


def check_tables(
    folder: PublishedFolder,
    manifest: TableManifest,
    original: Table | UnheldTable | None = None,
    policy: Policy | None = None,
    private: PrivateFolder | None = None,
    compare_datasheet: CompareDatasheet | None = None,
) -> FolderCheck:
    """Recompute every guarantee of a published table.

    Where memory is bounded, and the distinct rows of the table do not fit, it is read in parts.

    Parameters
    ----------
    folder, manifest
        The folder, and what its manifest says.
    original : Table or UnheldTable, optional
        Adds the comparison of rows with records: their number, that labels cover the values that they stand for, and
        that the columns that were published as they are have the cells of the same record. Of one whose distinct rows
        do not fit into memory, rows are compared in parts.
    policy : Policy, optional
        What to require instead of what the manifest says; it also says what quasi-identifying and sensitive columns
        there are, so that a manifest that forgets one is caught.
    private : PrivateFolder, optional
        What was kept: groups, for publications whose promise is about them, or rows, by which each row is compared with
        its own record.
    compare_datasheet : callable, optional
        Compares the datasheet with manifest and data; pages are made elsewhere, so the checker is given the function.
    """
    markers = manifest.missing_markers if policy is None else policy.missing_markers
    is_weighed = isinstance(original, UnheldTable) or (original is not None and original.weights is not None)
    unread = UNREAD if is_weighed and _names_records(None, private) else ""
    if manifest.layout is not None and bound() is not None and private is not None:
        unread = GROUPS_UNREAD if private.holds(GROUPS_FILE) else unread
    if unread:
        private = None
    n_false = int(manifest.records.get("counterfeits", 0))
    n_most = None if original is None else original.n_records + n_false
    is_weighed = bound() is not None and (is_weighed if original is not None else not _names_records(None, private))
    n_beside = 2 if isinstance(original, UnheldTable) else 1
    with published_rows(folder, manifest, markers, n_most, n_beside, is_weighed=is_weighed) as table:
        return _check(folder, manifest, table, original, policy, private, compare_datasheet, unread)


def _check(
    folder: PublishedFolder,
    manifest: TableManifest,
    table: PublishedRows,
    given: Table | UnheldTable | None,
    policy: Policy | None,
    private: PrivateFolder | None,
    compare_datasheet: CompareDatasheet | None,
    unread: str,
) -> FolderCheck:
    """See `check_tables`."""
    markers = manifest.missing_markers if policy is None else policy.missing_markers
    original = given if isinstance(given, Table) else None
    n_false = int(manifest.records.get("counterfeits", 0))
    pseudonyms = None
    misplaced, uncompared = _form(folder, table, manifest, markers)
    if isinstance(table, Table):
        table, pseudonyms = apart(table, manifest.pseudonym)
    findings = [*folder.edits(manifest), *_columns(table, manifest), *misplaced]
    if (pseudonyms is None) != (manifest.pseudonym is None):
        findings.append(f"the data lacks the column {manifest.pseudonym!r} of pseudonyms")
    meant = manifest.meant
    held = table.names if manifest.layout is None else list(meant)
    quasi = [n for n, a in meant.items() if a.role == "quasi" and n in held]
    sensitive = [n for n, a in meant.items() if a.role == "sensitive" and n in held]
    if policy is not None:
        findings += other_roles(meant, policy)
        if set(policy.missing_markers) != set(manifest.missing_markers):
            findings.append("the manifest spells missing values otherwise than the policy does")
        findings += _looking(manifest, policy)
        quasi = with_role(policy, held, "quasi", quasi)
        sensitive = with_role(policy, held, "sensitive", sensitive)
    publication = _publication(manifest, policy, findings)
    is_one_each = isinstance(given, UnheldTable) and given.is_one_each
    evidence = Evidence(original, pseudonyms=pseudonyms, is_one_each=is_one_each)
    # Averages and slices can be checked without groups, though less of them; pseudo-records cannot.
    check = check_of(publication)
    keeps_groups = private is not None and private.holds(GROUPS_FILE, PUBLISHED_GROUPS_FILE)
    if private is not None and check.uses_groups and (keeps_groups or (check.needs_groups and private.is_given)):
        n_original = 0 if original is None else original.n_rows
        published_groups = private.published_groups()
        evidence = Evidence(original, private.groups(n_original), published_groups, pseudonyms=pseudonyms)
    person = (policy.person if policy is not None else ()) or manifest.person or ()
    if person and original is not None:
        evidence = replace(evidence, original_persons=person_codes(original, person))
        rows = None if private is None else private.rows()
        if rows is not None and isinstance(table, Table) and _are_rows(rows, table, original):
            evidence = replace(evidence, rows=rows)
    is_listed = person and private is not None and isinstance(table, Table)
    if is_listed and manifest.layout is None and not needs_original(publication):
        assert private is not None
        assert isinstance(table, Table)
        listed = private.persons()
        if listed is not None and evidence.rows is None:
            whose = evidence.original_persons
            if whose is not None and n_false:  # counterfeits are listed after all originals
                whose = np.concatenate([whose, -1 - np.arange(n_false)])
            if _are_persons(listed, table, whose):
                evidence = replace(
                    evidence, listed_persons=_but_last(listed, n_false) if whose is None else whose[listed]
                )
            else:
                findings.append("the list of persons that was kept is not that of this release and original")
    if n_false and evidence.listed_persons is None:  # nobody says which rows are counterfeits
        evidence = replace(evidence, original_persons=None)
    provider = (policy.provider if policy is not None else ()) or manifest.provider or ()
    if provider and isinstance(table, Table):
        evidence = replace(evidence, providers=providers_of(table, original, provider, private, findings))
    if (
        policy is not None
        and policy.provider
        and (policy.provider, policy.coalition)
        != (
            manifest.provider,
            manifest.coalition,
        )
    ):
        findings.append("the manifest does not say the providers, or how many work together, that the policy names")
    if policy is not None and policy.person and policy.person != manifest.person:
        findings.append("the manifest does not count the persons that the policy names")
    if policy is not None and manifest.pseudonym is not None and not policy.keep_person:
        findings.append("records of a person are tied together by a pseudonym, which the policy does not ask for")
    if policy is not None and set(policy.shifted) != set(manifest.shifted):
        findings.append("the manifest says of other columns than the policy that their days were moved by person")
    findings += [
        f"the dates of {n!r} are published as they are, beside others that were moved"
        for n in dates_beside(meant, manifest.shifted, bool(manifest.shifted))
    ]
    if policy is not None and manifest.shift_days not in (None, policy.shift_days):
        findings.append("the manifest says another number of days by which dates were moved than the policy")
    attributes = with_hierarchies(meant, original, policy)
    claimed = Asked(
        manifest.require,
        [n for n in held if n in meant and meant[n].role == "quasi"],
        [n for n in held if n in meant and meant[n].role == "sensitive"],
        manifest.missing,
        markers,
        meant if manifest.layout is None else attributes,
        manifest.layout,
        bool(manifest.method.get("jointly", False)),
        counts_persons=bool(person),
        knows_history=manifest.person_knowledge == "history",
        coalition=manifest.coalition or 0,
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
            knows_history=policy.person_knowledge == "history" or claimed.knows_history,
            coalition=policy.coalition if policy.provider else claimed.coalition,
        )
    verdict = verify_publication(table, publication, asked, evidence)
    findings += verdict.findings
    measured = _measured(table, manifest, publication, policy, asked, evidence)
    if pseudonyms is not None and isinstance(table, Table):
        measured += known_history(
            [tied_records(table, _with_roles(manifest, asked), pseudonyms, manifest.shifted, markers)],
            shift_days=manifest.shift_days or 0,
            limit=_limit(manifest, policy),
            reason=(policy.accept if policy is not None else manifest.accepted or {}).get(KNOWN_HISTORY),
        )
    findings += [f.sentence for f in measured if f.is_serious]
    if manifest.limits is None and manifest.is_of_this_version:
        findings.append("the manifest does not say how many records may be singled out")
    findings += _claims(table, alone_of(manifest), claimed, evidence, verdict if asked == claimed else None)
    if table.n_records != manifest.records["out"]:
        findings.append(f"the data has {table.n_records:,} rows, the manifest says {manifest.records['out']:,}")
    findings += contradictions(manifest.records, manifest.k, None, "rows", counts_persons=bool(manifest.person))
    left = [*not_compared(manifest)]
    if compare_datasheet is not None and not findings:
        wrong, unseen = compare_datasheet(folder.path, manifest, table, None if given is None else given.names)
        findings += wrong
        left[-1:] = unseen
    left += [*uncompared, *verdict.not_compared]
    if unread:
        left.append(unread)
    if evidence.listed_persons is not None and given is None:
        left.append("the owner's list of persons, by which they were counted, with the original; give --original")
    if manifest.method.get("diversity") == "blind":
        left.append("whether groups were made without looking at sensitive values, which no data shows")
    is_known = True
    if given is not None and n_false:
        table, evidence, is_known = _without_counterfeits(table, evidence, private, given.n_rows)
        if not is_known:
            left.append("any row with the record that it stands for, as it is not known which are counterfeits")
    if given is not None and is_known:
        findings += _counts(table, given, manifest)
        n_left_out = given.n_records - table.n_records
        if policy is not None and n_left_out > int(policy.method.suppression * given.n_records):
            findings.append("more records were left out than the policy allows")
        if original is not None and isinstance(table, SlicesApart):
            compared = Compared()  # bucket by bucket, where they were verified
        elif original is not None and isinstance(table, Table):
            asked = replace(asked, attributes=attributes)
            compared = _compare(table, manifest, asked, publication, original, evidence, private)
        elif isinstance(given, UnheldTable) and given.path is not None and not isinstance(table, SlicesApart):
            compared = _compare_unheld(folder, table, manifest, asked, given, policy)
        else:
            compared = _not_held(table, given)
        findings += compared.findings
        left += compared.not_compared
    if pseudonyms is not None and isinstance(table, Table):
        whose = evidence.persons if evidence.tells_persons else None
        found = [compare_pseudonyms(pseudonyms, whose)]
        held_back = [n for n in manifest.shifted if n in table.columns and (original is None or n in original.columns)]
        if original is None or held_back:
            rows = evidence.rows if original is not None else None
            found.append(
                compare_shift(table, original or table, held_back, markers, rows, whose, manifest.shift_days or 0)
            )
        findings += [finding for compared in found for finding in compared.findings]
        left += [phrase for compared in found for phrase in compared.not_compared]
    unverified = (*verdict.unverified, *([] if manifest.series is None else [TOGETHER]))
    return FolderCheck(verdict.guarantees, tuple(findings), given is not None, unverified, tuple(left), measured)


def _form(
    folder: PublishedFolder, table: PublishedRows, manifest: TableManifest, markers: Sequence[str]
) -> tuple[list[str], list[str]]:
    """What is wrong with places of rows and spelling of cells, and what is not compared of these.

    Rows that were not read one by one are read again, if memory allows it.
    """
    if not manifest.is_of_this_version:
        return [], []
    path = folder.path / manifest.data
    if not isinstance(table, Table) or table.weights is not None:
        names = [*([] if manifest.pseudonym is None else [manifest.pseudonym]), *manifest.attributes]
        if manifest.n_published * len(names) * CELL_BYTES > (bound() or 0):
            return [], [f"the order of the rows, and the bytes of {path.name} that hold no value, as memory is bounded"]
        table = read_back(path, names, markers=markers, delimiter=manifest.delimiter)
    findings, left = compare_form(path, table)
    if manifest.order == "sorted" and manifest.layout is None:
        findings += out_of_order(table, [n for n, a in manifest.meant.items() if a.role == "quasi"])
    return findings, left


OVER_RELEASES = ("k-candidates", "m-invariance")
TOGETHER = (
    "What this release and others of the same persons tell together cannot be recomputed without the ledger; give the "
    "private folder (--private), and the other releases (--with)."
)


def alone_of(manifest: TableManifest) -> TableManifest:
    """The same without what it promises together with other releases, which is for `shoal.check.releases`."""
    if manifest.series is None:
        return manifest
    claims = tuple(c for c in manifest.guarantees if c.get("model") not in OVER_RELEASES)
    return manifest.model_copy(update={"guarantees": claims})


def _but_last(listed: Ints, n_false: int) -> Ints:
    """A list of persons in which the last numbers, which are those of counterfeits, are nobody's."""
    if not 0 < n_false <= len(listed):
        return listed
    return np.where(listed >= np.partition(listed, -n_false)[-n_false], -1 - np.arange(len(listed)), listed)


def _not_held(table: PublishedRows, original: Table | UnheldTable) -> Compared:
    """What is said in the place of a comparison of rows, where those of one side do not fit into memory."""
    unheld = original if isinstance(original, UnheldTable) else table
    whose = "original" if unheld is original else "published data"
    memory = original.memory if isinstance(original, UnheldTable) else bound() or 0
    what = f"{unheld.n_rows:,} rows of the {whose} are distinct, too many for {memory / 1e9:.3g} GB"
    return Compared(not_compared=(f"any row with the record that it stands for: {what}; raise memory",))


def _compare_unheld(
    folder: PublishedFolder,
    table: Table | CodedRows,
    manifest: TableManifest,
    asked: Asked,
    original: UnheldTable,
    policy: Policy | None,
) -> Compared:
    """Compare the rows with the records of an original that does not fit into memory."""
    quasi, kept, absent = _compared_columns(table, manifest, asked, original.names)
    if absent:
        return Compared(tuple(f"the column {n!r} is not in the original" for n in absent))
    assert original.path is not None
    with ExitStack() as opened:
        try:
            rows = table
            if isinstance(rows, Table):
                rows = opened.enter_context(published_in_parts(folder, manifest, asked.markers, original.n_records, 2))
            records = opened.enter_context(coded_originals(original.path, original.reading, n_beside=2))
            attributes = with_hierarchies(manifest.meant, records, policy)
            return compare_parts(
                rows, records, attributes, quasi, kept, asked.markers, is_meaning_known=asked.is_meaning_known
            )
        except TooManyDistinct:
            return _not_held(table, original)


def _compared_columns(
    table: PublishedRows, manifest: TableManifest, asked: Asked, original: Collection[str]
) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Columns that were made alike, columns that were published as they are, and those that an original lacks."""
    names = [n for n in manifest.attributes if n in table.columns]
    kept = tuple(n for n in names if n not in asked.quasi and n not in manifest.shifted)
    quasi = tuple(n for n in names if n in asked.quasi)
    return quasi, kept, [n for n in names if n not in original]


def _without_counterfeits(
    table: PublishedRows, evidence: Evidence, private: PrivateFolder | None, n_records: int
) -> tuple[PublishedRows, Evidence, bool]:
    """The rows that stand for records, by the owner's list; whether there is one."""
    listed = None if private is None else private.persons()
    if listed is None or not isinstance(table, Table) or len(listed) != table.n_rows:
        return table, evidence, False
    real = np.flatnonzero(listed < n_records)
    whose = evidence.listed_persons
    kept = replace(evidence, listed_persons=None if whose is None else whose[real])
    return table.take(real), kept, True


def _names_records(original: Table | None, private: PrivateFolder | None) -> bool:
    """Whether records are looked at one by one: those of an original that is held, or of a list that the owner kept."""
    if original is not None:
        return original.weights is None
    return private is not None and private.holds(PERSONS_FILE, ROWS_FILE)


def _measured(
    table: PublishedRows,
    manifest: TableManifest,
    publication: str,
    policy: Policy | None,
    asked: Asked,
    evidence: Evidence,
) -> tuple[Finding, ...]:
    """What the columns single out that are published as they are, held to the policy, or to what the manifest says.

    A release of a version that did not look for it promises nothing of it.
    """
    meant = _with_roles(manifest, asked)
    limit, accepted = _limit(manifest, policy), policy.accept if policy is not None else manifest.accepted
    if isinstance(table, SlicesApart):
        return findings_of(
            table,
            meant,
            has_labels=False,
            layout=manifest.layout,
            markers=asked.markers,
            limit=limit,
            accepted=accepted,
        )
    if isinstance(table, CodedRows):
        still = {n: a for n, a in meant.items() if n not in manifest.shifted}
        return findings_in_parts(table, still, limit=limit, accepted=accepted)
    persons, groups = evidence.persons, evidence.original_groups
    if needs_original(publication) and groups is not None and evidence.original is not None:
        rows, whose = np.flatnonzero(groups >= 0), evidence.original_persons
        if whose is not None and all(n in evidence.original.columns for n in meant):
            table, persons = records_behind(evidence.original, rows, table.names, manifest.layout), whose[rows]
    return findings_of(
        table.select([n for n in table.names if n not in manifest.shifted]),
        meant,
        has_labels=not needs_original(publication),
        layout=manifest.layout,
        markers=asked.markers,
        limit=limit,
        accepted=accepted,
        persons=persons,
    )


def _with_roles(manifest: TableManifest, asked: Asked) -> dict[str, Attribute]:
    """What the columns mean, by what is asked of them where that is more than the manifest says."""
    roles: dict[str, Role] = {**dict.fromkeys(asked.sensitive, "sensitive"), **dict.fromkeys(asked.quasi, "quasi")}
    return {n: replace(a, role=roles.get(n, a.role)) for n, a in manifest.meant.items()}


def _limit(manifest: TableManifest, policy: Policy | None) -> float:
    """The share that may be singled out."""
    return policy.limits.singled_out if policy is not None else (manifest.limits or {}).get(SINGLED_OUT, 1.0)


def with_hierarchies(
    meant: Mapping[str, Attribute], original: Columns | None, policy: Policy | None
) -> Mapping[str, Attribute]:
    """The same, with the policy's orders and hierarchies and automatic ones: without them labels cannot be read."""
    if original is None or not all(n in original.columns for n in meant):
        return meant
    columns = {n: ColumnPolicy(role=a.role, type=a.type, order=a.order) for n, a in meant.items()}
    columns |= {n: c for n, c in policy.columns.items() if n in meant} if policy is not None else {}
    found = {n: attributes_of(one_column(original, n), Policy(columns={n: columns[n]}))[n] for n in meant}
    return {
        n: replace(a, order=a.order or found[n].order, hierarchy=a.hierarchy or found[n].hierarchy)
        for n, a in meant.items()
    }


def _are_rows(rows: Ints, table: Table, original: Table) -> bool:
    """Whether each published row has an original row of its own."""
    n_rows = table.n_rows
    return len(rows) == n_rows == len(np.unique(rows)) and rows.min() >= 0 and bool(rows.max() < original.n_rows)


def _are_persons(listed: Ints, table: Table, persons: Ints | None) -> bool:
    """Whether each published row is of one person, whom the list calls by their first original row."""
    if len(listed) != table.n_rows or (len(listed) and listed.min() < 0):
        return False
    if persons is None:
        return True
    first = np.unique(persons, return_index=True)[1]
    return bool(np.isin(listed, first).all())


def providers_of(
    table: Table,
    original: Table | None,
    provider: Sequence[str],
    private: PrivateFolder | None,
    findings: list[str] | None = None,
) -> Ints | None:
    """From whom each published row is, by the rows or the list that the owner kept; None if that is not known.

    What is wrong with the list is added to `findings`.
    """
    findings = [] if findings is None else findings
    if original is not None and not all(n in original.columns for n in provider):
        findings.append("the original has no column of the providers")
        return None
    theirs = None if original is None else provider_codes(original, provider)
    rows = None if private is None else private.rows()
    if rows is not None and original is not None and theirs is not None and _are_rows(rows, table, original):
        return theirs[rows]
    listed = None if private is None else private.providers()
    if listed is None:
        return None
    if not _are_persons(listed, table, theirs):
        findings.append("the list of providers that was kept is not that of this release and original")
        return None
    return listed if theirs is None else theirs[listed]


def _publication(manifest: TableManifest, policy: Policy | None, findings: list[str]) -> str:
    """What the table is checked as: what the policy asks for, if there is one, else what the manifest says."""
    said = str(manifest.method.get("publish", ""))
    if policy is None or not (needs_original(said) or needs_original(policy.method.publication)):
        return said
    wanted = policy.method.publication
    if said != wanted:
        findings.append(f"the manifest says publish = {said!r}, the policy asks for {wanted!r}")
    return wanted


def _looking(manifest: TableManifest, policy: Policy) -> list[str]:
    """Whether sensitive values decided more about groups than the policy allows."""
    said, wanted = str(manifest.method.get("diversity", "local")), policy.method.diversity
    if wanted != "blind" or said == wanted:
        return []
    return [f"the manifest says diversity = {said!r}, the policy asks for {wanted!r}"]


def _claims(
    table: PublishedRows, manifest: TableManifest, claimed: Asked, evidence: Evidence, verdict: Verdict | None
) -> list[str]:
    """What is wrong with the guarantees of the manifest, held against what it says itself to require."""
    if verdict is None:
        if not claimed.quasi:
            return ["the manifest names no quasi-identifier that the data has"]
        verdict = verify_publication(table, str(manifest.method.get("publish", "")), claimed, evidence)
    return false_claims(manifest, verdict.guarantees, verdict)


def _columns(table: PublishedRows, manifest: TableManifest) -> list[str]:
    unknown = [n for n in table.names if n not in manifest.attributes]
    absent = [n for n in manifest.attributes if n not in table.columns]
    findings = [f"the data has a column {n!r} that the manifest does not know" for n in unknown]
    return findings + [f"the data lacks the column {n!r} of the manifest" for n in absent]


def _counts(table: PublishedRows, original: Table | UnheldTable, manifest: TableManifest) -> list[str]:
    """Rows that do not add up."""
    findings = []
    n_in, n_suppressed = manifest.records["in"], manifest.records["suppressed"]
    if not may_be(n_in, original.n_records):
        findings.append(f"the original has {original.n_records:,} rows, the manifest says {n_in:,}")
    if not may_be(total([table.n_records, n_suppressed]), original.n_records):  # without counterfeits
        findings.append(
            f"{table.n_records:,} published and {n_suppressed:,} suppressed rows do not make "
            f"the original's {original.n_records:,}"
        )
    if table.n_records > original.n_records:
        findings.append(f"the data has {table.n_records:,} rows, the original {original.n_records:,}")
    return findings


def _compare(
    table: Table,
    manifest: TableManifest,
    asked: Asked,
    publication: str,
    original: Table,
    evidence: Evidence,
    private: PrivateFolder | None,
) -> Compared:
    """Compare the rows with the records that they stand for."""
    if manifest.layout is not None or not isinstance(
        table, Table
    ):  # what stands in slices is compared bucket by bucket
        return Compared()
    quasi, kept, absent = _compared_columns(table, manifest, asked, original.columns)
    if absent:
        return Compared(tuple(f"the column {n!r} is not in the original" for n in absent))
    rows = None if private is None else private.rows()
    tables = ComparedTables(table, original, asked.attributes, quasi, kept, asked.markers, asked.is_meaning_known, rows)
    if evidence.listed_persons is not None and evidence.original_persons is not None:
        tables = replace(tables, persons=(evidence.listed_persons, evidence.original_persons))
    findings = [
        f"the column {n!r} holds cells that the original does not have, or more of them"
        for n in kept
        if compare_kept(replace(tables, kept=(n,), persons=None))
    ]
    if findings:
        return Compared(tuple(findings))
    return check_of(publication).compare(tables, evidence, manifest.method)
