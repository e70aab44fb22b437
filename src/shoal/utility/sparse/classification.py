"""Classification before and after: nearest neighbours among originals, and among sketches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from shoal.arrays import Codes, Ints, Singles
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.engine.seeds import spawn_seeds
from shoal.errors import DataError, PolicyError
from shoal.sparse.mining.neighbours_classifier import Votes, elect
from shoal.sparse.mining.similarity import Background, Metric, similarity_blocks
from shoal.utility.measured import Measured
from shoal.utility.sparse.originals import matrix_of, original_blocks

Anonymizer = Callable[[Sparse], tuple[Sketches, Ints]]
Blocks = Callable[[Metric], Iterable[tuple[slice, Singles]]]

MOST_RECORDS = 10_000
N_NEIGHBORS = (1, 5, 15, 50, 150)
METRICS: tuple[Metric, ...] = ("cosine", "euclidean")
VOTES: tuple[Votes, ...] = ("similarity", "uniform")


@dataclass(frozen=True)
class SketchAccuracy:
    """The share of test records put into their class, over the repetitions.

    Attributes
    ----------
    mean, deviation : float
        The deviation is that between repetitions, 0 where there is one.
    repeats : tuple of float
        Each of them.
    chosen : tuple of str
        The rule that the training records chose in each, such as "cosine, 15, similarity".
    """

    mean: float
    deviation: float
    repeats: tuple[float, ...]
    chosen: tuple[str, ...] = ()

    @classmethod
    def of(cls, repeats: list[float], chosen: list[str]) -> SketchAccuracy:
        """Sum up the repetitions."""
        deviation = float(np.std(repeats, ddof=1)) if len(repeats) > 1 else 0.0
        return cls(float(np.mean(repeats)), deviation, tuple(repeats), tuple(chosen))


@dataclass(frozen=True)
class SketchLearning(Measured):
    """Accuracies of nearest neighbours.

    Attributes
    ----------
    before, after, baseline : Accuracy
        On originals, on sketches, and always naming the most frequent class of the training records.
    n_records, n_train, n_test, n_classes : int
        Of each repetition; a sample of the data where that has more records.
    suppressed_train, suppressed_test : float
        Mean shares. A suppressed test record is given a class at random, by the shares of training records.
    """

    before: SketchAccuracy
    after: SketchAccuracy
    baseline: SketchAccuracy
    n_records: int
    n_train: int
    n_test: int
    n_classes: int
    suppressed_train: float
    suppressed_test: float


def learn(
    original: Sparse,
    make: Anonymizer,
    *,
    seed: int | np.random.SeedSequence = 0,
    n_repeats: int = 3,
    most_records: int = MOST_RECORDS,
) -> SketchLearning:
    """Classify originals by originals, and sketches by sketches.

    Records are split at random, two for training to one for testing, and both parts are anonymised apart, with one
    key. The metric, the number of neighbours and the kind of votes are chosen for each side by its training records
    alone: a third of them is held back, and what does best there is used; the smaller number where several do.

    Parameters
    ----------
    original : Sparse
        With classes.
    make : callable
        Takes records and returns their sketches and the row of each sketch among the records. Always with the same key.
    seed : int or SeedSequence
        Of samples and splits.
    n_repeats : int
        How many splits.
    most_records : int
        At most this many records, drawn at random for each split.

    References
    ----------
    C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, section
    4.1: the split, and classes at random for suppressed test records. It does not tell the classifier's parameters.
    """
    if original.labels is None or len(np.unique(original.labels)) < 2:
        raise DataError("classification needs records of two classes or more; give them, or leave it out")
    if n_repeats < 1 or min(most_records, len(original)) < 9:
        raise PolicyError("classification needs one repetition and nine records at least; ask for more")
    rounds = [_one_round(original, make, s, most_records) for s in spawn_seeds(seed, n_repeats)]
    columns = {name: [r[name] for r in rounds] for name in rounds[0]}
    return SketchLearning(
        SketchAccuracy.of(columns["before"], columns["rule_before"]),
        SketchAccuracy.of(columns["after"], columns["rule_after"]),
        SketchAccuracy.of(columns["baseline"], []),
        n_records=rounds[0]["n_records"],
        n_train=rounds[0]["n_train"],
        n_test=rounds[0]["n_test"],
        n_classes=max(columns["n_classes"]),
        suppressed_train=float(np.mean(columns["suppressed_train"])),
        suppressed_test=float(np.mean(columns["suppressed_test"])),
    )


def _one_round(original: Sparse, make: Anonymizer, seed: np.random.SeedSequence, most: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(original))[:most]
    n_test = len(chosen) // 3
    test, train = original.take(chosen[:n_test]), original.take(chosen[n_test:])
    assert train.labels is not None
    assert test.labels is not None
    n_classes = len(original.classes)
    shares = np.bincount(train.labels, minlength=n_classes) / len(train)

    known, tested = matrix_of(train), matrix_of(test)
    predicted, rule_before = _classify(
        lambda rows, against: partial(original_blocks, known[rows], known[against]),
        partial(original_blocks, tested, known),
        train.labels,
        n_classes,
        n_test,
        rng,
    )
    before = float((predicted == test.labels).mean())

    sketches, kept = make(train)
    asked, kept_test = make(test)
    guessed = rng.choice(n_classes, n_test, p=shares).astype(np.int32)
    rule_after = "none: all training records are suppressed"
    if len(kept):
        background = Background.of(sketches)
        guessed[kept_test], rule_after = _classify(
            lambda rows, against: _of_sketches(sketches.take(rows), sketches.take(against), background),
            _of_sketches(asked, sketches, background),
            train.labels[kept],
            n_classes,
            len(kept_test),
            rng,
        )
    return {
        "before": before,
        "after": float((guessed == test.labels).mean()),
        "baseline": float((test.labels == shares.argmax()).mean()),
        "rule_before": rule_before,
        "rule_after": rule_after,
        "n_records": len(chosen),
        "n_train": len(train),
        "n_test": n_test,
        "n_classes": int((shares > 0).sum()),
        "suppressed_train": 1 - len(kept) / len(train),
        "suppressed_test": 1 - len(kept_test) / max(n_test, 1),
    }


def _of_sketches(tested: Sketches, known: Sketches, background: Background) -> Blocks:
    return lambda metric: similarity_blocks(tested, known, metric, background)


def _classify(
    within: Callable[[Ints, Ints], Blocks],
    blocks: Blocks,
    labels: Codes,
    n_classes: int,
    n_tested: int,
    rng: np.random.Generator,
) -> tuple[Codes, str]:
    """Choose the rule on the training records, then name the classes of the tested ones."""
    metric, n_neighbors, votes = METRICS[0], N_NEIGHBORS[-1], VOTES[0]
    order = rng.permutation(len(labels))
    held, rest = order[: len(order) // 3], order[len(order) // 3 :]
    if len(held):
        scores: dict[tuple[Metric, int, Votes], float] = {}
        for tried in METRICS:
            found = elect(within(held, rest)(tried), labels[rest], n_classes, N_NEIGHBORS, VOTES, len(held))
            for (n, kind), named in found.items():
                scores[tried, n, kind] = float((named == labels[held]).mean())
        metric, n_neighbors, votes = max(scores, key=lambda rule: scores[rule])
    found = elect(blocks(metric), labels, n_classes, [n_neighbors], [votes], n_tested)
    return found[n_neighbors, votes], f"{metric}, {n_neighbors}, {votes}"
