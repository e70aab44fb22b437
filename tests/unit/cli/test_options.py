"""The options of a command are what the policies ask for: no key is forgotten, no help or default stands twice."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, Literal, get_origin

import click
import pytest
from click.testing import CliRunner
from pydantic import BaseModel

from shoal.cli.app import shoal as command_line
from shoal.cli.options import asked_policy
from shoal.context import Context
from shoal.errors import PolicyError
from shoal.kind import kinds
from shoal.kinds import HOMES
from shoal.policy import BasePolicy, Option, Strict, option

KINDS = {kind.name: kind.policy for kind in kinds()}

OF_THE_RUN = set(
    "out policy_file kind key_file keep after resume force is_shown report hold_out control seed workers pool cluster".split()
    + "quiet verbose as_json".split()
)
NOT_ASKED = {
    *("kind", "input", "require", "method", "tables", "missing_markers"),
    *("strict", "restore_variance", "block_rows", "limits"),
    *("context", *Context.model_fields),
}
"""Keys that stand in policy files only; `order` and `columns` are others, of tables."""

SPELLINGS = """
    -o --out -p --policy --quasi --sensitive --identifying --insensitive --others --hierarchy -k -l -t --method --diversity
    --effort --publish --slices --jointly --separately --missing --suppression --target --header --kind --format --label
    --column --class-column --columns --alphabet --delimiter --weights --stop-words --ngrams --eps --order --support
    --generator --window --lengths
    --copies --homogenize --unaligned --rare --model --delta --threshold --variance --max-components --recovery-cap
    --no-recovery-cap --recovery-share --coarse-counts --exact-counts --neighbours --metric --key --keep --force --open --no-report --hold-out
    --control --piece --seed --workers --pool --cluster -q --quiet -v --verbose --json -h --help --person --time --person-knowledge --keep-person --no-keep-person --memory
    --shift --shift-days --link --together --singled-out --accept --ends
    -m --rho --scope --cluster-size --item-hierarchy
    --metadata --no-metadata --encoding --decimal --provider --coalition
    --after --releases --reserve --panel --resume
    --latitude --longitude --trip --unit --metres --minutes --tau --cell --slot
