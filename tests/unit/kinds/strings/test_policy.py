"""What can be asked of strings, and how it is refused."""

from __future__ import annotations

import pytest

from shoal.errors import PolicyError
from shoal.kinds.strings.policy import StringPolicy, alphabet_of


def test_defaults_are_those_of_the_method() -> None:
    from shoal.strings import Condensation

    policy, method = StringPolicy(), Condensation()
    assert policy.k == method.k == 20
    for name in ("eps", "order", "support", "lengths", "homogenize", "rare"):
        assert getattr(policy.method, name) == getattr(method, name), name


@pytest.mark.parametrize(("asked", "rare"), [({"k": 9}, 9), ({"k": 9, "support": 1}, 1), ({"k": 9, "rare": 4}, 4)])
def test_rare_follows_k_and_support(asked: dict[str, int], rare: int) -> None:
    policy = StringPolicy.of(**asked)
    assert policy.rare == rare
    assert policy.told()["rare"] == rare


def test_changed_keeps_the_rest() -> None:
    policy = StringPolicy.of(k=9, order=3, column="s")
    changed = policy.changed(support=2, method={"eps": 0.5})
    assert (changed.k, changed.method.order, changed.method.support, changed.method.eps) == (9, 3, 2, 0.5)
    assert changed.input.column == "s"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"k": 1}, "k: it must be greater than or equal to 2, not 1"),
        ({"k": "many"}, "k: it must be a valid integer"),
        ({"eps": float("nan")}, "method.eps"),
        ({"support": 0}, "method.support: it must be greater than or equal to 1"),
        ({"lengths": "free"}, "method.lengths cannot be 'free'; the choices are 'template', 'spread'"),
        ({"format": "fsta"}, "input.format cannot be 'fsta'; did you mean 'fasta'"),
        ({"method": {"suport": 1}}, "there is no key 'method.suport'; did you mean 'support'"),
        ({"input": {"colum": "a"}}, "there is no key 'input.colum'; did you mean 'column'"),
        ({"columns": {}}, "input.columns: it must be a valid tuple"),
        ({"limits": {}}, "there is no key 'limits'"),
        ({"require": []}, "one guarantee is required"),
        ({"require": [{"model": "k-anonymity", "k": 3, "j": 1}]}, r"there is no key 'require\[1\].j'"),
        ({"kind": "table"}, "kind cannot be 'table'"),
    ],
)
def test_what_is_wrong_is_said(asked: dict[str, object], says: str) -> None:
    with pytest.raises(PolicyError, match=says):
        StringPolicy.of(**asked)


def test_an_alphabet_as_an_option() -> None:
    assert alphabet_of(None) is None
    assert alphabet_of("Protein") == "Protein"
    assert alphabet_of("a, b") == ("a", "b")
