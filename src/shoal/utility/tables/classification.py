"""Learning: the metric CM, and models trained on the release against models trained on the original."""

from __future__ import annotations

import html
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Rows
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Column, Table, spell
from shoal.engine.seeds import spawn_seeds
from shoal.errors import DataError, MissingExtra, PolicyError
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.reading import Categories, Ranges, Reading, ReadNumbers, read_published
from shoal.utility.tables.scale import Scale, scale_of
from shoal.utility.tables.scores import ScoreEstimate, accuracies, areas, determinations, estimate, resamples

Task = Literal["classes", "numbers"]
MODELS: dict[Task, tuple[str, ...]] = {
    "classes": ("logistic regression", "gradient boosting"),
    "numbers": ("linear regression", "gradient boosting"),
}
SCORES: dict[Task, tuple[str, ...]] = {"classes": ("accuracy", "AUC"), "numbers": ("R2",)}
MOST_ROWS = 20_000
MOST_CATEGORIES = 40
MOST_CLASSES = 50
MISSING_SKLEARN = 'comparing machine learning needs scikit-learn; install it with: pip install "shoal[mining]"'


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
    V. Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002.
    """
    if not grouping.n_rows:
        return 0.0
    known, codes = np.unique(np.asarray(classes), return_inverse=True)
    group, _, count = grouping.members(codes[grouping.rows].astype(np.int32), max(len(known), 1))
    majority = np.zeros(grouping.n_groups, dtype=np.int64)
    np.maximum.at(majority, group, count)
    return float(grouping.n_published - majority.sum() + grouping.n_suppressed) / grouping.n_rows


@dataclass(frozen=True)
class Score:
    """One score of a model on the test records.

    Attributes
    ----------
    name : {"accuracy", "AUC", "R2"}
        Share of test records whose class is predicted; area under the ROC curve, of more than two classes the mean of
        one class against all others, by frequency; for numbers the share of their variance that is predicted.
    before, after : Estimate
        Trained on the original, and on the release.
    change : Estimate
        After less before, on the same resampled records: an interval that holds 0 shows no difference.
    """

    name: str
    before: ScoreEstimate
    after: ScoreEstimate
    change: ScoreEstimate


@dataclass(frozen=True)
class ModelComparison:
    """One kind of model, trained on the original and on the release; tested on the same original records."""

    model: str
    scores: tuple[Score, ...]

    def __getitem__(self, name: str) -> Score:
        """A score by its name."""
        return {score.name: score for score in self.scores}[name]


@dataclass(frozen=True)
class LearningComparison:
    """What a release is worth for predicting one attribute; aggregates only.

    Attributes
    ----------
    task : {"classes", "numbers"}
        What is predicted; n_classes is 0 for numbers.
    n_train_before, n_train_after, n_test : int
        Records; at most 20,000 each are used, drawn at random.
    baseline : float
        The first score of a guess that looks at nothing: always the class that is most frequent among the original's
        training records, or their mean.
    confidence : float
        Level of all intervals. They are over test records; training is not repeated.
    """

    target: str
    task: Task
    n_classes: int
    n_train_before: int
    n_train_after: int
    n_test: int
    baseline: float
    confidence: float
    models: tuple[ModelComparison, ...]

    @property
    def scores(self) -> tuple[str, ...]:
        """Names of the scores, the first with a baseline."""
        return SCORES[self.task]

    def best(self, name: str, when: Literal["before", "after"]) -> float:
        """The best score that any model reaches."""
        return max(float(getattr(m[name], when).value) for m in self.models)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "models": [asdict(m) for m in self.models]}

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{m.model}</td>"
            + "".join(
                f"<td>{e.value:.3f} ({e.low:.3f} to {e.high:.3f})</td>" for s in m.scores for e in (s.before, s.after)
            )
            for m in self.models
        )
        heads = "".join(f"<th>{n} before</th><th>after</th>" for n in self.scores)
        caption = f"Predicting {html.escape(self.target)}"
        return f"<table><caption>{caption}</caption><tr><th>Model</th>{heads}</tr>{rows}</table>"


def compare_learning(
    original: Table,
    published: Table,
    rows: Rows,
    groups: Codes,
    attributes: Mapping[str, Attribute],
    target: str,
    *,
    test_share: float = 0.3,
    test_rows: Rows | None = None,
    confidence: float = 0.95,
    most_rows: int = MOST_ROWS,
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
        The attribute to predict: a number or a date, or one of at most 50 classes; published as single values.
        Records without it are left out.
    test_share : float
        Share of the original records to test on.
    test_rows : intp array, optional
        The original records to test on, in place of a random share.
    confidence : float
        Level of the intervals.
    most_rows : int
        At most this many records to train on, and to test on, drawn at random.
    seed : int or SeedSequence
        The same seed gives the same comparison.
    """
    if not 0 < test_share < 1 or not 0 < confidence < 1:
        raise PolicyError("the share of test records and the confidence must lie between 0 and 1; mend them")
    split_seed, train_seed, bootstrap_seed = spawn_seeds(seed, 3)
    rng = np.random.default_rng(split_seed)
    grouping, kept = Grouping.of(original.n_rows, rows, groups)
    task, truth, shown = _target(original, published, attributes, target, kept, grouping)
    is_test = np.zeros(original.n_rows, dtype=bool)
    if test_rows is None:
        test_rows = rng.permutation(original.n_rows)[: round(test_share * original.n_rows)]
    elif len(test_rows) and not 0 <= np.min(test_rows) <= np.max(test_rows) < original.n_rows:
        raise DataError(f"a test record is none of the {original.n_rows:,} of the original; give their row numbers")
    is_test[test_rows] = True
    test = _sampled(np.flatnonzero(is_test & ~np.isnan(truth)), rng, most_rows)
    before = _sampled(np.flatnonzero(~is_test & ~np.isnan(truth)), rng, most_rows)
    after = _sampled(np.flatnonzero(~is_test[grouping.rows] & ~np.isnan(shown)), rng, most_rows)
    for part, values in ((before, truth), (after, shown), (test, truth)):
        if len(np.unique(values[part])) < 2:
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
    n_classes = int(np.nanmax(truth)) + 1 if task == "classes" else 0
    y_before, y_after, y_test = truth[before], shown[after], truth[test]
    weights = resamples(len(test), np.random.default_rng(bootstrap_seed))
    models = tuple(
        _compared(
            name,
            _predicted(task, name, x_before, y_before, x_test, n_classes, train_seed),
            _predicted(task, name, x_after, y_after, x_test_after, n_classes, train_seed),
            y_test,
            weights,
            confidence,
        )
        for name in MODELS[task]
    )
    if task == "classes":
        baseline = float((y_test == np.bincount(y_before.astype(np.intp)).argmax()).mean())
    else:
        baseline = float(determinations(np.full(len(test), y_before.mean()), y_test, weights[:1])[0])
    return LearningComparison(target, task, n_classes, len(before), len(after), len(test), baseline, confidence, models)


