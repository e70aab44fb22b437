"""What a table in slices keeps: each attribute within its slice, and what is rebuilt across slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints, Rows
from shoal.data.tables.slices import SlicedTable
from shoal.data.tables.table import Column, Table, row_keys
from shoal.kinds.tables.policy import Policy
from shoal.utility.tables import loss
from shoal.utility.tables.attributes import AttributeComparison, compare
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.measure import Loss, Utility, measure
from shoal.utility.tables.reading import Labels, Ranges, Reading, Sets, read_published
from shoal.utility.tables.scale import Scale, scale_of

MOST_REBUILT = 100_000
OF_REBUILT = ("query-error", "IL2", "IL3", "IL4", "IL5")


def measure_slices(
    original: Table,
    sliced: SlicedTable,
    sources: Sequence[Rows],
    policy: Policy,
    persons: Ints | None = None,
) -> Utility:
    """Compare a table in slices with the original.

    Certainty lost is that of the labels within their slice. Counts and associations are those of `rebuilt` records, as
    an analyst would have to make them, of at most 100,000.

    Parameters
    ----------
    sources : sequence of intp arrays (n_published,)
        Of each slice, the row of the original whose content stands in each published row.
    persons : int64 array (original.n_rows,), optional
        As for `measure`.
    """
    published, layout, attributes = sliced.rows, sliced.layout, sliced.attributes
    compared: dict[str, AttributeComparison] = {}
    penalties, of_persons = [], []
    for part, rows in zip(layout.slices, sources, strict=True):
        quasi = [c for c, a in zip(part.columns, part.attributes, strict=True) if attributes[a].role == "quasi"]
        regions = row_keys([published[c] for c in (layout.bucket, *quasi)]).astype(np.int32)
        grouping, kept = Grouping.of(original.n_rows, rows, regions)
        for column, name in zip(part.columns, part.attributes, strict=True):
            scale = scale_of(original[name], attributes[name])
            reading = read_published(scale, replace(published[column], name=name), kept, grouping)
            ncp = None
            if attributes[name].role == "quasi":
                lost = loss.penalties(scale, grouping, published[column], kept)
                ncp = loss.ncp(lost, grouping)
                penalties.append(ncp)
                of_persons += [] if persons is None else [loss.ncp(lost, grouping, persons)]
            compared[name] = compare(scale, reading, policy.k, ncp)
    some = np.arange(0, published.n_rows, -(-published.n_rows // MOST_REBUILT))
    made = rebuilt(original, sliced, sources).take(some)
    alone = np.arange(len(some))
    across = measure(original.take(some), made, alone, alone.astype(np.int32), attributes, policy.k, is_paired=False)
    return Utility(
        (
            Loss.of("GCP", loss.gcp(penalties)),
            *([Loss.of("GCP-person", loss.gcp(of_persons))] if of_persons else []),
            *(found for found in across.losses if found.name in OF_REBUILT),
        ),
        tuple(compared[name] for name in original.names if name in compared),
        across.correlation,
    )


def rebuilt(original: Table, sliced: SlicedTable, sources: Sequence[Rows]) -> Table:
    """Full records that a reader could take the slices for, one a published row.

    Slices are put side by side as they stand in their bucket; where all carry the sensitive values, rows of a bucket
    with the same ones. Every value that a label covers is equally likely, as `reading` has it: how the true ones are
    spread inside a label, a reader does not know. Drawn with a fixed seed: nothing here is published.
    """
    published, layout, attributes = sliced.rows, sliced.layout, sliced.attributes
    random = np.random.default_rng(0)
    bucket = published[layout.bucket].codes
    columns: dict[str, Column] = {}
    for part, rows in zip(layout.slices, sources, strict=True):
        sensitive = [a for a in part.attributes if attributes[a].role == "sensitive"]
        order = np.arange(len(rows))
        if sensitive and all(a in s.attributes for s in layout.slices for a in sensitive):
            values = row_keys([original[a] for a in sensitive])[rows]
            order = np.lexsort((random.random(len(rows)), values, bucket))
        quasi = [c for c, a in zip(part.columns, part.attributes, strict=True) if attributes[a].role == "quasi"]
        regions = row_keys([published[c] for c in (layout.bucket, *quasi)]).astype(np.int32)
        grouping, kept = Grouping.of(original.n_rows, rows, regions)
        for column, name in zip(part.columns, part.attributes, strict=True):
            if name not in columns:
                columns[name] = original[name].take(rows[order])
                if attributes[name].role == "quasi":
                    scale = scale_of(original[name], attributes[name])
                    reading = read_published(scale, replace(published[column], name=name), kept, grouping)
                    drawn = _drawn(scale, reading, grouping, random)
                    if drawn is not None:
                        columns[name] = replace(original[name], codes=drawn[order])
    return Table.of([columns[n] for n in original.names if n in columns], original.source)


def _drawn(
    scale: Scale, reading: Reading, grouping: Grouping, random: np.random.Generator
) -> npt.NDArray[np.int32] | None:
    """A value of the original's for every row, evenly from what its label covers; None where all are single values."""
    group = grouping.labels
    if not scale.n_values:
        return np.zeros(len(group), dtype=np.int32)
    if isinstance(reading, Sets):
        return _picked(reading.group, reading.code, group, grouping.n_groups, random)
    if isinstance(reading, Labels):
        found = _picked(reading.table[0], reading.table[1], reading.label[group], reading.n_labels, random)
        found[random.random(len(group)) < reading.missing[group]] = scale.n_values
        return found
    if not isinstance(reading, Ranges):
        return None
    assert scale.positions is not None
    by_position = np.argsort(scale.positions, kind="stable")
    known = scale.positions[by_position]
    wanted = random.uniform(np.nan_to_num(reading.low[group]), np.nan_to_num(reading.high[group]))
    # The nearest value that occurs, so that numbers and dates stay what they are.
    nearest = np.searchsorted((known[1:] + known[:-1]) / 2, wanted)
    found = by_position[nearest].astype(np.int32)
    is_missing = random.random(len(group)) >= (reading.weights / grouping.sizes)[group]
    found[is_missing] = scale.n_values
    return found


def _picked(
    owner: npt.NDArray[np.int64],
    code: npt.NDArray[np.int64],
    wanted: npt.NDArray[np.integer],
    n_owners: int,
    random: np.random.Generator,
) -> npt.NDArray[np.int32]:
    """One of the codes of each wanted owner; `owner` ascends."""
    counts = np.bincount(owner, minlength=n_owners)
    starts = np.cumsum(counts) - counts
    places = starts[wanted] + (random.random(len(wanted)) * counts[wanted]).astype(np.int64)
    return np.asarray(code[places], dtype=np.int32)
