"""Edit distance of strings by bits: 64 rows of the table of Needleman and Wunsch in one word.

The costs are 0 for a match and 1 for a mismatch or a gap, so neighbouring cells differ by -1, 0 or 1. Two words say
for each row whether the cell is one more (`more`) or one less (`less`) than the one above it; a column of the table
takes a dozen operations on them.

References
----------
G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic programming", Journal of the
ACM 46(3), 1999. H. Hyyro, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances", Nordic Journal
of Computing 10(1), 2003.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Ints, Words
from shoal.kernels.compile import compiled, compiled_beside

_ONE, _NONE, _TOP = np.uint64(1), np.uint64(0), np.uint64(63)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
PAIRS_AT_ONCE = 100_000


@compiled
def place_symbols(symbols: Codes, begin: int, end: int, code_of: Codes) -> Words:
    """Where each symbol stands in a string: a row of bits for each, numbered from 1 on in `code_of`.

    `code_of`, an entry for each symbol, is 0 before; row 0 is of all symbols that the string does not have.
    """
    n_words = max((end - begin + 63) // 64, 1)
    n_codes = 0
    for t in range(begin, end):
        if code_of[symbols[t]] == 0:
            n_codes += 1
            code_of[symbols[t]] = n_codes
    places = np.zeros((n_codes + 1, n_words), np.uint64)
    for t in range(begin, end):
        places[code_of[symbols[t]], (t - begin) // 64] |= _ONE << np.uint64((t - begin) % 64)
    return places


@compiled
def forget_symbols(symbols: Codes, begin: int, end: int, code_of: Codes) -> None:
    """Make `code_of` 0 again."""
    for t in range(begin, end):
        code_of[symbols[t]] = 0


@compiled
def distance_to(
    places: Words, length: int, code_of: Codes, symbols: Codes, begin: int, end: int, more: Words, less: Words
) -> int:
    """The edit distance of a string of the given length, as `place_symbols` left it, to another."""
    if length == 0:
        return end - begin
    n_words = places.shape[1]
    for w in range(n_words):
        more[w] = _ALL
        less[w] = _NONE
    last = np.uint64((length - 1) % 64)
    score = length
    for t in range(begin, end):
        code = code_of[symbols[t]]
        up, down = _ONE, _NONE  # the top row of the table counts gaps
        for w in range(n_words):
            equal = places[code, w]
            m, s = more[w], less[w]
            vertical = equal | s
            equal |= down
            across = (((equal & m) + m) ^ m) | equal
            rises = s | ~(across | m)
            falls = m & across
            if w == n_words - 1:
                score += np.int64((rises >> last) & _ONE) - np.int64((falls >> last) & _ONE)
            next_up, next_down = rises >> _TOP, falls >> _TOP
            rises = (rises << _ONE) | up
            falls = (falls << _ONE) | down
            more[w] = falls | ~(vertical | rises)
            less[w] = rises & vertical
            up, down = next_up, next_down
    return score


def _cut_out(symbols: Codes, starts: Ints, rows: Ints, rest: int) -> tuple[Codes, Ints]:
    """Some strings as rows of one array, filled up with a number; and their lengths."""
    lengths = starts[rows + 1] - starts[rows]
    places = np.arange(lengths.max(initial=0))
    at = np.minimum(starts[rows][:, None] + places, max(len(symbols) - 1, 0))
    is_own = places < lengths[:, None]
    return np.where(is_own, symbols[at] if len(symbols) else 0, rest), lengths


def _distances_by_arrays(
    symbols: Codes, starts: Ints, rows: Ints, other_symbols: Codes, other_starts: Ints, other_rows: Ints, n_symbols: int
) -> Ints:
    """See `edit_distances`: all pairs at once, symbol by symbol of the others."""
    if len(rows) * len(other_rows) > PAIRS_AT_ONCE and len(rows) > 1:
        parts = np.array_split(rows, min(len(rows), len(rows) * len(other_rows) // PAIRS_AT_ONCE + 1))
        given = other_symbols, other_starts, other_rows, n_symbols
        return np.concatenate([_distances_by_arrays(symbols, starts, part, *given) for part in parts])
    ours, lengths = _cut_out(symbols, starts, rows, n_symbols)
    others, other_lengths = _cut_out(other_symbols, other_starts, other_rows, n_symbols)
    n_words = max((ours.shape[1] + 63) // 64, 1)
    codes, of_other = np.unique(others, return_inverse=True)
    places = np.zeros((len(codes), n_words, len(rows)), np.uint64)
    for t, column in enumerate(ours.T):
        places[:, t // 64] |= (codes[:, None] == column).astype(np.uint64) << np.uint64(t % 64)
    more, less = (np.full((n_words, len(rows), len(other_rows)), bits, np.uint64) for bits in (_ALL, _NONE))
    score = np.repeat(lengths[:, None], len(other_rows), axis=1)
    last_word, last = (np.maximum(lengths, 1) - 1) // 64, ((np.maximum(lengths, 1) - 1) % 64).astype(np.uint64)[:, None]
    for t, column in enumerate(of_other.reshape(others.shape).T):
        up, down = np.full(score.shape, _ONE), np.full(score.shape, _NONE)
        for w in range(n_words):
            equal = places[column, w].T
            m, s = more[w], less[w]
            vertical = equal | s
            equal = equal | down
            across = (((equal & m) + m) ^ m) | equal
            rises, falls = s | ~(across | m), m & across
            steps = ((rises >> last) & _ONE).astype(np.int64) - ((falls >> last) & _ONE).astype(np.int64)
            score += np.where((last_word == w)[:, None] & (t < other_lengths), steps, 0)
            next_up, next_down = rises >> _TOP, falls >> _TOP
            rises, falls = (rises << _ONE) | up, (falls << _ONE) | down
            more[w], less[w] = falls | ~(vertical | rises), rises & vertical
            up, down = next_up, next_down
    score[lengths == 0] = other_lengths
    return score


@compiled_beside(_distances_by_arrays)
def edit_distances(
    symbols: Codes, starts: Ints, rows: Ints, other_symbols: Codes, other_starts: Ints, other_rows: Ints, n_symbols: int
) -> Ints:
    """The distance of each of some strings to each of some others."""
    out = np.empty((len(rows), len(other_rows)), np.int64)
    code_of = np.zeros(n_symbols, np.int32)
    for i in range(len(rows)):
        begin, end = starts[rows[i]], starts[rows[i] + 1]
        places = place_symbols(symbols, begin, end, code_of)
        more, less = np.empty(places.shape[1], np.uint64), np.empty(places.shape[1], np.uint64)
        for j in range(len(other_rows)):
            out[i, j] = distance_to(
                places,
                end - begin,
                code_of,
                other_symbols,
                other_starts[other_rows[j]],
                other_starts[other_rows[j] + 1],
                more,
                less,
            )
        forget_symbols(symbols, begin, end, code_of)
    return out


def _vote_by_arrays(
    symbols: Codes,
    starts: Ints,
    train_symbols: Codes,
    train_starts: Ints,
    train_labels: Codes,
    priors: Ints,
    n_neighbours: int,
    n_bins: int,
    n_symbols: int,
) -> Codes:
    """See `vote_nearest`."""
    rows, train_rows = np.arange(len(starts) - 1), np.arange(len(train_labels))
    distances = _distances_by_arrays(symbols, starts, rows, train_symbols, train_starts, train_rows, n_symbols)
    longer = np.maximum(np.maximum.outer(np.diff(starts), np.diff(train_starts)), 1)
    at = distances * n_bins // longer
    farthest = np.sort(at, axis=1)[:, [n_neighbours - 1]] if n_neighbours <= len(train_rows) else n_bins
    n_classes = len(priors)
    votes = (at <= farthest).astype(np.int64) @ (train_labels[:, None] == np.arange(n_classes))
    by_prior = np.lexsort((-np.arange(n_classes), priors))  # of equal votes the last of these is taken
    most = votes[:, by_prior[::-1]].argmax(axis=1)
    return np.asarray(by_prior[n_classes - 1 - most], dtype=np.int32)


@compiled_beside(_vote_by_arrays)
def vote_nearest(
    symbols: Codes,
    starts: Ints,
    train_symbols: Codes,
    train_starts: Ints,
    train_labels: Codes,
    priors: Ints,
    n_neighbours: int,
    n_bins: int,
    n_symbols: int,
) -> Codes:
    """The class of each string by a vote of the training strings that are nearest to it.

    Distances are divided by the longer length and rounded down to ``1 / n_bins``. All that are as near as the
    n-th nearest vote; of classes with equal votes, the one that `priors` counts more often, then the first.
    """
    n_classes = len(priors)
    out = np.empty(len(starts) - 1, np.int32)
    code_of = np.zeros(n_symbols, np.int32)
    votes = np.zeros((n_bins + 1, n_classes), np.int64)
    totals = np.zeros(n_bins + 1, np.int64)
    for i in range(len(out)):
        begin, end = starts[i], starts[i + 1]
        length = end - begin
        places = place_symbols(symbols, begin, end, code_of)
        more, less = np.empty(places.shape[1], np.uint64), np.empty(places.shape[1], np.uint64)
        votes[:] = 0
        totals[:] = 0
        farthest, n_within = n_bins, 0  # no more than the n nearest are farther than `farthest`
        for j in range(len(train_labels)):
            train_begin, train_end = train_starts[j], train_starts[j + 1]
            longer = max(length, train_end - train_begin, 1)
            # No more symbols can match than stand in both: most strings of a large alphabet end here.
            n_shared = 0
            for t in range(train_begin, train_end):
                if code_of[train_symbols[t]] > 0:
                    n_shared += 1
            if (longer - min(n_shared, length)) * n_bins // longer > farthest:
                continue
            distance = distance_to(places, length, code_of, train_symbols, train_begin, train_end, more, less)
            at = distance * n_bins // longer
            if at > farthest:
                continue
            votes[at, train_labels[j]] += 1
            totals[at] += 1
            n_within += 1
            while n_within - totals[farthest] >= n_neighbours:
                n_within -= totals[farthest]
                farthest -= 1
        best = 0
        for c in range(n_classes):
            for at in range(farthest):
                votes[farthest, c] += votes[at, c]
        for c in range(1, n_classes):
            ours, theirs = votes[farthest, c], votes[farthest, best]
            if ours > theirs or (ours == theirs and priors[c] > priors[best]):
                best = c
        out[i] = best
        forget_symbols(symbols, begin, end, code_of)
    return out
