"""Privacy models of tables, one file each: what can be required. A file that is put here is found."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from shoal.models.base import Model, Requirement, by_option, least_size, register, registered

for _file in iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")

__all__ = ["Model", "Requirement", "by_option", "least_size", "register", "registered"]
