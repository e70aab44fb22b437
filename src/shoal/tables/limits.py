"""Limits on the sensitive values of each group, as plain arrays, for partition methods to keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints, Mask
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, count_codes, counted
from shoal.errors import PolicyError, did_you_mean
from shoal.kernels.tables import diversity
from shoal.kernels.tables.diversity import LimitArrays, counts_violating, groups_violating
from shoal.models.base import Counts, Model, least_size
from shoal.tables.encoding import Ranked, rank
from shoal.tables.persons import PersonCounts, broken_by_person
from shoal.tables.providers import ProviderRows, broken_by_coalition

OWN = -1
FORMULAS = {
    "": OWN,
    "distinct": diversity.DISTINCT,
    "probabilistic": diversity.PROBABILISTIC,
    "entropy": diversity.ENTROPY,
    "recursive": diversity.RECURSIVE,
    "share": diversity.ALPHA,
    "equal": diversity.EQUAL,
    "ordered": diversity.ORDERED,
    "hierarchical": diversity.HIERARCHICAL,
    "basic": diversity.BASIC,
    "enhanced": diversity.ENHANCED,
}
"""What a model of `shoal.models` may ask the methods to keep: one that compiled loops know, or its own formula."""


@dataclass(frozen=True)
class Limit:
    """One requirement on one sensitive attribute.

    Attributes
    ----------
    name : str
        The sensitive attribute.
    text : str
        The requirement, for messages.
    codes : int32 array (n_rows,)
        The sensitive value of each record, as its rank.
    counts : int64 array (n_values,)
        How many records of the whole table have each value; a block of records keeps those of the whole.
    model : int
        One of the constants of `shoal.kernels.tables.diversity`, or `OWN`.
    parameter, c : float
        l, t, alpha or beta; and the c of recursive (c, l)-diversity. Of records outside of providers, k and m.
    unknown : int
        Code of the missing value where it may stand for any value, else -1.
    ancestors : int32 array (n_values, height + 1), optional
        For the hierarchical distance, as in `Ranked`.
    own : Model, optional
        The requirement whose own formula is the limit.
    by_person : PersonCounts, optional
        Where persons count and not records: whose each record is, and how many persons have each value.
    weights : int32 array (n_rows,), optional
        How many records each row stands for; else each is one.
    by_provider : ProviderRows, optional
        Where it must hold of what is left without the rows of some providers too: whose each row is.
    """

    name: str
    text: str
    codes: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]
    model: int
    parameter: float
    c: float = 0.0
    unknown: int = -1
    ancestors: npt.NDArray[np.int32] | None = None
    own: Model | None = None
    by_person: PersonCounts | None = None
    weights: Codes | None = None
    by_provider: ProviderRows | None = None

    @property
    def n_values(self) -> int:
        """Number of sensitive values in the whole table, the missing one included."""
        return len(self.counts)

    def of_rows(self, rows: npt.NDArray[np.integer]) -> Limit:
        """The same limit for some of the records, still measured against the whole table."""
        by_person = None if self.by_person is None else self.by_person.of_rows(rows)
        by_provider = None if self.by_provider is None else self.by_provider.of_rows(rows)
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, codes=self.codes[rows], by_person=by_person, weights=weights, by_provider=by_provider)

    def among(self, rows: npt.NDArray[np.integer]) -> Limit:
        """The same limit for some of the records, measured against these alone: values that no other has are gone."""
        weights = None if self.weights is None else self.weights[rows]
        counts = count_codes(self.codes[rows], weights, self.n_values)
        used = counts > 0
        place = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
        codes = place[self.codes[rows]]
        by_person = (
            None if self.by_person is None else PersonCounts.of(self.by_person.persons[rows], codes, int(used.sum()))
        )
        by_provider = None if self.by_provider is None else self.by_provider.among(rows, codes)
        return replace(
            self,
            by_person=by_person,
            by_provider=by_provider,
            codes=codes,
            counts=counts[used],
            weights=weights,
            unknown=int(place[self.unknown]) if self.unknown >= 0 else -1,
            ancestors=None if self.ancestors is None else np.ascontiguousarray(self.ancestors[used]),
        )

    @property
    def is_relative(self) -> bool:
        """Whether a group is measured against the whole table, so that records left out elsewhere count for it."""
        return self.model > diversity.ALPHA if self.own is None else self.own.is_relative

    def broken_in(self, labels: npt.NDArray[np.integer], sizes: npt.NDArray[np.intp]) -> Mask:
        """Which groups fail by the requirement's own formula; `sizes` are their records, 0 or more."""
        pairs, counts = np.unique(labels.astype(np.int64) * self.n_values + self.codes, return_counts=True)
        groups, values = np.divmod(pairs[pairs >= 0], self.n_values)
        there, starts, group = np.unique(groups, return_index=True, return_inverse=True)
        broken = np.zeros(len(sizes), dtype=bool)
        if self.own is not None and len(there):
            broken[there] = self.own.fails(Counts(group, values, counts[pairs >= 0], starts, sizes[there], self.counts))
        return broken

    @property
    def fewest_values(self) -> Limit | None:
        """How many different values a group must hold, whatever else is asked of it; None if that is not known.

        With v values the most frequent has a share of at least 1 / v, the entropy is at most ln v, and r_l is 0 where v
        is below l. A group that holds enough values keeps them when others join it; what this is derived from may be
        lost by that.
        """
        if self.is_relative or self.own is not None:
            return None
        least = {diversity.ALPHA: 1 / self.parameter, diversity.OUTSIDE: self.c + 1}.get(self.model, self.parameter)
        # A bound may be weakened: 1 / alpha need not be exact, and entropies are compared with a margin.
        slack = 0.0 if self.model == diversity.DISTINCT else 1e-9
        return replace(self, model=diversity.DISTINCT, parameter=least * (1 - slack), by_person=None, by_provider=None)


