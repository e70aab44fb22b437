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

A column that is not named keeps its guessed type and role, unless the column ``"*"`` gives one for all such.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, Union, get_args

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from shoal.data.tables.attribute import Role, Type
from shoal.data.tables.header import Header
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import MARKERS
from shoal.errors import PolicyError, did_you_mean
from shoal.registry import Registry

if TYPE_CHECKING:
    from shoal.kinds.tables.profile import Profile
    from shoal.kinds.tables.release import TableRelease

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from shoal.tables.partition.base import PartitionMethod
    from shoal.tables.publish.base import Publication


class Strict(BaseModel):
    """A part of a policy: frozen, and without keys that nobody reads."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class ColumnPolicy(Strict):
    """What is known of one column; what is None is guessed."""

    role: Role | None = None
    type: Type | None = None
    hierarchy: str | Hierarchy | None = None
    order: tuple[str, ...] | None = None


class KAnonymity(Strict):
    """Every combination of published quasi-identifiers stands in at least k records."""

    model: Literal["k-anonymity"] = "k-anonymity"
    k: int = Field(ge=2)


class LDiversity(Strict):
    """Every class holds at least l well-represented sensitive values, in one of four senses."""

    model: Literal["l-diversity"] = "l-diversity"
    l: float = Field(gt=1, allow_inf_nan=False)  # noqa: E741  the paper's name
    kind: Literal["distinct", "probabilistic", "entropy", "recursive"] = "distinct"
    c: float = Field(default=3.0, gt=0, allow_inf_nan=False)
    sensitive: str | None = None

    @model_validator(mode="after")
    def _whole(self) -> LDiversity:
        if self.kind in ("distinct", "recursive") and self.l != int(self.l):
            raise ValueError(f"l must be a whole number for {self.kind} l-diversity")
        return self


class TCloseness(Strict):
    """Every class's sensitive values are distributed as in the whole table, up to an earth mover's distance of t."""

    model: Literal["t-closeness"] = "t-closeness"
    t: float = Field(gt=0, le=1)
    distance: Literal["equal", "ordered", "hierarchical"] | None = None
    sensitive: str | None = None


class AlphaK(Strict):
    """Classes of at least k, and no sensitive value in more than the share alpha of a class."""

    model: Literal["alpha-k"] = "alpha-k"
    alpha: float = Field(gt=0, lt=1)
    k: int = Field(ge=2)
    sensitive: str | None = None


class BetaLikeness(Strict):
    """No sensitive value gains more than the relative share beta in any class over the whole table."""

    model: Literal["beta-likeness"] = "beta-likeness"
    beta: float = Field(gt=0, allow_inf_nan=False)
    kind: Literal["basic", "enhanced"] = "enhanced"
    sensitive: str | None = None


Requirement: TypeAlias = Annotated[
    Union[KAnonymity, LDiversity, TCloseness, AlphaK, BetaLikeness], Field(discriminator="model")  # noqa: UP007  pydantic reads it
]
MODELS = tuple(m.model_fields["model"].default for m in get_args(get_args(Requirement)[0]))


def partitions() -> Registry[PartitionMethod]:
    """Every way to put records into groups, by its name."""
    from shoal.tables.partition.base import PARTITIONS

    return PARTITIONS


def publications() -> Registry[Publication]:
    """Every way to publish groups, by its name."""
    from shoal.tables.publish.base import PUBLICATIONS

    return PUBLICATIONS


def _named(given: Any, known: Iterable[str]) -> str:
    """A name that is registered; else what is said of a literal that is none of those expected."""
    names = list(known)
    if isinstance(given, str) and given in names:
        return given
    listed = " or ".join(filter(None, [", ".join(map(repr, names[:-1])), repr(names[-1])]))
    raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": listed})


def _as_partition(given: Any) -> str:
    return _named(given, partitions())


def _as_publication(given: Any) -> str | None:
    return None if given is None else _named(given, publications())


def _as_slices(given: Any) -> Any:
    """Refuse here what would otherwise be refused three times, once for each thing that slices may be."""
    is_number = isinstance(given, int) and not isinstance(given, bool) and given >= 1
    named = isinstance(given, list | tuple) and given and all(isinstance(s, list | tuple) and s for s in given)
    if is_number or given == "best" or (named and all(isinstance(n, str) for s in given for n in s)):
        return tuple(tuple(s) for s in given) if named else given
    raise ValueError('it must be a number of slices, "best", or lists of column names')


Slices = Annotated[int | str | tuple[tuple[str, ...], ...], PlainValidator(_as_slices)]


class Method(Strict):
    """How the release is made."""

    partition: Annotated[str, PlainValidator(_as_partition)] = "mondrian"
    publish: Annotated[str | None, PlainValidator(_as_publication)] = None
    effort: Literal["fast", "balanced", "best"] = "fast"
    diversity: Literal["local", "blind"] = "local"
    strict: bool = True
    restore_variance: bool = False
    suppression: float = Field(default=0.0, ge=0, lt=1)
    block_rows: int = Field(default=100_000, ge=1000)
    slices: Slices = "best"
    jointly: bool = False

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

    def told(self) -> dict[str, Any]:
        """All parameters, for the manifest; without those of publications that this is not."""
        return self.model_dump(exclude=set(self._foreign())) | {"publish": self.publication}

    @property
    def publication(self) -> str:
        """What stands in a group's place, by default what the partition is made for."""
        return self.publish or partitions()[self.partition].publication

    @property
    def way_of_publishing(self) -> Publication:
        """What stands in a group's place."""
        return publications()[self.publication]


