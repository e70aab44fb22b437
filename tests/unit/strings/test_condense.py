"""Condensation as a whole: classes, suppression, rare symbols, copies, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import shoal.strings.groups as groups_module
import shoal.strings.templates as templates_module
from shoal.data.strings.strings import Strings
from shoal.engine.executors import open_executor
from shoal.errors import DataError, Infeasible, PolicyError, ShoalError
from shoal.strings import Condensation
from shoal.strings.condense import SUPPRESSED_BECAUSE


def letters(n: int, shortest: int, longest: int, alphabet: str = "ACDEFG", seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(alphabet), rng.integers(shortest, longest + 1))) for _ in range(n)]


def condense(strings: Any, labels: list[str] | None = None, **settings: Any) -> tuple[Condensation, Any]:
    estimator = Condensation(**{"k": 5, "seed": 1, "workers": 1, **settings})
    return estimator, estimator.fit_transform(strings, labels)


def test_every_group_has_k_and_gives_as_many() -> None:
    texts = letters(90, 20, 40)
    estimator, drawn = condense(texts)
    assert len(drawn) == 90 - estimator.n_suppressed_ - estimator.pseudo_.n_dropped
    sizes = np.bincount(estimator.labels_[estimator.labels_ >= 0])
    assert sizes.min() >= 5
    assert len(sizes) == estimator.n_groups_
    assert sizes.tolist() == estimator.statistics_.sizes.tolist()
    assert np.bincount(estimator.pseudo_.groups).tolist() == sizes.tolist()
    assert not set(drawn) & set(texts)
    assert 0 < estimator.relative_objective_ < 1
    assert estimator.objective_ == pytest.approx(sum(s.objective * s.n_strings for s in estimator.segments_) / 90)


def test_the_kind_that_came_in_comes_out() -> None:
    texts = letters(30, 12, 12)
    tokens = [list(t) for t in texts]
    assert isinstance(condense(texts)[1][0], str)
    assert isinstance(condense(tokens)[1][0], list)
    out = condense(Strings.of(texts))[1]
    assert isinstance(out, Strings)
    assert out.texts() == condense(texts)[1]


@pytest.mark.parametrize("is_tokens", [False, True])
def test_the_order_of_the_strings_does_not_matter(is_tokens: bool) -> None:
    texts: list[Any] = letters(80, 9, 14, "AB")  # with repeats
    if is_tokens:
        texts = [list(t) for t in texts]
    labels = ["x" if len(t) % 2 else "y" for t in texts]
    order = np.random.default_rng(1).permutation(80)
    one, drawn = condense(texts, labels, k=4)
    two, again = condense([texts[i] for i in order], [labels[i] for i in order], k=4)
    assert drawn == again
    assert one.objective_ == two.objective_
    groups = [sorted((str(texts[i]), int(one.labels_[i])) for i in range(80))]
    assert groups == [sorted((str(texts[i]), int(g)) for i, g in zip(order, two.labels_, strict=True))]


def test_seeds_and_executors() -> None:
    texts = letters(120, 10, 30)
    drawn = condense(texts, block_strings=20)[1]
    assert condense(texts, block_strings=20)[1] == drawn
    assert condense(texts, block_strings=20, seed=2)[1] != drawn
    assert condense(texts, block_strings=20, workers=2)[1] == drawn
    with open_executor(2) as executor:
        assert Condensation(k=5, seed=1, block_strings=20).fit_transform(texts, executor=executor) == drawn
    assert condense(texts, seed=None)[1] != condense(texts, seed=None)[1]


def test_fit_groups_as_fit_transform_does() -> None:
    texts = letters(60, 10, 20)
    estimator, _ = condense(texts)
    assert Condensation(k=5, seed=1, workers=1).fit(texts).labels_.tolist() == estimator.labels_.tolist()
    assert not hasattr(estimator, "transform")


def test_classes_are_condensed_apart() -> None:
    texts = letters(40, 15, 15, "AC", 1) + letters(40, 15, 15, "GT", 2) + letters(3, 15, 15, "AC", 3)
    labels = ["one"] * 40 + ["two"] * 40 + ["three"] * 3
    estimator, drawn = condense(texts, labels)
    strings = estimator.pseudo_.strings
    assert strings.classes == ("one", "two")
    assert strings.labels is not None
    for text, label in zip(drawn, strings.labels, strict=True):
        assert set(text) <= set("AC" if label == 0 else "GT")
    assert estimator.n_suppressed_ == 3
    assert {SUPPRESSED_BECAUSE[r] for r in estimator.suppressed_[80:]} == {"class of fewer than k"}
    assert (estimator.labels_[80:] == -1).all()


def test_a_copy_of_another_class_is_a_copy_too() -> None:
    # Class y can only give AC or CA at these positions; both are originals of class x.
    texts = ["AC", "CA"] * 4 + ["AA", "CC"] * 4
    estimator, drawn = condense(texts, ["x"] * 8 + ["y"] * 8, order=1, k=5, rare=4)
    assert drawn == []
    assert estimator.pseudo_.n_dropped == 16
    assert estimator.pseudo_.n_rejected == 320


def test_suppression_is_told_apart() -> None:
    texts = [*letters(20, 10, 12), "", "", "ACD" * 50, *letters(1, 1, 1)]
    estimator, _ = condense(texts)
    reasons = [SUPPRESSED_BECAUSE[r] for r in estimator.suppressed_]
    assert reasons == ["kept"] * 20 + ["empty"] * 2 + ["length"] * 2
    assert estimator.n_suppressed_ == 4


def test_rare_symbols_never_come_out() -> None:
    tokens = [list(t) for t in letters(40, 10, 10)]
    tokens[3][4] = "Mr Smith"
    tokens[5] = ["only me"]
    estimator, drawn = condense(tokens)
    assert not {"Mr Smith", "only me"} & {t for d in drawn for t in d}
    assert "Mr Smith" not in estimator.pseudo_.strings.alphabet
    assert estimator.n_rare_symbols_ == 2
    assert estimator.n_rare_places_ == 2
    assert SUPPRESSED_BECAUSE[estimator.suppressed_[5]] == "rare symbols only"
    kept = Condensation(k=5, support=1, order=4, seed=1, workers=1).fit(tokens)
    assert kept.n_rare_symbols_ == 0


def test_an_original_less_its_rare_symbols_is_a_copy_too() -> None:
    texts = [["a", "b"], ["c", "d"]] * 4 + [["a", "rare", "d"], ["c", "b", "once"]]
    _, drawn = condense(texts, k=5, rare=4, order=1, eps=0.0)
    assert drawn == []


def test_a_string_that_k_hold_may_be_published_and_another_may_not() -> None:
    estimator, drawn = condense(["ACDA"] * 12, k=12)
    assert drawn == ["ACDA"] * 12
    estimator, drawn = condense(["ACDA"] * 11 + ["ACDC"], k=12)
    assert drawn == []
    assert estimator.pseudo_.n_dropped == 12


@pytest.mark.parametrize(("k", "is_shown"), [(12, True), (13, False)])
def test_copies_are_known_without_gaps(k: int, is_shown: bool) -> None:
    _, drawn = condense(["AC-DA"] * 6 + ["ACD-A"] * 6 + ["GGGGG"] * 13, k=k, support=1, rare=1, order=1)
    assert any(text.replace("-", "") == "ACDA" for text in drawn) is is_shown


def test_a_single_symbol() -> None:
    # Nothing but lengths can differ; all that could be drawn are originals, unless a draw is made longer.
    texts = ["A" * n for n in range(5, 13)] * 2
    assert condense(texts, k=4, lengths="template")[1] == []
    assert all(12 < len(text) <= 15 for text in condense(texts, k=4)[1])


def test_lengths_of_one() -> None:
    assert condense(list("ACDEF") * 5, k=6, rare=5)[1] == []
    assert condense(list("ACDEF") * 5, k=6, rare=5)[0].pseudo_.n_dropped == 25
    assert set(condense(list("ACDEF") * 6, k=6)[1]) <= set("ACDEF")


def test_a_very_long_length() -> None:
    rng = np.random.default_rng(0)
    starts = np.arange(5, dtype=np.int64) * 100_000
    strings = Strings(rng.integers(0, 4, 400_000).astype(np.int32), starts, tuple("ACGT"))
    estimator, drawn = condense(strings, k=4)
    assert drawn.lengths.tolist() == [100_000] * 4
    assert estimator.n_groups_ == 1


def test_a_very_large_alphabet() -> None:
    rng = np.random.default_rng(0)
    symbols = rng.integers(0, 100_000, 6000).astype(np.int32)
    strings = Strings(symbols, np.arange(0, 6001, 20), tuple(f"{i:06d}" for i in range(100_000)), True)
    estimator, drawn = condense(strings, rare=1)
    assert len(drawn) == 300
    assert len(drawn.alphabet) < 6000
    assert estimator.statistics_.segments[0].templates.n_features <= 6000


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"k": 1}, PolicyError, "k must be a whole number of at least 2"),
        ({"k": 2.5}, PolicyError, "k must be"),
        ({"k": True}, PolicyError, "k must be"),
        ({"k": 41}, Infeasible, "there are 40 strings, fewer than k = 41"),
        ({"eps": -0.1}, PolicyError, "eps = -0.1 is not possible"),
        ({"eps": float("nan")}, PolicyError, "not possible"),
        ({"eps": "wide"}, PolicyError, "eps must be a number"),
        ({"order": 0}, PolicyError, "order must"),
        ({"support": 0}, PolicyError, "support must"),
        ({"rare": 0}, PolicyError, "rare must"),
        ({"lengths": "long"}, PolicyError, "'template', 'spread'"),
        ({"homogenize": "none"}, PolicyError, "'optimal', 'greedy'"),
        ({"seed": -1}, PolicyError, "seed is negative"),
        ({"seed": "abc"}, PolicyError, "seed is not a whole number"),
        ({"block_strings": 0}, PolicyError, "block_strings must"),
        ({"workers": 0}, PolicyError, "workers = 0"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], error: type[ShoalError], message: str) -> None:
    with pytest.raises(error, match=message):
        condense(letters(40, 10, 10), **settings)


@pytest.mark.parametrize("wrong", ["ACGT", 5, [1, 2, 3]])
def test_wrong_strings(wrong: Any) -> None:
    with pytest.raises(DataError):
        condense(wrong)


def test_all_suppressed_is_an_error() -> None:
    with pytest.raises(Infeasible, match="all would be suppressed"):
        condense(["A" * n for n in (1, 10, 100, 1000, 10000)], eps=0.5)
    with pytest.raises(Infeasible, match="all strings are empty"):
        condense([""] * 10)
    with pytest.raises(Infeasible, match="no symbol is held by 5 strings"):
        condense(list("ACDEF") * 4)


def test_parameters() -> None:
    estimator = Condensation(k=7, seed=12345)
    assert estimator.get_params()["k"] == 7
    assert estimator.set_params(order=3).order == 3
    assert "12345" not in repr(estimator)
    with pytest.raises(PolicyError, match="did you mean 'eps'"):
        estimator.set_params(epps=1)


def test_progress_is_shown() -> None:
    seen: list[tuple[str, int, int]] = []
    Condensation(k=5, seed=1, workers=1, block_strings=20).fit_transform(
        letters(60, 10, 10), progress=lambda *done: seen.append(done)
    )
    assert {s[0] for s in seen} == {"grouping strings", "drawing pseudo-strings"}
    assert [s for s in seen if s[0] == "grouping strings"][-1] == ("grouping strings", 3, 3)


def test_templates_that_are_made_on_demand_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    strings = [[f"t{x}" for x in rng.integers(0, 12, rng.integers(4, 9))] for _ in range(240)]

    def made() -> tuple[Any, list[int]]:
        condensation = Condensation(k=4, seed=1, workers=1, block_strings=40)
        return condensation.fit_transform(strings), condensation.labels_.tolist()

    whole = made()
    monkeypatch.setattr(templates_module, "MANY_STRINGS", 60)
    monkeypatch.setattr(groups_module, "MANY_STRINGS", 60)
    assert made() == whole
