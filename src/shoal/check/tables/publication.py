"""Which check fits which publication, and what can be said when not all evidence is there.

Publications that make records alike are checked by `verify`, from the published table alone, and their labels are
compared with the values that they cover. A publication of another promise registers a check of its own with `CHECKS`,
in a file of `shoal.check.tables.publications`, under the name that the policy calls the publication by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.check.evidence import Evidence
from shoal.check.tables.compare_rows import Compared, ComparedTables, compare_labels
from shoal.check.tables.parts import verify_parts
from shoal.check.tables.providers import verify_without
from shoal.check.tables.verify import verify
from shoal.check.verdict import Asked, Verdict
from shoal.data.tables.coded_rows import CodedRows
from shoal.data.tables.slices import SlicesApart
from shoal.data.tables.table import Table
from shoal.errors import PolicyError
from shoal.registry import Registry

PublishedRows = Table | CodedRows | SlicesApart
"""What was published: held, in a database, or each slice for itself."""

NEEDS_ROWS = (
    "How many persons a group has cannot be seen in the published table, so records were counted; to count persons, "
    "give the list of persons that the owner keeps (--private)."
)

NEEDS_PROVIDERS = (
    "What is left of a group without the rows of a provider cannot be seen in the published table; to see it, give the "
    "list of providers that the owner keeps (--private)."
)


def verify_alike(table: Table | CodedRows, asked: Asked, evidence: Evidence) -> Verdict:
    """Records that look alike by their quasi-identifiers."""
    persons = evidence.persons if asked.counts_persons else None
    theirs = evidence.original_persons
    is_one_each = evidence.is_one_each or (theirs is not None and len(np.unique(theirs)) == len(theirs))
    are_known = persons is not None or is_one_each
    unverified: tuple[str, ...] = (NEEDS_ROWS,) if asked.counts_persons and not are_known else ()
    if isinstance(table, CodedRows):
        if asked.coalition or persons is not None:
            raise PolicyError("providers and persons of several records are not checked in parts; raise memory")
        return Verdict(verify_parts(table, asked, is_one_each=is_one_each), unverified)
    how: dict[str, Any] = {"missing": asked.missing, "markers": asked.markers, "attributes": asked.attributes}
    told = (asked.requirements, asked.quasi, asked.sensitive)
    if asked.counts_persons and persons is None and is_one_each:
        persons = np.arange(table.n_rows)  # each has one record, whichever row that is
    if asked.coalition and evidence.providers is not None:
        how |= {"providers": evidence.providers, "coalition": asked.coalition}
        return Verdict(verify_without(table, *told, persons=persons, **how), unverified)
    if asked.coalition:
        unverified += (NEEDS_PROVIDERS,)
    return Verdict(verify(table, *told, persons=persons, knows_history=asked.knows_history, **how), unverified)


def _compare_labels(tables: ComparedTables, evidence: Evidence, method: Mapping[str, Any]) -> Compared:
    return compare_labels(tables)


@dataclass(frozen=True)
class PublicationCheck:
    """How a publication is checked.

    Attributes
    ----------
    name : str
        Of the publication.
    verify : callable
        Recomputes the guarantees from the published table, what is asked and the evidence.
    compare : callable
        Compares the rows with the records that they stand for, given the evidence and the manifest's method.
    needs_original : bool
        Whether its promise cannot be recomputed from the published table alone.
    uses_groups : bool
        Whether the secret groups tell the check anything.
    needs_groups : bool
        Whether nothing can be recomputed without them.
    in_parts : bool
        Whether rows that are not held can be checked, where there is no original.
    """

    name: str
    verify: Callable[[Any, Asked, Evidence], Verdict] = verify_alike
    compare: Callable[[ComparedTables, Evidence, Mapping[str, Any]], Compared] = _compare_labels
    needs_original: bool = False
    uses_groups: bool = False
    needs_groups: bool = False
    in_parts: bool = False
    place: int = 0


CHECKS: Registry[PublicationCheck] = Registry("shoal.check.tables.publications")


def check_of(publication: str) -> PublicationCheck:
    """The check of a publication; where none is registered, that of records that are alike."""
    return CHECKS.get(publication, PublicationCheck(publication))


def needs_original(publication: str) -> bool:
    """Whether the promise of a publication cannot be recomputed from the published table alone."""
    return check_of(publication).needs_original


def uses_groups(publication: str) -> bool:
    """Whether the secret groups tell the check of a publication anything."""
    return check_of(publication).uses_groups


def verify_publication(
    table: PublishedRows, publication: str, asked: Asked, evidence: Evidence | None = None
) -> Verdict:
    """Recompute what a publication promises.

    Parameters
    ----------
    table : Table, CodedRows or SlicesApart
        What would be published, typed or read back as text; rows that are not held, of records that are alike alone.
    publication : str
        As the policy and the manifest call it, such as "generalise".
    asked : Asked
        What is required, and of which columns.
    evidence : Evidence, optional
        What else is there to check with.
    """
    check = check_of(publication)
    evidence = evidence or Evidence()
    is_taken = check.verify is verify_alike or (check.in_parts and evidence.original is None)
    if isinstance(table, CodedRows) and not is_taken:
        raise PolicyError(f"publish = {publication} is checked with all rows in memory: raise memory, or leave it out")
    return check.verify(table, asked, evidence)