ORIGINAL_ORDER = (
    "The rows stand in the order of the original: whoever knows the place of a person there, or what the original was "
    "sorted by (a name, a number, a date), finds the row without knowing any quasi-identifier, and no guarantee "
    "counts that."
)
"""What a release says of itself that keeps the order of the rows."""


class Policy(Strict):
    """All that a release is asked to be.

    Examples
    --------
    >>> policy = Policy.of(quasi=["age", "zip"], sensitive=["disease"], k=5)
    >>> policy.k, policy.columns["age"].role
    (5, 'quasi')
    """

    kind: Literal["table"] = "table"
    missing: Literal["value", "any"] = "value"
    missing_markers: tuple[str, ...] = MARKERS
    header: Header | None = None
    order: Literal["sorted", "original"] = "sorted"
    target: str | None = None
    columns: Mapping[str, ColumnPolicy] = Field(default_factory=dict)
    require: tuple[Requirement, ...] = (KAnonymity(k=5),)
    method: Method = Field(default_factory=Method)

    @model_validator(mode="after")
    def _no_order(self) -> Policy:
        if self.order == "original" and self.method.way_of_publishing.loses_order:
            raise ValueError(f"{self.method.way_of_publishing.loses_order}; leave order out")
        return self

    @field_validator("require")
    @classmethod
    def _some(cls, require: tuple[Any, ...]) -> tuple[Any, ...]:
        if not require:
            raise ValueError("at least one guarantee must be required")
        return require

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise PolicyError(explain(error, "the policy")) from error

    @property
    def k(self) -> int:
        """The least class size that every requirement together asks for."""
        sizes = [2]
        for r in self.require:
            if isinstance(r, KAnonymity | AlphaK):
                sizes.append(r.k)
            elif isinstance(r, LDiversity):
                sizes.append(-int(-r.l // 1))
        return max(sizes)

    if TYPE_CHECKING:

        def _release(self) -> TableRelease: ...

        def _profile(self) -> Profile: ...

    @classmethod
    def of(cls, **asked: Any) -> Policy:
        """Write a policy in one line; see `changed` for what can be asked."""
        return cls().changed(**asked)

    def changed(
        self,
        quasi: Iterable[str] = (),
        sensitive: Iterable[str] = (),
        identifying: Iterable[str] = (),
        insensitive: Iterable[str] = (),
        *,
        others: str | None = None,
        hierarchies: Mapping[str, str | Path | Hierarchy] | None = None,
        k: int | None = None,
        l: float | None = None,  # noqa: E741  the paper's name
        t: float | None = None,
        require: Sequence[Any] | None = None,
        **values: Any,
    ) -> Policy:
        """The same policy with some things asked otherwise.

        Parameters
        ----------
        quasi, sensitive, identifying, insensitive : column names
            Columns by role.
        others : role, optional
            The role of every column that is not named; by default it is guessed.
        hierarchies : mapping of column to file or `Hierarchy`, optional
        k, l, t : numbers, optional
            Require k-anonymity, l-diversity, t-closeness, in place of what was required under that name.
        require : sequence, optional
            Everything that is required, in place of all before.
        **values
            Keys of the policy or of its method, such as ``missing="any"`` or ``partition="mdav"``.
        """
        columns = {name: column.model_dump(exclude_none=True) for name, column in self.columns.items()}
        whole = Policy(columns=values.pop("columns", {}), method=values.pop("method", {}))
        for name, column in whole.columns.items():
            columns[name] = columns.get(name, {}) | column.model_dump(exclude_none=True)
        method = self.method.model_dump() | whole.method.model_dump(exclude_unset=True)
        roles = {"quasi": quasi, "sensitive": sensitive, "identifying": identifying, "insensitive": insensitive}
        given: dict[str, str] = {name: column.role for name, column in whole.columns.items() if column.role is not None}
        for role, names in roles.items():
            for name in _column_names(role, names):
                if given.setdefault(name, role) != role:
                    raise PolicyError(f"column {name!r} is given two roles, {given[name]} and {role}; give it one")
                columns.setdefault(name, {})["role"] = role
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
        named = {"k-anonymity": ("k", k), "l-diversity": ("l", l), "t-closeness": ("t", t)}
        for model, (parameter, value) in named.items():
            if value is not None:
                asked = [r for r in asked if getattr(r, "model", None) != model] + [{"model": model, parameter: value}]
        method |= {n: values.pop(n) for n in list(values) if n in Method.model_fields}
        kept = {n: getattr(self, n) for n in ("kind", "missing", "missing_markers", "header", "order", "target")}
        return Policy(**{**kept, "columns": columns, "require": asked, "method": method, **values})

    @classmethod
    def read(cls, path: str | Path) -> Policy:
        """Read a TOML file; hierarchies are looked for beside it."""
        return cls.from_content(*read_toml(path), Path(path))

    @classmethod
    def from_content(cls, content: dict[str, Any], text: str, path: Path) -> Policy:
        """From what `read_toml` read."""
        if (kind := content.get("kind")) in ("strings", "sparse"):
            what = "strings" if kind == "strings" else "sparse records"
            raise PolicyError(f"{path} is a policy for {what}; read it with shoal.read_policy")
        _place_hierarchies(content, path.parent)
        try:
            return cls(**content)
        except PolicyError as error:
            if isinstance(error.__cause__, ValidationError):
                raise PolicyError(explain(error.__cause__, str(path), text)) from None
            raise


def read_toml(path: str | Path) -> tuple[dict[str, Any], str]:
    """What a policy file holds, and its text."""
    if not isinstance(path, str | Path):
        raise PolicyError(
            f"a policy is read from the path of a TOML file, not from a value of type {type(path).__name__}"
        )
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PolicyError(f"there is no policy file {path}; `shoal profile` writes one to edit") from None
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"the policy file {path} cannot be read as UTF-8 text ({_reason(error)})") from None
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"{path} is not valid TOML: {error}") from None


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


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8"


