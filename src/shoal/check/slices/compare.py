"""Is a published table a slicing of the original? Everything that speaks against it, a sentence each.

Where the owner gives the bucket of every record, the answer is exact: in every bucket and slice the published rows
must be those of its records, each row with the sensitive and insensitive values of a record that its region covers.
Without it, each record is looked for in every bucket that could hold it: records that fit nowhere, rows that nobody
could have left, and rows that too few are there for, are found.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints
from shoal.check.guarantee import count
from shoal.check.slices.matching import Finder, match_records, spread
from shoal.check.slices.sliced import CheckedSlices, alike_codes, numbered
from shoal.check.tables.cells import published
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, count_codes, counted

Form = Literal["bucketize", "slice", "screen"]

_MOST_EDGES = 200_000  # of rows that overlap, that are paired off exactly


def malformed(sliced: CheckedSlices, attributes: Mapping[str, Attribute], form: Form) -> list[str]:
    """What keeps a table from being of a form, as far as it shows without the original.

    Bucketized: the sensitive attributes alone in one slice, all others in another. Sliced: the sensitive attributes
    together in one slice. Screened: all of them in every slice, and in each bucket the same sensitive values in every
    slice. Every other attribute stands in one slice.
    """
    layout, found = sliced.layout, []
    if sorted(sliced.table.names) != sorted(layout.names):
        found.append("the columns of the table are not those of its slices")
    if not np.array_equal(sliced.numbers, np.arange(1, sliced.n_buckets + 1)):
        found.append("the buckets are not numbered 1, 2, 3 and so on")
    held = [a for s in layout.slices for a in s.attributes]
    for name in dict.fromkeys(held):
        role = attributes[name].role
        if role == "identifying":
            found.append(f"the identifying attribute {name!r} is published")
        elif role != "sensitive" and held.count(name) > 1:
            found.append(f"the attribute {name!r} stands in {held.count(name)} slices")
    n_part = sum(any(attributes[a].role == "sensitive" for a in s.attributes) for s in layout.slices)
    carrying = sliced.carrying
    if n_part > len(carrying):
        found.append("a slice holds some of the sensitive attributes without the others")
    elif form == "screen":
        if sliced.sensitive and len(carrying) < len(sliced.parts):
            found.append("a slice of a screened table lacks the sensitive attributes")
    elif len(carrying) != 1:
        found.append(f"the sensitive attributes stand in {len(carrying)} slices where one should hold them")
    elif form == "bucketize" and (carrying[0].quasi or len(sliced.parts) != 2):
        found.append("a bucketized table has two slices, the sensitive attributes alone in one of them")
    keys = [_sorted(part.within * sliced.n_sensitive + part.sensitive, part.weights) for part in carrying]
    for part, key in zip(carrying[1:], keys[1:], strict=True):
        if not np.array_equal(key, keys[0]):
            n_other = len(np.unique(key[key != keys[0]] // sliced.n_sensitive))
            found.append(
                f"slices {carrying[0].number + 1} and {part.number + 1} hold different sensitive values in the same "
                f"bucket, in {count(n_other, 'bucket')} or more"
            )
    return found


def _sorted(keys: Ints, weights: Codes | None) -> Ints:
    return np.sort(keys if weights is None else np.repeat(keys, weights))


class SliceRecords:
    """The original beside a published table: in every slice, what is not quasi-identifying as one number."""

    def __init__(
        self,
        finder: Finder,
        original: Table,
        attributes: Mapping[str, Attribute],
        markers: Sequence[str],
        form: Form = "screen",
    ) -> None:
        self.finder, self.sliced, self.form = finder, finder.sliced, form
        self.n_records, self.weights = original.n_records, original.weights
        self.exact: list[Ints] = []  # of every record
        self.types: list[Ints] = []  # distinct region and exact cells, as region * width + exact
        self.rows: list[Ints] = []  # published rows of each type
        self.widths: list[int] = []
        self.surplus: list[int] = []
        for part, one, shown in zip(self.sliced.parts, self.sliced.layout.slices, self.sliced.tables, strict=True):
            codes = {}
            for name, column in zip(one.attributes, one.columns, strict=True):
                both = [published(t, markers) for t in (original[name], shown[column])]
                codes[name] = np.concatenate(alike_codes(both)[0])
            kept = [c for n, c in codes.items() if attributes[n].role != "quasi"]
            ids, first = numbered(kept or [np.zeros(original.n_rows + len(part.region), dtype=np.int64)])
            self.exact.append(ids[: original.n_rows])
            self.widths.append(len(first))
            types, rows = counted(part.region * len(first) + ids[original.n_rows :], part.weights)
            self.types.append(types)
            self.rows.append(rows)
            as_it_is = numbered(list(codes.values()))[0] if form != "screen" else ids
            had, has = (
                count_codes(ids, weights, int(as_it_is.max()) + 1)
                for ids, weights in zip(
                    np.split(as_it_is, [original.n_rows]), (original.weights, part.weights), strict=True
                )
            )
            self.surplus.append(int(np.maximum(has - had, 0).sum()))

    def weigh(self, rows: npt.NDArray[np.intp] | None) -> Codes | None:
        """How many records each of some, or of all, stands for; None where each is one."""
        return self.weights if self.weights is None or rows is None else self.weights[rows]

    def name(self, number: int) -> str:
        """A slice, for a sentence."""
        return f"slice {number + 1} ({', '.join(self.sliced.layout.slices[number].columns)})"

    def edges(self, number: int, exact: Ints, hit: tuple[Ints, Ints], pairs: Ints) -> tuple[Ints, Ints]:
        """Entry and row type, where an entry is a pair of tuple and bucket with exact cells."""
        hit_pair, region = hit
        start = np.searchsorted(hit_pair, pairs, "left")
        entry, place = spread(start, np.searchsorted(hit_pair, pairs, "right") - start)
        keys = region[place] * self.widths[number] + exact[entry]
        at = np.minimum(np.searchsorted(self.types[number], keys), len(self.types[number]) - 1)
        there = self.types[number][at] == keys
        return entry[there], at[there]


def compare_records(
    records: SliceRecords, rows: npt.NDArray[np.intp] | None, buckets: npt.NDArray[np.int32] | None
) -> list[str]:
    """Everything that speaks against the table being made of the records."""
    n_rows = records.sliced.n_records
    if n_rows > records.n_records:
        return [f"the table has {n_rows:,} rows, the original {records.n_records:,} records"]
    found = []
    for number, surplus in enumerate(records.surplus):
        if surplus:
            what = "sensitive and insensitive cells" if records.form == "screen" else "cells"
            found.append(
                f"{records.name(number)} has {count(surplus, 'row')} with {what} that the original does not have, or "
                "not so often"
            )
    n_said = n_rows if rows is None else _n_records(np.unique(rows), records.weights)
    if n_said != n_rows or (rows is not None and len(np.unique(rows)) != len(rows)):
        return [*found, f"{n_said:,} records are said to be published, in {n_rows:,} rows"]
    if rows is not None and buckets is not None:
        return found + _compare_assigned(records, rows, buckets)
    return found + _compare_possible(records, rows)


def _compare_assigned(
    records: SliceRecords, rows: npt.NDArray[np.intp], buckets: npt.NDArray[np.integer[Any]]
) -> list[str]:
    sliced = records.sliced
    place = np.searchsorted(sliced.numbers, buckets)
    place = np.minimum(place, sliced.n_buckets - 1)
    weights = records.weigh(rows)
    if not np.array_equal(count_codes(place, weights, sliced.n_buckets), sliced.sizes) or not np.array_equal(
        sliced.numbers[place], buckets
    ):
        return ["the buckets do not have as many rows as there are records in them"]
    tuples = records.finder.of_record[rows]
    pair_of, first = numbered([tuples, place])
    pair_tuple, pair_bucket = tuples[first], place[first].astype(np.int64)
    found = []
    for part in sliced.parts:
        number = part.number
        hit = records.finder.cover(number, pair_tuple, pair_bucket)
        uncovered = np.bincount(hit[0], minlength=len(first)) == 0
        n_uncovered = _n_records(uncovered[pair_of], weights)
        if n_uncovered:
            found.append(f"{records.name(number)} has no label in their bucket that covers {_records(n_uncovered)}")
        entry_of, one = numbered([pair_of, records.exact[number][rows]])
        n_each = count_codes(entry_of, weights)
        entry, kind = records.edges(number, records.exact[number][rows][one], hit, pair_of[one])
        n_lost = int(n_each[np.bincount(entry, minlength=len(one)) == 0].sum()) - n_uncovered
        if n_lost:
            found.append(
                f"{records.name(number)} has no row in their bucket with the sensitive or insensitive values of "
                f"{_records(n_lost)}"
            )
        if n_uncovered or n_lost:
            continue
        n_unpaired = _unpaired(entry, kind, n_each, records.rows[number])
        if n_unpaired:
            found.append(f"{records.name(number)} has rows in other numbers than its records: {n_unpaired:,} are wrong")
    return found


def _compare_possible(records: SliceRecords, rows: npt.NDArray[np.intp] | None) -> list[str]:
    """Without the buckets of the records: every record in every bucket that could hold it."""
    sliced = records.sliced
    matched = match_records(records.finder, rows)
    chosen = np.arange(len(records.finder.of_record)) if rows is None else np.asarray(rows)
    n_spare = _n_records(chosen, records.weights) - sliced.n_records  # as many may have been suppressed
    exact = [e[chosen] for e in records.exact]
    record_of, one = numbered([matched.of_record, *exact])
    n_each = count_codes(record_of, records.weigh(chosen))
    starts = np.searchsorted(matched.tuples, matched.of_record[one], "left")
    stops = np.searchsorted(matched.tuples, matched.of_record[one], "right")
    record, pair = spread(starts, stops - starts)
    edges = []
    for part in sliced.parts:  # an entry is a record in a bucket that could hold it
        entry, kind = records.edges(part.number, exact[part.number][one][record], matched.hits[part.number], pair)
        edges.append((entry, kind))
    there = np.ones(len(record), dtype=bool)
    for entry, _ in edges:
        there &= np.bincount(entry, minlength=len(record)) > 0
    n_homes = np.bincount(record[there], minlength=len(one))
    found = []
    n_homeless = int(n_each[n_homes == 0].sum())
    if n_homeless > n_spare:
        found.append(f"no bucket could hold {_records(n_homeless)} of the original" + _spare(n_spare))
    sure = there & (n_homes[record] == 1)
    bucket = matched.buckets[pair]
    most = np.bincount(bucket[there], n_each[record[there]], minlength=sliced.n_buckets)
    least = np.bincount(bucket[sure], n_each[record[sure]], minlength=sliced.n_buckets)
    n_short = int((most < sliced.sizes).sum())
    if n_short:
        found.append(f"{count(n_short, 'bucket')} with more rows than there are records that could stand in them")
    n_over = int(np.maximum(least - sliced.sizes, 0).sum())
    if n_over > n_spare:
        found.append(f"buckets have too few rows for {_records(n_over)} that can stand nowhere else" + _spare(n_spare))
    for part, (entry, kind) in zip(sliced.parts, edges, strict=True):
        published_rows = records.rows[part.number]
        use = there[entry]
        entry, kind = entry[use], kind[use]
        most = np.bincount(kind, n_each[record[entry]], minlength=len(published_rows))
        n_unowned = int(np.maximum(published_rows - most, 0).sum())
        if n_unowned:
            found.append(f"{records.name(part.number)} has {count(n_unowned, 'row')} that no record can have left")
        single = sure[entry] & (np.bincount(entry, minlength=len(record))[entry] == 1)
        least = np.bincount(kind[single], n_each[record[entry[single]]], minlength=len(published_rows))
        n_lacking = int(np.maximum(least - published_rows, 0).sum())
        if n_lacking > n_spare:
            found.append(f"{records.name(part.number)} lacks rows of {_records(n_lacking)}" + _spare(n_spare))
    return found


def _n_records(rows: npt.NDArray[Any], weights: Codes | None) -> int:
    """How many records some rows, numbered or marked, stand for."""
    if weights is None:
        return int(rows.sum()) if rows.dtype == bool else len(rows)
    return int(weights[rows].sum(dtype=np.int64))


def _records(n: int) -> str:
    return count(n, "record")


def _spare(n_spare: int) -> str:
    return f", where {n_spare:,} may have been suppressed" if n_spare else ""


def _unpaired(entry: Ints, kind: Ints, n_each: Ints, n_rows: Ints) -> int:
    """Records that are left over when each gets a row of one of its types, and no row is used twice.

    Those with one type come first; the others are paired off by augmenting paths. With very many of them, only
    what the first ones leave and the numbers of rows as a whole are compared.
    """
    choices = np.bincount(entry, minlength=len(n_each))
    single = choices[entry] == 1
    left = n_rows - np.bincount(kind[single], n_each[entry[single]], minlength=len(n_rows)).astype(np.int64)
    n_over = int(np.maximum(-left, 0).sum())
    entry, kind = entry[~single], kind[~single]
    if n_over or not len(entry):
        return n_over
    if len(entry) > _MOST_EDGES:
        possible = np.bincount(kind, n_each[entry], minlength=len(n_rows))
        return int(np.maximum(left - possible, 0).sum())
    return _left_over(entry, kind, n_each, left)


def _left_over(entry: Ints, kind: Ints, n_each: Ints, left: Ints) -> int:
    kinds: dict[int, list[int]] = {}
    for e, k in zip(entry.tolist(), kind.tolist(), strict=True):
        kinds.setdefault(e, []).append(k)
    free = {k: int(left[k]) for k in np.unique(kind).tolist()}
    given: dict[int, dict[int, int]] = {k: {} for k in free}  # kind -> entry -> rows
    n_unplaced = 0
    for start in kinds:
        need = int(n_each[start])
        while need:
            came: dict[int, tuple[int, int]] = {}  # kind -> entry that wants it, and the kind that entry gives up
            queue: deque[tuple[int, int]] = deque([(start, -1)])
            seen = {start}
            end = -1
            while queue and end < 0:
                e, gives = queue.popleft()
                for k in kinds[e]:
                    if k in came or k == gives:
                        continue
                    came[k] = (e, gives)
                    if free[k]:
                        end = k
                        break
                    for other, n in given[k].items():
                        if n and other not in seen:
                            seen.add(other)
                            queue.append((other, k))
            if end < 0:
                n_unplaced += need
                break
            path, k = [], end
            while k >= 0:
                e, gives = came[k]
                path.append((e, k, gives))
                k = gives
            amount = min([need, free[end], *(given[g][e] for e, _, g in path if g >= 0)])
            free[end] -= amount
            need -= amount
            for e, k, gives in path:
                given[k][e] = given[k].get(e, 0) + amount
                if gives >= 0:
                    given[gives][e] -= amount
    return n_unplaced
