"""The floor plan: what may ask for the kind of data, what may import what, how names and files are cut."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCE = ROOT / "src" / "shoal"

ROOMS = {"tables", "strings", "sparse", "trajectories", "linked"}
NAMES = {"table", *ROOMS, "a table", "sparse records", "linked tables"}
CALLED = (".name", ".noun", ".plural", ".published", "noun", "plural")
CLASSES = {
    "tables": {"Policy", "Table", "SlicedTable", "TableRelease", "TableManifest", "TableCase"},
    "strings": {"StringPolicy", "Strings", "StringRelease", "StringManifest", "StringCase"},
    "sparse": {
        *("SparsePolicy", "Sparse", "Sketches", "Disassociated", "SparseRelease", "BasketRelease", "KMRelease"),
        *("SparseManifest", "SketchManifest", "BasketManifest", "KMManifest", "SparseCase", "BasketCase"),
    },
    "trajectories": {
        *("TrajectoryPolicy", "Trajectories", "TrajectoryBoxes", "TrajectoryRelease", "TrajectoryManifest"),
        "TrajectoryCase",
    },
    "linked": {"LinkedPolicy", "Linked", "LinkedRelease", "LinkedManifest", "LinkedCase"},
}


@cache
def trees() -> dict[Path, ast.Module]:
    """All modules, parsed when a test first asks, and not by every process that collects tests."""
    return {p.relative_to(SOURCE): ast.parse(p.read_text(encoding="utf-8")) for p in sorted(SOURCE.rglob("*.py"))}


def test_every_kind_and_its_classes_are_asked_after() -> None:
    """What stands above is what there is: a kind that is added, or a class that is renamed, is added here."""
    assert {p.parts[1] for p in trees() if p.parts[0] == "kinds" and len(p.parts) > 2} == ROOMS == set(CLASSES)
    defined = {n.name for tree in trees().values() for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
    assert set().union(*CLASSES.values()) <= defined
    endings = ("Policy", "Release", "Manifest")
    in_kinds = {
        n.name
        for path, tree in trees().items()
        if path.parts[0] == "kinds" and path.name in ("policy.py", "release.py", "manifest.py", "baskets.py", "km.py")
        for n in tree.body
        if isinstance(n, ast.ClassDef) and n.name.endswith(endings)
    }
    shared = {"ModelledManifest", "ColumnPolicy"}
    assert in_kinds - shared - set().union(*CLASSES.values()) == set()


def names_in(node: ast.AST) -> set[str]:
    """The kinds that are written out in an expression."""
    texts = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant))
    return {t for t in texts if isinstance(t, str)} & NAMES


def classes_in(node: ast.AST) -> set[str]:
    """The classes of kinds that an expression names."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    found |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    return found & set().union(*CLASSES.values())


def asks(node: ast.AST, own: set[str]) -> str | None:
    """Which question after the kind a node is, if it is one; `own` are the classes of the room that it stands in."""
    if isinstance(node, ast.Compare):
        sides = [s for side in (node.left, *node.comparators) for s in getattr(side, "elts", [side])]
        others = [ast.unparse(s).lower() for s in sides if not names_in(s)]
        if names_in(node) and any("kind" in o or o.endswith(CALLED) for o in others):
            return "compares a kind"
        if sum(getattr(s, "attr", getattr(s, "id", "")) in ("kind", "noun", "plural") for s in sides) > 1:
            return "compares two kinds"
        if classes_in(node) - own and any(o.startswith("type(") or o.endswith(".__class__") for o in others):
            return f"asks for {', '.join(sorted(classes_in(node) - own))}"
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass") and len(node.args) == 2:
        named = sorted(classes_in(node.args[1]) - own)
        return f"asks for {', '.join(named)}" if named else None
    if isinstance(node, ast.Dict):
        by_class = {k.id for k in node.keys if isinstance(k, ast.Name)} & set().union(*CLASSES.values()) - own
        if len(by_class) >= 2:
            return f"is a table by {', '.join(sorted(by_class))}"
        keys = {k.value for k in node.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)}
        return "is a table by kind" if len(keys & NAMES) >= 2 and keys <= NAMES else None
    if isinstance(node, ast.match_case):
        named = names_in(node.pattern) | classes_in(node.pattern)
        return f"matches {', '.join(sorted(named))}" if named else None
    return None


def questions(modules: dict[Path, ast.Module]) -> Iterator[str]:
    """Every place outside `kinds/` that asks what kind something is.

    A room may tell data of its own kind from what is still to be read as such.
    """
    for path, tree in modules.items():
        if path.parts[0] == "kinds":
            continue
        own = set().union(*(CLASSES.get(part, set()) for part in path.parts))
        for node in ast.walk(tree):
            told = asks(node, own)
            if told == "compares two kinds" and path.parts[0] == "models":  # a model has kinds of its own
                continue
            if told is not None:
                yield f"{path}:{node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno} {told}"


def test_nothing_outside_kinds_asks_for_the_kind() -> None:
    found = sorted(questions(trees()))
    assert not found, f"{len(found)} places ask for the kind:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "code",
    [
        "if policy.kind == 'sparse': pass",
        "x = 1 if kind in ('table', 'strings') else 2",
        "if policy.kind != kind: pass",
        "if kind not in (None, policy.kind): pass",
        "if policy.noun == 'strings': pass",
        "if found.name in {'sparse', 'linked'}: pass",
        "if one.plural == other.plural: pass",
        "if type(data) is Strings: pass",
        "if data.__class__ in (Table, Sparse): pass",
        "MAKERS = {Strings: 1, Sparse: 2}",
        "if isinstance(data, Strings): pass",
        "if isinstance(policy, (p.Policy, p.SparsePolicy)): pass",
        "PAGES = {'table': 1, 'sparse': 2}",
        "match kind:\n    case 'strings': pass",
        "match data:\n    case Sparse(): pass",
    ],
)
def test_a_planted_question_is_found(code: str) -> None:
    assert len(list(questions({Path("api.py"): ast.parse(code)}))) == 1
    assert not list(questions({Path("kinds/x.py"): ast.parse(code)}))


def test_a_room_may_ask_for_its_own_kind() -> None:
    code = ast.parse("if isinstance(data, Strings): pass")
    assert not list(questions({Path("check/strings/verify.py"): code}))
    assert list(questions({Path("check/sparse/verify.py"): code}))


@pytest.mark.parametrize(
    "code",
    [
        "if ranked.kind == 'number': pass",
        "if array.dtype.kind in 'if': pass",
        "if isinstance(value, str | int): pass",
        "ROLES = {'table': 1, 'quasi': 2}",
    ],
)
def test_other_questions_are_left_alone(code: str) -> None:
    assert not list(questions({Path("api.py"): ast.parse(code)}))


def test_no_public_class_name_stands_twice() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path))
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert not twice, f"{len(twice)} names stand twice:\n" + "\n".join(f"{n}: {', '.join(f)}" for n, f in twice.items())


def test_no_file_is_over_600_lines() -> None:
    sizes = {str(p): len((SOURCE / p).read_text(encoding="utf-8").splitlines()) for p in trees()}
    assert {p: n for p, n in sizes.items() if n > 600} == {}


def test_nothing_imports_the_command_line() -> None:
    found = []
    for path, tree in trees().items():
        if path.parts[0] in ("cli", "__main__.py"):  # what starts it is of it
            continue
        for node in ast.walk(tree):
            names = [a.name for a in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module or ''}.{name}" for name in names] + [node.module or ""]
            found += [f"{path}:{node.lineno}" for name in names if f"{name}.".startswith(("shoal.cli.", "cli."))]
    assert found == []
