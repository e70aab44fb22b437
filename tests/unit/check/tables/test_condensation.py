"""The check of pseudo-records, in both directions: true draws pass, and everything that is none is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.check.evidence import Evidence
from shoal.check.tables.alongside import alongside
from shoal.check.tables.condensation import condensation, condensed
from shoal.check.tables.draws import possible
from shoal.check.verdict import Asked
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import MARKERS, Table, encode_cells
from shoal.errors import DataError, PolicyError
from shoal.kinds.tables.policy import AlphaK, KAnonymity, LDiversity, TCloseness


def column(name: str, cells) -> object:
    """Texts with None for missing, or numbers."""
    if not any(isinstance(c, str) or c is None for c in cells):
        return encode_cells(name, np.asarray(cells))
    objects = np.empty(len(cells), dtype=object)
    objects[:] = cells
    return encode_cells(name, objects)


def table(**columns) -> Table:
    return Table.of([column(n, c) for n, c in columns.items()])


def attributes(**types: str) -> dict[str, Attribute]:
    return {n: Attribute(n, t, "quasi") for n, t in types.items()}  # type: ignore[arg-type]


def pairs(published: Table, original: Table, **types: str):
    return alongside(published, original, list(types), MARKERS, attributes(**types))


def is_possible(published: Table, original: Table, labels, original_labels=None, **types: str) -> list[bool]:
    labels = np.asarray(labels, dtype=np.int64)
    theirs = labels if original_labels is None else np.asarray(original_labels, dtype=np.int64)
    return possible(pairs(published, original, **types), labels, theirs).tolist()


def drawn(values: np.ndarray, labels: np.ndarray, rng: np.random.Generator, stretch: float = 1.0) -> np.ndarray:
    """The slow twin of the draw: group by group, on the scale of the whole table's deviations."""
    unit = values.std(axis=0)
    result = np.empty_like(values)
    for g in np.unique(labels):
        z = values[labels == g] / unit
        eigenvalues, vectors = np.linalg.eigh(np.cov(z.T, bias=True).reshape(z.shape[1], z.shape[1]))
        u = rng.uniform(-1, 1, z.shape) * stretch
        result[labels == g] = (z.mean(axis=0) + u * np.sqrt(3 * np.maximum(eigenvalues, 0)) @ vectors.T) * unit
    return result


def in_box(x: np.ndarray, values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The slow twin of the check, for numbers that were not rounded and groups without equal eigenvalues."""
    unit = values.std(axis=0)
    result = np.zeros(len(x), dtype=bool)
    for i, g in enumerate(labels):
        z = values[labels == g] / unit
        eigenvalues, vectors = np.linalg.eigh(np.cov(z.T, bias=True))
        away = vectors.T @ (x[i] / unit - z.mean(axis=0))
        result[i] = (np.abs(away) <= np.sqrt(3 * eigenvalues) * (1 + 1e-5)).all()
    return result


@pytest.mark.parametrize("seed", range(5))
def test_the_box_agrees_with_its_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3)) * [1, 1000, 1e-3] + [5, -1e5, 0]
    labels = rng.permutation(np.arange(400) // 8)
    x = drawn(values, labels, rng, stretch=1.15)
    original = table(a=values[:, 0], b=values[:, 1], c=values[:, 2])
    published = table(a=x[:, 0], b=x[:, 1], c=x[:, 2])
    found = is_possible(published, original, labels, a="continuous", b="continuous", c="continuous")
    expected = in_box(x, values, labels)
    assert 100 < expected.sum() < 350
    assert found == expected.tolist()


@pytest.mark.parametrize("seed", range(8))
def test_true_draws_of_few_and_of_even_records_are_never_doubted(seed: int) -> None:
    """Groups of no more records than attributes, and covariances whose eigenvectors are nobody's choice."""
    rng = np.random.default_rng(seed)
    corners = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
    flat = rng.normal(size=(3, 3))
    values = np.vstack([corners + 10.1 * g for g in range(10)] + [flat + 7 * g for g in range(10)])
    labels = np.concatenate([np.repeat(np.arange(10), 8), 10 + np.repeat(np.arange(10), 3)])
    x = drawn(values, labels, rng)
    original = table(a=values[:, 0], b=values[:, 1], c=values[:, 2])
    published = table(a=x[:, 0], b=x[:, 1], c=x[:, 2])
    types = {"a": "continuous", "b": "continuous", "c": "continuous"}
    assert all(is_possible(published, original, labels, **types))
    x[-1] += 0.01 * np.cross(*(flat[1:] - flat[0]))  # a hundredth out of the flat
    assert not is_possible(table(a=x[:, 0], b=x[:, 1], c=x[:, 2]), original, labels, **types)[-1]


def test_equal_eigenvalues_may_be_turned_but_not_left() -> None:
    square = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]) + 0.123456789
    original = table(a=square[:, 0], b=square[:, 1])
    half = np.sqrt(3) / 2
    corner = 0.623456789 + half * np.array([1.0, 0.0]) * np.sqrt(2)  # of the box turned by 45 degrees
    beyond = 0.623456789 + half * np.array([1.01, 0.0]) * np.sqrt(2)
    x = np.vstack([corner, beyond, square.mean(axis=0), square.mean(axis=0)])
    published = table(a=x[:, 0], b=x[:, 1])
    assert is_possible(published, original, [0] * 4, a="continuous", b="continuous") == [True, False, True, True]


