"""Records of equal quasi-identifiers come in an order that a secret decides, and nothing that they hold."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shoal.data.tables.dictionary import TextEncoder
from shoal.data.tables.table import Table, encode_cells, row_keys
from shoal.kinds.tables.policy import Policy
from shoal.tables.anonymize import anonymize_table
from shoal.tables.record_order import content_order, secret_order


def _table(n: int = 400, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    return Table.of(
        [
            encode_cells("age", rng.integers(20, 24, n)),
            encode_cells("sex", rng.choice(["f", "m"], n).astype(object)),
            encode_cells("income", rng.integers(0, 50, n)),
        ]
    )


def _held(table: Table, order: np.ndarray) -> list[tuple[object, ...]]:
    return list(zip(*(c.take(order).cells().tolist() for c in table.columns.values()), strict=True))


@pytest.mark.parametrize("seed", [0, 1, 2**100])
def test_the_same_seed_gives_the_same_order_however_the_rows_came(seed) -> None:
    table = _table()
    shuffled = table.take(np.random.default_rng(5).permutation(table.n_rows))
    names = ["age", "sex", "income"]
    expected = _held(table, secret_order(table, ["age", "sex"], names, seed))
    assert _held(shuffled, secret_order(shuffled, ["sex", "age"], names[::-1], seed)) == expected


def test_rows_stay_sorted_by_quasi_identifiers() -> None:
    table = _table()
    order = secret_order(table, ["age", "sex"], table.names, None)
    assert sorted(order.tolist()) == list(range(table.n_rows))
    keys = row_keys([table["age"].take(order), table["sex"].take(order)])
    assert np.all(np.diff(keys) >= 0)


def test_without_a_seed_two_runs_differ_and_so_do_two_seeds() -> None:
    table = _table()
    asked = (table, ["age", "sex"], table.names)
    assert not np.array_equal(secret_order(*asked, None), secret_order(*asked, None))
    assert not np.array_equal(secret_order(*asked, 1), secret_order(*asked, 2))


def test_where_nothing_is_tied_the_order_is_that_of_content() -> None:
    table = Table.of([encode_cells("q", np.arange(50)[::-1]), encode_cells("s", np.arange(50) % 7)])
    assert np.array_equal(secret_order(table, ["q"], ["q", "s"], None), content_order(table, ["q"], ["q", "s"]))
    empty = table.take(np.zeros(0, dtype=np.intp))
    assert len(secret_order(empty, ["q"], ["q", "s"], 1)) == 0


@pytest.mark.parametrize("quasi", [["q"], ["q", "s"]])
def test_nulls_and_empty_texts_come_in_one_order_however_rows_came(quasi: list[str]) -> None:
    rng = np.random.default_rng(3)
    cells = np.array(["", None, "a", "?"], dtype=object)[rng.integers(0, 4, 60)]
    numbers = rng.integers(0, 3, 60)
    for order in (content_order, lambda *asked: secret_order(*asked, 7)):
        shown = set()
        for _ in range(3):
            rows = rng.permutation(60)
            encoder = TextEncoder()
            encoder.add(cells[rows].tolist())
            table = Table.of([encode_cells("q", numbers[rows]), encoder.column("s", ["", "?"])])
            found = table.take(order(table, quasi, ["q", "s"]))
            shown.add((tuple(found["q"].codes.tolist()), tuple(found["s"].codes.tolist())))
        assert len(shown) == 1


def test_every_order_of_equals_is_as_likely_as_any_other() -> None:
    table = Table.of([encode_cells("q", np.zeros(3, dtype=int)), encode_cells("s", np.arange(3))])
    counts = Counter(tuple(secret_order(table, ["q"], ["q", "s"], seed).tolist()) for seed in range(3000))
    assert len(counts) == 6
    assert sum((c - 500) ** 2 / 500 for c in counts.values()) < 20.5  # chi-square of 5 degrees, 0.1 %


def test_equal_sensitive_values_are_scattered_too() -> None:
    n = 2000
    table = Table.of([encode_cells("q", np.zeros(n, dtype=int)), encode_cells("s", np.arange(n) % 2)])
    values = table["s"].codes[secret_order(table, ["q"], ["q", "s"], 4)]
    n_alike = int(np.sum(values[1:] == values[:-1]))
    assert abs(n_alike - n / 2) < 4 * np.sqrt(n / 4)


@pytest.mark.parametrize(
    "method",
    [
        {"partition": "mdav", "publish": "generalise"},
        {"partition": "v-mdav", "publish": "generalise"},
        {"partition": "k-member"},
        {"partition": "nearest-neighbours"},
        {"partition": "curve", "publish": "generalise"},
        {"partition": "mondrian", "strict": False},
    ],
    ids=lambda m: "-".join(map(str, m.values())),
)
def test_groups_do_not_part_equals_by_their_sensitive_value(method) -> None:
    """Of two groups that share a combination of quasi-identifiers, one does not get all the smaller values."""
    table = _table(400)
    roles = {"age": {"role": "quasi"}, "sex": {"role": "quasi"}, "income": {"role": "sensitive"}}
    policy = Policy(columns=roles, require=[{"model": "k-anonymity", "k": 5}], method=method)
    made = anonymize_table(table, policy, seed=7)
    income = np.empty(table.n_rows)
    income[made.rows] = made.table["income"].cells().astype(float)
    group = np.empty(table.n_rows, dtype=int)
    group[made.rows] = made.groups
    combination = row_keys([table["age"], table["sex"]])
    n_pairs = n_parted = 0
    for c in np.unique(combination):
        parts = [income[(combination == c) & (group == g)] for g in np.unique(group[combination == c])]
        parts = [p for p in parts if len(p) >= 3]
        for i, a in enumerate(parts):
            for b in parts[i + 1 :]:
                n_pairs += 1
                n_parted += a.max() <= b.min() or b.max() <= a.min()
    assert n_pairs > 30
    assert n_parted < 0.2 * n_pairs  # sorted by income all of them are
