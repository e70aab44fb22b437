"""What pseudo-baskets are still good for: supports of items, pairs and triples, rules, and telling classes apart.

Beside each figure stands the same of columns that were permuted, each by itself, which keep the supports of items and
nothing else: what they score as well is no merit of the release.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.data.sparse.records import Sparse
from shoal.engine.seeds import spawn_seeds
from shoal.errors import ShoalError
from shoal.sparse.mining.neighbours_classifier import elect
from shoal.utility.measured import Z_95, Measured
from shoal.utility.sparse.originals import original_blocks

N_TOP = 1000
N_EXTENDED = 300  # pairs that triples are sought from
MOST_ITEMS = 1000  # the most frequent ones, among which pairs are sought
MOST_RECORDS = 200_000
MOST_LEARNED = 6000  # records of which some are published and the others asked about, where none were held out
MOST_KNOWN, MOST_ASKED = 20_000, 2000  # records that are learned from, and asked about, where some were

Maker = Callable[[Sparse], Sparse]


@dataclass(frozen=True)
class SupportError:
    """How far the supports of the most frequent sets of items are off.

    Attributes
    ----------
    n_sets : int
    mean : float
        Mean of the absolute error as a share of the true support.
    permuted : float
        The same of permuted columns, as expected.
    """

    n_sets: int
    mean: float
    permuted: float


@dataclass(frozen=True)
class ClassesTold:
    """The share of held-back originals put into their class, by what the classifier learned from.

    Attributes
    ----------
    classifier : str
    before, after : float
        Learned from originals, and from pseudo-baskets of the same ones.
    baseline : float
        Naming the most frequent class.
    n_known, n_asked : int
        Originals that were learned from, and that were asked about.
    surely_lost : float
        The lower end of a 95 % interval of what was lost, over the records asked about; 0 where nothing may be.
    """

    classifier: str
    before: float
    after: float
    baseline: float
    n_known: int
    n_asked: int
    surely_lost: float

    @property
    def lost(self) -> float:
        """The difference."""
        return self.before - self.after


@dataclass(frozen=True)
class BasketUtility(Measured):
    """What the protection cost.

    Attributes
    ----------
    n_records, n_published : int
    mean_size, mean_size_published : float
        Items of a record.
    items, pairs, triples : SupportError or None
        None where there are no such sets.
    pairs_kept, pairs_kept_permuted : float
        The share of the most frequent pairs that are among the most frequent ones published.
    triples_kept, triples_kept_permuted : float
        The same of triples.
    rules_kept, rules_kept_permuted : float
        Of the most frequent pairs' rules of largest confidence, the share that are such by what is published.
    confidence_error, confidence_error_permuted : float
        Mean absolute error of the confidence of the most frequent rules, "who has this has that".
    learning : tuple of ClassesTold
        Where there are classes.
    """

    n_records: int
    n_published: int
    mean_size: float
    mean_size_published: float
    items: SupportError | None
    pairs: SupportError | None
    triples: SupportError | None
    pairs_kept: float
    pairs_kept_permuted: float
    triples_kept: float
    triples_kept_permuted: float
    rules_kept: float
    rules_kept_permuted: float
    confidence_error: float
    confidence_error_permuted: float
    learning: tuple[ClassesTold, ...] = ()


def measure_baskets(
    original: Sparse, published: Sparse, *, make: Maker | None = None, control: Sparse | None = None, seed: int = 0
) -> BasketUtility:
    """Compare pseudo-baskets with the originals, those that were suppressed included.

    Supports are shares of records; of more than 200,000 a sample. Pairs are sought among the 1,000 most frequent items.
    Classifiers are asked about the `control`, records that were held out; else some records are published by `make`
    once more, and they are asked about others.
    """
    of_sample, of_learning = spawn_seeds(seed, 2)
    rng = np.random.default_rng(of_sample)
    names = frequent_names(original, MOST_ITEMS)
    before, after = (binary_matrix(_sampled(records, rng), names) for records in (original, published))
    shares, shown = (np.asarray(m.mean(axis=0)).ravel() for m in (before, after))
    pairs, kept, rules_kept, rules = _pairs(before, after, shares)
    triples, triples_kept = _triples(before, after, shares)
    return BasketUtility(
        len(original),
        len(published),
        float(original.sizes.mean()),
        float(published.sizes.mean()),
        None if not len(names) else SupportError(len(names), *_errors(shares, shown, shares)),
        pairs,
        triples,
        *kept,
        *triples_kept,
        *rules_kept,
        *rules,
        _learned(original, published, make, control, np.random.default_rng(of_learning)),
    )


def frequent_names(records: Sparse, most: int) -> list[str]:
    """The items that most records hold."""
    supports = records.supports
    order = np.argsort(-supports, kind="stable")[:most]
    return [records.names[i] for i in order.tolist() if supports[i] > 0]


def binary_matrix(records: Sparse, names: list[str]) -> Any:
    """Which record holds which of some items, as a sparse matrix."""
    from scipy.sparse import csr_matrix

    place = {name: i for i, name in enumerate(names)}
    columns = np.array([place.get(name, -1) for name in records.names], np.int64)[records.items]
    rows = np.repeat(np.arange(len(records)), records.sizes)
    held = columns >= 0
    shape = (len(records), len(names))
    return csr_matrix((np.ones(int(held.sum()), np.float32), (rows[held], columns[held])), shape=shape)


def _sampled(records: Sparse, rng: np.random.Generator) -> Sparse:
    return (
        records if len(records) <= MOST_RECORDS else records.take(np.sort(rng.permutation(len(records))[:MOST_RECORDS]))
    )


def _errors(true: Floats, shown: Floats, permuted: Floats) -> tuple[float, float]:
    return float((np.abs(shown - true) / true).mean()), float((np.abs(permuted - true) / true).mean())


def _pairs(
    before: Any, after: Any, shares: Floats
) -> tuple[SupportError | None, tuple[float, float], tuple[float, float], tuple[float, float]]:
    true, shown = (_together(m) for m in (before, after))
    upper = np.triu_indices(len(shares), 1)
    held = np.flatnonzero(true[upper] > 0)
    if not len(held):
        return None, (1.0, 1.0), (1.0, 1.0), (0.0, 0.0)
    apart = np.outer(shares, shares)
    top = held[np.argsort(-true[upper][held], kind="stable")[:N_TOP]]
    best = [np.argsort(-table[upper], kind="stable")[: len(top)] for table in (shown, apart)]
    after_shares = np.maximum(np.diagonal(shown), 1e-12)
    sides = ((true, top, shares), (shown, best[0], after_shares), (apart, best[1], shares))
    rules, *others = (_best_rules(table, upper[0][found], upper[1][found], of) for table, found, of in sides)
    one, other = upper[0][top], upper[1][top]
    error = SupportError(len(top), *_errors(true[one, other], shown[one, other], apart[one, other]))
    first, second = np.concatenate([one, other])[:N_TOP], np.concatenate([other, one])[:N_TOP]
    confidence = true[first, second] / shares[first]
    off = np.abs(shown[first, second] / after_shares[first] - confidence).mean()
    return (
        error,
        _shares_kept(top, *best),
        _shares_kept(rules, *others),
        (float(off), float(np.abs(shares[second] - confidence).mean())),
    )


def _best_rules(table: Floats, one: Ints, other: Ints, shares: Floats) -> Ints:
    """Of the rules "who has this has that" of some pairs, the half of largest confidence, each as a number."""
    first, second = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.argsort(-table[first, second] / shares[first], kind="stable")[: len(one)]
    return np.asarray(first[order] * len(shares) + second[order], np.int64)


def _shares_kept(true: Ints, shown: Ints, permuted: Ints) -> tuple[float, float]:
    return float(np.isin(true, shown).mean()), float(np.isin(true, permuted).mean())


def _together(matrix: Any) -> Floats:
    """The share of records that hold both of two items."""
    return np.asarray((matrix.T @ matrix).toarray() / max(matrix.shape[0], 1), np.float64)


def _triples(before: Any, after: Any, shares: Floats) -> tuple[SupportError | None, tuple[float, float]]:
    """The most frequent triples that hold one of the most frequent pairs."""
    one, other = _top_pairs(_together(before))
    if not len(one):
        return None, (1.0, 1.0)
    true, shown = (_extended(m, one, other) for m in (before, after))
    keys, top = _top_triples(one, other, true)
    if not len(top):
        return None, (1.0, 1.0)
    pair, item = np.divmod(top, len(shares))
    apart = shares[one[pair]] * shares[other[pair]] * shares[item]
    theirs = _top_pairs(_together(after))
    best, _ = _top_triples(*theirs, _extended(after, *theirs))
    alone = _top_pairs(np.outer(shares, shares))
    by_chance, _ = _top_triples(*alone, (shares[alone[0]] * shares[alone[1]])[:, None] * shares)
    error = SupportError(len(top), *_errors(true.ravel()[top], shown.ravel()[top], apart))
    return error, _shares_kept(keys, best, by_chance)


def _top_pairs(together: Floats) -> tuple[Ints, Ints]:
    """The most frequent pairs that occur."""
    pairs = np.triu(together, 1)
    flat = np.argsort(-pairs, axis=None, kind="stable")[:N_EXTENDED]
    one, other = np.divmod(flat[pairs.ravel()[flat] > 0], len(together))
    return one, other


def _top_triples(one: Ints, other: Ints, supports: Floats) -> tuple[Ints, Ints]:
    """The most frequent of pairs with a third item, each as a number and by its place in the supports."""
    n_items = supports.shape[1]
    sets = np.stack(np.broadcast_arrays(one[:, None], other[:, None], np.arange(n_items)[None, :])).reshape(3, -1)
    sets = np.sort(sets, axis=0)
    keys = (sets[0] * n_items + sets[1]) * n_items + sets[2]
    # A triple counts once, by its most frequent pair.
    places = np.flatnonzero((sets[0] < sets[1]) & (sets[1] < sets[2]) & (supports.ravel() > 0))
    places = places[np.unique(keys[places], return_index=True)[1]]
    top = places[np.argsort(-supports.ravel()[places], kind="stable")[:N_TOP]]
    return keys[top], top


def _extended(matrix: Any, one: Ints, other: Ints) -> Floats:
    """The share of records that hold both items of a pair and a third, for each pair and item."""
    columns = matrix.tocsc()
    both = columns[:, one].multiply(columns[:, other])
    return np.asarray((both.T @ matrix).toarray() / max(matrix.shape[0], 1), np.float64)


def _learned(
    original: Sparse, published: Sparse, make: Maker | None, control: Sparse | None, rng: np.random.Generator
) -> tuple[ClassesTold, ...]:
    if original.labels is None or len(np.unique(original.labels)) < 2:
        return ()
    if control is not None and control.labels is not None:
        known = _drawn(original, MOST_KNOWN, rng)
        return compare_classifiers(known, _drawn(published, MOST_KNOWN, rng), _drawn(control, MOST_ASKED, rng))
    if make is None:
        return ()
    order = rng.permutation(len(original))[:MOST_LEARNED]
    n_test = len(order) // 3
    test, train = original.take(order[:n_test]), original.take(order[n_test:])
    try:
        made = make(train)
    except ShoalError:  # too few of each class
        return ()
    return compare_classifiers(train, made, test) if len(made) else ()


def _drawn(records: Sparse, n: int, rng: np.random.Generator) -> Sparse:
    return records if len(records) <= n else records.take(np.sort(rng.permutation(len(records))[:n]))


def compare_classifiers(train: Sparse, made: Sparse, test: Sparse) -> tuple[ClassesTold, ...]:
    """Naive Bayes and nearest neighbours, learned from originals and from what was made of them.

    Of the records to be asked about, those of classes that no record to learn from has are left out.
    """
    assert train.labels is not None
    assert test.labels is not None
    assert made.labels is not None
    place = {train.classes[code]: code for code in np.unique(train.labels).tolist()}
    truth = np.array([place.get(name, -1) for name in test.classes], np.int64)[test.labels]
    test, truth = test.take(np.flatnonzero(truth >= 0)), truth[truth >= 0]
    if not len(test):
        return ()
    names = [train.names[i] for i in np.flatnonzero(train.supports).tolist()]
    asked = binary_matrix(test, names)
    numbers = {name: code for code, name in enumerate(train.classes)}
    made_labels = np.array([numbers[name] for name in made.classes], np.int32)[made.labels]
    sides = ((binary_matrix(train, names), train.labels), (binary_matrix(made, names), made_labels))
    n_classes = len(train.classes)
    baseline = float((truth == np.bincount(train.labels).argmax()).mean())
    told = []
    for name, classify in (("naive Bayes", _bayes), ("nearest neighbours", _nearest)):
        before, after = (classify(m, y, asked, n_classes) == truth for m, y in sides)
        lost = before.astype(np.int64) - after
        surely = max(float(lost.mean() - Z_95 * lost.std() / math.sqrt(len(lost))), 0.0)
        shares = (float(before.mean()), float(after.mean()), baseline)
        told.append(ClassesTold(name, *shares, len(train), len(test), surely))
    return tuple(told)


def _bayes(known: Any, labels: Codes, asked: Any, n_classes: int) -> Ints:
    """Multinomial naive Bayes with one more of each item."""
    from scipy.sparse import csr_matrix

    member = csr_matrix((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(n_classes, len(labels)))
    counts = np.asarray((member @ known).toarray()) + 1.0
    priors = np.log(np.maximum(np.bincount(labels, minlength=n_classes), 1e-9) / max(len(labels), 1))
    scores = asked @ np.log(counts / counts.sum(axis=1, keepdims=True)).T + priors
    return np.asarray(np.asarray(scores).argmax(axis=1), np.int64)


def _nearest(known: Any, labels: Codes, asked: Any, n_classes: int) -> Codes:
    """As many nearest neighbours vote as the square root of the number of records that are known.

    Records of a class are dealt to among k and more, so the very nearest one says less than many near ones do. With the
    root, the votes grow and yet become a vanishing share of all, as consistency asks (R. O. Duda, P. E. Hart,
    D. G. Stork, "Pattern Classification", 2001, section 4.4).
    """
    n_neighbours = max(math.isqrt(known.shape[0]), 1)
    weighted, weighted_asked = tf_idf(known, asked)
    blocks = original_blocks(weighted_asked, weighted, "cosine")
    found = elect(blocks, labels, n_classes, [n_neighbours], ["similarity"], asked.shape[0])
    return found[n_neighbours, "similarity"]


def tf_idf(known: Any, asked: Any) -> tuple[Any, Any]:
    """Both weighted by how rare an item is among the known ones."""
    rarity = np.log((1 + known.shape[0]) / (1 + np.asarray(known.sum(axis=0)).ravel())) + 1
    return known.multiply(rarity).tocsr(), asked.multiply(rarity).tocsr()
