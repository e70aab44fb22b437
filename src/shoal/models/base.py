"""What every privacy model of tables tells of itself, and where the models are found.

A model is one file of this folder: what it asks for, what that means in words, and what the methods have to keep. The
checker's own formula stands apart from it, in `shoal.check.tables` under the same file name, so that no mistake is made
and confirmed by the same line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, SerializeAsAny, TypeAdapter

from shoal.arrays import Codes, Ints, Mask

if TYPE_CHECKING:
    from typing_extensions import Self

ByKind = Mapping[str, str]
"""Something said of each kind of a model; under "" of every kind that is not named."""


class Guard(NamedTuple):
    """What a model is good for, in a few words."""

    title: str
    stops: str
    leaves: str


class Values(Protocol):
    """A sensitive attribute as methods read it, and as `shoal.tables.encoding.Ranked` is."""

    @property
    def name(self) -> str:
        """The column."""

    @property
    def kind(self) -> str:
        """How its values compare: number, order, category or tree."""

    @property
    def ancestors(self) -> Codes | None:
        """The nodes above each value, of a tree."""


class Bound(NamedTuple):
    """What the methods keep in every group.

    Attributes
    ----------
    formula : str
        One of `shoal.tables.limits.FORMULAS`, which compiled loops know; "" for the model's own `fails`.
    parameter, c : float
        What the formula compares with.
    text : str
        The requirement, for messages; by default its title.
    """

    formula: str = ""
    parameter: float = 0.0
    c: float = 0.0
    text: str = ""


class Counts(NamedTuple):
    """The sensitive values of groups, as counts of the pairs of group and value that occur.

    Attributes
    ----------
    groups, values, counts : int64 arrays (n_pairs,)
        Each pair, ascending, and its records.
    starts : int64 array (n_groups,)
        The first pair of each group: what `np.add.reduceat` and the like take.
    sizes : int64 array (n_groups,)
        Records in each group.
    totals : int64 array (n_values,)
        Records of the whole table with each value.
    """

    groups: Ints
    values: Ints
    counts: Ints
    starts: Ints
    sizes: Ints
    totals: Ints


class Model(BaseModel):
    """What is required of a release, under the name and with the parameters of a privacy model.

    A model of what sensitive values tell has a parameter `sensitive`: the column that is meant, or None for each.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str

    option: ClassVar[str] = ""
    """The parameter by which it is asked for in short, such as k; "" where it has to be written out."""
    main: ClassVar[ByKind]
    """The parameter in whose unit it is told what a release reaches."""
    at_least: ClassVar[tuple[str, ...]] = ()
    """The parameters that are lower bounds; all others are upper ones."""
    called: ClassVar[ByKind]
    """The usual name, with parameters in braces: ``{kind} {l}-diversity``."""
    means: ClassVar[ByKind]
    """What it means, in a sentence or two."""
    means_in_slices: ClassVar[ByKind] = {}
    """The same of slices, where that differs."""
    means_in_screens: ClassVar[ByKind] = {}
    """The same of slices with generalised labels, where that differs further."""
    guards: ClassVar[tuple[Guard, ...]]
    """What it stops and what not, where kinds differ each for itself."""
    reference: ClassVar[str]
    """The paper."""
    is_relative: ClassVar[bool] = False
    """Whether a group is measured against the whole table."""
    needs_values: ClassVar[tuple[str, ...]] = ()
    """The kinds that a table with too few different values misses, whichever records are left out."""

    kind_in_slices: ClassVar[str] = ""
    """The kind that is meant of slices where none is named; "" where it is the same everywhere."""

    def meant_in_slices(self) -> Self:
        """The same as it is meant of slices: of the kind that is usual there, if none was named."""
        is_open = bool(self.kind_in_slices) and "kind" not in self.model_fields_set
        return self.model_copy(update={"kind": self.kind_in_slices}) if is_open else self

    @classmethod
    def is_about_values(cls) -> bool:
        """Whether it is about sensitive values, rather than about how many records look alike."""
        return "sensitive" in cls.model_fields

    @classmethod
    def titled(cls, kind: str, values: Mapping[str, str]) -> str:
        """The usual name with the parameters as they are written, such as ``5-anonymity``."""
        known = dict.fromkeys(cls.model_fields, "") | {"kind": kind} | dict(values)
        return of_kind(cls.called, kind).format_map(known).strip()

    @property
    def title(self) -> str:
        """The usual name with its parameters."""
        values = {n: v if isinstance(v, str) else f"{v:g}" for n, v in self if v is not None}
        return self.titled(values.get("kind", ""), values)

    @property
    def column(self) -> str | None:
        """The sensitive column that is named; None if each of them is meant, or none."""
        return getattr(self, "sensitive", None)

    @property
    def least_size(self) -> int:
        """The least number of records with which a group can meet it."""
        return 2

    @property
    def reads_hierarchies(self) -> bool:
        """Whether it matters to it how a hierarchy puts sensitive values together."""
        return False

    def covers(self, other: Model) -> bool:
        """Whether all that meets this meets the other one too, but for the size of groups."""
        return self == other

    def is_about_all_of(self, other: Model) -> bool:
        """Whether the columns that the other one is about are among those of this."""
        return self.column in (None, other.column)

    def bound(self, values: Values) -> Bound | None:
        """What the methods keep in every group; None where its size is all there is to keep.

        Raises
        ------
        PolicyError
            If the model does not suit the attribute.
        """
        return None

    def fails(self, counts: Counts) -> Mask:
        """Which groups fail, for a model that names no compiled formula.

        Of two groups that are joined, the union must not be worse than the worse of them: methods join those that fail.
        """
        raise NotImplementedError(f"{self.model} names no formula and has none of its own")


_MODELS: dict[str, type[Model]] = {}
_ANY: dict[tuple[type[Model], ...], TypeAdapter[Any]] = {}
M = TypeVar("M", bound=Model)


def register(model: type[M]) -> type[M]:
    """Make a model one that policies can require, under its name."""
    _MODELS[model.model_fields["model"].default] = model
    return model


def least_size(require: Iterable[Model]) -> int:
    """The least size of a class that requirements together ask for."""
    return max([2, *(required.least_size for required in require)])


def registered() -> dict[str, type[Model]]:
    """All models by name: those with a short option first, in its order, then by name."""
    return dict(sorted(_MODELS.items(), key=lambda m: (not m[1].option, m[1].option, m[0])))


def by_option() -> dict[str, type[Model]]:
    """The models that can be asked for in short, by the parameter."""
    return {m.option: m for m in registered().values() if m.option}


def of_kind(facts: ByKind, kind: str) -> str:
    """What is said of a kind."""
    return facts[kind] if kind in facts else facts.get("", "")


def _as_model(given: Any) -> Model:
    models = tuple(registered().values())
    if models not in _ANY:
        union: Any = reduce(or_, models)
        _ANY[models] = TypeAdapter(Annotated[union, Field(discriminator="model")])
    found: Model = _ANY[models].validate_python(given)
    return found


Requirement = Annotated[SerializeAsAny[Model], PlainValidator(_as_model)]
"""Any model that is registered by the time it is read, told by its key `model`."""
