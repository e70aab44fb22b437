"""Classification: the metric CM, and models trained on the release against models trained on the original."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.attribute import Attribute
from shoal.data.table import Column, Table, spell
from shoal.engine.seeds import spawn_seeds
from shoal.errors import DataError, MissingExtra, PolicyError
from shoal.utility.grouping import Grouping
from shoal.utility.reading import Categories, Numbers, Ranges, Reading, read_published
from shoal.utility.scale import Scale, scale_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

MODELS = ("logistic regression", "gradient boosting")
MOST_ROWS = 20_000
MOST_CATEGORIES = 40
MOST_CLASSES = 50
N_BOOTSTRAP = 300


def classification_metric(classes: npt.NDArray[np.integer[Any]], grouping: Grouping) -> float:
    """Classification metric CM: the share of records that are suppressed or not of their group's most frequent class.

    ``CM = sum over all records of penalty / N``, where the penalty is 1 if the record is suppressed or its class is not
    the majority's. Of several most frequent classes one counts, and it does not matter which.

    Parameters
    ----------
    classes : int array (n_rows,)
        The class of every original record, a missing one being a class of its own (``Column.codes``, say).

    References
    ----------
    V. Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002, section 3.2.
    """
    if not grouping.n_rows:
        return 0.0
    known, codes = np.unique(np.asarray(classes), return_inverse=True)
    group, _, count = grouping.members(codes[grouping.rows].astype(np.int32), max(len(known), 1))
    majority = np.zeros(grouping.n_groups, dtype=np.int64)
    np.maximum.at(majority, group, count)
    return float(len(grouping.rows) - majority.sum() + grouping.n_suppressed) / grouping.n_rows


@dataclass(frozen=True)
class Estimate:
    """A value with its bootstrap confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ModelComparison:
    """One kind of model, trained on the original and on the release; tested on the same original records.

    Attributes
    ----------
    accuracy_before, accuracy_after : Estimate
        Share of test records whose class is predicted.
    auc_before, auc_after : Estimate
        Area under the ROC curve; of more than two classes the mean of one class against all others, by frequency.
    accuracy_change, auc_change : Estimate
        After less before, on the same resampled records: an interval that holds 0 shows no difference.
    """

    model: str
    accuracy_before: Estimate
    accuracy_after: Estimate
    accuracy_change: Estimate
    auc_before: Estimate
    auc_after: Estimate
    auc_change: Estimate


@dataclass(frozen=True)
class LearningComparison:
    """What a release is worth for predicting one attribute; aggregates only.

    Attributes
    ----------
    n_classes : int
        Values of the target.
    n_train_before, n_train_after, n_test : int
        Records; at most 20,000 each are used, drawn at random.
    baseline : float
        Accuracy of always guessing the class that is most frequent among the original's training records.
    confidence : float
        Level of all intervals. They are over test records; training is not repeated.
    """

    target: str
    n_classes: int
    n_train_before: int
    n_train_after: int
    n_test: int
    baseline: float
    confidence: float
    models: tuple[ModelComparison, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "models": [asdict(m) for m in self.models]}

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{m.model}</td>" + "".join(f"<td>{e.value:.3f} ({e.low:.3f} to {e.high:.3f})</td>" for e in cells)
            for m in self.models
            for cells in [(m.accuracy_before, m.accuracy_after, m.auc_before, m.auc_after)]
        )
        heads = "".join(f"<th>{h}</th>" for h in ("Model", "Accuracy before", "after", "AUC before", "after"))
        return f"<table><caption>Predicting {html.escape(self.target)}</caption><tr>{heads}</tr>{rows}</table>"


