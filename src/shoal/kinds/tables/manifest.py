"""The manifest of a release: what was published, how, and what it promises. It goes out with the data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from shoal.data.published_file import MOST_MANIFEST, read_json
from shoal.data.tables.attribute import ROLES, TYPES, Attribute
from shoal.data.tables.hierarchy import Hierarchy, prefixes
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Column, spell
from shoal.data.tables.write import DATA_FILES
from shoal.errors import DataError, ShoalError
from shoal.models import Requirement
from shoal.told_counts import Count, Span, read_count, write_count

FILE_NAME = "manifest.json"
HEADERS = (None, "first", "none")
DATASHEET = "datasheet.html"
_REQUIREMENTS: TypeAdapter[tuple[Requirement, ...]] = TypeAdapter(tuple[Requirement, ...])


@dataclass(frozen=True)
class Manifest:
    """What `publish/manifest.json` says; nothing in it tells more about single originals than the data does."""

    version: str
    kind: str
    data: str
    delimiter: str | None
    method: Mapping[str, Any]
    missing: Literal["value", "any"]
    missing_markers: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    records: Mapping[str, Count]
    require: tuple[Any, ...]
    guarantees: tuple[Mapping[str, Any], ...]
    checksums: Mapping[str, str]
    layout: Layout | None = None
    header: Literal["first", "none"] | None = None
    order: Literal["sorted", "original"] = "sorted"
    by_hierarchy: frozenset[str] = frozenset()  # columns whose labels are those of a hierarchy, which is not told

    def names(self, role: str) -> list[str]:
        """The columns of a role."""
        return [n for n, a in self.attributes.items() if a.role == role]

    def to_json(self) -> str:
        """The text of the file."""
        content = {
            "shoal": self.version,
            "kind": self.kind,
            "data": self.data,
            "delimiter": self.delimiter,
            "records": {n: write_count(c) for n, c in self.records.items()},
            "require": [r.model_dump(exclude_none=True) for r in self.require],
            "guarantees": [dict(g) for g in self.guarantees],
            "method": dict(self.method),
            "order": self.order,
            "missing": self.missing,
            "missing_markers": list(self.missing_markers),
            **({} if self.header is None else {"header": self.header}),
            "columns": {n: _column(a, has_labels=n in self.by_hierarchy) for n, a in self.attributes.items()},
            **({} if self.layout is None else {"layout": self.layout.to_dict()}),
            "checksums": dict(self.checksums),
        }
        return text_of_manifest(content)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read and check the manifest of a published folder."""
        path, content = folder / FILE_NAME, read_content(folder)
        try:
            return _parse(content)
        except (KeyError, TypeError, AttributeError, ValueError, ValidationError, ShoalError):
            raise DataError(f"{path} is not the manifest of a Shoal release; restore it from the release") from None


def parse_records(content: Mapping[str, Any]) -> dict[str, Count]:
    """How many records came in, went out, were suppressed and, if any, held out."""
    told = content["records"]
    names = ("in", "out", "suppressed", *(["held_out"] if "held_out" in told else []))
    records = {n: read_count(told[n]) for n in names}
    if isinstance(records["out"], Span):  # what anybody can count
        raise ValueError
    return records


