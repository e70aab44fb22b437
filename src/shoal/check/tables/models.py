"""How the checker recomputes a privacy model: with formulas of its own, one file of this folder for each model.

The file has the name of the model, and registers a `Check` under it. Of the model it takes the parameters alone.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from shoal.arrays import Floats, Mask
from shoal.check.guarantee import Guarantee, Reached
from shoal.check.tables.classes import Classes
from shoal.check.tables.distribution import Distribution
from shoal.data.tables.attribute import Attribute
from shoal.errors import Infeasible, PolicyError
from shoal.models import Model

if TYPE_CHECKING:
    from shoal.check.slices.belief import Reading
    from shoal.check.slices.belief_words import Outcome
    from shoal.check.slices.posterior import Shares
    from shoal.check.tables.t_closeness import Distance

R = TypeVar("R", bound=Model)
C = TypeVar("C", bound="type[Check[Any]]")


class Held(NamedTuple):
    """The sensitive values of every class, as the distance reads them by which they are compared."""

    values: Distribution
    distance: Distance
    attribute: Attribute | None


class Believed(NamedTuple):
    """What an attacker believes of a sensitive value, in words: name and parameters of the model, and a predicate."""

    title: str
    required: dict[str, float]
    says: str
    kind: str = ""


class Check(Generic[R]):
    """One model, recomputed.

    Of classes of records that look alike, a model of sizes is asked by `of_sizes` and a model of sensitive values by
    `of_values`; of a table that is read in parts, by `reach_sizes` and `reach_values` of each part, which are put
    together and told by `tell_sizes` and `tell_values`. A model of values that has these needs no `of_values`: a whole
    table is one part. Of slices, sizes are compared with `least_rows`, and an
    attacker's beliefs by `of_beliefs`; a model that has no such formula cannot be shown for slices.
    """

    is_relative: ClassVar[bool] = True
    """Whether classes are compared with the whole table; as good as yes where the file does not say."""
    needs_known: ClassVar[bool] = False
    """Whether there is no worst case to take a missing value for that may hide any value."""

    def of_sizes(self, required: R, classes: Classes) -> Guarantee:
        """Recompute it from the number of records in every class."""
        raise self._missing(required)

    def of_values(self, required: R, classes: Classes, held: Held) -> Guarantee:
        """Recompute it from the sensitive values in every class."""
        if type(self).reach_values is Check.reach_values:
            raise self._missing(required)
        return self.tell_values(required, self.reach_values(required, classes, held), held.values.name, held.distance)

    def reach_sizes(self, required: R, classes: Classes) -> Reached:
        """What the number of records in every class reaches, to be put together with other parts of a table."""
        raise self._parted(required)

    def reach_values(self, required: R, classes: Classes, held: Held) -> Reached:
        """What the sensitive values in every class reach, to be put together with other parts of a table."""
        raise self._parted(required)

    def tell_sizes(self, required: R, reached: Reached) -> Guarantee:
        """The guarantee of all parts, as `of_sizes` tells that of a whole."""
        raise self._parted(required)

    def tell_values(self, required: R, reached: Reached, name: str, distance: Distance) -> Guarantee:
        """The guarantee of all parts, as `of_values` tells that of a whole, of the column of that name."""
        raise self._parted(required)

    def distance(self, required: R, attribute: Attribute | None) -> Distance:
        """The distance by which it compares values."""
        return "equal"

    def least_rows(self, required: R) -> int:
        """How many rows must fit a record equally well, as far as the model itself says so."""
        return 0

    def is_low_worse(self, required: R) -> bool:
        """Whether small numbers are the dangerous ones."""
        return False

    def of_beliefs(self, required: R, belief: Shares, reading: Reading, distance: Distance) -> tuple[Floats, Mask]:
        """What each distribution reaches, in the unit of the requirement, and whether it fails."""
        raise PolicyError(f"{required.model} cannot be shown for slices; publish in another way")

    def believed(self, required: R, outcome: Outcome, smallest: int, fails: bool) -> Believed:
        """The worst of these beliefs in words; `smallest` is the number of rows of the smallest group."""
        raise self._missing(required)

    @staticmethod
    def _parted(required: R) -> PolicyError:
        """What is said of a model whose file has no formula for parts of a table."""
        return PolicyError(
            f"{required.model} is not checked in parts, and the distinct rows do not fit into memory; raise memory"
        )

    @staticmethod
    def _missing(required: R) -> PolicyError:
        """What is said of a model whose file has not the formula that is asked for: then nothing is promised."""
        name = required.model
        return PolicyError(f"the checker has no formula for {name} of such a table, so it cannot be promised")


_CHECKS: dict[str, Check[Any]] = {}


def checks(model: str) -> Callable[[C], C]:
    """Make a class the check of the model of that name."""

    def register(check: C) -> C:
        _CHECKS[model] = check()
        return check

    return register


def check_of(required: Model) -> Check[Any]:
    """The check of a model, from the file of its name; without one nothing is promised."""
    name = required.model
    file = f"{__package__}.{name.replace('-', '_')}"
    if name not in _CHECKS and find_spec(file) is not None:
        import_module(file)
    if name not in _CHECKS:
        raise PolicyError(f"the checker has no formula for {name}, so it cannot be promised; add one to {__package__}")
    return _CHECKS[name]


def refuse_hidden(model: str, column: str) -> Infeasible:
    """What is said where a missing value may hide any, and the model cannot take it for the worst."""
    return Infeasible(
        f"{model} cannot be shown for column {column!r}, where missing values may hide any value; "
        'fill them, leave the records out, or set missing = "value"'
    )
