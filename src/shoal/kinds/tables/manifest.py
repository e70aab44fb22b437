"""What a manifest says of a table besides what `shoal.manifest` says of all data: its columns, or its slices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictBool, TypeAdapter, ValidationInfo, field_serializer, field_validator, model_validator

from shoal.check.finding import ACCEPTABLE
from shoal.data.tables.attribute import Attribute, Role, Type
from shoal.data.tables.format import data_files
from shoal.data.tables.hierarchy import Hierarchy, prefixes
from shoal.data.tables.slices import Layout, attributes_held
from shoal.data.tables.table import Column, spell
from shoal.manifest import Entries, Manifest
from shoal.models import Requirement, least_size

_REQUIREMENTS: TypeAdapter[tuple[Requirement, ...]] = TypeAdapter(tuple[Requirement, ...])


class PublishedColumn(Entries):
    """What is told of a published column.

    Order and hierarchy stand there of sensitive columns alone: the check's distances need them. Whether the labels of a
    quasi-identifier are those of a hierarchy is told, and not which.
    """

    role: Role
    type: Type
    by_hierarchy: StrictBool | None = None
    shift: Literal["person"] | None = None
    order: tuple[str, ...] | None = None
    hierarchy: tuple[tuple[str, ...], ...] | None = None

    @classmethod
    def of(cls, attribute: Attribute, *, has_labels: bool, is_moved: bool = False) -> PublishedColumn:
        """Of a column that is published so."""
        is_told = attribute.role == "sensitive"
        return cls(
            role=attribute.role,
            type=attribute.type,
            by_hierarchy=True if has_labels else None,
            shift="person" if is_moved else None,
            order=attribute.order if is_told else None,
            hierarchy=attribute.hierarchy.rows if is_told and attribute.hierarchy is not None else None,
        )

    @property
    def content(self) -> str:
        """Whether its cells are numbers for sure, or texts: labels stand for quasi-identifiers."""
        return "number" if self.type == "continuous" and self.role != "quasi" and self.shift is None else "text"

    def attribute(self, name: str) -> Attribute:
        """The same as the check takes it."""
        hierarchy = None if self.hierarchy is None else Hierarchy(self.hierarchy)
        return Attribute(name, self.type, self.role, self.order, hierarchy)


class SeriesEntry(Entries):
    """What is told of a release that is one of several of the same persons.

    Attributes
    ----------
    release : int
        Which of them it is, from 1.
    after : tuple of str
        SHA-256 of the data of the earlier ones.
    """

    release: Annotated[int, Field(ge=1)]
    after: tuple[str, ...] = ()


class ModelledManifest(Manifest):
    """A manifest that requires privacy models and tells which findings were accepted: of a table, or of several."""

    @field_validator("require", mode="before")
    @classmethod
    def _known_models(cls, require: Any) -> Any:
        return _REQUIREMENTS.validate_python(require)

    @field_validator("limits", "accepted", check_fields=False)
    @classmethod
    def _known_findings(cls, entries: dict[str, Any] | None) -> dict[str, Any] | None:
        if not set(entries or ()) <= set(ACCEPTABLE):
            raise ValueError("a finding is called otherwise")
        return entries

    @property
    def k(self) -> int:
        """The least size of a class that all requirements together ask for."""
        return least_size(self.require)

    @field_serializer("require")
    def _write_require(self, require: tuple[Any, ...]) -> list[dict[str, Any]]:
        return [r.model_dump(exclude_none=True) for r in require]


class TableManifest(ModelledManifest):
    """What `publish/manifest.json` says of a table.

    Attributes
    ----------
    columns : mapping
        What is told of each column.
    layout : Layout, optional
        Of a table in slices, which columns stand together.
    order : {"sorted", "original"}
        Which order the rows stand in.
    reading : mapping, optional
        Delimiter, encoding and decimal mark of the original, as far as they had to be said.
    missing, missing_markers
        What a missing value was taken for, and how it is spelled.
    person : tuple of str, optional
        The columns of the original that say whose a record is, where persons were counted.
    person_knowledge : {"row", "history"}, optional
        Whether one record of a person was taken to be known, or all.
    pseudonym : str, optional
        The column in which pseudonyms stand for persons, where records of a person are tied together.
    shift_days : int, optional
        Most days by which dates of a person were moved, either way, where some were.
    provider : tuple of str, optional
        The columns of the original that say from whom a record is, where several provided records.
    coalition : int, optional
        How many of them may put their own records together.
    limits : mapping, optional
        How much of what no guarantee forbids may be found, by name; older versions did not look for it.
    accepted : mapping, optional
        What was found above its limit and taken, with the reason.
    series : SeriesEntry, optional
        Where it is one of several releases of the same persons, which of them.
    """

    optional: ClassVar[tuple[str, ...]] = (
        *("header", "reading", "layout", "person", "person_knowledge", "pseudonym", "shift_days", "limits", "accepted"),
        *("provider", "coalition", "series"),
    )

    kind: Literal["table"] = "table"
    delimiter: Literal[",", ";", "\t", "|"] | None = None
    order: Literal["sorted", "original"] = "sorted"
    reading: dict[Literal["delimiter", "encoding", "decimal"], str] | None = None
    missing: Literal["value", "any"]
    missing_markers: tuple[str, ...]
    person: tuple[str, ...] | None = None
    person_knowledge: Literal["row", "history"] | None = None
    pseudonym: str | None = None
    shift_days: Annotated[int, Field(ge=1)] | None = None
    provider: tuple[str, ...] | None = None
    coalition: Annotated[int, Field(ge=1, le=3)] | None = None
    columns: dict[str, PublishedColumn]
    layout: Layout | None = Field(default=None)
    limits: dict[str, float] | None = None
    accepted: dict[str, str] | None = None
    series: SeriesEntry | None = None

    @property
    def counts_persons(self) -> bool:
        """Whether a column said whose a record is."""
        return bool(self.person)

    @field_validator("data")
    @classmethod
    def _known_file(cls, data: str) -> str:
        if data not in data_files():
            raise ValueError("a table is in no such file")
        return data

    @field_validator("layout", mode="before")
    @classmethod
    def _slices(cls, layout: Any, _: ValidationInfo) -> Any:
        return Layout.from_dict(layout) if isinstance(layout, Mapping) else layout

    @model_validator(mode="after")
    def _promises_something(self) -> TableManifest:
        if not any(c.role == "quasi" for c in self.columns.values()):
            raise ValueError("no column is a quasi-identifier")
        if self.pseudonym is not None and (self.pseudonym in self.columns or self.person_knowledge != "history"):
            raise ValueError("pseudonyms are of no column of the original, and for histories that are alike")
        if bool(self.provider) != (self.coalition is not None):
            raise ValueError("providers are named, and how many may work together is not, or the other way round")
        if bool(self.shifted) != (self.shift_days is not None) or (self.shifted and self.pseudonym is None):
            raise ValueError("days were moved, and by how many or whose is not said, or the other way round")
        if any(self.columns[name].role != "insensitive" for name in self.shifted):
            raise ValueError("days that were moved have another role")
        if self.layout is not None:
            if set(self.layout.names) != set(self.columns):
                raise ValueError("slices and columns are not the same")
            held = self.layout.attributes
            meanings = {(a, self.columns[c].role, self.columns[c].type) for c, a in held.items()}
            if len(meanings) > len(set(held.values())):
                raise ValueError("a column of several slices is not one thing")
        return self

    @field_serializer("columns")
    def _write_columns(self, columns: dict[str, PublishedColumn]) -> dict[str, Any]:
        return {name: column.model_dump(exclude_none=True) for name, column in columns.items()}

    @field_serializer("layout")
    def _write_layout(self, layout: Layout | None) -> dict[str, Any] | None:
        return None if layout is None else layout.to_dict()

    @cached_property
    def attributes(self) -> dict[str, Attribute]:
        """The meaning of each column."""
        return {name: column.attribute(name) for name, column in self.columns.items()}

    @cached_property
    def meant(self) -> dict[str, Attribute]:
        """The meaning of each column of the original, by its name there."""
        held = attributes_held(self.attributes, self.layout)
        return {a: replace(self.attributes[c], name=a) for c, a in held.items()}

    @property
    def by_hierarchy(self) -> frozenset[str]:
        """Columns whose labels are those of a hierarchy."""
        return frozenset(name for name, column in self.columns.items() if column.by_hierarchy)

    @property
    def shifted(self) -> tuple[str, ...]:
        """Columns whose days were moved, all of a person by one number."""
        return tuple(name for name, column in self.columns.items() if column.shift is not None)

    @property
    def published_columns(self) -> dict[str, dict[str, str]]:
        """Those of the table, pseudonyms first."""
        tied = {} if self.pseudonym is None else {self.pseudonym: "text"}
        return {self.data: tied | {name: column.content for name, column in self.columns.items()}}

    def names(self, role: str) -> list[str]:
        """The columns of a role."""
        return [name for name, column in self.columns.items() if column.role == role]


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
