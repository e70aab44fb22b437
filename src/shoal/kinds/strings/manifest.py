"""What a manifest says of strings besides what `shoal.manifest` says of all data: how to read them."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictBool, StrictInt, model_validator

from shoal.data.strings.alphabets import KNOWN
from shoal.data.strings.strings import StringSource
from shoal.data.tables.format import FORMATS
from shoal.data.tables.table import Source
from shoal.kinds.strings.policy import StringMethod, StringPolicy, formats
from shoal.manifest import Manifest, Told
from shoal.policy import named_in


class StringManifest(Manifest):
    """What `publish/manifest.json` says of strings.

    Attributes
    ----------
    format, delimiter, alphabet, column, class_column, table_delimiter, header, person, time, columns
        How to read the file.
    classes : bool
        Whether each string has a class.
    suppressed_because : mapping
        How many were suppressed for which reason; few are told as a range, see `shoal.told_counts`.
    near_copies : int, optional
        How many published strings at most equal an original or are one edit away from one, as was counted before the
        release; None in releases of versions that did not count.
    """

    private: ClassVar[tuple[str, ...]] = ("worst", "details")
    optional: ClassVar[tuple[str, ...]] = ("header", "person", "time", "columns")

    kind: Literal["strings"] = "strings"
    format: Annotated[str, named_in(formats)]
    delimiter: str | None
    alphabet: str | None
    column: str | None
    class_column: str | None
    table_delimiter: str | None
    person: tuple[str, ...] | None = None
    time: str | None = None
    columns: tuple[str, ...] | None = None
    classes: StrictBool
    suppressed_because: dict[str, Told]
    near_copies: Annotated[StrictInt, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _readable(self) -> StringManifest:
        if self.alphabet not in (None, *KNOWN) or (
            formats()[self.format].is_table and self.column is None and self.format not in ("jsonl", "matrix")
        ):
            raise ValueError("the strings could not be read")
        if self.policy.k < 1:  # also where the policy cannot be made
            raise ValueError("groups of none")
        return self

    @cached_property
    def policy(self) -> StringPolicy:
        """What was required and how the strings were made; nothing of the input."""
        # What all did before one could ask.
        method: dict[str, Any] = {"copies": "redraw", "generator": "template", "window": 0.05, "suppression": 1.0}
        method |= {name: value for name, value in self.method.items() if name in StringMethod.model_fields}
        if set(method) != set(StringMethod.model_fields):
            raise ValueError("a default would be promised by nobody")
        return StringPolicy(require=self.require, method=method)

    def content(self) -> dict[str, Any]:
        """What the file holds; of the method what this version knows."""
        return super().content() | {"method": self.policy.told()}

    @property
    def source(self) -> StringSource:
        """How to read the file."""
        table = None
        if self.format in ("column", "events", "matrix"):
            table = Source(
                format=next((f.name for f in FORMATS.values() if self.data in f.files), "csv"),
                delimiter=self.table_delimiter or ",",
                gzip=self.data.endswith(".gz"),
            )
        return StringSource(
            format=self.format,
            delimiter=self.delimiter,
            gzip=self.data.endswith(".gz"),
            alphabet=self.alphabet,
            column=self.column,
            class_column=self.class_column,
            table=table,
            header=self.header,
            person=self.person or (),
            time=self.time,
            columns=self.columns or (),
        )

    @staticmethod
    def reading(source: StringSource) -> dict[str, Any]:
        """The entries that say how to read a file of this make."""
        names = ("format", "delimiter", "alphabet", "column", "class_column", "header", "person", "time")
        table = source.table
        between = None if table is None or table.format not in ("csv", "frame") else table.delimiter
        told = {name: getattr(source, name) for name in names}
        listed = {"person": source.person or None, "columns": source.columns or None}
        return told | {"table_delimiter": between} | listed
