"""Slow, obvious twins for sliced tables: labels read by eye, all permutations counted, fractions in place of floats."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np

from shoal.check.slices.sliced import sliced_of
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Table, encode_cells

AGE = Attribute("age", "continuous", "quasi")
JOB = Attribute("job", "nominal", "quasi")
ZIP = Attribute("zip", "nominal", "quasi")
PAY = Attribute("pay", "nominal", "sensitive")
ATTRIBUTES = {a.name: a for a in (AGE, JOB, ZIP, PAY)}
GROUPS = {
    "bucketize": [["age", "job", "zip"], ["pay"]],
    "slice": [["age"], ["zip", "job", "pay"]],
    "screen": [["age", "pay"], ["zip", "job", "pay"]],
}


def as_table(rows, names):
    """Texts and None."""
    cells = np.empty((len(rows), len(names)), dtype=object)
    cells[:] = rows
    return Table.of(encode_cells(n, cells[:, i]) for i, n in enumerate(names))


def covers(label, value):
    """Whether a published cell covers a value; both are texts or None."""
    if label is None or value is None:
        return label is value or label == "*"
    if label.endswith(" or missing"):
        return covers(label.removesuffix(" or missing"), value)
    if label == "*":
        return True
    if label.startswith("{"):
        return value in label[1:-1].split(", ")
    if label.startswith("["):
        low, high = label[1:-1].split("..")
        return float(low) <= float(value) <= float(high)
    return label == value


class Case:
    """A small original, cut into buckets and slices, and its labels.

    Attributes
    ----------
    records : list of dict
        The original.
    buckets : list of list of int
        The records of each bucket.
    cells : list of (list of dict)
        For each slice the published cells of each record, before they are permuted.
    """

    def __init__(self, records, buckets, groups, label, attributes=ATTRIBUTES):
        self.records, self.buckets, self.groups, self.attributes = records, buckets, groups, attributes
        self.cells = [
            [
                {n: label(i, j, n, r[n]) if attributes[n].role == "quasi" else r[n] for n in group}
                for j, r in enumerate(records)
            ]
            for i, group in enumerate(groups)
        ]
        self.layout = Layout.of(groups)
        self.names = list(records[0])

    @property
    def original(self) -> Table:
        return as_table([tuple(r.values()) for r in self.records], self.names)

    @property
    def rows(self):
        return np.concatenate([np.array(b, dtype=np.intp) for b in self.buckets])

    @property
    def bucket_of_row(self):
        return np.concatenate([np.full(len(b), i + 1, dtype=np.int32) for i, b in enumerate(self.buckets)])

    def published(self, rng) -> Table:
        out = []
        for number, members in enumerate(self.buckets, start=1):
            orders = [rng.permutation(members) for _ in self.groups]
            for place in range(len(members)):
                row = [str(number)]
                for group, cells, order in zip(self.groups, self.cells, orders, strict=True):
                    row += [cells[order[place]][n] for n in group]
                out.append(tuple(row))
        return as_table(out, self.layout.names)

    def covered(self, i, j, record) -> bool:
        """Whether the cells that record j left in slice i cover another record's quasi-identifiers."""
        return all(covers(c, record[n]) for n, c in self.cells[i][j].items() if self.attributes[n].role == "quasi")

    def secret(self, i, j):
        """The sensitive values that record j left in slice i, None where it carries none."""
        found = tuple(c for n, c in self.cells[i][j].items() if self.attributes[n].role == "sensitive")
        return found or None

    def expected_rows(self, record) -> dict:
        """For each joint sensitive value the rows that read like a record, on the average over all permutations."""
        total: dict = {}
        for members in self.buckets:
            n_ways, found = 0, {}
            orders = [[tuple(members)], *([list(permutations(members))] * (len(self.groups) - 1))]
            for way in _product(orders):
                rows = list(zip(*way, strict=True))
                values = [{self.secret(i, j) for i, j in enumerate(row)} - {None} for row in rows]
                if any(len(v) != 1 for v in values):
                    continue
                n_ways += 1
                for row, value in zip(rows, values, strict=True):
                    if all(self.covered(i, j, record) for i, j in enumerate(row)):
                        (s,) = value
                        found[s] = found.get(s, 0) + 1
            for s, n in found.items():
                total[s] = total.get(s, Fraction(0)) + Fraction(n, n_ways)
        return total

    def belief(self, record) -> dict:
        """p(t, .) by brute force."""
        total = self.expected_rows(record)
        whole = sum(total.values())
        return {s: n / whole for s, n in total.items()}

    def naive_belief(self, record) -> dict:
        """The paper's Fig. 2: shares of matching rows of every slice, the sensitive values of the last."""
        mixed: dict = {}
        whole = Fraction(0)
        last = max(i for i in range(len(self.groups)) if self.secret(i, 0))
        for members in self.buckets:
            weight = Fraction(1)
            for i in range(len(self.groups)):
                weight *= Fraction(sum(self.covered(i, j, record) for j in members), len(members))
            whole += weight
            beside = [self.secret(last, j) for j in members if self.covered(last, j, record)]
            for s in beside:
                mixed[s] = mixed.get(s, Fraction(0)) + weight * Fraction(1, len(beside))
        return {s: p / whole for s, p in mixed.items() if p}

    def matching(self, record) -> int:
        return sum(
            all(any(self.covered(i, j, record) for j in members) for i in range(len(self.groups)))
            for members in self.buckets
        )


