"""What a manifest says of linked tables besides what `shoal.manifest` says of all data: each table, and the link."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictInt, field_serializer, field_validator, model_validator

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.format import data_files
from shoal.kinds.tables.manifest import ModelledManifest, PublishedColumn
from shoal.manifest import Entries


class PublishedTable(Entries):
    """What is told of one of the tables.

    Attributes
    ----------
    data : str
        Its file.
    rows : int
        How many it has, which anybody can count.
    columns : mapping
        What is told of each column, but for the link.
    """

    data: str
    rows: Annotated[StrictInt, Field(ge=0)]
    delimiter: Literal[",", ";", "\t", "|"] | None = None
    columns: dict[str, PublishedColumn]

    @field_validator("data")
    @classmethod
    def _known_file(cls, data: str) -> str:
        kinds = {known.removeprefix("data") for known in data_files()}
        if Path(data).name != data or "\\" in data or not any(data.endswith(kind) for kind in kinds):
            raise ValueError("a table is in no such file")
        return data

    @field_serializer("columns")
    def _write_columns(self, columns: dict[str, PublishedColumn]) -> dict[str, Any]:
        return {name: column.model_dump(exclude_none=True) for name, column in columns.items()}

    @cached_property
    def attributes(self) -> dict[str, Attribute]:
        """The meaning of each column."""
        return {name: column.attribute(name) for name, column in self.columns.items()}

    @property
    def shifted(self) -> tuple[str, ...]:
        """Columns whose days were moved, all of a person by one number."""
        return tuple(name for name, column in self.columns.items() if column.shift is not None)

    def names(self, role: str) -> list[str]:
        """The columns of a role."""
        return [name for name, column in self.columns.items() if column.role == role]


class LinkedManifest(ModelledManifest):
    """What `publish/manifest.json` says of linked tables; its records are persons.

    Attributes
    ----------
    link : str
        The column of pseudonyms, by which all tables join.
    tables : mapping
        What is told of each, the main one first.
    shift_days : int, optional
        Most days by which dates of a person were moved, either way, where some were.
    limits, accepted
        As of tables.
    """

    optional: ClassVar[tuple[str, ...]] = ("header", "reading", "shift_days", "accepted")

    kind: Literal["linked"] = "linked"
    link: str
    tables: dict[str, PublishedTable] = Field(min_length=2)
    reading: dict[Literal["delimiter", "encoding", "decimal"], str] | None = None
    missing: Literal["value", "any"]
    missing_markers: tuple[str, ...]
    shift_days: Annotated[int, Field(ge=1)] | None = None
    limits: dict[str, float]
    accepted: dict[str, str] | None = None

    @model_validator(mode="after")
    def _promises_something(self) -> LinkedManifest:
        parts = self.tables.values()
        if not any(part.names("quasi") for part in parts):
            raise ValueError("no column is a quasi-identifier")
        if len({part.data for part in parts}) < len(self.tables) or self.data != next(iter(parts)).data:
            raise ValueError("tables and files are not the same")
        if any(self.link in part.columns for part in parts):
            raise ValueError("the link is a column of the original")
        if any(part.shifted for part in parts) != (self.shift_days is not None):
            raise ValueError("days were moved, and by how many is not said, or the other way round")
        if any(part.columns[name].role != "insensitive" for part in parts for name in part.shifted):
            raise ValueError("days that were moved have another role")
        return self

    @field_serializer("tables")
    def _write_tables(self, tables: dict[str, PublishedTable]) -> dict[str, Any]:
        return {name: table.model_dump(exclude_none=True) for name, table in tables.items()}

    @property
    def counts_persons(self) -> bool:
        """Always."""
        return True

    @property
    def files(self) -> tuple[str, ...]:
        """Those of all tables."""
        return tuple(table.data for table in self.tables.values())

    @property
    def published_columns(self) -> dict[str, dict[str, str]]:
        """Those of all tables, pseudonyms first."""
        return {
            part.data: {self.link: "text"} | {name: column.content for name, column in part.columns.items()}
            for part in self.tables.values()
        }
