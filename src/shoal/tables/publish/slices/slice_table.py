"""Bucketization, slicing and screening of a table: attribute partition x tuple partition x column generalisation x
which slices carry the sensitive attributes.

============  =====================================  ======================  =======================================
form          slices                                 sensitive attributes    quasi-identifiers
============  =====================================  ======================  =======================================
bucketize     all quasi-identifiers in one           in a slice of their own  as they are
slice         clusters of correlated attributes      in one slice            as they are
screen        clusters of correlated attributes      in every slice          generalised to regions of k rows or more
============  =====================================  ======================  =======================================

References
----------
S. R. Subramanian: Screening: Preserving the Sensitive Information during Data Mining; T. Li, N. Li, J. Zhang, I.
Molloy: Slicing, IEEE Transactions on Knowledge and Data Engineering 24(3), 2012; X. Xiao, Y. Tao: Anatomy, VLDB 2006.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from shoal.arrays import Codes, Ints, Rows
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import Layout
from shoal.data.tables.table import Column, Table, row_keys, spell
from shoal.engine.blocks import run_blocks
from shoal.errors import DataError, Infeasible, PolicyError
from shoal.models import Model
from shoal.tables.encoding import rank
from shoal.tables.groups import Groups
from shoal.tables.partition.base import refuse_infeasible
from shoal.tables.publish.generalise import generalise
from shoal.tables.publish.slices.bins import Bins, binned
from shoal.tables.publish.slices.buckets import not_by_persons, standing_in_the_way
from shoal.tables.publish.slices.columns import correlations, mean_square_contingency, placed, refuse_columns
from shoal.tables.publish.slices.permute import Permuted, number_buckets
from shoal.tables.publish.slices.plan import (
    SAMPLE_ROWS,
    Form,
    Plan,
    Records,
    best_plan,
    carry_out,
    fitted_buckets,
    is_violated,
    values_beside,
)
from shoal.tables.publish.slices.requirements import join_keys, limits_on
from shoal.tables.record_order import content_order, spellings

CORRELATED_ROWS = 200_000  # correlations are taken from so many evenly spaced records
TELLING = 0.5  # phi^2 from which on a column is said to tell another
COPYING = 0.95  # from which on it is refused, where records are enough to show it
ENOUGH_ROWS = 100


@dataclass(frozen=True)
class Sliced:
    """A table in slices, and the secrets that tie it to the original.

    Attributes
    ----------
    table : Table
        What would be published: the columns ``layout.names``; buckets ascending, and inside a bucket every slice in a
        random order of its own.
    layout : Layout
        Which columns stand together.
    rows : intp array (n_rows,)
        The rows of the given table, bucket by bucket, inside a bucket ascending. Secret. Published row j is **no**
        image of ``rows[j]``: it lies in the same bucket, and that is all.
    buckets : int32 array (n_rows,)
        The bucket of ``rows[j]``, from 0; published row j has the number ``buckets[j] + 1``. Secret.
    sources : tuple of intp arrays (n_rows,)
        Of each slice, the row of the given table whose content stands in each published row. Secret.
    notes : tuple of str
        What the user should know, a sentence each.
    """

    table: Table
    layout: Layout
    rows: Rows
    buckets: Codes
    sources: tuple[Rows, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class CutSlices:
    """A table in slices and buckets, before it is permuted.

    Attributes
    ----------
    table : Table
        What was given; a row may stand for several records, all of which are in its bucket.
    layout : Layout
        Which columns stand together.
    published : tuple of tuples of Column
        Of each slice the columns that are published, a row for each of the table's.
    buckets : int32 array (n_rows,)
        The bucket of each row, from 0, in the order in which they are published.
    notes : tuple of str
        What the user should know, a sentence each.
    """

    table: Table
    layout: Layout
    published: tuple[tuple[Column, ...], ...]
    buckets: Codes
    notes: tuple[str, ...]

    def permuted(self, seed: int | None) -> Permuted:
        """The slices in an order that a seed draws, or the operating system's entropy for want of one."""
        contents, spelled = _contents(self.published), [spellings(held) for held in self.published]
        return Permuted(self.buckets, contents, seed, self.table.weights, spelled)

    @property
    def number(self) -> Column:
        """The number of the bucket of each row, from 1."""
        return Column(self.layout.bucket, self.buckets, np.arange(1, int(self.buckets.max()) + 2))

    @property
    def columns(self) -> list[tuple[Column, ...]]:
        """The same columns as the published table calls them."""
        return [
            tuple(replace(c, name=n) for n, c in zip(s.columns, held, strict=True))
            for s, held in zip(self.layout.slices, self.published, strict=True)
        ]