def task_of(column: Column, attribute: Attribute) -> Task:
    """Whether an attribute is predicted as a number or as a class; `PolicyError` where it can be neither."""
    n_used = int(np.count_nonzero(column.counts()[: len(column.values)]))
    if n_used < 2:
        raise PolicyError(
            f"{column.name!r} has fewer than two values, so there is nothing to predict; choose another target"
        )
    if scale_of(column, attribute).kind == "number":
        return "numbers"
    if n_used > MOST_CLASSES:
        raise PolicyError(
            f"{column.name!r} has {n_used} values, too many to be predicted as classes; choose a target of at most "
            f"{MOST_CLASSES}, or one of numbers"
        )
    return "classes"


def _target(
    original: Table,
    published: Table,
    attributes: Mapping[str, Attribute],
    target: str,
    kept: Rows,
    grouping: Grouping,
) -> tuple[Task, Floats, Floats]:
    """What is to be predicted, and its class or number in each original record and each kept published one.

    Where it is missing, nan.
    """
    column, attribute = original[target], attributes[target]
    task = task_of(column, attribute)
    scale = scale_of(column, attribute)
    if task == "numbers":
        reading = read_published(scale, published[target], kept, grouping)
        if not isinstance(reading, ReadNumbers):
            raise _several_values(target)
        return task, scale.numbers(), reading.values
    used = np.unique(scale.codes[scale.codes < scale.n_values])
    class_of = np.full(scale.n_values + 1, np.nan)
    class_of[used] = np.arange(len(used))
    place = {scale.texts[code]: i for i, code in enumerate(used)}
    shown = published[target]
    of_text = np.array([place.get(text, -1) for text in spell(shown.values)] + [np.nan], dtype=np.float64)
    after = of_text[np.minimum(shown.codes[kept], len(shown.values))]
    if (after == -1).any():
        raise _several_values(target)
    return task, class_of[scale.codes], after