def _place_hierarchies(content: dict[str, Any], folder: Path) -> None:
    columns = content.get("columns")
    for column in columns.values() if isinstance(columns, dict) else ():
        given = column.get("hierarchy") if isinstance(column, dict) else None
        if isinstance(given, str) and given != "auto":
            column["hierarchy"] = str(folder / given)


_PARTS = {m.model_fields["model"].default: m for m in get_args(get_args(Requirement)[0])}


def _known_keys(location: Sequence[int | str]) -> list[str]:
    """The keys that a policy may have at the place of an unknown one."""
    head = location[0] if location else ""
    if head == "method":
        return list(Method.model_fields)
    if head == "columns" and len(location) > 2:
        return list(ColumnPolicy.model_fields)
    if head == "require" and len(location) > 3:
        return list(_PARTS[str(location[2])].model_fields)
    return list(Policy.model_fields)


def explain(
    error: ValidationError,
    where: str,
    text: str = "",
    known_keys: Callable[[Sequence[int | str]], list[str]] = _known_keys,
) -> str:
    """One sentence about the first thing that is wrong: where, which key, what would be right."""
    problems = error.errors()
    first = problems[0]
    location = [p for p in first["loc"] if p not in _PARTS and p not in ("str", "is-instance[Hierarchy]")]
    key = "".join(f"[{p + 1}]" if isinstance(p, int) else f".{p}" for p in location).lstrip(".")
    last = str(location[-1]) if location else ""
    given = first.get("input")
    if location[-1:] == ["[key]"]:
        what = f"{location[0]}: names are texts, and one is of type {type(given).__name__}"
    elif first["type"] == "extra_forbidden":
        what = f"there is no key {key!r}; {did_you_mean(last, known_keys(first['loc']))}"
    elif first["type"] == "union_tag_invalid":
        tag = str(given.get("model")) if isinstance(given, dict) else str(given)
        known = re.findall("'([^']+)'", str(first["ctx"]["expected_tags"]))
        what = f"{key}.model: there is no privacy model {tag!r} of this kind of data; {did_you_mean(tag, known)}"
    elif first["type"] == "union_tag_not_found":
        what = f"{key} names no privacy model; add model = one of {', '.join(MODELS)}"
    elif first["type"] == "literal_error":
        known = [p.strip(" '") for p in re.split(r",| or ", str(first["ctx"]["expected"]))]
        what = f"{key} cannot be {given!r}; {did_you_mean(str(given), known)}"
    elif first["type"] == "missing":
        what = f"{key} is missing; add it"
    else:
        message = first["msg"].removeprefix("Value error, ").replace("Input should", "it must", 1)
        shown = "" if first["type"] == "value_error" or isinstance(given, dict | list) else f", not {given!r}"
        at = f"{key}: " if key else ""
        what = f"{at}{message.replace('dictionary or instance of ColumnPolicy', 'table')}{shown}"
    line = _line_of(text, last)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{where}{f', line {line}' if line else ''}: {what}{more}"


def _line_of(text: str, key: str) -> int | None:
    found = re.search(rf'^.*(?<![\w-])"?{re.escape(key)}"?\s*=', text, re.MULTILINE) if key else None
    return text.count("\n", 0, found.start()) + 1 if found else None
