"""A policy of any kind, written with comments, reads back as the same policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.data.tables.hierarchy import Hierarchy
from shoal.kind import read_policy
from shoal.kinds.linked.policy import LinkedPolicy
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.tables.policy import Policy
from shoal.policy_file import policy_toml

ODD = 'a "b"\n#\x7fé'
POLICIES = {
    "usual": Policy(),
    "columns": Policy.of(quasi=["age", ODD], sensitive=["disease"], k=7, l=3, t=0.2, others="insensitive"),
    "order": Policy(columns={"stage": {"role": "quasi", "type": "ordinal", "order": ("I", "II", "x\ty")}}),
    "method": Policy.of(quasi=["age"], partition="mdav", publish="aggregate", suppression=0.05, effort="best"),
    "slices": Policy.of(quasi=["age", "zip"], sensitive=["d"], publish="slice", slices=(("age",), ("zip", "d"))),
    "reading": Policy.of(quasi=["age"], missing="any", missing_markers=("?", ""), header="none", target="d"),
    "strings": StringPolicy.of(k=30, order=3, label="x=(.+)", alphabet=("a", "b")),
    "sparse": SparsePolicy.of(k=20, delta=0.7, max_components=16, coarse_counts=False),
    "delta": SparsePolicy.of(model="delta"),
}


@pytest.mark.parametrize("name", POLICIES)
def test_it_reads_back(name: str, tmp_path: Path) -> None:
    policy = POLICIES[name]
    reasons = {"columns.age": ODD, "require.k": "k = 7:\n[columns]", "method.publish": "why", "method.order": "why"}
    text = policy_toml(policy, reasons, [f"Head\n{ODD}", "    indented", "long " * 60])
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    assert read_policy(tmp_path / "policy.toml") == policy
    assert "\n\n\n" not in text
    assert "#     indented" in text
    assert "# k = 7: [columns]" in text
    assert max(len(line) for line in text.splitlines() if line.startswith("# ")) <= 120


def test_a_hierarchy_is_told_from_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "city.csv").write_text("Ayr;Scotland;*\nBath;England;*\n")
    (tmp_path / "in" / "policy.toml").write_text(
        'kind = "table"\n[columns]\ncity = { role = "quasi", hierarchy = "city.csv" }\n'
    )
    text = policy_toml(Policy.read(tmp_path / "in" / "policy.toml"), {}, [], tmp_path / "out")
    assert 'hierarchy = "../in/city.csv"' in text
    (tmp_path / "out" / "policy.toml").write_text(text)
    column = Policy.read(tmp_path / "out" / "policy.toml").columns["city"]
    assert isinstance(column.hierarchy, str)
    assert Path(column.hierarchy).resolve() == (tmp_path / "in" / "city.csv").resolve()


def test_a_hierarchy_without_a_file_is_told_to_be_written() -> None:
    tree = Hierarchy(rows=(("Ayr", "*"), ("Bath", "*")))
    text = policy_toml(Policy.of(quasi=["city"], hierarchies={"city": tree}), {}, [])
    assert "its hierarchy was given in Python" in text
    assert "Ayr" not in text


def test_a_page_tells_files_by_their_names(tmp_path: Path) -> None:
    of_table = Policy(columns={"city": {"role": "quasi", "hierarchy": str(tmp_path / "in" / "city.csv")}})
    of_items = SparsePolicy(method={"publish": "generalise", "item_hierarchy": str(tmp_path / "in" / "items.csv")})
    for policy, name in ((of_table, "city.csv"), (of_items, "items.csv")):
        assert f'hierarchy = "{name}"' in policy_toml(policy, {}, (), is_shown=True)
        assert str(tmp_path) not in policy_toml(policy, {}, (), is_shown=True)
        assert str(tmp_path) in policy_toml(policy, {}, ())


def test_tables_of_columns_are_sections_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("1;*\n", encoding="utf-8")
    columns = {"age": {"role": "quasi", "hierarchy": str(tmp_path / "h.csv")}}
    policy = LinkedPolicy(link="id", tables={"la bs": {"columns": columns}, "visits": {}})
    text = policy_toml(policy, {"tables.la bs.columns.age": "a guess"}, ("head",), tmp_path)
    assert '[tables."la bs".columns]\nage = { role = "quasi", hierarchy = "h.csv" }   # a guess\n' in text
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    assert read_policy(tmp_path / "policy.toml") == policy
