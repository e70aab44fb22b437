"""Pseudo-strings: drawn by the tabulated probabilities, with support, never copies."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import numpy as np
import pytest

from shoal.data.strings.strings import Strings
from shoal.engine.executors import open_executor
from shoal.errors import PolicyError
from shoal.strings.generate import fingerprint_originals, generate
from shoal.strings.statistics import GroupStatistics, SegmentStatistics
from shoal.strings.templates import convert_lengths

# Upper 0.1 % points of the chi-square distribution, by degrees of freedom.
CHI_SQUARE = {1: 10.83, 2: 13.82, 3: 16.27, 4: 18.47, 5: 20.52, 6: 22.46, 7: 24.32, 8: 26.12}


def statistics_of(texts: list[str], *, n_groups: int = 1, originals: list[str] | None = None) -> GroupStatistics:
    """The texts, many times over, so that one call draws many pseudo-strings from few different members."""
    strings = Strings.of(texts * n_groups)
    segment = SegmentStatistics(
        0, convert_lengths(strings.symbols, strings.starts), np.arange(n_groups + 1) * len(texts)
    )
    forbidden = fingerprint_originals(Strings.of(originals)) if originals else np.zeros(0, np.uint64)
    return GroupStatistics((segment,), strings.alphabet, originals=forbidden)


def expected_table(
    statistics: GroupStatistics, position: int, context: tuple[int, ...], support: int
) -> dict[int, float]:
    """The tabulated probabilities after the longest context that enough members carry."""
    while context:
        table = statistics.table(0, len(context))
        rows = (table.positions == position - len(context)) & (table.symbols == context).all(axis=1)
        if table.carriers[rows].sum() >= support:
            break
        context = context[1:]
    return statistics.conditional(0, position, context)


@pytest.mark.parametrize(("order", "support"), [(1, 1), (2, 1), (2, 3), (3, 1), (3, 2), (4, 2)])
@pytest.mark.parametrize(
    "texts", [["ABCAB", "ABBAB", "BBCCA", "ABCBA", "CACAB", "ABCCC"], ["ABCAB", "ABBABCA", "BCCA", "ABCBA", "CACABB"]]
)
def test_draws_follow_the_tables(order: int, support: int, texts: list[str]) -> None:
    statistics = statistics_of(texts, n_groups=1500)
    drawn = generate(statistics, order=order, support=support, seed=11).strings
    assert drawn.alphabet == statistics.alphabet
    table = drawn.symbols.reshape(-1, statistics.segments[0].templates.length)
    n_tested, n_failed = 0, 0
    for position in range(table.shape[1]):
        n_context = min(order - 1, position)
        # One symbol more than the order looks at: it must not matter.
        seen = Counter(map(tuple, table[:, max(0, position - n_context - 1) : position + 1].tolist()))
        contexts = {s[:-1] for s in seen}
        for whole in contexts:
            counts = {s[-1]: c for s, c in seen.items() if s[:-1] == whole}
            total = sum(counts.values())
            expected = expected_table(statistics, position, whole[len(whole) - n_context :], support)
            assert counts.keys() <= expected.keys()
            assert sum(expected.values()) == pytest.approx(1.0, abs=1e-5)
            if total < 200 or len(expected) == 1 or min(expected.values()) * total < 5:
                continue
            distance = sum((counts.get(q, 0) - p * total) ** 2 / (p * total) for q, p in expected.items())
            n_tested += 1
            n_failed += distance > CHI_SQUARE[len(expected) - 1]
    assert n_tested >= 5
    assert n_failed <= 1  # of some dozens at 0.1 %


def test_the_statistical_test_can_fail() -> None:
    statistics = statistics_of(["ABCAB", "ABBAB", "BBCCA", "ABCBA", "CACAB", "ABCCC"], n_groups=1500)
    table = generate(statistics, order=1, support=1, seed=11).strings.symbols.reshape(-1, 5)
    counts = Counter(table[table[:, 0] == 0][:, 1].tolist())  # drawn without looking back
    total = sum(counts.values())
    expected = statistics.conditional(0, 1, (0,))
    assert (
        counts.keys() - expected.keys()
        or sum((counts.get(q, 0) - p * total) ** 2 / (p * total) for q, p in expected.items()) > 1000
    )


def test_support_breaks_the_runs_of_one_member() -> None:
    rng = np.random.default_rng(3)
    texts = ["".join(rng.choice(list("ABCDEFGHIJKLMNOPQRST"), 60)) for _ in range(10)]
    copied = {}
    for support in (1, 2):
        drawn = generate(statistics_of(texts, n_groups=20), order=3, support=support, seed=1).strings.texts()
        pairs = [(d[i : i + 12], i) for d in drawn for i in range(49)]
        copied[support] = np.mean([any(t[i : i + 12] == w for t in texts) for w, i in pairs])
    assert copied[1] > 0.2
    assert copied[2] < 0.001


def test_copies_are_redrawn_then_dropped() -> None:
    texts = ["AB", "CD"] * 5
    drawn = generate(statistics_of(texts, n_groups=10, originals=["AB", "CD"]), order=1, support=1, seed=1)
    assert set(drawn.strings.texts()) == {"AD", "CB"}
    assert drawn.n_rejected > 20
    assert drawn.n_dropped == 0
    none = generate(statistics_of(texts, n_groups=10, originals=["AB", "CD"]), order=2, support=1, seed=1)
    assert none.n_dropped == 100
    assert len(none.strings) == 0
    assert none.strings.texts() == []


def test_template_lengths_and_spread_lengths() -> None:
    rng = np.random.default_rng(0)
    lengths = [10, 12, 14, 16, 18, 20, 22, 24]
    texts = ["".join(rng.choice(list("ABCD"), n)) for n in lengths]
    template = generate(statistics_of(texts, n_groups=200), seed=1).strings
    assert set(template.lengths) == {17}
    spread = generate(statistics_of(texts, n_groups=200), seed=1, lengths="spread").strings
    assert spread.lengths.min() >= 10
    assert spread.lengths.max() <= 24
    assert len(set(spread.lengths)) > 10
    assert spread.lengths.mean() == pytest.approx(17, abs=0.5)


def test_spread_lengths_undo_the_stretch() -> None:
    # At length 6 the short ones are drawn out and the long ones squeezed; both come back at their own length.
    statistics = statistics_of(["ABCD"] * 3 + ["AABBCCDD"] * 3)
    short = GroupStatistics(
        (SegmentStatistics(0, statistics.segments[0].templates, np.array([0, 3, 6])),), statistics.alphabet
    )
    drawn = generate(short, seed=0, lengths="spread").strings.texts()
    assert sorted(len(d) for d in drawn) == [4, 4, 4, 8, 8, 8]
    assert all(d == "ABCD" for d in drawn if len(d) == 4)
    assert all("".join(c for c, _ in groupby(d)) == "ABCD" for d in drawn)


def test_the_result_does_not_depend_on_the_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    statistics = statistics_of(["ABCAB", "ABBAB", "BBCCA"], n_groups=40)
    here = generate(statistics, seed=5)
    monkeypatch.setattr("shoal.strings.generate.JOB_SYMBOLS", 50)
    with open_executor(2) as executor:
        there = generate(statistics, seed=5, executor=executor)
    assert here.strings.texts() == there.strings.texts()
    assert here.groups.tolist() == there.groups.tolist()
    assert generate(statistics, seed=6).strings.texts() != here.strings.texts()


def test_pseudo_strings_come_in_random_order() -> None:
    groups = generate(statistics_of(["AB", "BA"], n_groups=50), seed=1).groups
    assert groups.tolist() != sorted(groups.tolist())
    assert np.bincount(groups).tolist() == [2] * 50


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"order": 0}, "order must"),
        ({"support": 0}, "support must"),
        ({"order": 1.5}, "order must"),
        ({"lengths": "all"}, "'spread'"),
    ],
)
def test_wrong_settings(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        generate(statistics_of(["AB"]), **wrong)  # type: ignore[arg-type]