def _several_values(target: str) -> PolicyError:
    return PolicyError(
        f"{target!r} is published as labels of several values, so that no model can be trained on it; "
        "choose a target that is published as it was"
    )


def _feature_scales(
    original: Table, published: Table, attributes: Mapping[str, Attribute], target: str
) -> Iterator[Scale]:
    for name, column in original.columns.items():
        attribute = attributes.get(name)
        if attribute is not None and attribute.role != "identifying" and name in published.columns and name != target:
            yield scale_of(column, attribute)


def _sampled(rows: Rows, rng: np.random.Generator, most: int) -> Rows:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


@dataclass(frozen=True)
class _Design:
    """The columns of one feature: training and test records for the original's models, then for the release's."""

    made: tuple[list[Floats], list[Floats], list[Floats], list[Floats]]

    @classmethod
    def of(cls, scale: Scale, reading: Reading, grouping: Grouping, before: Rows, after: Rows, test: Rows) -> _Design:
        if isinstance(reading, ReadNumbers | Ranges):
            values = scale.numbers()
            release = reading.values if isinstance(reading, ReadNumbers) else reading.centres()[grouping.labels]
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


def _lumps(scale: Scale, rows: Rows) -> tuple[Rows, int]:
    """A column for each of the most frequent values, one for all others, and one for missing cells."""
    counts = np.bincount(scale.codes[rows], minlength=scale.n_values + 1)[: scale.n_values]
    most = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
    lumps = np.full(scale.n_values + 1, len(most), dtype=np.intp)
    lumps[most] = np.arange(len(most))
    lumps[-1] = len(most) + 1
    return lumps, len(most) + 2


def _predicted(
    task: Task, name: str, x: Floats, y: Floats, x_test: Floats, n_classes: int, seed: np.random.SeedSequence
) -> Floats:
    """The number, or the probability of every class, of each test record; 0 for classes that training records lack."""
    try:
        linear, ensemble = import_module("sklearn.linear_model"), import_module("sklearn.ensemble")
        pools = import_module("threadpoolctl")  # scikit-learn comes with it
    except ImportError:
        raise MissingExtra(MISSING_SKLEARN) from None
    many = {"max_iter": 100, "early_stopping": False, "random_state": int(seed.generate_state(1)[0])}
    if task == "numbers":
        is_linear = name == "linear regression"
        model = linear.Ridge() if is_linear else ensemble.HistGradientBoostingRegressor(**many)
    else:
        is_linear = name == "logistic regression"
        model = (
            linear.LogisticRegression(max_iter=1000) if is_linear else ensemble.HistGradientBoostingClassifier(**many)
        )
    # Threads wait for each other: 0.3 s became 12 s on a busy machine.
    with pools.threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a model that has not converged is a model that a user would get
        try:
            if task == "numbers":
                middle, unit = float(y.mean()), float(y.std()) or 1.0
                return np.asarray(model.fit(x, (y - middle) / unit).predict(x_test), dtype=np.float64) * unit + middle
            model.fit(x, y.astype(np.intp))
            result = np.zeros((len(x_test), n_classes))
            result[:, model.classes_] = model.predict_proba(x_test)
        except (ValueError, ArithmeticError) as error:
            raise DataError(
                f"scikit-learn's {name} cannot be trained on this data ({type(error).__name__}); choose another target"
            ) from None
    return result


def _compared(
    name: str, before: Floats, after: Floats, truth: Floats, weights: Floats, confidence: float
) -> ModelComparison:
    def score(named: str, of: Callable[[Floats], Floats]) -> Score:
        b, a = of(before), of(after)
        return Score(named, *(estimate(values, confidence) for values in (b, a, a - b)))

    if before.ndim == 1:
        return ModelComparison(name, (score("R2", lambda p: determinations(p, truth, weights)),))
    classes = truth.astype(np.intp)
    return ModelComparison(
        name,
        (
            score("accuracy", lambda p: accuracies(p, classes, weights)),
            score("AUC", lambda p: areas(p, classes, weights)),
        ),
    )