def limits_of(
    requirements: Iterable[Model],
    sensitive: Sequence[Ranked] | Mapping[str, Ranked],
    missing: Literal["value", "any"] = "value",
) -> tuple[Limit, ...]:
    """Turn the required models of diversity into limits; a requirement that names no attribute holds for all.

    Parameters
    ----------
    requirements : iterable of Model
        What is about sizes alone, such as k-anonymity and the k of (alpha, k)-anonymity, is passed over.
    sensitive : sequence or mapping of Ranked
        The sensitive attributes. The order of ranks is the one of the ordered distance.
    missing : {"value", "any"}
        A missing value is a value of its own, or could be any: it then counts for none of the distinct
        values, and otherwise together with the most frequent one, which is the worst case.

    Raises
    ------
    PolicyError
        If a requirement names no sensitive attribute that there is, or its distance does not suit the
        attribute.
    """
    attributes = list(sensitive.values() if isinstance(sensitive, Mapping) else sensitive)
    found = []
    for requirement in requirements:
        if not requirement.is_about_values():
            continue
        if not attributes:
            raise PolicyError(f"{requirement.model} protects sensitive values; give a column the role sensitive")
        named = [r for r in attributes if requirement.column in (None, r.name)]
        if not named:
            hint = did_you_mean(str(requirement.column), [r.name for r in attributes])
            raise PolicyError(
                f"{requirement.model} names the column {requirement.column!r}, which is not sensitive; {hint}"
            )
        found += [limit for r in named if (limit := _limit(requirement, r, missing)) is not None]
    return tuple(found)


