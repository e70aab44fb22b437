"""Check published folders of the same persons together, by the ledger that their owner kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.arrays import Ints
from shoal.check.claims import wrong_claims
from shoal.check.folder import FolderCheck, PublishedFolder
from shoal.check.guarantee import Guarantee
from shoal.check.releases.candidates import classes_by_labels, k_candidates
from shoal.check.releases.invariance import ClassValues, m_invariance
from shoal.check.releases.verify import invariant, published_classes
from shoal.check.tables.classes import classes_of
from shoal.check.tables.folder import OVER_RELEASES, TOGETHER
from shoal.check.tables.pseudonyms import apart
from shoal.check.tables.published_data import published_table
from shoal.data.ledger import Ledger, hash_persons, said
from shoal.data.tables.table import Table
from shoal.errors import DataError
from shoal.kinds.tables.manifest import TableManifest
from shoal.kinds.tables.policy import Policy
from shoal.manifest import checksum
from shoal.secrets import PrivateFolder

Published = tuple[PublishedFolder, TableManifest]


def check_together(
    alone: FolderCheck,
    this: Published,
    others: Sequence[Published],
    original: Table | None,
    policy: Policy | None,
    private: PrivateFolder | None,
) -> FolderCheck:
    """What is known of a release by itself, and what it tells together with others.

    Parameters
    ----------
    alone : FolderCheck
        Of the release by itself.
    others : sequence of published folders
        Compared with what the ledger says of them; those that are not given are taken from the ledger as they are.
    original : Table, optional
        What this release was made from: the ledger must know its persons.
    """
    if private is None:
        return alone
    ledger = Ledger.read(private.path)
    number = this[1].series.release if this[1].series is not None else 0
    tables = [_table(folder, manifest) for folder, manifest in (this, *others)]
    places = [_place(folder, manifest, ledger) for folder, manifest in (this, *others)]
    findings = [
        f"the ledger knows no release with the data of {folder.path}: it was changed, or is of other persons"
        for (folder, _), place in zip((this, *others), places, strict=True)
        if place < 0
    ]
    if findings or number != places[0] + 1:
        findings = findings or ["the manifest says that this is another release of the series than the ledger does"]
        return replace(alone, findings=(*alone.findings, *findings))
    if this[1].series is not None and tuple(this[1].series.after) != ledger.checksums[: number - 1]:
        findings.append("the manifest names other releases before this one than the ledger does")
    n_false = tables[0].n_rows - int((ledger.classes[:, number - 1] >= 0).sum()) if ledger.m else 0
    if n_false != this[1].records.get("counterfeits", 0):
        findings.append(f"the ledger says that {n_false:,} rows are counterfeits, and the manifest another number")
    k = max(this[1].k, policy.k if policy is not None else 0)
    histories = published_classes(ledger)[:, :number]
    given = {
        place: (table, _classes(table, manifest, ledger, place, findings))
        for table, (_, manifest), place in zip(tables, (this, *others), places, strict=True)
        if place < number
    }
    if original is not None:
        findings += _strangers(original, ledger, number)
    promised = _promised(ledger, histories, given, number, k)
    claims = [c for c in this[1].guarantees if c.get("model") in OVER_RELEASES]
    if k == this[1].k:
        findings += wrong_claims(claims, promised[:1], is_complete=True, are_words_known=this[1].is_of_this_version)
    absent = [i + 1 for i in range(number) if i not in given]
    left = [f"release {i} with what the ledger says of it; give it (--with)" for i in absent]
    return replace(
        alone,
        guarantees=(*alone.guarantees, *promised),
        findings=(*alone.findings, *findings),
        unverified=tuple(u for u in alone.unverified if u != TOGETHER),
        not_compared=(*alone.not_compared, *left),
    )


def _table(folder: PublishedFolder, manifest: TableManifest) -> Table:
    return apart(published_table(folder, manifest), manifest.pseudonym)[0]


def _place(folder: PublishedFolder, manifest: TableManifest, ledger: Ledger) -> int:
    """Which release of the ledger a folder is, from 0; -1 for none."""
    found = checksum(folder.path / manifest.data)
    return ledger.checksums.index(found) if found in ledger.checksums else -1


def _classes(table: Table, manifest: TableManifest, ledger: Ledger, place: int, findings: list[str]) -> Ints:
    """The class of each row, numbered as the ledger's labels are; what the ledger says of them otherwise is told."""
    labels = ledger.labels[place]
    quasi = manifest.names("quasi")
    if set(quasi) != set(labels):
        raise DataError(f"release {place + 1} has other quasi-identifiers than the ledger knows; give its own ledger")
    found = classes_of(table, quasi, markers=manifest.missing_markers)
    n_groups = len(next(iter(labels.values())))
    ours = {n: np.array(table[n].texts(), dtype=object)[table[n].codes[found.first]].tolist() for n in labels}
    joint = classes_by_labels([[*labels[n], *ours[n]] for n in labels], n_groups + len(found.first))
    known = classes_by_labels([labels[n] for n in labels], n_groups)
    number = np.full(int(joint.max(initial=0)) + 1, -1, dtype=np.int64)
    number[joint[:n_groups]] = known
    of_class = number[joint[n_groups:]]
    there = ledger.classes[:, place]
    n_persons = np.bincount(known[there[there >= 0]], minlength=int(known.max(initial=0)) + 1)
    n_rows = np.zeros(len(n_persons), dtype=np.int64)
    np.add.at(n_rows, of_class[of_class >= 0], found.sizes[of_class >= 0])
    if (of_class < 0).any() or (n_persons > n_rows).any() or ((n_persons == 0) & (n_rows > 0)).any():
        findings.append(f"release {place + 1} does not have the groups that the ledger says it has")
    return np.asarray(of_class[found.ids])


