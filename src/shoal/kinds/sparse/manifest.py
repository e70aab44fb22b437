"""The manifest of a release of sketches: what was published, how, and what it promises. It goes out with the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from shoal.check.guarantee import Guarantee
from shoal.check.sparse.bounds import coarse
from shoal.errors import DataError, ShoalError
from shoal.kinds.sparse.policy import SparseInput, SparseMethod, SparsePolicy
from shoal.kinds.strings.manifest import PRIVATE_DETAILS
from shoal.kinds.tables.manifest import FILE_NAME, parse_records, read_content, text_of_manifest
from shoal.told_counts import Count, read_count, write_count

DATA_FILE = "data.parquet"
_LIMITS = {"delta-anonymity": "delta", "k-variance": "ratio", "recovery-cap": "share"}


@dataclass(frozen=True)
class SparseManifest:
    """What `publish/manifest.json` says of sketches.

    Attributes
    ----------
    policy : SparsePolicy
        How the original was read, what is required and how the sketches were made.
    step : float
        The grid of real components; 1 for whole numbers.
    has_classes : bool
        Whether each sketch has a class.
    neighbours : {"exact", "partition"}, optional
        How neighbours were found; None where the guarantee is not about them.
    records : mapping
        How many records came in, went out and were suppressed.
    suppressed : mapping
        How many were suppressed for which reason; few are told as a range, see `shoal.told_counts`.
    guarantees : tuple of mappings
        As they were recomputed before the release.
    checksums : mapping
    """

    version: str
    policy: SparsePolicy
    step: float
    has_classes: bool
    neighbours: Literal["exact", "partition"] | None
    records: Mapping[str, Count]
    suppressed: Mapping[str, Count]
    guarantees: tuple[Mapping[str, Any], ...]
    checksums: Mapping[str, str]
    data: str = DATA_FILE

    def to_json(self) -> str:
        """The text of the file."""
        content = {
            "shoal": self.version,
            "kind": "sparse",
            "data": self.data,
            "columns": {"sketch": "the components of a record", **({"label": "its class"} if self.has_classes else {})},
            "step": self.step,
            "classes": self.has_classes,
            "input": self.policy.input.model_dump(),
            "records": {n: write_count(c) for n, c in self.records.items()},
            "suppressed_because": {n: write_count(c) for n, c in self.suppressed.items()},
            "require": [r.model_dump() for r in self.policy.require],
            "guarantees": [
                {name: value for name, value in g.items() if name not in PRIVATE_DETAILS} for g in self.guarantees
            ],
            "method": self.policy.told(),
            "neighbours": self.neighbours,
            "checksums": dict(self.checksums),
        }
        return text_of_manifest(content)

    @classmethod
    def read(cls, folder: Path) -> SparseManifest:
        """Read and check the manifest of a published folder."""
        content = read_content(folder)
        try:
            return _parse(content)
        except (KeyError, TypeError, AttributeError, ValueError, ValidationError, ShoalError):
            raise DataError(
                f"{folder / FILE_NAME} is not the manifest of a Shoal release of sketches; restore it from the release"
            ) from None


def in_public(guarantee: Guarantee) -> Guarantee:
    """A guarantee as it goes out: what the worst record reaches has two digits, see `coarse`."""
    name = _LIMITS.get(guarantee.model)
    if name is None or not guarantee.holds:
        return guarantee
    reached = coarse(guarantee.achieved, guarantee.required[name], is_most=guarantee.model == "recovery-cap")
    return replace(guarantee, achieved=reached, details={})


def _parse(content: Mapping[str, Any]) -> SparseManifest:
    method = {name: value for name, value in content["method"].items() if name in SparseMethod.model_fields}
    step = float(content["step"])
    if content["kind"] != "sparse" or content["data"] != DATA_FILE or not (math.isfinite(step) and step > 0):
        raise ValueError
    # A default would be promised by nobody.
    if set(method) != set(SparseMethod.model_fields) or {"header", *content["input"]} != set(SparseInput.model_fields):
        raise ValueError  # manifests of old know no header
    if content["neighbours"] not in ("exact", "partition", None) or not content["require"]:
        raise ValueError
    policy = SparsePolicy(input=content["input"], require=content["require"], method=method)
    if len(policy.require) != len(content["require"]) or (policy.k is None) != (content["neighbours"] is None):
        raise ValueError
    return SparseManifest(
        version=str(content["shoal"]),
        policy=policy,
        step=step,
        has_classes=bool(content["classes"]),
        neighbours=content["neighbours"],
        records=parse_records(content),
        suppressed={str(n): read_count(c) for n, c in content["suppressed_because"].items()},
        guarantees=tuple(dict(g) for g in content["guarantees"]),
        checksums={str(n): str(c) for n, c in content["checksums"].items()},
    )