def text_of_manifest(content: Mapping[str, Any]) -> str:
    """The text of the file, if a check would read it."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if len(text.encode(errors="replace")) > MOST_MANIFEST:
        raise DataError(
            f"the manifest would be larger than {MOST_MANIFEST >> 20} MiB; give sensitive columns shorter orders and "
            "hierarchies"
        )
    return text


def read_content(folder: Path) -> Any:
    """What the manifest of a published folder holds, of whatever kind."""
    path = folder / FILE_NAME
    try:
        return read_json(path)
    except FileNotFoundError:
        raise DataError(f"{folder} has no {FILE_NAME}; give the publish/ folder of a release") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not valid JSON of a size that a manifest has"
        raise DataError(f"{path} cannot be read ({reason}); restore it from the release") from None


def as_published(attribute: Attribute, column: Column) -> Attribute:
    """The attribute with order and hierarchy of the published values alone: no value of a suppressed record shows."""
    shown = {text for text, count in zip(spell(column.values), column.counts(), strict=False) if count}
    order, rows = attribute.order, attribute.hierarchy.rows if attribute.hierarchy is not None else ()
    kept = tuple(row for row in rows if row[0] in shown)
    if kept and attribute.type == "prefix" and rows == prefixes(row[0] for row in rows).rows:
        kept = prefixes(sorted(shown)).rows  # else they are padded to the longest code, perhaps a suppressed one's
    return replace(
        attribute,
        order=tuple(v for v in order if v in shown) if order is not None else None,
        hierarchy=Hierarchy(kept) if kept else None,
    )


def _column(attribute: Attribute, *, has_labels: bool) -> dict[str, Any]:
    column: dict[str, Any] = {"role": attribute.role, "type": attribute.type}
    if has_labels:
        column["by_hierarchy"] = True
    if attribute.role == "sensitive":  # the check's distances need them; a quasi-identifier's are not needed
        if attribute.order is not None:
            column["order"] = list(attribute.order)
        if attribute.hierarchy is not None:
            column["hierarchy"] = [list(row) for row in attribute.hierarchy.rows]
    return column


def _parse(content: Mapping[str, Any]) -> Manifest:
    attributes, by_hierarchy = {}, set()
    for name, column in content["columns"].items():
        if column["role"] not in ROLES or column["type"] not in TYPES:
            raise ValueError
        order = _texts(column["order"]) if "order" in column else None
        rows = column.get("hierarchy")
        hierarchy = Hierarchy(tuple(tuple(row) for row in rows)) if rows is not None else None
        attributes[name] = Attribute(name, column["type"], column["role"], order, hierarchy)
        if column.get("by_hierarchy", False) is True:
            by_hierarchy.add(name)
    if content["kind"] != "table" or content["missing"] not in ("value", "any"):
        raise ValueError
    if content["data"] not in DATA_FILES:
        raise ValueError
    if content.get("header") not in HEADERS:
        raise ValueError
    if not content["require"] or not any(
        a.role == "quasi" for a in attributes.values()
    ):  # such a release promises nothing
        raise ValueError
    return Manifest(
        version=str(content["shoal"]),
        kind="table",
        data=str(content["data"]),
        delimiter=_delimiter(content.get("delimiter")),
        method=dict(content["method"]),
        missing=content["missing"],
        missing_markers=tuple(map(str, content["missing_markers"])),
        attributes=attributes,
        records=parse_records(content),
        require=_REQUIREMENTS.validate_python(content["require"]),
        guarantees=tuple(dict(g) for g in content["guarantees"]),
        checksums={str(n): str(c) for n, c in content["checksums"].items()},
        layout=_layout(content.get("layout"), attributes),
        header=content.get("header"),
        order=_order(content.get("order", "sorted")),
        by_hierarchy=frozenset(by_hierarchy),
    )


def _layout(content: Any, attributes: Mapping[str, Attribute]) -> Layout | None:
    """Which columns stand together, of a table in slices; all of them must be known."""
    if content is None:
        return None
    layout = Layout.from_dict(content)
    if set(layout.names) != set(attributes):
        raise ValueError
    meanings = {(a, attributes[c].role, attributes[c].type) for c, a in layout.attributes.items()}
    if len(meanings) > len(set(layout.attributes.values())):  # an attribute of several slices is one thing
        raise ValueError
    return layout


def _order(given: Any) -> Literal["sorted", "original"]:
    if given == "original":
        return "original"
    if given != "sorted":
        raise ValueError
    return "sorted"


def _delimiter(given: Any) -> str | None:
    if given is not None and given not in (",", ";", "\t", "|"):
        raise ValueError
    return None if given is None else str(given)


def _texts(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise ValueError
    return tuple(given)


def checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def checksums(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Checksums of some files of a folder."""
    return {name: checksum(folder / name) for name in names}
