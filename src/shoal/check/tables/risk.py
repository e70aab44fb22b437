"""Risks of re-identification from the sizes of equivalence classes.

References ---------- K. El Emam, F. K. Dankar, "Protecting privacy using k-anonymity", Journal of the
American Medical Informatics Association 15(5), 2008: prosecutor and journalist. F. K. Dankar, K. El Emam,
"A method for evaluating marketer re-identification risk", EDBT/ICDT workshops 2010: marketer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.check.guarantee import number
from shoal.check.tables.cells import published
from shoal.check.tables.classes import Classes
from shoal.data.tables.table import MARKERS, Column, Table, row_keys
from shoal.errors import DataError

_EDGES = (1, 2, 3, 5, 10, 20, 50, 100)
BINS = ("1", "2", "3-4", "5-9", "10-19", "20-49", "50-99", "100+")


@dataclass(frozen=True)
class Risk:
    """How likely three attackers match records with the right owners; shares are between 0 and 1.

    Attributes
    ----------
    n_records, n_classes : int
        Of the table. Where persons count, they stand in the place of records, each in the smallest of its classes.
    n_unique, unique_share : int, float
        Records that are alone in their class, and their share of all records.
    k, n_below_k, below_k_share : int, int, float
        Records in classes of fewer than k records.
    prosecutor_highest, prosecutor_average : float
        The attacker knows that the record is in the table: 1 / class size at worst, and averaged over the
        records.
    journalist_highest, journalist_average : float
        The attacker does not know that: 1 / size of the class in the population.
    population_known : bool
        Whether a population was given. Without one, the journalist's and the marketer's risks are upper
        bounds.
    marketer : float
        The attacker matches all records at once: the expected share of right matches.
    records_by_class_size : dict
        Records in classes of size 1, 2, 3-4, 5-9, 10-19, 20-49, 50-99 and 100+.
    unit : {"record", "person"}
        What is counted.
    """

    n_records: int
    n_classes: int
    n_unique: int
    unique_share: float
    k: int
    n_below_k: int
    below_k_share: float
    prosecutor_highest: float
    prosecutor_average: float
    journalist_highest: float
    journalist_average: float
    population_known: bool
    marketer: float
    records_by_class_size: dict[str, int]
    unit: str = "record"

    @property
    def sentences(self) -> tuple[str, ...]:
        """The risks in plain words."""
        bound = "" if self.population_known else "at most "
        unknown = "" if self.population_known else ", as the population is not known"
        picked = "picks it" if self.unit == "record" else f"picks that {self.unit}"
        return (
            f"{self.n_unique:,} {self.unit}{'' if self.n_unique == 1 else 's'} of {self.n_records:,} "
            f"({_percent(self.unique_share)}) {'is' if self.n_unique == 1 else 'are'} unique by the quasi-identifiers; "
            f"{self.n_below_k:,} ({_percent(self.below_k_share)}) stand in groups of fewer than {self.k}.",
            f"An attacker who knows that a {self.unit} is in the table {picked} with a chance of "
            f"{_percent(self.prosecutor_highest)} at worst, {_percent(self.prosecutor_average)} on average.",
            f"One who does not know this picks the right one with a chance of {_percent(self.journalist_highest)} at "
            f"worst, {bound}{_percent(self.journalist_average)} on average{unknown}.",
            f"One who matches all {self.unit}s with a register gets {bound}{_percent(self.marketer)} of them right.",
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


def _percent(share: float) -> str:
    """Write a share; what is not nothing is not written as nothing.

    >>> _percent(0.5), _percent(0.123456), _percent(1e-9), _percent(1.0)
    ('50 %', '12.35 %', 'less than 0.01 %', '100 %')
    """
    return "less than 0.01 %" if 0 < share < 1e-4 else f"{number(round(100 * share, 2))} %"


def risk_of(classes: Classes, k: int = 5, population: Ints | None = None) -> Risk:
    """Sum up the risks of a table.

    Parameters
    ----------
    classes : Classes
        Of the published table, or of the original to see where it stands.
    k : int, default 5
        Records in smaller classes are counted.
    population : int64 array of n_classes, optional
        How many persons of the population share the quasi-identifiers of each class (`population_sizes`).
    """
    sizes = classes.sizes
    if not classes.is_one_each:
        return _of_persons(classes, k)
    return risk_of_sizes(sizes, np.ones(len(sizes), dtype=np.int64), k, population, noun=classes.noun)


def risk_of_sizes(sizes: Ints, n_of_size: Ints, k: int = 5, population: Ints | None = None, *, noun: str) -> Risk:
    """The same where records, or persons of one record each, are told by the sizes of classes alone.

    Parameters
    ----------
    sizes, n_of_size : int64 arrays
        Sizes of classes, and how many classes have each.
    noun : {"record", "person"}
        What is counted.
    """
    members, n_classes = sizes * n_of_size, int(n_of_size.sum())
    n = int(members.sum())
    unique, below = int(n_of_size[sizes == 1].sum()), int(members[sizes < k].sum())
    # A population of which the table is a part cannot have fewer; where it seems to, the bound stands.
    crowd = sizes if population is None else np.maximum(sizes, population)
    matched = float((members / crowd).sum()) / n
    in_bin = np.searchsorted(_EDGES, sizes, side="right") - 1
    per_bin = [int(members[in_bin == b].sum()) for b in range(len(BINS))]
    return _risk(
        (n, n_classes, unique, below),
        k,
        prosecutor_highest=1 / int(sizes.min()),
        prosecutor_average=n_classes / n,
        journalist_highest=1 / int(crowd.min()),
        journalist_average=matched,
        population_known=population is not None,
        marketer=matched,
        records_by_class_size=dict(zip(BINS, per_bin, strict=True)),
        unit=noun,
    )


def _risk(counts: tuple[int, int, int, int], k: int, **chances: Any) -> Risk:
    """From the numbers of records, of classes, of those that stand alone and of those in classes below k."""
    n, n_classes, n_unique, n_below = counts
    return Risk(n, n_classes, n_unique, n_unique / n, k, n_below, n_below / n, **chances)


def _of_persons(classes: Classes, k: int) -> Risk:
    """The same of persons: each is as safe as the record of it that fewest persons share."""
    assert classes.persons is not None
    crowd = np.full(classes.n_members, classes.n_rows, dtype=np.int64)
    np.minimum.at(crowd, classes.persons, classes.sizes[classes.ids])
    n, chance = len(crowd), float((1 / crowd).mean())
    n_unique, n_below = int((crowd == 1).sum()), int((crowd < k).sum())
    per_bin = np.bincount(np.searchsorted(_EDGES, crowd, side="right") - 1, minlength=len(BINS)).tolist()
    return _risk(
        (n, classes.n_classes, n_unique, n_below),
        k,
        prosecutor_highest=1 / int(crowd.min()),
        prosecutor_average=chance,
        journalist_highest=1 / int(crowd.min()),
        journalist_average=chance,
        population_known=False,
        marketer=chance,
        records_by_class_size=dict(zip(BINS, per_bin, strict=True)),
        unit="person",
    )


def population_sizes(classes: Classes, population: Table, *, markers: Sequence[str] = MARKERS) -> Ints:
    """Count the population's records that share the published quasi-identifiers of each class, with one sort.

    The population must be recoded as the table is: cells are matched by their text. A missing cell matches
    a missing one.
    """
    both: list[Column] = []
    for column in classes.columns:
        other = published(population[column.name], markers)
        both.append(_joined(column, classes.first, other))
    keys = row_keys(both)
    counts = np.bincount(keys[classes.n_classes :], minlength=int(keys.max()) + 1)
    sizes = counts[keys[: classes.n_classes]].astype(np.int64)
    if not sizes.any():
        raise DataError("the population has no record like any of the table; recode it as the table is recoded")
    return sizes


def _joined(column: Column, rows: Ints, other: Column) -> Column:
    """The cells of some rows, then those of another table's column, over one dictionary of texts."""
    texts = [*column.texts()[: len(column.values)], *other.texts()[: len(other.values)]]
    values, position = np.unique(np.array(texts, dtype=object), return_inverse=True)
    n_own = len(column.values)
    own = _recode(column.codes[rows], position[:n_own], len(values))
    theirs = _recode(other.codes, position[n_own:], len(values))
    return Column(column.name, np.concatenate([own, theirs]), values, (None,))


def _recode(codes: npt.NDArray[np.int32], position: npt.NDArray[np.intp], missing: int) -> npt.NDArray[np.int32]:
    table = np.append(position, missing).astype(np.int32)
    return table[np.minimum(codes, len(position))]
