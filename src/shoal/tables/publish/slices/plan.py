"""Which slices, and buckets of how many records: tried on a sample, and taken by what an analyst could rebuild."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import starmap
from typing import Literal

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Rows
from shoal.errors import Infeasible
from shoal.tables.encoding import Ranked
from shoal.tables.information_loss import information_loss
from shoal.tables.limits import Limit, violations
from shoal.tables.publish.slices.bins import Bins
from shoal.tables.publish.slices.buckets import bucket_labels, person_buckets, standing_in_the_way
from shoal.tables.publish.slices.columns import Groups, clustered
from shoal.tables.publish.slices.rebuild import pair_loss
from shoal.tables.publish.slices.regions import labels_overlap, region_labels
from shoal.tables.publish.slices.requirements import JOINED

Form = Literal["bucketize", "slice", "screen"]

Run = Callable[..., Iterable[Codes]]

SAMPLE_ROWS = 10_000
SLICES = (1, 2, 3, 4, 6, 8, 12, 16)  # how many are tried
FLOORS = (4, 32)  # least records of a bucket that are tried, times k
PARTS = (16, 4, 2, 1)  # and shares of the table
CLEARLY = 0.999  # of nearly equal plans the first is taken, which has the fewest slices


@dataclass(frozen=True)
class Plan:
    """Slices of quasi-identifiers and sensitive attributes, and the least number of records of a bucket."""

    slices: tuple[tuple[str, ...], ...]
    bucket_rows: int


@dataclass(frozen=True)
class Records:
    """What a plan is carried out on.

    Attributes
    ----------
    ranked : mapping
        The quasi-identifiers by name.
    limits : tuple of Limit
    keys : int32 array (n_rows,)
        The sensitive value, of all sensitive attributes together.
    sensitive : tuple of str
    persons : int64 array (n_rows,), optional
        Whose each record is, 0, 1, ..., where some have several.
    weights : int32 array (n_rows,), optional
        How many records each row stands for; else each is one.
    some : intp array, optional
        The rows of evenly spaced records, on which plans are tried; else all are.
    """

    form: Form
    k: int
    ranked: Mapping[str, Ranked]
    limits: tuple[Limit, ...]
    keys: Codes
    sensitive: tuple[str, ...]
    strict: bool
    missing: Literal["value", "any"]
    ends: Literal["rounded", "exact"]
    persons: Ints | None = None
    weights: Codes | None = None
    some: Rows | None = None

    def take(self, rows: Rows) -> Records:
        """Some of the records, a row each time it is named; limits are still measured against the whole table."""
        return replace(
            self,
            ranked={n: r.take(rows) for n, r in self.ranked.items()},
            limits=tuple(replace(limit.of_rows(rows), weights=None) for limit in self.limits),
            weights=None,
            some=None,
            keys=self.keys[rows],
            persons=None if self.persons is None else np.unique(self.persons[rows], return_inverse=True)[1],
        )

    @property
    def unlimited(self) -> list[str]:
        """The sensitive attributes of which nothing is required, neither alone nor together."""
        named = {limit.name for limit in self.limits}
        return [] if JOINED.join(self.sensitive) in named else [n for n in self.sensitive if n not in named]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.keys)

    @property
    def n_records(self) -> int:
        """How many there are, where a row may stand for several."""
        return self.n_rows if self.weights is None else int(self.weights.sum(dtype=np.int64))


def carry_out(
    plan: Plan, records: Records, *, block_rows: int = 100_000, run: Run = starmap
) -> tuple[Codes, Codes | None]:
    """Make the buckets and, screening, the regions of each slice."""
    ranked = [records.ranked[n] for n in sorted(records.ranked)]
    beside = values_beside(plan, records) if records.form == "slice" else None
    if records.persons is None and plan.bucket_rows >= records.n_records and not is_violated(records):
        buckets = np.zeros(records.n_rows, dtype=np.int32)
    else:
        if records.persons is None:
            label = partial(bucket_labels, weights=records.weights)
        else:
            label = partial(person_buckets, persons=records.persons)
        n_least = max(records.k, plan.bucket_rows)
        buckets = label(ranked, n_least, records.limits, beside, strict=records.strict, block_rows=block_rows, run=run)
    if records.form != "screen":
        return buckets, None
    place = {name: i for i, name in enumerate(sorted(records.ranked))}
    regions = region_labels(
        ranked,
        [[place[n] for n in s if n in place] for s in plan.slices],
        buckets,
        records.keys,
        records.limits,
        records.k,
        strict=records.strict,
        complete=labels_overlap(ranked, records.strict, records.missing, records.ends),
        block_rows=block_rows,
        run=run,
    )
    return buckets, regions


def is_violated(records: Records) -> bool:
    """Whether all records together violate a limit."""
    return bool(records.limits) and bool(violations(np.zeros(records.n_rows, dtype=np.int64), records.limits)[0])


def values_beside(plan: Plan, records: Records) -> Ints | None:
    """The combination of quasi-identifiers beside each record's sensitive values, numbered; None if there are none."""
    group = next((s for s in plan.slices if set(s) & set(records.sensitive)), ())
    ranked = [records.ranked[n] for n in group if n in records.ranked]
    if not ranked:
        return None
    key = np.zeros(records.n_rows, dtype=np.int64)
    span = 1
    for r in ranked:
        if span > 2**62 // r.n_values:
            uniques, key = np.unique(key, return_inverse=True)
            span = len(uniques)
        key = key * r.n_values + r.ranks
        span *= r.n_values
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def is_diverse(plan: Plan, records: Records) -> bool:
    """Whether all records as one bucket satisfy the limits for each value beside the sensitive ones."""
    beside = values_beside(plan, records) if records.form == "slice" else None
    return beside is None or standing_in_the_way(beside, records.limits, records.weights) == 0


