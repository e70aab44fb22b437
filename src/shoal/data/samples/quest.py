"""Synthetic baskets of the IBM Quest group's generator, for the demo, tests, benchmarks and reproductions.

R. Agrawal and R. Srikant, Fast algorithms for mining association rules, VLDB 1994, section 2.4.3: transactions are
filled from a pool of itemsets that overlap, differ in weight, and are put in with some items dropped. The program that
the group gave away does not follow the paper in all points, so there are two conventions:

============================  ============================  ==================================
\\                             paper                         program
============================  ============================  ==================================
sizes, of both                Poisson(mean)                 1 + Poisson(mean - 1)
a random item                 uniform, new to the itemset   by exponential weights, may repeat
itemsets                      2,000                         10,000
correlation                   0.5                           0.25
corruption, mean and spread   0.5, variance 0.1             0.25, deviation 0.1
============================  ============================  ==================================

What neither settles, or what is done in another way here: a size of 0 makes an itemset of 1 item; an itemset that is
kept for the next transaction is corrupted anew there, as in the program; a transaction without items is not counted, so
there are exactly as many as asked for; a transaction that 1,000 itemsets in turn brought nothing new ends short.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.data.sparse.records import Sparse, SparseSource
from shoal.data.strings.strings import Strings, StringSource
from shoal.engine.seeds import spawn_seeds
from shoal.errors import PolicyError

Convention = Literal["paper", "program"]

_MEAN = r"([0-9]+(?:\.[0-9]+)?)"
_NAME = re.compile(rf"([TVCQ]){_MEAN}\.?I{_MEAN}\.?D([0-9]+)([KM]?)(?:\.?G([0-9]+))?", re.IGNORECASE)
_BASKETS_AT_ONCE = 1 << 16
_PATIENCE = 1000
_TIMES = {"": 1, "K": 1000, "M": 1_000_000}


@dataclass(frozen=True)
class Quest:
    """The parameters of the generator, in the paper's convention unless told otherwise.

    Attributes
    ----------
    n_transactions : int
        The paper's \\|D\\|.
    mean_size : float
        The mean number of items that a transaction is meant to have, \\|T\\|.
    mean_itemset : float
        The mean size of the itemsets of the pool, \\|I\\|.
    n_itemsets : int
        How many there are, \\|L\\|.
    n_items : int
        N.
    correlation : float
        The mean share of an itemset's items that come from the one before it.
    corruption, corruption_deviation : float
        Mean and standard deviation of the chance by which one more item is dropped.
    convention : {"paper", "program"}
        See the module.
    """

    n_transactions: int
    mean_size: float
    mean_itemset: float
    n_itemsets: int = 2000
    n_items: int = 1000
    correlation: float = 0.5
    corruption: float = 0.5
    corruption_deviation: float = 0.1**0.5
    convention: Convention = "paper"

    def __post_init__(self) -> None:
        if min(self.n_transactions, self.n_itemsets, self.n_items) < 1 or min(self.mean_size, self.mean_itemset) < 1:
            raise PolicyError("the counts and the mean sizes of baskets are too small; give 1 or more")
        if min(self.correlation, self.corruption_deviation) < 0 or not 0 <= self.corruption < 1:
            raise PolicyError("correlation, corruption and its deviation are from 0 on, and the corruption below 1")
        if self.convention not in ("paper", "program"):
            raise PolicyError(f"there is no convention {self.convention!r}; take 'paper' or 'program'")

    @classmethod
    def named(cls, name: str, convention: Convention = "paper", **changes: Any) -> Quest:
        """From a name such as T10.I4.D100K, with the convention's own defaults.

        >>> quest = Quest.named("T20.I6.D50K")
        >>> quest.mean_size, quest.mean_itemset, quest.n_transactions
        (20.0, 6.0, 50000)
        """
        kind, made = _parse(name)
        if kind != "T":
            maker = "labelled_baskets" if kind == "V" else "labelled_records"
            raise PolicyError(f"{name!r} is a set of two classes; make it with {maker}")
        if convention == "program":
            made = replace(
                made,
                n_itemsets=10_000,
                correlation=0.25,
                corruption=0.25,
                corruption_deviation=0.1,
                convention="program",
            )
        return replace(made, **changes)


@dataclass(frozen=True)
class Baskets:
    """Transactions, one after another: number i is ``items[starts[i]:starts[i + 1]]``, ascending, from 0."""

    items: Codes
    starts: Ints
    n_items: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    def strings(self) -> Strings:
        """The items, ascending by number, as tokens."""
        alphabet = sorted(str(i) for i in range(self.n_items))
        code_of = np.empty(self.n_items, np.int32)
        code_of[[int(token) for token in alphabet]] = np.arange(self.n_items)
        return Strings(code_of[self.items], self.starts, tuple(alphabet), True, source=_source("baskets"))

    def sparse(self) -> Sparse:
        """The same as sparse records of ones; items are named by their number, with zeros before it."""
        width = len(str(self.n_items - 1))
        names = tuple(f"{i:0{width}d}" for i in range(self.n_items))
        return Sparse(self.starts, self.items, np.ones(len(self.items), np.int64), names)


@dataclass(frozen=True)
class Pool:
    """The itemsets that baskets are filled from.

    Attributes
    ----------
    items, starts : int32 array, int64 array
        Itemset i is ``items[starts[i]:starts[i + 1]]``.
    weights : float64 array
        The chance of each to be picked; they sum to 1.
    corruption : float64 array
        The chance of each that one more item is dropped. Outside of 0..1 it means never, or always.
    """

    items: Codes = field(repr=False)
    starts: Ints = field(repr=False)
    weights: Floats = field(repr=False)
    corruption: Floats = field(repr=False)


def generate_baskets(quest: Quest, *, seed: int | np.random.SeedSequence | None = None) -> Baskets:
    """Generate transactions.

    Examples
    --------
    >>> baskets = generate_baskets(Quest.named("T10.I4.D100"), seed=1)
    >>> len(baskets), bool(np.all(np.diff(baskets.starts) > 0))
    (100, True)
    """
    from shoal.kernels.sparse.quest import fill_baskets

    of_pool, of_sizes, of_picks = spawn_seeds(seed, 3)
    pool = make_pool(quest, np.random.default_rng(of_pool))
    sizes_of = np.random.default_rng(of_sizes)
    state = np.maximum(of_picks.generate_state(1, np.uint64), 1).astype(np.uint64)
    kept = np.full(1, -1, np.int64)
    cumulative = np.cumsum(pool.weights)
    longest = int(np.diff(pool.starts).max())
    parts: list[Codes] = []
    counts: list[Ints] = []
    n_left, n_barren = quest.n_transactions, 0
    while n_left:
        sizes = _draw_sizes(sizes_of, quest.mean_size, min(n_left, _BASKETS_AT_ONCE), quest.convention)
        out = np.empty(int(sizes.sum()) + len(sizes) * longest, np.int32)
        starts = np.empty(len(sizes) + 1, np.int64)
        n_made = fill_baskets(
            sizes,
            pool.items,
            pool.starts,
            cumulative,
            pool.corruption,
            quest.n_items,
            kept,
            state,
            _PATIENCE,
            out,
            starts,
        )
        n_barren += n_made == 0
        if n_barren > _PATIENCE:
            raise PolicyError("nothing is left of any itemset; lower the corruption")
        parts.append(out[: starts[n_made]].copy())
        counts.append(np.diff(starts[: n_made + 1]))
        n_left -= n_made
    ends = np.cumsum(np.concatenate(counts))
    return Baskets(np.concatenate(parts), np.concatenate([np.zeros(1, np.int64), ends]), quest.n_items)


def labelled_baskets(
    name: str, *, seed: int | np.random.SeedSequence | None = None, convention: Convention = "paper"
) -> Strings:
    """Baskets of two classes such as V20.I4.D100K, as strings of items that ascend by number.

    C. Aggarwal and P. Yu, A framework for condensation-based anonymization of string data, DMKD 2008, section 5.1:
    V20.I4.D100K is two instances of T20.I4.D50K from different seeds, each a class, combined. The paper tests on the
    last 1,000 records, so they are put in random order here.
    """
    baskets, labels, order = _two_classes(name, "V", seed, convention)
    strings = replace(baskets.strings(), labels=labels, classes=("1", "2"), source=_source(name))
    return strings.take(order)


def labelled_records(
    name: str, *, seed: int | np.random.SeedSequence | None = None, convention: Convention = "paper"
) -> Sparse:
    """Sparse records of two classes such as C20.I4.D200K, or Q20.I6.D200K.G1200 with 1,200 items.

    C. Aggarwal and P. Yu, On privacy-preservation of text and sparse binary data with sketches, SDM 2007, section 4:
    C20.I4.D200K is two instances of T20.I4.D100K, each a class. They are put in random order here.
    """
    baskets, labels, order = _two_classes(name, "CQ", seed, convention)
    return replace(baskets.sparse(), labels=labels, classes=("1", "2"), source=SparseSource(name)).take(order)


def _two_classes(
    name: str, letters: str, seed: int | np.random.SeedSequence | None, convention: Convention
) -> tuple[Baskets, Codes, Ints]:
    """Two instances one after the other, the class of each basket, and a random order."""
    kind, quest = _parse(name)
    if kind not in letters:
        raise PolicyError(f"{name!r} has no classes of this kind; give a name such as {letters[0]}20.I4.D100K")
    if quest.n_transactions < 2:
        raise PolicyError(f"{name!r} has no room for two classes; ask for 2 transactions or more")
    half = quest.n_transactions // 2
    *seeds, of_order = spawn_seeds(seed, 3)
    letter = f"T{name[1:]}"
    both = [
        generate_baskets(Quest.named(letter, convention, n_transactions=n), seed=s)
        for n, s in zip((quest.n_transactions - half, half), seeds, strict=True)
    ]
    starts = np.concatenate([both[0].starts, both[0].starts[-1] + both[1].starts[1:]])
    joined = Baskets(np.concatenate([b.items for b in both]), starts, both[0].n_items)
    labels = np.repeat(np.arange(2, dtype=np.int32), [len(b) for b in both])
    return joined, labels, np.random.default_rng(of_order).permutation(len(joined))


def make_pool(quest: Quest, rng: np.random.Generator) -> Pool:
    """Make the itemsets, each with items of the one before it."""
    is_paper = quest.convention == "paper"
    sizes = np.clip(_draw_sizes(rng, quest.mean_itemset, quest.n_itemsets, quest.convention), 1, quest.n_items)
    shares = rng.exponential(quest.correlation, quest.n_itemsets) if quest.correlation else np.zeros(quest.n_itemsets)
    weights = None if is_paper else rng.exponential(size=quest.n_items)
    cumulative = None if weights is None else np.cumsum(weights / weights.sum())
    itemsets: list[Ints] = []
    for size, share in zip(sizes.tolist(), shares.tolist(), strict=True):
        old = np.zeros(0, np.int64)
        if itemsets:
            n_old = min(int(size * share + 0.5), size, len(itemsets[-1]))
            old = rng.permutation(itemsets[-1])[:n_old]
        n_new = size - len(old)
        if cumulative is None:
            # Enough different items for all that may be in the part from before.
            drawn = rng.choice(quest.n_items, min(n_new + len(old), quest.n_items), replace=False)
            new = drawn[~np.isin(drawn, old)][:n_new]
        else:
            new = np.minimum(np.searchsorted(cumulative, rng.random(n_new), side="right"), quest.n_items - 1)
        itemsets.append(np.concatenate([old, new]))
    chances = rng.exponential(size=quest.n_itemsets)
    corruption = rng.normal(quest.corruption, quest.corruption_deviation, quest.n_itemsets)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(s) for s in itemsets])]).astype(np.int64)
    return Pool(np.concatenate(itemsets).astype(np.int32), starts, chances / chances.sum(), corruption)


def _draw_sizes(rng: np.random.Generator, mean: float, n: int, convention: str) -> Ints:
    drawn = rng.poisson(mean, n) if convention == "paper" else 1 + rng.poisson(mean - 1, n)
    return np.asarray(drawn, np.int64)


def _parse(name: str) -> tuple[str, Quest]:
    match = _NAME.fullmatch(name)
    if match is None:
        raise PolicyError(
            f"{name!r} is not the name of a set of baskets; give one such as T10.I4.D100K or V20.I4.D100K"
        )
    n = int(match[4]) * _TIMES[match[5].upper()]
    made = Quest(n, float(match[2]), float(match[3]))
    return match[1].upper(), made if match[6] is None else replace(made, n_items=int(match[6]))


def _source(name: str) -> StringSource:
    return StringSource(name, "list", notes=("baskets have no order: the items ascend by number",))
