"""The oldest versions that pyproject.toml claims, as constraints for pip (`make test-oldest`)."""

from __future__ import annotations

import sys
from pathlib import Path

from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXTRAS = ("distributed", "mining", "test")


def oldest(requirement: Requirement) -> str:
    """``name>=1.2`` as ``name==1.2``; a requirement without exactly one lower bound claims nothing that could be tested."""
    (bound,) = (clause.version for clause in requirement.specifier if clause.operator == ">=")
    return f"{requirement.name}=={bound}"


def constraints(project: Path) -> list[str]:
    """One constraint for each requirement of the package and of the extras that the tests use."""
    claimed = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    texts = [*claimed["dependencies"], *(text for name in EXTRAS for text in claimed["optional-dependencies"][name])]
    requirements = [Requirement(text) for text in texts]
    return sorted({oldest(each) for each in requirements if each.marker is None or each.marker.evaluate()})


if __name__ == "__main__":
    print("\n".join(constraints(Path(__file__).parents[2] / "pyproject.toml")))