def best_plan(
    records: Records,
    n_slices: int | None,
    phi: Floats,
    names: Sequence[str],
    bins: Mapping[str, Bins],
    bucket_rows: int | Literal["best"],
    step: Callable[[int, int], None] = lambda *_: None,
) -> Plan:
    """Try plans on evenly spaced records and take the one with the least loss; of equal ones the first.

    Departing from the papers, which leave the number of slices to the user, that number and the size of buckets are
    chosen by `pair_loss`. Larger buckets tell less of the link between slices, and so leave room for finer regions.

    Parameters
    ----------
    n_slices : int or None
        None tries up to 16. Slicing then has at least two slices with quasi-identifiers: one alone would be
        bucketization, in which everyone can be found.
    phi : array
        Correlations of `names`, the quasi-identifiers and sensitive attributes.
    """
    ladders = [_ladder(p, records, bucket_rows) for p in _layouts(records, n_slices, phi, names)]
    return _least_loss(ladders, records, bins, step)


def fitted_buckets(plan: Plan, records: Records, bins: Mapping[str, Bins], bucket_rows: int | Literal["best"]) -> Plan:
    """The same slices with the size of buckets that loses least."""
    return _least_loss([_ladder(plan, records, bucket_rows)], records, bins)


def _ladder(plan: Plan, records: Records, bucket_rows: int | Literal["best"]) -> list[Plan]:
    """The plan with every size of buckets that is tried, ascending.

    One slice is Mondrian's generalisation, which cuts the same regions whatever the buckets; and the smallest buckets
    of several slices are just as wide.
    """
    if bucket_rows != "best":
        return [replace(plan, bucket_rows=max(records.k, int(bucket_rows)))]
    if records.form != "screen" or len(plan.slices) == 1:
        return [plan]
    floors = [records.k * f for f in FLOORS] + [max(records.k, records.n_records // part) for part in PARTS]
    return [replace(plan, bucket_rows=f) for f in sorted(set(floors)) if f <= records.n_records]


def _on_sample(plan: Plan, n_rows: int, n_sample: int, k: int) -> Plan:
    """Buckets that are a share of the table become the same share of the sample."""
    if plan.bucket_rows < n_rows // PARTS[0]:
        return plan
    return replace(plan, bucket_rows=max(k, plan.bucket_rows * n_sample // n_rows))


def _least_loss(
    ladders: Sequence[Sequence[Plan]],
    records: Records,
    bins: Mapping[str, Bins],
    step: Callable[[int, int], None] = lambda *_: None,
) -> Plan:
    if len(ladders) == 1 and len(ladders[0]) == 1:
        return ladders[0][0]
    rows = np.arange(records.n_rows) if records.some is None else records.some
    sample = records.take(rows)
    held = {n: replace(bins[n], codes=bins[n].codes[rows]) for n in (*records.ranked, *records.sensitive)}
    losses: list[tuple[float, Plan]] = []
    widest = np.inf  # labels wider than those of one slice, which is Mondrian's generalisation, are never better
    for done, ladder in enumerate(ladders):
        step(done, len(ladders))
        for plan in ladder:
            tried = _on_sample(plan, records.n_records, len(rows), records.k)
            if not is_diverse(tried, sample):
                continue
            try:
                buckets, regions = carry_out(tried, sample)
            except Infeasible:  # the sample has its own shares
                continue
            if regions is not None:
                width = _width(plan, sample, regions)
                if len(plan.slices) == 1:
                    widest = width
                elif width > widest:
                    continue
            loss = pair_loss(
                plan.slices,
                sample.ranked,
                held,
                sample.sensitive,
                buckets,
                None if regions is None else list(regions),
                sample.keys,
                sample.missing,
            )
            losses.append((loss, plan))
    while losses:
        least = min(loss for loss, _ in losses)
        at = next(i for i, (loss, _) in enumerate(losses) if loss * CLEARLY <= least)
        if is_diverse(losses[at][1], records):
            return losses[at][1]
        del losses[at]
    return ladders[0][0]  # whoever asked for these slices is told what stands in the way


def _width(plan: Plan, records: Records, regions: Codes) -> float:
    """How wide the labels are, summed over records and attributes."""
    total = 0.0
    for group, labels in zip(plan.slices, regions, strict=True):
        total += information_loss([records.ranked[n] for n in group if n in records.ranked], labels)
    return total


def _layouts(records: Records, n_slices: int | None, phi: Floats, names: Sequence[str]) -> list[Plan]:
    """Candidates for slices, without what stands in the way of diversity."""
    quasi = sorted(records.ranked)
    at = [names.index(n) for n in quasi]
    between = phi[np.ix_(at, at)]
    if records.form == "screen":
        # Slices are joined on sensitive values: k rows in each are not k that fit in all, and only limits see to that.
        free = _counts(len(quasi)) if not records.unlimited else [1]
        wanted = free if n_slices is None else [min(n_slices, len(quasi))]
        made = [[[*g, *records.sensitive] for g in clustered(quasi, between, c)] for c in wanted]
    else:
        to_sensitive = phi[np.ix_(at, [names.index(n) for n in records.sensitive])].sum(axis=1)
        fit = dict(zip(quasi, to_sensitive, strict=True))
        least = min(2, len(quasi))
        counts = [c + 1 for c in _counts(len(quasi)) if c + 1 >= least] if n_slices is None else [n_slices]
        made = []
        for c in counts:
            made += _around_sensitive(
                quasi,
                between,
                fit,
                list(records.sensitive),
                c,
                least if n_slices is None else 1,
                bool(records.unlimited),
            )
    plans = [Plan(tuple(tuple(s) for s in slices), records.k) for slices in made]
    return list(dict.fromkeys(plans))


def _counts(n_quasi: int) -> list[int]:
    return sorted({min(c, n_quasi) for c in SLICES})


def _around_sensitive(
    quasi: list[str],
    phi: Floats,
    fit: Mapping[str, float],
    sensitive: list[str],
    n_slices: int,
    least: int,
    alone: bool,
) -> list[Groups]:
    """Ways of making n_slices, one with the sensitive attributes: alone, with one attribute, with a cluster."""
    made: list[Groups] = []
    if n_slices - 1 >= least or n_slices > len(quasi):
        made.append([*clustered(quasi, phi, min(n_slices - 1, len(quasi))), sensitive])
    if alone and (made or least > 1):  # beside a value of their own, nothing but a limit hides them
        return made
    nearest = max(quasi, key=lambda n: fit[n])
    others = [n for n in quasi if n != nearest]
    if others and 1 <= n_slices - 1 <= len(others) and n_slices >= least:
        kept = [i for i, n in enumerate(quasi) if n != nearest]
        made.append([*clustered(others, phi[np.ix_(kept, kept)], n_slices - 1), [nearest, *sensitive]])
    if n_slices <= len(quasi) and n_slices >= least:
        groups = clustered(quasi, phi, n_slices)
        joined = max(range(len(groups)), key=lambda i: float(np.mean([fit[n] for n in groups[i]])))
        rest = [g for i, g in enumerate(groups) if i != joined]
        made.append([*rest, [*groups[joined], *sensitive]])
    return made
