"""What the user asks for: one small object, equally a TOML file.

::

    kind = "table"
    missing = "value"
    [columns]
    name = { role = "identifying" }
    age  = { role = "quasi", type = "continuous" }
    [[require]]
    model = "k-anonymity"
    k = 5
    [method]
    partition = "mondrian"
    publish = "generalise"

Of a column that is not named, type and role are guessed, unless the column ``"*"`` gives a role to all such; what no
guess calls harmless becomes quasi-identifying, see `shoal.data.tables.meaning`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, PlainValidator, field_validator, model_validator

from shoal.check.finding import ACCEPTABLE
from shoal.check.tables.singled_out import LIMIT
from shoal.data.tables.attribute import Role, Type
from shoal.data.tables.header import Header
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import MARKERS
from shoal.errors import PolicyError, did_you_mean
from shoal.kinds.tables.modelled import ModelledPolicy, accept_option, missing_option, shift_days_option
from shoal.models import Requirement, by_option
from shoal.models.k_anonymity import KAnonymity
from shoal.policy import (
    Option,
    Strict,
    header_option,
    named_in,
    option,
    person_option,
    refuse_bound,
    size_in_bytes,
)
from shoal.registry import Registry

if TYPE_CHECKING:
    from typing_extensions import Self

    from shoal.kinds.tables.profile import Profile
    from shoal.kinds.tables.release import TableRelease
    from shoal.tables.partition.base import PartitionMethod
    from shoal.tables.publish.base import Publication


class ColumnPolicy(Strict):
    """What is known of one column; what is None is guessed."""

    role: Role | None = Field(None, description="Dropped; made alike in groups; kept under what is required; kept.")
    type: Type | None = Field(None, description="How values compare.")
    hierarchy: str | Hierarchy | None = Field(None, description='How values are generalised: a file, or "auto".')
    order: tuple[str, ...] | None = Field(None, description="The categories of an ordinal column, from low to high.")
    shift: Literal["person"] | None = Field(
        None,
        description="Whether days move by one secret number for each person; it is published so, and not as it is.",
    )

    @model_validator(mode="before")
    @classmethod
    def _moved_is_not_known(cls, given: Any) -> Any:
        if not isinstance(given, Mapping) or given.get("shift") is None:
            return given
        role = given.get("role")
        if role not in (None, "insensitive"):
            raise ValueError(f"days that are moved cannot be {role}: leave role out, or shift")
        return {**given, "role": "insensitive"}


def partitions() -> Registry[PartitionMethod]:
    """Every way to put records into groups, by its name."""
    from shoal.tables.partition.base import PARTITIONS

    return PARTITIONS


def publications() -> Registry[Publication]:
    """Every way to publish groups, by its name."""
    from shoal.tables.publish.base import PUBLICATIONS

    return PUBLICATIONS


def _as_slices(given: Any) -> Any:
    """Refuse here what would otherwise be refused three times, once for each thing that slices may be."""
    is_number = isinstance(given, int) and not isinstance(given, bool) and given >= 1
    named = isinstance(given, list | tuple) and given and all(isinstance(s, list | tuple) and s for s in given)
    if is_number or given == "best" or (named and all(isinstance(n, str) for s in given for n in s)):
        return tuple(tuple(s) for s in given) if named else given
    raise ValueError('it must be a number of slices, "best", or lists of column names')


def slices_of(text: str) -> Any:
    """Slices as an option gives them: a number, the word best, or names with commas, and semicolons between slices.

    >>> slices_of("2"), slices_of("best"), slices_of("age,sex;zip")
    (2, 'best', (('age', 'sex'), ('zip',)))
    """
    if text == "best":
        return text
    if text.strip().isdigit():
        return int(text)
    return tuple(tuple(name for name in names if name) for names in csv.reader(text.split(";"), skipinitialspace=True))


Slices = Annotated[int | str | tuple[tuple[str, ...], ...], PlainValidator(_as_slices)]


class Method(Strict):
    """How the release is made."""

    partition: Annotated[str, named_in(partitions)] = option(
        "mondrian", "How groups are made.", flags="--method", names=partitions
    )
    publish: Annotated[str | None, named_in(publications, or_none=True)] = option(
        None, "What is published in place of a group.", instead="by method", names=publications
    )
    effort: Literal["fast", "balanced", "best"] = option("fast", "How hard to look for better groups.")
    diversity: Literal["local", "blind"] = option(
        "local",
        "Whether groups are cut, merged or left out as their sensitive values demand (local), or none is and all are "
        "made larger instead (blind).",
    )
    strict: bool = Field(True, description="Whether Mondrian keeps equal values together.")
    restore_variance: bool = Field(
        False, description="Whether averages are stretched until each column varies as before."
    )
    ends: Literal["rounded", "exact"] = option(
        "rounded", "Whether ranges of numbers and dates end at round numbers, or at values of their members."
    )
    suppression: float = option(0.0, "Share of records that may be left out.", metavar="SHARE", ge=0, lt=1)
    block_rows: int = Field(100_000, description="Rows of a block, which is worked on as a whole.", ge=1000)
    slices: Slices = option(
        "best",
        "For slice and screen: how many slices of columns, or which, as in 'age,sex;zip,job'.",
        metavar="SLICES",
        parse=slices_of,
    )
    jointly: bool = option(
        False,
        "For bucketize, slice and screen: whether requirements apply to sensitive values jointly, or to each.",
        flags="--jointly/--separately",
    )

    @model_validator(mode="after")
    def _of_publication(self) -> Method:
        self.way_of_publishing.refuse(self)
        for name in self._foreign():
            if getattr(self, name) != Method.model_fields[name].default:
                of = [p.name for p in publications().values() if name in p.parameters]
                names = " and ".join(publications()[of[0]].parameters)
                raise ValueError(f"{names} are for publish = {', '.join(of)}: leave them out")
        return self

    @model_validator(mode="after")
    def _one_recoding(self) -> Method:
        if self.is_recoding and (not self.way_of_publishing.can_recode or self.effort != "fast"):
            raise ValueError(f"{self.partition} gives all records one recoding: leave publish and effort out")
        return self

    def _foreign(self) -> list[str]:
        """The parameters of other publications than this."""
        others = {name for p in publications().values() for name in p.parameters}
        return sorted(others - set(self.way_of_publishing.parameters))

    @property
    def is_recoding(self) -> bool:
        """Whether all records get the same recoding, rather than each group its own label."""
        return partitions()[self.partition].is_recoding

    @property
    def is_in_ranges(self) -> bool:
        """Whether more records than fit into memory can be grouped, in ranges along a curve, and averaged."""
        return partitions()[self.partition].by_squares is not None and self.publication == "aggregate"

    def told(self) -> dict[str, Any]:
        """All parameters, for the manifest; without those of publications that this is not."""
        return self.model_dump(exclude=set(self._foreign())) | {"publish": self.publication}

    @property
    def publication(self) -> str:
        """What is published in place of a group, by default what the partition is made for."""
        return self.publish or partitions()[self.partition].publication

    @property
    def way_of_publishing(self) -> Publication:
        """What is published in place of a group."""
        return publications()[self.publication]


class Limits(Strict):
    """How much of what no guarantee forbids a release may show; more than that stops it."""

    singled_out: float = option(
        LIMIT,
        "Largest share of records that columns published unchanged may single out, alone or with the labels.",
        metavar="SHARE",
        ge=0,
        le=1,
    )


ORIGINAL_ORDER = (
    "The rows stand in the order of the original: whoever knows the place of a person there, or what the original was "
    "sorted by (a name, a number, a date), finds the row without knowing any quasi-identifier, and no guarantee "
    "counts that."
)
"""What a release says of itself that keeps the order of the rows."""
MOST_REASON = 300
SHIFT_TIES = (
    "days move by one number for each person, so that those between the dates of a person stay the same, which nobody "
    "could see without a pseudonym: shift goes with keep_person = true"
)
"""Why days are moved with pseudonyms alone."""


class Policy(ModelledPolicy):
    """All that a release is asked to be.

    Examples
    --------
    >>> policy = Policy.of(quasi=["age", "zip"], sensitive=["disease"], k=5)
    >>> policy.k, policy.columns["age"].role
    (5, 'quasi')
    """

    noun: ClassVar[str] = "a table"
    plural: ClassVar[str] = "tables"
    arguments: ClassVar[tuple[Option, ...]] = (
        Option("quasi", tuple[str, ...], "Columns that others may know, as in age,zip.", is_common=True),
        Option("sensitive", tuple[str, ...], "Columns to keep, under -l, -t and the like.", is_common=True),
        Option("identifying", tuple[str, ...], "Columns to drop.", is_common=True),
        Option("insensitive", tuple[str, ...], "Columns to publish unchanged."),
        Option("others", Role, "Role of every column that is not named.", instead="guessed", metavar="ROLE"),
        Option(
            "hierarchies",
            Mapping[str, str],
            "A hierarchy in ARX's CSV form; once for each column.",
            flags="--hierarchy",
            metavar="COLUMN=FILE",
        ),
        Option("shift", tuple[str, ...], "Columns of dates to move by one secret number of days for each person."),
        Option("k", int, "Groups of at least k.", is_common=True),
        Option("l", float, "At least l sensitive values in a group (distinct l-diversity; for slices probabilistic)."),
        Option("t", float, "Sensitive values of a group distributed as in the whole, within t (t-closeness)."),
    )

    kind: Literal["table"] = "table"
    missing: Literal["value", "any"] = missing_option()
    missing_markers: tuple[str, ...] = Field(MARKERS, description="Spellings of a missing value.")
    header: Header | None = header_option()
    order: Literal["sorted", "original"] = Field("sorted", description="Order of the published rows.")
    target: str | None = option(
        None, "Column that readers will want to predict; the report compares how well models do.", metavar="COLUMN"
    )
    person: tuple[str, ...] = person_option()
    person_knowledge: Literal["row", "history"] = option(
        "row", "Whether an attacker knows the quasi-identifiers of one record of a person, or of all."
    )
    keep_person: bool = option(
        False, "Whether a pseudonym ties the records of a person together; only with person_knowledge = history."
    )
    provider: tuple[str, ...] = option(
        (),
        "Column(s) that say which provider a row comes from; requirements then hold without the rows of any one of "
        "them, and the column is dropped.",
        metavar="COLUMN",
    )
    coalition: int = option(
        1, "How many providers may pool their own rows, m of m-privacy (--provider).", metavar="M", ge=1, le=3
    )
    releases: Literal["one", "several"] = option(
        "one",
        "Whether other releases of the same persons will follow: groups are then carried over, or sensitive values "
        "kept m-invariant.",
    )
    reserve: int = option(
        1, "For several releases: persons beyond k in new groups, so that as many may leave.", metavar="PERSONS", ge=0
    )
    panel: str | None = option(
        None,
        "For several releases: column that says who is expected to leave together, such as a term; new groups hold "
        "persons of one value. It is dropped.",
        metavar="COLUMN",
    )
    memory: str | None = option(
        None,
        "Read a table of Parquet, CSV, SQLite or DuckDB files without holding it, in about this much memory, such as "
        "2GB. A release is then made by strict mondrian with generalise, bucketize or slice, by a recoding, or by mdav "
        "or v-mdav of numbers and dates, with a role for every column, and attacked on a sample.",
        instead="hold the table",
        metavar="SIZE",
    )
    shift_days: int = shift_days_option()
    columns: Mapping[str, ColumnPolicy] = Field(default_factory=dict, description="What is known of columns, by name.")
    require: tuple[Requirement, ...] = Field((KAnonymity(k=5),), description="The guarantees.")
    limits: Limits = Field(default_factory=Limits, description="What may be found in a release; more stops it.")
    accept: Mapping[str, str] = accept_option()
    method: Method = Field(default_factory=Method, description="How the release is made.")

    @model_validator(mode="after")
    def _no_order(self) -> Policy:
        if self.order == "original" and self.method.way_of_publishing.loses_order:
            raise ValueError(f"{self.method.way_of_publishing.loses_order}; leave order out")
        return self

    @field_validator("person", "provider", mode="before")
    @classmethod
    def _one_or_several(cls, person: Any) -> Any:
        return (person,) if isinstance(person, str) else person

    @model_validator(mode="after")
    def _person_is_dropped(self) -> Policy:
        for name in self.person:
            column = self.columns.get(name)
            if column is not None and column.role not in (None, "identifying"):
                raise ValueError(
                    f"the column {name!r} says whose row it is, so it cannot be {column.role}: leave its role out"
                )
        if self.person and self.order == "original":
            raise ValueError("the order of the original may put the rows of a person side by side: leave order out")
        if self.person_knowledge == "history":
            if not self.person:
                raise ValueError("person_knowledge is about several rows of a person: say by person whose row it is")
            if self.method.is_recoding or not self.method.way_of_publishing.rows_are_records:
                raise ValueError(
                    "histories are made alike in groups of persons: leave person_knowledge out, or publish groups of "
                    "records, as mondrian with generalise does"
                )
        elif self.keep_person:
            raise ValueError(
                "a pseudonym shows which records are of one person, so whoever knows several of them may find it: "
                'keep_person goes with person_knowledge = "history" alone'
            )
        if self.shifted and self.person and not self.keep_person:
            raise ValueError(SHIFT_TIES)
        if "*" in self.shifted:
            raise ValueError("shift is for columns of dates, so name each of them")
        return self

    @model_validator(mode="after")
    def _provider_is_dropped(self) -> Policy:
        if not self.provider:
            if self.coalition != type(self).model_fields["coalition"].default:
                raise ValueError("coalition is about providers: say by provider from whom a row is, or leave it out")
            return self
        for name in self.provider:
            column = self.columns.get(name)
            if name in self.person:
                raise ValueError(f"the column {name!r} cannot say both whose row it is and from which provider")
            if column is not None and column.role not in (None, "identifying"):
                raise ValueError(
                    f"the column {name!r} says from which provider a row is, so it cannot be {column.role}: leave its "
                    "role out"
                )
        if self.order == "original":
            raise ValueError("the order of the original may put the rows of a provider side by side: leave order out")
        if self.person_knowledge == "history":
            raise ValueError(
                'what is left of histories without a provider cannot be shown: take person_knowledge = "row"'
            )
        if not self.method.way_of_publishing.holds_without_providers:
            raise ValueError(
                f"publish = {self.method.publication} cannot be shown to hold without the rows of a provider: "
                "take publish = generalise, or a recoding"
            )
        return self

    @model_validator(mode="after")
    def _can_be_repeated(self) -> Policy:
        if self.panel is not None and self.columns.get(self.panel, ColumnPolicy()).role not in (None, "identifying"):
            raise ValueError(f"the column {self.panel!r} says who leaves together, and is dropped: leave its role out")
        if self.releases == "one":
            if self.panel is not None:
                raise ValueError('panel is for several releases: leave it out, or set releases = "several"')
            return self
        if not self.person:
            raise ValueError(
                "several releases are of the same people, and nothing says who is who: name the column that does "
                '(--person id, or person = "id")'
            )
        made = self.method.way_of_publishing
        asked = {
            f"method = {self.method.partition}": self.method.is_recoding,
            # Averages before and after somebody left tell that person's values.
            f"publish = {self.method.publication}": not (made.rows_are_records and made.has_labels),
            "person_knowledge = history": self.person_knowledge == "history",
            "provider": bool(self.provider),
            "memory": self.memory is not None,
            "missing = any": self.missing == "any",
        }
        refused = [what for what, is_refused in asked.items() if is_refused]
        if refused:
            several = 'several have publish = "generalise"'
            raise ValueError(f"{refused[0]} is for one release alone ({several}): leave it out, or releases")
        return self

    @model_validator(mode="after")
    def _kinds_in_slices(self) -> Policy:
        if self.method.way_of_publishing.is_sliced:
            self.__dict__["require"] = tuple(r.meant_in_slices() for r in self.require)
        return self

    @model_validator(mode="after")
    def _can_be_bounded(self) -> Policy:
        if self.memory is None:
            return self
        refuse_bound(self.memory)
        in_ranges = self.method.is_in_ranges
        further = [r.model for r in self.require if in_ranges and r.is_about_values()]
        takes_weights = partitions()[self.method.partition].takes_weights(self.method)
        asked = {
            f"method = {self.method.partition}": not takes_weights and not in_ranges,
            f"publish = {self.method.publication}": not self.method.way_of_publishing.is_bounded and not in_ranges,
            "restore_variance": self.method.restore_variance,
            f"{', '.join(further)} of averages": bool(further),
            f"effort = {self.method.effort}": self.method.effort != "fast",
            f"diversity = {self.method.diversity}": self.method.diversity != "local",
            "order = original": self.order != "sorted",
            "keep_person": self.keep_person,
            "provider": bool(self.provider),
            "target": self.target is not None,
        }
        refused = [what for what, is_refused in asked.items() if is_refused]
        if refused:
            raise ValueError(
                f"{refused[0]} needs all records in memory: leave memory out, or take strict mondrian, a recoding, or "
                "mdav with k-anonymity alone"
            )
        return self

    @property
    def n_bytes(self) -> int | None:
        """The bound on memory in bytes; None without one.

        >>> Policy(memory="2 GB").n_bytes
        2000000000
        """
        return size_in_bytes(self.memory)

    @field_validator("accept")
    @classmethod
    def _for_a_reason(cls, accept: Mapping[str, str]) -> Mapping[str, str]:
        for name, reason in accept.items():
            if name not in ACCEPTABLE:
                raise ValueError(f"nothing is called {name!r}; {did_you_mean(name, ACCEPTABLE)}")
            if not reason.strip() or not reason.isprintable() or len(reason) > MOST_REASON:
                raise ValueError(f"{name} takes a reason: one line of at most {MOST_REASON} characters")
        return accept

    @property
    def pseudonym(self) -> str:
        """The column that pseudonyms stand in: the first that names the person, which is dropped itself."""
        return self.person[0]

    @property
    def shifted(self) -> tuple[str, ...]:
        """The columns whose days are moved."""
        return tuple(name for name, column in self.columns.items() if column.shift is not None)

    def states_role_of(self, name: str) -> bool:
        """Whether a column's role is given, by its name or as that of all others."""
        return self.columns.get(name, self.columns.get("*", ColumnPolicy())).role is not None

    if TYPE_CHECKING:

        def _release(self) -> TableRelease: ...

        def _profile(self) -> Profile: ...

    def changed(
        self,
        quasi: Iterable[str] = (),
        sensitive: Iterable[str] = (),
        identifying: Iterable[str] = (),
        insensitive: Iterable[str] = (),
        *,
        others: str | None = None,
        hierarchies: Mapping[str, str | Path | Hierarchy] | None = None,
        shift: Iterable[str] = (),
        k: int | None = None,
        l: float | None = None,  # noqa: E741  the paper's name
        t: float | None = None,
        require: Sequence[Any] | None = None,
        **values: Any,
    ) -> Self:
        """The same policy with some things asked otherwise.

        Parameters
        ----------
        quasi, sensitive, identifying, insensitive : column names
            Columns by role.
        others : role, optional
            The role of every column that is not named; by default it is guessed.
        hierarchies : mapping of column to file or `Hierarchy`, optional
        shift : column names
            Columns whose days move by one secret number for each person.
        k, l, t : numbers, optional
            Require k-anonymity, l-diversity, t-closeness, in place of what was required under that name.
        require : sequence, optional
            Everything that is required, in place of all before.
        **values
            Keys of the policy or of its method, such as ``missing="any"`` or ``partition="mdav"``.
        """
        columns = {name: column.model_dump(exclude_none=True) for name, column in self.columns.items()}
        told = type(self)(columns=values.pop("columns", {})).columns
        for name, column in told.items():
            columns[name] = columns.get(name, {}) | column.model_dump(exclude_none=True)
            if columns[name].get("role") != "insensitive":
                columns[name].pop("shift", None)
        roles = {"quasi": quasi, "sensitive": sensitive, "identifying": identifying, "insensitive": insensitive}
        given: dict[str, str] = {name: column.role for name, column in told.items() if column.role is not None}
        for role, names in roles.items():
            for name in _column_names(role, names):
                if given.setdefault(name, role) != role:
                    raise PolicyError(f"column {name!r} is given two roles, {given[name]} and {role}; give it one")
                columns.setdefault(name, {})["role"] = role
                if role != "insensitive":
                    columns[name].pop("shift", None)
        for name in _column_names("shift", shift):
            columns.setdefault(name, {})["shift"] = "person"
        for name, hierarchy in _by_column(hierarchies).items():
            columns.setdefault(name, {})["hierarchy"] = hierarchy
        if others is not None:
            columns["*"] = {"role": others}
        if require is not None and (isinstance(require, str | Mapping) or not isinstance(require, Iterable)):
            raise PolicyError(
                f"require takes a list of guarantees, such as [{{'model': 'k-anonymity', 'k': 5}}], and was given a "
                f"value of type {type(require).__name__}"
            )
        asked = list(self.require if require is None else require)
        in_short = {"k": k, "l": l, "t": t} | {n: values.pop(n) for n in list(values) if n in by_option()}
        for parameter, model in by_option().items():
            if in_short.get(parameter) is not None:
                name = model.model_fields["model"].default
                asked = [r for r in asked if getattr(r, "model", None) != name]
                asked.append({"model": name, parameter: in_short[parameter]})
        if isinstance(values.get("accept"), Mapping):
            values["accept"] = {**self.accept, **values["accept"]}
        return super().changed(columns=columns, require=asked, **values)

    @classmethod
    def from_content(cls, content: dict[str, Any], text: str, path: Path) -> Self:
        """From what `read_toml` read; hierarchies are looked for beside the file."""
        place_hierarchies(content, path.parent)
        return super().from_content(content, text, path)


