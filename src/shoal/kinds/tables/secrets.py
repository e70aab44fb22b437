"""What `private/` can keep of a release of a table: by it published rows are tied to original ones, so it is secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from shoal.check.evidence import Evidence
from shoal.check.tables.publication import needs_original, uses_groups
from shoal.data.tables.persons import provider_codes
from shoal.data.tables.table import Table
from shoal.data.tables.write import write_table
from shoal.errors import PolicyError
from shoal.kinds.tables.policy import Policy
from shoal.secrets import write_groups, write_key, write_persons, write_providers, write_published_groups, write_rows

if TYPE_CHECKING:
    from shoal.releases.series import Series


@dataclass(frozen=True)
class TableSecrets:
    """What ties the rows of a published table to those of the original.

    Attributes
    ----------
    published : Table
        Without pseudonyms.
    rows, groups : arrays of n_published
        The original row behind each published one, and the group that it stands in.
    quasi : sequence of str
        The quasi-identifiers.
    key : bytes, optional
        Of pseudonyms, where there are some.
    """

    original: Table
    published: Table
    rows: npt.NDArray[np.intp] = field(repr=False)
    groups: npt.NDArray[np.int32] = field(repr=False)
    evidence: Evidence = field(repr=False)
    policy: Policy
    quasi: Sequence[str]
    key: bytes | None = field(default=None, repr=False)
    series: Series | None = field(default=None, repr=False)

    def refuse(self, keep: Sequence[str]) -> None:
        """Refuse to keep what this release does not have."""
        if "key" in keep and self.key is None:
            raise PolicyError("there are no pseudonyms, so there is no key to keep; leave it out, or set keep_person")
        if "ledger" in keep and self.series is None:
            raise PolicyError(
                "a ledger is kept of a release that others follow: ask for it before it is made (--keep ledger with "
                'the command, or releases = "several" in the policy)'
            )
        if "persons" in keep and not self.policy.person:
            raise PolicyError("no persons were counted, so there is no list of them to keep; leave it out")
        if "providers" in keep and not self.policy.provider:
            raise PolicyError("no provider is named, so there is no list of them to keep; leave it out")
        if {"mapping", "rows"} & set(keep) and self._has_counterfeits:
            raise PolicyError("counterfeits stand for no record, so rows cannot be kept; keep the ledger alone")
        if {"mapping", "persons", "providers", "rows"} & set(keep) and needs_original(self.policy.method.publication):
            raise PolicyError("a published row stands for no record, so no value became another; keep groups alone")

    @property
    def _has_counterfeits(self) -> bool:
        return self.series is not None and bool(self.series.m) and bool(self.series.is_counterfeit[self.rows].any())

    def write(self, folder: Path, keep: Sequence[str], checksum: str) -> None:
        """Write those that are to be kept; `checksum` is that of the published file."""
        if "groups" in keep:
            assert self.evidence.original_groups is not None
            write_groups(folder, self.evidence.original_groups)
            if uses_groups(self.policy.method.publication):
                write_published_groups(folder, self.groups)
        if "ledger" in keep and self.series is not None:
            self._write_ledger(folder, self.series, checksum)
        if "mapping" in keep:
            self._write_mapping(folder)
        if "rows" in keep:
            write_rows(folder, self.rows)
        elif "persons" in keep:  # which the rows would tell too
            self._write_persons(folder)
        if "providers" in keep and "rows" not in keep:
            providers = provider_codes(self.original, self.policy.provider)
            write_providers(folder, np.unique(providers, return_index=True)[1][providers[self.rows]])
        if "key" in keep and self.key is not None:
            write_key(folder, self.key)

    def _write_persons(self, folder: Path) -> None:
        """Whose each published row is, as the first row of that person."""
        persons = self.evidence.original_persons
        assert persons is not None
        _, first, number = np.unique(persons, return_index=True, return_inverse=True)
        listed = first[number.reshape(-1)[self.rows]]
        if self.series is not None:  # counterfeits come after all records
            false = np.flatnonzero(self.series.is_counterfeit[self.rows])
            listed[false] = self.series.n_records + np.arange(len(false))
        write_persons(folder, listed)

    def _write_ledger(self, folder: Path, series: Series, checksum: str) -> None:
        """What this release and those before it published about each person."""
        _, first = np.unique(self.groups, return_index=True)
        columns = {n: self.published[n] for n in self.quasi}
        labels = {n: [c.texts()[i] for i in c.codes[first].tolist()] for n, c in columns.items()}
        series.ledger(self.groups, self.rows, labels, checksum).write(folder)

    def _write_mapping(self, folder: Path) -> None:
        """What each distinct value became, with the number of records, one file a quasi-identifier."""
        from shoal.data.tables.mapping import applied_mapping

        for i, name in enumerate(self.quasi, start=1):
            path = folder / f"mapping-{i}.csv"
            write_table(applied_mapping(self.original[name].take(self.rows), self.published[name]), path)
