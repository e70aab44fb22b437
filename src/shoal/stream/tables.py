"""StreamWindows of a table: greedy clusters of k persons, one label for each, in an order that tells nothing.

**Guarantee.** All records of a class come out together, one after the other, in a window that comes out at once, and a
class has records of at least k persons. So also who knows when each record came in, and sees when each comes out, is
left with k persons for every published record. What else is required holds of every class by itself: where one of a
window would fail, all of that window are made anew of twice as many (`shoal.tables.blind`), so that no single class
tells by its size what its sensitive values are.

**Not protected.** One who comes again: whoever knows that two records are of one person may compare the sensitive
values of their classes. That a record came in within a window, and how many did.

References
----------
J. Cao, B. Carminati, E. Ferrari, K.-L. Tan, "CASTLE: continuously anonymizing data streams", IEEE TDSC 8(3), 2011.
J.-W. Byun, A. Kamra, E. Bertino, N. Li, "Efficient k-anonymization using clustering techniques", DASFAA 2007.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np

from shoal.arrays import Codes, Rows, Singles
from shoal.check.finding import UNPROTECTED, Finding, refuse_serious
from shoal.check.tables.singled_out import findings_of
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.header import numbered_names
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.persons import person_codes
from shoal.data.tables.table import Table, encode_cells
from shoal.errors import DataError, Infeasible, PolicyError, did_you_mean
from shoal.kernels.tables.window_groups import group_window
from shoal.kinds.tables.manifest import PublishedColumn
from shoal.kinds.tables.policy import ColumnPolicy, Policy
from shoal.stream.columns import StreamColumn, UnreadableCell, column_for
from shoal.stream.text import (
    WindowCells,
    csv_cell,
    csv_cells,
    csv_lines,
    find_delimiter,
    json_cells,
    json_lines,
    json_object,
)
from shoal.stream.windows import BadRecord, Made, StreamWindows, Window
from shoal.tables.blind import smallest_that_holds
from shoal.tables.groups import Groups, n_persons_in
from shoal.tables.limits import Limit, limits_on_table, violations

BLOCK_RECORDS = 5000
NO_CLASS, NO_DIVERSITY = "fewer than k persons in a window", "no class of a window met what is required"


@dataclass
class _Prepared:
    """A window on its way."""

    window: Window
    cells: WindowCells
    read: dict[str, Any]
    points: Singles
    weights: Singles
    persons: Codes
    limits: tuple[Limit, ...]
    number: int
    labels: Codes = field(default_factory=lambda: np.zeros(0, np.int32))
    n_groups: int = 0


class TableWindows(StreamWindows):
    """Publish windows of a table.

    Parameters
    ----------
    policy : Policy
    seed : int, optional
        What the order of published records is drawn from; a secret.
    """

    attacker = (
        "knows the quasi-identifiers of everybody, when each record came in, and when each came out",
        "does not know whose two records are, of one who came several times",
    )

    def __init__(self, policy: Policy, seed: int | None = None) -> None:
        refuse_policy(policy)
        self.policy, self.k = policy, policy.k
        self._entropy = np.random.SeedSequence(seed).entropy
        self.attributes: Mapping[str, Attribute] = {}
        self.names: list[str] = []
        self.is_json, self.delimiter = False, ","
        self.columns: list[StreamColumn] = []
        self._n_windows = 0
        self._is_looked_at = False

    @property
    def _is_averaged(self) -> bool:
        return self.policy.method.publication == "aggregate"

    @property
    def is_quoted(self) -> bool:
        return not self.is_json

    @property
    def file_name(self) -> str:
        return "data.jsonl" if self.is_json else "data.csv"

    def begin(self, line: bytes) -> int:
        self.is_json = line.lstrip().startswith(b"{")
        if self.is_json:
            self.names = list(json_object(line, 1))
            self._refuse_absent()
            return 0
        text = line.decode("utf-8-sig", "replace").rstrip("\r\n")
        self.delimiter = (self.policy.reading or {}).get("delimiter") or find_delimiter(text)
        cells = next(csv.reader(io.StringIO(text), delimiter=self.delimiter), [])
        self.names = numbered_names(len(cells)) if self.policy.header == "none" else [c.strip() for c in cells]
        if len(set(self.names)) < len(self.names) or not all(self.names):
            raise DataError(
                "the first line does not give every column a name of its own; correct it, or say header = "
                '"none" if it is a record'
            )
        self._refuse_absent()
        return 0 if self.policy.header == "none" else len(line)

    def _refuse_absent(self) -> None:
        """Refuse a first line without the columns of the policy; if it has none of them, it may be a record, and no
        word of it is quoted."""
        asked = [*(n for n in self.policy.columns if n != "*"), *self.policy.person]
        absent = [n for n in asked if n not in self.names]
        if absent:
            is_header = len(absent) < len(asked)
            hint = did_you_mean(absent[0], self.names) if is_header else "begin with the header, or correct the policy"
            raise PolicyError(f"the first line does not name the column {absent[0]!r}, which the policy does; {hint}")

    def head(self) -> bytes:
        if self.is_json or self.policy.header == "none":
            return b""
        return csv_lines([[n] for n in self.published], self.delimiter, is_plain=False)

    @property
    def published(self) -> list[str]:
        """The columns that are published."""
        return [n for n in self.names if self.attributes[n].role != "identifying"]

    def prepare(self, window: Window) -> _Prepared:
        if self.is_json:
            cells = json_cells(window.text, self.names, window.first)
        else:
            cells = csv_cells(window.text, self.names, self.delimiter, window.first)
        try:
            if not self.attributes:
                self._refuse_unreadable(cells)
                self._settle(cells)
            read = {c.name: c.read(cells) for c in self.columns}
        except UnreadableCell as error:
            raise BadRecord(window.first + error.place, str(error)) from None
        laid_out = [c.points(read[c.name]) for c in self.columns]
        points = np.ascontiguousarray(np.vstack([p for p, _ in laid_out]))
        persons, limits = self._persons(window, cells), ()
        sensitive = [n for n, a in self.attributes.items() if a.role == "sensitive"]
        if sensitive and any(r.is_about_values() for r in self.policy.require):
            table = self._table(cells, sensitive)
            whose = persons.astype(np.int64) if self.policy.person else None
            limits = limits_on_table(table, self.policy.require, self.attributes, sensitive, self.policy.missing, whose)  # type: ignore[assignment]
        self._n_windows += 1
        weights = np.concatenate([w for _, w in laid_out])
        return _Prepared(window, cells, read, points, weights, persons, limits, self._n_windows)

    def _refuse_unreadable(self, cells: WindowCells) -> None:
        """`UnreadableCell` where the first window is not what the policy says of a column, before all is settled by it.

        So that such a record can be passed over as one of a later window can.
        """
        empty = Table.of(encode_cells(n, np.zeros(0, dtype=object)) for n in self.names)
        for name, attribute in attributes_of(empty, self.policy).items():
            given = self._given(name)
            if attribute.role == "quasi" and (given.type or given.order or given.hierarchy):
                self._column(attribute).read(cells)

    def _settle(self, cells: WindowCells) -> None:
        """Take from the first window what the policy does not say, once and for all."""
        attributes = attributes_of(self._table(cells, self.names), self.policy)
        for name, attribute in attributes.items():
            if self._given(name).hierarchy == "auto":
                raise PolicyError(
                    f"columns.{name}.hierarchy: an automatic hierarchy needs all values, and a stream has no end; give "
                    "a file, or leave it out"
                )
            if attribute.type == "prefix":
                attributes[name] = replace(attribute, hierarchy=None)
        self._take(attributes)

    def _given(self, name: str) -> ColumnPolicy:
        """What the policy says of a column."""
        return self.policy.columns.get(name, self.policy.columns.get("*", ColumnPolicy()))

    def _take(self, attributes: Mapping[str, Attribute]) -> None:
        quasi = [a for a in attributes.values() if a.role == "quasi"]
        if not quasi:
            raise PolicyError("no column is quasi-identifying, so there is nothing to hide records by; name one")
        self.attributes = attributes
        self.columns = [self._column(a) for a in quasi]

    def _column(self, attribute: Attribute) -> StreamColumn:
        asked = self.policy
        return column_for(
            attribute, asked.missing, asked.missing_markers, asked.method.ends, is_averaged=self._is_averaged
        )

    def _table(self, cells: WindowCells, names: Sequence[str]) -> Table:
        markers = frozenset(self.policy.missing_markers)
        return Table.of(
            encode_cells(n, np.array([None if c in markers else c for c in cells[n]], dtype=object)) for n in names
        )

    def _persons(self, window: Window, cells: WindowCells) -> Codes:
        if not self.policy.person:
            return np.arange(window.n_records, dtype=np.int32)
        table = self._table(cells, self.policy.person)
        for name in self.policy.person:
            if table[name].has_missing:
                where = int(np.flatnonzero(table[name].missing)[0])
                raise BadRecord(window.first + where, f"column {name!r}, which says whose it is, is empty; fill it in")
        return person_codes(table, self.policy.person).astype(np.int32)

    def work(self, prepared: _Prepared) -> _Prepared:
        labels = np.empty(prepared.window.n_records, np.int32)

        def make(size: int) -> int:
            return group_blocks(prepared.points, prepared.weights, prepared.persons, size, labels)

        def holds(n_groups: int) -> bool:
            return n_groups > 0 and not violations(labels, prepared.limits).any()

        if not prepared.limits:
            prepared.n_groups = make(self.k)
        elif len(np.unique(prepared.persons)) >= self.k:
            n_persons = len(np.unique(prepared.persons))
            try:
                prepared.n_groups = smallest_that_holds(self.k, n_persons, make, holds)[1]
            except Infeasible:
                prepared.n_groups = -1
        prepared.labels = labels
        return prepared

    def finish(self, worked: _Prepared) -> Made:
        if worked.n_groups <= 0:
            n = worked.window.n_due if worked.n_groups == 0 else worked.window.n_records
            return Made(b"", n, 0, {NO_CLASS if worked.n_groups == 0 else NO_DIVERSITY: n})
        groups = Groups.of(worked.labels)
        if n_persons_in(worked.labels, worked.persons.astype(np.int64), len(groups.sizes)).min() < self.k:
            raise DataError("a class of fewer than k persons was made; nothing of its window was published")
        labels = {c.name: c.labels(worked.read[c.name], groups) for c in self.columns}
        if not self._is_looked_at:
            self._refuse_singled_out(worked, labels)
        order = self._order(worked, groups)
        data = self._written(worked, labels, order)
        persons = worked.persons[order] if self.policy.person else None
        return Made(data, worked.window.n_records, len(order), persons=persons)

    def _refuse_singled_out(self, worked: _Prepared, labels: Mapping[str, list[str]]) -> None:
        """`Infeasible` where columns that are published as they are tell too many of the first window apart, or look
        sensitive, unless the policy takes that."""
        of_rows = worked.labels.tolist()
        shown = {n: [labels[n][g] for g in of_rows] if n in labels else worked.cells[n] for n in self.published}
        found = findings_of(
            Table.of(encode_cells(n, np.array(cells, dtype=object)) for n, cells in shown.items()),
            {n: self.attributes[n] for n in self.published},
            has_labels=True,
            markers=self.policy.missing_markers,
            limit=self.policy.limits.singled_out,
            accepted=self.policy.accept,
            persons=worked.persons if self.policy.person else None,
        )
        refuse_serious([*found, *self._unprotected()])
        self._is_looked_at = True

    def _unprotected(self) -> tuple[Finding, ...]:
        """Columns that look sensitive, though nobody called them so, and that nothing is required of."""
        from shoal.kinds.tables.findings import unprotected

        required = [r for r in self.policy.require if r.is_about_values()]
        guessed = [n for n, a in self.attributes.items() if a.role == "sensitive" and not self.policy.states_role_of(n)]
        names = [n for n in guessed if not any(r.column in (None, n) for r in required)]
        return unprotected(names, self.policy.accept.get(UNPROTECTED))

    def _written(self, worked: _Prepared, labels: Mapping[str, list[str]], order: Rows) -> bytes:
        """Records in their order: labels side by side are put together once for each class, not for each record."""
        of_rows = worked.labels[order].tolist()
        take = itemgetter(*order.tolist())  # a class has two records at least
        is_plain = worked.cells.is_plain
        shown: list[Sequence[str]] = []
        texts: list[list[str]] = []

        def put_labels() -> None:
            if texts:
                joined = list(map(self.delimiter.join, zip(*texts, strict=True)))
                shown.append([joined[g] for g in of_rows])
                texts.clear()

        for name in self.published:
            if name in labels:
                texts.append([csv_cell(t, self.delimiter) for t in labels[name]] if is_plain else labels[name])
                if not is_plain:
                    put_labels()
            else:
                put_labels()
                shown.append(take(worked.cells[name]))
        put_labels()
        if self.is_json:
            return json_lines(shown, self.published)
        return csv_lines(shown, self.delimiter, is_plain=is_plain)

    def records(self, data: bytes) -> list[dict[str, str]]:
        """Published lines as dicts."""
        if self.is_json:
            return [json.loads(line) for line in data.splitlines()]
        rows = csv.reader(io.StringIO(data.decode(), newline=""), delimiter=self.delimiter)
        return [dict(zip(self.published, row, strict=True)) for row in rows]

    def _order(self, worked: _Prepared, groups: Groups) -> Rows:
        """Classes in an order that a secret draws, and so are the records of each."""
        rng = np.random.default_rng(np.random.SeedSequence(self._entropy, spawn_key=(worked.number,)))
        place = rng.permutation(len(groups.sizes))
        return np.lexsort((rng.random(len(worked.labels)), place[worked.labels]))

    def state(self) -> dict[str, Any]:
        return {
            "entropy": str(self._entropy),
            "windows": self._n_windows,
            "names": self.names,
            "json": self.is_json,
            "delimiter": self.delimiter,
            "attributes": {n: [a.type, a.role] for n, a in self.attributes.items()},
            "columns": [c.state() for c in self.columns],
        }

    def restore(self, state: dict[str, Any]) -> None:
        self._entropy, self._n_windows, self._is_looked_at = int(state["entropy"]), state["windows"], True
        self.names, self.is_json, self.delimiter = state["names"], state["json"], state["delimiter"]
        if state["attributes"]:
            known = self.policy.columns
            meant = {
                n: (known[n] if n in known else ColumnPolicy()).model_copy(update={"type": t, "role": r})
                for n, (t, r) in state["attributes"].items()
            }
            nothing = Table.of(encode_cells(n, np.zeros(0, dtype=object)) for n in self.names)
            self._take(attributes_of(nothing, self.policy.model_copy(update={"columns": meant, "person": ()})))
            for column, kept in zip(self.columns, state["columns"], strict=True):
                column.restore(kept)

    def told(self) -> dict[str, Any]:
        columns = {
            n: PublishedColumn.of(replace(self.attributes[n], order=None, hierarchy=None), has_labels=False)
            for n in self.published
        }
        asked = self.policy
        return {
            "delimiter": None if self.is_json else self.delimiter,
            "header": asked.header,
            "missing": asked.missing,
            "missing_markers": list(asked.missing_markers),
            "person": list(asked.person) or None,
            "require": [r.model_dump(exclude_none=True) for r in asked.require],
            "columns": {n: c.model_dump(exclude_none=True) for n, c in columns.items()},
            "method": {"partition": "k-member", "publish": asked.method.publication}
            | ({} if self._is_averaged else {"ends": asked.method.ends}),
        }

    def loss(self, n_records: int) -> dict[str, float]:
        shares = {c.name: c.share_lost(n_records) for c in self.columns}
        name = "IL" if self._is_averaged else "NCP"
        return {
            name: float(np.mean(list(shares.values()))) if shares else 0.0,
            **{f"{name} of {n}": s for n, s in shares.items()},
        }


def group_blocks(points: Singles, weights: Singles, persons: Codes, k: int, labels: Codes) -> int:
    """Cluster the records of a window, those of a large one in blocks: the work grows with the square of a block.

    A block is cut in two at the median of the column in which it is widest, unless a side would have no k persons.
    """
    waiting, n_groups = [np.arange(len(labels))], 0
    while waiting:
        rows = waiting.pop()
        if len(rows) > BLOCK_RECORDS:
            part = points[:, rows]
            column = part[int(np.argmax(weights * np.minimum(np.ptp(part, axis=1), 1)))]
            order = np.argsort(column, kind="stable")
            sides = [rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]]
            if min(len(np.unique(persons[side])) for side in sides) >= k:
                waiting += sides
                continue
        found = np.empty(len(rows), np.int32)
        n_found = group_window(np.ascontiguousarray(points[:, rows]), weights, persons[rows], k, found)
        labels[rows] = found + n_groups if n_found else -1
        n_groups += n_found
    return n_groups


def refuse_policy(policy: Policy) -> None:
    """Refuse what a stream cannot keep, rather than forget it."""
    relative, reading = [r.model for r in policy.require if r.is_relative], policy.reading or {}
    asked = {
        f"{relative[0] if relative else ''} compares a class with the whole table, and a stream has no whole": relative,
        f"publish = {policy.method.publication} is for whole tables; a stream publishes labels or averages": (
            policy.method.publication not in ("generalise", "aggregate")
        ),
        "restore_variance needs the variance of a whole": policy.method.restore_variance,
        f"method = {policy.method.partition} gives all records one recoding, for which all must be there": (
            policy.method.is_recoding
        ),
        "person_knowledge = history needs all records of a person at once": policy.person_knowledge == "history",
        "memory is for shoal anonymize, and a stream holds one window": policy.memory is not None,
        "order = original would tell who came when": policy.order == "original",
        "target is for reports on whole tables": policy.target is not None,
        "shift needs all records of a person at once": bool(policy.shifted),
        "metadata describes a whole table": policy.metadata,
        "a stream is read as UTF-8 with points in numbers; encoding and decimal are for files": (
            reading.get("encoding", "utf-8").casefold() not in ("utf-8", "utf8") or reading.get("decimal", ".") != "."
        ),
    }
    for what, is_asked in asked.items():
        if is_asked:
            raise PolicyError(f"{what}; leave it out")
