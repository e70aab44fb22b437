"""What the protection of linked tables cost: certainty lost in their quasi-identifiers, table by table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.arrays import Codes, Rows
from shoal.data.linked.linked import Linked
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.loss import ncp, penalties
from shoal.utility.tables.scale import scale_of


@dataclass(frozen=True)
class LinkedUtility:
    """Aggregates only.

    Attributes
    ----------
    rows_in, rows_out : mapping of str to int
        Rows of each table before, and after.
    ncp : mapping of str to mapping of str to float
        Of each table, the normalised certainty penalty of each quasi-identifier: 0 none is lost, 1 all; a row that was
        left out counts 1.
    """

    rows_in: Mapping[str, int]
    rows_out: Mapping[str, int]
    ncp: Mapping[str, Mapping[str, float]]

    @property
    def gcp(self) -> float:
        """The mean over all quasi-identifying cells of all tables."""
        cells = [(self.rows_in[name], value) for name, found in self.ncp.items() for value in found.values()]
        n_cells = sum(n for n, _ in cells)
        return sum(n * value for n, value in cells) / n_cells if n_cells else 0.0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "rows": {n: {"in": self.rows_in[n], "out": self.rows_out[n]} for n in self.rows_in},
            "ncp": {name: dict(found) for name, found in self.ncp.items()},
            "gcp": self.gcp,
        }


def measure_linked_loss(
    original: Linked,
    published: Mapping[str, Table],
    rows: Mapping[str, Rows],
    groups: Mapping[str, Codes],
    attributes: Mapping[str, Mapping[str, Attribute]],
) -> LinkedUtility:
    """Measure what was lost."""
    found = {}
    for name, table in published.items():
        before = original.tables[name]
        grouping, kept = Grouping.of(before.n_rows, rows[name], groups[name])
        found[name] = {
            n: ncp(penalties(scale_of(before[n], a), grouping, table[n], kept), grouping)
            for n, a in attributes[name].items()
            if a.role == "quasi"
        }
    return LinkedUtility(
        {n: t.n_rows for n, t in original.tables.items()}, {n: t.n_rows for n, t in published.items()}, found
    )