""".split()


def options_of(name: str) -> dict[str, click.Option]:
    command = command_line.commands[name]
    params = command.get_params(click.Context(command, help_option_names=["-h", "--help"]))
    return {str(p.name): p for p in params if isinstance(p, click.Option)}


def help_of(name: str, width: int = 5000) -> str:
    command = command_line.commands[name]
    context = click.Context(
        command, info_name=name, terminal_width=width, max_content_width=width, help_option_names=["-h", "--help"]
    )
    return command.get_help(context)


def sections(text: str) -> dict[str, str]:
    """The options in the help by section."""
    parts = re.split(r"^(\S[^\n]*):\n", text[text.index("\nOptions:\n") :], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def fields_in(policy: type[BasePolicy]) -> Iterator[tuple[type[BaseModel], str, Any]]:
    """Every key of a policy and of its parts."""
    for name, field in policy.model_fields.items():
        yield policy, name, field
        if (
            isinstance(field.annotation, type)
            and get_origin(field.annotation) is None
            and issubclass(field.annotation, Strict)
        ):
            yield from ((field.annotation, n, f) for n, f in field.annotation.model_fields.items())


def test_every_spelling_that_there_was_is_there() -> None:
    found = {spelling for o in options_of("anonymize").values() for spelling in (*o.opts, *o.secondary_opts)}
    assert found == set(SPELLINGS)


def test_the_command_line_asks_for_what_the_policies_ask_for() -> None:
    asked = {name for policy in KINDS.values() for name in policy.options()}
    found = {name for name, made in options_of("anonymize").items() if "--help" not in made.opts}
    assert found - OF_THE_RUN == asked


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_has_its_help_and_is_an_option_unless_it_is_known_not_to_be(kind: str) -> None:
    policy = KINDS[kind]
    for model, name, field in fields_in(policy):
        assert name == "kind" or (field.description and field.description.endswith(".")), name
        is_of_table = model is policy and name in ("order", "columns")  # strings have options of these names
        assert (name in policy.options()) == (name not in NOT_ASKED and not is_of_table), name


@pytest.mark.parametrize("kind", KINDS)
def test_the_default_that_is_shown_is_the_default_of_the_key(kind: str) -> None:
    policy = KINDS[kind]
    shown = sections(help_of("anonymize"))
    text = re.sub(r"\n {9,}", " ", shown["Options"] + shown[policy.plural.capitalize()])  # what follows a long term
    lines = [line for line in text.splitlines() if line.strip()]
    checked = 0
    for _, name, field in fields_in(policy):
        if name in policy.options() and name != "header" and not (name == "order" and kind == "table"):
            made = options_of("anonymize")[name]
            line = next(line for line in lines if line.split()[0].rstrip(",") == made.opts[0])
            if isinstance(field.default, bool):
                said = (made.opts if field.default else made.secondary_opts)[0].removeprefix("--")
            else:
                said = "" if field.default in (None, {}, ()) else str(field.default).removesuffix(".0")
            told = re.search(r"\[default: ([^]]+)\]", line)
            assert (told[1] if told and field.default not in (None, ()) else "") == said, name
            assert field.default not in (None, ()) or not told or told[1] == policy.options()[name].instead, name
            checked += 1
    assert checked >= 9


def test_the_default_of_k_is_that_of_every_kind() -> None:
    assert [p.options()["k"].default for p in KINDS.values()] == [p.of().k for p in KINDS.values()]  # type: ignore[attr-defined]
    told = options_of("anonymize")["k"].help or ""
    assert "[default: 5, 20 for strings, 10 for sparse records]" in told


def test_the_help_begins_with_what_everybody_needs() -> None:
    found = sections(help_of("anonymize", 78))
    assert list(found) == ["Options", "Tables", "Strings", "Sparse records", "Linked tables", "Trajectories", "Run"]
    assert found["Options"].strip().count("\n") < 20
    for term in ("-o, --out", "-p, --policy", "--quasi", "--sensitive", "-k "):
        assert f"  {term}" in found["Options"]
    assert "--eps" in found["Strings"]
    assert "--delta " in found["Sparse records"]
    assert "--rare" in found["Strings"]
    assert "--rare" in found["Sparse records"]
    assert all(word in found["Run"] for word in ("--seed", "--workers", "--keep", "--hold-out", "--help"))
    assert max(len(line) for line in help_of("anonymize", 78).splitlines()[12:]) <= 78


class TrackInput(Strict):
    """How tracks are read."""

    format: Literal["gpx", "csv"] | None = option(None, "Format of the tracks.", instead="detected")


class TrackMethod(Strict):
    """How tracks are made alike."""

    radius: float = option(0.5, "Tracks of a group stay within this distance.", metavar="KM", gt=0)
    is_round: bool = option(True, "Whether tracks end where they began.", flags="--round/--open")


class TrackPolicy(BasePolicy):
    """A kind of data that the command line has never heard of."""

    noun: ClassVar[str] = "tracks"
    plural: ClassVar[str] = "tracks"
    surely: ClassVar[str] = "GPX"
    arguments: ClassVar[tuple[Option, ...]] = (Option("stops", tuple[str, ...], "Places to leave out."),)

    kind: Literal["tracks"] = "tracks"
    input: TrackInput = TrackInput()
    method: TrackMethod = TrackMethod()


@pytest.fixture
def tracks(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("tests.tracks")
    module.KIND = SimpleNamespace(name="tracks", policy=TrackPolicy, recognises=lambda _: False)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(HOMES, "tracks", module.__name__)


@pytest.mark.usefixtures("tracks")
def test_a_new_kind_brings_its_own_section() -> None:
    found = sections(help_of("anonymize"))
    assert list(found) == [
        *("Options", "Tables", "Strings", "Sparse records", "Linked tables", "Trajectories", "Tracks", "Run")
    ]
    lines = [" ".join(line.split()) for line in found["Tracks"].strip().splitlines()]
    assert lines == [
        "--stops NAMES Places to leave out.",
        "--format NAME Format of the tracks. [default: detected]",
        "--radius KM Tracks of a group stay within this distance. [default: 0.5]",
        "--round / --open Whether tracks end where they began. [default: round]",
    ]
    assert "tracks for GPX" in found["Options"]
    assert list(sections(help_of("profile")))[-1] == "Tracks"
    assert "--radius" not in help_of("profile")


@pytest.mark.usefixtures("tracks")
def test_a_new_kind_is_asked_for_like_the_others(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('kind = "tracks"\n[method]\nradius = 2\n')
    policy = asked_policy(Path("a.gpx"), path, None, {"is_round": False, "format": "gpx", "quasi": None})
    assert policy == TrackPolicy.of(radius=2, is_round=False, format="gpx")
    with pytest.raises(
        click.UsageError, match=r"--quasi is for tables and linked tables, and a\.gpx is read as tracks; leave it out"
    ):
        asked_policy(Path("a.gpx"), path, None, {"quasi": ("age",)})
    with pytest.raises(click.UsageError, match=r"--round is for tracks, and .* is read as strings; leave it out"):
        asked_policy(path, None, "strings", {"is_round": False})
    with pytest.raises(click.UsageError, match=r"does not go with .*, which is for tracks"):
        asked_policy(path, path, "table", {})
    with pytest.raises(PolicyError, match=r"method\.radius: it must be greater than 0"):
        asked_policy(path, path, None, {"radius": -1.0})


def test_options_mean_what_they_say() -> None:
    """Lists, pairs and words of their own, from the text to the policy."""
    seen: dict[str, Any] = {}

    @click.command(cls=type(command_line.commands["anonymize"]))
    def collect(**asked: Any) -> None:
        seen.update((name, value) for name, value in asked.items() if value is not None)

    line = (
        "--quasi age,zip --hierarchy age=a.csv --hierarchy zip=z.csv --slices age,sex;zip --separately --alphabet a,b"
    )
    ended = CliRunner().invoke(collect, line.split())
    assert ended.exit_code == 0, ended.output
    assert seen == {
        "quasi": ("age", "zip"),
        "hierarchies": {"age": "a.csv", "zip": "z.csv"},
        "slices": (("age", "sex"), ("zip",)),
        "jointly": False,
        "alphabet": ("a", "b"),
    }


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--hierarchy age", "--hierarchy takes COLUMN=FILE, and neither side may be empty"),
        ("--hierarchy age=a.csv --hierarchy age=b.csv", "--hierarchy is given more than once for the same name"),
        ("-k many", "'many' is not a valid integer"),
    ],
)
def test_what_is_no_value_is_refused(line: str, says: str) -> None:
    ended = CliRunner().invoke(command_line, ["anonymize", "people.csv", "-o", "out", *line.split()])
    assert ended.exit_code == 2
    assert says in ended.output


def test_a_wrong_word_is_refused_where_no_policy_is_made() -> None:
    for command in (["check", "out"], ["attack", "out", "--original", "a.csv"]):
        ended = CliRunner().invoke(command_line, [*command, "--header", "second"])
        assert ended.exit_code == 2
        assert "'second' is not one of 'first', 'none'" in ended.output
