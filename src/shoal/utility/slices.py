"""What a table in slices keeps: each attribute within its slice, and what is rebuilt across slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from shoal.data.attribute import Attribute
from shoal.data.slices import Layout
from shoal.data.table import Column, Table, row_keys
from shoal.policy import Policy
from shoal.utility import loss
from shoal.utility.attributes import AttributeComparison, compare
from shoal.utility.grouping import Grouping
from shoal.utility.measure import Loss, Utility, measure
from shoal.utility.reading import read_published
from shoal.utility.scale import scale_of

Rows = npt.NDArray[np.intp]

MOST_REBUILT = 100_000
OF_REBUILT = ("query-error", "IL2", "IL3", "IL4", "IL5")


def measure_slices(
    original: Table,
    published: Table,
    layout: Layout,
    sources: Sequence[Rows],
    attributes: Mapping[str, Attribute],
    policy: Policy,
) -> Utility:
    """Compare a table in slices with the original.

    Certainty lost is that of the labels within their slice. Counts and associations are those of `rebuilt` records, as
    an analyst would have to make them, of at most 100,000.

    Parameters
    ----------
    sources : sequence of intp arrays (n_published,)
        Of each slice, the row of the original whose content stands in each published row.
    """
    compared: dict[str, AttributeComparison] = {}
    penalties = []
    for part, rows in zip(layout.slices, sources, strict=True):
        quasi = [c for c, a in zip(part.columns, part.attributes, strict=True) if attributes[a].role == "quasi"]
        regions = row_keys([published[c] for c in (layout.bucket, *quasi)]).astype(np.int32)
        grouping, kept = Grouping.of(original.n_rows, rows, regions)
        for column, name in zip(part.columns, part.attributes, strict=True):
            scale = scale_of(original[name], attributes[name])
            reading = read_published(scale, replace(published[column], name=name), kept, grouping)
            ncp = None
            if attributes[name].role == "quasi":
                ncp = loss.ncp(loss.penalties(scale, grouping), grouping)
                penalties.append(ncp)
            compared[name] = compare(scale, reading, policy.k, ncp)
    some = np.arange(0, published.n_rows, -(-published.n_rows // MOST_REBUILT))
    made = rebuilt(original, published, layout, sources, attributes).take(some)
    alone = np.arange(len(some))
    across = measure(original.take(some), made, alone, alone.astype(np.int32), attributes, policy.k, is_paired=False)
    return Utility(
        (Loss.of("GCP", loss.gcp(penalties)), *(found for found in across.losses if found.name in OF_REBUILT)),
        tuple(compared[name] for name in original.names if name in compared),
        across.correlation,
    )


def rebuilt(
    original: Table,
    published: Table,
    layout: Layout,
    sources: Sequence[Rows],
    attributes: Mapping[str, Attribute],
) -> Table:
    """Full records that a reader could take the slices for, one a published row.

    Slices are put side by side as they stand in their bucket; where all carry the sensitive values, rows of a bucket
    with the same ones. The values that a label stands for are dealt out anew among the rows of the label, attribute by
    attribute. Drawn with a fixed seed: nothing here is published.
    """
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
        regions = row_keys([published[c] for c in (layout.bucket, *quasi)])
        for name in part.attributes:
            if name not in columns:
                source = rows
                if attributes[name].role == "quasi":
                    dealt = np.empty(len(rows), dtype=np.intp)
                    dealt[np.argsort(regions, kind="stable")] = rows[np.lexsort((random.random(len(rows)), regions))]
                    source = dealt
                columns[name] = original[name].take(source[order])
    return Table.of([columns[n] for n in original.names if n in columns], original.source)
