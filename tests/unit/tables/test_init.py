"""The partitions in scikit-learn's manner: its own checks, and what else is promised of `fit`."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import shoal.tables
from shoal.arrays import Codes
from shoal.errors import DataError, Infeasible, PolicyError
from shoal.tables import MDAV, Mondrian, Univariate
from shoal.tables.encoding import Ranked
from shoal.tables.partition.base import Partition
from shoal.tables.partition.univariate import univariate_labels

MODELS = [getattr(shoal.tables, name) for name in shoal.tables.__all__]
OF_MANY = [model for model in MODELS if model is not Univariate]


class FirstColumn(Univariate):
    """The checks feed several columns, so all but the first are passed over."""

    _rank = Partition._rank  # which refuses flat arrays, as the checks demand

    @staticmethod
    def grouping(ranked: Any, k: int) -> Codes:
        return univariate_labels(ranked[:1], k)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
        return tags


@pytest.fixture
def checks() -> Any:
    return pytest.importorskip("sklearn.utils.estimator_checks", reason="scikit-learn is not installed")


@pytest.mark.parametrize("model", [*OF_MANY, FirstColumn])
def test_check_estimator_passes_and_nothing_is_expected_to_fail(checks: Any, model: type[Partition]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what it skips, which is asserted below
        found = checks.check_estimator(model(), on_fail="raise")
    assert len(found) > 30
    assert {f["check_name"] for f in found if f["status"] != "passed"} <= {"check_array_api_input"}


@pytest.mark.parametrize("model", OF_MANY)
def test_checks_that_scikit_learn_keeps_for_its_own(checks: Any, model: type[Partition]) -> None:
    name = model.__name__
    checks.check_dataframe_column_names_consistency(name, model())
    checks.check_clustering(name, model(k=12))
    checks.check_clustering(name, model(k=12), readonly_memmap=True)


def test_scikit_learn_takes_a_partition_for_a_clusterer(checks: Any) -> None:
    base = pytest.importorskip("sklearn.base")
    assert base.is_clusterer(MDAV())
    copy = base.clone(Mondrian(k=3, strict=False).fit(np.arange(12.0)[:, None]))
    assert copy.get_params() == {"k": 3, "strict": False}
    assert not hasattr(copy, "labels_")


@pytest.mark.parametrize("model", MODELS)
def test_nothing_maps_new_records_onto_old_groups(model: type[Partition]) -> None:
    assert not any(hasattr(model, name) for name in ("transform", "fit_transform", "predict"))


@pytest.mark.parametrize("model", MODELS)
def test_documented_attributes_are_those_there_are(model: type[Partition]) -> None:
    pandas = pytest.importorskip("pandas")
    fitted = model(k=2).fit(pandas.DataFrame({"age": [1.0, 2.0, 8.0, 9.0]}))
    doc = model.__doc__ or ""
    public = [name for name in vars(fitted) if name.endswith("_")]
    assert sorted(public) == ["feature_names_in_", "labels_", "n_features_in_"]
    assert all(doc.count(f"{name} : ") == 1 for name in [*public, *fitted.get_params()])
    sections = [doc.index(f"{title}\n---") for title in ("Parameters", "Attributes", "Notes", "Examples")]
    assert sections == sorted(sections)
    assert "**Guarantee**" in doc
    assert "**Not protected**" in doc


@pytest.mark.parametrize(
    ("X", "error", "also", "words"),
    [
        (np.ones((4, 1)), Infeasible, ValueError, "fewer than k = 5"),
        (np.ones((9, 0)), DataError, ValueError, "0 feature"),
        (np.ones(9), DataError, ValueError, "reshape"),
        (np.full((9, 1), np.inf), DataError, ValueError, "infinite"),
        (np.ones((9, 1), complex), DataError, ValueError, "two columns"),
        ([["secret"]] * 9, DataError, ValueError, "more than numbers"),
        ([[{"secret": 1}]] * 9, DataError, TypeError, "more than numbers"),
    ],
)
def test_what_is_refused_is_an_error_of_both_worlds(
    X: Any, error: type[Exception], also: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        MDAV().fit(X)
    assert isinstance(caught.value, also)
    assert "secret" not in str(caught.value)


def test_a_parameter_of_no_meaning_is_refused_at_fit() -> None:
    model = MDAV().set_params(k="many")
    with pytest.raises(PolicyError, match="whole number") as caught:
        model.fit(np.ones((9, 1)))
    assert isinstance(caught.value, ValueError)
    with pytest.raises(ValueError, match="did you mean 'k'"):
        model.set_params(kk=3)


def test_names_are_those_of_the_last_fit() -> None:
    pandas = pytest.importorskip("pandas")
    model = MDAV(k=2).fit(pandas.DataFrame({"age": [1.0, 2.0], "size": [3.0, 4.0]}))
    assert model.feature_names_in_.tolist() == ["age", "size"]
    assert not hasattr(model.fit(np.ones((3, 2))), "feature_names_in_")
    ranked = Ranked("height", "order", np.array([0, 1, 0], np.int32), np.array([0.0, 1.0]))
    assert model.fit([ranked]).feature_names_in_.tolist() == ["height"]


@pytest.mark.parametrize(("library", "frame"), [("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")])
def test_frames_of_mixed_columns_are_grouped_by_all_of_them(library: str, frame: str) -> None:
    make = getattr(pytest.importorskip(library), frame)
    columns = {"age": [30.0] * 4, "town": ["Ulm", "Bonn", "Ulm", "Bonn"], "day": ["2020-01-01"] * 4}
    for model in OF_MANY:
        fitted = model(k=2).fit(make(columns))
        labels = fitted.labels_
        assert labels[0] == labels[2] != labels[1] == labels[3]
        assert fitted.feature_names_in_.tolist() == list(columns)
    numbers = {"age": [1, 9, 1, 9], "size": [2.0, 8.0, 2.0, 8.0]}
    assert (
        MDAV(k=2).fit(make(numbers)).labels_.tolist() == MDAV(k=2).fit(np.c_[tuple(numbers.values())]).labels_.tolist()
    )


def test_ordered_numbers_of_a_frame_count_by_their_order() -> None:
    pandas = pytest.importorskip("pandas")
    grade = pandas.Categorical([1, 1, 5, 5, 2, 2], categories=[1, 5, 2], ordered=True)
    labels = MDAV(k=3).fit(pandas.DataFrame({0: grade, 1: ["Ulm"] * 6})).labels_
    assert labels[0] == labels[1]
    assert labels[4] == labels[5] != labels[0]


def test_numbers_of_a_frame_are_numbers_also_beside_other_columns() -> None:
    pandas = pytest.importorskip("pandas")
    rooms = [1, 2, 3, 9, 8, 7]  # `shoal profile` would take so few whole numbers for codes
    labels = MDAV(k=3).fit(pandas.DataFrame({"rooms": rooms, "town": ["Ulm"] * 6})).labels_
    assert len(set(labels[:3])) == len(set(labels[3:])) == 1


def test_univariate_takes_a_flat_array() -> None:
    values = [3.0, 1.0, 2.0, 9.0]
    assert Univariate(k=2).fit_predict(values).tolist() == Univariate(k=2).fit_predict(np.c_[values]).tolist()


def test_scikit_learn_is_not_loaded_unless_it_asks() -> None:
    code = "import sys, shoal.tables; shoal.tables.MDAV(k=2).fit([[1.0], [2.0]]); print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
