"""Which check fits which publication, and what can be said when not all evidence is there.

Publications that make records alike are checked by `verify`, from the published table alone; of averages it is checked
too, as far as the evidence goes, that none is of few. A publication whose
promise is another one has its own check: a function of the published table, what is asked and the evidence, in
`CHECKS` under the name that the policy calls the publication by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from shoal.check.evidence import Evidence
from shoal.check.slices.compare import Form
from shoal.check.slices.verify import check_slices
from shoal.check.tables.averages import averages
from shoal.check.tables.condensation import condensed
from shoal.check.tables.verify import verify
from shoal.check.verdict import Asked, Verdict
from shoal.data.tables.table import Table

Check = Callable[[Table, Asked, Evidence], Verdict]


def _in_slices(form: Form, table: Table, asked: Asked, evidence: Evidence) -> Verdict:
    """A table in slices; the groups of the evidence are its buckets, in the order of their numbers."""
    if asked.layout is None:
        return Verdict((), findings=("nothing says which columns of the table stand together",))
    rows = buckets = None
    if evidence.original_groups is not None:
        rows = np.flatnonzero(evidence.original_groups >= 0)
        buckets = (evidence.original_groups[rows] + 1).astype(np.int32)
    found = check_slices(
        table,
        asked.layout,
        asked.requirements,
        asked.attributes,
        original=evidence.original,
        missing=asked.missing,
        markers=asked.markers,
        form=form,
        jointly=asked.jointly,
        is_meaning_known=asked.is_meaning_known,
        rows=rows,
        buckets=buckets,
    )
    unverified = found.unverified
    if evidence.original is None:
        unverified += ("whether the slices were permuted can only be told beside the original; give it",)
    return Verdict(found.guarantees, unverified, found.findings)


CHECKS: dict[str, Check] = {
    "condense": condensed,
    "bucketize": partial(_in_slices, "bucketize"),
    "slice": partial(_in_slices, "slice"),
    "screen": partial(_in_slices, "screen"),
}


def needs_original(publication: str) -> bool:
    """Whether the promise of a publication cannot be recomputed from the published table alone."""
    return publication in CHECKS


def uses_groups(publication: str) -> bool:
    """Whether the secret groups tell the check of a publication anything."""
    return needs_original(publication) or publication == "aggregate"


def verify_publication(table: Table, publication: str, asked: Asked, evidence: Evidence | None = None) -> Verdict:
    """Recompute what a publication promises.

    Parameters
    ----------
    table : Table
        What would be published, typed or read back as text.
    publication : str
        As the policy and the manifest call it, such as "generalise".
    asked : Asked
        What is required, and of which columns.
    evidence : Evidence, optional
        What else is there to check with.
    """
    check = CHECKS.get(publication)
    if check is not None:
        return check(table, asked, evidence or Evidence())
    held = verify(
        table,
        asked.requirements,
        asked.quasi,
        asked.sensitive,
        missing=asked.missing,
        markers=asked.markers,
        attributes=asked.attributes,
    )
    if publication == "aggregate":
        return replace(averages(table, asked, evidence or Evidence()), guarantees=held)
    return Verdict(held)
