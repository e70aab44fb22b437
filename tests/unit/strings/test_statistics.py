"""Statistics of order s: the sums of the paper, and an object that can be kept, merged and sampled again."""

from __future__ import annotations

import stat
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from shoal.data.strings.strings import Strings
from shoal.errors import DataError, PolicyError
from shoal.strings.condense import Condensation
from shoal.strings.generate import generate
from shoal.strings.statistics import GroupStatistics, tabulate
from shoal.strings.templates import Templates, convert_lengths


def some_templates(shortest: int, longest: int = 7) -> Templates:
    rng = np.random.default_rng(0)
    lengths = rng.integers(shortest, longest + 1, 9)
    symbols = rng.integers(0, 3, lengths.sum()).astype(np.int32)
    return convert_lengths(symbols, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("shortest", [5, 7])
def test_tables_are_sums_of_products(order: int, shortest: int) -> None:
    templates = some_templates(shortest)
    table = tabulate(templates, order)
    found = {
        (int(r), *q): (v, c)
        for r, q, v, c in zip(table.positions, table.symbols.tolist(), table.values, table.carriers, strict=True)
    }
    for r in range(templates.length - order + 1):
        for q in product(range(3), repeat=order):
            terms = [
                np.prod([templates.frequencies(j, r + i).get(q[i], 0.0) for i in range(order)])
                for j in range(len(templates))
            ]
            value, carriers = found.pop((r, *q), (0.0, 0))
            assert value == pytest.approx(sum(terms), rel=1e-6)
            assert carriers == sum(t > 0 for t in terms)
    assert not found


def fitted(seed: int = 0, labels: list[str] | None = None) -> Condensation:
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list("ACGT"), rng.integers(10, 14))) for _ in range(40)]
    return Condensation(generator="template", k=5, seed=seed, workers=1, support=2).fit(texts, labels)


def test_saved_statistics_sample_the_same(tmp_path: Path) -> None:
    statistics = fitted(labels=["x", "y"] * 20).statistics_
    statistics.save(tmp_path / "groups.npz")
    assert stat.S_IMODE((tmp_path / "groups.npz").stat().st_mode) == 0o600
    again = GroupStatistics.load(tmp_path / "groups.npz")
    assert again.alphabet == statistics.alphabet
    assert again.classes == ("x", "y")
    one, two = generate(statistics, seed=4), generate(again, seed=4)
    assert one.strings.texts() == two.strings.texts()
    assert one.n_rejected == two.n_rejected
    assert one.groups.tolist() == two.groups.tolist()


def test_what_is_no_statistics_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no file groups\.npz"):
        GroupStatistics.load(tmp_path / "groups.npz")
    (tmp_path / "text.npz").write_text("not an archive")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    np.savez(tmp_path / "pickle.npz", format=np.array([{}], dtype=object))
    for name in ("text.npz", "other.npz", "pickle.npz"):
        with pytest.raises(DataError, match="does not hold group statistics"):
            GroupStatistics.load(tmp_path / name)


def test_merged_statistics_hold_all_groups() -> None:
    one = fitted(1).statistics_
    rng = np.random.default_rng(2)
    other = (
        Condensation(k=5, seed=2, workers=1).fit(["".join(rng.choice(list("GTXY"), 12)) for _ in range(20)]).statistics_
    )
    both = GroupStatistics.merge([one, other])
    assert both.n_groups == one.n_groups + other.n_groups
    assert both.alphabet == tuple("ACGTXY")
    assert both.sizes.tolist() == [*one.sizes, *other.sizes]
    last = both.table(both.n_groups - 1, 2)
    of_other = other.table(other.n_groups - 1, 2)
    assert last.values == pytest.approx(of_other.values)
    spelled = np.array(both.alphabet)[last.symbols].tolist()
    assert spelled == np.array(other.alphabet)[of_other.symbols].tolist()
    # Fingerprints do not depend on the alphabet, so originals of both are known.
    assert set(both.originals.tolist()) == {*one.originals.tolist(), *other.originals.tolist()}
    with pytest.raises(DataError, match="characters and of tokens"):
        GroupStatistics.merge([one, replace(other, is_tokens=True)])
    with pytest.raises(DataError, match="with classes and without"):
        GroupStatistics.merge([one, fitted(1, ["x", "y"] * 20).statistics_])
    with pytest.raises(DataError, match="no statistics"):
        GroupStatistics.merge([])


def test_merged_groups_add_up() -> None:
    statistics = fitted().statistics_
    assert statistics.n_groups >= 4
    merged = statistics.merge_groups(3, 1)
    assert merged.n_groups == statistics.n_groups - 1
    assert merged.sizes.sum() == statistics.sizes.sum()
    sums: dict[tuple[int, ...], float] = {}
    for group in (1, 3):
        table = statistics.table(group, 2)
        for r, q, v in zip(table.positions, table.symbols.tolist(), table.values, strict=True):
            sums[(int(r), *q)] = sums.get((int(r), *q), 0.0) + v
    table = merged.table(1, 2)
    assert {
        (int(r), *q): v for r, q, v in zip(table.positions, table.symbols.tolist(), table.values, strict=True)
    } == pytest.approx(sums)
    assert merged.table(2, 1).values.tolist() == statistics.table(2, 1).values.tolist()
    with pytest.raises(PolicyError, match="two different groups"):
        statistics.merge_groups(1, 1)


def test_group_numbers_are_checked() -> None:
    statistics = fitted().statistics_
    for group in (-1, statistics.n_groups):
        with pytest.raises(PolicyError, match="there is no group"):
            statistics.table(group, 1)
    with pytest.raises(PolicyError, match="give fewer"):
        statistics.conditional(0, 1, [0, 0])
    with pytest.raises(PolicyError, match="give 1 or more"):
        statistics.table(0, 0)


def test_statistics_do_not_print_what_they_hold() -> None:
    strings = Strings.of(["SECRETA", "SECRETB", "SECRETC"])
    shown = repr(Condensation(k=3, workers=1, support=1).fit(strings).statistics_)
    assert shown == "<GroupStatistics of 1 groups of 3 strings; private>"
