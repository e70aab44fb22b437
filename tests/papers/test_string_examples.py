"""The worked examples and some figures of Aggarwal and Yu (2008) on strings."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from shoal.data.strings.strings import Strings
from shoal.kernels.strings.templates import add_window
from shoal.strings import Condensation
from shoal.strings.lengths import homogenize_lengths


def window(string: str, tenths_from: int, tenths_to: int) -> dict[str, float]:
    """The normalised frequencies of the symbols between two places that are given in tenths."""
    symbols = np.array([ord(c) for c in string], dtype=np.int32)
    found, covered = np.empty(10, np.int32), np.empty(10, np.int64)
    n = add_window(symbols, tenths_from, tenths_to, 10, found, covered)
    return {chr(found[i]): covered[i] / (tenths_to - tenths_from) for i in range(n)}


def test_figure_2_a() -> None:
    """p = 1.3, q = 5.4; the second and the sixth position hold D, and one of the three between."""
    assert window("ADRDEDA", 13, 54) == pytest.approx({"D": 2.1 / 4.1, "R": 1 / 4.1, "E": 1 / 4.1})


def test_figure_2_b() -> None:
    """The same window with E at its start and L at its end."""
    shares = window("AEDRELA", 13, 54)
    assert shares == pytest.approx({"E": 1.7 / 4.1, "D": 1 / 4.1, "R": 1 / 4.1, "L": 0.4 / 4.1})


def test_figure_1_by_hand() -> None:
    """From the shortest on: 2 is alone in [2, 5] and removed; [7, 17.5] holds four; [20, 50] three; 90 is alone."""
    lengths = np.array([20, 7, 90, 9, 2, 17, 50, 12, 30])
    assert homogenize_lengths(lengths, 3, 1.5, "greedy").tolist() == [1, 0, -1, 0, -1, 0, 1, 0, 1]


def test_order_2_is_sc_over_fs() -> None:
    """Section 4.3: P(q at i+1 | p at i) = Sc_ipq / Fs_ip, computed here from Eqs. (1) and (2) themselves."""
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("ABC"), rng.integers(8, 13))) for _ in range(12)]
    statistics = Condensation(k=6, support=1, seed=0, workers=1).fit(texts).statistics_
    for group in range(statistics.n_groups):
        templates = statistics.group(group)
        members = range(len(templates))
        for i in range(templates.length - 1):
            for p in range(3):
                fs = sum(templates.frequencies(j, i).get(p, 0.0) for j in members)
                sc = [
                    sum(
                        templates.frequencies(j, i).get(p, 0.0) * templates.frequencies(j, i + 1).get(q, 0.0)
                        for j in members
                    )
                    for q in range(3)
                ]
                expected = {q: v / fs for q, v in enumerate(sc) if v > 0}
                assert statistics.conditional(group, i + 1, [p]) == pytest.approx(expected, rel=1e-12)
        first = statistics.conditional(group, 0, [])
        assert first == pytest.approx(
            {
                q: v
                for q in range(3)
                if (v := sum(templates.frequencies(j, 0).get(q, 0.0) for j in members) / len(templates)) > 0
            }
        )


def read_proteins(path: Path, n: int) -> list[str]:
    with gzip.open(path, "rt") as file:
        return ["".join(part.split("\n")[1:]) for part in file.read().split(">")[1 : n + 1]]


def composition(strings: Strings) -> dict[str, float]:
    counts = np.bincount(strings.symbols, minlength=len(strings.alphabet))
    return dict(zip(strings.alphabet, (counts / counts.sum()).tolist(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(("order", "support"), [(2, 1), (2, 2), (3, 2)])
def test_composition_of_yeast_proteins(shared_data: Path, order: int, support: int) -> None:
    """Figs 4-7: the composition differs by at most 3-5 % in sum at k = 20; the paper used other extracts."""
    strings = Strings.of(read_proteins(shared_data / "swissprot" / "yeast.fasta.gz", 1000))
    drawn = Condensation(k=20, eps=1.5, order=order, support=support, seed=1).fit_transform(strings)
    one, other = composition(strings), composition(drawn)
    difference = sum(abs(one.get(s, 0.0) - other.get(s, 0.0)) for s in one)
    assert difference < 0.05