def slice_table(table: Table, attributes: Mapping[str, Attribute], *, seed: int | None = None, **asked: Any) -> Sliced:
    """Publish a table in slices that are permuted within buckets; what else is asked, and raised, as by `cut_slices`.

    Parameters
    ----------
    seed : int, optional
        Of the permutations; None takes the operating system's entropy.
    """
    made = cut_slices(table, attributes, **asked)
    rows = np.argsort(made.buckets, kind="stable")
    sources = tuple(made.permuted(seed).rows())
    columns = [made.number.take(rows)]
    for held, order in zip(made.columns, sources, strict=True):
        columns += [c.take(order) for c in held]
    return Sliced(Table.of(columns, table.source), made.layout, rows, made.buckets[rows], sources, made.notes)


def cut_slices(
    table: Table,
    attributes: Mapping[str, Attribute],
    *,
    form: Form,
    k: int,
    require: Sequence[Model] = (),
    columns: int | Literal["best"] | Sequence[Sequence[str]] = "best",
    bucket_rows: int | Literal["best"] = "best",
    strict: bool = True,
    missing: Literal["value", "any"] = "value",
    ends: Literal["rounded", "exact"] = "exact",
    jointly: bool = False,
    block_rows: int = 100_000,
    executor: Executor | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    note: Callable[[str], None] | None = None,
    persons: Ints | None = None,
) -> CutSlices:
    """Choose slices, and put the records of a table into buckets.

    **Guarantee** every bucket has at least k rows; screening, every published combination of the quasi-identifiers of a
    slice stands in at least k rows of its bucket. For everyone who matches a bucket, the sensitive values that the
    bucket leaves possible, as likely as an attacker who joins the slices finds them, satisfy every requirement; so does
    their mixture over all buckets that match.

    **Not protected** who is in the table, where quasi-identifiers are published as they are (bucketize, slice);
    attackers who know sensitive values, or that some are impossible for a record; links that the joined slices leave
    between quasi-identifiers.

    Parameters
    ----------
    table : Table
        Rows in an order that no sensitive value decides, as `shoal.tables.record_order.secret_order` makes it: relaxed
        cuts break ties by it. The order of columns does not matter. Rows may stand for several records, unless cuts are
        relaxed, the form is "screen", or persons are given.
    attributes : mapping
        Type and role of every column; identifying ones are dropped.
    form : {"bucketize", "slice", "screen"}
    k : int
    require : sequence of Model
        Models of diversity; k-anonymity among them is passed over, as `k` is given.
    columns : int, "best" or sequence of sequences of str
        How many slices; "best" tries; or the slices themselves, each quasi-identifier in exactly one. Insensitive
        attributes that they do not name are put where they fit. Slicing puts the sensitive ones where one of them is
        named, else into a slice of their own; screening puts them into all.
    bucket_rows : int or "best"
        Screening: the least size of a bucket, if above k. Larger buckets leave room for finer regions.
    strict : bool
        Records of equal value are never parted by a cut; else cuts halve exactly.
    missing : {"value", "any"}
        A missing value is a value of its own, or could be any.
    ends : {"rounded", "exact"}
        Where the labels of ranges end, see `shoal.tables.publish.generalise`.
    jointly : bool
        Requirements that name no attribute hold for the combination of all sensitive values, not for each.
    persons : int64 array (n_rows,), optional
        Whose each record is, 0, 1, ..., where some have several: buckets then have k persons, each with all records.
        Not of screens: joined slices pair rows, also two of one person, so no count of rows is one of persons.

    Raises
    ------
    PolicyError
        If slices are not understood, or there is no sensitive attribute to put apart.
    Infeasible
        If a requirement cannot be met, by any buckets or with the slices asked for.
    """
    step = progress or (lambda *_: None)
    notes: list[str] = []

    def tell(text: str) -> None:
        notes.append(text)
        if note is not None:
            note(text)

    by_role: dict[str, list[str]] = {role: [] for role in ("quasi", "sensitive", "insensitive")}
    for name in sorted(table.names):
        by_role.setdefault(attributes[name].role, []).append(name)
    quasi, sensitive, insensitive = by_role["quasi"], by_role["sensitive"], by_role["insensitive"]
    ranked = {n: rank(table[n], attributes[n]) for n in quasi}
    assert table.weights is None or (strict and form != "screen" and persons is None), "records are parted"
    refuse_infeasible(list(ranked.values()), k, table.weights)
    if form == "screen":
        for name in quasi:
            _refuse_label_like(table[name], attributes[name])
    if not sensitive and form != "screen":
        raise PolicyError(f"to {form} a table puts sensitive values apart; give a column the role sensitive")
    records = Records(
        form,
        k,
        ranked,
        limits_on(table, attributes, sensitive, require, missing, jointly, persons),
        join_keys(table, sensitive),
        tuple(sensitive),
        bool(strict),
        missing,
        ends,
        persons,
        table.weights,
        _evenly(table, quasi, SAMPLE_ROWS) if form != "bucketize" else None,
    )
    if persons is not None and is_violated(records):
        raise not_by_persons(records.limits)
    step("choosing slices", 0, 0)
    plan, slices = _planned(table, attributes, records, insensitive, columns, bucket_rows, step)
    _refuse_undiverse(plan, records)
    for text in (*_shown_beside(plan, records), *_told_by_others(table, attributes, records, insensitive, slices)):
        tell(text)

    def run(job: Callable[..., Codes], blocks: Iterable[tuple[Any, ...]]) -> list[Codes]:
        return run_blocks(job, blocks, executor, lambda done, total: step("making buckets", done, total), tell)

    step("making buckets", 0, 0)
    buckets, regions = carry_out(plan, records, block_rows=block_rows, run=run)
    step("publishing slices", 0, 0)
    published = []
    for i, group in enumerate(slices):
        held = {n: table[n] for n in group}
        if regions is not None:
            groups = Groups.of(regions[i])
            for n in group:
                if n in ranked:
                    held[n] = generalise(
                        table[n], ranked[n], groups, attributes[n].hierarchy, missing=missing, ends=ends
                    )
        published.append([held[n] for n in group])
    numbered = number_buckets(buckets, _contents(published), table.weights)
    return CutSlices(table, Layout.of(slices), tuple(map(tuple, published)), numbered, tuple(notes))


