from __future__ import annotations

from typing import Any

import pytest

import shoal
from shoal.errors import PolicyError
from shoal.kinds.tables.policy import Policy
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from tests.unit.tables.publish.slices.people import asked


def test_one_line_policy() -> None:
    policy = Policy.of(quasi=["age"], sensitive="disease", k=7, l=2, partition="mdav")
    assert policy.columns["age"].role == "quasi"
    assert policy.columns["disease"].role == "sensitive"
    assert policy.require == (KAnonymity(k=7), LDiversity(l=2))
    assert policy.method.publication == "aggregate"


def test_changed_replaces_the_same_model_only() -> None:
    policy = Policy.of(k=7, l=3).changed(k=4)
    assert {r.model: r for r in policy.require} == {"k-anonymity": KAnonymity(k=4), "l-diversity": LDiversity(l=3)}


def test_k_is_the_largest_that_is_asked() -> None:
    assert Policy.of(k=3, l=8).k == 8
    assert Policy.of(require=[{"model": "alpha-k", "alpha": 0.5, "k": 6}]).k == 6
    assert Policy.of(require=[{"model": "t-closeness", "t": 0.2}]).k == 2


BAD = {
    'kind = "tabel"': ("line 1", "kind cannot be 'tabel'", "did you mean 'table'"),
    '[columns]\nage = { rol = "quasi" }': ("line 2", "columns.age.rol", "did you mean 'role'"),
    '[columns]\nage = { role = "quazi" }': ("line 2", "did you mean 'quasi'"),
    "[columns]\nage = 3": ("columns.age", "not 3"),
    '[[require]]\nmodel = "k-anonymity"\nk = 1': ("line 3", "require[1].k", "greater than or equal to 2", "not 1"),
    '[[require]]\nmodel = "k-anonymity"': ("require[1].k is missing",),
    '[[require]]\nmodel = "k-anonimity"\nk = 3': ("did you mean 'k-anonymity'",),
    "[[require]]\nk = 3": ("names no privacy model", "t-closeness"),
    '[[require]]\nmodel = "l-diversity"\nl = 2.5': ("whole number",),
    '[[require]]\nmodel = "t-closeness"\nt = 2.0': ("line 3", "less than or equal to 1"),
    "require = []": ("at least one guarantee",),
    '[method]\npartitoin = "mdav"': ("line 2", "did you mean 'partition'"),
    "[method]\nsuppression = 1.5": ("line 2", "less than 1"),
    "[columns\n": ("not valid TOML", "line 1"),
    'quasi = ["age"]': ("line 1", "no key 'quasi' in a policy file; say it under [columns]"),
    "k = 5": ("line 1", "no key 'k' in a policy file; say it under [[require]]"),
}


def test_roles_in_one_line_are_known_by_their_names() -> None:
    with pytest.raises(PolicyError, match="no key 'quazi'; did you mean 'quasi'"):
        Policy.of(quazi=["age"], k=5)


@pytest.mark.parametrize("text", BAD)
def test_errors_name_file_key_and_remedy(tmp_path, text) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(PolicyError) as caught:
        Policy.read(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    for part in BAD[text]:
        assert part in message


def test_unreadable_policy_files(tmp_path) -> None:
    with pytest.raises(PolicyError, match="there is no policy file"):
        Policy.read(tmp_path / "absent.toml")
    (tmp_path / "latin.toml").write_bytes(b'kind = "\xe9"')
    with pytest.raises(PolicyError, match="UTF-8"):
        Policy.read(tmp_path / "latin.toml")


def test_a_column_has_one_role() -> None:
    with pytest.raises(PolicyError, match="two roles"):
        Policy.of(quasi=["age"], sensitive=["age"])


def test_hierarchies_are_looked_for_beside_the_file(tmp_path) -> None:
    (tmp_path / "policy.toml").write_text('[columns]\nage = { hierarchy = "age.csv" }\nzip = { hierarchy = "auto" }')
    policy = Policy.read(tmp_path / "policy.toml")
    assert policy.columns["age"].hierarchy == str(tmp_path / "age.csv")
    assert policy.columns["zip"].hierarchy == "auto"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (
            {"quasi": 5},
            "quasi takes names of columns, such as quasi=\\['age', 'zip'\\], and was given a value of type int",
        ),
        ({"sensitive": None}, "sensitive takes names of columns.* of type NoneType"),
        ({"quasi": ["age", 5]}, "quasi takes names of columns.* of type int"),
        ({"quasi": b"age"}, "quasi takes names of columns"),
        ({"quasi": [["secret"]]}, "of type list"),
        ({"hierarchies": ["zip"]}, "hierarchies takes a mapping of column to file.* of type list"),
        ({"hierarchies": {5: "zip.csv"}}, "names are texts, and one is of type int"),
        ({"hierarchies": {"zip": 5}}, "columns.zip.hierarchy: it must be a valid string"),
        ({"columns": {5: {}}}, "names are texts, and one is of type int"),
        ({"require": 5}, "require takes a list of guarantees.* of type int"),
        ({"require": {"model": "k-anonymity", "k": 5}}, "require takes a list of guarantees.* of type dict"),
        ({"require": "k-anonymity"}, "require takes a list of guarantees.* of type str"),
        ({"method": "mdav"}, "method: it must be"),
        ({"others": 5}, "role cannot be 5"),
        ({"k": "five"}, "k: it must be a valid integer"),
    ],
)
def test_wrong_types_are_told_in_a_sentence(asked, says) -> None:
    with pytest.raises(PolicyError, match=says) as caught:
        Policy.of(**asked)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("path", [5, None, b"policy.toml"])
