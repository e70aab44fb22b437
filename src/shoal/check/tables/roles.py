"""Roles and types of published columns, by the manifest and by a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.data.tables.attribute import Attribute
from shoal.kinds.tables.policy import Policy


def other_roles(meant: Mapping[str, Attribute], policy: Policy) -> list[str]:
    """Columns that were published as something else than the policy says."""
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


def with_role(policy: Policy, held: Sequence[str], role: str, names: Sequence[str]) -> list[str]:
    """Columns of a role by the manifest, and those that have it by the policy alone."""
    given = [n for n in held if _role(policy, n) == role]
    return [*names, *(n for n in given if n not in names)]


def _role(policy: Policy, name: str) -> str | None:
    """The role that a policy gives a column, by its name or as one of all others."""
    column = policy.columns.get(name) or policy.columns.get("*")
    return column.role if column is not None else None
