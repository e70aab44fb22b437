"""A cut that does not look at sensitive values: one number is all that they decide."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest

import shoal
from shoal.data.tables.table import Table, encode_cells
from shoal.errors import PolicyError
from shoal.kinds.tables.policy import Policy
from shoal.tables.anonymize import anonymize_table
from shoal.tables.blind import rungs

pytestmark = pytest.mark.unattacked

PARTITIONS = ["mondrian", "mdav", "k-member", "nearest-neighbours", "curve", "local-recoding", "full-domain", "datafly"]


def _table(n: int = 300, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    return Table.of(
        [
            encode_cells("age", rng.integers(20, 60, n)),
            encode_cells("zip", rng.integers(0, 30, n)),
            encode_cells("illness", rng.choice(["a", "b", "c"], n, p=[0.7, 0.2, 0.1]).astype(object)),
        ]
    )


def _policy(diversity: str, partition: str = "mondrian", k: int = 3, l: float = 2, **method: object) -> Policy:  # noqa: E741
    roles = {"age": {"role": "quasi"}, "zip": {"role": "quasi"}, "illness": {"role": "sensitive"}}
    return Policy(
        columns={n: {**r, "type": "continuous"} if r["role"] == "quasi" else r for n, r in roles.items()},
        require=[{"model": "k-anonymity", "k": k}, {"model": "l-diversity", "l": l}],
        method={"partition": partition, "diversity": diversity, **method},
    )


def _groups(table: Table, policy: Policy) -> frozenset[frozenset[int]]:
    made = anonymize_table(table, policy, seed=1)
    assert len(made.rows) == table.n_rows
    found = defaultdict(set)
    for row, group in zip(made.rows.tolist(), made.groups.tolist(), strict=True):
        found[group].add(row)
    return frozenset(map(frozenset, found.values()))


def test_the_ladder_begins_at_k_and_ends_at_the_whole_table() -> None:
    assert list(rungs(5, 100)) == [5, 10, 20, 40, 80, 100]
    assert list(rungs(5, 5)) == [5]


@pytest.mark.parametrize("partition", PARTITIONS)
def test_groups_are_those_of_one_size_for_all_whatever_the_sensitive_values_are(partition) -> None:
    """However the values are dealt out, the groups are those that some size on the ladder gives without them."""
    table = _table()
    without = table.select(["age", "zip"])
    possible = set()
    for size in rungs(3, table.n_rows):
        bare = _policy("blind", partition).model_copy(update={"require": ({"model": "k-anonymity", "k": size},)})
        plain = Policy(
            columns={n: c for n, c in bare.columns.items() if n != "illness"},
            require=[{"model": "k-anonymity", "k": size}],
            method=bare.method,
        )
        # Ties are broken by a secret for records of equal quasi-identifiers: compare what the groups hold of these.
        possible.add(_held(without, _groups(without, plain)))
    seen = set()
    for seed in range(4):
        dealt = np.random.default_rng(seed).permutation(table.n_rows)
        other = table.with_columns({"illness": table["illness"].take(dealt)})
        found = _held(table, _groups(other, _policy("blind", partition)))
        assert found in possible
        seen.add(found)
    assert len(seen) <= 3


def _held(table: Table, groups: frozenset[frozenset[int]]) -> tuple[tuple[tuple[object, ...], ...], ...]:
    """The quasi-identifiers of each group."""
    cells = list(zip(table["age"].cells().tolist(), table["zip"].cells().tolist(), strict=True))
    return tuple(sorted(tuple(sorted(cells[i] for i in group)) for group in groups))


def _certain(diversity: str, n_tables: int) -> tuple[int, int]:
    """Over all ways in which values can belong to records: pairs of person and release in which the value is certain."""
    rng = np.random.default_rng(2)
    n_certain = n_pairs = 0
    for _ in range(n_tables):
        n = int(rng.integers(6, 8))
        places = {name: encode_cells(name, rng.integers(0, 6, n)) for name in ("age", "zip")}
        values = ["a", *rng.choice(["a", "b"], n - 2).tolist(), "b"]
        policy = _policy(diversity, k=2)
        seen = defaultdict(list)
        for way in sorted(set(itertools.permutations(values))):
            table = Table.of([*places.values(), encode_cells("illness", np.array(way, dtype=object))])
            groups = _groups(table, policy)
            shown = frozenset((group, tuple(sorted(way[i] for i in group))) for group in groups)
            seen[shown].append(way)
        for ways in seen.values():
            n_pairs += n
            n_certain += sum(len({way[i] for way in ways}) == 1 for i in range(n))
    return n_certain, n_pairs


def test_no_value_becomes_certain_by_what_was_not_cut() -> None:
    """No class holds one value alone; by cuts that diversity prevented values are certain all the same."""
    n_certain, n_pairs = _certain("local", 8)
    assert n_certain > 0.05 * n_pairs
    assert _certain("blind", 8)[0] == 0


def test_groups_that_were_made_larger_are_told(tmp_path) -> None:
    release = shoal.anonymize(_table(), _policy("blind"), seed=1)
    assert any("none was mended by itself" in note for note in release.notes)
    assert all(g.holds for g in release.guarantees)
    release.save(tmp_path / "out")
    for page in ("publish/datasheet.html", "private/report.html"):
        text = (tmp_path / "out" / page).read_text(encoding="utf-8")
        assert "without looking at" in text
        assert "Cuts that were not made" not in text


def test_cuts_by_diversity_are_said_to_tell(tmp_path) -> None:
    shoal.anonymize(_table(), _policy("local"), seed=1).save(tmp_path / "out")
    for page in ("publish/datasheet.html", "private/report.html"):
        assert "Cuts that were not made" in (tmp_path / "out" / page).read_text(encoding="utf-8")
    plain = _policy("local").model_copy(update={"require": Policy.of(k=3).require})
    shoal.anonymize(_table(), plain, seed=1).save(tmp_path / "plain")
    assert "Cuts that were not made" not in (tmp_path / "plain/publish/datasheet.html").read_text(encoding="utf-8")


def test_the_check_finds_a_release_that_looked_where_the_policy_forbids_it(tmp_path) -> None:
    table = _table()
    shoal.anonymize(table, _policy("local"), seed=1).save(tmp_path / "looked")
    shoal.anonymize(table, _policy("blind"), seed=1).save(tmp_path / "blind")

    found = shoal.check(tmp_path / "looked" / "publish", policy=_policy("blind"))
    assert any("diversity = 'local'" in finding for finding in found.findings)
    assert not shoal.check(tmp_path / "blind" / "publish", policy=_policy("blind")).findings


def test_slices_are_cut_by_sensitive_values_and_say_so() -> None:
    with pytest.raises(PolicyError, match="leave diversity out"):
        Policy.of(quasi=["age"], sensitive=["illness"], publish="bucketize", diversity="blind")
