"""Forms are made from the keys of policies, and what is typed means what the policy means."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from shoal.kind import kinds
from shoal.studio.edit import all_fields
from shoal.studio.fields import as_typed, choices_of, field_of, fields_of, from_typed, parts_of, walk

KINDS = {kind.name: kind.policy for kind in kinds()}


@pytest.mark.parametrize("kind", KINDS)
def test_every_option_of_the_command_line_is_a_field(kind: str) -> None:
    policy = KINDS[kind]()
    keys = {field.key for field in all_fields(policy, [])}
    arguments = {argument.name for argument in type(policy).arguments}
    missing = {name for name in type(policy).options() if name not in keys | arguments}
    assert missing <= set(dict(walk(type(policy)))) | {
        n for m in type(policy).models().values() for n in m.model_fields
    }
    for field in all_fields(policy, []):
        assert field.widget in ("choice", "flag", "number", "text", "names", "lines")
        assert field.help or field.name.startswith("require/"), field.name


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_shown_means_what_is_there(kind: str) -> None:
    policy = KINDS[kind]()
    for part in (policy, policy.context, *parts_of(policy).values()):
        for name, info in type(part).model_fields.items():
            value = getattr(part, name)
            if name in ("kind", "columns", "require", "context", "tables") or isinstance(value, BaseModel):
                continue
            assert from_typed(info, as_typed(value)) == value, name


def test_choices_come_from_literals_and_from_registries() -> None:
    method = KINDS["table"]().method
    fields = {field.key: field for field in fields_of(method)}
    assert {"mondrian", "mdav"} <= set(fields["partition"].choices)
    assert fields["effort"].choices == ("fast", "balanced", "best")
    assert fields["publish"].instead == "by method"
    assert fields["suppression"].widget == "number"
    assert fields["strict"].widget == "flag"
    assert choices_of(type(method).model_fields["suppression"]) == ()


def test_what_means_nothing_stays_for_the_policy_to_refuse() -> None:
    info = type(KINDS["table"]().method).model_fields["suppression"]
    assert from_typed(info, "much") == "much"
    assert from_typed(info, "") == 0.0
    assert from_typed(info, "0.5") == 0.5


def test_lines_and_names() -> None:
    policy = KINDS["table"]
    accept, person = policy.model_fields["accept"], policy.model_fields["person"]
    assert from_typed(accept, "singled_out=for a reason\r\n\r\n") == {"singled_out": "for a reason"}
    assert from_typed(person, 'a,"b,c"') == ("a", "b,c")
    assert field_of("person", "person", person, ("a", "b,c")).value == 'a,"b,c"'