def _product(lists):
    if not lists:
        yield ()
        return
    for first in lists[0]:
        for rest in _product(lists[1:]):
            yield (first, *rest)


def random_case(rng, groups, n_buckets, sizes=(2, 5), generalise=True, n_values=3, attributes=ATTRIBUTES):
    """Random records in random buckets, with labels that cover them and perhaps others."""
    counts = rng.integers(*sizes, size=n_buckets)
    names = dict.fromkeys(n for g in groups for n in g)
    draw = {
        "age": lambda: str(rng.integers(20, 20 + n_values)),
        "job": lambda: "abcde"[rng.integers(n_values)],
        "zip": lambda: "xyz"[rng.integers(2)],
        "pay": lambda: f"p{rng.integers(3)}",
        "ill": lambda: f"i{rng.integers(2)}",
    }
    records = [{n: draw[n]() for n in names} for _ in range(counts.sum())]
    members = np.split(np.arange(len(records)), np.cumsum(counts)[:-1])

    def label(i, j, name, value):
        if not generalise or rng.random() < 0.4:
            return value
        if rng.random() < 0.15:
            return "*"
        if name == "age":
            low, high = int(value) - rng.integers(3), int(value) + rng.integers(3)
            return value if low == high else f"[{low}..{high}]"
        held = sorted({value, *(r[name] for r in records if rng.random() < 0.3)})
        return held[0] if len(held) == 1 else "{" + ", ".join(held) + "}"

    return Case(records, [m.tolist() for m in members], groups, label, attributes)


def beliefs(posterior, original):
    """p(t, .) of each record as a dict by its joint sensitive value; None where no bucket matches."""
    sliced = posterior.matching.sliced
    part = sliced.carrying[0]
    columns = [sliced.table[sliced.layout.slices[part.number].column_of(n)] for n in sliced.sensitive]
    texts = {}
    for row, s in enumerate(part.sensitive.tolist()):
        texts.setdefault(s, tuple(c.cells()[row] for c in columns))
    of_class: dict = {}
    for shares in posterior.distributions():
        for c, v, p in zip(shares.classes.tolist(), shares.values.tolist(), shares.shares.tolist(), strict=True):
            of_class.setdefault(int(shares.ids[c]), {})[texts[v]] = p
    ids = posterior.of_tuple[posterior.matching.of_record]
    assert len(ids) == original.n_rows
    return [of_class.get(int(i)) for i in ids]


__all__ = ["ATTRIBUTES", "GROUPS", "Case", "as_table", "beliefs", "covers", "random_case", "sliced_of"]
