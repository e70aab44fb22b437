"""Repeating the partition knows people where equals were sorted by their secret, and nobody where a secret sorted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.tables import partition_replay as module
from shoal.attack.tables.case import TableCase
from shoal.attack.tables.partition_replay import PartitionReplay
from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.table import Table, encode_cells
from shoal.kinds.tables.policy import Policy
from shoal.tables.anonymize import anonymize_table
from shoal.tables.blocks import partition_labels
from shoal.tables.encoding import rank
from shoal.tables.groups import Groups
from shoal.tables.publish.generalise import generalise
from shoal.tables.record_order import content_order

QUASI = ["age", "zip"]
ROLES = {"age": {"role": "quasi", "type": "continuous"}, "zip": {"role": "quasi", "type": "continuous"}}


def _people(n: int = 2000, n_values: int = 1000) -> Table:
    """Many in 100 combinations of quasi-identifiers, and beside each of these somebody with one of their own."""
    rng = np.random.default_rng(8)
    few = rng.integers(0, 10, (n, 2)) * 10
    few[:100] = np.stack(np.divmod(np.arange(100), 10), axis=1) * 10 + 1
    return Table.of(
        [
            encode_cells("age", few[:, 0]),
            encode_cells("zip", few[:, 1]),
            encode_cells("income", rng.integers(0, n_values, n)),
        ]
    )


def _policy(partition: str) -> Policy:
    return Policy(
        columns={**ROLES, "income": {"role": "sensitive"}},
        require=[{"model": "k-anonymity", "k": 5}],
        method={"partition": partition, "publish": "generalise"},
    )


def _sorted_release(table: Table, policy: Policy) -> TableCase:
    """As releases were made up to version 0.1.0: methods see equals sorted by what is kept."""
    attributes = attributes_of(table, policy)
    rows = content_order(table, QUASI, table.names)
    ordered = table.take(rows)
    ranked = [rank(ordered[n], attributes[n]) for n in QUASI]
    groups = Groups.of(partition_labels(ranked, policy.k, policy.method))
    labels = {r.name: generalise(ordered[r.name], r, groups, None, missing="value", ends="rounded") for r in ranked}
    published = ordered.with_columns(labels)
    final = content_order(published, QUASI, published.names)
    return TableCase(published.take(final), table, None, QUASI, ["income"], attributes, rows=rows[final], policy=policy)


def _release(table: Table, policy: Policy, seed: int | None) -> TableCase:
    made = anonymize_table(table, policy, seed=seed)
    return TableCase(
        made.table, table, None, QUASI, ["income"], made.attributes, rows=made.rows.astype(np.int64), policy=policy
    )


@pytest.mark.parametrize("partition", ["mdav", "k-member", "nearest-neighbours", "v-mdav"])
def test_it_knows_people_where_equals_were_sorted_by_their_secret(partition, rng) -> None:
    found = PartitionReplay().run(_sorted_release(_people(), _policy(partition)), rng)
    assert found.details["aligned"] == 1
    assert found.details["sorted"] == 1
    assert found.details["wrong"] == 0
    assert found.baseline.successes == 0
    assert found.main.successes >= 5
    assert "as if sorted" in found.sentence


@pytest.mark.parametrize("partition", ["mdav", "k-member", "nearest-neighbours", "v-mdav"])
@pytest.mark.parametrize("seed", [None, 3])
def test_it_knows_nobody_where_a_secret_sorted_equals(partition, seed, rng) -> None:
    found = PartitionReplay().run(_release(_people(), _policy(partition), seed), rng)
    assert found.details["aligned"] == 1
    assert found.details["sorted"] == 0
    assert found.main.successes == found.baseline.successes == 0
    assert not found.succeeds
    assert "tells nothing" in found.sentence
    assert " records whose quasi-identifiers no other has" in found.sentence, "records are counted, not persons"


def test_what_groups_tell_by_themselves_is_the_baseline(rng) -> None:
    found = PartitionReplay().run(_release(_people(n_values=1), _policy("mdav"), 3), rng)
    assert found.main.successes == found.baseline.successes > 0
    assert not found.succeeds


def test_controls_are_taken_for_members_with_the_same_quasi_identifiers(rng) -> None:
    table = _people()
    case = _sorted_release(table, _policy("k-member"))
    alike = PartitionReplay().run(replace(case, control=table), rng)
    assert alike.control.successes == alike.main.successes > 0
    other = table.with_columns({"income": encode_cells("income", np.full(table.n_rows, 1000))})
    assert PartitionReplay().run(replace(case, control=other), rng).control.successes == 0


def test_a_release_that_cannot_be_repeated_tells_what_its_groups_tell(rng) -> None:
    case = _sorted_release(_people(), _policy("k-member"))
    found = PartitionReplay().run(replace(case, policy=_policy("mdav")), rng)
    assert found.details["aligned"] < 1
    assert found.main.successes == found.baseline.successes


def test_it_says_what_it_cannot_attack(release) -> None:
    case = _release(_people(), _policy("mdav"), 3)
    attack = PartitionReplay()
    assert attack.missing(case) is None
    assert "not known" in attack.missing(replace(case, policy=None))
    assert "drawn" in attack.missing(replace(case, publication="condense"))
    assert "sensitive" in attack.missing(replace(case, sensitive=[]))
    sliced = replace(release(publish="bucketize", l=2), policy=case.policy)
    assert "slices" in attack.missing(sliced)


@pytest.mark.parametrize("partition", ["mondrian", "mdav"])
def test_a_release_repeats_the_partition_only_if_equals_are_parted(partition, rng, monkeypatch) -> None:
    case = _release(_people(n=400, n_values=3), _policy(partition), 3)
    whole = PartitionReplay().run(case, rng)
    quick = PartitionReplay().in_release()
    assert quick.missing(case) is None
    if partition == "mondrian":  # strict cuts part no equals
        monkeypatch.setattr(module, "anonymize_table", lambda *_, **__: pytest.fail("was repeated"))
    found = quick.run(case, rng)
    assert (found.main, found.baseline) == (whole.main, whole.baseline)
    monkeypatch.setattr(module, "FEW", 399)
    assert (quick.missing(case) is None) == (partition == "mondrian")
    assert PartitionReplay().missing(case) is None
