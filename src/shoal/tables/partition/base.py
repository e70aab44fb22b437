"""What all partitions share: how they register, what they refuse, how blocks are put together, scikit-learn's manner.

A partition is one file in this folder, and its compiled loops in `shoal.kernels.tables`. The file registers a
`PartitionMethod` with `PARTITIONS`, which is what policy, report, command line and sweep know of it. No loop
must be compiled to read a policy, so such a file imports kernels inside its functions.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes
from shoal.errors import DataError, Infeasible, PolicyError
from shoal.estimator import Estimator, UnusableParameter
from shoal.registry import Registry
from shoal.tables.encoding import Ranked

if TYPE_CHECKING:
    from shoal.kernels.tables.mdav import MixedPoints
    from shoal.kinds.tables.policy import Method
    from shoal.tables.limits import Limit
    from shoal.tables.partition.full_domain import Recoding

Self = TypeVar("Self", bound="Partition")
Run = Callable[[Callable[..., Codes], Iterable[tuple[Any, ...]]], list[Codes]]


class GroupRecords(Protocol):
    """A partition as a function: it puts records into groups of at least k, or refuses."""

    def __call__(self, ranked: Sequence[Ranked], k: int) -> Codes:
        """Partition records.

        Parameters
        ----------
        ranked : sequence of Ranked
            The quasi-identifiers; their order does not matter.
        k : int
            Smallest size of a group, 2 at least.

        Returns
        -------
        int32 array (n_rows,)
            The group of each record, from 0. Where ties go by the number of a row, the caller puts the rows into an
            order that depends on their content only.

        Raises
        ------
        PolicyError
            If k is not an integer of 2 or more, or another parameter has no meaning.
        Infeasible
            If there are fewer than k records.
        DataError
            If there are no attributes, or of different lengths, or a number is infinite.
        """


@dataclass(frozen=True)
class GroupingTask:
    """What a partition is asked to group.

    Attributes
    ----------
    ranked : sequence of Ranked
        The quasi-identifiers, without the spelling of their values.
    k : int
        Smallest size of a group.
    method : Method
        What the policy says of the method, such as ``strict`` and ``block_rows``.
    limits : sequence of Limit
        On sensitive values; a partition need not keep them, for groups that do not are mended afterwards.
    run : callable
        Calls a function with each tuple of arguments, here or elsewhere.
    note : callable
        Takes a sentence for the user.
    weights : int32 array (n_rows,), optional
        How many records each row stands for, where the method `takes_weights`.
    """

    ranked: Sequence[Ranked]
    k: int
    method: Method
    limits: Sequence[Limit]
    run: Run
    note: Callable[[str], None]
    weights: Codes | None = None


def never(method: Method) -> bool:
    """No."""
    return False


def always(method: Method) -> bool:
    """Yes."""
    return True


def no_words(method: Method) -> Mapping[str, str]:
    """Nothing."""
    return {}


FEW_COLUMNS = 10
"""How many columns `PartitionMethod.few_records` is meant for; of more columns fewer records are few."""


@dataclass(frozen=True)
class PartitionMethod:
    """A partition as a policy names it.

    Attributes
    ----------
    name : str
        Such as "mdav".
    help : str
        What it does, in a line.
    reference : str
        The paper that it is from.
    labels : callable, optional
        Groups the records of a `GroupingTask`: the group of each, from 0. It is given for a method that asks for more
        than quasi-identifiers and k; one of these three says how others group them.
    at_once : callable, optional
        How it groups all records, however many they are.
    by_widths : callable, optional
        How it groups all records, if it aims at narrow groups: of more than `block_rows`, those of a block.
    recoding : callable, optional
        In its place, for one recoding of all records: with the parameters of `datafly_recoding`.
    publication : str
        What is published in place of a group where the policy does not say.
    is_searched : bool
        Of a recoding: whether the one of least loss is searched for.
    words : callable
        What the report says of its own parameters, by a heading each.
    keeps_limits : bool
        Whether its groups keep the limits on sensitive values, so that none needs to be mended.
    takes_weights : callable
        Whether it never parts equal records, with these parameters, so that a row may stand for several.
    by_squares : callable, optional
        How it groups points, if it aims at the least sum of squares: of more than `block_rows`, a near-linear way takes
        its place; in ranges along a curve, more records can then be grouped than fit into memory.
    proposed_for : {"numbers", "others"}, optional
        Where `shoal profile` tries it: all quasi-identifiers are numbers or dates, or some are not.
    most_records : int, optional
        Of more it would take more than about half a minute (a core of 2025; measured at 300,000 records).
    few_records : int, optional
        Up to how many records, of `FEW_COLUMNS`, a release as it publishes by itself takes about as long interpreted
        as when what was compiled before is loaded (measured on invented records of the shape of Adult).
    place : int
        Where it stands in lists.
    """

    name: str
    help: str
    reference: str
    labels: Callable[[GroupingTask], Codes] | None = None
    recoding: Callable[..., Recoding] | None = None
    publication: str = "generalise"
    is_searched: bool = False
    words: Callable[[Method], Mapping[str, str]] = no_words
    keeps_limits: bool = False
    takes_weights: Callable[[Method], bool] = never
    at_once: GroupRecords | None = None
    by_widths: GroupRecords | None = None
    by_squares: Callable[[MixedPoints, int], Codes] | None = None
    proposed_for: Literal["numbers", "others"] | None = None
    most_records: int | None = None
    few_records: int = 0
    place: int = 100

    @property
    def is_recoding(self) -> bool:
        """Whether all records get the same recoding, rather than each group its own label."""
        return self.recoding is not None

    def group(self, task: GroupingTask) -> Codes:
        """The group of each record of a task, from 0."""
        if self.labels is not None:
            return self.labels(task)
        if self.at_once is not None:
            return self.at_once(task.ranked, task.k)
        from shoal.tables.blocks import group_in_blocks

        return group_in_blocks(task, self)


PARTITIONS: Registry[PartitionMethod] = Registry("shoal.tables.partition")


def usually_narrowest(*, is_numeric: bool) -> PartitionMethod:
    """The method that usually loses least, where all quasi-identifiers are numbers or dates or some are not."""
    fitting = "numbers" if is_numeric else "others"
    return next(p for p in PARTITIONS.values() if p.proposed_for == fitting)


def refuse_infeasible(ranked: Sequence[Ranked], k: int, weights: Codes | None = None) -> None:
    """Refuse what no partition can group: k below 2 or above the number of records, no columns, infinite values."""
    try:
        size = operator.index(k)
    except TypeError:
        size = 0
    if size < 2 or isinstance(k, bool):
        raise PolicyError(
            f"k must be a whole number of at least 2, not {k!r}; it says how many records hide each other"
        )
    if not ranked:
        raise DataError("there is no quasi-identifier to group by; name the columns that others may know")
    n_rows = len(ranked[0].ranks)
    for attribute in ranked:
        if len(attribute.ranks) != n_rows:
            raise DataError(
                f"column {attribute.name!r} has {len(attribute.ranks)} records and "
                f"{ranked[0].name!r} has {n_rows}; give all the same number"
            )
        if np.isinf(attribute.positions).any():
            raise DataError(f"column {attribute.name!r} holds an infinite value; replace it, or make it missing")
    if weights is not None:
        n_rows = int(weights.sum(dtype=np.int64))
    if n_rows < size:
        raise Infeasible(f"there are {n_rows} records, fewer than k = {size}; lower k or add records")


def number_through(blocks: Sequence[Codes], parts: Iterable[Codes]) -> Codes:
    """The labels of all records from those of each block, numbered on from block to block."""
    labels = np.empty(sum(map(len, blocks)), dtype=np.int32)
    n_groups = 0
    for rows, part in zip(blocks, parts, strict=True):
        labels[rows] = part + n_groups
        n_groups += int(part.max()) + 1
    return labels


class UnusableArray(DataError, ValueError):
    """What `fit` cannot group by; a ValueError too, as scikit-learn's tools expect."""


