"""k^m-anonymity of published records, counted from what is written, without originals.

- km-anonymity: every combination of up to m items that occurs in the records of a class, or in a chunk, is held by at
  least k records of it;
- rho-uncertainty: no rule from up to m items of the records of a class to a sensitive item is right too often;
- disassociation: clusters have k records, no item stands in two places of a cluster, no chunk has more subrecords than
  its clusters have records, and each cluster has a term chunk or enough subrecords to fill its records: Lemma 2 of
  Terrovitis et al., PVLDB 2012, by which chunks of k^m-anonymous subrecords make a k^m-anonymous cluster.

With the original it is compared too whether what is published was in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from shoal.arrays import Ints
from shoal.check.guarantee import Guarantee, count
from shoal.check.sparse.combinations import NONE, Combinations, count_combinations, matrix_of, worst_confidence
from shoal.check.verdict import Verdict
from shoal.data.sparse.disassociated import Disassociated
from shoal.data.sparse.records import Sparse
from shoal.errors import DataError

_SLACK = 1e-9


@dataclass(frozen=True)
class KMAsked:
    """What published records are held to.

    Attributes
    ----------
    k, m : int
        Every combination of up to m items is held by k records.
    rho : float, optional
        The highest confidence of a rule to a sensitive item.
    sensitive : tuple of str
        Which items are.
    """

    k: int
    m: int
    rho: float | None = None
    sensitive: tuple[str, ...] = ()


@dataclass(frozen=True)
class KMEvidence:
    """What published records are compared with; what is None is not there.

    Attributes
    ----------
    original : Sparse, optional
        All records as they came in, their items called as they are published.
    rows : int64 array (n_published,), optional
        The original of each published record.
    clusters : int64 array (n_original,), optional
        The cluster of each original; -1 where it has none.
    """

    original: Sparse | None = field(default=None, repr=False)
    rows: Ints | None = field(default=None, repr=False)
    clusters: Ints | None = field(default=None, repr=False)


def verify_km(published: Sparse | Disassociated, asked: KMAsked, evidence: KMEvidence) -> Verdict:
    """Recompute everything that is promised, and look for what was never there."""
    if not len(published):
        raise DataError("nothing would be published: there are no records; ask for less or give more data")
    if isinstance(published, Disassociated):
        chunks = (_km_of_chunks(published, asked), _disassociation(published, asked))
        return Verdict(chunks, (), tuple(_chunk_findings(published, evidence)))
    guarantees = [_km_of_records(published, asked)]
    if asked.rho is not None:
        guarantees.append(_rho(published, asked))
    return Verdict(tuple(guarantees), (), tuple(_findings(published, evidence)))


def _judged(found: Combinations, asked: KMAsked, where: str) -> Guarantee:
    k, m = asked.k, asked.m
    up_to = "item" if m == 1 else f"combination of up to {m} items"
    holds = found.n_rare == 0
    told = (
        f"At least {found.least:,} records hold every {up_to} that occurs{where}, {found.n_sets:,} in all; {k} were "
        "required."
        if holds
        else f"{found.n_rare:,} of {found.n_sets:,} {'items' if m == 1 else f'combinations of up to {m} items'} that "
        f"occur{where} are held by fewer than {k} records."
    )
    required = {"k": float(k), "m": float(m)}
    return Guarantee("km-anonymity", "", "", required, float(found.least), holds, found.n_sets, found.n_rare, (), told)


def _classes(published: Sparse) -> list[Ints]:
    if published.labels is None:
        return [np.arange(len(published))]
    return [np.flatnonzero(published.labels == code) for code in np.unique(published.labels).tolist()]


def _km_of_records(published: Sparse, asked: KMAsked) -> Guarantee:
    found = NONE
    for rows in _classes(published):
        part = published.take(rows)
        found += count_combinations(matrix_of(part.starts, part.items, part.n_items), asked.k, asked.m)
    return _judged(found, asked, "" if published.labels is None else " in a class")


def _km_of_chunks(published: Disassociated, asked: KMAsked) -> Guarantee:
    """An item of one chunk is another than the same of the next, so that all chunks can be counted at once."""
    n_lines = np.diff(published.chunk_starts)
    chunk_of = np.repeat(np.arange(len(n_lines)), n_lines)
    lines = np.flatnonzero(~published.is_terms[chunk_of])
    sizes = np.diff(published.starts)
    keep = np.repeat(~published.is_terms[chunk_of], sizes)
    keys = (np.repeat(chunk_of, sizes) * np.int64(max(len(published.names), 1)) + published.items)[keep]
    distinct, codes = np.unique(keys, return_inverse=True)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[lines])])
    found = count_combinations(matrix_of(starts, codes, len(distinct)), asked.k, asked.m)
    return _judged(found, asked, " in a chunk")


def _disassociation(published: Disassociated, asked: KMAsked) -> Guarantee:
    """What makes k^m-anonymous chunks a k^m-anonymous release."""
    k, m = asked.k, asked.m
    n_clusters = published.n_clusters
    n_lines = np.diff(published.chunk_starts)
    bounds = published.bounds
    room = bounds[published.lasts + 1] - bounds[published.firsts]
    fails = published.sizes < k
    own = ~published.is_terms & (published.firsts == published.lasts)
    for chunk in np.flatnonzero(~published.is_terms & (n_lines > room)).tolist():
        fails[published.firsts[chunk] : published.lasts[chunk] + 1] = True
    has_terms = np.zeros(n_clusters, np.bool_)
    has_terms[published.firsts[published.is_terms]] = True
    n_chunks = np.bincount(published.firsts[own], minlength=n_clusters)
    n_subrecords = np.bincount(published.firsts[own], n_lines[own], n_clusters)
    needed = published.sizes + k * (np.minimum(np.maximum(n_chunks, 1), m) - 1)
    fails |= ~has_terms & (n_subrecords < needed)
    fails |= _twice(published) | (np.bincount(published.firsts[published.is_terms], minlength=n_clusters) > 1)
    if published.labels is not None:
        mixed = published.labels[published.firsts] != published.labels[published.lasts]
        for chunk in np.flatnonzero(mixed | (published.lasts > published.firsts)).tolist():
            span = slice(published.firsts[chunk], published.lasts[chunk] + 1)
            if len(np.unique(published.labels[span])) > 1:
                fails[span] = True
    n_failing, least = int(fails.sum()), int(published.sizes.min())
    told = (
        f"All {count(n_clusters, 'cluster')} have at least {least:,} records ({k} were required), no item in two "
        "chunks, and a term chunk or enough subrecords to fill their records."
        if not n_failing
        else f"{n_failing:,} of {count(n_clusters, 'cluster')} have fewer than {k} records, an item in two chunks, "
        "more subrecords than records, or neither a term chunk nor enough subrecords to fill their records."
    )
    required = {"k": float(k), "m": float(m)}
    return Guarantee("disassociation", "", "", required, float(least), n_failing == 0, n_clusters, n_failing, (), told)


def _twice(published: Disassociated) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Clusters that have an item in two of their chunks, those that they share included."""
    width = max(len(published.names), 1)
    n_lines = np.diff(published.chunk_starts)
    chunks = np.repeat(np.repeat(np.arange(len(n_lines)), n_lines), np.diff(published.starts))
    held = np.stack(np.divmod(np.unique(chunks * width + published.items), width))
    spans = (published.lasts - published.firsts + 1)[held[0]]
    offsets = np.arange(int(spans.sum())) - np.repeat(np.cumsum(spans) - spans, spans)
    clusters = np.repeat(published.firsts[held[0]], spans) + offsets
    keys, counts = np.unique(clusters * width + np.repeat(held[1], spans), return_counts=True)
    out = np.zeros(published.n_clusters, np.bool_)
    out[keys[counts > 1] // width] = True
    return out


def _rho(published: Sparse, asked: KMAsked) -> Guarantee:
    assert asked.rho is not None
    place = {name: i for i, name in enumerate(published.names)}
    columns = np.array(sorted(place[name] for name in asked.sensitive if name in place), np.int64)
    worst = (0.0, 0, 0)
    for rows in _classes(published):
        part = published.take(rows)
        held = matrix_of(part.starts, part.items, part.n_items)
        worst = max(worst, worst_confidence(held, columns, asked.m))
    share, both, left = worst
    holds = both <= math.floor(asked.rho * left + _SLACK)
    whose = f"of up to {asked.m} items" if asked.m > 1 else "of an item"
    told = (
        f"Of the records that hold a combination {whose}, at most {100 * share:.1f} % hold one more that is sensitive "
        f"(allowed: {100 * asked.rho:g} %); {count(len(columns), 'sensitive item')} of {len(asked.sensitive)} "
        f"{'is' if len(columns) == 1 else 'are'} published."
        if holds
        else f"Of the records that hold some combination {whose}, {100 * share:.1f} % hold one more that is sensitive, "
        f"where {100 * asked.rho:g} % are allowed."
    )
    required = {"rho": asked.rho, "m": float(asked.m)}
    return Guarantee("rho-uncertainty", "", "", required, share, holds, len(columns), int(not holds), (), told)


def _findings(published: Sparse, evidence: KMEvidence) -> list[str]:
    """What is published and was not there."""
    found = []
    n_empty = int((published.sizes == 0).sum())
    if n_empty:
        found.append(f"{n_empty:,} published records are empty; such records are to be left out")
    original = evidence.original
    if original is None:
        return found
    if len(published) > len(original):
        found.append(f"there are {len(published):,} published records of {len(original):,}")
    place = {name: i for i, name in enumerate(original.names)}
    codes = np.array([place.get(name, -1) for name in published.names], np.int64)
    supports = np.bincount(original.items, minlength=original.n_items)
    shown = np.bincount(published.items, minlength=published.n_items)
    n_more = int((shown > np.where(codes >= 0, supports[np.maximum(codes, 0)], 0)).sum())
    if n_more:
        found.append(f"{n_more:,} published items are in fewer records of the original than of the release")
    elif evidence.rows is not None:
        width = max(original.n_items, 1)
        ours = np.repeat(evidence.rows, published.sizes) * width + codes[published.items]
        theirs = np.repeat(np.arange(len(original)), original.sizes) * width + original.items
        if len(np.unique(evidence.rows)) < len(evidence.rows) or not np.isin(ours, theirs).all():
            found.append("some published records hold what their originals do not")
    return found


def _chunk_findings(published: Disassociated, evidence: KMEvidence) -> list[str]:
    """Chunks that are no projections of the records of their clusters."""
    original, clusters = evidence.original, evidence.clusters
    if original is None:
        return []
    if len(published) > len(original):
        return [f"there are {len(published):,} records in clusters, and {len(original):,} in the original"]
    place = {name: i for i, name in enumerate(original.names)}
    codes = np.array([place.get(name, -1) for name in published.names], np.int64)
    if (codes < 0).any():
        return [f"{int((codes < 0).sum()):,} published items are not in the original"]
    if clusters is None:
        return []
    if not np.array_equal(np.bincount(clusters[clusters >= 0], minlength=published.n_clusters), published.sizes):
        return ["the clusters do not have the records that they tell of"]
    # Where each item of a cluster stands.
    n_lines = np.diff(published.chunk_starts)
    line_chunk = np.repeat(np.arange(len(n_lines)), n_lines)
    sizes = np.diff(published.starts)
    width = max(original.n_items, 1)
    items = codes[published.items]
    held = np.stack(np.divmod(np.unique(np.repeat(line_chunk, sizes) * width + items), width))
    spans = (published.lasts - published.firsts + 1)[held[0]]
    offsets = np.arange(int(spans.sum())) - np.repeat(np.cumsum(spans) - spans, spans)
    keys = (np.repeat(published.firsts[held[0]], spans) + offsets) * width + np.repeat(held[1], spans)
    order = np.argsort(keys, kind="stable")
    keys, chunk_at = keys[order], np.repeat(held[0], spans)[order]
    owner = np.repeat(clusters, original.sizes)
    row = np.repeat(np.arange(len(original)), original.sizes)
    wanted = owner * width + original.items
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    is_there = (owner >= 0) & (keys[at] == wanted)
    true = np.stack([chunk_at[at], row, original.items.astype(np.int64)], axis=1)[is_there]
    true[published.is_terms[true[:, 0]], 1] = -1
    ours = np.stack([np.repeat(line_chunk, sizes), np.repeat(np.arange(len(sizes)), sizes), items], axis=1)
    if _multisets(true) != _multisets(ours):
        return ["some chunks are not what the records of their clusters hold"]
    return []


def _multisets(entries: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> bytes:
    """Lines of (chunk, line, item), as bytes that are equal where each chunk has the same lines in any order."""
    ordered = entries[np.lexsort((entries[:, 2], entries[:, 1], entries[:, 0]))]
    is_other = np.ones(len(ordered), np.bool_)
    is_other[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    ordered = ordered[is_other]  # the terms of a cluster are told once
    is_first = np.ones(len(ordered), np.bool_)
    is_first[1:] = (ordered[1:, :2] != ordered[:-1, :2]).any(axis=1)
    starts = np.append(np.flatnonzero(is_first), len(ordered))
    lines = sorted(
        ordered[low, :1].tobytes() + ordered[low:high, 2].tobytes()
        for low, high in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    )
    return b"|".join(lines)
