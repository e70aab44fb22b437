"""k^m-anonymity by disassociation: every item stays, and which items of a record go together is told within chunks.

Records are cut into clusters by their most frequent items (HORPART). The items of a cluster are put into chunks, in
which at least k records hold every combination of up to m items that occurs; items that fewer than k records of the
cluster hold go into its term chunk, a list without counts (VERPART). Then runs of 2, 4, 8, ... neighbouring clusters
share chunks of items that are frequent enough in all of them together (REFINE). Subrecords of a chunk are published in
the order of their items, so nothing ties those of one record together.

**Guarantee**: whatever up to m items of a record an attacker knows, there are original records from which the same
release could have been made, none of them empty, and at least k of the record's cluster hold these items. That needs
clusters of k records, no item in two chunks of a cluster, and a term chunk or enough subrecords to fill all records
(Lemma 2); see `shoal.check.sparse.disassociated`. **Not protected**: who repeats the method knows that items of one
cluster in different chunks are held together by fewer than k records, or not at all; which cluster a person is in; what
a cluster has in common; that a record is in the data.

We depart from the paper on the safe side: items that fewer than k records of all hold are left out, where it would list
them as terms of a cluster; an item is shared only by clusters none of which has it in a record chunk, so that k^m
anonymity of the shared chunk is enough (Property 1); and joint clusters are runs in the order of the first step.

References
----------
M. Terrovitis, J. Liagouris, N. Mamoulis, S. Skiadopoulos, "Privacy preservation by disassociation", PVLDB 5(10), 2012.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Ints, Mask
from shoal.data.ragged import ragged_places
from shoal.data.sparse.disassociated import Disassociated
from shoal.data.sparse.records import Sparse
from shoal.kernels.sparse.disassociation import cut_chunks, cut_clusters
from shoal.sparse.combinations import Coded, coded
from shoal.sparse.content_order import refine

MOST_SHARED = 16
"""Clusters that share a chunk, at most. Chosen on T10I4D100K."""


@dataclass(frozen=True)
class Disassociation:
    """What is published, and the cluster of each original record, which is secret; -1 where it has none."""

    published: Disassociated
    clusters: Ints


def disassociate(records: Sparse, k: int, m: int, cluster_size: int, *, owners: Ints | None = None) -> Disassociation:
    """Cut records into clusters, and their items into chunks.

    Parameters
    ----------
    cluster_size : int
        The most records of a cluster, at least 2 k.
    owners : int64 array (n_records,), optional
        Whose each record is; by default every record is of another.
    """
    made = coded(records, k, owners)
    labels = None if records.labels is None else records.labels[made.rows]
    parts = []
    clusters = np.full(len(records), -1, np.int64)
    filled = np.diff(made.starts) > 0
    n_clusters = 0
    classes = [0] if labels is None else np.unique(labels).tolist()
    for code in classes:
        rows = np.flatnonzero(filled if labels is None else filled & (labels == code))
        if len(np.unique(made.owners[rows])) < k:
            continue
        part = _of_class(_taken(made, rows), k, m, cluster_size)
        clusters[part.coded.rows] = n_clusters + part.clusters
        n_clusters += int(part.clusters[-1]) + 1
        parts.append((code, part))
    return Disassociation(_published(records, parts), clusters)


@dataclass(frozen=True)
class _Part:
    """The records of a class, cluster after cluster, with the chunk of each entry and the clusters of each chunk."""

    coded: Coded
    clusters: Ints
    chunk: Ints
    firsts: Ints
    lasts: Ints


def _taken(made: Coded, rows: Ints) -> Coded:
    places, starts = ragged_places(made.starts, rows)
    return replace(
        made,
        starts=starts,
        items=made.items[places],
        entries=made.entries[places],
        owners=made.owners[rows],
        rows=made.rows[rows],
    )


def _of_class(made: Coded, k: int, m: int, cluster_size: int) -> _Part:
    ranks = refine(np.zeros(len(made.rows), np.int64), made.starts, made.items)
    made = _taken(made, np.argsort(ranks, kind="stable"))  # so that the order of the input decides nothing
    order, begins = cut_clusters(made.starts, made.items, made.owners, made.n_items, k, cluster_size)
    made = _taken(made, order)
    clusters = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    chunk = np.full(len(made.items), -1, np.int64)
    is_reserved = np.zeros(len(made.items), np.bool_)
    firsts, lasts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    width = 1
    while width == 1 or (width <= MOST_SHARED and width < 2 * int(clusters[-1] + 1)):
        joint = clusters // width
        found = _chunks(made, joint, (chunk < 0) & ~is_reserved, chunk >= 0, k, m, len(firsts))
        is_new = found >= 0
        chunk[is_new] = found[is_new]
        n_new = int(found.max(initial=len(firsts) - 1)) + 1 - len(firsts)
        owner = np.repeat(clusters, np.diff(made.starts))
        low, high = np.full(n_new, len(begins)), np.full(n_new, -1)
        np.minimum.at(low, found[is_new] - len(firsts), (owner // width * width)[is_new])
        np.maximum.at(
            high, found[is_new] - len(firsts), np.minimum(owner // width * width + width, len(begins) - 1)[is_new] - 1
        )
        firsts, lasts = np.concatenate([firsts, low]), np.concatenate([lasts, high])
        if width == 1:
            chunk, is_reserved = _reserved(made, clusters, chunk, k, m)
        width *= 2
    return _Part(made, clusters, chunk, firsts, lasts)


def _chunks(made: Coded, joint: Ints, is_free: Mask, is_placed: Mask, k: int, m: int, first: int) -> Ints:
    """Chunks of joint clusters, of items that are free in all places where a joint cluster has them."""
    joints = np.repeat(joint, np.diff(made.starts))
    keys = joints * made.n_items + made.items
    blocked = np.unique(keys[is_placed | ~is_free])
    is_open = is_free & ~np.isin(keys, blocked)
    order = np.lexsort((made.owners, joint))
    sorted_, places = _taken(made, order), ragged_places(made.starts, order)[0]
    bounds = np.searchsorted(joint[order], np.arange(int(joint[-1]) + 2)).astype(np.int64)
    found = np.empty(len(made.items), np.int64)
    found[places] = cut_chunks(
        sorted_.starts, sorted_.items, sorted_.owners, bounds, is_open[places], made.n_items, k, m, first
    )
    return found


def _reserved(made: Coded, clusters: Ints, chunk: Ints, k: int, m: int) -> tuple[Ints, Mask]:
    """Chunks such that Lemma 2 holds, and which entries have to stay in term chunks for it.

    A cluster without enough subrecords keeps the rarest of its terms for itself; one without terms gives up its rarest
    item, which stays there.
    """
    sizes = np.diff(made.starts)
    owner = np.repeat(clusters, sizes)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    n_clusters = int(clusters[-1]) + 1
    placed = chunk >= 0
    width = int(chunk.max(initial=0)) + 1
    subrecords = np.unique(rows[placed] * width + chunk[placed])
    n_subrecords = np.bincount(clusters[subrecords // width], minlength=n_clusters)
    n_chunks = np.bincount(np.unique(owner[placed] * width + chunk[placed]) // width, minlength=n_clusters)
    needed = np.bincount(clusters, minlength=n_clusters) + k * (np.clip(n_chunks, 1, m) - 1)
    lacks = n_subrecords < needed
    # The rarest is the one of the greatest number; that of the term chunk before others.
    rank = np.where(lacks[owner], made.items + np.where(placed, 0, made.n_items), -1)
    greatest = np.full(n_clusters, -1, np.int64)
    np.maximum.at(greatest, owner, rank)
    is_reserved = (rank >= 0) & (rank == greatest[owner])
    return np.where(is_reserved, -1, chunk), is_reserved


def _published(records: Sparse, parts: list[tuple[int, _Part]]) -> Disassociated:
    """Lines by cluster and chunk, own chunks before shared ones and terms between, each sorted by items."""
    width = max(records.n_items, 1)
    lines, spans, sizes, labels = [], [], [], []
    n_clusters = n_chunks = 0
    for code, part in parts:
        counts = np.diff(part.coded.starts)
        owner, rows = np.repeat(part.clusters, counts), np.repeat(np.arange(len(counts)), counts)
        n_own = int(part.clusters[-1]) + 1
        is_term = part.chunk < 0
        # Term chunks are numbered behind the others, one for each cluster.
        chunk = np.where(is_term, len(part.firsts) + owner, part.chunk)
        row = np.where(is_term, -1, rows)
        lines.append(np.stack([chunk + n_chunks, row, part.coded.keys[part.coded.items] % width], axis=1))
        own = np.arange(n_own)
        first, last = np.concatenate([part.firsts, own]), np.concatenate([part.lasts, own])
        is_terms = np.arange(len(first)) >= len(part.firsts)
        spans.append(np.stack([first + n_clusters, last + n_clusters, is_terms], axis=1))
        sizes.append(np.bincount(part.clusters))
        labels += [code] * n_own
        n_clusters, n_chunks = n_clusters + n_own, n_chunks + len(first)
    entries = np.concatenate([*lines, np.zeros((0, 3), np.int64)])
    span = np.concatenate([*spans, np.zeros((0, 3), np.int64)])
    entries = entries[np.lexsort((entries[:, 2], entries[:, 1], entries[:, 0]))]
    is_other = np.ones(len(entries), np.bool_)
    is_other[1:] = (entries[1:] != entries[:-1]).any(axis=1)
    entries = entries[is_other]  # terms of several records are one
    is_first = np.ones(len(entries), np.bool_)
    is_first[1:] = (entries[1:, :2] != entries[:-1, :2]).any(axis=1)
    starts = np.append(np.flatnonzero(is_first), len(entries)).astype(np.int64)
    line_chunk = entries[starts[:-1], 0]
    ranks = refine(np.zeros(len(line_chunk), np.int64), starts, entries[:, 2])
    chunk_order = np.lexsort((np.arange(len(span)), span[:, 2], span[:, 0], span[:, 1] - span[:, 0]))
    place = np.empty(len(span), np.int64)
    place[chunk_order] = np.arange(len(span))
    order = np.lexsort((ranks, place[line_chunk]))
    places, line_starts = ragged_places(starts, order)
    used, number = np.unique(place[line_chunk[order]], return_inverse=True)
    held = span[chunk_order[used]]
    names, items = np.unique(entries[places, 2], return_inverse=True)
    has_classes = records.labels is not None
    return Disassociated(
        np.concatenate([*sizes, np.zeros(0, np.int64)]),
        held[:, 0],
        held[:, 1],
        held[:, 2].astype(np.bool_),
        np.searchsorted(number, np.arange(len(used) + 1)).astype(np.int64),
        line_starts,
        items.astype(np.int32),
        tuple(records.names[i] for i in names.tolist()),
        np.unique(labels, return_inverse=True)[1].astype(np.int32) if has_classes else None,
        tuple(records.classes[c] for c in sorted(set(labels))) if has_classes else (),
        records.source,
    )
