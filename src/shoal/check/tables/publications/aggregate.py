"""Averages: records are alike, and as far as the evidence goes, no average is of few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shoal.check.evidence import Evidence
from shoal.check.tables.averages import averages
from shoal.check.tables.compare_rows import Compared, ComparedTables, compare_averages
from shoal.check.tables.publication import CHECKS, PublicationCheck, verify_alike
from shoal.check.verdict import Asked, Verdict
from shoal.data.tables.coded_rows import CodedRows
from shoal.data.tables.table import Table


def _verify(table: Table | CodedRows, asked: Asked, evidence: Evidence) -> Verdict:
    found, alike = averages(table, asked, evidence), verify_alike(table, asked, evidence)
    return replace(found, guarantees=alike.guarantees, unverified=(*found.unverified, *alike.unverified))


def _compare(tables: ComparedTables, evidence: Evidence, method: Mapping[str, Any]) -> Compared:
    return compare_averages(tables, is_stretched=bool(method.get("restore_variance")))


CHECKS.register(PublicationCheck("aggregate", _verify, _compare, uses_groups=True, in_parts=True))