def _column_names(role: str, names: Any) -> list[str]:
    """The columns of a role, or a sentence that quotes nothing: what was given may be the data itself."""
    if isinstance(names, str):
        return [names]
    listed = list(names) if isinstance(names, Iterable) else [names]
    odd = next((type(name).__name__ for name in listed if not isinstance(name, str)), None)
    if odd is not None:
        raise PolicyError(
            f"{role} takes names of columns, such as {role}=['age', 'zip'], and was given a value of type {odd}"
        )
    return listed


def _by_column(hierarchies: Any) -> dict[str, Any]:
    if not isinstance(hierarchies, Mapping | None):
        raise PolicyError(
            "hierarchies takes a mapping of column to file, such as hierarchies={'zip': 'zip.csv'}, and was given a "
            f"value of type {type(hierarchies).__name__}"
        )
    return {name: str(given) if isinstance(given, Path) else given for name, given in (hierarchies or {}).items()}


def place_hierarchies(content: dict[str, Any], folder: Path) -> None:
    """Look for files of hierarchies beside the policy."""
    columns = content.get("columns")
    for column in columns.values() if isinstance(columns, dict) else ():
        given = column.get("hierarchy") if isinstance(column, dict) else None
        if isinstance(given, str) and given != "auto":
            column["hierarchy"] = str(folder / given)