def _strangers(original: Table, ledger: Ledger, number: int) -> list[str]:
    """Persons whom the ledger says to be published, and the original does not have."""
    persons, _ = hash_persons(original, ledger.person, ledger.key)
    published = np.flatnonzero(ledger.classes[:, number - 1] >= 0)
    n_strangers = int((~np.isin(published, ledger.places(persons))).sum())
    if not n_strangers:
        return []
    return [f"the ledger says that {n_strangers:,} persons were published whom the original does not have"]


def _promised(
    ledger: Ledger, histories: Ints, given: dict[int, tuple[Table, Ints]], number: int, k: int
) -> list[Guarantee]:
    """What the release promises together with those before it, and what the given ones show by themselves."""
    if not ledger.m:
        return [k_candidates(histories, k)]
    last = number - 1
    table, classes = given[last]
    was_there = (histories[:, :last] >= 0).any(axis=1)
    buckets = np.where(was_there, ledger.cohorts, -1).astype(np.int64)
    signatures = ledger.signatures if last else ()
    column = table[ledger.sensitive]
    promised = [invariant(column, classes, histories[:, last], buckets, signatures, ledger.m, number)]
    return promised if len(given) < 2 else [*promised, _together(ledger, histories, given)]


def _together(ledger: Ledger, histories: Ints, given: dict[int, tuple[Table, Ints]]) -> Guarantee:
    """The values that the published tables leave possible, whatever the ledger says of signatures."""
    columns = {i: table[ledger.sensitive] for i, (table, _) in given.items()}
    texts = {i: said(column) for i, column in columns.items()}
    names = {text: i for i, text in enumerate(dict.fromkeys(t for part in texts.values() for t in part))}
    releases = [
        ClassValues(
            given[i][1],
            np.array([*(names[t] for t in texts[i]), len(names)])[np.minimum(columns[i].codes, len(texts[i]))],
        )
        for i in sorted(given)
    ]
    return m_invariance(histories[:, sorted(given)], releases, len(names) + 1, ledger.m, ledger.sensitive)