def _planned(
    table: Table,
    attributes: Mapping[str, Attribute],
    records: Records,
    insensitive: list[str],
    columns: int | Literal["best"] | Sequence[Sequence[str]],
    bucket_rows: int | Literal["best"],
    step: Callable[[str, int, int], None],
) -> tuple[Plan, list[list[str]]]:
    """The plan, and its slices with insensitive attributes in them, sensitive ones last."""
    quasi, sensitive = sorted(records.ranked), list(records.sensitive)
    least = records.k if bucket_rows == "best" else max(records.k, int(bucket_rows))
    if isinstance(columns, str) and columns != "best":
        raise PolicyError(f'slices cannot be {columns!r}; give a number, "best", or lists of column names')
    if isinstance(columns, int) and (isinstance(columns, bool) or columns < 1):
        raise PolicyError(f"the number of slices must be at least 1, not {columns!r}")
    if records.form == "bucketize":
        if columns != "best":
            raise PolicyError(
                'bucketize has two slices, quasi-identifiers and sensitive values; use "slice" for others'
            )
        return Plan((tuple(quasi), tuple(sensitive)), least), [[*quasi, *insensitive], sensitive]

    names = [*quasi, *sensitive, *insensitive]
    bins = _binned(table, attributes, records, names)
    wide = _evenly(table, quasi, CORRELATED_ROWS)
    phi = correlations([replace(bins[n], codes=bins[n].codes[wide]) for n in names])
    if isinstance(columns, str | int):
        plan = best_plan(
            records, None if isinstance(columns, str) else columns, phi, names, bins,
            bucket_rows, lambda done, total: step("choosing slices", done, total),
        )  # fmt: skip
        slices, others = [list(s) for s in plan.slices], insensitive
    else:
        refuse_columns(columns, table.names, attributes)
        slices = _completed(columns, records)
        others = [n for n in insensitive if not any(n in s for s in slices)]
        known = {*quasi, *sensitive}
        plan = Plan(tuple(tuple(n for n in s if n in known) for s in slices), least)
        plan = fitted_buckets(plan, records, bins, bucket_rows)
    with_quasi = [i for i, s in enumerate(slices) if set(s) & set(quasi)]
    for i, filled in zip(with_quasi, placed([slices[i] for i in with_quasi], others, names, phi), strict=True):
        slices[i] = filled
    return plan, [[*(n for n in s if n not in sensitive), *(n for n in s if n in sensitive)] for s in slices]


def _binned(
    table: Table, attributes: Mapping[str, Attribute], records: Records, names: Sequence[str]
) -> dict[str, Bins]:
    return {
        n: binned(
            records.ranked[n] if n in records.ranked else rank(table[n], attributes[n], by_sense=True), table.weights
        )
        for n in names
    }


def _completed(columns: Sequence[Sequence[str]], records: Records) -> list[list[str]]:
    """The slices of the user with the sensitive attributes where the form puts them."""
    sensitive = list(records.sensitive)
    bare = [[n for n in group if n not in sensitive] for group in columns]
    if records.form == "screen":
        return [[*group, *sensitive] for group in bare if group]
    named = [i for i, group in enumerate(columns) if set(group) & set(sensitive)]
    if len(named) > 1:
        raise PolicyError(
            "the slices name sensitive columns in more than one; slicing keeps them together in one slice"
        )
    if not named:
        return [*bare, sensitive]
    bare[named[0]] += sensitive
    return bare


