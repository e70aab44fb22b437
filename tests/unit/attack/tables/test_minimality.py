"""Reasoning from cuts that were not made, against every way in which values can belong to people."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.tables import minimality as module
from shoal.attack.tables.case import TableCase
from shoal.attack.tables.minimality import Minimality, beliefs_of, setting_of
from shoal.data.tables.table import Table, encode_cells
from shoal.kinds.tables.policy import Policy
from shoal.tables.anonymize import anonymize_table

QUASI = ["age", "zip"]


def _policy(k: int = 2, **method: object) -> Policy:
    return Policy(
        columns={"age": {"role": "quasi", "type": "continuous"}, "zip": {"role": "quasi", "type": "continuous"},
                 "illness": {"role": "sensitive"}},
        require=[{"model": "k-anonymity", "k": k}, {"model": "l-diversity", "l": 2}],
        method=method if "partition" in method else {"ends": "exact", **method},
    )  # fmt: skip


def _small(seed: int) -> Table:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 8))
    values = np.array(["a", *rng.choice(["a", "b", "c"], n - 2).tolist(), "b"], dtype=object)
    return Table.of(
        [encode_cells(name, rng.integers(0, 6, n)) for name in QUASI]
        + [encode_cells("illness", rng.permutation(values))]
    )


def _case(table: Table, policy: Policy, *, with_rows: bool = True) -> TableCase:
    made = anonymize_table(table, policy, seed=1)
    rows = made.rows.astype(np.int64) if with_rows else None
    return TableCase(made.table, table, None, QUASI, ["illness"], made.attributes, rows=rows, policy=policy)


def _release(table: Table, policy: Policy) -> dict[frozenset[int], list[str]]:
    made = anonymize_table(table, policy, seed=1)
    found: dict[int, list[int]] = {}
    for row, group in zip(made.rows.tolist(), made.groups.tolist(), strict=True):
        found.setdefault(group, []).append(row)
    cells = table["illness"].cells()
    return {frozenset(group): sorted(cells[group].tolist()) for group in found.values()}


@pytest.mark.parametrize("seed", range(6))
def test_beliefs_are_those_of_every_way_that_gives_the_same_release(seed) -> None:
    """The slow way releases the table again for every way in which values can belong to its records."""
    table, policy = _small(seed), _policy()
    shown = _release(table, policy)
    values = table["illness"].cells().tolist()
    ways = []
    for way in sorted(set(itertools.permutations(values))):
        other = table.with_columns({"illness": encode_cells("illness", np.array(way, dtype=object))})
        if _release(other, policy) == shown:
            ways.append(way)
    expected = {
        (i, v): sum(way[i] == v for way in ways) / len(ways) for i in range(table.n_rows) for v in sorted(set(values))
    }
    case = _case(table, policy)
    setting = setting_of(case)
    found = dict.fromkeys(expected, 0.0)
    illness = case.published["illness"].cells()
    for c, chances in beliefs_of(setting, np.random.default_rng(0)):
        part = setting.of_class(c)
        for person, row in zip(setting.people[part].tolist(), chances, strict=True):
            for record, chance in zip(setting.rows[part].tolist(), row.tolist(), strict=True):
                found[person, illness[record]] += chance
    assert found == pytest.approx(expected)


def _five() -> Table:
    """One group of five, which could be cut 2 | 3 and 3 | 2 by size: neither was made only if like stands beside like.

    So it is b b a a a or a a a b b, and the third has a.
    """
    return Table.of(
        [
            encode_cells("age", np.arange(1, 6)),
            encode_cells("zip", np.zeros(5, dtype=int)),
            encode_cells("illness", np.array(list("bbaaa"), dtype=object)),
        ]
    )


def test_somebody_is_known_though_no_group_tells(rng) -> None:
    case = _case(_five(), _policy())
    found = Minimality().run(case, rng)
    assert "people" not in found.sentence, "records are counted, not persons"
    assert (found.main.successes, found.main.attempts, found.baseline.successes) == (1, 5, 0)
    assert found.details["belief"] == pytest.approx((4 * 0.5 + 1) / 5)
    assert found.details["belief by the group"] == pytest.approx((2 * 0.4 + 3 * 0.6) / 5)
    same = Minimality().run(replace(case, control=case.original), rng)
    assert same.control.successes == 1
    other = _five().with_columns({"illness": encode_cells("illness", np.array(list("bbbbb"), dtype=object))})
    assert Minimality().run(replace(case, control=other), rng).control.successes == 0


def test_groups_one_by_one_never_know_more_than_the_whole(monkeypatch, rng) -> None:
    cases = [_case(_five(), _policy()), *(_case(_small(seed), _policy()) for seed in range(8))]
    whole = [Minimality().run(case, rng).main.successes for case in cases]
    monkeypatch.setattr(module, "WHOLE", 0)
    each = [Minimality().run(case, rng).main.successes for case in cases]
    assert all(a <= b for a, b in zip(each, whole, strict=True))
    assert each[0] == whole[0] == 1


def test_draws_agree_with_all_ways(monkeypatch) -> None:
    monkeypatch.setattr(module, "WHOLE", 0)
    for seed in range(4):
        setting = setting_of(_case(_small(seed), _policy()))
        exact = beliefs_of(setting, np.random.default_rng(0))
        with monkeypatch.context() as patch:
            patch.setattr(module, "_ways", lambda _: 10**9)
            drawn = beliefs_of(setting, np.random.default_rng(0))
        for (c, a), (d, b) in zip(exact, drawn, strict=True):
            assert c == d
            assert np.abs(a - b).max() < 0.1


def test_who_is_in_which_group_is_read_off_the_labels(rng) -> None:
    for seed in range(4):
        known, read = (_case(_small(seed), _policy(), with_rows=with_rows) for with_rows in (True, False))
        ours, theirs = Minimality().run(known, rng), Minimality().run(read, rng)
        if theirs.main.attempts == ours.main.attempts:
            assert theirs.main.successes == ours.main.successes
    assert theirs.main.attempts > 0


def test_it_says_what_it_is_not_about() -> None:
    attack, case = Minimality(), _case(_small(0), _policy())
    assert attack.missing(case) is None
    assert "not known" in attack.missing(replace(case, policy=None))
    assert "without looking" in attack.missing(replace(case, policy=_policy(diversity="blind")))
    assert "Mondrian" in attack.missing(replace(case, policy=_policy(partition="mdav")))
    plain = case.policy.model_copy(update={"require": Policy.of(k=2).require})
    assert "No diversity" in attack.missing(replace(case, policy=plain))
    assert "--keep rows" in attack.missing(replace(case, rows=None, publication="aggregate"))
