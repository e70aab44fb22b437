"""Persons whose baskets are sought among published ones, and the published ones as an attacker holds them ready."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.attack import NO_OTHERS, Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.sparse.case import BasketCase
from shoal.data.sparse.records import Sparse

AT_ONCE = 256


@dataclass(frozen=True)
class OnBaskets(Attack[BasketCase]):
    """An attack on published baskets, which is compared on records that were not in the release.

    Attributes
    ----------
    n_attacks : int
        How many persons, of each side, of at least `least_items` items.
    """

    n_attacks: int = 4000

    needs_others = True
    unseen = 1
    least_items: ClassVar[int] = 1
    of_km: ClassVar[tuple[str, str]]
    """What is meant to stop it, and what to do, where records are k^m-anonymous and not dealt anew."""

    def fits(self, case: Any) -> bool:
        """Baskets, not sketches."""
        return isinstance(case, BasketCase)

    def missing(self, case: BasketCase) -> str | None:
        """It needs records that were not in the release."""
        return NO_OTHERS if case.control is None or not len(case.control) else None

    def run(self, case: BasketCase, rng: np.random.Generator) -> AttackResult:
        """Attack, and say what is meant to stop it."""
        assert case.control is not None
        found = self.compare(case.ready, (case.original, case.control), rng)
        if case.make == "pseudo":
            return found
        stopped_by, remedy = self.of_km
        return replace(found, stopped_by=stopped_by, remedy=remedy)

    @abstractmethod
    def compare(self, ready: Published, sides: tuple[Sparse, Sparse], rng: np.random.Generator) -> AttackResult:
        """Attack members and others."""

    def drawn(self, ready: Published, records: Sparse, rng: np.random.Generator) -> Any:
        """The items of the persons who are attacked, as a sparse matrix."""
        return matrix(records.take(draw_rows(records, self.n_attacks, self.least_items, rng)), ready.names)


class ByRate(OnBaskets):
    """One that succeeds with a person or does not."""

    sentence: ClassVar[str]
    """What came of it; `{main}` and `{control}`, in %, are filled in."""

    @abstractmethod
    def tried(self, ready: Published, records: Sparse, rng: np.random.Generator) -> tuple[Rate, dict[str, float]]:
        """How often it succeeds with persons of one side, and what else is told of that side."""

    def compare(self, ready: Published, sides: tuple[Sparse, Sparse], rng: np.random.Generator) -> AttackResult:
        """By the rates of both."""
        rates: list[Rate] = []
        details: dict[str, float] = {}
        for name, records in zip(("members", "others"), sides, strict=True):
            rate, told = self.tried(ready, records, rng)
            rates.append(rate)
            details |= {f"{what}_{name}": share for what, share in told.items()}
        main, control = rates
        sentence = self.sentence.format(main=100 * main.value, control=100 * control.value)
        return self.result(main, sentence, control=control, details=details)


def draw_rows(records: Sparse, n: int, least_size: int, rng: np.random.Generator) -> Ints:
    """Persons with at least so many items, drawn at random."""
    among = np.flatnonzero(records.sizes >= least_size)
    return np.sort(rng.choice(among, min(n, len(among)), replace=False))


@dataclass(frozen=True)
class Published:
    """Pseudo-baskets as sparse matrices over the items of published, original and other records.

    Attributes
    ----------
    names : list of str
        The items.
    held : sparse matrix (n_published, n_items)
        Ones.
    units : sparse matrix
        The same weighted by rarity, of unit length.
    rarity : float64 array
        log((1 + n) / (1 + holders)) + 1, by what is published.
    """

    names: list[str]
    held: Any
    units: Any
    across: Any
    rarity: Floats

    @classmethod
    def of(cls, case: BasketCase) -> Published:
        """Collect them."""
        sides = [case.published, case.original, *([] if case.control is None else [case.control])]
        names = sorted(set().union(*(side.names for side in sides)))
        held = matrix(case.published, names)
        counts = np.asarray(held.sum(axis=0)).ravel()
        rarity = np.log((1 + held.shape[0]) / (1 + counts)) + 1
        units = unit_rows(held, rarity)
        return cls(names, held, units, units.T.tocsr(), rarity)

    @property
    def counts(self) -> Floats:
        """How many published records hold each item."""
        return np.asarray(self.held.sum(axis=0), np.float64).ravel()


def matrix(records: Sparse, names: list[str]) -> Any:
    """Which record holds which item."""
    from scipy.sparse import csr_matrix

    place = {name: i for i, name in enumerate(names)}
    columns = np.array([place[name] for name in records.names], np.int64)[records.items]
    ones = np.ones(len(columns), np.float32)
    made = csr_matrix((ones, columns, records.starts), shape=(len(records), len(names)))
    made.sort_indices()
    return made


def unit_rows(held: Any, rarity: Floats) -> Any:
    """Rows weighted by rarity and scaled to length 1."""
    from scipy.sparse import diags

    weighted = (held @ diags(rarity)).tocsr()
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return (diags(1 / np.maximum(lengths, 1e-12)) @ weighted).tocsr().astype(np.float32)


def parts_of(held: Any, n_known: Ints, rng: np.random.Generator) -> Any:
    """So many items of each row, drawn at random, as a matrix of the same shape."""
    from scipy.sparse import csr_matrix

    sizes = np.diff(held.indptr)
    rows = np.repeat(np.arange(held.shape[0]), sizes)
    order = np.lexsort((rng.random(len(rows)), rows))
    rank = np.arange(len(rows)) - np.repeat(held.indptr[:-1], sizes)
    chosen = order[rank < np.repeat(n_known, sizes)]
    ones = np.ones(len(chosen), np.float32)
    return csr_matrix((ones, (rows[chosen], held.indices[chosen])), shape=held.shape)