class UnusableCells(DataError, TypeError):
    """An array with cells that are not numbers; a TypeError too, as scikit-learn's tools expect."""


class TooFewRecords(Infeasible, ValueError):
    """Fewer records than hide each other; a ValueError too."""


def rank_array(X: Any) -> list[Ranked]:
    """The columns of a 2-D array of numbers, or of a frame of them, as attributes; nan is missing."""
    if hasattr(X, "toarray"):
        raise UnusableArray("a sparse array has no groups of near records here; give a dense one, X.toarray()")
    array = X if isinstance(X, np.ndarray) else np.asarray(X)
    if array.dtype.kind == "c":
        raise UnusableArray("Complex data not supported: give the real and the imaginary parts as two columns")
    try:
        array = np.asarray(array, dtype=np.float64)
    except ValueError:
        raise UnusableArray("the array holds more than numbers; give other columns in a frame") from None
    except TypeError:
        raise UnusableCells(
            "the array holds more than numbers, and each cell of the argument must be a string or a number; "
            "give other columns in a frame"
        ) from None
    if array.ndim != 2:
        raise UnusableArray(f"an array of shape {array.shape} has no rows and columns; reshape it")
    if array.shape[1] == 0:
        raise UnusableArray(f"the array has 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    names = feature_names(X)
    ranked = []
    for j, column in enumerate(array.T):
        positions, ranks = np.unique(column, return_inverse=True)  # all nan become one value, the last
        has_missing = bool(np.isnan(positions[-1:]).any())
        name = f"x{j}" if names is None else str(names[j])
        ranked.append(Ranked(name, "number", ranks.astype(np.int32), positions, has_missing=has_missing))
    return ranked


def rank_frame(X: Any) -> list[Ranked]:
    """The columns of a frame as attributes: numbers as such, others by the type that `shoal profile` would guess."""
    from shoal.data.tables.frames import from_frame
    from shoal.data.tables.meaning import attributes_of
    from shoal.data.tables.ordered_column import OrderedColumn
    from shoal.kinds.tables.policy import ColumnPolicy, Policy
    from shoal.tables.encoding import rank

    table = from_frame(X)
    numbers = [n for n, c in table.columns.items() if c.values.dtype.kind in "if" and not isinstance(c, OrderedColumn)]
    attributes = attributes_of(table, Policy(columns={name: ColumnPolicy(type="continuous") for name in numbers}))
    return [rank(column, attributes[name]) for name, column in table.columns.items()]


def feature_names(X: Any) -> npt.NDArray[np.object_] | None:
    """The names of the columns, if they have any and all are texts."""
    names = list(getattr(X, "column_names", getattr(X, "columns", ())))  # the former of arrow
    return np.array(names, dtype=object) if names and all(isinstance(name, str) for name in names) else None


_K = """\
Parameters
----------
k : int, default 5
    Smallest size of a group.

"""
_SHARED = """\
Attributes
----------
labels_ : int32 array (n_rows,)
    The group of each record, from 0.
n_features_in_ : int
    How many attributes the records had.
feature_names_in_ : object array, one name a column
    Their names; only where they have any.

"""


class Partition(Estimator):
    """A partition in scikit-learn's manner, without scikit-learn: parameters as attributes, `fit`, `labels_`.

    It passes for one of scikit-learn's clusterers, and for `check_estimator`, where that is installed. There is no
    `transform` and no `predict`, on purpose: mapping new records onto old groups guarantees nothing.

    A class of its own says its `grouping`, which takes the parameters by name, and has a docstring to which the
    attributes, and k if it is the one parameter, are added.

    Parameters
    ----------
    k : int, default 5
        Smallest size of a group.
    """

    grouping: ClassVar[Callable[..., Codes]]
    labels_: Codes
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]

    def __init__(self, k: int = 5) -> None:
        self.k = k

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__doc__ is not None:  # there is none under python -OO
            head, notes, tail = inspect.cleandoc(cls.__doc__).partition("Notes\n-----\n")
            parameters = "" if "Parameters\n---" in head else _K
            cls.__doc__ = f"{head.rstrip()}\n\n{parameters}{_SHARED}{notes}{tail}"

    def _rank(self, X: Any) -> list[Ranked]:
        is_mixed = hasattr(X, "columns") and np.asarray(X).dtype.kind not in "biufc"
        return rank_frame(X) if is_mixed else rank_array(X)

    def fit(self: Self, X: Any, y: object = None) -> Self:
        """Group the rows of a 2-D array of numbers (nan is missing), or of a frame.

        Parameters
        ----------
        X : array (n_rows, n_columns), frame of pandas, polars or arrow, or list of `Ranked`
            The quasi-identifiers. Columns of a frame that are no numbers count by their guessed type: dates, ordered
            categories, codes with prefixes, plain categories. For hierarchies, give `shoal.tables.encoding.rank` the
            columns and pass on what it returns.
        y : ignored

        Raises
        ------
        PolicyError, DataError, Infeasible
            Where a parameter has no meaning, X cannot be grouped by, or has fewer than k records. All are of a kind
            that is a ValueError, or a TypeError for cells that are not numbers, too.
        """
        is_ranked = isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(x, Ranked) for x in X)
        names = np.array([x.name for x in X], dtype=object) if is_ranked else feature_names(X)
        try:
            ranked: Sequence[Ranked] = X if is_ranked else self._rank(X)
            labels = type(self).grouping(ranked, **self.get_params())
        except Infeasible as error:
            raise TooFewRecords(f"{error} (n_samples = {len(ranked[0].ranks)})") from None
        except PolicyError as error:
            raise UnusableParameter(str(error)) from None
        except DataError as error:
            raise (error if isinstance(error, TypeError) else UnusableArray(str(error))) from None
        self.labels_ = labels
        self.n_features_in_ = len(ranked)
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def fit_predict(self, X: Any, y: object = None) -> Codes:
        """Group the records and return the group of each."""
        return self.fit(X).labels_

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn wants to know; asked for by it alone, so it is there."""
        sklearn = import_module("sklearn.utils")
        numbers = sklearn.InputTags(allow_nan=True)
        return sklearn.Tags("clusterer", sklearn.TargetTags(required=False), input_tags=numbers)