def limits_on_table(
    table: Table,
    require: Sequence[Model],
    attributes: Mapping[str, Attribute],
    sensitive: Sequence[str],
    missing: Literal["value", "any"],
    persons: Ints | None = None,
    providers: Ints | None = None,
    coalition: int = 1,
) -> tuple[Limit, ...]:
    """The limits of every requirement, on values in the order that its distance is about.

    With `persons`, whose each record is, the first limit is on their number, and the others count them. With
    `providers`, from whom each record is, one before it is on what is left without any `coalition` of them, and all
    others hold of what is left too. How many of these are about sizes, `n_of_sizes` says.

    Where rows stand for several records, each of these is another person's: to count records is to count persons.
    """
    limits: list[Limit] = []
    k = least_size(require)
    if providers is not None:
        limits.append(outside_limit(providers, k, coalition, persons))
    if persons is not None:
        limits.append(person_limit(persons, k) if table.weights is None else _one_each(len(persons), k))
    n_sizes = n_of_sizes(persons, providers)
    for requirement in require:
        is_flat = not requirement.reads_hierarchies
        meant = {n: replace(attributes[n], hierarchy=None) if is_flat else attributes[n] for n in sensitive}
        ranked = [rank(table[n], meant[n], by_sense=True) for n in sensitive]
        limits += limits_of([requirement], ranked, missing)
    if table.weights is not None:
        limits = [weighted(limit, table.weights) for limit in limits]
    if persons is not None and table.weights is None:
        limits[n_sizes:] = [
            replace(x, by_person=PersonCounts.of(persons, x.codes, x.n_values)) for x in limits[n_sizes:]
        ]
    if providers is not None:
        limits[1:] = [replace(x, by_provider=ProviderRows.of(x, providers, coalition)) for x in limits[1:]]
    return tuple(limits)


def n_of_sizes(persons: Ints | None, providers: Ints | None) -> int:
    """How many of the limits on a table, the first, are about sizes of groups, which are no secret."""
    return (persons is not None) + (providers is not None)


def weighted(limit: Limit, weights: Codes) -> Limit:
    """The same limit on rows that stand for several records."""
    return replace(limit, weights=weights, counts=count_codes(limit.codes, weights, limit.n_values))


def person_limit(persons: Ints, k: int) -> Limit:
    """At least k different persons in every group: (X, Y)-anonymity of Wang and Fung (KDD 2006), Y being the person."""
    codes = np.unique(persons, return_inverse=True)[1].astype(np.int32)
    text = f"groups with records of {k} persons"
    return Limit("", text, codes, np.bincount(codes).astype(np.int64), diversity.DISTINCT, float(k))


def _one_each(n_rows: int, k: int) -> Limit:
    """The same limit where every record is another person's: it holds wherever k records do, and stands in its place.

    A partition tries fewer cuts where there are limits, also where they are sure to hold.
    """
    return replace(person_limit(np.zeros(n_rows, dtype=np.int64), k), parameter=1.0)


