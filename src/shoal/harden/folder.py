"""The folder of a hardening: owner-only, with each finished step in a small file.

::

    harden/
      harden.json
      steps/<hash of data, policy, split and size>.json

It holds sums and shares, never a record, a published value, a seed or a group.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from shoal._version import __version__
from shoal.harden.step import Step
from shoal.sweep.kept import KeptFolder


class HardenFolder(KeptFolder):
    """Where a hardening is written."""

    noun, parts, files = "hardening", "steps", ("harden.json",)

    def find(self, key: str) -> Step | None:
        """A step that an earlier run finished; a file that is spoiled counts for nothing."""
        try:
            return Step.from_dict(json.loads(self.place(key).read_bytes()))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def keep(self, key: str, step: Step) -> None:
        """Store a finished step, whole or not at all."""
        self.store(self.place(key), json.dumps(step.to_dict(), allow_nan=False) + "\n")


def step_key(checksum: str, policy: Any, about: Sequence[Any]) -> str:
    """Name of a step by all that it follows from: data, policy, split, seeds and sizes."""
    content = policy.model_dump(mode="json", exclude={"columns"})
    # What hierarchies say is part of the checksum; the roles of columns are not.
    roles = {name: str(column.role) for name, column in getattr(policy, "columns", {}).items()}
    text = json.dumps([__version__, checksum, content, roles, *about], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40]