def _refuse_undiverse(plan: Plan, records: Records) -> None:
    """Refuse slices in which the values beside the sensitive ones tell too much in any buckets."""
    beside = values_beside(plan, records) if records.form == "slice" else None
    if beside is None:
        return
    n_in_way = standing_in_the_way(beside, records.limits, records.weights)
    if n_in_way:
        what = ", ".join(dict.fromkeys(f"{limit.text} of {limit.name!r}" for limit in records.limits))
        raise Infeasible(
            f"{n_in_way:,} records have quasi-identifiers beside their sensitive value that tell too much of it for "
            f"{what}, whatever the buckets; give the sensitive column a slice of its own, or bucketize"
        )


def _refuse_label_like(column: Column, attribute: Attribute) -> None:
    """Refuse codes that a reader would take for the beginning of codes: nobody could say whom it covers."""
    if not column.is_text or attribute.type != "prefix":
        return
    found = sum(text.endswith("*") for text in spell(column.values))
    if found:
        raise DataError(
            f"column {attribute.name!r} holds codes that read like the beginning of several ({found:,} end with *); "
            "respell them, or bucketize"
        )


def _shown_beside(plan: Plan, records: Records) -> list[str]:
    """Say where k alone leaves it open to see which sensitive value belongs to whom."""
    beside = [s for s in plan.slices if set(s) & set(records.sensitive) and set(s) & set(records.ranked)]
    is_shown = len(beside) > 1 if records.form == "screen" else bool(beside)
    if not is_shown or not records.unlimited:
        return []
    names = ", ".join(map(repr, records.unlimited))
    how = "joining the slices on it" if records.form == "screen" else "reading the slice that it stands in"
    return [
        f"Nothing but k is required of {names}, so whoever knows a record's quasi-identifiers may learn it for certain "
        f"by {how}; require l-diversity of it, or bucketize."
    ]


def _told_by_others(
    table: Table,
    attributes: Mapping[str, Attribute],
    records: Records,
    insensitive: Sequence[str],
    slices: Sequence[Sequence[str]],
) -> list[str]:
    """Say which insensitive columns go with one that their slice is to be kept apart from.

    One that all but equals a sensitive column would undo what is promised of that column, and is refused.
    """
    if not insensitive:
        return []
    rows = _evenly(table, list(records.ranked), CORRELATED_ROWS)
    bins = _binned(
        replace(table, weights=None).take(rows),
        attributes,
        replace(records, ranked={}),
        list(dict.fromkeys(n for s in slices for n in s)),
    )
    found = []
    for name in insensitive:
        beside = next(s for s in slices if name in s)
        # Beside generalised values of itself a column undoes them; elsewhere what stands in one slice is told anyway.
        others = [*records.ranked] if records.form == "screen" else [n for n in records.ranked if n not in beside]
        others += [n for n in records.sensitive if n not in beside]
        strength = {n: mean_square_contingency(bins[name], bins[n]) for n in others}
        told = [n for n, phi in strength.items() if phi >= TELLING]
        same = [n for n in told if n in records.sensitive and strength[n] >= COPYING]
        if same and table.n_records >= ENOUGH_ROWS:
            raise PolicyError(
                f"the insensitive column {name!r} all but equals the sensitive {same[0]!r} and would stand beside "
                "quasi-identifiers; give it the role sensitive, or drop it"
            )
        if told:
            found.append(
                f"The insensitive column {name!r} tells most of {', '.join(map(repr, told))}, from which its slice is "
                "kept apart or which is generalised, and is published as it is; give it that role, or drop it."
            )
    return found


def _evenly(table: Table, quasi: Sequence[str], n_most: int) -> Rows:
    """The rows of all records, or of so many that are evenly spaced in the order of their content.

    So they are the same records, however these came, and how many rows they are held as. They decide which slices are
    tried and taken, and not who stands where.
    """
    if table.n_records <= n_most:
        return np.arange(table.n_rows) if table.weights is None else np.repeat(np.arange(table.n_rows), table.weights)
    places = (np.arange(n_most) * table.n_records // n_most).astype(np.intp)
    order = content_order(table, quasi, table.names)
    if table.weights is None:
        return order[places]
    return order[np.searchsorted(np.cumsum(table.weights[order], dtype=np.int64), places, side="right")]


def _contents(published: Sequence[Sequence[Column]]) -> list[Ints]:
    """What stands in each slice of a row, as one number in the order of the contents."""
    return [row_keys(held) for held in published]