def outside_limit(providers: Ints, k: int, coalition: int, persons: Ints | None = None) -> Limit:
    """At least k records in every group besides those of any so many providers: m-privacy of k-anonymity.

    With `persons`, so many persons; one with rows from two providers counts as two, so that this is necessary only.
    """
    noun, ancestors = "records", None
    keys = providers
    if persons is not None:
        width = int(persons.max(initial=0)) + 1
        keys, noun = providers * width + persons, "persons"
        pairs = np.unique(keys)
        ancestors = np.column_stack([np.arange(len(pairs)), pairs // width]).astype(np.int32)
    codes = np.unique(keys, return_inverse=True)[1].astype(np.int32)
    text = f"groups with {k} {noun} besides those of any {coalition} of the providers"
    counts = np.bincount(codes).astype(np.int64)
    return Limit("", text, codes, counts, diversity.OUTSIDE, float(k), float(coalition), ancestors=ancestors)


def _limit(requirement: Model, attribute: Ranked, missing: str) -> Limit | None:
    bound = requirement.bound(attribute)
    if bound is None:
        return None
    model = FORMULAS[bound.formula]
    text = bound.text or requirement.title
    unknown = attribute.n_values - 1 if missing == "any" and attribute.has_missing else -1
    if unknown >= 0 and (requirement.is_relative or model == OWN):
        raise PolicyError(
            f"{text} has no meaning where a missing value of {attribute.name!r} may be any value; "
            'set missing = "value", or leave out the records in which it is missing'
        )
    return Limit(
        name=attribute.name,
        text=text,
        codes=np.ascontiguousarray(attribute.ranks, dtype=np.int32),
        counts=np.bincount(attribute.ranks, minlength=attribute.n_values).astype(np.int64),
        model=model,
        parameter=float(bound.parameter),
        c=float(bound.c),
        unknown=unknown,
        ancestors=attribute.ancestors if model == diversity.HIERARCHICAL else None,
        own=requirement if model == OWN else None,
    )


def arrays_of(limits: Sequence[Limit], n_rows: int) -> LimitArrays:
    """Lay limits on n_rows records side by side, as the kernels take them; without those that they do not know."""
    limits = [limit for limit in limits if limit.own is None]
    below = [np.cumsum(limit.counts) for limit in limits]
    trees = [_tree(limit) for limit in limits]
    tree_sizes = [len(tree) for tree, _ in trees]
    codes = np.empty((len(limits), n_rows), dtype=np.int32)
    for j, limit in enumerate(limits):
        codes[j] = limit.codes
    return LimitArrays(
        codes=codes,
        models=np.array([limit.model for limit in limits], dtype=np.int64),
        parameters=np.array([(limit.parameter, limit.c) for limit in limits], dtype=np.float64).reshape(-1, 2),
        unknown=np.array([limit.unknown for limit in limits], dtype=np.int64),
        starts=np.cumsum([0] + [limit.n_values for limit in limits]).astype(np.int64),
        below=_joined(below, np.int64),
        below_sums=_joined([np.cumsum(b) for b in below], np.int64),
        heights=np.array([0 if t.ancestors is None else t.ancestors.shape[1] - 1 for t in limits], dtype=np.int64),
        tree_starts=np.cumsum([0] + tree_sizes)[: len(limits)].astype(np.int64),
        ancestors=_joined([tree for tree, _ in trees], np.int32),
        under=_joined([under for _, under in trees], np.int64),
        totals=np.array([limit.counts.sum() for limit in limits], dtype=np.int64),
    )


def _tree(limit: Limit) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Nodes above each value, and how many records of the whole table are under each of them."""
    if limit.ancestors is None:
        return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    under = np.empty(limit.ancestors.shape, dtype=np.int64)
    for h in range(limit.ancestors.shape[1]):
        nodes, node = np.unique(limit.ancestors[:, h], return_inverse=True)
        sums = np.zeros(len(nodes), dtype=np.int64)
        np.add.at(sums, node, limit.counts)
        under[:, h] = sums[node]
    return limit.ancestors.ravel(), under.ravel()


def _joined(parts: Sequence[npt.NDArray[Any]], dtype: type[Any]) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=dtype), *parts]).astype(dtype)


def violations(labels: npt.NDArray[np.integer], limits: Sequence[Limit]) -> npt.NDArray[np.bool_]:
    """Which groups 0 .. max(labels) violate any of the limits: by records, and by persons if it says whose these are.

    Records with a negative label are left out; a group without records violates nothing.
    """
    labels = np.asarray(labels)
    if any(limit.weights is not None for limit in limits):
        return np.asarray(np.any([_broken_by_weight(limit, labels) for limit in limits], axis=0))
    sizes = np.bincount(labels[labels >= 0])
    rows = np.argsort(labels, kind="stable")[len(labels) - int(sizes.sum()) :].astype(np.int32)
    broken = groups_violating(arrays_of(limits, len(labels)), rows, np.cumsum(sizes).astype(np.int64))
    for limit in limits:
        if limit.by_person is not None:
            broken |= broken_by_person(limit, labels, len(sizes))
        if limit.own is not None:
            broken |= limit.broken_in(labels, sizes)
        if limit.by_provider is not None:
            broken |= broken_by_coalition(limit, np.where(broken[labels], -1, labels), len(sizes))
    return broken


def _broken_by_weight(limit: Limit, labels: npt.NDArray[np.integer]) -> Mask:
    """Which groups violate a limit on rows that stand for several records, none of them left out."""
    assert limit.own is None, "its groups are joined by single records"
    assert limit.by_person is None, "whose records are put together is not told"
    keys, counts = counted(labels.astype(np.int64) * limit.n_values + limit.codes, limit.weights)
    groups, values = np.divmod(keys, limit.n_values)
    n_groups = int(labels.max()) + 1
    return counts_violating(
        arrays_of([limit], len(labels)),
        values.astype(np.int32),
        counts.astype(np.int32),
        np.cumsum(np.bincount(groups, minlength=n_groups)).astype(np.int64),
        count_codes(labels, limit.weights, n_groups),
    )