def test_rounded_cells_are_read_as_all_that_may_have_become_them() -> None:
    original = table(x=[1, 2, 3, 4, 5])  # mean 3, half the box sqrt(6) = 2.449
    assert is_possible(table(x=[1, 5, 0, 6, 3]), original, [0] * 5, x="continuous") == [True, True, False, False, True]
    original = table(x=["1.0", "2.5", "3.0", "4.5", "5.0"])  # one decimal: 3.2 +- 2.545
    published = table(x=["0.7", "0.6", "5.7", "5.8", "3"])
    assert is_possible(published, original, [0] * 5, x="continuous") == [True, False, True, False, True]


def test_zero_stands_for_what_fell_below_only_where_nothing_is_negative() -> None:
    cells = [0, 0, 0, 0, 90]  # 18 +- 62.4
    assert is_possible(table(x=[0, -1, 80, 81, 0]), table(x=cells), [0] * 5, x="continuous") == [
        True, True, True, False, True,
    ]  # fmt: skip
    far = table(x=[100, 101, 102, 103, 104])
    assert is_possible(table(x=[0, 99, 102, 105, 106]), far, [0] * 5, x="continuous") == [
        False, False, True, False, False,
    ]  # fmt: skip
    # 99.5: nothing below is in the box, so 0 cannot stand for it; with a negative original 0 is 0 and in the box.
    assert is_possible(table(x=[0] * 5), table(x=[-5, 1, 2, 3, 90]), [0] * 5, x="continuous") == [True] * 5


def test_gaps_categories_constants_and_unreadable_cells() -> None:
    original = table(x=["1", None, "3", "7", "7", "7"], w=["a", "b", "b", "c", "c", None])
    labels = [0, 0, 0, 1, 1, 1]
    types = {"x": "continuous", "w": "nominal"}
    good = table(x=[None, "2", "2", "7", "7", "7"], w=["a", "a", "b", "c", None, "c"])
    assert is_possible(good, original, labels, **types) == [True] * 6
    bad = table(x=[None, "2", "x", None, "8", "7"], w=["c", None, "b", "c", "c", "a"])
    assert is_possible(bad, original, labels, **types) == [False] * 6


def test_dates_are_read_in_the_form_of_the_original() -> None:
    original = table(d=["01/02/2020", "03/02/2020", "25/02/2020"])  # only the last tells which is the day
    published = table(d=["12/02/2020", "09/02/2020", "02/12/2020"])
    assert is_possible(published, original, [0] * 3, d="date") == [True, True, False]
    assert is_possible(table(d=["12/02/2020", "someday", "1"]), original, [0] * 3, d="date") == [True, False, False]
    typed = table(d=np.array(["2020-02-01", "2020-02-03", "2020-02-25"], dtype="datetime64[us]"))
    assert is_possible(table(d=["2020-02-12", "2020-02-09", "2020-12-02"]), typed, [0] * 3, d="date") == [
        True, True, False,
    ]  # fmt: skip


def test_huge_and_constant_numbers() -> None:
    original = table(x=[-1.7e308, 1.7e308, 1e308, -1e308], y=[5.0] * 4)
    published = table(x=[1.7e308, -1.7e308, 0.0, 1e300], y=[5.0, 5.0, 5.0, 5.1])
    assert is_possible(published, original, [0] * 4, x="continuous", y="continuous") == [True, True, True, False]


def test_suppressed_originals_are_in_no_box() -> None:
    original = table(x=[1.5, 2.5, 3.5, 1000.5])
    assert is_possible(table(x=[2.5, 3.1, 500.0]), original, [0, 0, 0], [0, 0, 0, -1], x="continuous") == [
        True, True, False,
    ]  # fmt: skip