def compare_learning(
    original: Table,
    published: Table,
    rows: npt.NDArray[np.intp],
    groups: npt.NDArray[np.int32],
    attributes: Mapping[str, Attribute],
    target: str,
    *,
    test_share: float = 0.3,
    test_rows: npt.NDArray[np.intp] | None = None,
    confidence: float = 0.95,
    seed: int | np.random.SeedSequence = 0,
) -> LearningComparison:
    """Train on the release and on the original, test both on original records that neither was trained on.

    A test record is never trained on: the models of the release see the published rows whose original is not among the
    test records (of pseudo-records, which stand for no single original, those in the place of others). That is not all,
    and the user should know it: **a release made from all records has seen the test records too.** Their values are
    inside the means, ranges and pseudo-records of the groups that they share with training records, and more records
    make closer groups, so the result flatters the release (on Adult, by up to 0.01 in AUC). For a result without that,
    make the release from a part of the original and name the others as `test_rows`.

    Numbers are standardised by their training records, ranges stand at their middle, missing numbers at the mean with a
    column that says so. Categories have a column each (the 40 most frequent among the original's training records), in
    which a label of several values has the share of each, as in `reading`.

    Parameters
    ----------
    original, published, rows, groups, attributes
        As in `measure`. All columns that are in both tables and not identifying are features.
    target : str
        The attribute to predict: one of at most 50 values, published as they were. Records without it are left out.
    test_share : float
        Share of the original records to test on.
    test_rows : intp array, optional
        The original records to test on, in place of a random share.
    confidence : float
        Level of the intervals.
    seed : int or SeedSequence
        The same seed gives the same comparison.
    """
    if not 0 < test_share < 1 or not 0 < confidence < 1:
        raise PolicyError("the share of test records and the confidence must lie between 0 and 1; mend them")
    split_seed, train_seed, bootstrap_seed = spawn_seeds(seed, 3)
    rng = np.random.default_rng(split_seed)
    grouping, kept = Grouping.of(original.n_rows, rows, groups)
    truth, labels_after = _classes(original[target], published[target], kept)
    is_test = np.zeros(original.n_rows, dtype=bool)
    if test_rows is None:
        test_rows = rng.permutation(original.n_rows)[: round(test_share * original.n_rows)]
    elif len(test_rows) and not 0 <= np.min(test_rows) <= np.max(test_rows) < original.n_rows:
        raise DataError(f"a test record is none of the {original.n_rows:,} of the original; give their row numbers")
    is_test[test_rows] = True
    test = _sampled(np.flatnonzero(is_test & (truth >= 0)), rng)
    before = _sampled(np.flatnonzero(~is_test & (truth >= 0)), rng)
    after = _sampled(np.flatnonzero(~is_test[grouping.rows] & (labels_after >= 0)), rng)
    for part, classes in ((before, truth), (after, labels_after), (test, truth)):
        if len(np.unique(classes[part])) < 2:
            raise DataError(
                f"fewer than two values of {target!r} are left to train on or to test on; "
                "choose another target or other test records"
            )
    features = [
        (scale, read_published(scale, published[scale.name], kept, grouping))
        for scale in _feature_scales(original, published, attributes, target)
    ]
    if not features:
        raise DataError(f"no column is left to predict {target!r} from; publish at least one")
    design = [_Design.of(scale, reading, grouping, before, after, test) for scale, reading in features]
    x_before, x_test, x_after, x_test_after = (
        np.column_stack([part for d in design for part in d.made[side]]) for side in range(4)
    )
    n_classes = int(truth.max()) + 1
    predicted = [
        (
            _probabilities(name, x_before, truth[before], x_test, n_classes, train_seed),
            _probabilities(name, x_after, labels_after[after], x_test_after, n_classes, train_seed),
        )
        for name in MODELS
    ]
    weights = _resamples(len(test), np.random.default_rng(bootstrap_seed))
    models = tuple(
        _compared(name, p, q, truth[test], weights, confidence) for name, (p, q) in zip(MODELS, predicted, strict=True)
    )
    most = np.bincount(truth[before]).argmax()
    baseline = float((truth[test] == most).mean())
    return LearningComparison(target, n_classes, len(before), len(after), len(test), baseline, confidence, models)


def _classes(column: Column, published: Column, kept: Ints) -> tuple[Ints, Ints]:
    """The class of each original record and of each kept published one, -1 where missing."""
    texts = spell(column.values)
    used = np.unique(column.codes[column.codes < len(texts)])
    if len(used) > MOST_CLASSES:
        raise PolicyError(
            f"{column.name!r} has {len(used)} values, too many to be predicted as classes; choose a target of at most "
            f"{MOST_CLASSES}"
        )
    class_of = np.full(len(texts) + 1, -1, dtype=np.intp)
    class_of[used] = np.arange(len(used))
    place = {texts[code]: i for i, code in enumerate(used)}
    shown = np.minimum(published.codes[kept], len(published.values))
    of_text = np.array([place.get(text, -2) for text in spell(published.values)] + [-1], dtype=np.intp)
    after = of_text[shown]
    if (after == -2).any():
        raise PolicyError(
            f"{column.name!r} is published as labels of several values, so that no model can be trained on it; "
            "choose a target that is published as it was"
        )
    return class_of[np.minimum(column.codes, len(texts))], after


def _feature_scales(
    original: Table, published: Table, attributes: Mapping[str, Attribute], target: str
) -> Iterator[Scale]:
    for name, column in original.columns.items():
        attribute = attributes.get(name)
        if attribute is not None and attribute.role != "identifying" and name in published.columns and name != target:
            yield scale_of(column, attribute)


def _sampled(rows: Ints, rng: np.random.Generator) -> Ints:
    return rows if len(rows) <= MOST_ROWS else np.sort(rng.choice(rows, MOST_ROWS, replace=False))


@dataclass(frozen=True)
class _Design:
    """The columns of one feature: training and test records for the original's models, then for the release's."""

    made: tuple[list[Floats], list[Floats], list[Floats], list[Floats]]

    @classmethod
    def of(cls, scale: Scale, reading: Reading, grouping: Grouping, before: Ints, after: Ints, test: Ints) -> _Design:
        if isinstance(reading, Numbers | Ranges):
            values = scale.numbers()
            release = reading.values if isinstance(reading, Numbers) else reading.centres()[grouping.labels]
            return cls((*_standardised(values[before], values[test]), *_standardised(release[after], values[test])))
        lumps, n_lumps = _lumps(scale, before)
        single = np.eye(n_lumps)
        if isinstance(reading, Categories):
            release = single[lumps[reading.codes[after]]]
        else:
            release = reading.lumped(lumps, n_lumps, 0, grouping.n_groups)[grouping.labels[after]]
        tested = single[lumps[scale.codes[test]]]
        return cls(([single[lumps[scale.codes[before]]]], [tested], [release], [tested]))


