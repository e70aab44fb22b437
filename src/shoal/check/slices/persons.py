"""Buckets counted by persons: for tables whose persons have several records.

A person must have all records in one bucket: records that stand in several can be found by quasi-identifiers that
nobody else has, and what their buckets have in common tells more than any of them. Every bucket must hold k persons;
and the sensitive values of a bucket, beside each combination of quasi-identifiers that stands in their slice, must meet
every model both by records and by persons, a person counting once for each of its values.

Slices are permuted, so whose row it is cannot be said. It is counted in the records of the original that are in each
bucket, and that the bucket publishes just these is for `compare`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Ints
from shoal.check.guarantee import Guarantee, count, number
from shoal.check.slices.sliced import numbered
from shoal.check.tables.cells import published
from shoal.check.tables.classes import Classes
from shoal.check.tables.models import check_of
from shoal.check.tables.verify import verify, worse
from shoal.check.verdict import Asked
from shoal.data.tables.table import Column, Table
from shoal.models import Model

NEEDS_GROUPS = (
    "How many persons a bucket has cannot be seen in the published table, so records were counted; to count persons, "
    "give the original and the groups that the owner keeps (--original and --private)."
)
NO_SCREENS = (
    "Whoever joins screened slices pairs rows, also two of one person: that it holds for persons cannot be shown."
)


@dataclass(frozen=True)
class PersonsInBuckets:
    """The records that were published, by bucket and person.

    Attributes
    ----------
    records : Table
        Of the original.
    buckets, persons : int64 arrays
        Where each stands, and whose it is; both 0, 1, ...
    """

    records: Table
    buckets: Ints
    persons: Ints

    @classmethod
    def of(cls, original: Table, groups: Ints, persons: Ints) -> PersonsInBuckets:
        """Of the group and the person of every original record; a negative group is none."""
        rows = np.flatnonzero(groups >= 0)
        buckets, whose = (np.unique(x[rows], return_inverse=True)[1].astype(np.int64) for x in (groups, persons))
        return cls(original.take(rows), buckets, whose)

    @property
    def sizes(self) -> Ints:
        """The persons of each bucket."""
        pairs = np.unique(np.column_stack([self.buckets, self.persons]), axis=0)
        return np.bincount(pairs[:, 0]).astype(np.int64)

    @property
    def findings(self) -> tuple[str, ...]:
        """That a person is in several buckets."""
        pairs = np.unique(np.column_stack([self.persons, self.buckets]), axis=0)
        n_apart = int((np.bincount(pairs[:, 0]) > 1).sum())
        if not n_apart:
            return ()
        return (
            f"{count(n_apart, 'person')} {'has' if n_apart == 1 else 'have'} records in several buckets, so what these "
            "have in common can be told of them",
        )

    def judged(self, found: Sequence[Guarantee], asked: Asked) -> tuple[Guarantee, ...]:
        """What was found by records, or by persons where that is worse; sizes by persons in any case."""
        by_persons = {
            _key(g): (g, check_of(required).is_low_worse(required))
            for required in asked.requirements
            for g in self._guarantees(required, asked)
        }
        told = []
        for guarantee in found:
            if not guarantee.sensitive:
                told.append(self._sized(guarantee))
            elif _key(guarantee) in by_persons:
                held, is_low_worse = by_persons[_key(guarantee)]
                told.append(worse(held, guarantee, low_is_worse=is_low_worse))
        return tuple(told)

    def _sized(self, by_records: Guarantee) -> Guarantee:
        sizes, k = self.sizes, by_records.required["k"]
        failing, least = sizes < k, int(sizes.min())
        order = np.argsort(sizes, kind="stable")[: len(by_records.worst)].tolist()
        named = [
            replace(w, values={n: str(i + 1) for n in list(w.values)[:1]}, size=int(sizes[i]), achieved=float(sizes[i]))
            for w, i in zip(by_records.worst, order, strict=True)
        ]
        sentence = f"Every bucket has all records of {count(least, 'person')} or more (required: {number(k)})."
        if failing.any():
            sentence = (
                f"k-anonymity fails in {int(failing.sum())} of {count(len(sizes), 'bucket')}: a bucket has records of "
                f"{count(least, 'person')} only (required: {number(k)})."
            )
        return replace(
            by_records,
            achieved=float(least),
            holds=not failing.any(),
            n_classes=len(sizes),
            n_failing=int(failing.sum()),
            worst=tuple(named),
            sentence=sentence,
        )

    def _guarantees(self, required: Model, asked: Asked) -> tuple[Guarantee, ...]:
        """One model of sensitive values, in each bucket beside each value that stands beside them."""
        if not required.is_about_values():
            return ()
        assert asked.layout is not None
        sensitive, table = list(asked.sensitive), self.records
        least = check_of(required).least_rows(required)
        wanted = required.model_copy(update={"k": 1}) if least else required  # it is of buckets
        if asked.jointly and len(sensitive) > 1 and required.column is None:
            joint = self._joint(asked)
            table, sensitive = Table.of([joint]), [joint.name]
            if "distance" in type(required).model_fields:
                wanted = wanted.model_copy(update={"distance": "equal"})
        holding = next(s for s in asked.layout.slices if set(asked.sensitive) <= set(s.attributes))
        beside = [n for n in holding.attributes if n in asked.quasi]
        shown = [published(self.records[n], asked.markers) for n in beside]
        ids, first = numbered([self.buckets, *(c.codes for c in shown)])
        held = verify(
            table,
            [wanted],
            beside,
            sensitive,
            missing=asked.missing,
            markers=asked.markers,
            attributes=asked.attributes,
            classes=Classes((), ids, np.bincount(ids).astype(np.int64), first),
            persons=self.persons,
        )
        return tuple(self._of_buckets(g, least, beside) for g in held)

    def _of_buckets(self, held: Guarantee, least: int, beside: Sequence[str]) -> Guarantee:
        """The same, said of buckets."""
        one, many = "bucket", "buckets"
        if beside:
            agree = f"of records of a bucket that agree in {', '.join(map(repr, beside))}"
            one, many = f"group {agree}", f"groups {agree}"
        look = "of records that look alike"
        sentence = held.sentence.replace(f"groups {look}", many).replace(f"group {look}", one)
        if not least:
            return replace(held, sentence=sentence)
        smallest = int(self.sizes.min())
        sentence = (
            f"The smallest bucket has {count(smallest, 'person')} (required: {least}), and a value of "
            f"{held.sensitive!r} makes up to {number(held.achieved)} of a {one} "
            f"(allowed: {number(held.required['alpha'])})."
        )
        return replace(
            held,
            required={**held.required, "k": least},
            holds=held.holds and smallest >= least,
            details={"k": smallest},
            sentence=sentence,
        )

    def _joint(self, asked: Asked) -> Column:
        """All sensitive values of a record as one; missing, if one of them is and may be any."""
        columns = [published(self.records[n], asked.markers) for n in asked.sensitive]
        codes, first = numbered([c.codes for c in columns])
        if asked.missing == "any":
            absent = np.any([c.missing for c in columns], axis=0)
            codes = np.where(absent, len(first), codes)
        names = np.array([f"value {i}" for i in range(len(first))], dtype=object)
        return Column(", ".join(asked.sensitive), codes.astype(np.int32), names, ("",))


def _key(guarantee: Guarantee) -> tuple[object, ...]:
    return guarantee.model, guarantee.kind, guarantee.sensitive, tuple(sorted(guarantee.required.items()))
