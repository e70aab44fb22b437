"""What all partitions share: what they refuse, how blocks are put together, and scikit-learn's manner."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from shoal.errors import DataError, Infeasible, PolicyError, did_you_mean
from shoal.tables.encoding import Ranked

Labels = npt.NDArray[np.int32]
Self = TypeVar("Self", bound="Partition")


def refuse_infeasible(ranked: Sequence[Ranked], k: int) -> None:
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
    if n_rows < size:
        raise Infeasible(f"there are {n_rows} records, fewer than k = {size}; lower k or add records")


def number_through(blocks: Sequence[npt.NDArray[np.int32]], parts: Iterable[Labels]) -> Labels:
    """The labels of all records from those of each block, numbered on from block to block."""
    labels = np.empty(sum(map(len, blocks)), dtype=np.int32)
    n_groups = 0
    for rows, part in zip(blocks, parts, strict=True):
        labels[rows] = part + n_groups
        n_groups += int(part.max()) + 1
    return labels


def rank_array(X: Any) -> list[Ranked]:
    """The columns of a 2-D array of numbers as attributes; nan is missing."""
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("the array holds more than numbers; give other columns as a list of Ranked") from None
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(f"an array of shape {array.shape} has no rows and columns; reshape it")
    ranked = []
    for j, column in enumerate(array.T):
        positions, ranks = np.unique(column, return_inverse=True)  # all nan become one value, the last
        has_missing = bool(np.isnan(positions[-1:]).any())
        ranked.append(Ranked(f"x{j}", "number", ranks.astype(np.int32), positions, has_missing=has_missing))
    return ranked


class Partition:
    """A partition in scikit-learn's manner, without scikit-learn: parameters as attributes, `fit`, `labels_`.

    There is no `transform`, on purpose: mapping new records onto old groups guarantees nothing.

    Attributes
    ----------
    labels_ : int32 array (n_rows,)
        The group of each record.
    n_features_in_ : int
        How many attributes the records had.
    """

    labels_: Labels
    n_features_in_: int

    def _label(self, ranked: Sequence[Ranked]) -> Labels:
        raise TypeError(f"{type(self).__name__} does not say how it groups records")

    def fit(self: Self, X: Any, y: object = None) -> Self:
        """Group the rows of a 2-D array of numbers (nan is missing), or the records of a list of `Ranked`."""
        is_ranked = isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(x, Ranked) for x in X)
        ranked: Sequence[Ranked] = X if is_ranked else rank_array(X)
        self.labels_ = self._label(ranked)
        self.n_features_in_ = len(ranked)
        return self

    def fit_predict(self, X: Any, y: object = None) -> Labels:
        """Group the records and return the group of each."""
        return self.fit(X).labels_

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self: Self, **params: Any) -> Self:
        """Change parameters by name."""
        for name, value in params.items():
            if name not in self.get_params():
                known = did_you_mean(name, self.get_params())
                raise PolicyError(f"{type(self).__name__} has no parameter {name!r}; {known}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({shown})"
