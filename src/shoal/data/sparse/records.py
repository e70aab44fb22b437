"""Sparse records as flat arrays: few non-zero attributes (items, words) out of very many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Mask, Words
from shoal.data.ragged import count_codes, distinct, encode_labels, runs_of_rows, take_ragged
from shoal.data.strings.strings import symbol_keys
from shoal.errors import DataError

Weights = Ints | Floats

MOST_WEIGHT, LEAST_WEIGHT = 2.0**31, 2.0**-256
"""The largest and the smallest weight but 0, so that sums of integers stay exact and no square vanishes."""


@dataclass(frozen=True)
class SparseSource:
    """Where sparse records came from, and how they were read."""

    name: str = "records"
    format: str = "lists"  # lists | csr | baskets | svmlight | column | text | folder
    delimiter: str | None = None  # between items; None is white space
    gzip: bool = False
    notes: tuple[str, ...] = ()
    column: str | None = None  # of a table: the one with the items or the text
    class_column: str | None = None
    table: Literal["csv", "parquet"] | None = None  # what that table was
    reading: Mapping[str, Any] = field(default_factory=dict)  # of text: the vectoriser's choices; no vocabulary


@dataclass(frozen=True)
class WeightFacts:
    """What the form of records depends on: whether weights are whole, all 1, or some below 0; and their sum."""

    is_integral: bool
    is_binary: bool
    is_negative: bool
    total: float


@dataclass(frozen=True)
class Sparse:
    """Records with few non-zero attributes.

    Attributes
    ----------
    starts : int64 array (n_records + 1,)
        Record i is ``items[starts[i]:starts[i + 1]]`` with the weights at the same places.
    items : int32 array
        The non-zero attributes of all records, ascending and distinct within a record; an index into `names`.
    weights : int64 or float64 array
        Their values, never zero. Integers are kept as such: 1 for all where records are sets.
    names : tuple of str
        The attributes in ascending order. There may be more than occur.
    labels : int32 array (n_records,), optional
        The class of each record, an index into `classes`.
    classes : tuple of str
        The names of the classes in ascending order.
    source : SparseSource
        Where they came from.
    persons : int64 array (n_records,), optional
        Whose each record is; else every record is of another person.
    """

    starts: Ints
    items: Codes
    weights: Weights
    names: tuple[str, ...]
    labels: Codes | None = None
    classes: tuple[str, ...] = ()
    source: SparseSource = field(default_factory=SparseSource)
    persons: Ints | None = None

    @classmethod
    def of(
        cls,
        records: Iterable[Iterable[str | int]] | Iterable[Mapping[str | int, float]],
        labels: Sequence[str] | None = None,
        *,
        source: SparseSource | None = None,
    ) -> Sparse:
        """Encode lists (or sets) of items, or mappings from an item to its weight.

        A number as an item is the same as its spelling. An item that a list repeats counts once; for counts give
        mappings. Weights that are all whole numbers are integers.

        Raises
        ------
        DataError
            An item is neither text nor an integer, a weight is no usable number, or the labels do not match.

        Examples
        --------
        >>> records = Sparse.of([["milk", "bread"], [], ["milk"]])
        >>> records.names, records.items.tolist(), records.sizes.tolist()
        (('bread', 'milk'), [0, 1, 1], [2, 0, 1])
        """
        listed: list[Any] = list(records)
        kind: Any = Mapping if listed and isinstance(listed[0], Mapping) else (list, tuple, set, frozenset, np.ndarray)
        if isinstance(records, str) or not all(isinstance(record, kind) for record in listed):
            raise DataError("the records are not of one kind; give a list of lists of items, or of dicts of weights")
        starts = _starts_of(np.fromiter(map(len, listed), np.int64, len(listed)))
        codes, names = _number_items(listed, int(starts[-1]))
        weights = _plain_weights(listed, int(starts[-1])) if kind is Mapping else None
        made = assemble(starts, codes, names, weights, source=source)
        return made if labels is None else made.with_labels(labels)

    @classmethod
    def from_csr(cls, matrix: Any, labels: Sequence[str] | None = None, names: Sequence[str] | None = None) -> Sparse:
        """Take the rows of a sparse matrix of scipy as records.

        Parameters
        ----------
        matrix : sparse matrix or array
            Entries at the same place are added up; zeros are dropped.
        names : sequence of str, optional
            The attribute of each column; else the number of the column, from 0.
        """
        if not hasattr(matrix, "tocsr"):
            raise DataError("the matrix is not a sparse one of scipy; convert it with scipy.sparse.csr_array")
        rows = matrix.tocsr()
        if len(rows.shape) != 2 or rows.dtype.kind not in "buif":
            raise DataError("the sparse matrix is not one of real numbers in rows and columns; convert it")
        named = [str(j) for j in range(rows.shape[1])] if names is None else list(names)
        if len(named) != rows.shape[1]:
            raise DataError(f"there are {len(named)} names for {rows.shape[1]} columns; give one for each")
        if any(not isinstance(name, str) for name in named) or len(set(named)) < len(named):
            raise DataError("the names of the columns are not distinct texts; convert or rename them")
        weights = np.asarray(rows.data).astype(np.float64)
        made = assemble(
            np.asarray(rows.indptr).astype(np.int64),
            np.asarray(rows.indices).astype(np.int64),
            named,
            weights,
            source=SparseSource(name="matrix", format="csr"),
        )
        return made if labels is None else made.with_labels(labels)

    def to_csr(self) -> Any:
        """The records as a ``scipy.sparse.csr_array``, one column for each of `names` in their order."""
        from scipy.sparse import csr_array

        return csr_array(
            (np.ascontiguousarray(self.weights), self.items, self.starts), shape=(len(self), len(self.names))
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def n_records(self) -> int:
        """Number of records."""
        return len(self)

    @property
    def n_items(self) -> int:
        """Number of attributes: the dimensionality d."""
        return len(self.names)

    @property
    def supports(self) -> Ints:
        """The number of records that have each attribute."""
        return count_codes(self.items, len(self.names))

    @property
    def holders(self) -> Ints:
        """The number of persons who have each attribute; of records where each is of another person."""
        if self.persons is None:
            return self.supports
        return count_distinct(self.items, np.repeat(self.persons, self.sizes), len(self.names))

    @property
    def n_occurring(self) -> int:
        """The number of attributes that some record has."""
        return int(np.count_nonzero(self.supports))

    @property
    def sizes(self) -> Ints:
        """The number of non-zero attributes of each record."""
        return np.diff(self.starts)

    @property
    def is_integral(self) -> bool:
        """Whether the weights are whole numbers, so that sketches are too."""
        return self.weights.dtype.kind == "i"

    @cached_property
    def is_binary(self) -> bool:
        """Whether every weight is 1."""
        some = self.weights[:1] if self.weights.strides == (0,) else self.weights
        return self.is_integral and bool((some == 1).all())

    @property
    def squares(self) -> Floats:
        """The squared length of each record."""
        weights = self.weights if self.is_integral else self.weights.astype(np.float64)
        return self.sums(weights if self.is_binary else weights**2)

    def sums(self, values: npt.NDArray[Any]) -> Floats:
        """The sum over each record of one value an entry."""
        if values.dtype.kind in "iu" and np.abs(values).sum(dtype=np.float64) < 2**62:
            total = np.concatenate([np.zeros(1, np.int64), np.cumsum(values, dtype=np.int64)])
            return np.asarray(total[self.starts[1:]] - total[self.starts[:-1]], np.float64)
        # Differences of a running sum would carry the rounding of all records before.
        owners = np.repeat(np.arange(len(self)), self.sizes)
        return np.asarray(np.bincount(owners, weights=values, minlength=len(self)), np.float64)

    def item_keys(self) -> Words:
        """A 64-bit number for each attribute that depends on its name alone, not on the data it stands in."""
        return self._item_keys

    @cached_property
    def _item_keys(self) -> Words:
        return symbol_keys(self.names)

    def with_labels(self, labels: Sequence[str]) -> Sparse:
        """The same records with a class for each."""
        codes, classes = encode_labels(labels, len(self), "records")
        return replace(self, labels=codes, classes=classes)

    def with_persons(self, persons: Sequence[Any]) -> Sparse:
        """The same records, with whose each is: names or numbers, equal ones of one person.

        >>> Sparse.of([["a"], ["b"], ["a"]]).with_persons(["x", "x", "y"]).holders
        array([2, 1])
        """
        if len(persons) != len(self):
            raise DataError(f"there are {len(persons)} persons for {len(self)} records; give one for each record")
        return replace(self, persons=np.unique(np.asarray(persons), return_inverse=True)[1].astype(np.int64))

    def joined(self) -> Sparse:
        """One record for each person, and class where there are some: the items of all records of theirs, as a set.

        >>> visits = Sparse.of([["a", "b"], ["b"], ["a", "c"]]).with_persons(["x", "y", "x"])
        >>> visits.joined().items.tolist(), visits.joined().sizes.tolist()
        ([0, 1, 2, 1], [3, 1])
        """
        if self.persons is None:
            return self
        labels = np.zeros(len(self), np.int64) if self.labels is None else self.labels.astype(np.int64)
        keys = labels * (int(self.persons.max(initial=0)) + 1) + self.persons
        _, firsts, owner = np.unique(keys, return_index=True, return_inverse=True)
        entries = np.unique(np.repeat(owner.astype(np.int64), self.sizes) * max(self.n_items, 1) + self.items)
        rows, items = np.divmod(entries, max(self.n_items, 1))
        return replace(
            self,
            starts=np.searchsorted(rows, np.arange(len(firsts) + 1)).astype(np.int64),
            items=items.astype(np.int32),
            weights=np.ones(len(items), np.int64),
            labels=None if self.labels is None else self.labels[firsts],
            persons=None,
        )

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Sparse:
        """Some of the records, in the given order; attributes and classes are shared."""
        starts, (items, weights) = take_ragged(self.starts, rows, self.items, self.weights)
        return replace(
            self,
            starts=starts,
            items=items,
            weights=weights,
            labels=None if self.labels is None else self.labels[rows],
            persons=None if self.persons is None else self.persons[rows],
        )


def ones(n: int) -> Ints:
    """The weights of sets: so many ones, which take no memory; not to be written to."""
    return np.broadcast_to(np.ones(1, np.int64), n)


def count_distinct(keys: npt.NDArray[np.integer[Any]], values: npt.NDArray[np.integer[Any]], n_keys: int) -> Ints:
    """How many different values stand with each key, from 0 to below `n_keys`."""
    width = int(values.max(initial=0)) + 1
    pairs = distinct(keys.astype(np.int64) * width + values)
    return np.bincount(pairs // width, minlength=n_keys)


def assemble(
    starts: Ints,
    codes: npt.NDArray[np.integer[Any]],
    names: Sequence[str],
    weights: Floats | None = None,
    *,
    repeats: Literal["once", "sum"] = "once",
    source: SparseSource | None = None,
) -> Sparse:
    """Build records from entries in any order: sort items and names, join repeated items, drop zeros.

    Parameters
    ----------
    codes : integer array
        The item of each entry, an index into `names`.
    names : sequence of str
        Distinct, in any order.
    weights : float64 array, optional
        The weight of each entry; those of a repeated item are added up. Else an entry is an occurrence.
    repeats : {"once", "sum"}
        Whether an item that occurs more than once in a record, without weights, gets the weight 1 or its count.
    """
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    if weights is not None:
        refuse_weights(weights, starts)
    found = [
        _settled_run(
            np.diff(starts[low : high + 1]),
            place[codes[starts[low] : starts[high]]],
            None if weights is None else weights[starts[low] : starts[high]],
            max(1, len(names)),
            low,
        )
        for low, high in runs_of_rows(starts)
    ]
    counts = np.concatenate([np.zeros(0, np.int64), *(f[2] for f in found)])
    settled: Weights = ones(len(counts)) if repeats == "once" else counts
    if weights is not None:
        settled = whole_or_real(counts)
    return Sparse(
        _starts_of(np.concatenate([np.zeros(0, np.int64), *(f[0] for f in found)])),
        np.concatenate([np.zeros(0, np.int32), *(f[1] for f in found)]),
        settled,
        tuple(names[i] for i in order),
        source=source or SparseSource(),
    )


def _settled_run(
    sizes: Ints, items: Ints, weights: Floats | None, width: int, first: int
) -> tuple[Ints, Codes, Weights]:
    """The sizes of some records, the first of which has the number `first`; their items; and weights, or counts."""
    keys = np.repeat(np.arange(len(sizes)), sizes) * width + items
    is_new = np.ones(len(keys), dtype=bool)
    if len(keys) and not (keys[1:] > keys[:-1]).all():
        by_key = np.argsort(keys, kind="stable")
        keys = keys[by_key]
        np.not_equal(keys[1:], keys[:-1], out=is_new[1:])
        weights = None if weights is None else weights[by_key]
    firsts = np.flatnonzero(is_new)
    keys = keys[firsts]
    settled: Weights
    if weights is None:
        settled = np.diff(np.append(firsts, len(is_new)))
    else:
        joined = np.add.reduceat(weights, firsts) if len(firsts) else weights
        refuse_weights(joined, np.searchsorted(keys, np.arange(len(sizes) + 1) * width), first)
        keys, settled = keys[joined != 0], joined[joined != 0]
    owners, own = np.divmod(keys, width)
    return np.bincount(owners, minlength=len(sizes)), own.astype(np.int32), settled


def refuse_weights(weights: Floats, starts: Ints, first: int = 0) -> None:
    """Refuse weights that are not finite, too large or too small; the message has the number of the record.

    `first` is how many records stand before these.
    """
    usable = usable_weights(weights)
    if not usable.all():
        row = first + int(np.searchsorted(starts, int(np.argmin(usable)), side="right"))
        raise DataError(f"record {row}: a weight is {UNUSABLE}")


UNUSABLE = "no finite number between 2**-256 and 2**31 in size; leave it out, or scale the weights"
"""What is wrong with a weight that is not usable."""


def usable_weights(weights: Floats) -> Mask:
    """Which weights are 0 or within the bounds; nan is not."""
    sizes = np.abs(weights)
    return np.asarray((sizes <= MOST_WEIGHT) & ((sizes >= LEAST_WEIGHT) | (sizes == 0)))


def whole_or_real(weights: Floats) -> Weights:
    """The weights as integers where all are whole numbers."""
    return weights.astype(np.int64) if bool((weights == np.rint(weights)).all()) else weights


def _starts_of(sizes: Ints) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _number_items(records: list[Any], n_entries: int) -> tuple[Codes, list[str]]:
    try:
        distinct = set(chain.from_iterable(records))
    except TypeError:
        distinct = {None}
    if any(not isinstance(item, str | int | np.integer) or isinstance(item, bool) for item in distinct):
        raise DataError("an item is neither text nor an integer; convert items with str")
    names: dict[str, int] = {}
    code_of = {item: names.setdefault(str(item), len(names)) for item in distinct}
    return np.fromiter(map(code_of.__getitem__, chain.from_iterable(records)), np.int32, n_entries), list(names)


def _plain_weights(records: list[Mapping[Any, Any]], n_entries: int) -> Floats:
    kinds = set(map(type, chain.from_iterable(record.values() for record in records)))
    if not all(issubclass(kind, int | float | np.integer | np.floating | np.bool_) for kind in kinds):
        raise DataError("a weight is not a number; convert weights with float")
    try:
        return np.fromiter(chain.from_iterable(record.values() for record in records), np.float64, n_entries)
    except OverflowError:
        raise DataError(f"a weight is {UNUSABLE}") from None
