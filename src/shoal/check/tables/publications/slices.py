"""Tables in slices; the groups of the evidence are their buckets, in the order of their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from shoal.check.evidence import Evidence
from shoal.check.slices.compare import Form
from shoal.check.slices.persons import NEEDS_GROUPS, NO_SCREENS, PersonsInBuckets
from shoal.check.slices.verify import check_slices
from shoal.check.tables.compare_rows import Compared, ComparedTables
from shoal.check.tables.publication import CHECKS, PublicationCheck
from shoal.check.verdict import Asked, Verdict
from shoal.data.tables.slices import SlicedTable, SlicesApart
from shoal.data.tables.table import Table

FORMS: tuple[Form, ...] = ("bucketize", "slice", "screen")


def _verify(form: Form, table: Table | SlicesApart, asked: Asked, evidence: Evidence) -> Verdict:
    if asked.layout is None:
        return Verdict((), findings=("nothing says which columns of the table stand together",))
    rows = buckets = None
    if evidence.original_groups is not None:
        rows = np.flatnonzero(evidence.original_groups >= 0)
        buckets = (evidence.original_groups[rows] + 1).astype(np.int32)
    found = check_slices(
        SlicedTable(table, asked.layout, asked.attributes),
        asked.requirements,
        original=evidence.original,
        missing=asked.missing,
        markers=asked.markers,
        form=form,
        jointly=asked.jointly,
        is_meaning_known=asked.is_meaning_known,
        rows=rows,
        buckets=buckets,
    )
    guarantees, unverified, findings = found.guarantees, found.unverified, found.findings
    persons, groups = evidence.original_persons, evidence.original_groups
    if asked.counts_persons and (persons is None or len(np.unique(persons)) < len(persons)):
        if form == "screen":
            unverified += (NO_SCREENS,)
        elif persons is None or groups is None or evidence.original is None:
            unverified += (NEEDS_GROUPS,)
        elif not findings:
            counted = PersonsInBuckets.of(evidence.original, groups, persons)
            guarantees, findings = counted.judged(guarantees, asked), counted.findings
    if evidence.original is None:
        unverified += ("whether the slices were permuted can only be told beside the original; give it",)
    return Verdict(guarantees, unverified, findings)


def _compare(tables: ComparedTables, evidence: Evidence, method: Mapping[str, Any]) -> Compared:
    """Nothing: what stands in slices is compared bucket by bucket, where it is verified."""
    return Compared()


for _form in FORMS:
    CHECKS.register(PublicationCheck(_form, partial(_verify, _form), _compare, needs_original=True, uses_groups=True))
