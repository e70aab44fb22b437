"""Classification: trained on the originals and on the pseudo-strings, tested on originals that neither has seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.arrays import Codes
from shoal.data.strings.strings import Strings
from shoal.errors import DataError, PolicyError
from shoal.utility.measured import Measured
from shoal.utility.strings.codes import in_one_alphabet
from shoal.utility.strings.nearest import NearestStrings
from shoal.utility.strings.wav_rule import WavRule
from shoal.utility.tables.scores import ScoreEstimate, estimate, resamples

Classifier = Literal["nearest-neighbour", "wav-rule"]
CLASSIFIERS: tuple[Classifier, ...] = ("nearest-neighbour", "wav-rule")
MOST_TEST = 1000
MOST_STEPS = 20_000_000_000  # symbols of training strings times words of test strings; about a minute on one core


@dataclass(frozen=True)
class Accuracy(Measured):
    """The share of test strings that one kind of classifier puts into their class.

    Attributes
    ----------
    classifier : str
    before, after, change : Estimate
        Trained on the originals, on the pseudo-strings, and the difference on the same test strings, with a bootstrap
        interval over these.
    baseline : float
        The accuracy of always naming the class that is most frequent among the training originals.
    n_train_before, n_train_after, n_test, n_classes : int
        How many strings and classes there were.
    confidence : float
        Level of the intervals.
    """

    classifier: str
    before: ScoreEstimate
    after: ScoreEstimate
    change: ScoreEstimate
    baseline: float
    n_train_before: int
    n_train_after: int
    n_test: int
    n_classes: int
    confidence: float


def compare_classifiers(
    original: Strings,
    published: Strings,
    test: Strings,
    *,
    classifiers: Sequence[Classifier] = CLASSIFIERS,
    n_neighbours: int = 1,
    confidence: float = 0.95,
    seed: int = 0,
    workers: int | None = None,
) -> tuple[Accuracy, ...]:
    """Train on the originals and on what was published of them, and test both on other originals.

    The test strings must not be among those that the release was made from: pseudo-strings know a little of all of
    them. At most 1,000 are used; where training strings are so many or long that nearest neighbours would take
    minutes, a sample of both sides, of the same share.

    Parameters
    ----------
    original, published, test : Strings
        All with classes.
    classifiers : sequence of {"nearest-neighbour", "wav-rule"}
    n_neighbours : int
        Of the first.
    confidence : float
        Level of the intervals.
    seed : int
        Of samples and bootstrap.

    References
    ----------
    C. C. Aggarwal, P. S. Yu, "A framework for condensation-based anonymization of string data", Data Mining and
    Knowledge Discovery 16(3), 2008, section 5.1, Figs 10 to 13 and Table 2.
    """
    unknown = set(classifiers) - set(CLASSIFIERS)
    if unknown:
        raise PolicyError(
            f"the classifier {sorted(unknown)[0]!r} is not known; the choices are {', '.join(CLASSIFIERS)}"
        )
    if any(s.labels is None for s in (original, published, test)):
        raise DataError("classification needs a class for every string; give classes to all three sets")
    if not len(test):
        raise DataError("there are no strings to test on; hold some back")
    rng = np.random.default_rng(seed)
    test = _sampled(test, MOST_TEST, rng)
    before, after = in_one_alphabet(original, published)
    before, tested = in_one_alphabet(before, test)
    after = in_one_alphabet(after, before)[0]
    after, tested = in_one_alphabet(after, tested)
    assert tested.labels is not None
    weights = resamples(len(tested), np.random.default_rng(seed))
    priors = np.bincount(before.labels, minlength=len(before.classes))  # type: ignore[arg-type]  # refused above
    baseline = float((tested.labels == priors.argmax()).mean())
    out = []
    for name in classifiers:
        sides = [before, after]
        if name == "nearest-neighbour":
            words = float((-(-tested.lengths // 64)).sum())
            share = min(1.0, MOST_STEPS / max(words * max(len(s.symbols) for s in sides), 1.0))
            sides = [_sampled(s, max(round(share * len(s)), 1), rng) for s in sides]
        hits = [_predict(name, s, tested, n_neighbours, workers) == tested.labels for s in sides]
        right = [weights @ h / weights.sum(axis=1) for h in hits]
        sizes = (len(sides[0]), len(sides[1]), len(tested), len(before.classes))
        scores = (estimate(right[0], confidence), estimate(right[1], confidence))
        change = estimate(right[1] - right[0], confidence)
        out.append(Accuracy(name, *scores, change, baseline, *sizes, confidence))
    return tuple(out)


def _predict(name: Classifier, train: Strings, tested: Strings, n_neighbours: int, workers: int | None) -> Codes:
    if name == "wav-rule":
        return WavRule.fit(train).predict(tested)
    return NearestStrings(train, n_neighbours).predict(tested, workers)


def _sampled(strings: Strings, most: int, rng: np.random.Generator) -> Strings:
    return strings if len(strings) <= most else strings.take(np.sort(rng.permutation(len(strings))[:most]))
