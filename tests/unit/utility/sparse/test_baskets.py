"""Supports and classes of pseudo-baskets beside those of the originals, against slow counts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.sparse.pseudo_baskets import pseudo_baskets
from shoal.utility.sparse import baskets
from shoal.utility.sparse.baskets import (
    binary_matrix,
    compare_classifiers,
    frequent_names,
    measure_baskets,
    tf_idf,
)

ROWS = [["a", "b", "c"], ["a", "b"], ["a", "b", "c"], ["c", "d"], ["a"], ["a", "b", "c", "d"]]
SHOWN = [["a", "b", "c"], ["a", "c"], ["b", "c"], ["a", "b"], ["a", "d"], ["a", "b", "c"]]


def shares(rows: list[list[str]], size: int) -> dict[tuple[str, ...], float]:
    return {s: sum(set(s) <= set(row) for row in rows) / len(rows) for s in combinations("abcd", size)}


def test_errors_are_those_of_a_slow_count() -> None:
    found = measure_baskets(Sparse.of(ROWS), Sparse.of(SHOWN))
    single = {s[0]: v for s, v in shares(ROWS, 1).items()}
    for size, told in ((1, found.items), (2, found.pairs), (3, found.triples)):
        assert told is not None
        true = {s: v for s, v in shares(ROWS, size).items() if v > 0}
        shown = shares(SHOWN, size)
        apart = {s: np.prod([single[i] for i in s]) for s in true}
        assert told.n_sets == len(true)
        assert np.isclose(told.mean, np.mean([abs(shown[s] - v) / v for s, v in true.items()]))
        assert np.isclose(told.permuted, np.mean([abs(apart[s] - v) / v for s, v in true.items()]))
    assert (found.mean_size, found.n_published) == (np.mean([len(r) for r in ROWS]), 6)


def test_what_is_kept_is_that_of_a_slow_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baskets, "N_TOP", 3)
    found = measure_baskets(Sparse.of(ROWS), Sparse.of(SHOWN))
    single = {s[0]: v for s, v in shares(ROWS, 1).items()}
    apart = [{s: np.prod([single[i] for i in s]) for s in combinations("abcd", n)} for n in (2, 3)]
    for n, told in ((2, (found.pairs_kept, found.pairs_kept_permuted)), (3, (found.triples_kept, None))):
        true, shown, alone = (best(t, 3) for t in (shares(ROWS, n), shares(SHOWN, n), apart[n - 2]))
        assert np.isclose(told[0], len(true & shown) / len(true))
        assert told[1] is None or np.isclose(told[1], len(true & alone) / len(true))
    rules = []
    for rows in (ROWS, SHOWN):
        items, pairs = shares(rows, 1), shares(rows, 2)
        of_pairs = [rule for pair in best(pairs, 3) for rule in (pair, pair[::-1])]
        rules.append(best({(a, b): pairs[min(a, b), max(a, b)] / items[a,] for a, b in of_pairs}, 3))
    assert np.isclose(found.rules_kept, len(rules[0] & rules[1]) / 3)


def best(supports: dict[tuple[str, ...], float], n: int) -> set[tuple[str, ...]]:
    """The n of largest support that occur; of equals the first, by items from the most frequent on."""
    rank = {name: i for i, name in enumerate(frequent_names(Sparse.of(ROWS), 4))}
    held = [s for s, v in supports.items() if v > 0]
    return set(sorted(held, key=lambda s: (-round(supports[s], 9), sorted(rank[i] for i in s)))[:n])


def test_what_is_published_as_it_is_loses_nothing_and_permuted_columns_do() -> None:
    rng = np.random.default_rng(0)
    rows = [[f"h{i % 4}{j}" for j in range(3)] + [f"n{x}" for x in set(rng.integers(0, 20, 3))] for i in range(300)]
    records = Sparse.of(rows, [str(i % 4) for i in range(300)])
    same = measure_baskets(records, records, make=lambda part: part)
    assert same.pairs is not None
    assert same.pairs.mean < 1e-6
    assert same.confidence_error < 1e-6
    assert same.pairs_kept == same.triples_kept == same.rules_kept == 1 > same.pairs_kept_permuted
    assert same.pairs.permuted > 0.3
    assert all(c.before == c.after == 1 and c.baseline < 0.5 for c in same.learning)
    made = measure_baskets(records, pseudo_baskets(records, 10, seed=1).baskets)
    assert made.pairs is not None
    assert made.pairs.mean < made.pairs.permuted
    assert made.learning == ()


@pytest.mark.parametrize(("n_known", "is_told"), [(8, False), (9, True), (16, True)])
def test_as_many_neighbours_vote_as_the_root_of_the_known_records(n_known: int, is_told: bool) -> None:
    # One record of the other class and then two of the right one are nearest, and hardly less near.
    common = [f"c{i}" for i in range(200)]
    rows = [[*common, "d"], *[[*common, "e"]] * 2, *[["z"]] * (n_known - 3)]
    known = Sparse.of(rows, ["p", "q", "q", *"p" * (n_known - 3)])
    records = Sparse.of([[*common, "d"], ["z"]], ["q", "p"])
    told = {c.classifier: c.before for c in compare_classifiers(known, known, records)}
    assert told["nearest neighbours"] == (1 if is_told else 0.5)


def test_records_that_were_held_out_are_asked_about_what_is_published() -> None:
    rng = np.random.default_rng(0)
    classes = [f"c{i % 3}" for i in range(300)]
    rows = [[f"{c}-{x}" for x in rng.integers(0, 5, 3)] for c in classes]
    records = Sparse.of(rows, classes)
    shuffled = Sparse.of(rows, [*classes[1:], classes[0]])
    held = Sparse.of([["c0-1"], ["c2-1", "c2-2"], ["z"]], ["c0", "c2", "a stranger"])
    told = measure_baskets(records, shuffled, control=held).learning
    assert [(c.before, c.after, c.n_known, c.n_asked) for c in told] == [(1.0, 0.0, 300, 2)] * 2
    assert [c.surely_lost for c in told] == [1.0, 1.0]
    assert all(c.lost == c.surely_lost == 0 for c in measure_baskets(records, records, control=held).learning)
    assert measure_baskets(records, records, control=Sparse.of([["z"]], ["a stranger"])).learning == ()
    assert measure_baskets(records, records, control=Sparse.of([["z"]])).learning == ()


def test_nothing_is_learned_where_nothing_can_be_made_of_a_part() -> None:
    records = Sparse.of([["a"], ["b"]] * 6, ["x", "y"] * 6)
    assert measure_baskets(records, records, make=lambda part: part.take(np.zeros(0, np.int64))).learning == ()


def test_rare_items_weigh_more() -> None:
    sides = tf_idf(*(binary_matrix(Sparse.of(rows), ["a", "b"]) for rows in ([["a", "b"], ["a"]], [["a", "b"]])))
    rare = np.log(3 / 2) + 1
    assert all(
        np.allclose(side.toarray(), told) for side, told in zip(sides, ([[1, rare], [1, 0]], [[1, rare]]), strict=True)
    )


def test_items_are_matched_by_name_and_strangers_left_out() -> None:
    names = frequent_names(Sparse.of(ROWS), 2)
    assert names == ["a", "b"]
    assert binary_matrix(Sparse.of([["b", "z"], ["a"]]), names).toarray().tolist() == [[0, 1], [1, 0]]


def test_records_of_one_item_have_no_pairs() -> None:
    found = measure_baskets(Sparse.of([["a"], ["b"]]), Sparse.of([["a"], ["b"]]))
    assert found.pairs is None
    assert found.triples is None
