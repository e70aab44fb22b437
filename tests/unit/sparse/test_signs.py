"""The key, the coefficients and the signs that come from them."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.strings.strings import symbol_keys
from shoal.errors import PolicyError
from shoal.sparse.signs import SignFamily, new_key, sign_table
from tests.unit.check.sparse.slow_sketches import sign

KEY = bytes(range(32))
PINNED_COEFFICIENTS = [[1094884298111873007, 1271733690405261124, 1065443317018088515, 1049274467362462343]]
PINNED_SIGNS = [
    [1, -1, 1, -1, 1, 1, -1, 1, 1, 1, 1, -1, -1, 1, -1, 1],
    [-1, 1, 1, 1, -1, 1, -1, 1, 1, 1, -1, -1, 1, 1, -1, 1],
]


def test_signs_are_those_of_the_agreed_formula():
    names = ["", "beer", "nuts", "Äpfel", "x" * 300]
    table = sign_table(symbol_keys(names), KEY, 70)
    assert table.dtype == np.int8
    assert table.tolist() == [[sign(KEY, name, j) for j in range(70)] for name in names]


def test_signs_never_change_between_versions():
    # A release and its key must stay readable.
    assert SignFamily.of(KEY, 1).coefficients.tolist() == PINNED_COEFFICIENTS
    assert sign_table(symbol_keys(["bread", "milk"]), KEY, 16).tolist() == PINNED_SIGNS


def test_later_components_do_not_depend_on_how_many_are_asked_for():
    keys = symbol_keys([f"item {i}" for i in range(20)])
    whole = sign_table(keys, KEY, 50)
    for first in (0, 1, 30, 31, 32, 40):
        assert (sign_table(keys, KEY, 50 - first, first=first) == whole[:, first:]).all()
    assert (sign_table(keys, KEY, 1, first=31) == whole[:, 31:32]).all()
    assert (sign_table(keys[5:7], KEY, 50) == whole[5:7]).all()


def test_signs_are_balanced_and_unalike_for_items_components_and_keys():
    keys = symbol_keys([f"item {i}" for i in range(400)])
    table, other = sign_table(keys, KEY, 400).astype(np.int64), sign_table(keys, new_key(1), 400).astype(np.int64)
    for sums in (table.sum(axis=0), table.sum(axis=1), (table * other).sum(axis=0), (table * other).sum(axis=1)):
        assert np.abs(sums).max() < 6 * np.sqrt(400)
    assert np.abs((table @ table.T)[~np.eye(400, dtype=bool)]).max() < 7 * np.sqrt(400)


def test_the_family_hides_its_secrets():
    shown = repr(SignFamily.of(KEY, 40))
    assert shown == "SignFamily(skipped=0, n=40)"


def test_keys_come_from_entropy_or_from_a_seed():
    assert len({new_key() for _ in range(50)}) == 50
    assert new_key(5) == new_key(5) == new_key(np.random.SeedSequence(5)) != new_key(6)
    assert {len(new_key()), len(new_key(0)), len(new_key(2**200))} == {32}


@pytest.mark.parametrize("seed", [-1, True, 1.5, "1"])
def test_refuses_seeds_without_quoting_them(seed):
    with pytest.raises(PolicyError) as error:
        new_key(seed)
    assert repr(seed) not in str(error.value)


@pytest.mark.parametrize("key", [b"short secret", "x" * 32, bytes(33), None])
def test_refuses_keys_without_quoting_them(key):
    with pytest.raises(PolicyError, match="not 32 bytes") as error:
        SignFamily.of(key, 1)
    assert "secret" not in str(error.value)
