"""What holds for strings of any kind."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.data.strings.strings import Strings
from shoal.errors import Infeasible
from shoal.strings import Condensation
from shoal.strings.lengths import homogenize_lengths
from shoal.strings.statistics import GroupStatistics

lengths = st.lists(st.integers(1, 200), min_size=1, max_size=80)
texts = st.lists(st.text("ABCd", max_size=12), min_size=4, max_size=30)


@settings(max_examples=150, deadline=None)
@given(lengths, st.integers(1, 12), st.floats(0, 3))
def test_optimal_never_suppresses_more_than_greedy(found: list[int], k: int, eps: float) -> None:
    array = np.array(found)
    greedy, optimal = (homogenize_lengths(array, k, eps, m) for m in ("greedy", "optimal"))
    assert (optimal < 0).sum() <= (greedy < 0).sum()
    for segments in (greedy, optimal):
        for segment in range(segments.max() + 1):
            held = array[segments == segment]
            assert len(held) >= k
            assert held.max() <= (1 + eps) * held.min() + 1e-6


@settings(max_examples=50, deadline=None)
@given(
    texts,
    st.integers(2, 4),
    st.integers(1, 4),
    st.integers(1, 2),
    st.sampled_from(["template", "spread"]),
    st.randoms(),
)
def test_condensation(found: list[str], k: int, order: int, support: int, shape: str, random: object) -> None:
    estimator = Condensation(
        k,
        1.0,
        order,
        support,
        shape,  # type: ignore[arg-type]
        seed=3,
        workers=1,
        block_strings=8,
        generator="template",
    )
    try:
        drawn = estimator.fit_transform(found)
    except Infeasible:
        assume(False)
    assert all(found.count(text) >= k for text in set(drawn) & set(found))
    sizes = np.bincount(estimator.labels_[estimator.labels_ >= 0])
    assert sizes.min() >= k
    assert len(drawn) + estimator.pseudo_.n_dropped + estimator.n_suppressed_ == len(found)
    assert_possible(estimator.statistics_, estimator.pseudo_.strings, estimator.pseudo_.groups, order, support, shape)
    shuffled = found.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert estimator.fit_transform(shuffled) == drawn


def assert_possible(
    statistics: GroupStatistics, drawn: Strings, groups: np.ndarray, order: int, support: int, shape: str
) -> None:
    """Every symbol of a pseudo-string follows a context that enough members carry, by the tables."""
    if shape == "spread":
        return
    codes = np.array([statistics.alphabet.index(s) for s in drawn.alphabet], dtype=np.int32)
    for row, group in enumerate(groups):
        string = codes[drawn.symbols[drawn.starts[row] : drawn.starts[row + 1]]]
        tables = {s: statistics.table(int(group), s) for s in range(1, order + 1)}

        def carriers(context: np.ndarray, position: int, tables: dict = tables) -> int:
            table = tables[len(context)]
            return int(table.carriers[(table.positions == position) & (table.symbols == context).all(axis=1)].sum())

        for i in range(len(string)):
            n_back = min(order - 1, i)
            while n_back > 0 and carriers(string[i - n_back : i], i - n_back) < support:
                n_back -= 1
            assert carriers(string[i - n_back : i + 1], i - n_back) >= 1
