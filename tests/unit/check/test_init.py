"""The checker reaches none of the methods: by the text of every module it imports, and at run time."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import shoal

SOURCE = Path(__file__).resolve().parents[3] / "src"
REGISTERED = ("shoal.tables.partition", "shoal.tables.publish")
WIRING = ("shoal.kind", "shoal.kinds", "shoal.verb")  # by which a kind is found; no function of theirs is the checker's
FORBIDDEN = ("shoal.tables", "shoal.strings", "shoal.sparse", "shoal.kernels", "shoal.engine")


def is_registered(module: str) -> bool:
    """Whether a module is one in which partitions or publications register what a policy and the pages say of them.

    A policy is read by them, so their top levels run with the checker, and no function of them does.
    """
    parent = module.rpartition(".")[0]
    return module in ("shoal.tables", *REGISTERED) or parent in REGISTERED


def is_forbidden(module: str) -> bool:
    # shoal.kinds.sparse.policy is none of shoal.sparse.
    return not is_registered(module) and not is_light(module) and is_method(module)


def is_light(module: str) -> bool:
    """Whether a module of the methods only lays out what they work on; registering files name its types."""
    return module in ("shoal.tables.encoding", "shoal.tables.groups")


def is_method(module: str) -> bool:
    return module.startswith(tuple(f"{name}." for name in FORBIDDEN)) or module in FORBIDDEN


def file_of(source: Path, module: str) -> Path | None:
    path = source.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None


def statements(tree: ast.AST, into_functions: bool):
    """All nodes but those that only a type checker sees, and, if asked, those inside functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if not into_functions and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        yield node
        yield from statements(node, into_functions)


def imports_of(source: Path, module: str, into_functions: bool) -> set[str]:
    """The modules of the package that a module names: imports, and texts that look like one (importlib)."""
    file = file_of(source, module)
    package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    found: set[str] = set()
    for node in statements(ast.parse(file.read_text(encoding="utf-8")), into_functions):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*base, *([node.module] if node.module else [])])
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and into_functions:
            found.update(f for f in [node.value] if f.startswith("shoal.") and f.replace(".", "").isidentifier())
    return {m for m in found if m.split(".")[0] == "shoal" and file_of(source, m)}


def reached(source: Path) -> dict[str, str]:
    """Each module that the checker imports, directly or not, with the one that imports it."""
    # Privacy models are found in their folder, and named by no import.
    rooms = [source / "shoal" / "check", source / "shoal" / "models"]
    files = [p.relative_to(source).with_suffix("") for room in rooms for p in room.rglob("*.py")]
    start = [".".join(f.parts).removesuffix(".__init__") for f in files]
    for package in REGISTERED:  # a registry imports all files of its package, and no package inside it
        start += [f"{package}.{p.stem}" for p in source.joinpath(*package.split(".")).glob("*.py")]
    found = dict.fromkeys((s.removesuffix(".__init__") for s in start), "the checker")
    queue = list(found)
    while queue:
        module = queue.pop()
        # A package that is only passed on the way to a module runs its top level, and no function of it.
        passed = module.count(".") == 0 or is_method(module) or module in WIRING
        names = imports_of(source, module, into_functions=not passed)
        parents = {".".join(n.split(".")[:i]) for n in [*names, module] for i in range(1, n.count(".") + 1)}
        for name in names | {p for p in parents if file_of(source, p)}:
            if name not in found:
                found[name] = module
                queue += [] if is_forbidden(name) else [name]
    return found


def trespasses(source: Path) -> list[str]:
    return [f"{by} imports {m}" for m, by in reached(source).items() if is_forbidden(m)]


def test_the_checker_imports_no_method():
    assert {"shoal.kinds.tables.policy", "shoal.data.tables.table", "shoal.errors"} <= set(reached(SOURCE))
    assert trespasses(SOURCE) == []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("check/tables/risk.py", "import shoal.kernels.compile"),
        ("check/tables/classes.py", "from shoal.tables import merge"),
        ("check/tables/verify.py", "def late():\n    from ...kernels.compile import compiled"),
        ("check/tables/verify.py", "import importlib\nimportlib.import_module('shoal.tables.limits')"),
        ("check/tables/verify.py", "from shoal import engine"),
        ("data/tables/table.py", "from shoal.tables.limits import *"),
        ("data/__init__.py", "import shoal.engine"),
        ("kinds/tables/policy.py", "from ...tables import limits"),
        ("models/l_diversity.py", "from shoal.tables import limits"),
        ("check/planted.py", "import shoal.tables.merge as m"),
        ("tables/partition/mdav.py", "from shoal.kernels.tables.mdav import label_mdav"),
        ("tables/publish/condense.py", "from shoal.tables.pseudo_records import pseudo_records"),
        ("check/sparse/verify.py", "from shoal.sparse import signs"),
        ("kinds/sparse/policy.py", "import shoal.sparse.signs"),
    ],
)
def test_a_planted_import_is_caught(tmp_path, file, line):
    shutil.copytree(SOURCE / "shoal", tmp_path / "shoal", ignore=shutil.ignore_patterns("__pycache__"))
    target = tmp_path / "shoal" / file
    before = target.read_text(encoding="utf-8") if target.exists() else ""
    target.write_text(f"{before}\n\n{line}\n", encoding="utf-8")
    assert trespasses(tmp_path)


def test_nothing_of_the_methods_is_loaded_with_the_checker():
    names = (*FORBIDDEN, "numba")
    modules = "shoal.check, shoal.check.sparse.verify"
    code = f"import sys, {modules}; print([m for m in sys.modules if (m + '.').startswith({tuple(f'{n}.' for n in names)!r})])"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=SOURCE,
        env={"PYTHONPATH": str(SOURCE)},
    )
    assert run.stdout.strip() == "[]", run.stderr


FOLDERS = {
    "table": "shoal.anonymize({'age': [20, 21, 22, 23] * 5}, shoal.Policy.of(quasi=['age'], k=3), seed=1)",
    "strings": "shoal.anonymize(['acgt', 'acga', 'tcgt', 'gcgt'] * 10, shoal.StringPolicy.of(k=5), seed=1)",
    "baskets": "shoal.anonymize([['a', 'b'], ['a', 'c'], ['b', 'c']] * 10, shoal.SparsePolicy.of(k=5), seed=1)",
}


@pytest.mark.unattacked
@pytest.mark.parametrize("made", FOLDERS)
def test_the_command_check_loads_no_method_and_no_compiler(tmp_path, made):
    release = eval(FOLDERS[made], {"shoal": shoal})
    release.save(tmp_path / "out", report=False)
    code = (
        "import sys\nfrom shoal.cli.app import main\nsys.argv = ['shoal', 'check', 'out']\ntry:\n    main()\n"
        "except SystemExit as end:\n    assert end.code in (0, 5), end.code\n"
        "print(*(m for m in sys.modules if m.startswith(('shoal.', 'numba'))))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env={"PYTHONPATH": str(SOURCE)}
    )
    loaded = run.stdout.splitlines()[-1].split()
    assert "shoal.check.folder" in loaded, run.stderr
    assert [m for m in loaded if is_forbidden(m) or m.startswith("numba")] == []


def test_a_policy_is_read_without_compiled_loops():
    code = (
        "import sys, shoal; shoal.Policy.of(quasi=['a'], partition='mdav', k=3); "
        f"print([m for m in sys.modules if m.startswith({('numba', *FORBIDDEN[1:])!r})])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=SOURCE, env={"PYTHONPATH": str(SOURCE)}
    )
    assert run.stdout.strip() == "[]", run.stderr
