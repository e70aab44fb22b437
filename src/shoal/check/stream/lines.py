"""What can be recomputed of a stream of strings or sparse records: its lines, and which of them are originals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.check.folder import FolderCheck
from shoal.errors import DataError
from shoal.manifest import FILE_NAME, checksum

NOT_KEPT = (
    "Whose records stood together in a window is not kept, so that groups of k cannot be counted again; every window "
    "was checked as a release of its own before it went out."
)


def check_lines(publish: Path, manifest: Mapping[str, Any], original: Path | None = None) -> FolderCheck:
    """Count the lines of a stream, and with the original those that fewer than k of its records are.

    Copies are told and are no finding: a window is compared with its own originals before it goes out, and what is
    drawn from one may equal an original of another by chance.
    """
    try:
        name, n_out = Path(manifest["data"]).name, int(manifest["records"]["out"])
        k = max([2, *(int(r["k"]) for r in manifest["require"] if "k" in r)])
        told = manifest["checksums"][name]
    except (KeyError, TypeError, ValueError):
        raise DataError(f"{publish / FILE_NAME} is not the manifest of a stream; restore it from the release") from None
    findings, path = [], publish / name
    try:
        if checksum(path) != told:
            findings.append(f"{name} was changed after the release: its checksum differs from the manifest's")
        with path.open("rb") as file:
            n_lines = sum(1 for _ in file)
        if n_lines != n_out:
            findings.append(f"there are {n_lines:,} lines, the manifest says {n_out:,}")
        not_compared = () if original is None else (f"lines with records, but for {_copies(path, original, k)}",)
    except OSError as error:
        raise DataError(f"{path} or the original cannot be read ({error.strerror or error})") from None
    return FolderCheck((), tuple(findings), original is not None, (NOT_KEPT,), not_compared)


def _copies(path: Path, original: Path, k: int) -> str:
    with original.open("rb") as file:
        held = Counter(hash(line.strip()) for line in file)
    with path.open("rb") as file:
        n_copies = sum(0 < held[hash(line.strip())] < k for line in file)
    return f"{n_copies:,} that equal a record which fewer than {k} are"
