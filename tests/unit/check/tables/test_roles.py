"""Roles by a policy and by a manifest."""

from __future__ import annotations

import shoal
from shoal.check.tables.roles import other_roles, with_role
from shoal.data.tables.attribute import Attribute

MEANT = {"age": Attribute("age", "continuous", "quasi"), "ill": Attribute("ill", "nominal", "insensitive")}


def test_what_was_published_as_something_else_is_told() -> None:
    agreed = shoal.Policy.of(quasi=["age"], insensitive=["ill"])
    assert not other_roles(MEANT, agreed)
    (told,) = other_roles(MEANT, shoal.Policy.of(quasi=["age"], sensitive=["ill"]))
    assert told == "the column 'ill' is sensitive by the policy but insensitive by the manifest"
    (told,) = other_roles(MEANT, shoal.Policy.of(identifying=["age"], insensitive=["ill"]))
    assert told == "the column 'age' is identifying by the policy but was published"
    typed = shoal.Policy(columns={"age": {"role": "quasi", "type": "nominal"}})
    assert other_roles(MEANT, typed) == ["the column 'age' is nominal by the policy but continuous by the manifest"]


def test_a_role_by_the_policy_counts_too() -> None:
    policy = shoal.Policy.of(quasi=["age"], others="sensitive")
    assert with_role(policy, ["age", "ill"], "quasi", ["zip"]) == ["zip", "age"]
    assert with_role(policy, ["age", "ill"], "sensitive", []) == ["ill"]
