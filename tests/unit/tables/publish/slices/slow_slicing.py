"""The attacker's belief, word by word: rows counted one by one, in fractions, from what a reader sees."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.frames import from_frame
from shoal.data.tables.hierarchy import Hierarchy
from shoal.tables.record_order import content_order

COUNTRY = Hierarchy(
    (("fr", "west", "*"), ("de", "west", "*"), ("es", "west", "*"), ("pl", "east", "*"), ("cz", "east", "*"))
)
GRADES = ("low", "middle", "high", "top")
ATTRIBUTES = {
    "age": Attribute("age", "continuous", "quasi"),
    "city": Attribute("city", "nominal", "quasi"),
    "country": Attribute("country", "nominal", "quasi", hierarchy=COUNTRY),
    "grade": Attribute("grade", "ordinal", "quasi", order=GRADES),
    "disease": Attribute("disease", "nominal", "sensitive"),
    "cost": Attribute("cost", "continuous", "sensitive"),
    "note": Attribute("note", "nominal", "insensitive"),
}
VALUES = {
    "age": [str(v) for v in range(9)],
    "city": ["rome", "oslo", "bern", "lima"],
    "country": ["fr", "de", "es", "pl", "cz"],
    "grade": list(GRADES),
    "disease": ["flu", "cold", "ulcer", "gout", "acne"],
    "cost": ["1", "2", "3", "4"],
    "note": ["x", "y"],
}


def random_columns(rng, n_rows, names, gaps=0.0):
    made = {}
    for name in names:
        size = max(rng.integers(1, len(VALUES[name]) + 1, 2))  # now and then one value alone
        cells = rng.choice(VALUES[name][:size], n_rows).tolist()
        made[name] = ["" if rng.random() < gaps else c for c in cells]
    return made


def table_of(columns, attributes=ATTRIBUTES):
    """A table in the order of its content, as the entry point wants it."""
    table = from_frame(columns)
    quasi = sorted(n for n in columns if attributes[n].role == "quasi")
    return table.take(content_order(table, quasi, list(columns)))


def cells_of(column):
    return [
        None if c is None else str(c) for c in np.array([*column.texts(), None], dtype=object)[column.codes].tolist()
    ]


def texts_of(table):
    """Every column as texts, None where missing."""
    found = {}
    for name in table.names:
        missing = table[name].missing
        found[name] = [None if m else c for c, m in zip(cells_of(table[name]), missing, strict=True)]
    return found


def covers(label, value, attribute, missing):
    """Whether a published cell may stand for a value; doubts are resolved towards yes."""
    if missing == "any" and (value is None or label is None):
        return True
    if label is None or value is None:
        return (
            label == value or label == "*" or (label is not None and (label.endswith(" or missing") or label == "all"))
        )
    if label == "*":
        return True
    label = label.removesuffix(" or missing")
    if label == "*":
        return True
    if attribute.hierarchy is not None:
        return any(attribute.hierarchy.label(value, h) == label for h in range(attribute.hierarchy.height + 1))
    if label.startswith("[") and ".." in label:
        low, high = label[1:-1].split("..")
        if attribute.order is not None:
            place = attribute.order.index
            return place(low) <= place(value) <= place(high)
        return float(low) <= float(value) <= float(high)
    if label.startswith("{"):
        return value in label[1:-1].split(", ")
    return float(label) == float(value) if attribute.type == "continuous" else label == value


def beliefs(sliced, original, attributes=ATTRIBUTES, missing="value"):
    """For every record and every bucket that matches it: the weight W of each joint sensitive value."""
    published, records = texts_of(sliced.table), texts_of(original)
    sensitive = sorted(n for n in records if attributes[n].role == "sensitive")
    bucket = published[sliced.layout.bucket]
    found = []
    for t in range(original.n_rows):
        for number in sorted(set(bucket), key=int):
            inside = [i for i, b in enumerate(bucket) if b == number]
            counts, carrying, others = None, [], Fraction(1)
            for s in sliced.layout.slices:
                quasi = [a for a in s.attributes if attributes[a].role == "quasi"]
                match = [
                    i
                    for i in inside
                    if all(covers(published[s.column_of(a)][i], records[a][t], attributes[a], missing) for a in quasi)
                ]
                if sensitive and sensitive[0] in s.attributes:
                    keys = {i: tuple(published[s.column_of(a)][i] for a in sensitive) for i in inside}
                    counts = Counter(keys.values())
                    carrying.append(Counter(keys[i] for i in match))
                else:
                    others *= Fraction(len(match), len(inside))
            weights = {}
            for key, n in (counts or {(): len(inside)}).items():
                weight = n * others
                for matching in carrying:
                    weight *= Fraction(matching[key], n)
                if weight:
                    weights[key] = weight
            if weights:
                found.append((t, int(number), weights))
    return found


def marginal(weights, place):
    found = {}
    for key, weight in weights.items():
        found[key[place]] = found.get(key[place], Fraction(0)) + weight
    return found


def satisfies(required, weights, whole, order=None, missing="value"):
    """A model of diversity, as it is defined; `whole` are the values of the table, `order` is theirs."""
    total = sum(weights.values())
    unknown = weights.get(None, 0) if missing == "any" else 0
    known = {v: w for v, w in weights.items() if not (missing == "any" and v is None)}
    shares = sorted((w / total for w in known.values()), reverse=True)
    if shares:
        shares[0] += Fraction(unknown) / total
    if required.model == "l-diversity":
        if required.kind == "distinct":
            return len(known) >= required.l
        if not shares:
            return False
        if required.kind == "probabilistic":
            return shares[0] * Fraction(required.l) <= 1
        if required.kind == "entropy":
            return math.exp(-sum(float(p) * math.log(p) for p in shares)) >= required.l * (1 - 1e-9)
        return shares[0] < Fraction(required.c) * sum(shares[int(required.l) - 1 :])
    if required.model == "alpha-k":
        return bool(shares) and float(shares[0]) <= required.alpha * (1 + 1e-12)
    n = len(whole)
    overall = {v: Fraction(c, n) for v, c in Counter(whole).items()}
    gap = {v: weights.get(v, Fraction(0)) / total - q for v, q in overall.items()}
    if required.model == "beta-likeness":
        bound = {
            v: min(required.beta, -math.log(q)) if required.kind == "enhanced" else required.beta
            for v, q in overall.items()
        }
        return all(gap[v] <= 0 or float(gap[v] / overall[v]) <= bound[v] * (1 + 1e-12) for v in overall)
    if required.distance == "ordered":
        ranked = sorted(overall, key=order)
        moved = sum(abs(sum(gap[v] for v in ranked[: i + 1])) for i in range(len(ranked)))
        return len(ranked) < 2 or float(moved) / (len(ranked) - 1) <= required.t * (1 + 1e-12)
    return float(sum(abs(g) for g in gap.values())) / 2 <= required.t * (1 + 1e-12)
