"""What a release of linked tables can be asked to be."""

from __future__ import annotations

import pytest

import shoal
from shoal.data.tables.frames import from_frame
from shoal.errors import PolicyError
from shoal.kinds.linked.policy import LinkedPolicy

TABLES = {"a": from_frame({"id": ["1"], "age": [1], "at": ["2020-01-01"]}), "b": from_frame({"id": ["1"], "age": [2]})}


def test_a_column_is_known_in_every_table_that_has_it_unless_the_table_says_otherwise() -> None:
    policy = LinkedPolicy(
        link="id",
        columns={"age": {"role": "quasi"}, "at": {"shift": "person"}},
        tables={"b": {"columns": {"age": {"role": "sensitive"}}}},
    )
    found = policy.of_tables(TABLES)
    assert (found["a"].columns["age"].role, found["b"].columns["age"].role) == ("quasi", "sensitive")
    assert (found["a"].shifted, found["b"].shifted) == (("at",), ())
    assert all((p.person, p.person_knowledge, p.keep_person) == (("id",), "history", True) for p in found.values())


def test_a_file_says_the_same(tmp_path) -> None:
    (tmp_path / "age.csv").write_text("1;*\n2;*\n")
    path = tmp_path / "policy.toml"
    path.write_text(
        'kind = "linked"\nlink = "id"\n[tables.a.columns]\nage = { role = "quasi", hierarchy = "age.csv" }\n'
        '[[require]]\nmodel = "k-anonymity"\nk = 3\n'
    )
    policy = shoal.read_policy(path)
    assert isinstance(policy, LinkedPolicy)
    assert (policy.k, policy.link) == (3, "id")
    assert policy.tables["a"].columns["age"].hierarchy == str(tmp_path / "age.csv")


def test_options_add_to_what_is_said() -> None:
    policy = LinkedPolicy.of(link="id", quasi=["age"], k=4, accept={"singled_out": "why"})
    more = policy.changed(shift=["at"], l=2.0, accept={"known_history": "so"}, suppression=0.2)
    assert (more.k, more.columns["age"].role, more.columns["at"].shift) == (4, "quasi", "person")
    assert set(more.accept) == {"singled_out", "known_history"}
    assert more.method.suppression == 0.2
    assert [r.model for r in more.require] == ["k-anonymity", "l-diversity"]


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"require": ()}, "at least one guarantee"),
        ({"columns": {"id": {"role": "quasi"}}}, "says whose row it is, so it cannot be quasi"),
        ({"tables": {"b": {"columns": {"id": {"role": "quasi"}}}}}, "'id' is the link"),
        ({"method": {"partition": "full-domain"}}, "histories are made alike"),
        ({"shift_days": 0}, "shift_days"),
        ({"method": {"diversity": "blind"}}, "leave diversity out"),
        ({"method": {"publish": "aggregate"}}, "linked tables are published with labels.*add publish = generalise"),
        ({"method": {"partition": "mdav"}}, "linked tables are published with labels.*add publish = generalise"),
        ({"tables": {"b": {"rows": 3}}}, "there is no key"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, what) -> None:
    with pytest.raises(PolicyError, match=what):
        LinkedPolicy(link="id", **asked)


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"tables": {"c": {}}}, "a table 'c' that is not there"),
        ({"columns": {"agee": {"role": "quasi"}}}, "'agee' that is in no table; did you mean 'age'"),
        (
            {"require": [{"model": "l-diversity", "l": 2, "sensitive": "at2"}]},
            "required of 'at2', which is in no table",
        ),
    ],
)
def test_what_the_tables_do_not_have_is_refused(asked, what) -> None:
    with pytest.raises(PolicyError, match=what):
        LinkedPolicy(link="id", **asked).of_tables(TABLES)
