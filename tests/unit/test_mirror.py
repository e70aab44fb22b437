"""The tests mirror the package: `tests/unit/<folder>/test_<module>.py` tests `src/shoal/<folder>/<module>.py`.

The tests of a package's `__init__.py` are in `test_init.py`.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCE = ROOT / "src" / "shoal"
TESTS = ROOT / "tests" / "unit"

# Tests of the package as a whole.
WHOLE = {"test_documentation.py", "test_house.py", "test_mirror.py"}

# Modules without a test file of their own, by where they are tested instead.
TESTED_ELSEWHERE = {
    "tests/e2e, by the command line itself": """
        cli/app.py cli/demo.py cli/group.py cli/harden.py cli/stream.py cli/sweep.py cli/interrupts.py
        cli/option_types.py
        check/claims.py check/folder.py data/published_file.py sweep/folder.py report/tables/compare_datasheet.py""",
    "sweep/test_sweep.py of tables; kinds/strings/test_sweep.py and kinds/sparse/test_sweep.py of what is attacked": """
        sweep/attacked.py sweep/cell.py sweep/trials.py""",
    "data/strings/test_sites.py, beside a plain loop": "check/strings/sites.py",
    "check/sparse/test_baskets.py and test_baskets_in_blocks.py, which both tell them": """
        check/sparse/basket_guarantees.py""",
    "attack/strings/test_init.py runs all attacks on strings beside each other": """
        attack/strings/copies.py attack/strings/fragment_linkage.py attack/strings/long_fragment.py
        attack/strings/near_strings.py attack/strings/unique_fragments.py""",
    "attack/tables/test_inference.py and test_column_join.py, whose beliefs they are": """
        attack/tables/naive_bayes.py attack/tables/slice_beliefs.py""",
    "check/slices/test_verify.py, test_compare.py and test_posterior.py, against slow twins of the whole check": """
        check/slices/alignment.py check/slices/belief.py check/slices/belief_words.py check/slices/exposure.py
        check/slices/membership.py check/slices/sliced.py""",
    "check/strings/test_verify.py, against the slow twin of the whole check": """
        check/strings/groups.py check/strings/templates.py""",
    "check/tables/test_draws.py, test_condensation.py and test_folder.py; tests/properties, by tampering": """
        check/evidence.py check/tables/alongside.py check/tables/averages.py check/tables/cells.py
        check/tables/compare_rows.py""",
    "test_release.py beside them, by what is written and read back": """
        kinds/sparse/kind.py kinds/sparse/manifest.py kinds/sparse/profile.py kinds/strings/kind.py
        kinds/strings/manifest.py kinds/tables/kind.py kinds/linked/kind.py kinds/linked/manifest.py
        report/linked/datasheet.py report/linked/report.py report/linked/words.py
        kinds/trajectories/kind.py kinds/trajectories/manifest.py
        check/trajectories/folder.py report/trajectories/datasheet.py report/trajectories/report.py
        report/trajectories/words.py""",
    "kinds/tables/test_policy.py, kinds/strings/test_policy.py, kinds/sparse/test_policy.py, cli/test_options.py": """
        policy.py kinds/tables/modelled.py""",
    "models/test_base.py; check/tables, model by model against slow twins; tests/toys": """
        check/tables/models.py models/alpha_k.py models/beta_likeness.py models/k_anonymity.py models/l_diversity.py
        models/t_closeness.py""",
    "data/tables/test_write.py, test_files.py and test_parquet.py; tests/toys/test_toy_format.py": """
        data/tables/format.py data/tables/formats/parquet.py data/tables/formats/text.py data/tables/guarded.py
        data/tables/sql_cells.py""",
    "data/strings/test_files.py; tests/toys/test_toy_format.py": "data/strings/format.py",
    "check/tables/test_publication.py; tests/toys": """
        check/tables/publications/aggregate.py check/tables/publications/condense.py
        check/tables/publications/slices.py tables/publish/base.py registry.py""",
    "attack, attack by attack": """
        attack/sparse/case.py attack/strings/case.py attack/tables/case.py attack/trajectories/case.py""",
    "report/tables/test_report.py and test_datasheet.py, tests/e2e/test_words.py, by the pages": """
        report/sparse/basket_pages.py report/sparse/basket_words.py report/sparse/km_pages.py report/sparse/km_words.py
        report/sparse/datasheet.py report/sparse/report.py report/sparse/words.py
        report/points.py report/tables/learning.py report/tables/limits.py report/tables/slices.py""",
    "report/board/test_page.py, by the pages of every kind": """
        report/board/chapters.py report/board/clauses.py report/tables/board.py""",
    "metadata/test_files.py, by the files": """
        metadata/citation.py metadata/croissant.py metadata/dcat.py metadata/description.py metadata/spdx.py""",
    "tables/partition/test_base.py, with all partitions": "tables/partition/nearest_neighbours.py",
    "tables/publish/slices/test_slice_table.py, and tests/properties/test_slicing_properties.py, by a slow twin": """
        tables/publish/slices/plan.py tables/publish/slices/rebuild.py tables/publish/slices/requirements.py
        tables/publish/slicing.py""",
    "utility/strings, measure by measure; kinds/strings/test_release.py, all together": "utility/strings/measure.py",
}
EXCEPTIONS = {module: where for where, modules in TESTED_ELSEWHERE.items() for module in modules.split()}


def module_of(test: Path) -> Path:
    """The module that a test file is about."""
    name = test.stem.removeprefix("test_")
    return test.parent / ("__init__.py" if name == "init" else f"{name}.py")


def place_of_test(module: Path) -> Path:
    """The test file of a module."""
    return module.parent / ("test_init.py" if module.stem == "__init__" else f"test_{module.name}")


def has_code(file: Path) -> bool:
    """Whether a module defines a function, and not only names, fields, and what loads public names late."""
    functions = (
        n.name for n in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(n, ast.FunctionDef)
    )
    return any(name not in ("__getattr__", "__dir__") for name in functions)


MODULES = {file.relative_to(SOURCE) for file in SOURCE.rglob("*.py")}
TEST_FILES = {file.relative_to(TESTS) for file in TESTS.rglob("test_*.py")}


@cache
def with_code() -> set[Path]:
    """Modules that define functions, read when a test first asks, and not by every process that collects tests."""
    return {module for module in MODULES if has_code(SOURCE / module)}


def test_every_test_file_is_about_a_module() -> None:
    assert {str(t) for t in TEST_FILES if module_of(t) not in MODULES} == WHOLE


def test_every_module_has_its_test_file() -> None:
    without = {str(m) for m in with_code() if place_of_test(m) not in TEST_FILES}
    assert without - set(EXCEPTIONS) == set(), "write a test file, or an exception with its reason"


@pytest.mark.parametrize("module", sorted(EXCEPTIONS))
def test_exceptions_are_still_needed(module: str) -> None:
    assert Path(module) in with_code(), "the module is gone, and so may its exception"
    assert place_of_test(Path(module)) not in TEST_FILES, "the module has its test file: take the exception away"
    assert EXCEPTIONS[module]
