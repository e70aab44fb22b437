"""Names that are imported when they are first asked for."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

PACKAGES = [
    f"shoal.{name}" for name in ("tables", "strings", "sparse", "sparse.mining", "utility.strings", "utility.sparse")
]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_public_name_is_found_and_listed(name: str) -> None:
    package = importlib.import_module(name)
    assert dir(package) == sorted(package.__all__)
    assert all(getattr(package, each) is not None for each in package.__all__)


def test_an_unknown_name_is_an_attribute_error_that_names_the_package() -> None:
    import shoal.tables

    with pytest.raises(AttributeError, match=r"module 'shoal.tables' has no attribute 'Mondrain'"):
        shoal.tables.Mondrain  # noqa: B018


def test_a_package_alone_loads_no_method() -> None:
    code = "import sys, shoal.tables, shoal.utility.sparse; print('numba' in sys.modules, 'shoal.tables.partition.mdav' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False"]
