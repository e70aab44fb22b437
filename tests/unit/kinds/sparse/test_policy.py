"""What can be asked of sparse records, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import shoal
from shoal.errors import PolicyError
from shoal.kinds.sparse.policy import DeltaAnonymity, KVariance, SparsePolicy

TEXT = """\
kind = "sparse"
[input]
format = "baskets"
[[require]]
model = "k-variance"
k = 7
threshold = "difference"
[method]
max_components = 40
"""


def test_a_file_says_what_a_line_says(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(TEXT)
    asked = SparsePolicy.of(k=7, threshold="difference", max_components=40, format="baskets")
    assert SparsePolicy.read(path) == asked == shoal.read_policy(path)


def test_the_delta_rule_is_always_there() -> None:
    assert SparsePolicy(require=[{"model": "k-variance", "k": 3}]).require == (KVariance(k=3), DeltaAnonymity())
    assert SparsePolicy.of(model="delta", delta=0.2).require == (DeltaAnonymity(delta=0.2),)
    assert SparsePolicy.of(delta=0.2).changed(model="k-variance").k == 10
    assert SparsePolicy.of(model="delta", delta=0.2).changed(max_components=9).require == (DeltaAnonymity(delta=0.2),)
    assert SparsePolicy.of(model="delta", delta=0.2).changed(k=4).k == 4


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"model": "epsilon"}, "no model 'epsilon'"),
        ({"model": "delta", "k": 3}, "k is for the model k-variance"),
        ({"k": 0}, "k"),
        ({"delta": 0}, "delta"),
        ({"max_components": 0}, "max_components"),
        ({"method": {"max_component": 3}}, "did you mean 'max_components'"),
        ({"threshold": "cube"}, "threshold"),
        ({"require": [{"model": "delta-anonymity"}, {"model": "delta-anonymity"}]}, "twice"),
        ({"weights": "heavy"}, "weights"),
    ],
)
def test_what_cannot_be_asked_is_told_by_its_name(asked: dict, told: str) -> None:
    with pytest.raises(PolicyError, match=told):
        SparsePolicy.of(**asked)


def test_policies_of_other_kinds_are_not_mixed_up(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(TEXT)
    for other in (shoal.Policy, shoal.StringPolicy):
        with pytest.raises(PolicyError, match="sparse records"):
            other.read(path)
    path.write_text('kind = "strings"\n')
    with pytest.raises(PolicyError, match="other data"):
        SparsePolicy.read(path)
    path.write_text(TEXT.replace("max_components", "max_componets"))
    with pytest.raises(PolicyError, match="line 9"):
        SparsePolicy.read(path)
