"""The tests of `kinds/policies.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

import shoal
from shoal.errors import PolicyError
from shoal.kind import read_policy
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.tables.policy import Policy

TOML = """\
kind = "strings"
[input]
label = 'OX=(\\d+)'
alphabet = ["a", "b"]
[[require]]
model = "k-anonymity"
k = 7
[method]
order = 3
lengths = "spread"
"""


def test_a_file_is_read_by_its_kind(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(TOML)
    policy = read_policy(path)
    assert policy == StringPolicy.read(path) == shoal.read_policy(str(path))
    assert isinstance(policy, StringPolicy)
    assert (policy.k, policy.method.order, policy.method.lengths, policy.method.support) == (7, 3, "spread", 3)
    assert (policy.input.label, policy.input.alphabet) == (r"OX=(\d+)", ("a", "b"))
    with pytest.raises(PolicyError, match="is a policy for strings"):
        Policy.read(path)
    path.write_text("[[require]]\nmodel = 'k-anonymity'\nk = 3\n")
    assert isinstance(read_policy(path), Policy)
    with pytest.raises(PolicyError, match="is a policy for a table"):
        StringPolicy.read(path)
