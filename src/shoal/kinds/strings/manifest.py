"""The manifest of a release of strings: what was published, how, and what it promises. It goes out with the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from shoal.data.strings.alphabets import KNOWN
from shoal.data.strings.strings import StringSource
from shoal.data.tables.table import Source
from shoal.errors import DataError, ShoalError
from shoal.kinds.strings.policy import StringMethod, StringPolicy
from shoal.kinds.tables.manifest import FILE_NAME, HEADERS, parse_records, read_content, text_of_manifest
from shoal.models.k_anonymity import KAnonymity
from shoal.told_counts import Count, read_count, write_count

FORMATS = ("fasta", "lines", "tokens", "spmf", "column")
PRIVATE_DETAILS = ("worst", "details")


@dataclass(frozen=True)
class StringManifest:
    """What `publish/manifest.json` says of strings.

    Attributes
    ----------
    data : str
        The name of the file.
    source : StringSource
        How to read it: format, delimiter, alphabet, columns.
    has_classes : bool
        Whether each string has a class.
    policy : StringPolicy
        What is required and how the strings were made; nothing of the input.
    records : mapping
        How many strings came in, went out and were suppressed.
    suppressed : mapping
        How many were suppressed for which reason; few are told as a range, see `shoal.told_counts`.
    guarantees : tuple of mappings
        As they were recomputed before the release.
    checksums : mapping
    near_copies : int, optional
        How many published strings at most equal an original or are one edit away from one, as was counted before the
        release; None in releases of versions that did not count.
    """

    version: str
    data: str
    source: StringSource
    has_classes: bool
    policy: StringPolicy
    records: Mapping[str, Count]
    suppressed: Mapping[str, Count]
    guarantees: tuple[Mapping[str, Any], ...]
    checksums: Mapping[str, str]
    near_copies: int | None = None

    def to_json(self) -> str:
        """The text of the file."""
        table = self.source.table
        content = {
            "shoal": self.version,
            "kind": "strings",
            "data": self.data,
            "format": self.source.format,
            "delimiter": self.source.delimiter,
            "alphabet": self.source.alphabet,
            "column": self.source.column,
            "class_column": self.source.class_column,
            "table_delimiter": None if table is None or table.format == "parquet" else table.delimiter,
            **({} if self.source.header is None else {"header": self.source.header}),
            "classes": self.has_classes,
            "records": {n: write_count(c) for n, c in self.records.items()},
            "suppressed_because": {n: write_count(c) for n, c in self.suppressed.items()},
            "require": [r.model_dump() for r in self.policy.require],
            "guarantees": [
                {name: value for name, value in g.items() if name not in PRIVATE_DETAILS} for g in self.guarantees
            ],
            "near_copies": self.near_copies,
            "method": self.policy.told(),
            "checksums": dict(self.checksums),
        }
        return text_of_manifest(content)

    @classmethod
    def read(cls, folder: Path) -> StringManifest:
        """Read and check the manifest of a published folder."""
        content = read_content(folder)
        try:
            return _parse(content)
        except (KeyError, TypeError, AttributeError, ValueError, ValidationError, ShoalError):
            raise DataError(
                f"{folder / FILE_NAME} is not the manifest of a Shoal release of strings; restore it from the release"
            ) from None


def _parse(content: Mapping[str, Any]) -> StringManifest:
    method = {name: value for name, value in content["method"].items() if name in StringMethod.model_fields}
    method = {"copies": "redraw"} | method  # what all did before one could ask
    name = str(content["data"])
    if content["kind"] != "strings" or content["format"] not in FORMATS or Path(name).name != name or "\\" in name:
        raise ValueError
    if set(method) != set(StringMethod.model_fields):  # a default would be promised by nobody
        raise ValueError
    return StringManifest(
        version=str(content["shoal"]),
        data=name,
        source=_source(content, name),
        has_classes=bool(content["classes"]),
        policy=StringPolicy(require=tuple(KAnonymity(**r) for r in content["require"]), method=StringMethod(**method)),
        records=parse_records(content),
        suppressed={str(n): read_count(c) for n, c in content["suppressed_because"].items()},
        guarantees=tuple(dict(g) for g in content["guarantees"]),
        checksums={str(n): str(c) for n, c in content["checksums"].items()},
        near_copies=_near_copies(content.get("near_copies")),
    )


def _near_copies(stated: Any) -> int | None:
    if stated is not None and (isinstance(stated, bool) or not isinstance(stated, int) or stated < 0):
        raise ValueError
    return stated


def _source(content: Mapping[str, Any], name: str) -> StringSource:
    texts = {key: content[key] for key in ("delimiter", "alphabet", "column", "class_column", "table_delimiter")}
    if any(not isinstance(text, str | None) for text in texts.values()):
        raise TypeError
    if content.get("header") not in HEADERS:
        raise ValueError
    if texts["alphabet"] not in (None, *KNOWN) or (content["format"] == "column" and texts["column"] is None):
        raise ValueError
    table = None
    if content["format"] == "column":
        is_parquet = name.endswith(".parquet")
        table = Source(
            format="parquet" if is_parquet else "csv",
            delimiter=texts["table_delimiter"] or ",",
            gzip=name.endswith(".gz"),
        )
    return StringSource(
        format=content["format"],
        delimiter=texts["delimiter"],
        gzip=name.endswith(".gz"),
        alphabet=texts["alphabet"],
        column=texts["column"],
        class_column=texts["class_column"],
        table=table,
        header=content.get("header"),
    )