def _standardised(train: Floats, test: Floats) -> tuple[list[Floats], list[Floats]]:
    """Both in units of the training records, and whether they are missing if any of the training records is."""
    known = train[~np.isnan(train)]
    mean, deviation = (float(known.mean()), float(known.std())) if len(known) else (0.0, 1.0)
    if deviation <= 1e-9 * abs(mean):  # one value, and the rounding errors of its mean are no unit
        deviation = 1.0
    columns = [[np.nan_to_num((x - mean) / deviation)] for x in (train, test)]
    if len(known) < len(train):
        columns[0].append(np.isnan(train).astype(np.float64))
        columns[1].append(np.isnan(test).astype(np.float64))
    return columns[0], columns[1]


def _lumps(scale: Scale, rows: Ints) -> tuple[Ints, int]:
    """A column for each of the most frequent values, one for all others, and one for missing cells."""
    counts = np.bincount(scale.codes[rows], minlength=scale.n_values + 1)[: scale.n_values]
    most = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
    lumps = np.full(scale.n_values + 1, len(most), dtype=np.intp)
    lumps[most] = np.arange(len(most))
    lumps[-1] = len(most) + 1
    return lumps, len(most) + 2


def _probabilities(
    name: str, x: Floats, classes: Ints, x_test: Floats, n_classes: int, seed: np.random.SeedSequence
) -> Floats:
    """The probability of every class for each test record; 0 for classes that the training records lack."""
    try:
        linear, ensemble = import_module("sklearn.linear_model"), import_module("sklearn.ensemble")
        pools = import_module("threadpoolctl")  # scikit-learn comes with it
    except ImportError:
        raise MissingExtra(
            'comparing machine learning needs scikit-learn; install it with: pip install "shoal[mining]"'
        ) from None
    state = int(seed.generate_state(1)[0])
    if name == "logistic regression":
        model = linear.LogisticRegression(max_iter=1000)
    else:
        model = ensemble.HistGradientBoostingClassifier(max_iter=100, early_stopping=False, random_state=state)
    result = np.zeros((len(x_test), n_classes))
    with pools.threadpool_limits(limits=1):  # threads wait for each other: 0.3 s became 12 s on a busy machine
        model.fit(x, classes)
        result[:, model.classes_] = model.predict_proba(x_test)
    return result


def _resamples(n: int, rng: np.random.Generator) -> Floats:
    """How often each test record is drawn, one row a bootstrap sample; the first row is the test records themselves."""
    weights = np.ones((N_BOOTSTRAP + 1, n))
    for row in weights[1:]:
        row[:] = np.bincount(rng.integers(0, n, n), minlength=n)
    return weights


def _compared(
    name: str, before: Floats, after: Floats, truth: Ints, weights: Floats, confidence: float
) -> ModelComparison:
    accuracy = [weights @ (p.argmax(axis=1) == truth) / weights.sum(axis=1) for p in (before, after)]
    area = [areas(p, truth, weights) for p in (before, after)]
    return ModelComparison(
        name,
        *(_interval(v, confidence) for v in (*accuracy, accuracy[1] - accuracy[0])),
        *(_interval(v, confidence) for v in (*area, area[1] - area[0])),
    )


def _interval(values: Floats, confidence: float) -> Estimate:
    low, high = np.nanquantile(values[1:], [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate(float(values[0]), float(low), float(high))


def areas(probabilities: Floats, truth: npt.NDArray[np.integer[Any]], weights: Floats) -> Floats:
    """Area under the ROC curve for each row of weights of the records.

    The share of pairs of a record of a class and one of the others in which the first has the higher probability, ties
    counting half; the mean over classes, weighted by their frequency. Two classes have the same area.

    Parameters
    ----------
    probabilities : float64 array (n_records, n_classes)
    truth : int array (n_records,)
    weights : float64 array (n_samples, n_records)
    """
    total, norm = np.zeros(len(weights)), np.zeros(len(weights))
    for c in np.unique(truth):
        _, place = np.unique(probabilities[:, c], return_inverse=True)
        order = np.argsort(place, kind="stable")
        starts = np.flatnonzero(np.diff(place[order], prepend=-1))
        is_class = (truth == c)[order]
        ours = np.add.reduceat(weights[:, order] * is_class, starts, axis=1)
        others = np.add.reduceat(weights[:, order] * ~is_class, starts, axis=1)
        below = np.cumsum(others, axis=1) - others / 2
        n_ours, n_others = ours.sum(axis=1), others.sum(axis=1)
        usable = (n_ours > 0) & (n_others > 0)
        pairs = np.where(usable, n_ours * n_others, 1.0)
        total += np.where(usable, (ours * below).sum(axis=1) / pairs * n_ours, 0.0)
        norm += np.where(usable, n_ours, 0.0)
    return np.asarray(np.divide(total, norm, out=np.full(len(norm), np.nan), where=norm > 0))
