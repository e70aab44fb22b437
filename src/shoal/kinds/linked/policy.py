"""What a release of linked tables is asked to be.

::

    kind = "linked"
    link = "id"
    [tables.patients.columns]
    age = { role = "quasi" }
    [tables.labs.columns]
    taken = { shift = "person" }
    value = { role = "sensitive" }

What is said of a column under ``[columns]`` holds in every table that has it and says nothing else of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from shoal.data.tables.header import Header
from shoal.data.tables.table import MARKERS, Table
from shoal.errors import PolicyError, did_you_mean
from shoal.kinds.tables.modelled import ModelledPolicy, accept_option, missing_option, shift_days_option
from shoal.kinds.tables.policy import ColumnPolicy, Limits, Method, Policy
from shoal.models import Requirement
from shoal.models.k_anonymity import KAnonymity
from shoal.policy import Option, Strict, header_option, option

if TYPE_CHECKING:
    from typing_extensions import Self

    from shoal.kinds.linked.profile import LinkedProfile
    from shoal.kinds.linked.release import LinkedRelease


_OF_ALL_TABLES = ("missing", "missing_markers", "limits", "accept", "method", "shift_days")
"""What is asked of every table alike."""
_OF_COLUMNS = [a.name for a in Policy.arguments if a.name != "hierarchies"]


class LinkedColumns(Strict):
    """What is known of one of the tables."""

    columns: Mapping[str, ColumnPolicy] = Field(default_factory=dict, description="What is known of its columns.")


class LinkedPolicy(ModelledPolicy):
    """All that a release of linked tables is asked to be.

    Persons are counted, an attacker is taken to know all that the quasi-identifiers of all tables say of a person, and
    pseudonyms stand in the place of the link.

    Examples
    --------
    >>> policy = LinkedPolicy.of(link="id", quasi=["age", "sex"], shift=["taken"], k=5)
    >>> policy.k, policy.columns["taken"].shift
    (5, 'person')
    """

    noun: ClassVar[str] = "linked tables"
    plural: ClassVar[str] = "linked tables"
    surely: ClassVar[str] = "several files"
    arguments: ClassVar[tuple[Option, ...]] = tuple(a for a in Policy.arguments if a.name in _OF_COLUMNS)

    kind: Literal["linked"] = "linked"
    link: str | None = option(
        None,
        "Column that names the same persons in all files; pseudonyms take its place.",
        instead="none, for a single file",
        metavar="COLUMN",
        is_input=True,
    )
    tables: Mapping[str, LinkedColumns] = Field(default_factory=dict, description="What is known of each, by name.")
    columns: Mapping[str, ColumnPolicy] = Field(
        default_factory=dict, description="What is known of columns in whichever table has them, by name."
    )
    missing: Literal["value", "any"] = missing_option()
    missing_markers: tuple[str, ...] = Field(MARKERS, description="Spellings of a missing value.")
    header: Header | None = header_option()
    shift_days: int = shift_days_option()
    require: tuple[Requirement, ...] = Field((KAnonymity(k=5),), description="The guarantees.")
    limits: Limits = Field(default_factory=Limits, description="What may be found in a release; more stops it.")
    accept: Mapping[str, str] = accept_option()
    method: Method = Field(default_factory=Method, description="How the release is made.")

    @model_validator(mode="after")
    def _as_of_one_table(self) -> LinkedPolicy:
        try:
            self._of(self.columns, self.require)
        except PolicyError as error:
            raise ValueError(str(error).removeprefix("the policy: ")) from None
        if self.method.diversity == "blind":
            raise ValueError("groups of linked tables are merged as sensitive values demand: leave diversity out")
        if not self.method.way_of_publishing.has_labels:
            raise ValueError(
                "method: linked tables are published with labels, true of all rows of a person: add publish = "
                "generalise, or leave partition and publish out"
            )
        for name, part in self.tables.items():
            if self.link is not None and self.link in part.columns and part.columns[self.link].role != "identifying":
                raise ValueError(f"tables.{name}: {self.link!r} is the link, which pseudonyms take the place of")
        return self

    if TYPE_CHECKING:

        def _release(self) -> LinkedRelease: ...

        def _profile(self) -> LinkedProfile: ...

    def changed(self, *by_role: Iterable[str], **values: Any) -> Self:
        """The same policy with some things asked otherwise; see `Policy.changed`. Columns are those of all tables."""
        of_columns = {name: values.pop(name) for name in (*_OF_COLUMNS, "columns", "require") if name in values}
        one = Policy(columns=self.columns, require=self.require).changed(*by_role, **of_columns)
        if isinstance(values.get("accept"), Mapping):
            values["accept"] = {**self.accept, **values["accept"]}
        return super().changed(columns=one.columns, require=one.require, **values)

    @classmethod
    def from_content(cls, content: dict[str, Any], text: str, path: Path) -> Self:
        """From what `read_toml` read; hierarchies are looked for beside the file."""
        from shoal.kinds.tables.policy import place_hierarchies

        parts = content.get("tables")
        for part in (content, *(parts.values() if isinstance(parts, dict) else ())):
            if isinstance(part, dict):
                place_hierarchies(part, path.parent)
        return super().from_content(content, text, path)

    def of_tables(self, tables: Mapping[str, Table]) -> dict[str, Policy]:
        """What is asked of each table."""
        for name in self.tables:
            if name not in tables:
                raise PolicyError(f"the policy names a table {name!r} that is not there; {did_you_mean(name, tables)}")
        held = {n for table in tables.values() for n in table.names}
        for name in self.columns:
            if name != "*" and name not in held:
                raise PolicyError(f"the policy names a column {name!r} that is in no table; {did_you_mean(name, held)}")
        asked = [r.column for r in self.require if r.column is not None]
        for name in asked:
            if name not in held:
                raise PolicyError(
                    f"a guarantee is required of {name!r}, which is in no table; {did_you_mean(name, held)}"
                )
        policies = {}
        for name, table in tables.items():
            columns = {n: c for n, c in self.columns.items() if n == "*" or n in table.columns}
            columns |= self.tables[name].columns if name in self.tables else {}
            require = tuple(r for r in self.require if r.column is None or r.column in table.columns)
            policies[name] = self._of(columns, require or (KAnonymity(k=self.k),))
        return policies

    def _of(self, columns: Mapping[str, ColumnPolicy], require: Sequence[Any]) -> Policy:
        """The policy of one table."""
        tied: dict[str, Any] = {"person": (self.link,), "person_knowledge": "history", "keep_person": True}
        return Policy(
            columns=dict(columns),
            require=require,
            **{name: getattr(self, name) for name in _OF_ALL_TABLES},
            **(tied if self.link is not None else {}),
        )