def release():
    """Two groups of five, drawn by hand: x in 3 +- 2.4 and 103 +- 2.4."""
    original = table(x=[1, 2, 3, 4, 5, 101, 102, 103, 104, 105], w=list("aabbbccddd"), s=list("pqpqpqpqpq"))
    published = table(x=[2, 2, 3, 4, 4, 102, 102, 103, 104, 104], w=list("bbaaaddccc"), s=list("qpqpppqqqp"))
    groups = np.repeat([0, 1], 5)
    return published, original, groups


def asked(*more, k: int = 5, missing: str = "value") -> Asked:
    types = attributes(x="continuous", w="nominal")
    known = {**types, "s": Attribute("s", "nominal", "sensitive")}
    return Asked([KAnonymity(k=k), *more], ["x", "w"], ["s"], missing, MARKERS, known)  # type: ignore[arg-type]


def verdict(published, original, groups, *more, original_groups=None, **how):
    theirs = groups if original_groups is None else original_groups
    evidence = Evidence(original, np.asarray(theirs, dtype=np.int64), np.asarray(groups, dtype=np.int64))
    return condensed(published, asked(*more, **how), evidence)


def test_a_sound_release_passes() -> None:
    found = verdict(*release(), LDiversity(l=2))
    assert found.holds
    assert [g.model for g in found.guarantees] == ["condensation", "no-copies", "l-diversity"]
    assert (found.guarantees[0].achieved, found.guarantees[0].n_classes) == (5, 2)
    assert "that pseudo-records were drawn from" in found.guarantees[2].sentence
    assert "look alike" not in found.guarantees[2].sentence


def test_what_is_wrong_is_found() -> None:
    published, original, groups = release()

    def failing(*given, **how) -> list[str]:
        found = verdict(*given, **how)
        return [g.model for g in found.guarantees if not g.holds]

    assert failing(published, original, groups, k=6) == ["condensation"]  # groups too small
    swapped = groups.copy()
    swapped[[0, 9]] = swapped[[9, 0]]
    assert failing(published, original, swapped, original_groups=groups) == ["condensation"]
    uneven = np.where(np.arange(10) == 9, 0, groups)
    assert failing(published, original, uneven, original_groups=groups) == ["condensation"]
    assert failing(published, original, np.where(groups == 1, 7, 0), original_groups=groups) == ["condensation"]
    copied = published.with_columns({"w": column("w", list("aaaaaddccc"))})
    assert failing(copied, original, groups) == ["no-copies"]
    foreign = published.with_columns({"w": column("w", list("zbaaaddccc"))})
    assert failing(foreign, original, groups) == ["condensation"]
    moved = published.with_columns({"x": column("x", [7, 2, 3, 4, 4, 102, 102, 103, 104, 104])})
    found = verdict(moved, original, groups)
    assert (found.guarantees[0].n_failing, found.guarantees[0].details["outside"]) == (1, 1)
    assert "1 published record cannot have been drawn" in found.guarantees[0].sentence


def test_models_of_sensitive_values_are_about_groups() -> None:
    published, original, groups = release()
    same = published.with_columns({"s": column("s", list("pppppqqqqq"))})
    for model in (LDiversity(l=2), TCloseness(t=0.2), AlphaK(alpha=0.9, k=5)):
        found = verdict(same, original, groups, model)
        assert [g.holds for g in found.guarantees] == [True, True, False]


def test_without_evidence_it_is_said_what_is_needed() -> None:
    published, original, groups = release()
    alone = condensed(published, asked(LDiversity(l=2)), Evidence())
    assert (alone.guarantees, alone.holds) == ((), False)
    assert len(alone.unverified) == 3
    assert "--original" in alone.unverified[0]
    beside = condensed(published, asked(LDiversity(l=2)), Evidence(original))
    assert [g.model for g in beside.guarantees] == ["no-copies"]
    assert not beside.holds
    assert "--private" in beside.unverified[0]
    other = condensed(published, asked(), Evidence(original, groups, groups[:-1]))
    assert not other.holds
    assert "another release" in other.unverified[0]
    with pytest.raises(PolicyError, match="quasi-identifier"):
        condensed(published, replace(asked(), quasi=[]), Evidence(original))
    with pytest.raises(DataError, match="no rows"):
        condensed(published.take(np.zeros(0, dtype=np.intp)), asked(), Evidence(original))


def test_a_group_without_originals_fails_whatever_it_holds() -> None:
    published, original, groups = release()
    found = condensation(
        pairs(published, original, x="continuous", w="nominal"),
        np.full(10, 4, dtype=np.int64),
        groups.astype(np.int64),
        k=5,
    )
    assert (found.achieved, found.holds, found.n_classes, found.n_failing) == (0, False, 3, 3)
