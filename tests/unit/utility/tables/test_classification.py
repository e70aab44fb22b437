"""CM by its definition, and learning from a release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Column, Table, encode_cells
from shoal.errors import DataError, MissingExtra, PolicyError
from shoal.tables.encoding import rank
from shoal.tables.groups import Groups
from shoal.tables.publish.aggregate import aggregate
from shoal.tables.publish.generalise import generalise
from shoal.utility.tables import classification
from shoal.utility.tables.classification import LearningComparison, classification_metric, compare_learning
from shoal.utility.tables.grouping import Grouping


def objects(cells: Any) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 3)), min_size=1, max_size=30),
    st.integers(0, 5),
)
def test_cm_agrees_with_its_definition(records: list[tuple[int, int]], n_suppressed: int) -> None:
    groups = np.array([g for g, _ in records], dtype=np.int32)
    classes = [c for _, c in records] + [9] * n_suppressed
    n_rows = len(classes)
    penalty = n_suppressed
    for group, label in records:
        members = [c for g, c in records if g == group]
        majority = max(sorted(set(members)), key=members.count)
        penalty += group < 0 or label != majority
    grouping, _ = Grouping.of(n_rows, np.arange(len(records)), groups)
    assert classification_metric(np.array(classes), grouping) == pytest.approx(penalty / n_rows)


def test_cm_by_hand() -> None:
    grouping, _ = Grouping.of(7, np.arange(6), np.array([0, 0, 0, 1, 1, 1], dtype=np.int32))
    sick = np.array([1, 1, 0, 0, 0, 0, 1])
    assert classification_metric(sick, grouping) == pytest.approx((1 + 0 + 1) / 7)
    empty, _ = Grouping.of(0, np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.int32))
    assert classification_metric(np.zeros(0, dtype=np.int32), empty) == 0


ATTRIBUTES = {
    "id": Attribute("id", "continuous", "insensitive"),
    "age": Attribute("age", "continuous", "quasi"),
    "income": Attribute("income", "continuous", "quasi"),
    "town": Attribute("town", "nominal", "quasi"),
    "grade": Attribute("grade", "ordinal", "quasi", order=("low", "mid", "high")),
    "sick": Attribute("sick", "nominal", "sensitive"),
}


def people(n: int = 600, seed: int = 1) -> Table:
    """Sickness follows from age, town and grade, with noise; the number of a record says nothing."""
    rng = np.random.default_rng(seed)
    age, town, grade = rng.integers(18, 90, n), rng.integers(0, 4, n), rng.integers(0, 3, n)
    income = np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 10, n))
    sick = (age - 54) / 20 + (town == 2) * 1.5 - grade * 0.5 + rng.normal(0, 0.7, n) > 0.2
    return Table.of(
        [
            encode_cells("id", rng.permutation(n)),
            encode_cells("age", age),
            encode_cells("income", income),
            encode_cells("town", objects(["pqrs"[t] for t in town])),
            encode_cells("grade", objects([("low", "mid", "high")[g] for g in grade])),
            encode_cells("sick", objects(["yes" if s else "no" for s in sick])),
        ]
    )


def grouped(table: Table, size: int) -> np.ndarray:
    labels = np.empty(table.n_rows, dtype=np.int32)
    order = np.lexsort((table["grade"].codes, table["age"].codes, table["town"].codes))
    labels[order] = np.minimum(np.arange(table.n_rows) // size, max(table.n_rows // size - 1, 0))
    return labels


def publish(table: Table, labels: np.ndarray, how: str) -> Table:
    columns: dict[str, Column] = {}
    for name in ("age", "income", "town", "grade"):
        column, attribute = table[name], ATTRIBUTES[name]
        ranked, groups = rank(column, attribute), Groups.of(labels)
        if how == "generalise":
            columns[name] = generalise(column, ranked, groups, None, missing="value")
        else:
            columns[name] = aggregate(column, ranked, groups, k=1, missing="value", restore_variance=False).column
    return table.with_columns(columns)


def learn(table: Table, release: Table, labels: np.ndarray, **more: Any) -> LearningComparison:
    pytest.importorskip("sklearn", reason="the comparison of learning needs scikit-learn")
    rows = more.pop("rows", np.arange(table.n_rows))
    return compare_learning(table, release, rows, labels, ATTRIBUTES, more.pop("target", "sick"), **more)


def test_a_release_that_changes_nothing_teaches_the_same() -> None:
    table = people()
    found = learn(table, table, grouped(table, 5), seed=3)
    assert (found.n_classes, found.n_train_before, found.n_train_after, found.n_test) == (2, 420, 420, 180)
    for model in found.models:
        for change in (model["accuracy"].change, model["AUC"].change):
            assert (change.value, change.low, change.high) == (0, 0, 0)
        accuracy = model["accuracy"].before
        assert accuracy.low < accuracy.value < accuracy.high
        assert accuracy.value > found.baseline + 0.1
        assert model["AUC"].before.value > 0.85
    assert found.best("AUC", "after") == max(m["AUC"].after.value for m in found.models)


@pytest.mark.parametrize("how", ["generalise", "aggregate"])
def test_small_groups_teach_more_than_one_large_one(how: str) -> None:
    table = people()
    small, whole = (
        learn(table, publish(table, labels, how), labels, seed=3)
        for labels in (grouped(table, 6), np.zeros(table.n_rows, dtype=np.int32))
    )
    for near, far in zip(small.models, whole.models, strict=True):
        assert near["AUC"].after.value > 0.8
        assert far["AUC"].after.value < 0.7
        assert far["AUC"].change.high < 0
        assert near["AUC"].before == far["AUC"].before


def test_shuffled_classes_teach_nothing() -> None:
    table = people()
    sick = table["sick"]
    shuffled = sick.take(np.random.default_rng(1).permutation(table.n_rows))
    found = learn(table, table.with_columns({"sick": shuffled}), grouped(table, 5), seed=3)
    for model in found.models:
        assert model["AUC"].after.value == pytest.approx(0.5, abs=0.15)
        assert model["accuracy"].change.high < 0


def test_no_test_record_is_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    table = people(200)
    order = np.random.default_rng(4).permutation(200)[:150]  # a release in another order, of which some are suppressed
    seen: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def spy(task, name, x, classes, x_test, n_classes, seed):
        seen.append((x[:, 0], classes, x_test[:, 0]))
        return np.full((len(x_test), n_classes), 1 / n_classes)

    monkeypatch.setattr(classification, "_standardised", lambda train, test: ([train], [test]))
    monkeypatch.setattr(classification, "_predicted", spy)
    groups = np.arange(150, dtype=np.int32) // 5
    groups[:5] = -1
    rows = np.arange(200)
    sick = dict(zip(table["id"].cells(), table["sick"].codes, strict=True))
    for test_rows in (None, rows[100:]):
        seen.clear()
        found = compare_learning(table, table.take(order), order, groups, ATTRIBUTES, "sick", test_rows=test_rows)
        tested = set(seen[0][2])
        assert len(tested) == found.n_test == (60 if test_rows is None else 100)
        suppressed = {table["id"].cells()[r] for r in set(rows) - set(order[5:])}
        for (ids, classes, asked), is_release in zip(seen[:2], (False, True), strict=True):
            assert set(asked) == tested
            assert not set(ids) & tested
            assert len(ids) == len(set(ids)) == (found.n_train_after if is_release else found.n_train_before)
            assert [sick[i] for i in ids] == classes.tolist()
            assert bool(set(ids) & suppressed) != is_release


def test_missing_classes_are_left_out_and_three_classes_work() -> None:
    table = people()
    cells = [None if i % 10 == 0 else ("low", "mid", "high")[c] for i, c in enumerate(table["grade"].codes)]
    table = table.with_columns({"grade": encode_cells("grade", objects(cells))})
    found = learn(table, table, grouped(people(), 5), target="grade", seed=1)
    assert found.n_classes == 3
    assert found.n_train_before + found.n_test == 540


def test_numbers_are_predicted_by_their_share_of_variance() -> None:
    table = people()
    sick = table["sick"].codes
    cost = encode_cells("cost", 1e6 + 100.0 * sick + table["grade"].codes * 30 + np.random.default_rng(1).random(600))
    table = Table.of([*table.columns.values(), cost])
    attributes = ATTRIBUTES | {"cost": Attribute("cost", "continuous", "sensitive")}
    small, whole = (
        compare_learning(
            table, publish(table, labels, "generalise"), np.arange(600), labels, attributes, "cost", seed=3
        )
        for labels in (grouped(table, 6), np.zeros(600, dtype=np.int32))
    )
    assert (small.task, small.n_classes, small.scores) == ("numbers", 0, ("R2",))
    assert [m.model for m in small.models] == ["linear regression", "gradient boosting"]
    assert abs(small.baseline) < 0.05
    for near, far in zip(small.models, whole.models, strict=True):
        assert near["R2"].before.value > 0.9
        assert near["R2"].after.value > far["R2"].after.value - 0.01
        assert near["R2"].before == far["R2"].before


def test_the_same_seed_compares_the_same() -> None:
    table = people(200)
    labels = grouped(table, 5)
    release = publish(table, labels, "generalise")
    one, two, three = (learn(table, release, labels, seed=s) for s in (1, 1, 2))
    assert one == two
    assert one != three
    assert one.to_dict()["models"][0]["model"] == "logistic regression"
    assert "Predicting sick" in one._repr_html_()


def test_what_cannot_be_learned_is_refused() -> None:
    table = people(100)
    labels = grouped(table, 5)
    ages = {"age": Attribute("age", "nominal", "quasi")}
    with pytest.raises(PolicyError, match="too many"):
        compare_learning(table, table, np.arange(100), labels, ATTRIBUTES | ages, "age")
    alike = table.take(np.full(100, 3)).compact()
    with pytest.raises(PolicyError, match="fewer than two values"):
        compare_learning(alike, table, np.arange(100), labels, ATTRIBUTES, "sick")
    with pytest.raises(PolicyError, match="several values"):
        learn(table, publish(table, labels, "generalise"), labels, target="age")
    with pytest.raises(PolicyError, match="several values"):
        learn(table, publish(table, labels, "generalise"), labels, target="town")
    with pytest.raises(PolicyError, match="between 0 and 1"):
        learn(table, table, labels, test_share=1.0)
    with pytest.raises(DataError, match="fewer than two"):
        learn(table, table, labels, test_rows=np.arange(1))
    with pytest.raises(DataError, match="none of the 100"):
        learn(table, table, labels, test_rows=np.array([100]))
    with pytest.raises(DataError, match="no column is left"):
        learn(table.select(["sick"]), table, labels)


def test_without_scikit_learn_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(classification, "import_module", absent)
    table = people(100)
    with pytest.raises(MissingExtra, match=r'pip install "shoal\[mining\]"'):
        compare_learning(table, table, np.arange(100), grouped(table, 5), ATTRIBUTES, "sick")
