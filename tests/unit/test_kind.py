"""The tests of `kind.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.data.sparse.records import Sparse
from shoal.errors import PolicyError
from shoal.held_out import hold_out
from shoal.kind import Kind, default_kind, fitting_policy, kind_of, kind_of_policy, kinds, read_policy, without_held_out
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.tables.policy import Policy
from shoal.manifest import Manifest
from shoal.secrets import PrivateFolder

N = 60

SPARSE = Sparse.of([[f"i{i}", "all"] for i in range(N)])


def manifest(records: dict[str, Any]) -> Manifest:
    rest = {"kind": "sparse", "data": "data", "require": [{}], "guarantees": [], "method": {}, "checksums": {}}
    return Manifest(records=records, **rest)


def test_an_original_is_split_where_the_manifest_says_so(tmp_path: Path) -> None:
    counts = {"in": 42, "out": 42, "suppressed": 0}
    private = PrivateFolder.at(tmp_path)
    assert without_held_out(SPARSE, manifest(counts), None) == (SPARSE, None)
    part, few = manifest({**counts, "held_out": 18}), manifest({**counts, "held_out": {"from": 1, "to": None}})
    for told in (part, few):
        for given in (None, private):
            with pytest.raises(PolicyError, match=r"^records were held out .*--private"):
                without_held_out(SPARSE, told, given)
    _, out = hold_out(SPARSE, 0.3, seed=1)
    out.keep(tmp_path)
    for told in (part, few):
        kept, others = without_held_out(SPARSE, told, private)
        assert (len(kept), len(others)) == (42, 18)


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.name)
def test_what_means_nothing_for_a_kind_is_refused(kind: Kind) -> None:
    everything = {"key", "stop", "workers", "pool", "cluster", "label", "other", "population", "after", "beside"}
    everything |= {"memory", "resume"}
    for name in sorted(everything - set(kind.takes)):
        with pytest.raises(PolicyError, match=f"leave it out for {kind.policy.plural}"):
            kind.refuse({name: name})
    kind.refuse(dict.fromkeys(kind.takes, "anything"))
    assert set(kind.takes) <= everything


def test_what_no_kind_recognises_is_of_the_default_one() -> None:
    assert kind_of({"age": [1, 2]}) is default_kind()
    assert kind_of(SPARSE).name == "sparse"
    assert kind_of(["ACGT"]).name == "strings"


def test_something_else_is_no_policy() -> None:
    with pytest.raises(PolicyError, match="the policy is not a Policy"):
        kind_of_policy({"k": 5})


@pytest.mark.parametrize("source", [["ACGT"] * 9, {"age": [1] * 9}])
def test_a_policy_is_also_a_path_or_what_stands_there(source: object, tmp_path: Path) -> None:
    kind = kind_of(source)
    wanted = kind.policy.of(k=7)
    written = tmp_path / "policy.toml"
    written.write_text(f'kind = "{kind.name}"\n[[require]]\nmodel = "k-anonymity"\nk = 7\n')
    for given in (written, str(written), {"k": 7}, {"kind": kind.name, "k": 7}, wanted):
        found, policy = fitting_policy(source, given)
        assert (found, policy) == (kind, wanted)
    assert fitting_policy(source, None)[1] == kind.policy()


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
    assert (policy.k, policy.method.order, policy.method.lengths, policy.method.support) == (7, 3, "spread", 5)
    assert (policy.input.label, policy.input.alphabet) == (r"OX=(\d+)", ("a", "b"))
    with pytest.raises(PolicyError, match="is a policy for strings"):
        Policy.read(path)
    path.write_text("[[require]]\nmodel = 'k-anonymity'\nk = 3\n")
    assert isinstance(read_policy(path), Policy)
    with pytest.raises(PolicyError, match="is a policy for a table"):
        StringPolicy.read(path)


def test_a_kind_that_knows_no_ladder_refuses_to_harden() -> None:
    with pytest.raises(PolicyError, match="no way is known to harden a policy for tables"):
        Kind.ladder(default_kind(), None, None)


def test_first_rows_of_every_kind_are_lines_of_text() -> None:
    made = {
        "table": {"age": [1, 2, 3], "word": ["a", None, "c"]},
        "strings": ["ACGT", "ACG", "A"],
        "sparse": Sparse.of([["a", "b"], ["c"], []]),
    }
    for kind in kinds():
        if (source := made.get(kind.name)) is None:
            continue
        data = kind.load(source, kind.policy())
        grid = kind.first_rows(data, 2)
        assert len(grid.rows) == 2
        assert all(isinstance(cell, str) and len(row) == len(grid.headings) for row in grid.rows for cell in row)
    assert default_kind().first_rows(default_kind().load(made["table"], Policy()), 9).rows[1] == ("2", "")
