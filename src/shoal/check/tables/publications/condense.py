"""Pseudo-records: drawn from groups of the original that only the owner knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shoal.check.evidence import Evidence
from shoal.check.tables.compare_rows import Compared, ComparedTables, compare_kept
from shoal.check.tables.condensation import condensed
from shoal.check.tables.publication import CHECKS, PublicationCheck


def _compare(tables: ComparedTables, evidence: Evidence, method: Mapping[str, Any]) -> Compared:
    """The columns that were kept, group by group where groups are known."""
    groups, theirs = evidence.groups, evidence.original_groups
    sizes = (tables.published.n_rows, tables.original.n_rows)
    if groups is not None and theirs is not None and (len(groups), len(theirs)) == sizes:
        return Compared(tuple(compare_kept(replace(tables, groups=(groups, theirs)))))
    return Compared(tuple(compare_kept(tables)))


CHECKS.register(
    PublicationCheck("condense", condensed, _compare, needs_original=True, uses_groups=True, needs_groups=True)
)