def test_a_policy_is_read_from_a_path(path) -> None:
    with pytest.raises(PolicyError, match="the path of a TOML file"):
        Policy.read(path)


def test_hierarchies_may_be_paths(tmp_path) -> None:
    assert Policy.of(hierarchies={"zip": tmp_path / "zip.csv"}).columns["zip"].hierarchy == str(tmp_path / "zip.csv")


def test_no_role_is_lost_between_two_ways_of_giving_it() -> None:
    policy = shoal.Policy.of(quasi=["hair"], columns={"town": {"role": "quasi", "type": "nominal"}}, k=2)
    assert policy.columns["hair"].role == policy.columns["town"].role == "quasi"
    policy = shoal.Policy.of(method={"partition": "mdav"}, effort="best")
    assert (policy.method.partition, policy.method.effort) == ("mdav", "best")
    with pytest.raises(shoal.PolicyError, match="two roles"):
        shoal.Policy.of(quasi=["a"], columns={"a": {"role": "sensitive"}})


@pytest.mark.parametrize("key", [{"order": "original"}, {"restore_variance": True}])
def test_what_slices_cannot_have_is_refused(key: dict[str, Any]) -> None:
    with pytest.raises(shoal.PolicyError, match=r"^the policy: (?!:).*leave .*out$"):
        asked("slice", **key)


def test_l_without_a_kind_is_probabilistic_in_slices() -> None:
    asked = {"quasi": ["age"], "sensitive": ["disease"], "l": 3}
    assert [r.kind for r in Policy.of(**asked).require if r.model == "l-diversity"] == ["distinct"]
    sliced = Policy.of(**asked, publish="slice")
    assert [r.kind for r in sliced.require if r.model == "l-diversity"] == ["probabilistic"]
    named = Policy.of(**asked).changed(require=[{"model": "l-diversity", "l": 3, "kind": "distinct"}], publish="screen")
    assert [r.kind for r in named.require] == ["distinct"]
    assert Policy.of(**asked).changed(publish="bucketize").require[-1].kind == "probabilistic"


def test_what_is_accepted_has_a_name_and_a_reason(tmp_path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('[limits]\nsingled_out = 0.1\n[accept]\nsingled_out = "nobody knows it"\n')
    policy = Policy.read(path)
    assert (policy.limits.singled_out, dict(policy.accept)) == (0.1, {"singled_out": "nobody knows it"})
    more = policy.changed(accept={"unprotected": "a drill"}, singled_out=0.2)
    assert dict(more.accept) == {"singled_out": "nobody knows it", "unprotected": "a drill"}
    assert more.limits.singled_out == 0.2
    for text, says in (
        ('[accept]\nsingeld_out = "x"\n', "did you mean 'singled_out'"),
        ('[accept]\nsingled_out = "  "\n', "takes a reason"),
        ('[accept]\nsingled_out = "two\\nlines"\n', "takes a reason"),
        ("[accept]\nsingled_out = true\n", "valid string"),
        ("[limits]\nsingled_out = 2\n", "less than or equal to 1"),
        ("[limits]\nsingled = 0.1\n", "did you mean 'singled_out'"),
    ):
        path.write_text(text)
        with pytest.raises(PolicyError, match=says):
            Policy.read(path)


def test_a_role_is_stated_by_name_or_for_all_others() -> None:
    policy = Policy.of(quasi=["age"], columns={"zip": {"type": "prefix"}})
    assert policy.states_role_of("age")
    assert not policy.states_role_of("zip")
    assert not policy.states_role_of("other")
    assert policy.changed(others="identifying").states_role_of("other")


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"coalition": 2}, "coalition is about providers"),
        ({"provider": "h", "coalition": 4}, "coalition"),
        ({"provider": "h", "quasi": ["h"]}, "says from which provider a row is, so it cannot be quasi"),
        ({"provider": "h", "person": "h"}, "cannot say both whose row it is"),
        ({"provider": "h", "order": "original"}, "rows of a provider side by side"),
        ({"provider": "h", "publish": "aggregate"}, "take publish = generalise"),
        ({"provider": "h", "partition": "mdav"}, "take publish = generalise"),
        ({"provider": "h", "publish": "slice"}, "take publish = generalise"),
        ({"provider": "h", "person": "p", "person_knowledge": "history"}, 'take person_knowledge = "row"'),
        ({"provider": "h", "memory": "2GB"}, "provider needs all records in memory"),
    ],
)
def test_what_providers_do_not_go_with_is_refused(asked, error):
    with pytest.raises(PolicyError, match=error):
        Policy.of(**asked)


def test_a_provider_is_one_column_or_several():
    assert Policy.of(provider="h").provider == ("h",)
    assert Policy.of(provider=["h", "ward"], coalition=3).provider == ("h", "ward")
