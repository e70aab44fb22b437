"""Sketches made the slow, obvious way, with Python's integers and no regard for time: an honest release to spoil."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace

import numpy as np

from shoal.check.sparse.verify import SparseAsked, SparseEvidence
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches

PRIME = 2**61 - 1
KEY = bytes(range(32))


def sparse(records: list[dict[str, float]], labels: list[str] | None = None) -> Sparse:
    """Records from mappings of names to weights."""
    names = tuple(sorted({name for record in records for name in record}))
    code = {name: i for i, name in enumerate(names)}
    ordered = [sorted(record) for record in records]
    values = [record[name] for record, items in zip(records, ordered, strict=True) for name in items]
    whole = all(isinstance(v, int) for v in values)
    data = Sparse(
        np.concatenate([[0], np.cumsum([len(items) for items in ordered])]).astype(np.int64),
        np.array([code[name] for items in ordered for name in items], np.int32),
        np.array(values, np.int64 if whole else np.float64),
        names,
    )
    return data if labels is None else data.with_labels(labels)


def records_of(data: Sparse) -> list[dict[str, float]]:
    """The other way round."""
    return [
        {data.names[i]: w for i, w in zip(data.items[a:b].tolist(), data.weights[a:b].tolist(), strict=True)}
        for a, b in zip(data.starts[:-1].tolist(), data.starts[1:].tolist(), strict=True)
    ]


def sip_hash(key: bytes, message: bytes) -> int:
    """SipHash-2-4 of a message of whole words, as its paper has it."""
    word = 2**64 - 1

    def left(value: int, by: int) -> int:
        return (value << by | value >> (64 - by)) & word

    low, high = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    a, b, c, d = (int.from_bytes(t, "big") for t in (b"somepseu", b"dorandom", b"lygenera", b"tedbytes"))
    a, b, c, d = a ^ low, b ^ high, c ^ low, d ^ high
    blocks = [int.from_bytes(message[i : i + 8], "little") for i in range(0, len(message), 8)]
    for block in [*blocks, len(message) % 256 << 56, None]:
        if block is None:
            c ^= 0xFF
        else:
            d ^= block
        for _ in range(4 if block is None else 2):
            a = (a + b) & word
            b = left(b, 13) ^ a
            a = left(a, 32)
            c = (c + d) & word
            d = left(d, 16) ^ c
            a = (a + d) & word
            d = left(d, 21) ^ a
            c = (c + b) & word
            b = left(b, 17) ^ c
            c = left(c, 32)
        a ^= block or 0
    return a ^ b ^ c ^ d


def sign(key: bytes, name: str, j: int) -> int:
    number, bit = divmod(j, 32)
    digest = hashlib.blake2b(number.to_bytes(8, "little"), digest_size=64, key=key, person=b"shoal-signs").digest()
    a = [int.from_bytes(digest[16 * i : 16 * i + 16], "little") % PRIME for i in range(4)]
    x = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") % PRIME
    secret = hashlib.blake2b(b"", digest_size=16, key=key, person=b"shoal-masks").digest()
    mask = sip_hash(secret, x.to_bytes(8, "little") + number.to_bytes(8, "little"))
    value = (a[0] + a[1] * x + a[2] * x**2 + a[3] * x**3) % PRIME ^ mask
    return -1 if value >> bit & 1 else 1


def components(key: bytes, record: dict[str, float], m: int, step: float) -> list[float]:
    sums = [sum(w * sign(key, name, j) for name, w in sorted(record.items())) for j in range(m)]
    return sums if all(isinstance(s, int) for s in sums) else [step * round(s / step) for s in sums]


def step_of(data: Sparse) -> float:
    if data.is_integral or not len(data.weights):
        return 1.0
    return 2.0 ** round(math.log2(2 * float(np.median(np.abs(data.weights)))))


def dot(x: dict[str, float], y: dict[str, float]) -> float:
    return sum(w * y[name] for name, w in sorted(x.items()) if name in y)


def square(x: dict[str, float]) -> float:
    return sum(w * w for w in x.values())


def room(x: dict[str, float], y: dict[str, float], threshold: str, variance: str) -> float:
    """How many components the definition allows two neighbours in common."""
    a, s = math.sqrt(square(x) * square(y)), dot(x, y)
    if a - abs(s) <= 1e-12 * a:
        return math.inf
    exact = square(x) * square(y) + s * s - 2 * sum((w * y.get(n, 0)) ** 2 for n, w in x.items())
    paper = square(x) * square(y) - s * s
    chosen = {"exact": exact, "paper": paper, "smaller": min(exact, paper)}[variance]
    return chosen / ((a - abs(s)) if threshold == "sqrt" else (a - abs(s)) ** 2)


def neighbours_of(data: Sparse, k: int, metric: str) -> list[list[int]]:
    """The k nearest, ties broken by content; none of an empty record."""
    records = records_of(data)
    labels = [0] * len(records) if data.labels is None else data.labels.tolist()
    content = [([*sorted(r)], [r[n] for n in sorted(r)], label) for r, label in zip(records, labels, strict=True)]

    def score(q: int, other: int) -> float:
        s, y = dot(records[q], records[other]), square(records[other])
        return s * abs(s) / y if metric == "cosine" else 2 * s - y

    filled = [i for i, r in enumerate(records) if r]
    return [
        sorted((i for i in filled if i != q), key=lambda i: (-score(q, i), content[i], i))[:k] if records[q] else []
        for q in range(len(records))
    ]


def caps(data: Sparse, asked: SparseAsked) -> list[int]:
    """What delta, the recovery cap, max_components and the sizes of classes allow each record."""
    records = records_of(data)
    n, names = len(records), sorted({name for r in records for name in r})
    share = {name: sum(name in r for r in records) / n for name in names}
    share = {name: min(max(p, 1 / (2 * n)), 1 - 1 / (2 * n)) for name, p in share.items()}
    grid = 2 if data.is_integral else step_of(data)
    most, filled = [], np.array([bool(r) for r in records])
    for i, r in enumerate(records):
        if not r or (data.labels is not None and (data.labels[filled] == data.labels[i]).sum() < asked.rare):
            most.append(0)
            continue
        m = math.floor((square(r) - max(w * w for w in r.values())) / asked.delta * (1 - 1e-12))
        if asked.recovery_cap:
            own = -sum(math.log2(share[name] if name in r else 1 - share[name]) for name in names)
            bits = max(1.0, 0.5 * math.log2(2 * math.pi * math.e * square(r)) - math.log2(grid))
            information = min(math.log2(math.comb(len(names), len(r))), own)
            m = min(m, math.floor(max(0.0, min(0.5 * information, information - 10)) / bits * (1 - 1e-9)))
        most.append(max(min(m, asked.max_components), 0))
    return most


@dataclass(frozen=True)
class Honest:
    """A release with all its secrets."""

    published: Sketches
    evidence: SparseEvidence
    asked: SparseAsked
    counts: list[int]


def assemble(data: Sparse, counts: list[int], asked: SparseAsked, neighbours: np.ndarray | None, key: bytes = KEY):
    """Sketch each record with as many components as told, and sort what is published."""
    records, step = records_of(data), step_of(data)
    made = [components(key, r, m, step) for r, m in zip(records, counts, strict=True)]
    label = [0] * len(made) if data.labels is None else data.labels.tolist()
    rows = sorted((i for i, m in enumerate(counts) if m), key=lambda i: (label[i], counts[i], made[i]))
    published = Sketches(
        np.concatenate([[0], np.cumsum([counts[i] for i in rows])]).astype(np.int64),
        np.array([c for i in rows for c in made[i]], np.int64 if data.is_integral else np.float64),
        step,
        None if data.labels is None else data.labels[rows],
        data.classes,
    )
    return Honest(published, SparseEvidence(data, np.array(rows, np.int64), key, neighbours), asked, counts)


def honest(data: Sparse, asked: SparseAsked, key: bytes = KEY) -> Honest:
    """A release that keeps every rule; each record is held to all its own edges, which is the stricter way."""
    counts = caps(data, asked)
    listed = None
    if asked.k is not None:
        records = records_of(data)
        near = neighbours_of(data, asked.k, asked.metric)
        listed = np.array([others or [-1] * asked.k for others in near], np.int32)
        for q, others in enumerate(near):
            for i in others:
                most = room(records[q], records[i], asked.threshold, asked.variance) * (1 - 1e-9)
                counts[q] = min(counts[q], counts[q] if math.isinf(most) else math.floor(most))
    if data.labels is not None:
        left = [sum(1 for i, n in enumerate(counts) if n > 0 and data.labels[i] == c) for c in range(len(data.classes))]
        counts = [0 if left[data.labels[i]] < asked.rare else n for i, n in enumerate(counts)]
    return assemble(data, counts, asked, listed, key)


def with_sketch(published: Sketches, at: int, values: list[float]) -> Sketches:
    """The same with the components of one sketch replaced."""
    parts = np.split(published.components, published.starts[1:-1])
    parts[at] = np.array(values, published.components.dtype)
    starts = np.concatenate([[0], np.cumsum([len(p) for p in parts])]).astype(np.int64)
    return replace(published, starts=starts, components=np.concatenate(parts))
