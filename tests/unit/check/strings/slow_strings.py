"""Slow, obvious twins of the checks of strings."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction


def template(string, length):
    """The shares of symbols at each position, exactly."""
    n = len(string)
    out = []
    for i in range(length):
        begin, end = Fraction(i * n, length), Fraction((i + 1) * n, length)
        shares = Counter()
        for t, symbol in enumerate(string):
            covered = min(end, Fraction(t + 1)) - max(begin, Fraction(t))
            if covered > 0:
                shares[symbol] += covered / (end - begin)
        out.append(dict(shares))
    return out


def judge(pseudo, members, order, support):
    """Whether each symbol is possible, at how many places a longer context is followed, how many are expected."""
    L = len(pseudo)
    templates = [template(m, L) for m in members]
    is_possible, n_places, followed, expected = True, 0, 0, Fraction(0)
    for r in range(L):
        used = [(t, Fraction(1)) for t in templates]
        longer = []
        for back in range(1, min(order, r) + 1):
            carriers = [(t, w * t[r - back][pseudo[r - back]]) for t, w in used if pseudo[r - back] in t[r - back]]
            if back < order and len(carriers) >= support:
                used = carriers
            else:
                longer = [t for t, _ in carriers]
                break
        is_possible &= any(pseudo[r] in t[r] for t, _ in used)
        if longer:
            symbols = set().union(*(t[r] for t in longer))
            n_places += 1
            followed += pseudo[r] in symbols
            weights = sum(w for _, w in used)
            expected += sum(w * share for t, w in used for s, share in t[r].items() if s in symbols) / weights
    return is_possible, n_places, followed, float(expected)


def longest_run(string, others):
    """The longest part of a string that stands in one of the others."""
    return max(
        (
            b - a
            for a in range(len(string))
            for b in range(a + 1, len(string) + 1)
            if any(_holds(o, string[a:b]) for o in others)
        ),
        default=0,
    )


def unique_share(strings, originals, width, *, apart=None):
    """The share of all fragments that stand in exactly one original; of string i, original apart[i] is left out."""
    hits = []
    for i, string in enumerate(strings):
        rest = [o for j, o in enumerate(originals) if apart is None or j != apart[i]]
        for a in range(len(string) - width + 1):
            hits.append(sum(_holds(o, string[a : a + width]) for o in rest) == 1)
    return sum(hits) / len(hits) if hits else 0.0


def _holds(string, part):
    if isinstance(string, str):
        return part in string
    return any(list(string[i : i + len(part)]) == list(part) for i in range(len(string) - len(part) + 1))
