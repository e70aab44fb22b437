"""What a release was made from, and how it is made again; for the owner's pages alone."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.manifest import checksum

SECRET = "SEED"
"""What stands in the place of a seed, which is a secret."""


def source_checksums(source: Any) -> dict[str, str]:
    """SHA-256 of the files that a source names, by their names; nothing of frames, folders and databases."""
    named = source.values() if isinstance(source, Mapping) else [source]
    paths = [Path(one) for one in named if isinstance(one, str | Path)]
    found = {}
    for path in paths:
        try:
            if path.is_file():
                found[path.name] = checksum(path)
        except (OSError, ValueError):  # whoever reads it says what is wrong with it
            continue
    return found


def command_line(arguments: Sequence[str], command: str = "anonymize") -> str:
    """A command as it is written, without the value of its seed.

    >>> command_line(["my data.csv", "-k", "5", "--seed", "17", "-o", "out"])
    "shoal anonymize 'my data.csv' -k 5 --seed SEED -o out"
    >>> command_line(["a.csv", "--seed=17"])
    'shoal anonymize a.csv --seed=SEED'
    """
    words, is_seed = [], False
    for word in arguments:
        hidden = SECRET if is_seed else f"--seed={SECRET}" if word.startswith("--seed=") else word
        words.append(hidden)
        is_seed = word == "--seed" and not is_seed
    return shlex.join(["shoal", command, *words])
